// SPDX-License-Identifier: GPL-2.0-or-later
/* plan: the order of blocks, the ends of an experiment, and what is said of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "jobs/plan.h"
#include "tests/unit/near.h"

/* Measures one pair: before 100, after 90, both with `spread` that alternates. */
static void measure(struct plan *p, const struct plan_pair *next, size_t i, double spread)
{
	size_t k;

	for (k = 0; k < 3; k++)
		plan_add(p, next->timed[k], (next->timed[k] == VARIANT_AFTER ? 90 + (i % 2 ? spread : -spread) : 100));
}

/* Runs it to its end at `each` s a pair; the number of pairs. */
static size_t run(struct plan *p, double each, double spread)
{
	struct plan_pair next;
	size_t i;

	for (i = 0; plan_next(p, 1000 + each * (double)i, &next); i++)
		measure(p, &next, i, spread);
	return i;
}

/* Before beside after, again on the other side of before, never the same code five times in a row. */
static void test_order(void **state)
{
	static const struct plan_opts both[] = {
		{ .seed = 3, .blocks = 40 }, { .seed = 3, .blocks = 4, .until = 1e-6, .time_limit = 40.5 },
	};
	size_t o, i, before_first, sampled;

	(void)state;
	for (o = 0; o < 2; o++) {
		struct plan p;
		struct plan_pair next;

		plan_init(&p, &both[o]);
		for (i = before_first = sampled = 0; plan_next(&p, (double)i, &next); i++) {
			assert_int_equal(next.timed[1], VARIANT_BEFORE);
			assert_int_equal(next.timed[0] + next.timed[2], VARIANT_AGAIN + VARIANT_AFTER);
			assert_true(next.timed[0] != VARIANT_BEFORE && next.timed[2] != VARIANT_BEFORE);
			assert_int_equal(next.sampled[0] + next.sampled[1], VARIANT_BEFORE + VARIANT_AFTER);
			assert_true((next.sampled[0] == VARIANT_BEFORE) == (next.timed[2] == VARIANT_AFTER));
			before_first += next.sampled[0] == VARIANT_BEFORE;
			sampled += next.sample;
			measure(&p, &next, i, 1 + (double)(i % 3));
		}
		assert_int_equal(i, 40);
		assert_int_equal(before_first, 20);
		/* All of a fixed number; of an open one the first four and then each fourth: 4, 8, ..., 36. */
		assert_int_equal(sampled, o ? 4 + 9 : 40);
		plan_release(&p);
	}
}

static void test_fixed(void **state)
{
	struct plan_opts o = { .seed = 1, .blocks = 7 };
	struct buf text = BUF_INIT;
	struct plan p;

	(void)state;
	plan_init(&p, &o);
	assert_int_equal(run(&p, 1, 0), 7);
	plan_end(&p, &text);
	assert_int_equal(text.len, 0);
	plan_release(&p);
	o.time_limit = 4.5;
	plan_init(&p, &o);
	/* A fifth pair would not have fitted in. */
	assert_int_equal(run(&p, 1, 0), 4);
	plan_end(&p, &text);
	assert_non_null(strstr(buf_str(&text), "ended it after 4 of 7 pairs"));
	plan_release(&p);
	buf_release(&text);
}

static void test_until_narrow(void **state)
{
	struct plan_opts o = { .seed = 1, .blocks = 6, .until = 0.01, .time_limit = 600 };
	struct buf text = BUF_INIT;
	struct plan p;
	size_t n;

	(void)state;
	plan_init(&p, &o);
	n = run(&p, 1, 1);
	assert_true(p.look.done && p.look.half <= 0.01);
	assert_true(stop_multiplier(n - 1, 0.05) / sqrt((double)n - 1) > 0.009);
	plan_end(&p, &text);
	assert_int_equal(text.len, 0);
	plan_release(&p);
	buf_release(&text);
}

static void test_out_of_time(void **state)
{
	struct plan_opts o = { .seed = 1, .blocks = 6, .until = 0.001, .time_limit = 60 };
	struct buf text = BUF_INIT;
	struct plan p;

	(void)state;
	plan_init(&p, &o);
	assert_int_equal(run(&p, 6, 0.5), 10);
	assert_true(p.look.known && p.look.more > 10);
	/* It says what there is time for, not what it would take. */
	assert_int_equal(plan_pairs(&p), 10);
	assert_near(plan_time_left(&p, 1060), 0, 1e-9);
	plan_end(&p, &text);
	assert_non_null(strstr(buf_str(&text), "did not reach +-0.1 % within the time limit of 60 s: after 10 pairs"));
	assert_non_null(strstr(buf_str(&text), "it takes about"));
	buf_clear(&text);
	plan_release(&p);
	/* Noise beyond all hope is called that. */
	o.until = 1e-6;
	plan_init(&p, &o);
	run(&p, 6, 30);
	plan_end(&p, &text);
	assert_non_null(strstr(buf_str(&text), "no reasonable number of pairs"));
	plan_release(&p);
	buf_release(&text);
}

static void test_time_left(void **state)
{
	struct plan_opts o = { .seed = 1, .blocks = 10 };
	struct plan_pair next;
	struct plan p;
	int i;

	(void)state;
	plan_init(&p, &o);
	assert_true(isnan(plan_time_left(&p, 5)));
	for (i = 0; i < 4; i++) {
		assert_true(plan_next(&p, 100 + 3 * i, &next));
		measure(&p, &next, (size_t)i, 1);
	}
	assert_near(plan_time_left(&p, 112), 18, 1e-9);
	assert_near(plan_fraction(&p, 112), 0.4, 1e-9);
	plan_release(&p);
}

/* 40 us of start, operations of 2 us: 20,000 of them make it 0.1 %. */
static void test_ops(void **state)
{
	static const double edge[] = { 40000, 9e9, 10 }, none[] = { -5, 3, -1 };
	double share;

	(void)state;
	assert_int_equal(plan_ops(10000, 2000, edge, &share), 20000);
	assert_near(share, 0.001, 1e-12);
	assert_int_equal(plan_ops(50000, 2000, edge, &share), 50000);
	assert_near(share, 0.0004, 1e-12);
	/* Not beyond ten times, and the share says so. */
	assert_int_equal(plan_ops(100, 2000, edge, &share), 1000);
	assert_near(share, 0.02, 1e-12);
	assert_int_equal(plan_ops(100, 2000, none, &share), 100);
	assert_true(share == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_until_narrow),
		cmocka_unit_test(test_out_of_time),
		cmocka_unit_test(test_time_left),
		cmocka_unit_test(test_ops),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
