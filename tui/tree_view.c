// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls as a nested tree: what each frame costs with all it calls, and its share
 * of its caller, before and after. The union of both sides: a frame that one
 * side lacks stands in its place.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/view.h"

#define OPEN_SHARE 0.02			/* of the root: dearer frames are open at first */
#define OPEN_DEPTH 60

enum { COL_ONE, COL_SHARE, COL_COUNT, COL_BEFORE, COL_AFTER, COL_DIFF, COL_SHARE_B, COL_SHARE_A, COL_COUNTS,
       COL_NAME };

static const struct column columns[] = {
	/* of one profile */
	[COL_ONE]     = { "total",	11, 12, 1, true },
	[COL_SHARE]   = { "of caller",	 9,  9, 2, true },
	[COL_COUNT]   = { "samples",	 9, 10, 3, true },
	/* of a comparison */
	[COL_BEFORE]  = { "before",	10, 12, 1, true },
	[COL_AFTER]   = { "after",	10, 12, 2, true },
	[COL_DIFF]    = { "difference", 10, 12, 3, true },
	[COL_SHARE_B] = { "of caller",	 9,  9, 4, true },
	[COL_SHARE_A] = { "after",	 8,  8, 5, true },
	[COL_COUNTS]  = { "samples",	15, 19, 6, true },
	[COL_NAME]    = { "calls",	42, 300, 0, false },
};

struct state {
	struct figures figures;
	VEC(uint32_t) visible;		/* nodes, as shown */
	unsigned char *open;		/* by node */
	unsigned serial;		/* of the data that `open` is for */
};

static bool shown(const struct tui *t, size_t column)
{
	if (column <= COL_COUNT)
		return t->data.single;
	return !t->data.single || column == COL_NAME;
}

static void make_visible(struct tui *t, struct view *v)
{
	struct state *s = v->state;
	const struct diff_node *nodes = t->data.diff->nodes;
	uint32_t i, n = (uint32_t)t->data.diff->n;

	/* Depth first is the order of the array; a closed subtree is skipped as one stretch. */
	s->visible.n = 0;
	for (i = 0; i < n; i += s->open[i] ? 1 : nodes[i].frames) {
		if (i == t->node)
			v->list.sel = s->visible.n;
		vec_push(&s->visible, i);
	}
	v->list.n = s->visible.n;
	list_settle(&v->list);
}

/* The dear paths are open at first. */
static void open_dear(struct state *s, const struct diff *d)
{
	const double *root[SIDES] = { d->nodes[NODE_ROOT].total[BEFORE], d->nodes[NODE_ROOT].total[AFTER] };
	enum measure m = s->figures.measure;
	size_t i;

	for (i = 0; i < d->n; i++) {
		const struct diff_node *n = &d->nodes[i];

		s->open[i] = n->depth < OPEN_DEPTH && (n->total[BEFORE][m] > OPEN_SHARE * root[BEFORE][m] ||
						       n->total[AFTER][m] > OPEN_SHARE * root[AFTER][m]);
	}
}

static void refresh(struct tui *t, struct view *v)
{
	struct state *s = v->state ? v->state : (v->state = mem_alloc(sizeof(*s)));
	uint32_t up;

	s->visible.n = 0;
	if (!tui_needs_met(t, NEEDS_PROFILE))
		return;
	tui_figures(t, &s->figures);
	if (s->serial != t->data.serial) {
		free(s->open);
		s->open = mem_calloc(t->data.diff->n, 1);
		s->serial = t->data.serial;
		open_dear(s, t->data.diff);
	}
	for (up = t->data.diff->nodes[t->node].parent; up != NODE_NONE; up = t->data.diff->nodes[up].parent)
		s->open[up] = 1;
	make_visible(t, v);
}

static void close_view(struct view *v)
{
	struct state *s = v->state;

	if (!s)
		return;
	vec_release(&s->visible);
	free(s->open);
	free(s);
}

static size_t rows(const struct tui *t, const struct view *v)
{
	const struct state *s = v->state;

	(void)t;
	return s->visible.n;
}

static void put_name(const struct tui *t, const struct state *s, uint32_t node, struct buf *out)
{
	const struct diff_node *n = &t->data.diff->nodes[node];
	unsigned indent = (t->screen.cols < 140 ? 1 : 2) * n->depth, most = t->screen.cols / 4;
	const char *open = t->screen.utf8 ? "▾" : "-", *closed = t->screen.utf8 ? "▸" : "+";
	const char *mark = n->first_child == NODE_NONE ? " " : s->open[node] ? open : closed;

	/* Deeper than there is room: the depth in figures, so that names stay on the screen. */
	if (indent > most) {
		buf_printf(out, "%u:", n->depth);
		buf_fill(out, ' ', most > out->len + 1 ? most - out->len : 1);
	} else {
		buf_fill(out, ' ', indent);
	}
	buf_puts(out, mark);
	buf_putc(out, ' ');
	if (!t->data.single && node != NODE_ROOT)
		buf_puts(out, diff_gone(t->data.diff, node) ? "-" : diff_new(t->data.diff, node) ? "+" : "");
	tui_symbol(t, out, diff_symbol(t->data.diff, node));
}

