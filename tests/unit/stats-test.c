// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stats: known answers.
 *
 * Student's sleep data (W. S. Gosset, "The probable error of a mean",
 * Biometrika 6, 1908; data set "sleep" of R) give, by R's t.test(extra ~ group)
 * as printed in R's own manual: t = -1.8608, df = 17.776, p-value = 0.07939,
 * 95 % interval -3.3654832 to 0.2054832, means 0.75 and 2.33.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/stats.h"
#include "tests/unit/near.h"

static const double sleep_1[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
static const double sleep_2[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define WELCH(a, b, resolution) stats_welch(a, LEN(a), b, LEN(b), resolution, LOWER_IS_BETTER)

static void test_summary(void **state)
{
	/* Mean 5, sum of squares 32: the usual example of a standard deviation; n - 1 = 7. */
	static const double x[] = { 9, 2, 4, 4, 5, 4, 7, 5 };
	struct summary s = stats_summary(x, LEN(x));

	(void)state;
	assert_int_equal(s.n, 8);
	assert_true(s.mean == 5);
	assert_near(s.sd, sqrt(32. / 7), 1e-12);
	assert_true(s.median == 4.5 && s.min == 2 && s.max == 9);
	assert_true(x[0] == 9 && x[7] == 5);
}

/* A shell script in the kernel's torture tests gives 5 for 10, 20, and 10 for 10, 20, 30. */
static void test_median(void **state)
{
	(void)state;
	assert_true(stats_summary((double[]){ 10, 20 }, 2).median == 15);
	assert_true(stats_summary((double[]){ 30, 10, 20 }, 3).median == 20);
	assert_true(stats_summary((double[]){ 7 }, 1).median == 7);
}

static void test_summary_of_few(void **state)
{
	struct summary s = stats_summary(NULL, 0);

	(void)state;
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.mean) && isnan(s.sd) && isnan(s.median) && isnan(s.min) && isnan(s.max));
	s = stats_summary((double[]){ 3 }, 1);
	assert_true(s.mean == 3 && s.median == 3 && s.min == 3 && s.max == 3 && isnan(s.sd));
}

static void test_equal_values_have_no_spread(void **state)
{
	double x[1000];
	size_t i;
	struct summary s;

	(void)state;
	for (i = 0; i < LEN(x); i++)
		x[i] = 0.1;
	s = stats_summary(x, LEN(x));
	assert_true(s.mean == 0.1);
	assert_true(s.sd == 0);
}

/* The sum of squares of small figures on a large base must not cancel. */
static void test_spread_on_a_large_base(void **state)
{
	static const double x[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };

	(void)state;
	assert_near(stats_summary(x, LEN(x)).sd, sqrt(30), 1e-9);
}

static void test_welch_sleep(void **state)
{
	struct estimate e = WELCH(sleep_1, sleep_2, 0);

	(void)state;
	assert_near(e.before.mean, 0.75, 1e-12);
	assert_near(e.after.mean, 2.33, 1e-12);
	assert_near(e.diff, 1.58, 1e-12);
	/* R subtracts the other way round. */
	assert_near(e.lo, -0.2054832, 5e-8);
	assert_near(e.hi, 3.3654832, 5e-8);
	assert_near(e.df, 17.776, 5e-4);
	assert_near(e.p, 0.07939, 5e-6);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_false(e.sd_zero);
	assert_near(e.rel, 1.58 / 0.75, 1e-12);
	assert_near(e.rel_lo, -0.2054832 / 0.75, 1e-7);
	assert_near(e.rel_hi, 3.3654832 / 0.75, 1e-7);
	assert_non_null(strstr(e.method, "Welch"));
}

/*
 * By hand: before 1 2 3, after 5 7 9. Variances 1 and 4, n = 3: se^2 = 5/3;
 * df = (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 50/17. Difference 5, t = 5/sqrt(5/3) = sqrt(15).
 */
