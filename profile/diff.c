// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff: two sealed trees joined into one.
 *
 * compare hands in the folded sides; layout, the writers and the screen read
 * the result. The nodes stand in depth-first order, siblings as they are shown,
 * so that a subtree is one stretch of the array and a walk needs no stack.
 * Values stay raw; a normalisation is a factor per side, applied when shown.
 */
#include "profile/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

/* One frame to come, with its node on each side (NODE_NONE: not there). */
struct pair {
	uint32_t symbol, parent, at[SIDES];
	double weight;			/* the larger side's total per operation */
};

struct builder {
	struct diff *d;
	const struct profile *p[SIDES];
	uint32_t *symbols[SIDES];	/* the profile's symbol -> the diff's */
	uint32_t *seen;			/* symbol -> its place in row, when that place names it */
	double scale[SIDES];
	enum measure by;
	VEC(struct pair) row;		/* children of the node in hand */
	VEC(struct pair) todo;		/* the next one last */
	VEC(uint32_t) last;		/* the latest node of each depth */
};

static double per_op(double ops)
{
	return ops > 0 ? 1 / ops : 1;
}

static int pair_cmp(const void *va, const void *vb, void *ctx)
{
	const struct pair *a = va, *b = vb;
	const struct diff *d = ctx;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return symbol_cmp(&d->symtab.symbols[a->symbol], &d->symtab.symbols[b->symbol]);
}

static void intern_side(struct builder *b, enum side s)
{
	const struct symtab *from = &b->p[s]->symtab;
	size_t i;

	b->symbols[s] = mem_calloc(from->n, sizeof(*b->symbols[s]));
	for (i = 0; i < from->n; i++) {
		const struct symbol *sym = &from->symbols[i];

		b->symbols[s][i] = symtab_intern(&b->d->symtab, sym->name, sym->dso, sym->kind);
	}
}

/* Joins the children of both sides in b->row and leaves them, sorted, in b->todo. */
static void join_children(struct builder *b, const uint32_t at[SIDES], uint32_t parent)
{
	int s;

	b->row.n = 0;
	for (s = 0; s < SIDES; s++) {
		const struct profile *p = b->p[s];
		uint32_t c;

		if (at[s] == NODE_NONE)
			continue;
		for (c = p->nodes[at[s]].first_child; c != NODE_NONE; c = p->nodes[c].next_sibling) {
			uint32_t symbol = b->symbols[s][p->nodes[c].symbol], i = b->seen[symbol];
			double weight = p->nodes[c].total[b->by] * b->scale[s];

			if (i >= b->row.n || b->row.v[i].symbol != symbol) {
				struct pair pair = { symbol, parent, { NODE_NONE, NODE_NONE }, weight };

				i = b->seen[symbol] = (uint32_t)b->row.n;
				vec_push(&b->row, pair);
			}
			b->row.v[i].at[s] = c;
			b->row.v[i].weight = fmax(b->row.v[i].weight, weight);
		}
	}
	if (b->row.n > 1)
		qsort_r(b->row.v, b->row.n, sizeof(*b->row.v), pair_cmp, b->d);
	while (b->row.n)
		vec_push(&b->todo, b->row.v[--b->row.n]);
}

static uint32_t append(struct builder *b, const struct pair *pair)
{
	struct diff *d = b->d;
	uint32_t i = (uint32_t)d->n, depth = pair->parent == NODE_NONE ? 0 : d->nodes[pair->parent].depth + 1;
	struct diff_node *n;
	int s;

	if (d->n == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 64;
		d->nodes = mem_realloc(d->nodes, d->cap, sizeof(*d->nodes));
	}
	n = &d->nodes[d->n++];
	*n = (struct diff_node){
		.symbol = pair->symbol, .parent = pair->parent,
		.first_child = NODE_NONE, .next_sibling = NODE_NONE,
		.depth = depth, .frames = 1,
	};
	for (s = 0; s < SIDES; s++) {
		if (pair->at[s] == NODE_NONE)
			continue;
		memcpy(n->self[s], b->p[s]->nodes[pair->at[s]].self, sizeof(n->self[s]));
		memcpy(n->total[s], b->p[s]->nodes[pair->at[s]].total, sizeof(n->total[s]));
	}
	/* Depth first: the latest node of this depth is the sibling before, if the parent is the same. */
	if (b->last.n <= depth)
		vec_push(&b->last, NODE_NONE);
	if (b->last.v[depth] != NODE_NONE && d->nodes[b->last.v[depth]].parent == pair->parent)
		d->nodes[b->last.v[depth]].next_sibling = i;
	else if (pair->parent != NODE_NONE)
		d->nodes[pair->parent].first_child = i;
	b->last.v[depth] = i;
	return i;
}

