// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Before above after: two icicles of one union tree, both filled by the same
 * value, so that equal cost is equally wide in both and a function has the same
 * colour and the same neighbours in both. profile/layout.h says where the cells
 * are; here they are painted, and keys and clicks find their way among them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/layout.h"
#include "tui/flame_paint.h"

#define STEM_SHARE 0.9

struct state {
	struct layout layout[SIDES];
	struct area graph[SIDES];	/* where they were painted last; rows 0: not at all */
	struct figures figures;
	unsigned char *seen;		/* by node: 1 << side of the graphs that have a cell for it */
	unsigned scroll;		/* rows above the first one shown */
	/* what the layouts were made for */
	unsigned generation, width;
	uint32_t zoom;
};

static void drop(struct state *s)
{
	int side;

	for (side = 0; side < SIDES; side++)
		layout_release(&s->layout[side]);
	free(s->seen);
	s->seen = NULL;
}

static bool below(const struct diff *d, uint32_t node, uint32_t top)
{
	return node >= top && node - top < d->nodes[top].frames;
}

/* The zoom is a frame above the selected one: what another view selected is brought into sight. */
static void settle_zoom(struct tui *t)
{
	while (t->zoom.n && !below(t->data.diff, t->node, t->zoom.v[t->zoom.n - 1]))
		t->zoom.n--;
}

/* Where nobody chose a frame yet: the end of the stem that nearly all samples share; there it branches. */
static uint32_t stem(const struct tui *t, enum measure m)
{
	const struct diff_node *nodes = t->data.diff->nodes;
	uint32_t node = NODE_ROOT, c;

	while ((c = nodes[node].first_child) != NODE_NONE &&
	       nodes[c].total[BEFORE][m] >= STEM_SHARE * nodes[node].total[BEFORE][m] &&
	       nodes[c].total[AFTER][m] >= STEM_SHARE * nodes[node].total[AFTER][m])
		node = c;
	return node;
}

static void refresh(struct tui *t, struct view *v)
{
	struct state *s = v->state ? v->state : (v->state = mem_alloc(sizeof(*s)));

	drop(s);
	s->width = 0;
	if (!tui_needs_met(t, NEEDS_PROFILE))
		return;
	tui_figures(t, &s->figures);
	if (!t->chosen && t->node == NODE_ROOT)
		t->node = stem(t, s->figures.measure);
	settle_zoom(t);
}

static void close_view(struct view *v)
{
	if (v->state)
		drop(v->state);
	free(v->state);
}

static void make_layouts(struct tui *t, struct state *s, unsigned width)
{
	struct layout_opts o = { .zoom = tui_zoom(t), .norm = s->figures.norm, .measure = s->figures.measure,
				 .width = width };
	double full = 0;
	size_t i;
	int side;

	if (s->seen && s->width == width && s->zoom == o.zoom)
		return;
	drop(s);
	s->seen = mem_calloc(t->data.diff->n, 1);
	s->width = width;
	s->zoom = o.zoom;
	for (side = 0; side < SIDES; side++) {
		o.by = side == BEFORE ? WIDTH_BEFORE : WIDTH_AFTER;
		full = fmax(full, layout_value(t->data.diff, &o));
	}
	o.full = full;
	for (side = 0; side < SIDES; side++) {
		o.by = side == BEFORE ? WIDTH_BEFORE : WIDTH_AFTER;
		layout_build(t->data.diff, &o, &s->layout[side]);
		for (i = 0; i < s->layout[side].n; i++)
			if (s->layout[side].cells[i].node != NODE_NONE)
				s->seen[s->layout[side].cells[i].node] |= (unsigned char)(1u << side);
	}
}

/* --- painting --- */

