// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What changed: the metrics of the blocks with their verdicts on top, below them
 * every function, the largest difference of its own cost first.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "tui/flat_rows.h"

enum { COL_BEFORE, COL_AFTER, COL_DIFF, COL_REL, COL_INTERVAL, COL_RANK, COL_NAME, COL_DSO };

static const struct column columns[] = {
	[COL_BEFORE]   = { "before",	10, 12, 2, true },
	[COL_AFTER]    = { "after",	10, 12, 3, true },
	[COL_DIFF]     = { "difference", 11, 13, 1, true },
	[COL_REL]      = { "",		 8,  8, 4, true },
	[COL_INTERVAL] = { "95 % interval", 20, 22, 6, true },
	[COL_RANK]     = { "rank",	 7,  7, 7, true },
	[COL_NAME]     = { "function",	26, 60, 0, false },
	[COL_DSO]      = { "where",	18, 40, 8, false },
};

/* The size of the difference; functions without a cost of their own have none to compare. */
static double key(const struct figures *f, const struct flat_diff_row *r)
{
	if (r->self[BEFORE][f->measure] == 0 && r->self[AFTER][f->measure] == 0)
		return -1;
	return fabs(figures_diff(f, r->self));
}

static void refresh(struct tui *t, struct view *v)
{
	flat_rows_refresh(t, v, key);
}

static bool interval_valid(const struct figures *f, const struct flat_diff_row *r)
{
	return r->has_interval && f->norm == NORM_OP && f->measure == PERIOD;
}

/* Blue and orange are kept for what the blocks support; without intervals any difference has them. */
static enum style change_style(const struct figures *f, const struct flat_diff_row *r)
{
	double diff = figures_diff(f, r->self);

	if (r->has_interval ? r->self_lo <= 0 && r->self_hi >= 0 : diff == 0)
		return STYLE_DIM;
	return diff < 0 ? STYLE_LESS : STYLE_MORE;
}

static void put_rank(unsigned rank, struct buf *out)
{
	if (rank)
		buf_printf(out, "%u", rank);
	else
		buf_putc(out, '-');
}

static enum style cell(const struct tui *t, const struct view *v, size_t i, size_t column, struct buf *out)
{
	const struct figures *f = &((const struct flat_rows *)v->state)->figures;
	const struct flat_diff_row *r = flat_rows_at(t, v, i);
	const struct symbol *sym = flat_rows_symbol(t, v, i);
	double before = figures_side(f, r->self, BEFORE), after = figures_side(f, r->self, AFTER);

	switch (column) {
	case COL_BEFORE:
		figures_put_side(f, r->self, BEFORE, out);
		return STYLE_TEXT;
	case COL_AFTER:
		figures_put_side(f, r->self, AFTER, out);
		return STYLE_TEXT;
	case COL_DIFF:
		figures_put(f, after - before, true, out);
		return change_style(f, r);
	case COL_REL:
		figures_put_relative(before, after, out);
		return change_style(f, r);
	case COL_INTERVAL:
		if (!interval_valid(f, r))
			return STYLE_DIM;
		buf_putc(out, '[');
		figures_put(f, r->self_lo, true, out);
		buf_puts(out, ", ");
		figures_put(f, r->self_hi, true, out);
		buf_putc(out, ']');
		return STYLE_DIM;
	case COL_RANK:
		if (r->rank[BEFORE] == r->rank[AFTER]) {
			buf_printf(out, "%u", r->rank[BEFORE]);
			return STYLE_DIM;
		}
		put_rank(r->rank[BEFORE], out);
		buf_putc(out, '>');
		put_rank(r->rank[AFTER], out);
		return STYLE_TEXT;
	case COL_NAME:
		tui_symbol(t, out, sym);
		return STYLE_TEXT;
	default:
		tui_name(t, out, sym->dso);
		return STYLE_DIM;
	}
}

/* --- the metrics on top --- */

enum { M_NAME, M_BEFORE, M_AFTER, M_DIFF, M_REL, M_INTERVAL, M_N, M_VERDICT, METRIC_COLUMNS };

static const struct column metric_columns[METRIC_COLUMNS] = {
	[M_NAME]     = { "per operation", 13, 16, 0, false },
	[M_BEFORE]   = { "before",	10, 10, 3, true },
	[M_AFTER]    = { "after",	10, 10, 4, true },
	[M_DIFF]     = { "difference",	11, 11, 5, true },
	[M_REL]      = { "",		 9,  9, 1, true },
	[M_INTERVAL] = { "95 % interval", 19, 19, 6, true },
	[M_N]        = { "blocks",	 7,  7, 7, true },
	[M_VERDICT]  = { "verdict",	10, 14, 2, false },
};

/* One line: a time, a counter, a quantile of a distribution. */
struct head_row {
	const char *name, *unit;	/* "ns" and "ns/op" are written as times */
	const char *quantile;		/* "" for what is none */
	const struct estimate *est;
	const char *verdict;
};

#define TIMES_LEAVE 6		/* lines below the head */
#define COUNTS_LEAVE 14		/* the same, for what comes after the times */

/* Line `i` behind the times; false when there are no more. What the machine does not count has none. */
static bool counted_row(const struct counted *c, size_t i, struct head_row *r)
{
	size_t k, q;

	for (k = 0; c && k < c->n; k++) {
		const struct counter *v = &c->v[k];

		if (!v->supported || i--)
			continue;
		*r = (struct head_row){ v->name, v->unit, "", &v->est, counter_verdict(&v->est) };
		return true;
	}
	k = i / HIST_QUANTILES;
	q = i % HIST_QUANTILES;
	if (!c || k >= c->n_dist)
		return false;
	*r = (struct head_row){ c->dist[k].name, c->dist[k].unit, hist_quantiles[q].name, &c->dist[k].est[q],
				counter_verdict(&c->dist[k].est[q]) };
	return true;
}

