// SPDX-License-Identifier: GPL-2.0-or-later
/* flat_rows: see flat_rows.h. */
#include "tui/flat_rows.h"

#include <stdlib.h>

#include "base/mem.h"

struct keyed { double key; uint32_t row; };

static int keyed_cmp(const void *va, const void *vb)
{
	const struct keyed *a = va, *b = vb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

void flat_rows_refresh(struct tui *t, struct view *v, flat_key key)
{
	struct flat_rows *s = v->state ? v->state : (v->state = mem_alloc(sizeof(*s)));
	VEC(struct keyed) keys = { 0 };
	uint32_t symbol;
	size_t i;

	s->order.n = 0;
	if (!tui_needs_met(t, NEEDS_PROFILE))
		return;
	tui_figures(t, &s->figures);
	for (i = 0; i < t->data.n_flat; i++) {
		double k = key(&s->figures, &t->data.flat[i]);

		if (k >= 0)
			vec_push(&keys, (struct keyed){ k, (uint32_t)i });
	}
	if (keys.n)
		qsort(keys.v, keys.n, sizeof(*keys.v), keyed_cmp);
	symbol = t->data.diff->nodes[t->node].symbol;
	for (i = 0; i < keys.n; i++) {
		vec_push(&s->order, keys.v[i].row);
		if (t->data.flat[keys.v[i].row].symbol == symbol)
			v->list.sel = i;
	}
	if (!t->chosen)
		v->list.sel = 0;
	vec_release(&keys);
}

void flat_rows_close(struct view *v)
{
	struct flat_rows *s = v->state;

	if (s)
		vec_release(&s->order);
	free(s);
}

size_t flat_rows_count(const struct tui *t, const struct view *v)
{
	const struct flat_rows *s = v->state;

	(void)t;
	return s->order.n;
}

const struct flat_diff_row *flat_rows_at(const struct tui *t, const struct view *v, size_t row)
{
	const struct flat_rows *s = v->state;

	return &t->data.flat[s->order.v[row]];
}

const struct symbol *flat_rows_symbol(const struct tui *t, const struct view *v, size_t row)
{
	return &t->data.diff->symtab.symbols[flat_rows_at(t, v, row)->symbol];
}

void flat_rows_selected(struct tui *t, struct view *v)
{
	uint32_t symbol;

	if (v->list.sel >= flat_rows_count(t, v))
		return;
	symbol = flat_rows_at(t, v, v->list.sel)->symbol;
	/* A frame that another view chose stays when it is one of this function. */
	if (t->data.diff->nodes[t->node].symbol != symbol)
		tui_select_symbol(t, symbol);
}

unsigned flat_rows_request(struct tui *t, struct view *v, enum request r)
{
	if (r != REQ_SHOW_FLAME)
		return REACT_UNHANDLED;
	flat_rows_selected(t, v);
	return tui_show(t, VIEW_FLAME);
}
