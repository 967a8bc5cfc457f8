// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the session file holds: experiments, each with its blocks below it when
 * unfolded, then recordings and imports.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/view.h"

enum { COL_ID, COL_STATE, COL_COST, COL_DIFF, COL_OPS, COL_SAMPLES, COL_LOST, COL_WHERE, COL_WHEN, COL_WHAT };

static const struct column columns[] = {
	[COL_ID]      = { "id",		 7,  9, 0, false },
	[COL_STATE]   = { "state",	10, 10, 4, false },
	[COL_COST]    = { "wall/op",	 9, 10, 2, true },
	[COL_DIFF]    = { "change",	 9,  9, 1, true },
	[COL_OPS]     = { "ops",	 7, 11, 7, true },
	[COL_SAMPLES] = { "samples",	 7, 10, 5, true },
	[COL_LOST]    = { "lost",	 5,  7, 6, true },
	[COL_WHERE]   = { "target",	 9, 10, 8, false },
	[COL_WHEN]    = { "started",	16, 16, 9, false },
	[COL_WHAT]    = { "case or label", 18, 200, 3, false },
};

/* exp NONE: `run` is one of data.loose; run NONE: the experiment itself. */
#define NONE SIZE_MAX
struct row { size_t exp, run; };

struct state {
	VEC(struct row) rows;
	VEC(int64_t) open;		/* ids of unfolded experiments */
	int64_t selected;		/* id of the selected row; 0: none was selected yet */
};

static bool is_open(const struct state *s, int64_t id)
{
	size_t i;

	for (i = 0; i < s->open.n; i++)
		if (s->open.v[i] == id)
			return true;
	return false;
}

static const struct run *run_of(const struct tui *t, struct row row)
{
	return row.exp == NONE ? &t->data.loose[row.run] : &t->data.exps[row.exp].runs[row.run];
}

static int64_t row_id(const struct tui *t, struct row row)
{
	return row.run != NONE ? run_of(t, row)->id : t->data.exps[row.exp].exp.id;
}

/* Rows come and go as others write to the file; the selection stays on its row. */
static void refresh(struct tui *t, struct view *v)
{
	struct state *s = v->state ? v->state : (v->state = mem_alloc(sizeof(*s)));
	size_t i, k;

	s->rows.n = 0;
	for (i = 0; i < t->data.n_exps; i++) {
		vec_push(&s->rows, (struct row){ i, NONE });
		if (!is_open(s, t->data.exps[i].exp.id))
			continue;
		for (k = 0; k < t->data.exps[i].n_runs; k++)
			vec_push(&s->rows, (struct row){ i, k });
	}
	for (i = 0; i < t->data.n_loose; i++)
		vec_push(&s->rows, (struct row){ NONE, i });
	for (i = 0; s->selected && i < s->rows.n; i++)
		if (row_id(t, s->rows.v[i]) == s->selected)
			v->list.sel = i;
}

static void selected(struct tui *t, struct view *v)
{
	struct state *s = v->state;

	if (v->list.sel < s->rows.n)
		s->selected = row_id(t, s->rows.v[v->list.sel]);
}

static void close_view(struct view *v)
{
	struct state *s = v->state;

	if (!s)
		return;
	vec_release(&s->rows);
	vec_release(&s->open);
	free(s);
}

static size_t rows(const struct tui *t, const struct view *v)
{
	const struct state *s = v->state;

	(void)t;
	return s->rows.n;
}

static void put_time(double unix_time, struct buf *out)
{
	time_t when = (time_t)unix_time;
	struct tm tm;
	char text[40];

	if (unix_time > 0 && unix_time < 1e11 && localtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm))
		buf_puts(out, text);
}

static enum style experiment_cell(const struct tui *t, const struct exp_row *e, size_t column, struct buf *out)
{
	double samples = 0, lost = 0;
	size_t i;

	for (i = 0; i < e->n_runs; i++) {
		samples += (double)e->runs[i].samples;
		lost += (double)e->runs[i].lost;
	}
	switch (column) {
	case COL_ID:
		buf_printf(out, "e%lld", (long long)e->exp.id);
		return STYLE_TITLE;
	case COL_STATE:
		buf_puts(out, exp_state_name(e->exp.state));
		return e->exp.state == EXP_COMPLETE ? STYLE_TEXT : STYLE_WARN;
	case COL_COST:
		if (e->result.after.n)
			text_ns(out, e->result.after.mean, 4, false);
		return STYLE_TEXT;
	case COL_DIFF:
		if (!e->result.before.n || !e->result.after.n || !isfinite(e->result.rel))
			return STYLE_TEXT;
		buf_printf(out, "%+.2f %%", 100 * e->result.rel);
		return e->result.verdict == VERDICT_BETTER ? STYLE_LESS :
			e->result.verdict == VERDICT_WORSE ? STYLE_MORE : STYLE_DIM;
	case COL_OPS:
		buf_printf(out, "%zu + %zu", e->done[VARIANT_BEFORE], e->done[VARIANT_AFTER]);
		return STYLE_DIM;
	case COL_SAMPLES:
		text_count(out, samples, 0);
		return STYLE_TEXT;
	case COL_LOST:
		text_count(out, lost, 0);
		return lost > 0 ? STYLE_WARN : STYLE_DIM;
	case COL_WHERE:
		tui_name(t, out, e->exp.target ? e->exp.target : "");
		if (e->exp.exact)
			buf_puts(out, " exact");
		return STYLE_TEXT;
	case COL_WHEN:
		put_time(e->exp.started, out);
		return STYLE_DIM;
	default:
		tui_name(t, out, e->exp.case_name ? e->exp.case_name : "");
		return STYLE_TEXT;
	}
}