static bool head_row(const struct evidence *e, size_t i, struct head_row *r)
{
	const struct compare *c = e->cmp;

	if (i >= c->n_metrics)
		return counted_row(e->counted, i - c->n_metrics, r);
	*r = (struct head_row){ c->metrics[i].name, c->metrics[i].unit, "", &c->metrics[i].est,
				verdict_name(c->metrics[i].est.verdict, c->metrics[i].better) };
	return true;
}

static void put_figure(const struct head_row *r, double v, bool sign, struct buf *out)
{
	if (!strcmp(r->unit, "ns") || !strcmp(r->unit, "ns/op"))
		text_ns(out, v, 4, sign);
	else
		buf_printf(out, sign ? "%+.4g" : "%.4g", v);
}

static enum style head_cell(const struct tui *t, const struct head_row *r, size_t column, struct buf *out)
{
	const struct estimate *e = r->est;
	enum style verdict = tui_verdict_style(e->verdict);

	switch (column) {
	case M_NAME:
		buf_printf(out, "%s%s", r->quantile, *r->quantile ? " " : "");
		tui_name(t, out, r->name);
		return STYLE_TITLE;
	case M_BEFORE:
		if (e->before.n)
			put_figure(r, e->before.mean, false, out);
		return STYLE_TEXT;
	case M_AFTER:
		if (e->after.n)
			put_figure(r, e->after.mean, false, out);
		return STYLE_TEXT;
	case M_DIFF:
		if (isfinite(e->diff))
			put_figure(r, e->diff, true, out);
		return verdict;
	case M_REL:
		if (isfinite(e->rel))
			buf_printf(out, "%+.2f %%", 100 * e->rel);
		return verdict;
	case M_INTERVAL:
		if (isfinite(e->rel_lo) && isfinite(e->rel_hi))
			buf_printf(out, "[%+.2f, %+.2f] %%", 100 * e->rel_lo, 100 * e->rel_hi);
		return STYLE_DIM;
	case M_N:
		buf_printf(out, "%zu + %zu", e->before.n, e->after.n);
		return STYLE_DIM;
	default:
		buf_puts(out, r->verdict);
		return verdict;
	}
}

/* `row` NULL: the titles. */
static void head_line(struct tui *t, const struct head_row *row, struct area a, unsigned y,
		      const struct span *spans)
{
	struct buf text = BUF_INIT;
	unsigned col;

	for (col = 0; col < METRIC_COLUMNS; col++) {
		enum style style = STYLE_COLUMN;
		unsigned w = spans[col].w, len, pad;

		if (!w)
			continue;
		buf_clear(&text);
		if (!row)
			buf_puts(&text, metric_columns[col].title);
		else
			style = head_cell(t, row, col, &text);
		len = (unsigned)text_width(buf_str(&text));
		pad = metric_columns[col].right && len < w ? w - len : 0;
		if (!row)
			screen_text(&t->screen, y, a.x + spans[col].x, w, tui_ink(t, style), "");
		screen_words(&t->screen, y, a.x + spans[col].x + pad, w - pad, tui_ink(t, style),
			     buf_str(&text));
	}
	buf_release(&text);
}

static unsigned head(struct tui *t, struct view *v, struct area a)
{
	const struct compare *c = t->data.ev.cmp;
	struct span spans[METRIC_COLUMNS];
	struct head_row r;
	unsigned used = 0;
	size_t i;

	(void)v;
	if (!c->n_metrics)
		return 0;
	columns_fit(metric_columns, METRIC_COLUMNS, a.cols, spans);
	if (TIMES_LEAVE < a.rows)
		head_line(t, NULL, a, a.y + used++, spans);
	for (i = 0; head_row(&t->data.ev, i, &r); i++) {
		if (used + (i < c->n_metrics ? TIMES_LEAVE : COUNTS_LEAVE) >= a.rows)
			break;
		head_line(t, &r, a, a.y + used++, spans);
	}
	return used + 1;
}

static void info(const struct tui *t, const struct view *v, struct buf *out)
{
	const struct compare *c = t->data.ev.cmp;

	(void)v;
	text_count(out, c->samples[BEFORE], 0);
	buf_puts(out, " + ");
	text_count(out, c->samples[AFTER], 0);
	buf_puts(out, " samples");
	if (c->lost[BEFORE] + c->lost[AFTER] > 0) {
		buf_puts(out, ", ");
		text_count(out, c->lost[BEFORE] + c->lost[AFTER], 0);
		buf_puts(out, " lost");
	}
	if (c->left_out)
		buf_printf(out, "; %zu %s left out (warm-up, incomplete, failed)", c->left_out,
			   c->left_out == 1 ? "block" : "blocks");
	if (c->n_metrics)
		buf_printf(out, "; %s", c->metrics[0].est.method);
}

const struct view_ops compare_ops = {
	.columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]), .grep = COL_NAME,
	.rows = flat_rows_count, .cell = cell, .head = head, .refresh = refresh, .close = flat_rows_close,
	.request = flat_rows_request, .selected = flat_rows_selected, .info = info,
	.empty = "The complete blocks of this experiment hold no samples.",
};
