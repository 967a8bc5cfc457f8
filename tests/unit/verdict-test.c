// SPDX-License-Identifier: GPL-2.0-or-later
/* verdict, stop, fdr: the rules of profile/verdict.h one by one, and what repeated looks cost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/fdr.h"
#include "profile/stop.h"
#include "profile/verdict.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct verdict_design fixed = { .sequential = false }, open_ended = { .sequential = true };

/* --- stop --- */

/* The mixture's likelihood ratio written out: at the multiplier it is 1/alpha. */
static double ratio(double n, double t)
{
	double g = 1 + 2 * n;

	return pow((1 + t * t / (n - 1)) / (1 + t * t / (n - 1) / g), n / 2) / sqrt(g);
}

static void test_multiplier(void **state)
{
	size_t n;

	(void)state;
	for (n = 4; n < 3000; n += n / 3 + 1) {
		double t = stop_multiplier(n, 0.05);

		assert_near(ratio((double)n, t), 20, 1e-6);
		assert_near(stop_p(n, t), 0.05, 1e-9);
		assert_near(stop_p(n, -t), 0.05, 1e-9);
	}
	/* Too few for any statement: no t, however large, makes the ratio 20. */
	assert_true(isinf(stop_multiplier(1, 0.05)) && isinf(stop_multiplier(2, 0.05)) &&
		    isinf(stop_multiplier(3, 0.05)));
	assert_true(stop_p(1, 5) == 1 && stop_p(3, 1e9) > 0.05 && stop_p(9, NAN) == 1);
	assert_true(stop_p(30, INFINITY) < 1e-15);
	assert_true(stop_p(30, 0) == 1);
}

/*
 * Equal sides, looked at after each of 200 pairs. A t interval that is looked at so often leaves 0 out sooner
 * or later in far more than 5 % of the experiments, the sequence in at most 5 %.
 */
static void test_looking_after_each_pair(void **state)
{
	struct noise noise = noise_new(NOISE_NORMAL, 1, 17);
	size_t k, n, t_alarms = 0, alarms = 0, runs = 1000;

	(void)state;
	for (k = 0; k < runs; k++) {
		double sum = 0, ss = 0;
		bool t_alarm = false, alarm = false;

		for (n = 1; n <= 200; n++) {
			double d = noise_next(&noise) - 1, sd, t;

			sum += d;
			ss += d * d;
			if (n < 4)
				continue;
			sd = sqrt((ss - sum * sum / (double)n) / (double)(n - 1));
			t = fabs(sum / (double)n) / (sd / sqrt((double)n));
			alarm |= t > stop_multiplier(n, 0.05);
			t_alarm |= t > 1.96 + 2.5 / (double)(n - 1) + 4 / (double)((n - 1) * (n - 1));
		}
		t_alarms += t_alarm;
		alarms += alarm;
	}
	print_message("200 looks at equals: t interval %zu, confidence sequence %zu false alarms in %zu\n", t_alarms,
		      alarms, runs);
	assert_true(t_alarms > 200);
	assert_true(alarms <= 50);
}

static void test_pairs_needed(void **state)
{
	size_t n;

	(void)state;
	/* t at 15 degrees of freedom is 2.131, at 14 2.145: 4 * 2.131 / 4 = 2.13, 4 * 2.145 / sqrt(15) = 2.215. */
	assert_int_equal(stop_pairs_needed(4, 2.14, false), 16);
	assert_int_equal(stop_pairs_needed(4, 2.22, false), 15);
	n = stop_pairs_needed(1, 0.5, true);
	assert_true(stop_multiplier(n, 0.05) / sqrt((double)n) <= 0.5);
	assert_true(stop_multiplier(n - 1, 0.05) / sqrt((double)(n - 1)) > 0.5);
	assert_int_equal(stop_pairs_needed(0, 0.5, false), 2);
	assert_int_equal(stop_pairs_needed(NAN, 0.5, false), 0);
	assert_int_equal(stop_pairs_needed(1, 0, false), 0);
	assert_int_equal(stop_pairs_needed(1, 1e-9, false), 0);
}

