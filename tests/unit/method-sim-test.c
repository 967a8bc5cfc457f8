// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * method-sim: thousands of experiments on noise whose truth is known, measured
 * by the very code that measures a patch: plan gives the order and ends it,
 * compare_build() judges. Counts are printed; the bars are those of a strict
 * reviewer: at most 5 % wrong verdicts with the stop rule on, 95 % intervals
 * that hold the truth in 93 to 97 % of the experiments on well-behaved noise,
 * and on noise that is not, words that say so.
 *
 * KAB_SIM=N runs N experiments of each kind instead of 1000.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/vec.h"
#include "jobs/plan.h"
#include "profile/compare.h"
#include "tests/unit/noise.h"

#define NS 1e6			/* a block of mean 1, one operation */
#define EFFECT 0.02

static size_t experiments(void)
{
	const char *s = getenv("KAB_SIM");
	uint64_t n;

	return s && text_to_u64(s, 10, 1000000, &n) ? (size_t)n : 1000;
}

struct outcome {
	size_t runs, pairs;		/* experiments; pairs in all of them */
	size_t wrong;			/* a verdict that is not true */
	size_t right;			/* the true one, where it is a decision */
	size_t covered;			/* the nominal interval holds the truth */
	size_t covered_by_verdict;	/* and the one that decides */
	size_t said[CAVEATS];
	size_t silent_miss;		/* neither covered nor is there a word */
};

/* One experiment. `until` 0: `blocks` pairs. */
static void experiment(struct noise *noise, double effect, unsigned blocks, double until, uint64_t seed,
		       struct outcome *out)
{
	struct plan_opts o = { .seed = seed, .blocks = blocks, .until = until };
	struct verdict_design design = { .sequential = until > 0 };
	VEC(struct run) runs = { 0 };
	VEC(struct compare_block) all = { 0 };
	struct plan plan;
	struct plan_pair next;
	struct compare *c;
	const struct estimate *e;
	bool word = false;
	size_t i;

	noise->at = 0;
	plan_init(&plan, &o);
	while (plan_next(&plan, (double)plan.pairs, &next)) {
		for (i = 0; i < 3; i++) {
			enum variant v = next.timed[i];
			double x = NS * fmax(noise_next(noise), 0.01) * (v == VARIANT_AFTER ? 1 + effect : 1);

			plan_add(&plan, v, x);
			vec_push(&runs, (struct run){ .kind = RUN_BLOCK, .state = RUN_COMPLETE, .variant = v, .ops = 1,
						      .ordinal = (unsigned)runs.n, .wall_ns = (uint64_t)(x + 0.5) });
		}
	}
	for (i = 0; i < runs.n; i++)
		vec_push(&all, (struct compare_block){ &runs.v[i], NULL });
	c = compare_build(all.v, all.n, &design);
	e = &c->metrics[0].est;
	assert_int_equal(e->pairs, plan.pairs);
	assert_int_equal(c->metrics[0].floor.n, plan.pairs);
	assert_false(c->metrics[0].floor.split);

	out->runs++;
	out->pairs += plan.pairs;
	out->wrong += e->verdict == VERDICT_BETTER || (e->verdict == VERDICT_WORSE && effect <= 0) ||
		(e->verdict == VERDICT_EQUIVALENT && fabs(effect) > e->margin);
	out->right += effect > 0 ? e->verdict == VERDICT_WORSE : e->verdict == VERDICT_EQUIVALENT;
	/* What the noise drifted by meanwhile is not the effect: relative to where the blocks were on average. */
	effect *= e->before.mean;
	out->covered += e->nominal.lo <= effect && effect <= e->nominal.hi;
	out->covered_by_verdict += e->lo <= effect && effect <= e->hi;
	for (i = 0; i < CAVEATS; i++) {
		bool has = caveats_get(&c->caveats, (enum caveat_kind)i, "wall time");

		out->said[i] += has;
		word |= has && (i == CAVEAT_DRIFT || i == CAVEAT_MODES || i == CAVEAT_OUTLIER || i == CAVEAT_SLOW_FIRST);
	}
	out->silent_miss += !(e->lo <= effect && effect <= e->hi) && !word;
	compare_free(c);
	plan_release(&plan);
	vec_release(&runs);
	vec_release(&all);
}

static struct noise_lab lab;

