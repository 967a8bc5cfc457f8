// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table: see table.h. Cells are kept as text until all widths are known; the
 * result goes to the buffer of table_write().
 */
#include "report/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

void table_init(struct table *t, const struct table_col *cols, size_t n)
{
	memset(t, 0, sizeof(*t));
	t->cols = cols;
	t->n_cols = n;
}

void table_release(struct table *t)
{
	size_t i;

	for (i = 0; i < t->cells.n; i++)
		free(t->cells.v[i]);
	vec_release(&t->cells);
}

void table_take(struct table *t, struct buf *cell)
{
	vec_push(&t->cells, cell->len ? buf_detach(cell) : mem_strdup(""));
}

void table_cell(struct table *t, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = mem_strdup("");
	va_end(ap);
	vec_push(&t->cells, text);
}

static size_t gap(const struct table *t, size_t col)
{
	return !col ? 0 : t->cols[col].flags & TABLE_TIGHT ? 1 : 2;
}

static void write_row(const struct table *t, const char *const *cells, const size_t *widths, unsigned indent,
		      struct buf *out)
{
	size_t c;

	buf_fill(out, ' ', indent);
	for (c = 0; c < t->n_cols; c++) {
		size_t w = text_width(cells[c]);

		buf_fill(out, ' ', gap(t, c));
		if (t->cols[c].flags & TABLE_RIGHT && w < widths[c])
			buf_fill(out, ' ', widths[c] - w);
		text_fit(out, cells[c], widths[c], !(t->cols[c].flags & TABLE_RIGHT));
	}
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_putc(out, '\n');
}

void table_write(const struct table *t, unsigned indent, unsigned width, struct buf *out)
{
	size_t *widths = mem_calloc(t->n_cols, sizeof(*widths)), rows = t->cells.n / t->n_cols;
	const char **heads = mem_calloc(t->n_cols, sizeof(*heads));
	size_t r, c, sum = indent;
	bool headed = false;

	for (c = 0; c < t->n_cols; c++) {
		headed |= t->cols[c].head != NULL;
		heads[c] = t->cols[c].head ? t->cols[c].head : "";
		widths[c] = text_width(heads[c]);
		for (r = 0; r < rows; r++) {
			size_t w = text_width(t->cells.v[r * t->n_cols + c]);

			widths[c] = w > widths[c] ? w : widths[c];
		}
		sum += widths[c] + gap(t, c);
	}
	for (c = 0; c < t->n_cols && width && sum > width; c++) {
		size_t over = sum - width, give;

		if (!(t->cols[c].flags & TABLE_FLEX) || !widths[c])
			continue;
		give = over < widths[c] - 1 ? over : widths[c] - 1;
		widths[c] -= give;
		sum -= give;
	}
	if (headed)
		write_row(t, heads, widths, indent, out);
	for (r = 0; r < rows; r++)
		write_row(t, (const char *const *)t->cells.v + r * t->n_cols, widths, indent, out);
	free(widths);
	free(heads);
}