static void test_look(void **state)
{
	double before[40], after[40];
	struct stop_state s;
	size_t i;

	(void)state;
	for (i = 0; i < 40; i++) {
		before[i] = 100;
		after[i] = 90 + (i % 2 ? 1 : -1);
	}
	s = stop_look(before, after, 1, 0.01);
	assert_true(!s.done && !s.known && isinf(s.half));
	s = stop_look(before, after, 4, 0.002);
	assert_true(!s.done && s.known && s.more > 10);
	s = stop_look(before, after, 40, 0.02);
	assert_true(s.done && s.more == 0);
	assert_near(s.rel, -0.1, 1e-12);
	assert_near(s.half, stop_multiplier(40, 0.05) * sqrt(40. / 39) / sqrt(40) / 100, 1e-12);
	/* Narrow enough at once is not enough: the spread of three pairs is not known. */
	s = stop_look(before, before, 3, 0.02);
	assert_false(s.done);
	assert_int_equal(s.more, STOP_MIN_PAIRS - 3);
	assert_true(stop_look(before, before, STOP_MIN_PAIRS, 0.02).done);
	/* Before 0 has no fraction to be narrow in. */
	memset(before, 0, sizeof(before));
	assert_false(stop_look(before, after, 40, 0.02).done);
}

/* --- fdr --- */

/* The 15 p values of Benjamini and Hochberg, 1995: four are rejected at 5 %. */
static void test_fdr(void **state)
{
	static const double p[] = { 0.3240, 0.0001, 0.0459, 0.0004, 0.0344, 0.0019, 0.4262, 0.0095, 0.0201, 0.5719,
				    0.0278, 0.6528, 0.0298, 0.7590, 1.0000 };
	double q[15];
	size_t i, rejected = 0;

	(void)state;
	fdr_adjust(p, 15, q);
	for (i = 0; i < 15; i++)
		rejected += q[i] <= FDR_RATE;
	assert_int_equal(rejected, 4);
	assert_near(q[1], 0.0015, 1e-12);
	assert_near(q[7], 0.0095 * 15 / 4, 1e-12);
	assert_near(q[8], 0.0201 * 15 / 5, 1e-12);
	assert_near(q[10], 0.0298 * 15 / 7, 1e-12);	/* the next one pulls it down */
	assert_true(q[14] == 1);
}

static void test_fdr_skips_what_is_no_test(void **state)
{
	double q[3];

	(void)state;
	fdr_adjust((double[]){ NAN, 0.02, 0.04 }, 3, q);
	assert_true(isnan(q[0]));
	assert_near(q[1], 0.04, 1e-12);
	fdr_adjust(NULL, 0, NULL);
}

/* --- verdict --- */

static const double even[] = { 100, 102, 99, 101, 98, 100, 101, 99 };

static struct estimate judge(const double *after, const struct verdict_design *d, bool shaky)
{
	return verdict_judge(even, LEN(even), after, LEN(even), true, shaky, 0, LOWER_IS_BETTER, d);
}

static void test_rules(void **state)
{
	double after[LEN(even)];
	struct verdict_design wide = { .margin = 0.1 };
	struct estimate e;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(even); i++)
		after[i] = even[i] - 3 + (i % 2 ? 0.5 : -0.5);
	e = judge(after, &fixed, false);
	assert_int_equal(e.verdict, VERDICT_BETTER);
	assert_non_null(strstr(e.method, "paired t"));
	assert_non_null(strstr(e.other.method, "signed-rank"));
	assert_true(e.nominal.lo == e.lo && !e.sequential && !e.by_rank && e.margin == VERDICT_MARGIN);
	for (i = 0; i < LEN(even); i++)
		after[i] = even[i] + (i % 2 ? 0.5 : -0.5);
	assert_int_equal(judge(after, &fixed, false).verdict, VERDICT_EQUIVALENT);
	for (i = 0; i < LEN(even); i++)
		after[i] = even[i] + (i % 2 ? 3 : -3);
	e = judge(after, &fixed, false);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_true(e.pairs_needed > LEN(even));
	assert_int_equal(judge(after, &wide, false).verdict, VERDICT_EQUIVALENT);
	/* Without pairs: Welch, and the rank test of two sets. */
	e = verdict_judge(even, 8, after, 7, false, false, 0, LOWER_IS_BETTER, &fixed);
	assert_non_null(strstr(e.method, "Welch"));
	assert_non_null(strstr(e.other.method, "Mann-Whitney"));
	assert_int_equal(e.pairs, 0);
}

