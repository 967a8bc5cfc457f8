// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * change: see change.h. A matrix of cost per operation, a row for each function
 * or stack and a column for each block, filled from the blocks' profiles; then
 * the t interval of each row (within pairs where there are pairs) and one
 * correction over all rows.
 */
#include "profile/change.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "profile/fdr.h"
#include "profile/stats.h"

struct matrix {
	double *v[SIDES];		/* row after row */
	size_t columns[SIDES], rows;
	bool paired;
	double resolution;		/* one sample of the shortest block, per operation */
};

static bool matrix_init(struct matrix *x, const struct diff *d, enum measure m, const struct change_block *blocks,
			size_t n, size_t rows, bool paired)
{
	const struct diff_node *root = &d->nodes[NODE_ROOT];
	double fewest_ops = INFINITY, count = root->total[BEFORE][COUNT] + root->total[AFTER][COUNT];
	size_t i;
	int s;

	*x = (struct matrix){ .rows = rows, .paired = paired };
	for (i = 0; i < n; i++) {
		x->columns[blocks[i].side]++;
		fewest_ops = fmin(fewest_ops, blocks[i].ops);
	}
	if (x->columns[BEFORE] < 2 || x->columns[AFTER] < 2)
		return false;
	if (count > 0)
		x->resolution = (root->total[BEFORE][m] + root->total[AFTER][m]) / count / fewest_ops;
	for (s = 0; s < SIDES; s++)
		x->v[s] = mem_calloc(rows * x->columns[s], sizeof(double));
	return true;
}

static void matrix_release(struct matrix *x)
{
	free(x->v[BEFORE]);
	free(x->v[AFTER]);
}

static double *cell(struct matrix *x, enum side s, size_t row, size_t column)
{
	return &x->v[s][row * x->columns[s] + column];
}

static struct estimate row_estimate(struct matrix *x, size_t row)
{
	const double *before = cell(x, BEFORE, row, 0), *after = cell(x, AFTER, row, 0);

	return x->paired ? stats_paired(before, after, x->columns[BEFORE], x->resolution, LOWER_IS_BETTER) :
		stats_welch(before, x->columns[BEFORE], after, x->columns[AFTER], x->resolution, LOWER_IS_BETTER);
}

/* The diff's number of each symbol of a block. All of them are in its side, so none is new to the diff. */
static uint32_t *symbols_of(struct diff *d, const struct profile *p)
{
	uint32_t *symbols = mem_calloc(p->symtab.n, sizeof(*symbols));
	size_t i;

	for (i = 0; i < p->symtab.n; i++) {
		const struct symbol *s = &p->symtab.symbols[i];

		symbols[i] = symtab_intern(&d->symtab, s->name, s->dso, s->kind);
	}
	return symbols;
}

/* --- functions --- */

/* Self and total of each of a block's functions; the row is the diff's symbol. */
static void add_block(struct diff *d, enum measure m, const struct change_block *b, struct matrix *self,
		      struct matrix *total, size_t column)
{
	uint32_t *symbols = symbols_of(d, b->profile);
	struct flat_row *rows;
	size_t n, i;

	rows = profile_flat(b->profile, m, &n);
	for (i = 0; i < n; i++) {
		uint32_t row = symbols[rows[i].symbol];

		*cell(self, b->side, row, column) += rows[i].self[m] / b->ops;
		*cell(total, b->side, row, column) += rows[i].total[m] / b->ops;
	}
	free(rows);
	free(symbols);
}

void change_functions(struct diff *d, enum measure m, const struct change_block *blocks, size_t n, bool paired,
		      struct flat_diff_row *rows, size_t n_rows)
{
	size_t next[SIDES] = { 0, 0 }, i;
	struct matrix self, total;
	double *p, *q;

	if (!matrix_init(&self, d, m, blocks, n, d->symtab.n, paired))
		return;
	matrix_init(&total, d, m, blocks, n, d->symtab.n, paired);
	for (i = 0; i < n; i++)
		add_block(d, m, &blocks[i], &self, &total, next[blocks[i].side]++);
	p = mem_calloc(n_rows, sizeof(*p));
	q = mem_calloc(n_rows, sizeof(*q));
	for (i = 0; i < n_rows; i++) {
		struct flat_diff_row *r = &rows[i];
		struct estimate e = row_estimate(&self, r->symbol), t = row_estimate(&total, r->symbol);
		/* A function that only calls others has no cost of its own that could have changed: no test. */
		bool tested = r->self[BEFORE][m] != 0 || r->self[AFTER][m] != 0;

		r->has_interval = isfinite(e.lo) && isfinite(e.hi);
		r->self_lo = e.lo;
		r->self_hi = e.hi;
		r->total_lo = t.lo;
		r->total_hi = t.hi;
		r->p = p[i] = tested ? e.p : NAN;
	}
	fdr_adjust(p, n_rows, q);
	for (i = 0; i < n_rows; i++) {
		rows[i].q = q[i];
		rows[i].significant = q[i] <= FDR_RATE;
	}
	free(q);
	free(p);
	matrix_release(&self);
	matrix_release(&total);
}

/* --- stacks --- */

struct place { uint32_t parent, symbol; };

struct stack_change *change_stacks(struct diff *d, enum measure m, const struct change_block *blocks, size_t n,
				   bool paired)
{
	struct map places = MAP_INIT;
	size_t next[SIDES] = { 0, 0 }, i, k;
	struct stack_change *out;
	struct matrix x;
	double *p, *q;

	if (!matrix_init(&x, d, m, blocks, n, d->n, paired))
		return NULL;
	/* Interned in the diff's own order, so that the number of a place is that of its node. */
	for (i = 0; i < d->n; i++) {
		struct place at = { d->nodes[i].parent, d->nodes[i].symbol };

		map_intern(&places, &at, sizeof(at), NULL);
	}
	for (i = 0; i < n; i++) {
		const struct profile *from = blocks[i].profile;
		size_t column = next[blocks[i].side]++;
		uint32_t *node = mem_calloc(from->n, sizeof(*node)), *symbol = symbols_of(d, from);

		/* A parent has a lower number than its children: it is placed before they are. */
		for (k = 0; k < from->n; k++) {
			const struct node *b = &from->nodes[k];
			struct place at = { k ? node[b->parent] : NODE_NONE, symbol[b->symbol] };

			node[k] = map_find(&places, &at, sizeof(at));
			if (node[k] != MAP_NONE)
				*cell(&x, blocks[i].side, node[k], column) += b->total[m] / blocks[i].ops;
		}
		free(symbol);
		free(node);
	}
	out = mem_calloc(d->n, sizeof(*out));
	p = mem_calloc(d->n, sizeof(*p));
	q = mem_calloc(d->n, sizeof(*q));
	for (i = 0; i < d->n; i++) {
		struct estimate e = row_estimate(&x, i);

		out[i] = (struct stack_change){ .lo = e.lo, .hi = e.hi, .p = e.p };
		p[i] = e.p;
	}
	fdr_adjust(p, d->n, q);
	for (i = 0; i < d->n; i++) {
		out[i].q = q[i];
		out[i].significant = q[i] <= FDR_RATE;
	}
	free(q);
	free(p);
	map_release(&places);
	matrix_release(&x);
	return out;
}
