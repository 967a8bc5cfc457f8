// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare: blocks in, figures out.
 *
 * jobs loads the blocks from the session file; the screen, the mail and JSON
 * read what is computed here and compute nothing of their own, so that they
 * agree to the last digit. Everything is divided by the operations of its block.
 */
#include "profile/compare.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

/* A time of a block that becomes a metric. `step_ns` is the smallest difference its clock tells. */
struct timed {
	const char *name;
	size_t field;			/* offset of a uint64_t of nanoseconds in struct run */
	double step_ns;
};

/*
 * CLOCK_MONOTONIC counts nanoseconds. The kernel splits a task's time into user
 * and system by where the timer tick finds it (kernel/sched/cputime.c), so that
 * the split is no finer than a tick: 4 ms at the distributions' HZ=250.
 */
static const struct timed timed[] = {
	{ "wall time", offsetof(struct run, wall_ns), 1 },
	{ "user time", offsetof(struct run, user_ns), 4e6 },
	{ "system time", offsetof(struct run, sys_ns), 4e6 },
};

#define TIMED (sizeof(timed) / sizeof(timed[0]))

static uint64_t field_of(const struct run *r, const struct timed *t)
{
	return *(const uint64_t *)((const char *)r + t->field);
}

static bool counts(const struct run *r)
{
	return r->state == RUN_COMPLETE && !r->warmup && r->ops > 0 &&
	       r->variant > VARIANT_NONE && r->variant < VARIANT_COUNT;
}

/* The blocks that count, in order, with the variant each stands for. */
struct used {
	const struct run *run;
	const struct profile *profile;
	enum variant variant;
	double ops;
};

/* An imported profile comes without times: its wall time is 0. */
static bool has_times(const struct used *u)
{
	return u->run && u->run->wall_ns;
}

static bool sided(const struct used *u, enum side s)
{
	return u->variant == (s == BEFORE ? VARIANT_BEFORE : VARIANT_AFTER);
}

/* Whether the block's times count: with blocks on both sides that ran without the profiler, only those do. */
static bool clocked(const struct used *u, bool unsampled_only)
{
	return has_times(u) && !(unsampled_only && u->run->sampled);
}

static bool has_unsampled(const struct used *used, size_t n)
{
	bool seen[SIDES] = { false, false };
	size_t i;
	int s;

	for (i = 0; i < n; i++) {
		if (!has_times(&used[i]) || used[i].run->sampled)
			continue;
		for (s = 0; s < SIDES; s++)
			seen[s] = seen[s] || sided(&used[i], (enum side)s);
	}
	return seen[BEFORE] && seen[AFTER];
}

static void add_metric(struct compare *c, const struct timed *t, const struct used *used, size_t n)
{
	bool unsampled_only = has_unsampled(used, n);
	static const enum variant variants[SIDES] = { VARIANT_BEFORE, VARIANT_AFTER };
	struct metric *m;
	double fewest_ops = INFINITY;
	bool measured = false;
	size_t i;
	int v;

	for (i = 0; i < n; i++)
		measured = measured || (clocked(&used[i], unsampled_only) && field_of(used[i].run, t));
	if (!measured)
		return;
	m = &c->metrics[c->n_metrics++];
	m->name = t->name;
	m->unit = "ns/op";
	m->better = LOWER_IS_BETTER;
	for (v = 0; v < VARIANT_COUNT; v++)
		m->values[v] = mem_calloc(n, sizeof(double));
	for (i = 0; i < n; i++) {
		const struct used *u = &used[i];

		if (!clocked(u, unsampled_only))
			continue;
		m->values[u->variant][m->n_values[u->variant]++] = (double)field_of(u->run, t) / u->ops;
		fewest_ops = fmin(fewest_ops, u->ops);
	}
	m->native = stats_summary(m->values[VARIANT_NATIVE], m->n_values[VARIANT_NATIVE]);
	m->est = stats_welch(m->values[VARIANT_BEFORE], m->n_values[VARIANT_BEFORE],
			     m->values[VARIANT_AFTER], m->n_values[VARIANT_AFTER],
			     t->step_ns / fewest_ops, m->better);
	for (v = 0; v < SIDES; v++)
		m->over_native[v] = stats_welch(m->values[VARIANT_NATIVE], m->n_values[VARIANT_NATIVE],
						m->values[variants[v]], m->n_values[variants[v]],
						t->step_ns / fewest_ops, m->better);
}

/* Folds the profiles of each side, joins them, and says whose event it was. */
static void add_profiles(struct compare *c, const struct used *used, size_t n)
{
	struct diff_side sides[SIDES] = { 0 };
	const char *event[SIDES] = { NULL, NULL };
	bool any = false;
	size_t i;
	int s;

	for (s = 0; s < SIDES; s++) {
		for (i = 0; i < n; i++) {
			const struct used *u = &used[i];

			if (!sided(u, (enum side)s) || !u->profile)
				continue;
			if (!c->side[s])
				c->side[s] = profile_new();
			profile_merge(c->side[s], u->profile);
			sides[s].ops += u->ops;
			if (!u->run)
				continue;
			sides[s].wall_ns += (double)u->run->wall_ns;
			event[s] = event[s] ? event[s] : u->run->event;
		}
		if (!c->side[s])
			continue;
		profile_seal(c->side[s]);
		sides[s].profile = c->side[s];
		any = true;
	}
	if (!any)
		return;
	c->diff = diff_build(sides);
	diff_set_event(c->diff, event[BEFORE] ? event[BEFORE] : event[AFTER]);
	c->measure = diff_measure(c->diff);
	c->flat = diff_flat(c->diff, c->measure, &c->n_flat);
}

