// SPDX-License-Identifier: GPL-2.0-or-later
/* hist: buckets whose ends are known, quantiles of sets one can order by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "profile/hist.h"

static void test_bucket_ends(void **state)
{
	static const struct { int64_t value; int32_t bucket; int64_t low, high; } known[] = {
		{ 0, 0, 0, 0 }, { 255, 255, 255, 255 },		/* one each below 256 */
		{ 256, 256, 256, 257 }, { 257, 256, 256, 257 },	/* two each up to 511 */
		{ 511, 383, 510, 511 }, { 512, 384, 512, 515 },	/* four each from there */
		{ 1000000, 1780, 999424, 1003519 },		/* 2^19 + 116 * 2^12, of 2^12 values */
		{ INT64_MAX, HIST_LAST_BUCKET, INT64_MAX - (1LL << 55) + 1, INT64_MAX },
		{ -1, -1, -1, -1 }, { -256, -256, -256, -256 }, { -257, -257, -258, -257 },
		{ INT64_MIN, ~HIST_LAST_BUCKET, INT64_MIN, INT64_MIN + (1LL << 55) - 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(hist_bucket(known[i].value), known[i].bucket);
		assert_true(hist_low(known[i].bucket) == known[i].low);
		assert_true(hist_high(known[i].bucket) == known[i].high);
	}
}

/* Buckets follow one another without a gap, and none is wider than 1 part in 128. */
static void test_buckets_tile(void **state)
{
	(void)state;
	for (int32_t b = 0; b < HIST_LAST_BUCKET; b++) {
		int64_t low = hist_low(b), high = hist_high(b);

		assert_true(high + 1 == hist_low(b + 1));
		assert_int_equal(hist_bucket(low), b);
		assert_int_equal(hist_bucket(high), b);
		assert_true((high - low) <= low / 128);
		assert_true(hist_low(~b) == ~high && hist_high(~b) == ~low);
	}
}

static void test_quantiles(void **state)
{
	struct hist h = { 0 };

	(void)state;
	assert_true(isnan(hist_quantile(&h, 0.5)));
	for (int64_t v = 100; v >= 1; v--)	/* in whatever order */
		hist_add(&h, v);
	assert_int_equal(h.total, 100);
	assert_true(hist_quantile(&h, 0.5) == 50);
	assert_true(hist_quantile(&h, 0.9) == 90);
	assert_true(hist_quantile(&h, 0.99) == 99);
	assert_true(hist_quantile(&h, 0.999) == 100);
	assert_true(hist_quantile(&h, 0) == 1 && hist_quantile(&h, 1) == 100);
	hist_release(&h);
	hist_add(&h, 1000000);
	assert_true(hist_quantile(&h, 0.5) == 1003519);	/* the end of its bucket */
	hist_release(&h);
	hist_add(&h, -11);
	hist_add(&h, -11);
	hist_add(&h, 8);
	assert_true(hist_quantile(&h, 0.5) == -11 && hist_quantile(&h, 0.9) == 8);
	hist_release(&h);
}

static void test_merge(void **state)
{
	struct hist a = { 0 }, b = { 0 };

	(void)state;
	hist_add(&a, 5);
	hist_add(&b, 5);
	hist_add(&b, 300);
	hist_add(&b, 2);
	hist_merge(&a, &b);
	assert_int_equal(a.total, 4);
	assert_int_equal(a.n, 3);
	assert_true(a.v[0].bucket == 2 && a.v[0].n == 1);
	assert_true(a.v[1].bucket == 5 && a.v[1].n == 2);
	assert_int_equal(a.v[2].bucket, hist_bucket(300));
	hist_release(&a);
	hist_release(&b);
}

/* Numbers from a file. */
static void test_hostile_buckets(void **state)
{
	struct hist h = { 0 };

	(void)state;
	assert_false(hist_add_bucket(&h, HIST_LAST_BUCKET + 1, 1));
	assert_false(hist_add_bucket(&h, ~HIST_LAST_BUCKET - 1, 1));
	assert_true(hist_add_bucket(&h, 7, UINT64_MAX));
	assert_false(hist_add_bucket(&h, 8, 1));
	assert_int_equal(h.n, 1);
	assert_true(hist_add_bucket(&h, 9, 0));
	assert_int_equal(h.n, 1);
	assert_true(hist_quantile(&h, 0.999) == 7);
	hist_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket_ends), cmocka_unit_test(test_buckets_tile),
		cmocka_unit_test(test_quantiles), cmocka_unit_test(test_merge),
		cmocka_unit_test(test_hostile_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