static void draw_graph_title(struct tui *t, const struct state *s, enum side side, unsigned y,
			     const struct area *a, unsigned shown)
{
	const struct diff_node *zoom = &t->data.diff->nodes[s->zoom];
	const struct layout *l = &s->layout[side];
	const char *name = t->data.single ? "profile" : t->data.ev.title[side];
	struct buf text = BUF_INIT;
	unsigned x, w, last;

	tui_name(t, &text, name);
	x = a->x + screen_words(&t->screen, y, a->x, a->cols, tui_ink(t, STYLE_TITLE), buf_str(&text));
	buf_clear(&text);
	buf_puts(&text, "  ");
	figures_put(&s->figures, figures_side(&s->figures, zoom->total, side), false, &text);
	buf_printf(&text, " %s, ", s->figures.unit);
	text_count(&text, zoom->total[side][COUNT], 0);
	buf_puts(&text, " samples");
	last = s->scroll + shown < l->rows ? s->scroll + shown : l->rows;
	if (shown < l->rows)
		buf_printf(&text, ", rows %u-%u of %u", s->scroll + 1, last, l->rows);
	w = x < a->x + a->cols ? a->x + a->cols - x : 0;
	x += screen_words(&t->screen, y, x, w, tui_ink(t, STYLE_TEXT), buf_str(&text));
	buf_clear(&text);
	if (l->hidden) {
		text_count(&text, (double)l->hidden, 0);
		buf_printf(&text, " frames, %.1f %%, narrower than a cell", l->hidden_share);
		w = (unsigned)text_width(buf_str(&text));
		if (x + w + 2 <= a->x + a->cols)
			screen_words(&t->screen, y, a->x + a->cols - w, w, tui_ink(t, STYLE_DIM),
				     buf_str(&text));
	}
	buf_release(&text);
}

static struct ink frame_ink(const struct tui *t, const struct state *s, uint32_t node)
{
	const struct symbol *sym = diff_symbol(t->data.diff, node);
	const struct diff_node *n = &t->data.diff->nodes[node];
	double before = figures_side(&s->figures, n->total, BEFORE);
	double after = figures_side(&s->figures, n->total, AFTER);
	double larger = fmax(before, after);

	if (t->option[OPTION_TINT] && !t->data.single)
		return palette_change(larger > 0 ? (after - before) / larger : 0, t->screen.colours);
	return palette_function(sym->kind, map_hash(sym->name, strlen(sym->name)), t->screen.colours);
}

static void put_label(const struct tui *t, uint32_t node, struct buf *out)
{
	const struct diff *d = t->data.diff;

	/* Told by glyph as well as by place: the other graph has no such frame. */
	if (!t->data.single && node != NODE_ROOT)
		buf_puts(out, diff_gone(d, node) ? "-" : diff_new(d, node) ? "+" : "");
	tui_symbol(t, out, diff_symbol(d, node));
}

static enum flame_mark frame_mark(const struct tui *t, uint32_t node)
{
	if (node == t->node)
		return MARK_SELECTED;
	if (!t->search[0])
		return MARK_NONE;
	return tui_matches(t, diff_symbol(t->data.diff, node)->name) ? MARK_FOUND : MARK_OTHER;
}

static void draw_graph(struct tui *t, struct state *s, enum side side, struct area a)
{
	const struct layout *l = &s->layout[side];
	struct flame_pen pen = { .screen = &t->screen, .area = a };
	struct buf label = BUF_INIT;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct cell *c = &l->cells[i];
		struct ink ink;

		if (c->row < s->scroll || c->row >= s->scroll + a.rows)
			continue;
		buf_clear(&label);
		if (c->node == NODE_NONE) {
			buf_printf(&label, "%u more", c->hidden);
			ink = palette_rest(t->screen.colours);
		} else {
			put_label(t, c->node, &label);
			ink = palette_marked(frame_ink(t, s, c->node), frame_mark(t, c->node),
					     t->screen.colours);
		}
		flame_paint(&pen, c, c->row - s->scroll, ink, buf_str(&label));
	}
	buf_release(&label);
}

