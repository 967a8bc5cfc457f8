// SPDX-License-Identifier: GPL-2.0-or-later
/* counted: counters per operation, which blocks they come from, what is not supported, quantiles of two
 * sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "near.h"
#include "profile/counted.h"

struct block {
	struct run run;
	struct block_figure figures[4];
	size_t n;
};

static struct counted *build(struct block *v, size_t n)
{
	struct counted_block *b = mem_calloc(n, sizeof(*b));
	struct counted *c;

	for (size_t i = 0; i < n; i++)
		b[i] = (struct counted_block){ &v[i].run, v[i].figures, v[i].n, NULL, 0 };
	c = counted_build(b, n);
	free(b);
	return c;
}

static struct block block(enum variant v, bool sampled, double ops, const char *name, double value,
			  double running)
{
	return (struct block){ .run = { .state = RUN_COMPLETE, .variant = v, .ops = ops, .sampled = sampled },
			       .figures = { { name, "events", value, running } }, .n = 1 };
}

/* 10, 12, 14 and 20, 22, 24 events an operation: difference 10, both sd 2, so +-2.776 * 2 * sqrt(2/3). */
static void test_per_operation(void **state)
{
	struct block v[6];
	struct counted *c;

	(void)state;
	for (int i = 0; i < 3; i++) {
		v[i] = block(VARIANT_BEFORE, false, 100, "x", 1000 + 200 * i, 1);
		v[3 + i] = block(VARIANT_AFTER, false, 1000, "x", 20000 + 2000 * i, 1);
	}
	c = build(v, 6);
	assert_int_equal(c->n, 1);
	assert_true(c->v[0].supported && c->v[0].running == 1 && !c->v[0].sampled);
	assert_string_equal(c->v[0].unit, "events/op");
	assert_near(c->v[0].est.before.mean, 12, 1e-9);
	assert_near(c->v[0].est.after.mean, 22, 1e-9);
	assert_near(c->v[0].est.hi - c->v[0].est.diff, 4.533, 1e-3);
	assert_string_equal(counter_verdict(&c->v[0].est), "higher");
	counted_free(c);
}

/* Timed blocks on both sides: the sampled ones do not count. On one side only: all do. */
static void test_unsampled_first(void **state)
{
	struct block v[] = {
		block(VARIANT_BEFORE, false, 1, "x", 5, 1), block(VARIANT_BEFORE, true, 1, "x", 500, 1),
		block(VARIANT_AFTER, true, 1, "x", 900, 1), block(VARIANT_AFTER, false, 1, "x", 9, 1),
	};
	struct counted *c = build(v, 4);

	(void)state;
	assert_near(c->v[0].est.before.mean, 5, 0);
	assert_near(c->v[0].est.after.mean, 9, 0);
	assert_false(c->v[0].sampled);
	counted_free(c);
	c = build(v, 3);
	assert_near(c->v[0].est.before.mean, 252.5, 0);
	assert_near(c->v[0].est.after.mean, 900, 0);
	assert_true(c->v[0].sampled);
	counted_free(c);
}

static void test_not_supported(void **state)
{
	struct block v[] = {
		block(VARIANT_BEFORE, false, 10, "cycles:u", NAN, 0),
		block(VARIANT_AFTER, false, 10, "cycles:u", NAN, 0),
	};
	struct counted *c = build(v, 2);

	(void)state;
	assert_int_equal(c->n, 1);
	assert_false(c->v[0].supported);
	assert_int_equal(c->v[0].n_values[VARIANT_BEFORE], 0);
	counted_free(c);
}

static void test_scaled(void **state)
{
	struct block v[] = {
		block(VARIANT_BEFORE, false, 10, "cycles:u", 100, 0.75),
		block(VARIANT_AFTER, false, 10, "cycles:u", 100, 0.4),
	};
	struct counted *c = build(v, 2);

	(void)state;
	assert_true(c->v[0].supported && c->v[0].running == 0.4);
	counted_free(c);
}

/* Warm-up, failed and empty blocks, and numbers that a file may hold. */
static void test_left_out(void **state)
{
	struct block v[] = {
		block(VARIANT_BEFORE, false, 1, "x", 1, 1),
		block(VARIANT_BEFORE, false, 1, "x", 100, 1),
		block(VARIANT_BEFORE, false, 1, "x", 100, 1),
		block(VARIANT_BEFORE, false, 0, "x", 100, 1),
		block(VARIANT_BEFORE, false, 1, "x", INFINITY, 1),
		block(VARIANT_BEFORE, false, 1, "x", 100, -INFINITY),
		block(VARIANT_AFTER, false, 1, "x", 1, 1),
	};
	struct counted *c;

	(void)state;
	v[1].run.warmup = true;
	v[2].run.state = RUN_FAILED;
	c = build(v, 7);
	assert_int_equal(c->v[0].n_values[VARIANT_BEFORE], 1);
	assert_near(c->v[0].est.before.mean, 1, 0);
	assert_string_equal(counter_verdict(&c->v[0].est), "too few blocks");
	counted_free(c);
}

/* What the workload reports is neither a count nor a cost. */
static void test_reported(void **state)
{
	struct block v[] = {
		block(VARIANT_BEFORE, false, 50, "throughput", 8, NAN),
		block(VARIANT_AFTER, false, 50, "throughput", 9, NAN),
	};
	struct counted *c = build(v, 2);

	(void)state;
	assert_false(c->v[0].per_op);
	assert_string_equal(c->v[0].unit, "events");
	assert_near(c->v[0].est.after.mean, 9, 0);
	counted_free(c);
}

/* Blocks whose medians are 10, 20 and 30, 40; together half lies at 10 and at 30. */
static void test_distribution(void **state)
{
	static const struct { enum variant v; int64_t value; } seen[] = {
		{ VARIANT_BEFORE, 10 }, { VARIANT_AFTER, 30 }, { VARIANT_BEFORE, 20 }, { VARIANT_AFTER, 40 },
		{ VARIANT_NATIVE, 7 },
	};
	struct counted_block b[5];
	struct block_hist h[5];
	struct hist hists[5] = { { 0 } };
	struct run runs[5];
	struct counted *c;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		hist_add(&hists[i], seen[i].value);
		runs[i] = (struct run){
			.state = RUN_COMPLETE, .variant = seen[i].v, .ops = 1, .sampled = true
		};
		h[i] = (struct block_hist){ "len", "", &hists[i] };
		b[i] = (struct counted_block){ &runs[i], NULL, 0, &h[i], 1 };
	}
	c = counted_build(b, 5);
	assert_int_equal(c->n_dist, 1);
	assert_true(c->dist[0].side[BEFORE].total == 2 && c->dist[0].side[AFTER].total == 2);
	assert_true(c->dist[0].blocks[BEFORE] == 2);
	assert_near(c->dist[0].value[0][BEFORE], 10, 0);
	assert_near(c->dist[0].value[3][AFTER], 40, 0);
	assert_near(c->dist[0].est[0].before.mean, 15, 0);
	assert_near(c->dist[0].est[0].after.mean, 35, 0);
	assert_near(c->dist[0].est[0].diff, 20, 0);
	counted_free(c);
	for (size_t i = 0; i < 5; i++)
		hist_release(&hists[i]);
}

static void test_nothing(void **state)
{
	struct counted *c = counted_build(NULL, 0);

	(void)state;
	assert_true(!c->n && !c->n_dist);
	counted_free(c);
	counted_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_per_operation), cmocka_unit_test(test_unsampled_first),
		cmocka_unit_test(test_not_supported), cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_left_out),      cmocka_unit_test(test_reported),
		cmocka_unit_test(test_distribution),  cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