static void put_share(const struct tui *t, const struct state *s, uint32_t node, enum side side,
		      struct buf *out)
{
	const struct diff_node *n = &t->data.diff->nodes[node];
	enum measure m = s->figures.measure;
	uint32_t caller = n->parent == NODE_NONE ? node : n->parent;
	double of = t->data.diff->nodes[caller].total[side][m];

	if (of != 0 && n->total[side][m] != 0)
		buf_printf(out, "%.2f %%", 100 * n->total[side][m] / of);
}

static enum style cell(const struct tui *t, const struct view *v, size_t row, size_t column, struct buf *out)
{
	const struct state *s = v->state;
	uint32_t node = s->visible.v[row];
	const struct diff_node *n = &t->data.diff->nodes[node];
	double diff = figures_diff(&s->figures, n->total);

	switch (column) {
	case COL_ONE:
	case COL_BEFORE:
		figures_put_side(&s->figures, n->total, BEFORE, out);
		return STYLE_TEXT;
	case COL_AFTER:
		figures_put_side(&s->figures, n->total, AFTER, out);
		return STYLE_TEXT;
	case COL_DIFF:
		figures_put(&s->figures, diff, true, out);
		return diff < 0 ? STYLE_LESS : diff > 0 ? STYLE_MORE : STYLE_DIM;
	case COL_SHARE:
	case COL_SHARE_B:
		put_share(t, s, node, BEFORE, out);
		return STYLE_DIM;
	case COL_SHARE_A:
		put_share(t, s, node, AFTER, out);
		return STYLE_DIM;
	case COL_COUNT:
		text_count(out, n->total[BEFORE][COUNT], 0);
		return STYLE_DIM;
	case COL_COUNTS:
		text_count(out, n->total[BEFORE][COUNT], 0);
		buf_puts(out, " / ");
		text_count(out, n->total[AFTER][COUNT], 0);
		return STYLE_DIM;
	default:
		put_name(t, s, node, out);
		return t->data.single ? STYLE_TEXT : diff_gone(t->data.diff, node) ? STYLE_LESS :
			diff_new(t->data.diff, node) ? STYLE_MORE : STYLE_TEXT;
	}
}

static void selected(struct tui *t, struct view *v)
{
	const struct state *s = v->state;

	if (v->list.sel < s->visible.n)
		t->node = s->visible.v[v->list.sel];
}

static unsigned request(struct tui *t, struct view *v, enum request r)
{
	struct state *s = v->state;
	const struct diff_node *n = &t->data.diff->nodes[t->node];

	switch (r) {
	case REQ_TOGGLE:
		s->open[t->node] ^= 1;
		break;
	case REQ_EXPAND:
		if (s->open[t->node] && n->first_child != NODE_NONE)
			t->node = n->first_child;
		s->open[t->node] |= n->first_child != t->node;
		break;
	case REQ_COLLAPSE:
		if ((!s->open[t->node] || n->first_child == NODE_NONE) && n->parent != NODE_NONE)
			t->node = n->parent;
		else
			s->open[t->node] = 0;
		break;
	case REQ_EXPAND_ALL:
		memset(s->open + t->node, 1, n->frames);
		break;
	case REQ_TREE_FLAME:
		return tui_show(t, VIEW_FLAME);
	default:
		return REACT_UNHANDLED;
	}
	make_visible(t, v);
	return REACT_DRAW;
}

/* In closed subtrees too: what is found is opened. */
static unsigned find(struct tui *t, struct view *v, int direction)
{
	tui_find_node(t, direction);
	refresh(t, v);
	return REACT_DRAW;
}

static void info(const struct tui *t, const struct view *v, struct buf *out)
{
	const struct state *s = v->state;

	if (v->list.sel < s->visible.n)
		tui_put_frame(t, s->visible.v[v->list.sel], out);
}

const struct view_ops tree_ops = {
	.columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]), .grep = COL_NAME,
	.shown = shown, .rows = rows, .cell = cell, .find = find, .refresh = refresh, .close = close_view,
	.request = request,
	.selected = selected, .info = info,
	.empty = "There are no samples.",
};