/* Half widths that take about thirty pairs: lab blocks are as noisy as their machine was. */
static double until_for(enum noise_kind k)
{
	return k == NOISE_LAB ? 0.6 * lab.sd : k == NOISE_MODES ? 0.1 : 0.03;
}

static struct outcome simulate(enum noise_kind k, double effect, unsigned blocks, double until, uint64_t seed)
{
	struct noise noise = noise_new(k, 0.03, seed);
	struct outcome o = { 0 };
	size_t i, n = experiments();

	noise.lab = &lab;
	for (i = 0; i < n; i++) {
		noise.second = NAN;
		experiment(&noise, effect, blocks, until, seed + i, &o);
	}
	print_message("  %-10s %+g %% %-12s pairs %5.1f  wrong %3zu  decided right %4zu  covered %4zu by t, %4zu by verdict"
		      "  said: drift %zu modes %zu outlier %zu first %zu\n", noise_names[k], 100 * effect,
		      until > 0 ? "until narrow" : "fixed", (double)o.pairs / (double)o.runs, o.wrong, o.right,
		      o.covered, o.covered_by_verdict, o.said[CAVEAT_DRIFT], o.said[CAVEAT_MODES],
		      o.said[CAVEAT_OUTLIER], o.said[CAVEAT_SLOW_FIRST]);
	return o;
}

static bool missing(enum noise_kind k)
{
	if (k != NOISE_LAB || lab.n)
		return false;
	print_message("  lab blocks: tests/data/lab-blocks.csv is not at hand\n");
	return true;
}

/* Before against before, the stop rule on: at most 5 % of the experiments may call it a difference. */
static void test_equals(void **state)
{
	struct outcome o;
	int k;

	(void)state;
	for (k = 0; k < NOISES; k++) {
		if (missing((enum noise_kind)k))
			continue;
		o = simulate((enum noise_kind)k, 0, 6, until_for((enum noise_kind)k), 1000);
		assert_true(o.wrong <= o.runs / 20);
		assert_true(o.covered_by_verdict >= o.runs - o.runs / 20);
		o = simulate((enum noise_kind)k, 0, 12, 0, 2000);
		/* The fixed design's rate is 5 % itself: two standard deviations of the count above it. */
		assert_true((double)o.wrong <= 0.05 * (double)o.runs + 2 * sqrt(0.0475 * (double)o.runs));
	}
}

/* An injected difference. Well-behaved noise is held to 93 to 97 %. */
static void test_injected(void **state)
{
	static const enum noise_kind good[] = { NOISE_NORMAL, NOISE_SKEWED, NOISE_LAB };
	struct outcome o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (missing(good[i]))
			continue;
		o = simulate(good[i], EFFECT, 12, 0, 3000);
		assert_true(o.covered >= 0.93 * (double)o.runs && o.covered <= 0.97 * (double)o.runs);
		o = simulate(good[i], EFFECT, 6, until_for(good[i]), 4000);
		assert_true(o.covered >= 0.93 * (double)o.runs && o.covered <= 0.97 * (double)o.runs);
		assert_true(o.wrong <= o.runs / 20);
	}
}

/* Drift and modes are said, and nobody is misled silently. */
static void test_ill_behaved(void **state)
{
	static const struct { enum noise_kind noise; enum caveat_kind word; } bad[] = {
		{ NOISE_DRIFT, CAVEAT_DRIFT }, { NOISE_MODES, CAVEAT_MODES },
	};
	struct outcome o;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		o = simulate(bad[i].noise, EFFECT, 24, 0, 5000);
		assert_true(o.said[bad[i].word] >= 0.9 * (double)o.runs);
		assert_true(o.silent_miss <= o.runs / 20);
		o = simulate(bad[i].noise, EFFECT, 6, until_for(bad[i].noise), 6000);
		assert_true(o.said[bad[i].word] >= 0.9 * (double)o.runs);
		assert_true(o.silent_miss <= o.runs / 20 && o.wrong <= o.runs / 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals),
		cmocka_unit_test(test_injected),
		cmocka_unit_test(test_ill_behaved),
	};
	int rc;

	noise_lab_load(&lab, "tests/data/lab-blocks.csv");
	rc = cmocka_run_group_tests_name("method-sim", tests, NULL, NULL);
	free(lab.pair);
	return rc;
}
