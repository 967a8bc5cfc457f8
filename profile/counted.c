// SPDX-License-Identifier: GPL-2.0-or-later
/* counted: see counted.h. Figures come from the session file; text, JSON and screen show what is here. */
#include "profile/counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

static bool counts(const struct run *r)
{
	return r->state == RUN_COMPLETE && !r->warmup && r->ops > 0 &&
	       r->variant > VARIANT_NONE && r->variant < VARIANT_COUNT;
}

static const struct block_figure *figure_of(const struct counted_block *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->n_figures; i++)
		if (!strcmp(b->figures[i].name, name))
			return &b->figures[i];
	return NULL;
}

/* A figure that can be had from this block. */
static bool usable(const struct block_figure *f)
{
	return f && isfinite(f->value) && !(f->running <= 0);
}

static bool unsampled_on_both(const struct counted_block *blocks, size_t n, const char *name)
{
	bool before = false, after = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!counts(blocks[i].run) || blocks[i].run->sampled || !usable(figure_of(&blocks[i], name)))
			continue;
		before |= blocks[i].run->variant == VARIANT_BEFORE;
		after |= blocks[i].run->variant == VARIANT_AFTER;
	}
	return before && after;
}

static void take_values(struct counter *c, const struct counted_block *blocks, size_t n, double *fewest_ops)
{
	bool unsampled_only = unsampled_on_both(blocks, n, c->name);
	size_t i;

	for (i = 0; i < n; i++) {
		const struct run *r = blocks[i].run;
		const struct block_figure *f = figure_of(&blocks[i], c->name);

		if (!counts(r) || (unsampled_only && r->sampled) || !usable(f))
			continue;
		c->supported = true;
		c->sampled = c->sampled || r->sampled;
		if (c->per_op)
			c->running = fmin(c->running, f->running);
		c->values[r->variant][c->n_values[r->variant]++] = c->per_op ? f->value / r->ops : f->value;
		*fewest_ops = fmin(*fewest_ops, r->ops);
	}
}

/* A count moves by whole events: one of them, spread over the operations of the smallest block. */
static void add_counter(struct counter *c, const struct block_figure *first,
			const struct counted_block *blocks, size_t n)
{
	double fewest_ops = INFINITY, step;
	int v;

	c->name = mem_strdup(first->name);
	c->per_op = !isnan(first->running);
	c->unit = c->per_op ? mem_printf("%s/op", first->unit) : mem_strdup(first->unit);
	c->running = 1;
	for (v = 0; v < VARIANT_COUNT; v++)
		c->values[v] = mem_calloc(n, sizeof(double));
	take_values(c, blocks, n, &fewest_ops);
	step = c->per_op && isfinite(fewest_ops) ? 1 / fewest_ops : 0;
	c->native = stats_summary(c->values[VARIANT_NATIVE], c->n_values[VARIANT_NATIVE]);
	c->est = stats_welch(c->values[VARIANT_BEFORE], c->n_values[VARIANT_BEFORE],
			     c->values[VARIANT_AFTER], c->n_values[VARIANT_AFTER], step, LOWER_IS_BETTER);
}

/* --- distributions --- */

static const struct block_hist *hist_of(const struct counted_block *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->n_hists; i++)
		if (!strcmp(b->hists[i].name, name))
			return &b->hists[i];
	return NULL;
}

/* The buckets are what one can tell apart. */
static double bucket_width(double value)
{
	int32_t b;

	if (!isfinite(value) || fabs(value) >= 0x1p63)
		return 0;
	b = hist_bucket((int64_t)value);
	return (double)(hist_high(b) - hist_low(b)) + 1;
}

static void add_distribution(struct distribution *d, const struct block_hist *first,
			     const struct counted_block *blocks, size_t n)
{
	static const enum variant variants[SIDES] = { [BEFORE] = VARIANT_BEFORE, [AFTER] = VARIANT_AFTER };
	double *x[SIDES] = { mem_calloc(n, sizeof(double)), mem_calloc(n, sizeof(double)) };
	size_t q, i;
	int s;

	d->name = mem_strdup(first->name);
	d->unit = mem_strdup(first->unit);
	for (q = 0; q < HIST_QUANTILES; q++) {
		size_t used[SIDES] = { 0, 0 };

		for (i = 0; i < n; i++) {
			const struct block_hist *h = hist_of(&blocks[i], d->name);

			for (s = 0; h && s < SIDES; s++) {
				if (!counts(blocks[i].run) || blocks[i].run->variant != variants[s] ||
				    !h->hist->total)
					continue;
				x[s][used[s]++] = hist_quantile(h->hist, hist_quantiles[q].q);
				if (!q)
					hist_merge(&d->side[s], h->hist);
			}
		}
		for (s = 0; s < SIDES; s++) {
			d->blocks[s] = used[s];
			d->value[q][s] = hist_quantile(&d->side[s], hist_quantiles[q].q);
		}
		d->est[q] = stats_welch(x[BEFORE], used[BEFORE], x[AFTER], used[AFTER],
					bucket_width(d->value[q][BEFORE]), LOWER_IS_BETTER);
	}
	free(x[BEFORE]);
	free(x[AFTER]);
}

/* --- all --- */

struct counted *counted_build(const struct counted_block *blocks, size_t n)
{
	struct counted *c = mem_alloc(sizeof(*c));
	struct map names = MAP_INIT, hists = MAP_INIT;
	bool added;
	size_t i, k;

	for (i = 0; i < n; i++) {
		if (!counts(blocks[i].run))
			continue;
		for (k = 0; k < blocks[i].n_figures; k++) {
			const struct block_figure *f = &blocks[i].figures[k];

			map_intern(&names, f->name, strlen(f->name), &added);
			if (!added)
				continue;
			c->v = mem_realloc(c->v, c->n + 1, sizeof(*c->v));
			c->v[c->n] = (struct counter){ 0 };
			add_counter(&c->v[c->n++], f, blocks, n);
		}
		for (k = 0; k < blocks[i].n_hists; k++) {
			const struct block_hist *h = &blocks[i].hists[k];

			map_intern(&hists, h->name, strlen(h->name), &added);
			if (!added)
				continue;
			c->dist = mem_realloc(c->dist, c->n_dist + 1, sizeof(*c->dist));
			c->dist[c->n_dist] = (struct distribution){ 0 };
			add_distribution(&c->dist[c->n_dist++], h, blocks, n);
		}
	}
	map_release(&names);
	map_release(&hists);
	return c;
}

void counted_free(struct counted *c)
{
	size_t i;
	int v;

	if (!c)
		return;
	for (i = 0; i < c->n; i++) {
		free(c->v[i].name);
		free(c->v[i].unit);
		for (v = 0; v < VARIANT_COUNT; v++)
			free(c->v[i].values[v]);
	}
	for (i = 0; i < c->n_dist; i++) {
		free(c->dist[i].name);
		free(c->dist[i].unit);
		hist_release(&c->dist[i].side[BEFORE]);
		hist_release(&c->dist[i].side[AFTER]);
	}
	free(c->v);
	free(c->dist);
	free(c);
}

const char *counter_verdict(const struct estimate *e)
{
	switch (e->verdict) {
	case VERDICT_BETTER:
		return "lower";
	case VERDICT_WORSE:
		return "higher";
	default:
		return verdict_name(e->verdict, LOWER_IS_BETTER);
	}
}