struct diff *diff_build(const struct diff_side sides[SIDES])
{
	struct diff *d = mem_alloc(sizeof(*d));
	struct builder b = { .d = d };
	struct pair next = { .parent = NODE_NONE };
	uint32_t i;
	int s;

	next.symbol = symtab_intern(&d->symtab, "all", "", FRAME_MARK);
	for (s = 0; s < SIDES; s++) {
		b.p[s] = sides[s].profile;
		d->ops[s] = sides[s].ops;
		d->wall_ns[s] = sides[s].wall_ns;
		b.scale[s] = per_op(sides[s].ops);
		next.at[s] = b.p[s] ? NODE_ROOT : NODE_NONE;
		if (b.p[s])
			intern_side(&b, (enum side)s);
	}
	b.by = PERIOD;
	for (s = 0; s < SIDES; s++)
		if (b.p[s] && b.p[s]->samples != 0 && profile_measure(b.p[s]) == COUNT)
			b.by = COUNT;
	b.seen = mem_calloc(d->symtab.n, sizeof(*b.seen));
	vec_push(&b.todo, next);
	while (b.todo.n) {
		next = b.todo.v[--b.todo.n];
		join_children(&b, next.at, append(&b, &next));
	}
	for (i = (uint32_t)d->n; i-- > 1;)
		d->nodes[d->nodes[i].parent].frames += d->nodes[i].frames;
	for (s = 0; s < SIDES; s++)
		free(b.symbols[s]);
	free(b.seen);
	vec_release(&b.row);
	vec_release(&b.todo);
	vec_release(&b.last);
	return d;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	symtab_release(&d->symtab);
	free(d->nodes);
	free(d->event);
	free(d);
}

void diff_set_event(struct diff *d, const char *event)
{
	char *copy = mem_strdup(event);

	free(d->event);
	d->event = copy;
}

const struct symbol *diff_symbol(const struct diff *d, uint32_t node)
{
	return &d->symtab.symbols[d->nodes[node].symbol];
}

static bool on_side(const struct diff *d, uint32_t node, enum side s)
{
	const double *total = d->nodes[node].total[s];

	return total[COUNT] != 0 || total[PERIOD] != 0;
}

bool diff_gone(const struct diff *d, uint32_t node)
{
	return on_side(d, node, BEFORE) && !on_side(d, node, AFTER);
}

bool diff_new(const struct diff *d, uint32_t node)
{
	return on_side(d, node, AFTER) && !on_side(d, node, BEFORE);
}

enum measure diff_measure(const struct diff *d)
{
	const struct diff_node *root = &d->nodes[NODE_ROOT];
	int s;

	for (s = 0; s < SIDES; s++)
		if (root->total[s][COUNT] != 0 && root->total[s][PERIOD] == 0)
			return COUNT;
	return root->total[BEFORE][PERIOD] != 0 || root->total[AFTER][PERIOD] != 0 ? PERIOD : COUNT;
}

/* --- normalisation --- */

static const char *const norm_names[NORMS] = {
	[NORM_OP] = "op", [NORM_TIME] = "time", [NORM_SHARE] = "share", [NORM_RAW] = "raw",
};

const char *norm_name(enum norm n)
{
	return norm_names[n];
}

bool norm_parse(const char *s, enum norm *n)
{
	int i;

	for (i = 0; i < NORMS; i++) {
		if (!strcmp(s, norm_names[i])) {
			*n = (enum norm)i;
			return true;
		}
	}
	return false;
}

double norm_scale(const struct diff *d, enum norm n, enum side s, enum measure m)
{
	const double of[NORMS] = {
		[NORM_OP] = d->ops[s],
		[NORM_TIME] = d->wall_ns[s] / 1e9,
		[NORM_SHARE] = d->nodes[NODE_ROOT].total[s][m] / 100,
		[NORM_RAW] = 1,
	};
	double scale = 1 / of[n];

	return of[n] != 0 && isfinite(scale) ? scale : 0;
}

/* Cuts where a character starts, so that what is left is still UTF-8. */
static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size)
		for (n = size - 1; n && ((unsigned char)from[n] & 0xc0) == 0x80; n--)
			;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* What is counted: "samples", "ns of cpu-clock", "cycles"; and its short unit. Names may come from a file. */
