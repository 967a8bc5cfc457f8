// SPDX-License-Identifier: GPL-2.0-or-later
/* table: see table.h. */
#include "tui/table.h"

static unsigned needed(const struct column *c, size_t n, const struct span *out, size_t *shown)
{
	unsigned sum = 0;
	size_t i;

	*shown = 0;
	for (i = 0; i < n; i++) {
		if (!out[i].w)
			continue;
		sum += c[i].min + (*shown ? COLUMN_GAP : 0);
		++*shown;
	}
	return sum;
}

/* The shown column that is missed least. */
static size_t least(const struct column *c, size_t n, const struct span *out)
{
	size_t i, worst = n;

	for (i = 0; i < n; i++)
		if (out[i].w && (worst == n || c[i].rank >= c[worst].rank))
			worst = i;
	return worst;
}

void columns_fit(const struct column *c, size_t n, unsigned width, struct span *out)
{
	size_t i, shown;
	unsigned sum, x = 0;

	for (i = 0; i < n; i++)
		out[i] = (struct span){ 0, c[i].min };
	while ((sum = needed(c, n, out, &shown)) > width && shown > 1)
		out[least(c, n, out)].w = 0;
	for (i = 0; i < n; i++) {
		if (!out[i].w)
			continue;
		if (sum > width) {
			out[i].w = width;
		} else {
			unsigned more = c[i].max > c[i].min ? c[i].max - c[i].min : 0;

			more = more > width - sum ? width - sum : more;
			out[i].w += more;
			sum += more;
		}
		out[i].x = x;
		x += out[i].w + COLUMN_GAP;
	}
}

void list_settle(struct list *l)
{
	size_t page = l->page ? l->page : 1;

	if (l->sel >= l->n)
		l->sel = l->n ? l->n - 1 : 0;
	if (l->top > l->sel)
		l->top = l->sel;
	if (l->sel - l->top >= page)
		l->top = l->sel - page + 1;
	if (l->n > page && l->top > l->n - page)
		l->top = l->n - page;
	if (l->n <= page)
		l->top = 0;
}

void list_move(struct list *l, long by)
{
	size_t size = by < 0 ? (size_t)-by : (size_t)by;

	if (by < 0)
		l->sel = size > l->sel ? 0 : l->sel - size;
	else
		l->sel = size > l->n - l->sel ? l->n : l->sel + size;
	list_settle(l);
}
