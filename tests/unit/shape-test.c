// SPDX-License-Identifier: GPL-2.0-or-later
/* shape: each recogniser against published or hand-made answers, and silent on plain noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/shape.h"
#include "profile/stats.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* B. Rosner's 54 values as the NIST/SEMATECH e-Handbook, 1.3.5.17.3, prints them: three outliers at 5 %. */
static const double rosner[] = {
	-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70,
	1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40,
	2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
};

static void test_outliers_of_rosner(void **state)
{
	size_t which[10];

	(void)state;
	assert_int_equal(shape_outliers(rosner, LEN(rosner), 0.05, 10, which), 3);
	assert_int_equal(which[0], 53);
	assert_int_equal(which[1], 52);
	assert_int_equal(which[2], 51);
	/* One at a time they hide behind each other: the first two steps do not pass, the third does. */
	assert_int_equal(shape_outliers(rosner, LEN(rosner), 0.05, 2, which), 0);
}

static void test_no_outliers(void **state)
{
	static const double same[] = { 3, 3, 3, 3, 3, 3 };
	size_t which[2];

	(void)state;
	assert_int_equal(shape_outliers(same, LEN(same), 0.05, 2, which), 0);
	assert_int_equal(shape_outliers(same, 2, 0.05, 2, which), 0);
	assert_int_equal(shape_outliers(NULL, 0, 0.05, 2, which), 0);
}

/* Five rising values: S = 10, variance 5*4*15/18, z = 9/4.082 = 2.2045. */
static void test_trend(void **state)
{
	struct shape_trend t = shape_trend((double[]){ 1, 2, 3, 4, 5 }, 5);

	(void)state;
	assert_near(t.tau, 1, 1e-12);
	assert_near(t.slope, 1, 1e-12);
	assert_near(t.p, 0.02749, 1e-5);
	t = shape_trend((double[]){ 2, 2, 2 }, 3);
	assert_true(t.p == 1 && t.slope == 0);
	assert_true(shape_trend((double[]){ 1 }, 1).p == 1);
}

/* 1 2 | 9 10: within 2 * 0.5, about the mean 65, so 64 of 65; fewer than 2 a part cannot be cut. */
static void test_split(void **state)
{
	static const unsigned at[4] = { 0, 1, 2, 3 };
	struct shape_set set = { "before", (double[]){ 9, 1, 10, 2 }, at, 4 };

	(void)state;
	assert_near(shape_split(&set, 1), 64. / 65, 1e-12);
	set.n = 3;
	assert_true(shape_split(&set, 1) == 0);
	set.x = (double[]){ 5, 5, 5, 5 };
	set.n = 4;
	assert_true(shape_split(&set, 1) == 0);
}

/* Two sides of n blocks that alternate; the sentences in `out`. */
static unsigned look(const double *before, const double *after, size_t n, double resolution, struct caveats *out)
{
	unsigned at[2][200];
	struct shape_set sets[2] = { { "before", before, at[0], n }, { "after", after, at[1], n } };
	size_t i;

	for (i = 0; i < n; i++) {
		at[0][i] = (unsigned)(2 * i);
		at[1][i] = (unsigned)(2 * i + 1);
	}
	return shape_caveats(sets, resolution, true, "wall time", out);
}

static void says(const struct caveats *c, enum caveat_kind k, const char *part)
{
	const struct caveat *v = caveats_get(c, k, "wall time");

	assert_non_null(v);
	if (!strstr(v->text, part))
		fail_msg("\"%s\" is not in \"%s\"", part, v->text);
}

static void test_identical(void **state)
{
	static const double b[] = { 7, 7, 7, 7, 7 }, a[] = { 6, 6, 6, 6, 6 };
	struct caveats c = { 0 };

	(void)state;
	assert_int_equal(look(b, a, 5, 0.1, &c), SHAPE_IDENTICAL);
	says(&c, CAVEAT_IDENTICAL, "All 5 blocks before are equal");
	caveats_release(&c);
}