static void unit_of(const struct diff *d, enum measure m, struct buf *full, struct buf *brief)
{
	const char *event = d->event ? d->event : "events";

	if (m == COUNT) {
		buf_puts(full, "samples");
		buf_puts(brief, "samples");
	} else if (!strcmp(event, "cpu-clock") || !strcmp(event, "task-clock")) {
		buf_printf(full, "ns of %s", event);
		buf_puts(brief, "ns");
	} else {
		text_escape(full, event, strlen(event), false);
		text_escape(brief, event, strlen(event), false);
	}
}

void norm_formula(const struct diff *d, enum norm n, enum measure m, const char *operation,
		  char formula[160], char unit[32])
{
	struct buf full = BUF_INIT, brief = BUF_INIT, out = BUF_INIT;
	const char *raw = m == COUNT ? "samples" : "period";

	unit_of(d, m, &full, &brief);
	switch (n) {
	case NORM_OP:
		buf_printf(&out, "%s / operations = %s per ", raw, buf_str(&full));
		operation = operation ? operation : "operation";
		text_escape(&out, operation, strlen(operation), false);
		buf_puts(&brief, "/op");
		break;
	case NORM_TIME:
		buf_printf(&out, "%s / wall seconds = %s per second", raw, buf_str(&full));
		buf_puts(&brief, "/s");
		break;
	case NORM_SHARE:
		buf_printf(&out, "100 * %s / %s of the whole side = per cent of %s", raw, raw,
			   buf_str(&full));
		buf_clear(&brief);
		buf_putc(&brief, '%');
		break;
	default:
		buf_printf(&out, "%s as recorded = %s", raw, buf_str(&full));
		break;
	}
	copy_text(formula, 160, buf_str(&out));
	copy_text(unit, 32, buf_str(&brief));
	buf_release(&full);
	buf_release(&brief);
	buf_release(&out);
}

/* --- flat --- */

struct flat_order {
	const struct diff *d;
	enum measure m;
	double scale[SIDES];
	int side;			/* rank by this side's self; SIDES: by the size of the difference */
};

static double order_key(const struct flat_order *o, const struct flat_diff_row *r)
{
	if (o->side < SIDES)
		return r->self[o->side][o->m];
	return fabs(r->self[AFTER][o->m] * o->scale[AFTER] - r->self[BEFORE][o->m] * o->scale[BEFORE]);
}

static int flat_cmp(const void *va, const void *vb, void *ctx)
{
	const struct flat_diff_row *a = va, *b = vb;
	const struct flat_order *o = ctx;
	double ka = order_key(o, a), kb = order_key(o, b);

	if (ka != kb)
		return ka > kb ? -1 : 1;
	return symbol_cmp(&o->d->symtab.symbols[a->symbol], &o->d->symtab.symbols[b->symbol]);
}

static void rank(struct flat_diff_row *rows, size_t n, struct flat_order *o)
{
	for (o->side = 0; o->side < SIDES; o->side++) {
		unsigned next = 1;
		size_t i;

		qsort_r(rows, n, sizeof(*rows), flat_cmp, o);
		for (i = 0; i < n; i++)
			if (rows[i].total[o->side][o->m] != 0)
				rows[i].rank[o->side] = next++;
	}
}

/* Adds a frame to its symbol's row; the total only of the outermost frame of a recursion. */
static void flat_add(struct flat_diff_row *r, const struct diff_node *n, bool outermost)
{
	int s, m;

	for (s = 0; s < SIDES; s++) {
		for (m = 0; m < MEASURES; m++) {
			r->self[s][m] += n->self[s][m];
			if (outermost)
				r->total[s][m] += n->total[s][m];
		}
	}
}

struct flat_diff_row *diff_flat(const struct diff *d, enum measure m, size_t *n)
{
	struct flat_diff_row *rows = mem_calloc(d->symtab.n, sizeof(*rows));
	size_t *until = mem_calloc(d->symtab.n, sizeof(*until));	/* end of its outermost subtree */
	struct flat_order o = { .d = d, .m = m };
	size_t i, kept = 0;
	int s;

	for (i = 1; i < d->n; i++) {
		const struct diff_node *node = &d->nodes[i];
		bool outermost = i >= until[node->symbol];

		flat_add(&rows[node->symbol], node, outermost);
		if (outermost)
			until[node->symbol] = i + node->frames;
	}
	for (i = 0; i < d->symtab.n; i++) {
		if (!until[i])
			continue;
		rows[kept] = rows[i];
		rows[kept++].symbol = (uint32_t)i;
	}
	for (s = 0; s < SIDES; s++)
		o.scale[s] = per_op(d->ops[s]);
	rank(rows, kept, &o);
	qsort_r(rows, kept, sizeof(*rows), flat_cmp, &o);
	free(until);
	*n = kept;
	return rows;
}
