// SPDX-License-Identifier: GPL-2.0-or-later
/* combine, across: known answers, the textbook's own data, and coverage by simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/across.h"
#include "tests/unit/near.h"

/*
 * Thirteen trials of BCG vaccine against tuberculosis (G. A. Colditz and others, JAMA 271, 1994, 698-702), the
 * data on which meta-analysis is taught: cases and others, vaccinated and not. The value is the log risk ratio.
 */
static const double trials[][4] = {
	{ 4, 119, 11, 128 }, { 6, 300, 29, 274 }, { 3, 228, 11, 209 }, { 62, 13536, 248, 12619 },
	{ 33, 5036, 47, 5761 }, { 180, 1361, 372, 1079 }, { 8, 2537, 10, 619 }, { 505, 87886, 499, 87892 },
	{ 29, 7470, 45, 7232 }, { 17, 1699, 65, 1600 }, { 186, 50448, 141, 27197 }, { 5, 2493, 3, 2338 },
	{ 27, 16886, 29, 17825 },
};
#define TRIALS (sizeof(trials) / sizeof(trials[0]))

static void test_bcg(void **state)
{
	struct combine_in v[TRIALS];
	struct combined c;
	size_t i;

	(void)state;
	for (i = 0; i < TRIALS; i++) {
		const double *t = trials[i];

		v[i].value = log(t[0] / (t[0] + t[1])) - log(t[2] / (t[2] + t[3]));
		v[i].se = sqrt(1 / t[0] - 1 / (t[0] + t[1]) + 1 / t[2] - 1 / (t[2] + t[3]));
	}
	c = combine(v, TRIALS);
	assert_int_equal(c.n, 13);
	assert_near(c.fixed, -0.4302851636540906, 1e-12);
	assert_near(c.fixed_lo, -0.5096612584262136, 1e-9);
	assert_near(c.fixed_hi, -0.3509090688819676, 1e-9);
	assert_near(c.q, 152.2330080823734, 1e-9);
	assert_near(c.i2, 0.9211734685456207, 1e-12);
	assert_near(c.tau * c.tau, 0.30876026286237646, 1e-12);
	assert_near(c.value, -0.7141172220732271, 1e-12);
	assert_near(c.lo, -1.1078213541683288, 1e-9);
	assert_near(c.hi, -0.3204130899781255, 1e-9);
	assert_true(c.q_p < 1e-20);
}

/* Two machines that agree: the weights are 4 and 1, Q is below n - 1, the interval is t(1) times the error. */
static void test_two_agree(void **state)
{
	const struct combine_in v[] = { { -0.10, 0.01 }, { -0.11, 0.02 } };
	struct combined c = combine(v, 2);

	(void)state;
	assert_near(c.fixed, -0.102, 1e-12);
	assert_near(c.value, -0.102, 1e-12);
	assert_near(c.tau, 0, 1e-12);
	assert_near(c.q, 0.2, 1e-9);
	assert_near(c.i2, 0, 1e-12);
	assert_near(c.hi - c.value, 12.706204736432095 * sqrt(1 / 12500.0), 1e-9);
	assert_near(c.fixed_hi - c.fixed, 1.959963984540054 * sqrt(1 / 12500.0), 1e-9);
}

/* What has no error to weigh it by does not count; nothing at all is no figure. */
static void test_left_out(void **state)
{
	const struct combine_in v[] = { { -0.1, 0.01 }, { -0.5, 0 }, { NAN, 0.01 }, { -0.5, NAN }, { -0.5, INFINITY } };
	struct combined c = combine(v, 5);

	(void)state;
	assert_int_equal(c.n, 1);
	assert_near(c.fixed, -0.1, 1e-12);
	assert_near(c.value, -0.1, 1e-12);
	assert_true(isnan(c.lo) && isnan(c.hi) && isnan(c.q));
	c = combine(v + 1, 4);
	assert_int_equal(c.n, 0);
	assert_true(isnan(c.fixed) && isnan(c.value));
	c = combine(NULL, 0);
	assert_int_equal(c.n, 0);
}

static double normal(struct rng *r)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += (double)(rng_next(r) >> 11) / 9007199254740992.0;
	return sum - 6;
}