static enum style run_cell(const struct tui *t, const struct run *r, size_t column, struct buf *out)
{
	bool counts = r->state == RUN_COMPLETE && !r->warmup;
	enum style style = counts ? STYLE_TEXT : STYLE_DIM;

	switch (column) {
	case COL_ID:
		buf_printf(out, "%s%lld", r->kind == RUN_BLOCK ? "  r" : "p", (long long)r->id);
		return style;
	case COL_STATE:
		buf_puts(out, r->warmup && r->state == RUN_COMPLETE ? "warm-up" : run_state_name(r->state));
		return r->state == RUN_COMPLETE ? style : STYLE_WARN;
	case COL_COST:
		if (r->ops > 0 && r->wall_ns)
			text_ns(out, (double)r->wall_ns / r->ops, 4, false);
		return style;
	case COL_DIFF:
		return style;
	case COL_OPS:
		text_count(out, r->ops, 0);
		return style;
	case COL_SAMPLES:
		text_count(out, (double)r->samples, 0);
		return style;
	case COL_LOST:
		text_count(out, (double)r->lost, 0);
		return r->lost ? STYLE_WARN : STYLE_DIM;
	case COL_WHERE:
		if (r->event)
			tui_name(t, out, r->event);
		return STYLE_DIM;
	case COL_WHEN:
		put_time(r->started, out);
		return STYLE_DIM;
	default:
		if (r->kind == RUN_BLOCK)
			buf_printf(out, "block %u, %s", r->ordinal + 1, variant_name(r->variant));
		else
			tui_name(t, out, r->label ? r->label : r->command ? r->command : "");
		return r->kind != RUN_BLOCK ? style : r->variant == VARIANT_BEFORE || r->variant == VARIANT_AFTER ?
			style : STYLE_DIM;
	}
}

static enum style cell(const struct tui *t, const struct view *v, size_t i, size_t column, struct buf *out)
{
	const struct state *s = v->state;
	struct row row = s->rows.v[i];

	if (row.run == NONE)
		return experiment_cell(t, &t->data.exps[row.exp], column, out);
	return run_cell(t, run_of(t, row), column, out);
}

static unsigned unfold(struct tui *t, struct view *v, struct row row)
{
	struct state *s = v->state;
	int64_t id;
	size_t i;

	if (row.exp == NONE) {
		tui_say(t, STYLE_TEXT, "A recording has no blocks; Enter opens it.");
		return REACT_DRAW;
	}
	id = t->data.exps[row.exp].exp.id;
	if (!is_open(s, id)) {
		vec_push(&s->open, id);
		return REACT_RELOAD;
	}
	for (i = 0; s->open.v[i] != id; i++)
		;
	s->open.v[i] = s->open.v[--s->open.n];
	while (s->rows.v[v->list.sel].run != NONE)
		v->list.sel--;
	selected(t, v);
	return REACT_RELOAD;
}

static unsigned request(struct tui *t, struct view *v, enum request r)
{
	struct state *s = v->state;
	struct row row;
	char id[40];

	if (v->list.sel >= s->rows.n)
		return REACT_UNHANDLED;
	row = s->rows.v[v->list.sel];
	if (r == REQ_UNFOLD_RUNS)
		return unfold(t, v, row);
	if (r != REQ_OPEN)
		return REACT_UNHANDLED;
	if (row.run == NONE)
		snprintf(id, sizeof(id), "e%lld", (long long)t->data.exps[row.exp].exp.id);
	else
		snprintf(id, sizeof(id), "%c%lld", run_of(t, row)->kind == RUN_BLOCK ? 'r' : 'p',
			 (long long)run_of(t, row)->id);
	return tui_open_id(t, id);
}

static void info(const struct tui *t, const struct view *v, struct buf *out)
{
	const struct state *s = v->state;
	const struct experiment *e;
	struct row row;

	if (v->list.sel >= s->rows.n)
		return;
	row = s->rows.v[v->list.sel];
	if (row.run != NONE) {
		const struct run *r = run_of(t, row);

		if (r->command)
			tui_name(t, out, r->command);
		return;
	}
	e = &t->data.exps[row.exp].exp;
	tui_name(t, out, e->note ? e->note : e->command ? e->command : "");
}

const struct view_ops experiments_ops = {
	.columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]), .grep = COL_WHAT,
	.rows = rows, .cell = cell, .refresh = refresh, .close = close_view, .request = request,
	.selected = selected, .info = info,
	.empty = "This session holds nothing yet: r on a case in view 1 measures it, `kab record -- COMMAND` profiles a "
		 "command.",
};
