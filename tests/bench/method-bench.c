// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * method-bench: how often each way to compare two variants is wrong, on the same
 * simulated machines: equal variants, and one that is 2 % slower.
 *
 *	mean of 5	five runs of before, then five of after; a difference of the means above 1 % is believed
 *	sequential 10	ten of one, then ten of the other, as benchmark runners do that take one command after the
 *			other; believed when the ratio is farther from 1 than its standard deviation
 *	sequential t	the same runs, believed when a Welch test has p < 0.05
 *	kab 12		kab's pairs, a number fixed in advance
 *	kab until 1%	kab's pairs, until the interval is within 1 % or the limit of pairs is met
 *
 * "in order" takes the recorded blocks of tests/data/lab-blocks.csv one after the other from a random place, so
 * that what the machine did in between is in them. KAB_SIM=N experiments instead of 1000.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "jobs/plan.h"
#include "profile/compare.h"
#include "tests/unit/noise.h"

#define EFFECT 0.02
#define MOST 40			/* pairs of kab's open-ended experiment: the time limit of this table */

enum says { SAYS_NOTHING, SAYS_SLOWER, SAYS_FASTER };

static double draw(struct noise *n, double factor)
{
	return 1e6 * fmax(noise_next(n), 0.01) * factor;
}

static enum says direction(double diff)
{
	return diff > 0 ? SAYS_SLOWER : SAYS_FASTER;
}

static void in_turn(struct noise *n, double factor, size_t runs, double *before, double *after)
{
	size_t i;

	for (i = 0; i < runs; i++)
		before[i] = draw(n, 1);
	for (i = 0; i < runs; i++)
		after[i] = draw(n, factor);
}

static enum says mean_of_five(struct noise *n, double factor, size_t *blocks)
{
	double b[5], a[5], rel;

	in_turn(n, factor, 5, b, a);
	*blocks += 10;
	rel = stats_summary(a, 5).mean / stats_summary(b, 5).mean - 1;
	return fabs(rel) > 0.01 ? direction(rel) : SAYS_NOTHING;
}

static enum says sequential_ten(struct noise *n, double factor, size_t *blocks)
{
	double b[10], a[10], ratio, sd;
	struct summary sb, sa;

	in_turn(n, factor, 10, b, a);
	*blocks += 20;
	sb = stats_summary(b, 10);
	sa = stats_summary(a, 10);
	ratio = sa.mean / sb.mean;
	sd = ratio * sqrt(pow(sb.sd / sb.mean, 2) + pow(sa.sd / sa.mean, 2));
	return fabs(ratio - 1) > sd ? direction(ratio - 1) : SAYS_NOTHING;
}

static enum says sequential_t(struct noise *n, double factor, size_t *blocks)
{
	double b[10], a[10];
	struct estimate e;

	in_turn(n, factor, 10, b, a);
	*blocks += 20;
	e = stats_welch(b, 10, a, 10, 0, LOWER_IS_BETTER);
	return e.p < 0.05 ? direction(e.diff) : SAYS_NOTHING;
}

static enum says kab(struct noise *n, double factor, double until, size_t *blocks)
{
	struct plan_opts o = { .seed = rng_next(&n->rng), .blocks = 12, .until = until,
			       .time_limit = until > 0 ? MOST + 0.5 : 0 };
	struct verdict_design design = { .sequential = until > 0 };
	VEC(struct run) runs = { 0 };
	VEC(struct compare_block) all = { 0 };
	struct plan_pair next;
	struct compare *c;
	struct plan plan;
	enum verdict v;
	size_t i;

