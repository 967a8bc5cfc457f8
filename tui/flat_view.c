// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions by their own cost, the dearest first: both sides of a comparison, or one profile. */
#include <math.h>

#include "base/text.h"
#include "tui/flat_rows.h"

enum { COL_SHARE, COL_SELF, COL_TOTAL, COL_COUNT, COL_SELF_B, COL_SELF_A, COL_DIFF, COL_TOTAL_B, COL_TOTAL_A,
       COL_COUNT_B, COL_COUNT_A, COL_NAME, COL_DSO };

static const struct column columns[] = {
	[COL_SHARE]   = { "share",	 8,  8, 1, true },
	/* of one profile */
	[COL_SELF]    = { "self",	11, 12, 2, true },
	[COL_TOTAL]   = { "total",	11, 12, 3, true },
	[COL_COUNT]   = { "samples",	 8, 10, 4, true },
	/* of a comparison */
	[COL_SELF_B]  = { "self before", 11, 12, 2, true },
	[COL_SELF_A]  = { "self after",	11, 12, 3, true },
	[COL_DIFF]    = { "difference",	11, 12, 4, true },
	[COL_TOTAL_B] = { "total before", 12, 12, 6, true },
	[COL_TOTAL_A] = { "total after", 12, 12, 7, true },
	[COL_COUNT_B] = { "samples before", 14, 14, 9, true },
	[COL_COUNT_A] = { "samples after", 13, 13, 10, true },
	[COL_NAME]    = { "function",	26, 60, 0, false },
	[COL_DSO]     = { "where",	18, 40, 8, false },
};

static bool shown(const struct tui *t, size_t column)
{
	if (column >= COL_SELF && column <= COL_COUNT)
		return t->data.single;
	return !t->data.single || column < COL_SELF || column > COL_COUNT_A;
}

static double key(const struct figures *f, const struct flat_diff_row *r)
{
	return fmax(0, fmax(figures_side(f, r->self, BEFORE), figures_side(f, r->self, AFTER)));
}

static void refresh(struct tui *t, struct view *v)
{
	flat_rows_refresh(t, v, key);
}

static enum style cell(const struct tui *t, const struct view *v, size_t i, size_t column, struct buf *out)
{
	const struct figures *f = &((const struct flat_rows *)v->state)->figures;
	const struct flat_diff_row *r = flat_rows_at(t, v, i);
	enum side s = figures_side(f, r->self, BEFORE) > 0 || t->data.single ? BEFORE : AFTER;
	double diff = figures_diff(f, r->self), all;

	switch (column) {
	case COL_SHARE:
		all = t->data.diff->nodes[NODE_ROOT].total[s][f->measure];
		buf_printf(out, "%.2f %%", all != 0 ? 100 * r->self[s][f->measure] / all : 0);
		return STYLE_TEXT;
	case COL_SELF:
	case COL_SELF_B:
		figures_put_side(f, r->self, BEFORE, out);
		return STYLE_TEXT;
	case COL_SELF_A:
		figures_put_side(f, r->self, AFTER, out);
		return STYLE_TEXT;
	case COL_DIFF:
		figures_put(f, diff, true, out);
		return diff < 0 ? STYLE_LESS : diff > 0 ? STYLE_MORE : STYLE_DIM;
	case COL_TOTAL:
	case COL_TOTAL_B:
		figures_put_side(f, r->total, BEFORE, out);
		return STYLE_DIM;
	case COL_TOTAL_A:
		figures_put_side(f, r->total, AFTER, out);
		return STYLE_DIM;
	case COL_COUNT:
	case COL_COUNT_B:
		text_count(out, r->self[BEFORE][COUNT], 0);
		return STYLE_DIM;
	case COL_COUNT_A:
		text_count(out, r->self[AFTER][COUNT], 0);
		return STYLE_DIM;
	case COL_NAME:
		tui_symbol(t, out, flat_rows_symbol(t, v, i));
		return STYLE_TEXT;
	default:
		tui_name(t, out, flat_rows_symbol(t, v, i)->dso);
		return STYLE_DIM;
	}
}

const struct view_ops flat_ops = {
	.columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]), .grep = COL_NAME,
	.shown = shown, .rows = flat_rows_count, .cell = cell, .refresh = refresh, .close = flat_rows_close,
	.request = flat_rows_request, .selected = flat_rows_selected,
	.empty = "There are no samples.",
};
