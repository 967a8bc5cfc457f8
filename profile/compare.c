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
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/gate.h"
#include "profile/shape.h"

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
	size_t partner;			/* the block that it ran beside: of the other side, for AGAIN a before; ALONE */
	bool unpaired;			/* a side's block without one, in an order of pairs: left out */
};

#define ALONE SIZE_MAX

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

/* --- pairs --- */

static bool is_side(const struct used *u)
{
	return sided(u, BEFORE) || sided(u, AFTER);
}

/* The next block of the same kind, timed or sampled, that `wanted` accepts; ALONE when there is none. */
static size_t next_of(const struct used *used, size_t n, size_t i, bool sampled, bool (*wanted)(const struct used *))
{
	for (; i < n; i++)
		if (used[i].run && used[i].run->sampled == sampled && wanted(&used[i]))
			return i;
	return ALONE;
}

/* Neighbours of the same kind and of different sides; false where the order is not one of pairs. */
static bool pair_kind(struct used *used, size_t n, bool sampled)
{
	size_t i = next_of(used, n, 0, sampled, is_side), j, pairs = 0;

	while (i != ALONE) {
		j = next_of(used, n, i + 1, sampled, is_side);
		if (j == ALONE) {
			used[i].unpaired = pairs > 0;
			return pairs > 0;
		}
		if (used[i].variant == used[j].variant)
			return false;
		used[i].partner = j;
		used[j].partner = i;
		pairs++;
		i = next_of(used, n, j + 1, sampled, is_side);
	}
	return true;
}

static bool is_before_or_again(const struct used *u)
{
	return sided(u, BEFORE) || u->variant == VARIANT_AGAIN;
}

/* Each AGAIN ran right beside a before block: the one in front of it, if that is not taken, else the next. */
static void pair_again(struct used *used, size_t n)
{
	size_t last = ALONE, i, next;

	for (i = next_of(used, n, 0, false, is_before_or_again); i != ALONE;
	     i = next_of(used, n, i + 1, false, is_before_or_again)) {
		if (used[i].variant != VARIANT_AGAIN) {
			last = i;
			continue;
		}
		next = next_of(used, n, i + 1, false, is_before_or_again);
		if (last != ALONE)
			used[i].partner = last;
		else if (next != ALONE && sided(&used[next], BEFORE))
			used[i].partner = next;
		last = ALONE;
		if (used[i].partner == next && next != ALONE)
			i = next;
	}
}

/* Whether all blocks of both kinds stand in pairs. Where they do not, none does. */
static bool pair_up(struct used *used, size_t n)
{
	bool paired;
	size_t i;

	for (i = 0; i < n; i++)
		used[i].partner = ALONE;
	paired = pair_kind(used, n, false) && pair_kind(used, n, true);
	for (i = 0; i < n && !paired; i++) {
		used[i].partner = ALONE;
		used[i].unpaired = false;
	}
	pair_again(used, n);
	return paired;
}

/* --- metrics --- */

/* The values of a metric, one array a variant; of pairs, both in the order of the pair's first block. */
static void fill_values(struct metric *m, const struct timed *t, const struct used *used, size_t n, bool paired,
			bool unsampled_only, unsigned *at[VARIANT_COUNT])
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t pair[2] = { i, paired && is_side(&used[i]) ? used[i].partner : ALONE }, k;

		if (pair[1] != ALONE && (pair[1] < i || !clocked(&used[i], unsampled_only) ||
					 !clocked(&used[pair[1]], unsampled_only)))
			continue;
		for (k = 0; k < 2 && pair[k] != ALONE; k++) {
			const struct used *u = &used[pair[k]];

			if (!clocked(u, unsampled_only) || u->unpaired)
				continue;
			at[u->variant][m->n_values[u->variant]] = u->run->ordinal;
			m->values[u->variant][m->n_values[u->variant]++] = (double)field_of(u->run, t) / u->ops;
		}
	}
}

/* Before against before: AGAIN blocks and their partners, or the before blocks among themselves. */
static struct noise_floor noise(const struct metric *m, const struct timed *t, const struct used *used, size_t n,
				double resolution)
{
	double *v[2] = { mem_calloc(n, sizeof(double)), mem_calloc(n, sizeof(double)) };
	struct noise_floor f;
	size_t pairs = 0, i;

	for (i = 0; i < n; i++) {
		const struct used *u = &used[i];

		if (u->variant != VARIANT_AGAIN || u->partner == ALONE || !has_times(u) ||
		    !has_times(&used[u->partner]))
			continue;
		v[0][pairs] = (double)field_of(used[u->partner].run, t) / used[u->partner].ops;
		v[1][pairs++] = (double)field_of(u->run, t) / u->ops;
	}
	f = pairs >= 2 ? noise_floor_paired(v[0], v[1], pairs, resolution) :
		noise_floor_split(m->values[VARIANT_BEFORE], m->n_values[VARIANT_BEFORE], resolution);
	free(v[0]);
	free(v[1]);
	return f;
}