	plan_init(&plan, &o);
	while (plan_next(&plan, (double)plan.pairs, &next)) {
		for (i = 0; i < 3; i++) {
			double x = draw(n, next.timed[i] == VARIANT_AFTER ? factor : 1);

			plan_add(&plan, next.timed[i], x);
			vec_push(&runs, (struct run){ .state = RUN_COMPLETE, .variant = next.timed[i], .ops = 1,
						      .ordinal = (unsigned)runs.n, .wall_ns = (uint64_t)x });
		}
	}
	for (i = 0; i < runs.n; i++)
		vec_push(&all, (struct compare_block){ &runs.v[i], NULL });
	c = compare_build(all.v, all.n, &design);
	v = c->metrics[0].est.verdict;
	*blocks += runs.n;
	compare_free(c);
	plan_release(&plan);
	vec_release(&runs);
	vec_release(&all);
	return v == VERDICT_WORSE ? SAYS_SLOWER : v == VERDICT_BETTER ? SAYS_FASTER : SAYS_NOTHING;
}

static enum says kab_fixed(struct noise *n, double factor, size_t *blocks)
{
	return kab(n, factor, 0, blocks);
}

static enum says kab_until(struct noise *n, double factor, size_t *blocks)
{
	return kab(n, factor, 0.01, blocks);
}

static const struct method {
	const char *name;
	enum says (*ask)(struct noise *n, double factor, size_t *blocks);
} methods[] = {
	{ "mean of 5", mean_of_five },
	{ "sequential 10", sequential_ten },
	{ "sequential t", sequential_t },
	{ "kab 12", kab_fixed },
	{ "kab until 1%", kab_until },
};

static const struct machine_kind {
	const char *name;
	enum noise_kind kind;
	double sd;
	bool in_order;
} machines[] = {
	{ "normal 1 %", NOISE_NORMAL, 0.01, false },
	{ "skewed 1 %", NOISE_SKEWED, 0.01, false },
	{ "drifting 1 %", NOISE_DRIFT, 0.01, false },
	{ "two modes 0.5 %", NOISE_MODES, 0.005, false },
	{ "lab, drawn", NOISE_LAB, 0, false },
	{ "lab, in order", NOISE_LAB, 0, true },
};

static void row(const struct machine_kind *m, const struct method *x, const struct noise_lab *lab, size_t runs)
{
	struct noise n = noise_new(m->kind, m->sd, 77);
	size_t said[2][3] = { { 0 } }, blocks = 0, i;
	int effect;

	n.lab = lab;
	n.in_order = m->in_order;
	for (effect = 0; effect < 2; effect++) {
		for (i = 0; i < runs; i++) {
			n.at = 0;
			n.second = NAN;
			n.start = m->in_order ? rng_below(&n.rng, 2 * lab->n) : 0;
			said[effect][x->ask(&n, effect ? 1 + EFFECT : 1, &blocks)]++;
		}
	}
	printf("%-16s  %-13s  %6.1f  %11.1f %%  %8.1f %%  %8.1f %%  %15.1f %%\n", m->name, x->name,
	       (double)blocks / (double)(2 * runs), 100 * (double)(said[0][1] + said[0][2]) / (double)runs,
	       100 * (double)said[1][SAYS_SLOWER] / (double)runs, 100 * (double)said[1][SAYS_NOTHING] / (double)runs,
	       100 * (double)said[1][SAYS_FASTER] / (double)runs);
}

int main(void)
{
	const char *asked = getenv("KAB_SIM");
	struct noise_lab lab;
	uint64_t runs = 1000;
	size_t i, k;

	if (asked && !text_to_u64(asked, 10, 1000000, &runs))
		runs = 1000;
	noise_lab_load(&lab, "tests/data/lab-blocks.csv");
	printf("%llu experiments each; lab: %zu pairs recorded, sd of a pair's difference %.0f %% of the mean\n",
	       (unsigned long long)runs, lab.n, 100 * lab.sd);
	printf("%-16s  %-13s  %6s  %13s  %10s  %10s  %17s\n", "machine", "method", "blocks", "A/A false", "2 %: found",
	       "missed", "wrong direction");
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		for (k = 0; k < sizeof(methods) / sizeof(methods[0]); k++)
			if (machines[i].kind != NOISE_LAB || lab.n)
				row(&machines[i], &methods[k], &lab, runs);
	free(lab.pair);
	return 0;
}
