// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of the view one comes from, then those of every view: made from requests.def and views.def. */
#include <stdlib.h>

#include "base/mem.h"
#include "tui/view.h"

enum { COL_KEYS, COL_WHAT };

static const struct column columns[] = {
	[COL_KEYS] = { "keys",		20, 20, 1, false },
	[COL_WHAT] = { "what they do",	20, 200, 0, false },
};

enum row_kind { ROW_HEADING, ROW_REQUEST, ROW_VIEW };
struct row {
	enum row_kind kind;
	const char *text;		/* of a heading */
	unsigned id;			/* request or view */
};

struct state {
	VEC(struct row) rows;
};

/* A request belongs to the view in hand when it does not exist in all of them. */
static bool special(const struct request_row *r)
{
	unsigned views = 0, i;

	for (i = 0; i < VIEW_COUNT; i++)
		views += (r->where >> i) & 1;
	return views <= VIEW_COUNT / 2;
}

static void add_requests(struct state *s, enum view_id view, bool of_view)
{
	unsigned i;

	for (i = 0; i < REQ_COUNT; i++) {
		const struct request_row *r = &request_rows[i];

		if (r->where & 1u << view && special(r) == of_view)
			vec_push(&s->rows, (struct row){ ROW_REQUEST, NULL, i });
	}
}

static void refresh(struct tui *t, struct view *v)
{
	struct state *s = v->state ? v->state : (v->state = mem_alloc(sizeof(*s)));
	unsigned i;

	s->rows.n = 0;
	vec_push(&s->rows, (struct row){ ROW_HEADING, view_rows[t->came_from].name, 0 });
	add_requests(s, t->came_from, true);
	vec_push(&s->rows, (struct row){ ROW_HEADING, "everywhere", 0 });
	add_requests(s, t->came_from, false);
	vec_push(&s->rows, (struct row){ ROW_HEADING, "views", 0 });
	for (i = 0; i < VIEW_COUNT; i++)
		vec_push(&s->rows, (struct row){ ROW_VIEW, NULL, i });
}

static void close_view(struct view *v)
{
	struct state *s = v->state;

	if (s)
		vec_release(&s->rows);
	free(s);
}

static size_t rows(const struct tui *t, const struct view *v)
{
	const struct state *s = v->state;

	(void)t;
	return s->rows.n;
}

static enum style cell(const struct tui *t, const struct view *v, size_t i, size_t column, struct buf *out)
{
	const struct state *s = v->state;
	const struct row *row = &s->rows.v[i];

	(void)t;
	switch (row->kind) {
	case ROW_HEADING:
		if (column == COL_KEYS)
			buf_puts(out, row->text);
		return STYLE_TITLE;
	case ROW_REQUEST:
		buf_puts(out, column == COL_KEYS ? "  " : "");
		buf_puts(out, column == COL_KEYS ? request_rows[row->id].keys : request_rows[row->id].help);
		return column == COL_KEYS ? STYLE_KEY : STYLE_TEXT;
	default:
		if (column == COL_KEYS)
			buf_printf(out, "  %u", row->id + 1);
		else
			buf_printf(out, "%s: %s", view_rows[row->id].name, view_rows[row->id].what);
		return column == COL_KEYS ? STYLE_KEY : STYLE_TEXT;
	}
}

const struct view_ops help_ops = {
	.columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]), .grep = COL_WHAT,
	.rows = rows, .cell = cell, .refresh = refresh, .close = close_view,
};