static void test_welch_by_hand(void **state)
{
	static const double before[] = { 2, 1, 3 }, after[] = { 9, 5, 7 };
	struct estimate e = WELCH(before, after, 0);
	double half = (e.hi - e.lo) / 2;

	(void)state;
	assert_near(e.df, 50. / 17, 1e-12);
	assert_true(e.diff == 5);
	assert_near((e.hi + e.lo) / 2, 5, 1e-12);
	/* Between the table's two-sided 95 % points for 2 and 3 degrees of freedom, 4.303 and 3.182. */
	assert_true(half / sqrt(5. / 3) > 3.182 && half / sqrt(5. / 3) < 3.3);
	/* t = 3.873: between the 5 % points and, for 3 degrees of freedom, the 2 % point 4.541. */
	assert_true(e.p > 0.02 && e.p < 0.05);
	assert_int_equal(e.verdict, VERDICT_WORSE);
}

/* Equal sizes and variances: n + m - 2 degrees of freedom; 2.228 is the table's t for 10 (5 %, two-sided). */
static void test_welch_table_value(void **state)
{
	static const double before[] = { 1, 2, 3, 4, 5, 6 }, after[] = { 11, 12, 13, 14, 15, 16 };
	struct estimate e = WELCH(before, after, 0);

	(void)state;
	assert_near(e.df, 10, 1e-12);
	assert_near((e.hi - e.lo) / 2 / sqrt(2 * 3.5 / 6), 2.228, 5e-4);
}

static void test_direction(void **state)
{
	static const double low[] = { 1, 2, 3, 2 }, high[] = { 11, 12, 13, 12 };

	(void)state;
	assert_int_equal(stats_welch(low, 4, high, 4, 0, LOWER_IS_BETTER).verdict, VERDICT_WORSE);
	assert_int_equal(stats_welch(low, 4, high, 4, 0, HIGHER_IS_BETTER).verdict, VERDICT_BETTER);
	assert_int_equal(stats_welch(high, 4, low, 4, 0, LOWER_IS_BETTER).verdict, VERDICT_BETTER);
	assert_int_equal(stats_welch(high, 4, low, 4, 0, HIGHER_IS_BETTER).verdict, VERDICT_WORSE);
}

/* go 23471: with one run a side no p can be given, so none is. */
static void test_too_few(void **state)
{
	static const double one[] = { 10 }, two[] = { 20, 21 };
	struct estimate e = WELCH(one, two, 1);

	(void)state;
	assert_int_equal(e.verdict, VERDICT_TOO_FEW);
	assert_true(e.diff == 10.5 && e.rel == 1.05);
	assert_true(isnan(e.lo) && isnan(e.hi) && isnan(e.p) && isnan(e.df));
	e = stats_welch(NULL, 0, two, 2, 1, LOWER_IS_BETTER);
	assert_int_equal(e.verdict, VERDICT_TOO_FEW);
	assert_true(isnan(e.diff) && isnan(e.rel));
	e = stats_welch(NULL, 0, NULL, 0, 1, LOWER_IS_BETTER);
	assert_int_equal(e.verdict, VERDICT_TOO_FEW);
}

/* hyperfine 580: runs that repeat exactly are not infinitely well known. */
static void test_exact_repeats_have_the_resolution(void **state)
{
	static const double before[] = { 281, 281, 281, 281 }, after[] = { 280, 280, 280, 280 };
	struct estimate e = WELCH(before, after, 0.25);

	(void)state;
	assert_true(e.sd_zero);
	assert_near(e.lo, -1.25, 1e-9);
	assert_near(e.hi, -0.75, 1e-9);
	assert_int_equal(e.verdict, VERDICT_BETTER);
	assert_true(e.p < 0.05);
	/* A difference within the resolution is none. */
	e = WELCH(before, after, 2);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_true(e.p > 0.05);
	/* No resolution given: still not of width zero. */
	e = WELCH(before, after, 0);
	assert_true(e.lo < -1 && e.hi > -1);
	assert_int_equal(e.verdict, VERDICT_BETTER);
	assert_true(isfinite(e.p));
	e = WELCH(before, before, 0.25);
	assert_true(e.diff == 0 && e.lo == -0.25 && e.hi == 0.25);
	assert_near(e.p, 1, 1e-12);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
}