static void test_open_ended(void **state)
{
	double after[LEN(even)], m = stop_multiplier(LEN(even), 0.05);
	struct estimate e, f;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(even); i++)
		after[i] = even[i] - 1 + (i % 2 ? 0.9 : -0.9);
	f = judge(after, &fixed, false);
	e = judge(after, &open_ended, false);
	assert_int_equal(f.verdict, VERDICT_BETTER);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_near((e.hi - e.lo) / 2, m * e.diff_sd / sqrt(LEN(even)), 1e-12);
	assert_near(e.p, stop_p(LEN(even), e.diff / (e.diff_sd / sqrt(LEN(even)))), 1e-12);
	assert_true(e.p > 0.05 && e.nominal.p > f.p && e.nominal.p < e.p);
	assert_near((e.nominal.hi - e.nominal.lo) / (f.hi - f.lo), 1.25, 1e-12);
	assert_non_null(strstr(e.method, "confidence sequence"));
	/* Three pairs allow no statement at all. */
	e = verdict_judge(even, 3, after, 3, true, false, 0, LOWER_IS_BETTER, &open_ended);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_true(isnan(e.lo) && e.p == 1);
}

/* One block that a neighbour slowed down hides from t what seven others show; ranks decide, and it is said. */
static void test_ranks_decide_on_outliers(void **state)
{
	double after[LEN(even)];
	struct estimate e;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(even); i++)
		after[i] = even[i] - 2 - (double)i / 10;
	after[3] = 160;
	e = judge(after, &fixed, true);
	assert_true(e.by_rank);
	assert_non_null(strstr(e.method, "signed-rank"));
	assert_non_null(strstr(e.other.method, "paired t"));
	assert_near(e.diff, -2.35, 0.1);
	e = judge(after, &fixed, false);
	assert_false(e.by_rank);
	assert_true(e.diff > 4);
	/* Where the number of pairs was open the sequence decides, whatever the shape: fixed in advance. */
	assert_false(judge(after, &open_ended, true).by_rank);
}

static void test_one_block_a_side(void **state)
{
	struct estimate e = verdict_judge(even, 1, even + 1, 1, true, false, 0, LOWER_IS_BETTER, &fixed);

	(void)state;
	assert_int_equal(e.verdict, VERDICT_TOO_FEW);
	assert_true(isnan(e.lo) && isnan(e.p) && !e.other.method);
}

static void test_exact(void **state)
{
	static const double b[] = { 10, 10, 10, 10, 10, 10 }, a[] = { 9.99, 9.99, 9.99, 9.99, 9.99, 9.99 };
	struct estimate e = verdict_judge(b, 6, a, 6, true, false, 0.001, LOWER_IS_BETTER, &fixed);

	(void)state;
	assert_true(e.sd_zero);
	assert_int_equal(e.verdict, VERDICT_BETTER);
	assert_near((e.hi - e.lo) / 2, 0.001, 1e-12);
	e = verdict_judge(b, 6, a, 6, true, false, 0.001, LOWER_IS_BETTER, &open_ended);
	assert_int_equal(e.verdict, VERDICT_BETTER);
	assert_near((e.hi - e.lo) / 2, 0.001, 1e-12);
	assert_true(e.p < 0.05);
	e = verdict_judge(b, 6, b, 6, true, false, 0.001, LOWER_IS_BETTER, &open_ended);
	assert_int_equal(e.verdict, VERDICT_EQUIVALENT);
}

static void test_noise_floor(void **state)
{
	struct noise_floor f = noise_floor_paired(even, even, LEN(even), 0.5);

	(void)state;
	assert_int_equal(f.n, 8);
	assert_near(f.worst, 0.5 / 100, 1e-12);
	f = noise_floor_split(even, LEN(even), 0);
	assert_true(f.split && f.n == 4);
	assert_true(f.effect.lo < 0 && f.effect.hi > 0);
	assert_int_equal(noise_floor_split(even, 3, 0).n, 0);
	assert_int_equal(noise_floor_paired(even, even, 1, 0).n, 0);
}

static void test_designs(void **state)
{
	struct experiment e = { .state = EXP_COMPLETE, .margin = 0.02 };

	(void)state;
	assert_false(verdict_design_of(&e).sequential);
	assert_true(verdict_design_of(&e).margin == 0.02);
	e.until = 0.01;
	assert_true(verdict_design_of(&e).sequential);
	e.until = 0;
	e.state = EXP_CANCELLED;
	assert_true(verdict_design_of(&e).sequential);
	e.state = EXP_RUNNING;
	assert_true(verdict_design_of(&e).sequential);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_multiplier),
		cmocka_unit_test(test_looking_after_each_pair),
		cmocka_unit_test(test_pairs_needed),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_fdr),
		cmocka_unit_test(test_fdr_skips_what_is_no_test),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_open_ended),
		cmocka_unit_test(test_ranks_decide_on_outliers),
		cmocka_unit_test(test_one_block_a_side),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_noise_floor),
		cmocka_unit_test(test_designs),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