/* How often of 2,000 times the intervals of four machines, which differ by 0.02 beside their noise, hold the truth. */
static void cover(const double noise[4], int *random, int *fixed)
{
	struct rng r;
	int i, k;

	*random = *fixed = 0;
	rng_seed(&r, 20);
	for (i = 0; i < 2000; i++) {
		struct combine_in v[4];
		struct combined c;

		for (k = 0; k < 4; k++)
			v[k] = (struct combine_in){ -0.1 + 0.02 * normal(&r) + noise[k] * normal(&r), noise[k] };
		c = combine(v, 4);
		*random += c.lo <= -0.1 && -0.1 <= c.hi;
		*fixed += c.fixed_lo <= -0.1 && -0.1 <= c.fixed_hi;
	}
	printf("noise %g to %g: random effects cover the truth in %d of 2000, the fixed effect in %d\n", noise[0], noise[3],
	       *random, *fixed);
}

/* 95 % for machines of like noise; noise that differs eightfold costs some, as combine.h says. */
static void test_coverage(void **state)
{
	static const double alike[4] = { 0.01, 0.01, 0.01, 0.01 }, unlike[4] = { 0.005, 0.01, 0.02, 0.04 };
	int random, fixed;

	(void)state;
	cover(alike, &random, &fixed);
	assert_in_range(random, 1880, 1960);
	assert_true(fixed < 1600);		/* it makes no claim about other machines */
	cover(unlike, &random, &fixed);
	assert_in_range(random, 1800, 1960);
}

/* --- across --- */

static struct compare *compared(const double *before, const double *after, size_t n)
{
	struct run *runs = mem_calloc(2 * n, sizeof(*runs));
	struct compare_block *blocks = mem_calloc(2 * n, sizeof(*blocks));
	struct compare *c;
	size_t i;

	for (i = 0; i < 2 * n; i++) {
		runs[i] = (struct run){ .state = RUN_COMPLETE, .variant = i < n ? VARIANT_BEFORE : VARIANT_AFTER, .ops = 1,
					.wall_ns = (uint64_t)(i < n ? before[i] : after[i - n]) };
		blocks[i].run = &runs[i];
	}
	c = compare_build(blocks, 2 * n);
	free(blocks);
	free(runs);
	return c;
}

/* One machine twice as fast as the other, the same share gained; a third that measured nothing. */
static void test_across(void **state)
{
	static const double before[] = { 1000000, 1010000, 990000, 1000000 }, after[] = { 900000, 909000, 891000, 900000 },
			    half_before[] = { 500000, 505000, 495000, 500000 },
			    half_after[] = { 450000, 454500, 445500, 450000 };
	struct compare *cmp[3] = { compared(before, after, 4), compared(half_before, half_after, 4), NULL };
	const struct experiment exps[3] = {
		{ .id = 3, .target = (char *)"vm", .kernel = (char *)"6.1", .state = EXP_COMPLETE },
		{ .id = 4, .target = (char *)"ssh:a", .kernel = (char *)"6.12", .state = EXP_COMPLETE },
		{ .id = 5, .target = (char *)"ssh:b", .state = EXP_FAILED },
	};
	struct across *a = across_build(exps, (const struct compare *const *)cmp, 3);
	const struct across_metric *m;

	(void)state;
	assert_int_equal(a->n, 3);
	assert_int_equal(a->n_metrics, 1);
	assert_string_equal(a->machines[1].target, "ssh:a");
	m = &a->metrics[0];
	assert_string_equal(m->name, "wall time");
	assert_near(m->est[0].diff, -100000, 1e-6);
	assert_near(m->est[1].diff, -50000, 1e-6);
	assert_int_equal(m->est[2].before.n, 0);
	assert_int_equal(m->all.n, 2);
	assert_near(m->all.value, -0.1, 1e-9);
	assert_near(m->all.tau, 0, 1e-12);
	assert_true(m->all.lo < -0.1 && m->all.hi < 0);
	assert_int_equal(m->verdict, VERDICT_BETTER);
	across_free(a);
	compare_free(cmp[0]);
	compare_free(cmp[1]);

	/* One machine is no "across", none is nothing. */
	cmp[0] = compared(before, after, 4);
	cmp[1] = NULL;
	a = across_build(exps, (const struct compare *const *)cmp, 2);
	assert_int_equal(a->metrics[0].verdict, VERDICT_TOO_FEW);
	across_free(a);
	compare_free(cmp[0]);
	cmp[0] = NULL;
	a = across_build(exps, (const struct compare *const *)cmp, 2);
	assert_int_equal(a->n_metrics, 0);
	across_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bcg), cmocka_unit_test(test_two_agree), cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_coverage), cmocka_unit_test(test_across),
	};

	return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