static void test_ties(void **state)
{
	static const double b[] = { 4, 8, 4, 4, 8, 4, 8, 8 }, a[] = { 8, 4, 4, 8, 4, 4, 8, 4 };
	struct caveats c = { 0 };

	(void)state;
	assert_true(look(b, a, 8, 4, &c) & SHAPE_TIES);
	says(&c, CAVEAT_TIES, "2 different values in 8 blocks");
	caveats_release(&c);
}

static void test_one_outlier(void **state)
{
	static const double b[] = { 10, 10.1, 9.9, 10.05, 9.95, 10.02 }, a[] = { 9, 9.1, 8.9, 13, 9.05, 8.95 };
	struct caveats c = { 0 };

	(void)state;
	assert_int_equal(look(b, a, 6, 0, &c), SHAPE_OUTLIER);
	says(&c, CAVEAT_OUTLIER, "Block 8 (after) stands apart: +44");
	caveats_release(&c);
	/* Below what the clock can tell nothing stands apart. */
	assert_int_equal(look(b, a, 6, 5, &c), 0);
	caveats_release(&c);
}

static void test_drift(void **state)
{
	double b[8], a[8];
	struct caveats c = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 8; i++) {
		b[i] = 100 + (double)i + (double)(i * 7 % 3) / 4;
		a[i] = 90 + (double)i + (double)(i * 5 % 3) / 4;
	}
	assert_true(look(b, a, 8, 0, &c) & SHAPE_DRIFT);
	says(&c, CAVEAT_DRIFT, "from the first to the last by +7");
	caveats_release(&c);
}

static void test_modes(void **state)
{
	double b[12], a[12];
	struct caveats c = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 12; i++) {
		b[i] = (i * 5 % 12 < 4 ? 110 : 100) + (double)(i * 7 % 13) / 10;
		a[i] = (i * 7 % 12 < 5 ? 110 : 100) + (double)(i * 5 % 13) / 10;
	}
	assert_int_equal(look(b, a, 12, 0, &c), SHAPE_MODES);
	says(&c, CAVEAT_MODES, "two modes, 9.99 % apart");
	caveats_release(&c);
}

static void test_slow_first(void **state)
{
	static const double b[] = { 14, 10.1, 9.9, 10.05, 9.95, 10.02 }, a[] = { 9, 9.1, 8.9, 9, 9.05, 8.95 };
	struct caveats c = { 0 };

	(void)state;
	assert_true(look(b, a, 6, 0, &c) & SHAPE_SLOW_FIRST);
	says(&c, CAVEAT_SLOW_FIRST, "The first block (before) took 39.9 %");
	caveats_release(&c);
}

/* On normal blocks each recogniser may speak in 1 of 100 experiments; all together in 4. */
static void test_quiet_on_normal_noise(void **state)
{
	static const size_t sizes[] = { 6, 12, 30 };
	struct noise noise = noise_new(NOISE_NORMAL, 0.02, 5);
	size_t s, i, k, spoke;

	(void)state;
	for (s = 0; s < LEN(sizes); s++) {
		for (spoke = k = 0; k < 2000; k++) {
			double b[30], a[30];
			struct caveats c = { 0 };

			for (i = 0; i < sizes[s]; i++) {
				b[i] = noise_next(&noise);
				a[i] = noise_next(&noise);
			}
			spoke += look(b, a, sizes[s], 0, &c) != 0;
			caveats_release(&c);
		}
		print_message("n %zu: %zu of 2000 normal experiments have a caveat\n", sizes[s], spoke);
		assert_true(spoke < 2000 * 0.045);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outliers_of_rosner),
		cmocka_unit_test(test_no_outliers),
		cmocka_unit_test(test_trend),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_one_outlier),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_slow_first),
		cmocka_unit_test(test_quiet_on_normal_noise),
	};

	return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
