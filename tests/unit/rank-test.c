// SPDX-License-Identifier: GPL-2.0-or-later
/* rank: published examples, and every arrangement counted by hand where there are few. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/rank.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: V = 40 of 9 pairs, p 0.0195 one-sided. */
static const double depression[] = {
	1.83 - 0.878, 0.50 - 0.647, 1.62 - 0.598, 2.48 - 2.05, 1.68 - 1.06, 1.88 - 1.29, 1.55 - 1.06, 3.06 - 3.14,
	1.30 - 1.29,
};
/* Table 4.1: W = 35, p 0.1272 one-sided, shift 0.305. */
static const double term[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
static const double early[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };

static void test_signed(void **state)
{
	struct rank_shift r = rank_signed(depression, LEN(depression));

	(void)state;
	assert_near(r.p, 20. / 512, 1e-12);
	assert_near(r.shift, 0.46, 1e-9);
	/* 5 of 512 arrangements have a rank sum of at most 5 less: the sixth of the 45 means on either end. */
	assert_true(r.lo < 0.46 && r.lo > 0 && r.hi > 0.46 && r.hi < 1);
	assert_non_null(strstr(r.method, "signed-rank"));
}

static void test_two(void **state)
{
	struct rank_shift r = rank_two(term, LEN(term), early, LEN(early));

	(void)state;
	assert_near(r.p, 2 * 0.1272, 1e-4);
	assert_near(r.shift, -0.305, 1e-9);
	assert_true(r.lo < -0.305 && r.hi > 0);
	assert_non_null(strstr(r.method, "Mann-Whitney"));
}

/* Six differences: 1 of 64 arrangements is the lowest, so the interval is from the lowest to the highest mean. */
static void test_fewest_with_an_interval(void **state)
{
	static const double d[] = { 5, 1, 4, 2, 6, 3 };
	struct rank_shift r = rank_signed(d, 6);

	(void)state;
	assert_true(r.lo == 1 && r.hi == 6 && r.shift == 3.5);
	assert_near(r.p, 2. / 64, 1e-12);
	r = rank_signed(d, 5);
	assert_true(isnan(r.lo) && isnan(r.hi));
	assert_near(r.p, 2. / 32, 1e-12);
	/* 1 of 70 splits of 4 and 4 is the lowest, 1.4 %; of 3 and 3, 1 of 20, 5 %: none. */
	assert_false(isnan(rank_two(d, 4, (double[]){ 11, 12, 13, 14 }, 4).lo));
	assert_true(isnan(rank_two(d, 3, (double[]){ 11, 12, 13 }, 3).lo));
}

/* All 2^8 signs of ranks with ties, 1 2.5 2.5 4 5 7 7 7, counted one by one. */
static void test_ties(void **state)
{
	static const double d[] = { 1, 2, -2, 3, 4, 5, 5, -5 };
	static const double ranks[] = { 1, 2.5, 2.5, 4, 5, 7, 7, 7 };
	double sum = 1 + 2.5 + 4 + 5 + 7 + 7;
	int below = 0, above = 0, s, i;

	(void)state;
	for (s = 0; s < 256; s++) {
		double t = 0;

		for (i = 0; i < 8; i++)
			t += s >> i & 1 ? ranks[i] : 0;
		below += t <= sum;
		above += t >= sum;
	}
	assert_near(rank_signed(d, 8).p, 2. * (above < below ? above : below) / 256, 1e-12);
}

static void test_nothing_to_tell(void **state)
{
	struct rank_shift r = rank_signed((double[]){ 0, 0, 0, 0, 0, 0, 0 }, 7);

	(void)state;
	assert_true(r.p == 1 && r.shift == 0 && r.lo == 0 && r.hi == 0);
	r = rank_two((double[]){ 3, 3, 3, 3 }, 4, (double[]){ 3, 3, 3, 3 }, 4);
	assert_true(r.p == 1 && r.shift == 0);
	assert_true(isnan(rank_signed(NULL, 0).p));
	assert_true(isnan(rank_two(NULL, 0, early, 5).p));
}

/* The normal approximation goes on where the count ends, and the interval holds the truth in 95 % or more. */
static void test_large(void **state)
{
	struct noise noise = noise_new(NOISE_SKEWED, 1, 3);
	double x[60], y[60];
	size_t i, k, held = 0, rejected = 0;

	(void)state;
	for (k = 0; k < 400; k++) {
		struct rank_shift r;

		for (i = 0; i < 60; i++) {
			x[i] = noise_next(&noise);
			y[i] = noise_next(&noise) + 0.5;
		}
		r = rank_two(x, 60, y, 60);
		held += r.lo <= 0.5 && r.hi >= 0.5;
		for (i = 0; i < 60; i++)
			x[i] = y[i] - x[i] - 0.5;
		rejected += rank_signed(x, 60).p < 0.05;
	}
	print_message("two sets of 60: 95 %% interval holds the shift in %zu of 400; pairs: p < 0.05 in %zu of 400\n",
		      held, rejected);
	assert_in_range(held, 368, 392);
	assert_in_range(rejected, 8, 34);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_fewest_with_an_interval),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_nothing_to_tell),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