static void floor_caveats(const struct metric *m, struct caveats *out)
{
	const struct estimate *e = &m->est;
	double base = fabs(e->before.mean);

	if (!m->floor.n || !(base > 0))
		return;
	if (m->floor.effect.p < 0.01)
		caveats_add(out, CAVEAT_AA_DIFFERS, LEVEL_WARN, m->name,
			     "Before against before differs by %+.2g %% (p %.2g): something other than the patch moves"
			     " this figure, and differences of this size are not the patch's.",
			     100 * m->floor.effect.diff / base, m->floor.effect.p);
	if ((e->verdict == VERDICT_BETTER || e->verdict == VERDICT_WORSE) && fabs(e->rel) <= m->floor.worst)
		caveats_add(out, CAVEAT_NOISE_FLOOR, LEVEL_WARN, m->name,
			     "The difference of %+.2g %% is inside the noise floor: before against before may differ by up to"
			     " %.2g %%.", 100 * e->rel, 100 * m->floor.worst);
}

static void needed_caveat(const struct metric *m, struct caveats *out)
{
	const struct estimate *e = &m->est;

	if (e->verdict == VERDICT_TOO_FEW && e->before.n && e->after.n)
		caveats_add(out, CAVEAT_TOO_FEW, LEVEL_WARN, m->name,
			     "no verdict from %zu and %zu blocks: spread needs at least 2 of each, a rank test 6.",
			     e->before.n, e->after.n);
	else if (e->verdict == VERDICT_UNDECIDED && e->pairs_needed)
		caveats_add(out, CAVEAT_TOO_FEW, LEVEL_NOTE, m->name,
			     "undecided; with this spread it takes about %zu blocks of each for an interval of +-%.3g %%.",
			     e->pairs_needed, 100 * e->margin);
	else if (e->verdict == VERDICT_UNDECIDED && e->diff_sd > 0)
		caveats_add(out, CAVEAT_TOO_FEW, LEVEL_NOTE, m->name,
			     "undecided; with this spread no reasonable number of blocks gives an interval of +-%.3g %%.",
			     100 * e->margin);
}

static void add_metric(struct compare *c, const struct timed *t, const struct used *used, size_t n, bool paired,
		       const struct verdict_design *design)
{
	bool unsampled_only = has_unsampled(used, n), measured = false, shaky;
	double fewest_ops = INFINITY, resolution;
	unsigned *at[VARIANT_COUNT], found;
	struct shape_set sets[SIDES];
	struct caveats unsaid = { 0 };
	struct metric *m;
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
	for (v = 0; v < VARIANT_COUNT; v++) {
		m->values[v] = mem_calloc(n, sizeof(double));
		at[v] = mem_calloc(n, sizeof(**at));
	}
	fill_values(m, t, used, n, paired, unsampled_only, at);
	for (i = 0; i < n; i++)
		if (clocked(&used[i], unsampled_only))
			fewest_ops = fmin(fewest_ops, used[i].ops);
	resolution = t->step_ns / fewest_ops;
	m->native = stats_summary(m->values[VARIANT_NATIVE], m->n_values[VARIANT_NATIVE]);
	for (v = 0; v < SIDES; v++) {
		enum variant variant = v == BEFORE ? VARIANT_BEFORE : VARIANT_AFTER;

		sets[v] = (struct shape_set){ variant_name(variant), m->values[variant], at[variant],
					      m->n_values[variant] };
	}
	/* Of the first metric, which the verdict is about: the tick makes the shapes of the others its own. */
	found = shape_caveats(sets, resolution, paired, m->name, c->n_metrics == 1 ? &c->caveats : &unsaid);
	caveats_release(&unsaid);
	shaky = found & (SHAPE_OUTLIER | SHAPE_MODES);
	m->est = verdict_judge(sets[BEFORE].x, sets[BEFORE].n, sets[AFTER].x, sets[AFTER].n, paired, shaky, resolution,
			    m->better, design);
	for (v = 0; v < SIDES; v++)
		m->over_native[v] = stats_welch(m->values[VARIANT_NATIVE], m->n_values[VARIANT_NATIVE], sets[v].x,
						sets[v].n, resolution, m->better);
	m->floor = noise(m, t, used, n, resolution);
	/* Said once: of the first metric, which the verdict is about. */
	if (c->n_metrics == 1)
		needed_caveat(m, &c->caveats);
	floor_caveats(m, &c->caveats);
	for (v = 0; v < VARIANT_COUNT; v++)
		free(at[v]);
}

/* What the sampled runs of a side have together: a run of that side that is none of them. */
static void add_run(struct run *sum, const struct run *r)
{
	sum->wall_ns += r->wall_ns;
	sum->samples += r->samples;
	sum->lost += r->lost;
	sum->bad_stacks += r->bad_stacks;
	sum->event = sum->event ? sum->event : r->event;	/* borrowed */
	/* An experiment's blocks are sampled at rates that differ a little on purpose: the side's is the first. */
	sum->freq_hz = sum->freq_hz ? sum->freq_hz : r->freq_hz;
}

