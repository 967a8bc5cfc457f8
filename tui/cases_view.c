// SPDX-License-Identifier: GPL-2.0-or-later
/* The catalogue: one row a patch case. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "tui/run.h"

enum { COL_NAME, COL_CLAIM, COL_RESULT, COL_INTERVAL, COL_VERDICT, COL_EXP, COL_TITLE };

static const struct column columns[] = {
	[COL_NAME]     = { "case",		12, 24, 0, false },
	[COL_CLAIM]    = { "claims",		 7,  7, 4, true },
	[COL_RESULT]   = { "measured",		 9,  9, 1, true },
	[COL_INTERVAL] = { "95 % interval",	19, 19, 5, true },
	[COL_VERDICT]  = { "verdict",		 9,  9, 3, false },
	[COL_EXP]      = { "newest",		 6,  6, 6, false },
	[COL_TITLE]    = { "title",		20, 200, 2, false },
};

static size_t rows(const struct tui *t, const struct view *v)
{
	(void)v;
	return t->data.n_cases;
}

static enum style cell(const struct tui *t, const struct view *v, size_t row, size_t column, struct buf *out)
{
	const struct case_row *c = &t->data.cases[row];
	const struct estimate *e = &c->result;
	enum style style = STYLE_TEXT;

	(void)v;
	if (c->measured && (column == COL_RESULT || column == COL_INTERVAL || column == COL_VERDICT))
		style = tui_verdict_style(e->verdict);
	switch (column) {
	case COL_NAME:
		tui_name(t, out, c->name);
		return c->error ? STYLE_WARN : STYLE_TITLE;
	case COL_CLAIM:
		if (!c->error)
			buf_printf(out, "%zu", c->pcase.facts.n_claims);
		break;
	case COL_RESULT:
		if (c->measured && isfinite(e->rel))
			buf_printf(out, "%+.2f %%", 100 * e->rel);
		break;
	case COL_INTERVAL:
		if (c->measured && isfinite(e->rel_lo))
			buf_printf(out, "[%+.2f, %+.2f] %%", 100 * e->rel_lo, 100 * e->rel_hi);
		break;
	case COL_VERDICT:
		if (c->measured)
			buf_puts(out, verdict_name(e->verdict, LOWER_IS_BETTER));
		break;
	case COL_EXP:
		if (c->newest)
			buf_printf(out, "e%lld", (long long)c->newest);
		return STYLE_DIM;
	default:
		tui_name(t, out, c->error ? c->error : c->pcase.facts.title ? c->pcase.facts.title : "");
	}
	return style;
}

static unsigned request(struct tui *t, struct view *v, enum request r)
{
	const struct case_row *c = v->list.sel < t->data.n_cases ? &t->data.cases[v->list.sel] : NULL;
	char id[40];

	if (r == REQ_RUN)
		return run_start(t, c->name);
	if (r != REQ_OPEN)
		return REACT_UNHANDLED;
	if (!c->newest) {
		tui_say(t, STYLE_WARN, "%s was not measured into this session yet; r measures it.", c->name);
		return REACT_DRAW;
	}
	snprintf(id, sizeof(id), "e%lld", (long long)c->newest);
	return tui_open_id(t, id);
}

static void info(const struct tui *t, const struct view *v, struct buf *out)
{
	const struct case_row *c = v->list.sel < t->data.n_cases ? &t->data.cases[v->list.sel] : NULL;
	const struct case_facts *f;

	if (!c || c->error)
		return;
	f = &c->pcase.facts;
	if (f->n_claims && f->claims[0].metric) {
		tui_name(t, out, f->claims[0].metric);
		buf_puts(out, " claimed");
		if (isfinite(f->claims[0].before))
			buf_printf(out, " %g", f->claims[0].before);
		if (isfinite(f->claims[0].after))
			buf_printf(out, " -> %g", f->claims[0].after);
		buf_putc(out, ' ');
		tui_name(t, out, f->claims[0].unit ? f->claims[0].unit : "");
		buf_puts(out, "; ");
	}
	tui_name(t, out, f->upstream ? f->upstream : f->summary ? f->summary : "");
}

const struct view_ops cases_ops = {
	.columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]), .grep = COL_NAME,
	.rows = rows, .cell = cell, .request = request, .info = info,
	.empty = "The catalogue is empty: patches/NAME/case.yaml describes a case.",
};