static void test_all_zero(void **state)
{
	static const double zero[] = { 0, 0, 0 };
	struct estimate e = WELCH(zero, zero, 0);

	(void)state;
	assert_true(e.diff == 0 && e.lo == 0 && e.hi == 0 && e.p == 1);
	assert_true(isnan(e.rel) && isnan(e.rel_lo) && isnan(e.rel_hi));
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
}

/* One side repeats exactly, the other does not: the other's n - 1 degrees of freedom. */
static void test_one_exact_side(void **state)
{
	static const double before[] = { 10, 10, 10 }, after[] = { 1, 2, 3, 4 };
	struct estimate e = WELCH(before, after, 0);

	(void)state;
	assert_false(e.sd_zero);
	assert_near(e.df, 3, 1e-12);
	/* 3.182 of the table times sqrt(5/3/4). */
	assert_near((e.hi - e.lo) / 2, 3.182 * sqrt(5. / 12), 5e-4);
}

static void test_a_spread_below_the_resolution(void **state)
{
	static const double before[] = { 10, 10.001, 10 }, after[] = { 10.1, 10.1, 10.101 };
	struct estimate e = WELCH(before, after, 1);

	(void)state;
	assert_near((e.hi - e.lo) / 2, 1, 1e-12);
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_true(e.p > 0.05);
}

/* p below 0.05 and an interval without 0 are the same statement. */
static void test_p_and_interval_agree(void **state)
{
	struct rng r;
	int i, j, decided = 0;

	(void)state;
	rng_seed(&r, 1);
	for (i = 0; i < 2000; i++) {
		double before[4], after[5];
		struct estimate e;

		for (j = 0; j < 4; j++)
			before[j] = (double)rng_below(&r, 10);
		for (j = 0; j < 5; j++)
			after[j] = (double)rng_below(&r, 10) + (double)(i % 8);
		e = stats_welch(before, 4, after, 5, i % 3, LOWER_IS_BETTER);
		assert_int_equal(e.p < 0.05, e.lo > 0 || e.hi < 0);
		decided += e.p < 0.05;
	}
	assert_in_range(decided, 200, 1800);
}

/*
 * 95 % intervals of equal sides miss 0 in about 5 % of experiments. 4000 of 6
 * against 6 uniform blocks: 200 expected, standard deviation 13.8; four of those allowed.
 */
static void test_false_positives(void **state)
{
	struct rng r;
	int i, j, wrong = 0;

	(void)state;
	rng_seed(&r, 42);
	for (i = 0; i < 4000; i++) {
		double x[12];

		for (j = 0; j < 12; j++)
			x[j] = (double)(rng_next(&r) >> 11);
		wrong += stats_welch(x, 6, x + 6, 6, 0, LOWER_IS_BETTER).verdict != VERDICT_UNDECIDED;
	}
	assert_in_range(wrong, 145, 255);
}

static void test_not_finite(void **state)
{
	static const double before[] = { 1, NAN, 2 }, after[] = { 1, 2, INFINITY };
	struct estimate e = WELCH(before, after, 1);

	(void)state;
	assert_int_equal(e.verdict, VERDICT_UNDECIDED);
	assert_true(isnan(e.p));
}

static void test_verdict_names(void **state)
{
	(void)state;
	assert_string_equal(verdict_name(VERDICT_BETTER, LOWER_IS_BETTER), "faster");
	assert_string_equal(verdict_name(VERDICT_WORSE, LOWER_IS_BETTER), "slower");
	assert_string_equal(verdict_name(VERDICT_BETTER, HIGHER_IS_BETTER), "higher");
	assert_string_equal(verdict_name(VERDICT_WORSE, HIGHER_IS_BETTER), "lower");
	assert_string_equal(verdict_name(VERDICT_UNDECIDED, LOWER_IS_BETTER), "undecided");
	assert_string_equal(verdict_name(VERDICT_TOO_FEW, HIGHER_IS_BETTER), "too few blocks");
}

/* --- generator and order --- */

