// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * layout: which frames get how many eighths of a cell.
 *
 * Reads a diff, writes cells; the screen paints them and asks layout_at() what
 * is under a click. A cell's width depends on its value alone, never on what
 * stands left of it, so equal costs are equally wide wherever they stand. The
 * cells are their own work list: they come out row by row, left to right.
 */
#include "profile/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

struct plan {
	const struct diff *d;
	const struct layout_opts *o;
	double scale[SIDES];
	double full;			/* value of the whole width */
	unsigned width;			/* eighths */
	double *values;			/* of the zoomed subtree, where no total is the value; else NULL */
	VEC(struct cell) cells;
	double hidden_value;
	struct layout *out;
};

/*
 * For widths that are no total of one side: a parent's larger side can be less
 * than the sum of its children's larger sides, and its difference less than
 * theirs. What stands for a frame's width is therefore summed from the selfs.
 */
static double *sum_values(const struct plan *p)
{
	const struct diff_node *nodes = p->d->nodes;
	uint32_t first = p->o->zoom, n = nodes[first].frames, i;
	double *values = mem_calloc(n, sizeof(*values));

	for (i = n; i-- > 0;) {
		const struct diff_node *node = &nodes[first + i];
		double before = node->self[BEFORE][p->o->measure] * p->scale[BEFORE];
		double after = node->self[AFTER][p->o->measure] * p->scale[AFTER];

		values[i] += p->o->by == WIDTH_DELTA ? fabs(after - before) : fmax(before, after);
		if (i)
			values[node->parent - first] += values[i];
	}
	return values;
}

static void set_values(struct plan *p, const struct diff *d, const struct layout_opts *o)
{
	int s;

	p->d = d;
	p->o = o;
	for (s = 0; s < SIDES; s++)
		p->scale[s] = norm_scale(d, o->norm, (enum side)s, o->measure);
	if (o->by == WIDTH_MAX || o->by == WIDTH_DELTA)
		p->values = sum_values(p);
}

static double value(const struct plan *p, uint32_t node)
{
	enum side s = p->o->by == WIDTH_AFTER ? AFTER : BEFORE;

	if (p->values)
		return p->values[node - p->o->zoom];
	return p->d->nodes[node].total[s][p->o->measure] * p->scale[s];
}

/* Whole eighths; the small term keeps a value that is the full one from losing its last. */
static unsigned eighths(const struct plan *p, double v)
{
	double w = v / p->full * p->width + 1e-6;

	return w >= p->width ? p->width : w > 0 ? (unsigned)w : 0;
}

/* Frames of a subtree that this graph holds: those with a value, below frames with a value. */
static size_t count_frames(const struct plan *p, uint32_t node)
{
	uint32_t end = node + p->d->nodes[node].frames;
	size_t n = 0;

	while (node < end) {
		if (value(p, node) > 0) {
			n++;
			node++;
		} else {
			node += p->d->nodes[node].frames;
		}
	}
	return n;
}

/* Narrow siblings being gathered. */
struct gathered {
	double value;
	size_t frames;
};

/* The eighths of a value, as far as there is room. */
static unsigned fit(const struct plan *p, double v, unsigned room)
{
	unsigned w = eighths(p, v);

	return w < room ? w : room;
}

/* Puts what was gathered, if anything, in a cell at x; returns where the next one starts. */
static unsigned put_gathered(struct plan *p, struct gathered *g, uint32_t parent, unsigned row, unsigned x,
			     unsigned end)
{
	unsigned w = fit(p, g->value, end - x);

	if (!g->frames)
		return x;
	vec_push(&p->cells, (struct cell){ NODE_NONE, parent, row, x, w, (unsigned)g->frames });
	p->out->hidden += g->frames;
	p->hidden_value += g->value;
	*g = (struct gathered){ 0 };
	return x + w;
}

/*
 * Places `node` and its siblings up to `stop` between x and end. Signed profiles
 * can have children that sum to more than their parent; what then finds no room
 * is gathered too.
 */
static void place(struct plan *p, uint32_t node, uint32_t stop, unsigned row, unsigned x, unsigned end)
{
	uint32_t parent = p->d->nodes[node].parent;
	struct gathered g = { 0 };

	for (; node != stop; node = p->d->nodes[node].next_sibling) {
		double v = value(p, node);
		unsigned w;

		if (!(v > 0))
			continue;
		w = fit(p, v, end - x - fit(p, g.value, end - x));
		if (w < CELL_EIGHTHS) {
			g.value += v;
			g.frames += count_frames(p, node);
			continue;
		}
		x = put_gathered(p, &g, parent, row, x, end);
		vec_push(&p->cells, (struct cell){ node, parent, row, x, w, 0 });
		x += w;
	}
	put_gathered(p, &g, parent, row, x, end);
}

void layout_build(const struct diff *d, const struct layout_opts *opts, struct layout *out)
{
	const struct diff_node *zoom = &d->nodes[opts->zoom];
	struct plan p = { .width = opts->width * CELL_EIGHTHS, .out = out };
	double whole;
	size_t i;

	memset(out, 0, sizeof(*out));
	set_values(&p, d, opts);
	whole = value(&p, opts->zoom);
	p.full = opts->full > 0 ? opts->full : whole;
	if (whole > 0)
		place(&p, opts->zoom, zoom->next_sibling, 0, 0, p.width);
	for (i = 0; i < p.cells.n; i++) {
		struct cell c = p.cells.v[i];

		out->rows = c.row + 1;
		if (c.node == NODE_NONE || d->nodes[c.node].first_child == NODE_NONE)
			continue;
		if (opts->max_rows && c.row + 1 >= opts->max_rows)
			out->below += count_frames(&p, c.node) - 1;
		else
			place(&p, d->nodes[c.node].first_child, NODE_NONE, c.row + 1, c.x, c.x + c.w);
	}
	out->cells = p.cells.v;
	out->n = p.cells.n;
	out->hidden_share = whole > 0 ? 100 * p.hidden_value / whole : 0;
	free(p.values);
}

double layout_value(const struct diff *d, const struct layout_opts *opts)
{
	struct plan p = { 0 };
	double v;

	set_values(&p, d, opts);
	v = value(&p, opts->zoom);
	free(p.values);
	return v;
}

void layout_release(struct layout *l)
{
	free(l->cells);
	memset(l, 0, sizeof(*l));
}

const struct cell *layout_at(const struct layout *l, unsigned row, unsigned x)
{
	size_t lo = 0, hi = l->n;

	/* The first cell that ends right of x in this row, or stands in a later one. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct cell *c = &l->cells[mid];

		if (c->row < row || (c->row == row && c->x + c->w <= x))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < l->n && l->cells[lo].row == row && l->cells[lo].x <= x)
		return &l->cells[lo];
	return NULL;
}