static void put_cost(const struct state *s, const double raw[SIDES][MEASURES], struct buf *out)
{
	double before = figures_side(&s->figures, raw, BEFORE), after = figures_side(&s->figures, raw, AFTER);

	figures_put(&s->figures, before, false, out);
	buf_puts(out, " -> ");
	figures_put(&s->figures, after, false, out);
	buf_printf(out, " %s  ", s->figures.unit);
	figures_put(&s->figures, after - before, true, out);
	if (before != 0 || after != 0) {
		buf_puts(out, " (");
		figures_put_relative(before, after, out);
		buf_putc(out, ')');
	}
}

static void put_side(const struct state *s, const double raw[SIDES][MEASURES], struct buf *out)
{
	figures_put(&s->figures, figures_side(&s->figures, raw, BEFORE), false, out);
	buf_printf(out, " %s", s->figures.unit);
}

/* What the selected frame costs: with all it calls, and where there is a second line, itself. */
static void draw_info(struct tui *t, const struct state *s, struct area a)
{
	const struct diff_node *n = &t->data.diff->nodes[t->node];
	double diff = figures_diff(&s->figures, n->total);
	struct buf text = BUF_INIT;

	if (t->data.single) {
		put_side(s, n->total, &text);
		buf_printf(&text, "  %.2f %% of all", tui_share(t, t->node, BEFORE));
	} else {
		put_cost(s, n->total, &text);
		buf_printf(&text, "  %.2f -> %.2f %% of all", tui_share(t, t->node, BEFORE),
			   tui_share(t, t->node, AFTER));
	}
	screen_words(&t->screen, a.y, a.x, a.cols, tui_ink(t, t->data.single || diff == 0 ? STYLE_TEXT :
		     diff < 0 ? STYLE_LESS : STYLE_MORE), buf_str(&text));
	if (a.rows > 1) {
		buf_clear(&text);
		buf_puts(&text, "itself ");
		if (t->data.single)
			put_side(s, n->self, &text);
		else
			put_cost(s, n->self, &text);
		screen_words(&t->screen, a.y + 1, a.x, a.cols, tui_ink(t, STYLE_DIM), buf_str(&text));
	}
	buf_release(&text);
}

static void info(const struct tui *t, const struct view *v, struct buf *out)
{
	(void)v;
	tui_put_frame(t, t->node, out);
}

/* Keeps the selected frame in sight, and some of what it calls. */
static void settle_scroll(struct tui *t, struct state *s, unsigned rows, unsigned all)
{
	const struct diff_node *nodes = t->data.diff->nodes;
	unsigned row = nodes[t->node].depth - nodes[s->zoom].depth, margin = rows / 2;

	if (row + margin >= s->scroll + rows)
		s->scroll = row + margin - rows + 1;
	if (s->scroll + rows > all)
		s->scroll = all > rows ? all - rows : 0;
	/* A frame too narrow to be drawn may stand below the last row. */
	if (row >= s->scroll + rows)
		s->scroll = row - rows + 1;
	if (row < s->scroll)
		s->scroll = row;
}

static void draw(struct tui *t, struct view *v, struct area a)
{
	struct state *s = v->state;
	unsigned info = a.rows >= 20 ? 2 : a.rows >= 4 ? 1 : 0;
	unsigned title = a.rows >= 8, sides = t->data.single || a.rows < 4 ? 1 : 2;
	unsigned each, need, y = a.y, side;

	make_layouts(t, s, a.cols);
	each = (a.rows - info) / sides - title;
	need = s->layout[BEFORE].rows;
	need = need > s->layout[AFTER].rows ? need : s->layout[AFTER].rows;
	each = need && need < each ? need : each;
	settle_scroll(t, s, each ? each : 1, need);
	s->graph[AFTER].rows = 0;
	for (side = 0; side < sides; side++) {
		if (title)
			draw_graph_title(t, s, (enum side)side, y++, &a, each);
		s->graph[side] = (struct area){ y, a.x, each, a.cols };
		draw_graph(t, s, (enum side)side, s->graph[side]);
		y += each;
	}
	if (info)
		draw_info(t, s, (struct area){ a.y + a.rows - info, a.x, info, a.cols });
}