/* Adds a block's self cost per operation to `cost`, one figure per symbol of the diff. */
static void self_per_op(struct compare *c, const struct used *u, double *cost, size_t stride)
{
	const struct symtab *from = &u->profile->symtab;
	uint32_t *symbols = mem_calloc(from->n, sizeof(*symbols));
	size_t i;

	/* Every symbol of a block is in its side, so nothing is added to the diff's table here. */
	for (i = 0; i < from->n; i++)
		symbols[i] = symtab_intern(&c->diff->symtab, from->symbols[i].name, from->symbols[i].dso,
					   from->symbols[i].kind);
	for (i = 0; i < u->profile->n; i++) {
		const struct node *node = &u->profile->nodes[i];

		cost[symbols[node->symbol] * stride] += node->self[c->measure] / u->ops;
	}
	free(symbols);
}

/*
 * Welch over the blocks, function by function. The smallest difference a block
 * can show is one sample, worth the mean period and spread over its operations.
 */
static void add_intervals(struct compare *c, const struct used *used, size_t n)
{
	const struct diff_node *root = &c->diff->nodes[NODE_ROOT];
	double *cost[SIDES], total[MEASURES], fewest_ops = INFINITY, sample;
	size_t blocks[SIDES] = { 0, 0 }, i;
	int s, m;

	for (i = 0; i < n; i++)
		for (s = 0; s < SIDES; s++)
			blocks[s] += sided(&used[i], (enum side)s) && used[i].profile;
	if (blocks[BEFORE] < 2 || blocks[AFTER] < 2)
		return;
	for (s = 0; s < SIDES; s++) {
		size_t block = 0;

		cost[s] = mem_calloc(c->diff->symtab.n * blocks[s], sizeof(double));
		for (i = 0; i < n; i++) {
			if (!sided(&used[i], (enum side)s) || !used[i].profile)
				continue;
			self_per_op(c, &used[i], cost[s] + block++, blocks[s]);
			fewest_ops = fmin(fewest_ops, used[i].ops);
		}
	}
	for (m = 0; m < MEASURES; m++)
		total[m] = root->total[BEFORE][m] + root->total[AFTER][m];
	sample = total[COUNT] > 0 ? total[c->measure] / total[COUNT] : 0;
	for (i = 0; i < c->n_flat; i++) {
		struct flat_diff_row *r = &c->flat[i];
		struct estimate e = stats_welch(cost[BEFORE] + r->symbol * blocks[BEFORE], blocks[BEFORE],
						cost[AFTER] + r->symbol * blocks[AFTER], blocks[AFTER],
						sample / fewest_ops, LOWER_IS_BETTER);

		r->has_interval = isfinite(e.lo) && isfinite(e.hi);
		r->self_lo = e.lo;
		r->self_hi = e.hi;
	}
	free(cost[BEFORE]);
	free(cost[AFTER]);
}

static struct compare *build(const struct used *used, size_t n)
{
	struct compare *c = mem_alloc(sizeof(*c));
	size_t i;
	int s;

	c->metrics = mem_calloc(TIMED, sizeof(*c->metrics));
	for (i = 0; i < n; i++) {
		c->blocks[used[i].variant] += used[i].run || used[i].profile;
		for (s = 0; s < SIDES; s++) {
			if (!sided(&used[i], (enum side)s) || !used[i].run)
				continue;
			c->samples[s] += (double)used[i].run->samples;
			c->lost[s] += (double)used[i].run->lost;
		}
	}
	for (i = 0; i < TIMED; i++)
		add_metric(c, &timed[i], used, n);
	add_profiles(c, used, n);
	return c;
}

struct compare *compare_build(const struct compare_block *blocks, size_t n)
{
	struct used *used = mem_calloc(n, sizeof(*used));
	struct compare *c;
	size_t i, n_used = 0;

	for (i = 0; i < n; i++) {
		const struct run *r = blocks[i].run;

		if (counts(r))
			used[n_used++] = (struct used){ r, blocks[i].profile, r->variant, r->ops };
	}
	c = build(used, n_used);
	c->left_out = n - n_used;
	if (c->diff)
		add_intervals(c, used, n_used);
	free(used);
	return c;
}

struct compare *compare_pair(const struct run *before, const struct profile *p_before,
			     const struct run *after, const struct profile *p_after)
{
	/* What counts no operations is one operation, the whole of it. */
	const struct used used[SIDES] = {
		{ before, p_before, VARIANT_BEFORE, before && before->ops > 0 ? before->ops : 1 },
		{ after, p_after, VARIANT_AFTER, after && after->ops > 0 ? after->ops : 1 },
	};

	return build(used, SIDES);
}

void compare_refuse(struct compare *c, const char *why)
{
	size_t i;

	free(c->not_comparable);
	c->not_comparable = mem_strdup(why);
	for (i = 0; i < c->n_metrics; i++)
		c->metrics[i].est.verdict = VERDICT_NOT_COMPARABLE;
}

void compare_free(struct compare *c)
{
	size_t i;
	int v;

	if (!c)
		return;
	for (i = 0; i < c->n_metrics; i++)
		for (v = 0; v < VARIANT_COUNT; v++)
			free(c->metrics[i].values[v]);
	free(c->metrics);
	free(c->flat);
	free(c->not_comparable);
	diff_free(c->diff);
	profile_free(c->side[BEFORE]);
	profile_free(c->side[AFTER]);
	free(c);
}