/* Whether the two sides may be subtracted from one another; says what there is to say. */
static bool gate(struct compare *c, const struct run runs[SIDES], const char *const kernels[SIDES])
{
	struct gate_side sides[SIDES];
	int s;

	for (s = 0; s < SIDES; s++)
		sides[s] = gate_side_of(&runs[s], c->side[s], kernels ? kernels[s] : NULL);
	/* Blocks of one experiment are of one agent at one asked-for rate, whatever each block's own was. */
	if (!kernels)
		sides[AFTER].freq_hz = sides[BEFORE].freq_hz;
	if (c->side[BEFORE] && c->side[AFTER])
		gate_check(sides, c->measure, &c->caveats);
	c->refused = caveats_worst(&c->caveats) == LEVEL_REFUSE;
	return !c->refused;
}

/* Folds the profiles of each side, joins them, and says whose event it was. */
static void add_profiles(struct compare *c, const struct used *used, size_t n, const char *const kernels[SIDES])
{
	struct diff_side sides[SIDES] = { 0 };
	struct run runs[SIDES] = { 0 };
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
			add_run(&runs[s], u->run);
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
	diff_set_event(c->diff, runs[BEFORE].event ? runs[BEFORE].event : runs[AFTER].event);
	c->measure = diff_measure(c->diff);
	if (!gate(c, runs, kernels)) {
		diff_free(c->diff);
		c->diff = NULL;
		return;
	}
	c->flat = diff_flat(c->diff, c->measure, &c->n_flat);
}

/* Of the sampled blocks of each side; in pairs the i-th of one ran beside the i-th of the other. */
static void add_changes(struct compare *c, const struct used *used, size_t n, bool paired)
{
	struct change_block *blocks = mem_calloc(n, sizeof(*blocks));
	size_t kept = 0, i, k;

	for (i = 0; i < n; i++) {
		size_t pair[2] = { i, paired ? used[i].partner : ALONE };

		if (!is_side(&used[i]) || used[i].unpaired || (pair[1] != ALONE && pair[1] < i))
			continue;
		/* Half a pair has no profile: neither of the two counts. */
		if (paired && (!used[i].profile || !used[pair[1]].profile))
			continue;
		for (k = 0; k < 2 && pair[k] != ALONE; k++) {
			const struct used *u = &used[pair[k]];

			if (u->profile)
				blocks[kept++] = (struct change_block){ u->profile, u->ops,
									sided(u, BEFORE) ? BEFORE : AFTER };
		}
	}
	change_functions(c->diff, c->measure, blocks, kept, paired, c->flat, c->n_flat);
	c->stacks = change_stacks(c->diff, c->measure, blocks, kept, paired);
	free(blocks);
}

static struct compare *build(const struct used *used, size_t n, bool paired, const char *const kernels[SIDES],
			     const struct verdict_design *design)
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
		add_metric(c, &timed[i], used, n, paired, design);
	add_profiles(c, used, n, kernels);
	return c;
}

struct compare *compare_build(const struct compare_block *blocks, size_t n, const struct verdict_design *design)
{
	static const struct verdict_design usual = { .sequential = false };
	struct used *used = mem_calloc(n, sizeof(*used));
	size_t i, n_used = 0, lone = 0;
	struct compare *c;
	bool paired;

	design = design ? design : &usual;
	for (i = 0; i < n; i++) {
		const struct run *r = blocks[i].run;

		if (counts(r))
			used[n_used++] = (struct used){ .run = r, .profile = blocks[i].profile, .variant = r->variant,
							.ops = r->ops };
	}
	paired = pair_up(used, n_used);
	for (i = 0; i < n_used; i++)
		lone += used[i].unpaired;
	c = build(used, n_used, paired, NULL, design);
	c->left_out = n - n_used + lone;
	if (c->diff)
		add_changes(c, used, n_used, paired);
	free(used);
	return c;
}

struct compare *compare_pair(const struct run *before, const struct profile *p_before, const char *kernel_before,
			     const struct run *after, const struct profile *p_after, const char *kernel_after)
{
	static const struct verdict_design single = { .sequential = false };
	const char *const kernels[SIDES] = { kernel_before, kernel_after };
	/* What counts no operations is one operation, the whole of it. */
	const struct used used[SIDES] = {
		{ before, p_before, VARIANT_BEFORE, before && before->ops > 0 ? before->ops : 1, 1, false },
		{ after, p_after, VARIANT_AFTER, after && after->ops > 0 ? after->ops : 1, 0, false },
	};

	return build(used, SIDES, false, kernels, &single);
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
	free(c->stacks);
	caveats_release(&c->caveats);
	diff_free(c->diff);
	profile_free(c->side[BEFORE]);
	profile_free(c->side[AFTER]);
	free(c);
}