/* --- moving --- */

/* The next frame at the selected one's depth that is drawn somewhere. The array is in depth-first order. */
static uint32_t beside(struct tui *t, const struct state *s, int step)
{
	const struct diff *d = t->data.diff;
	uint32_t first, end, i = t->node;
	bool drawn = s->seen && s->seen[i];

	/* Several keys may come between two drawings: s->zoom may be an older one. */
	settle_zoom(t);
	first = tui_zoom(t);
	end = first + d->nodes[first].frames;
	for (;;) {
		if (step < 0 ? i <= first : i + 1 >= end)
			return t->node;
		i += (uint32_t)step;
		if (d->nodes[i].depth != d->nodes[t->node].depth)
			continue;
		/* Among frames too narrow to be drawn one can go on to their neighbours. */
		if (!s->seen || s->seen[i] || (!drawn && d->nodes[i].parent == d->nodes[t->node].parent))
			return i;
	}
}

static uint32_t callee(const struct tui *t, const struct state *s)
{
	const struct diff *d = t->data.diff;
	uint32_t first = d->nodes[t->node].first_child, c;

	for (c = first; c != NODE_NONE; c = d->nodes[c].next_sibling)
		if (s->seen && s->seen[c])
			return c;
	return first != NODE_NONE ? first : t->node;
}

static unsigned page_of(const struct state *s)
{
	return s->graph[BEFORE].rows ? s->graph[BEFORE].rows : 1;
}

static void climb(struct tui *t, unsigned rows)
{
	const struct diff_node *nodes = t->data.diff->nodes;

	while (rows-- && nodes[t->node].parent != NODE_NONE)
		t->node = nodes[t->node].parent;
}

static unsigned request(struct tui *t, struct view *v, enum request r)
{
	struct state *s = v->state;
	unsigned i;

	switch (r) {
	case REQ_ZOOM:
		if (t->node != tui_zoom(t))
			vec_push(&t->zoom, t->node);
		break;
	case REQ_UNZOOM:
		if (t->zoom.n)
			t->zoom.n--;
		break;
	case REQ_CALLER:
		climb(t, 1);
		break;
	case REQ_CALLEE:
		t->node = callee(t, s);
		break;
	case REQ_LEFT:
		t->node = beside(t, s, -1);
		break;
	case REQ_RIGHT:
		t->node = beside(t, s, 1);
		break;
	case REQ_PAGE_UP:
		climb(t, page_of(s));
		break;
	case REQ_PAGE_DOWN:
		for (i = 0; i < page_of(s); i++)
			t->node = callee(t, s);
		break;
	case REQ_FIRST:
		t->node = NODE_ROOT;
		break;
	default:
		return REACT_UNHANDLED;
	}
	t->chosen = true;
	return REACT_DRAW;
}

static unsigned find(struct tui *t, struct view *v, int direction)
{
	(void)v;
	tui_find_node(t, direction);
	return REACT_DRAW;
}

static unsigned click(struct tui *t, struct view *v, unsigned y, unsigned x)
{
	struct state *s = v->state;
	int side;

	for (side = 0; side < SIDES; side++) {
		const struct area *g = &s->graph[side];
		const struct cell *c;

		if (!s->seen || y < g->y || y >= g->y + g->rows || x < g->x)
			continue;
		c = layout_at(&s->layout[side], y - g->y + s->scroll,
			      (x - g->x) * CELL_EIGHTHS + CELL_EIGHTHS / 2);
		if (!c || c->node == NODE_NONE)
			return REACT_NONE;
		/* A second click on the same frame zooms. */
		if (c->node == t->node)
			return request(t, v, REQ_ZOOM);
		t->node = c->node;
		t->chosen = true;
		return REACT_DRAW;
	}
	return REACT_NONE;
}

const struct view_ops flame_ops = {
	.draw = draw, .find = find, .click = click, .refresh = refresh, .close = close_view,
	.request = request, .info = info,
};