/* The first figures of xoshiro256** from the state 1 2 3 4; the first, by hand: rotl(2 * 5, 7) * 9. */
static void test_rng_known_answers(void **state)
{
	static const uint64_t want[] = {
		11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
		16172922978634559625ULL, 8476171486693032832ULL, 10595114339597558777ULL,
		2904607092377533576ULL,
	};
	struct rng r = { { 1, 2, 3, 4 } };
	size_t i;

	(void)state;
	for (i = 0; i < LEN(want); i++)
		assert_true(rng_next(&r) == want[i]);
}

/* SplitMix64 from the seed 1234567, as published with its reference code's ports. */
static void test_rng_seed_known_answers(void **state)
{
	static const uint64_t want[] = {
		6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
		4593380528125082431ULL,
	};
	struct rng r;
	int i;

	(void)state;
	rng_seed(&r, 1234567);
	for (i = 0; i < 4; i++)
		assert_true(r.s[i] == want[i]);
}

static void test_rng_below(void **state)
{
	unsigned met[6] = { 0 }, low = 0, i;
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (i = 0; i < 60000; i++)
		met[rng_below(&r, 6)]++;
	/* 10000 expected, standard deviation 91. */
	for (i = 0; i < 6; i++)
		assert_in_range(met[i], 9600, 10400);
	assert_true(rng_below(&r, 1) == 0);
	/* A plain remainder would make the lowest third of these as likely as the other two together. */
	for (i = 0; i < 9000; i++)
		low += rng_below(&r, 3ULL << 62) < 1ULL << 62;
	/* 3000 expected, standard deviation 45. */
	assert_in_range(low, 2800, 3200);
}

static void test_block_order_is_balanced(void **state)
{
	enum variant order[2 * 9];
	uint64_t seed;
	size_t i, pairs;

	(void)state;
	for (seed = 0; seed < 500; seed++) {
		for (pairs = 1; pairs <= 9; pairs++) {
			size_t before_first = 0;

			stats_block_order(seed, pairs, order);
			for (i = 0; i < pairs; i++) {
				assert_int_equal(order[2 * i] + order[2 * i + 1],
						 VARIANT_BEFORE + VARIANT_AFTER);
				before_first += order[2 * i] == VARIANT_BEFORE;
			}
			/* Half of the pairs start with each variant; an odd one by chance. */
			assert_in_range(before_first, pairs / 2, (pairs + 1) / 2);
			for (i = 2; i < 2 * pairs; i++)
				assert_false(order[i] == order[i - 1] && order[i] == order[i - 2]);
		}
	}
}

static void test_block_order_is_random_and_repeats(void **state)
{
	enum variant a[16], b[16];
	unsigned first[8] = { 0 }, odd = 0;
	uint64_t seed;
	size_t i;

	(void)state;
	for (seed = 0; seed < 4000; seed++) {
		stats_block_order(seed, 8, a);
		stats_block_order(seed, 8, b);
		assert_memory_equal(a, b, sizeof(a));
		for (i = 0; i < 8; i++)
			first[i] += a[2 * i] == VARIANT_BEFORE;
		stats_block_order(seed, 1, a);
		odd += a[0] == VARIANT_BEFORE;
	}
	/* 2000 expected, standard deviation 32. */
	for (i = 0; i < 8; i++)
		assert_in_range(first[i], 1850, 2150);
	assert_in_range(odd, 1850, 2150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_summary_of_few),
		cmocka_unit_test(test_equal_values_have_no_spread),
		cmocka_unit_test(test_spread_on_a_large_base),
		cmocka_unit_test(test_welch_sleep),
		cmocka_unit_test(test_welch_by_hand),
		cmocka_unit_test(test_welch_table_value),
		cmocka_unit_test(test_direction),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_exact_repeats_have_the_resolution),
		cmocka_unit_test(test_all_zero),
		cmocka_unit_test(test_one_exact_side),
		cmocka_unit_test(test_a_spread_below_the_resolution),
		cmocka_unit_test(test_p_and_interval_agree),
		cmocka_unit_test(test_false_positives),
		cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_verdict_names),
		cmocka_unit_test(test_rng_known_answers),
		cmocka_unit_test(test_rng_seed_known_answers),
		cmocka_unit_test(test_rng_below),
		cmocka_unit_test(test_block_order_is_balanced),
		cmocka_unit_test(test_block_order_is_random_and_repeats),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
