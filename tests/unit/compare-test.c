// SPDX-License-Identifier: GPL-2.0-or-later
/* compare: which blocks count, figures per operation, folded sides, intervals; experiment: names, owners. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "profile/compare.h"
#include "tests/unit/folded.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

static struct run block(enum variant v, uint64_t wall_ns, double ops)
{
	return (struct run){
		.kind = RUN_BLOCK, .state = RUN_COMPLETE, .variant = v, .wall_ns = wall_ns,
		.user_ns = wall_ns / 10, .sys_ns = wall_ns - wall_ns / 10, .ops = ops,
	};
}

static const struct metric *metric(const struct compare *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].name, name))
			return &c->metrics[i];
	return NULL;
}

static const struct flat_diff_row *row(const struct compare *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_flat; i++)
		if (!strcmp(c->diff->symtab.symbols[c->flat[i].symbol].name, name))
			return &c->flat[i];
	fail_msg("no row %s", name);
	return NULL;
}

/*
 * Per operation 14, 13, 15 us before and 10, 11, 9 after, side by side in this order: means 14 and 10,
 * differences -4, -2, -6 of sd 2, se 2/sqrt(3), 2 degrees of freedom, t = 4.303 of the table.
 */
static void test_metrics(void **state)
{
	struct run runs[] = {
		block(VARIANT_BEFORE, 14000000, 1000), block(VARIANT_AFTER, 10000000, 1000),
		block(VARIANT_AFTER, 22000000, 2000), block(VARIANT_BEFORE, 6500000, 500),
		block(VARIANT_NATIVE, 14500000, 1000), block(VARIANT_BEFORE, 15000000, 1000),
		block(VARIANT_AFTER, 9000000, 1000),
	};
	struct compare_block blocks[7];
	const struct metric *wall;
	struct compare *c;
	size_t i;

	(void)state;
	for (i = 0; i < 7; i++)
		blocks[i] = (struct compare_block){ &runs[i], NULL };
	c = compare_build(blocks, 7, NULL);
	assert_int_equal(c->n_metrics, 3);
	wall = &c->metrics[0];
	assert_string_equal(wall->name, "wall time");
	assert_string_equal(wall->unit, "ns/op");
	assert_near(wall->est.before.mean, 14000, 1e-9);
	assert_near(wall->est.after.mean, 10000, 1e-9);
	assert_near(wall->est.diff, -4000, 1e-9);
	assert_int_equal(wall->est.pairs, 3);
	assert_near(wall->est.df, 2, 1e-9);
	assert_near((wall->est.hi - wall->est.lo) / 2, 4.303 * 2 / sqrt(3) * 1000, 0.5);
	assert_int_equal(wall->est.verdict, VERDICT_UNDECIDED);
	assert_true(wall->est.pairs_needed > 3);
	assert_int_equal(wall->n_values[VARIANT_BEFORE], 3);
	assert_int_equal(wall->n_values[VARIANT_AFTER], 3);
	assert_near(wall->values[VARIANT_BEFORE][1], 13000, 1e-9);
	assert_near(wall->values[VARIANT_AFTER][1], 11000, 1e-9);
	assert_int_equal(wall->native.n, 1);
	assert_near(wall->native.mean, 14500, 1e-9);
	assert_near(metric(c, "user time")->est.before.mean, 1400, 1e-9);
	assert_near(metric(c, "system time")->est.before.mean, 12600, 1e-9);
	assert_int_equal(c->blocks[VARIANT_BEFORE], 3);
	assert_int_equal(c->blocks[VARIANT_AFTER], 3);
	assert_int_equal(c->blocks[VARIANT_NATIVE], 1);
	assert_int_equal(c->left_out, 0);
	assert_null(c->diff);
	assert_null(c->flat);
	assert_null(c->side[BEFORE]);
	compare_free(c);
}

static void test_what_is_left_out(void **state)
{
	struct run runs[] = {
		block(VARIANT_BEFORE, 1000, 1), block(VARIANT_BEFORE, 9999, 1),
		block(VARIANT_BEFORE, 9999, 1), block(VARIANT_BEFORE, 9999, 1),
		block(VARIANT_AFTER, 9999, 0), block(VARIANT_NONE, 9999, 1),
		block(VARIANT_BEFORE, 1000, 1), block(VARIANT_AFTER, 500, 1),
		block(VARIANT_AFTER, 9999, 1), block(VARIANT_AFTER, 500, 1),
	};
	struct profile *p = folded("f 100");
	struct compare_block blocks[10];
	struct compare *c;
	size_t i;

	(void)state;
	runs[1].warmup = true;
	runs[2].state = RUN_INCOMPLETE;
	runs[3].state = RUN_FAILED;
	runs[8].state = RUN_RUNNING;
	for (i = 0; i < 10; i++) {
		runs[i].samples = 7;
		runs[i].lost = 1;
		blocks[i] = (struct compare_block){ &runs[i], p };
	}
	c = compare_build(blocks, 10, NULL);
	assert_int_equal(c->left_out, 6);
	assert_int_equal(c->blocks[VARIANT_BEFORE], 2);
	assert_int_equal(c->blocks[VARIANT_AFTER], 2);
	assert_true(c->metrics[0].est.before.mean == 1000 && c->metrics[0].est.before.max == 1000);
	assert_true(c->metrics[0].est.after.mean == 500);
	assert_true(c->samples[BEFORE] == 14 && c->lost[BEFORE] == 2);
	assert_true(c->samples[AFTER] == 14 && c->lost[AFTER] == 2);
	assert_true(c->side[BEFORE]->samples == 200);
	assert_true(c->diff->ops[AFTER] == 2);
	compare_free(c);
	profile_free(p);
}

static void test_no_blocks(void **state)
{
	struct compare *c = compare_build(NULL, 0, NULL);

	(void)state;
	assert_int_equal(c->n_metrics, 0);
	assert_null(c->diff);
	compare_free(c);
	compare_free(NULL);
}

/* A time that no block has was not measured; zeros would look like a result. */
static void test_unmeasured_times_are_no_metric(void **state)
{
	struct run runs[] = { block(VARIANT_BEFORE, 1000, 1), block(VARIANT_AFTER, 900, 1) };
	struct compare_block blocks[] = { { &runs[0], NULL }, { &runs[1], NULL } };
	struct compare *c;

	(void)state;
	runs[0].user_ns = runs[1].user_ns = 0;
	runs[0].sys_ns = 0;
	c = compare_build(blocks, 2, NULL);
	assert_int_equal(c->n_metrics, 2);
	assert_null(metric(c, "user time"));
	assert_true(metric(c, "system time")->est.before.mean == 0);
	assert_int_equal(c->metrics[0].est.verdict, VERDICT_TOO_FEW);
	compare_free(c);
}

/* Blocks under an instruction clock repeat to the nanosecond: the interval is the clock's step. */
static void test_exact_blocks(void **state)
{
	struct run b = block(VARIANT_BEFORE, 281000000, 20000), a = block(VARIANT_AFTER, 210000000, 20000);
	struct compare_block blocks[] = { { &b, NULL }, { &a, NULL }, { &a, NULL }, { &b, NULL } };
	struct compare *c = compare_build(blocks, 4, NULL);
	const struct estimate *e = &c->metrics[0].est;

	(void)state;
	assert_true(e->sd_zero);
	assert_near(e->diff, -3550, 1e-9);
	assert_near(e->hi - e->lo, 2 * 1. / 20000, 1e-9);
	assert_true(e->hi > e->lo);
	assert_int_equal(e->verdict, VERDICT_BETTER);
	/* A tick for the other two. */
	e = &metric(c, "user time")->est;
	assert_near(e->hi - e->lo, 2 * 4e6 / 20000, 1e-9);
	compare_free(c);
}

/* profiles-drilldown 332 over blocks: hot falls, a and b stay exactly where they were. */
static void test_functions_per_operation(void **state)
{
	struct run runs[] = {
		block(VARIANT_BEFORE, 1000, 10), block(VARIANT_AFTER, 600, 10),
		block(VARIANT_AFTER, 1200, 20), block(VARIANT_BEFORE, 2000, 20),
	};
	struct profile *p[] = {
		folded("m;hot 500\nm;a 300\nm;b 200"), folded("m;hot 100\nm;a 300\nm;b 200\nm;fresh 50"),
		folded("m;hot 200\nm;a 600\nm;b 400\nm;fresh 100"), folded("m;hot 1000\nm;a 600\nm;b 400"),
	};
	struct compare_block blocks[4];
	const struct flat_diff_row *r;
	struct compare *c;
	size_t i;

	(void)state;
	runs[0].event = (char[]){ "cpu-clock" };
	for (i = 0; i < 4; i++)
		blocks[i] = (struct compare_block){ &runs[i], p[i] };
	c = compare_build(blocks, 4, NULL);
	for (i = 0; i < 4; i++)
		profile_free(p[i]);	/* all that is left is the comparison's own */
	runs[0].event = NULL;
	assert_true(c->diff->ops[BEFORE] == 30 && c->diff->ops[AFTER] == 30);
	assert_true(c->diff->wall_ns[BEFORE] == 3000 && c->diff->wall_ns[AFTER] == 1800);
	assert_string_equal(c->diff->event, "cpu-clock");
	assert_int_equal(c->measure, PERIOD);
	assert_true(c->side[BEFORE]->samples == 3000 && c->side[AFTER]->samples == 1950);
	assert_string_equal(c->diff->symtab.symbols[c->flat[0].symbol].name, "hot");

	r = row(c, "a");
	assert_true(r->self[AFTER][COUNT] * norm_scale(c->diff, NORM_OP, AFTER, COUNT) ==
		    r->self[BEFORE][COUNT] * norm_scale(c->diff, NORM_OP, BEFORE, COUNT));
	/* Exact blocks: one sample of the shortest block wide, around 0. */
	assert_true(r->has_interval);
	assert_near(r->self_lo, -FOLDED_PERIOD / 10, 1e-6);
	assert_near(r->self_hi, FOLDED_PERIOD / 10, 1e-6);
	r = row(c, "hot");
	assert_near(r->self_lo, -40.1 * FOLDED_PERIOD, 1e-6);
	assert_near(r->self_hi, -39.9 * FOLDED_PERIOD, 1e-6);
	r = row(c, "fresh");
	assert_true(r->rank[BEFORE] == 0 && r->rank[AFTER] > 0);
	assert_near((r->self_lo + r->self_hi) / 2, 5 * FOLDED_PERIOD, 1e-6);
	compare_free(c);
}

/* Self samples per operation 5, 6, 7 before and 4, 2, 3 after: differences -1, -4, -4, sd sqrt(3), t = 4.303. */
static void test_function_interval(void **state)
{
	static const enum variant order[] = {
		VARIANT_BEFORE, VARIANT_AFTER, VARIANT_BEFORE, VARIANT_AFTER, VARIANT_BEFORE, VARIANT_AFTER,
	};
	static const int samples[] = { 500, 400, 600, 200, 700, 300 };
	struct compare_block blocks[6];
	struct profile *p[6];
	struct run runs[6];
	const struct flat_diff_row *r;
	struct compare *c;
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		char line[32];

		snprintf(line, sizeof(line), "m;f %d\nm;g 10", samples[i]);
		p[i] = folded(line);
		runs[i] = block(order[i], 1000, 100);
		blocks[i] = (struct compare_block){ &runs[i], p[i] };
	}
	c = compare_build(blocks, 6, NULL);
	r = row(c, "f");
	assert_true(r->has_interval);
	assert_near((r->self_lo + r->self_hi) / 2 / FOLDED_PERIOD, -3, 1e-9);
	assert_near((r->self_hi - r->self_lo) / 2 / FOLDED_PERIOD, 4.303, 5e-4);
	/* t = 3, twice the tail at 2 degrees of freedom; g's cost did not change, m has none: two tests. */
	assert_near(r->p, 0.0955, 5e-4);
	assert_near(r->q, 0.191, 1e-3);
	assert_false(r->significant);
	assert_true(isnan(row(c, "m")->q));
	compare_free(c);
	for (i = 0; i < 6; i++)
		profile_free(p[i]);
}

/* --- pairs --- */

/* As an experiment runs them, with two values in per cent to tell pairs apart: 1 is before, 2 after, 3 again. */
static struct compare *ordered(const char *order, const unsigned *wall, struct run *runs)
{
	static const enum variant variants[] = { VARIANT_BEFORE, VARIANT_AFTER, VARIANT_AGAIN };
	struct compare_block blocks[32];
	size_t n = strlen(order), i;

	for (i = 0; i < n; i++) {
		runs[i] = block(variants[order[i] - '1'], wall[i], 1);
		runs[i].ordinal = (unsigned)i;
		blocks[i] = (struct compare_block){ &runs[i], NULL };
	}
	return compare_build(blocks, n, NULL);
}

/* The whole drifts from 100 to 150, each pair differs by 10 or 11: within pairs that is plain. */
static void test_pairs_take_out_drift(void **state)
{
	static const unsigned wall[] = { 100, 90, 100, 111, 120, 110, 120, 131, 140, 130, 140, 151 };
	struct run runs[12];
	struct compare *c = ordered("122112211221", wall, runs);
	const struct estimate *e = &c->metrics[0].est;

	(void)state;
	assert_int_equal(e->pairs, 6);
	assert_int_equal(e->verdict, VERDICT_BETTER);
	assert_near(e->diff, -63. / 6, 1e-9);
	assert_true(c->metrics[0].values[VARIANT_BEFORE][1] == 111 && c->metrics[0].values[VARIANT_AFTER][1] == 100);
	assert_non_null(caveats_get(&c->caveats, CAVEAT_DRIFT, "wall time"));
	compare_free(c);
	/* The same blocks in an order that is not one of pairs: independent sets, and the drift is spread. */
	c = ordered("111111222222", wall, runs);
	assert_int_equal(c->metrics[0].est.pairs, 0);
	assert_non_null(strstr(c->metrics[0].est.method, "Welch"));
	compare_free(c);
}

/* Interrupted between the two blocks of a pair: the one that is there has nothing to be compared with. */
static void test_the_last_block_alone(void **state)
{
	static const unsigned wall[] = { 100, 90, 91, 100, 500 };
	struct run runs[5];
	struct compare *c = ordered("12211", wall, runs);

	(void)state;
	assert_int_equal(c->metrics[0].est.pairs, 2);
	assert_int_equal(c->left_out, 1);
	assert_true(c->metrics[0].est.before.max == 100);
	compare_free(c);
}

/* Again stands beside before, on either side: two pairs' neighbours are not mixed up. */
static void test_noise_floor_of_again(void **state)
{
	static const unsigned wall[] = { 90, 100, 103, 110, 108, 95, 92, 101, 104, 120, 118, 99 };
	struct run runs[12];
	struct compare *c = ordered("213312213312", wall, runs);
	const struct noise_floor *f = &c->metrics[0].floor;

	(void)state;
	assert_int_equal(c->metrics[0].est.pairs, 4);
	assert_int_equal(c->blocks[VARIANT_AGAIN], 4);
	assert_int_equal(f->n, 4);
	assert_false(f->split);
	/* 103-100, 110-108, 104-101, 120-118 */
	assert_near(f->effect.diff, 2.5, 1e-9);
	assert_near(f->worst, (2.5 + 3.182 * sqrt(1. / 3) / 2) / 104.25, 1e-4);
	compare_free(c);
	/* Without such blocks the before blocks are set against one another. */
	c = ordered("12121212", wall, runs);
	assert_true(c->metrics[0].floor.split);
	compare_free(c);
}

/* --- functions and stacks --- */

/* Self differences add up to that of the whole, and each stack has its interval. */
static void test_differences_add_up(void **state)
{
	static const enum variant order[] = {
		VARIANT_BEFORE, VARIANT_AFTER, VARIANT_AFTER, VARIANT_BEFORE, VARIANT_BEFORE, VARIANT_AFTER,
	};
	static const char *const stacks[] = {
		"m;hot 507\nm;a 300\nm;b;c 211\nn 9", "m;hot 101\nm;a 301\nm;b;c 210\nm;fresh 50\nn 7",
		"m;hot 99\nm;a 299\nm;b;c 209\nm;fresh 53\nn;n 8", "m;hot 511\nm;a 300\nm;b;c 207\nn 8",
		"m;hot 501\nm;a 303\nm;b;c 209\nn 6", "m;hot 97\nm;a 302\nm;b;c 212\nm;fresh 49\nn 9",
	};
	struct compare_block blocks[6];
	struct profile *p[6];
	struct run runs[6];
	struct compare *c;
	double sum = 0, whole, scale[SIDES];
	const struct diff_node *root;
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		p[i] = folded(stacks[i]);
		runs[i] = block(order[i], 1000, 7);
		runs[i].sampled = true;
		blocks[i] = (struct compare_block){ &runs[i], p[i] };
	}
	c = compare_build(blocks, 6, NULL);
	scale[BEFORE] = norm_scale(c->diff, NORM_OP, BEFORE, PERIOD);
	scale[AFTER] = norm_scale(c->diff, NORM_OP, AFTER, PERIOD);
	root = &c->diff->nodes[NODE_ROOT];
	whole = root->total[AFTER][PERIOD] * scale[AFTER] - root->total[BEFORE][PERIOD] * scale[BEFORE];
	for (i = 0; i < c->n_flat; i++)
		sum += c->flat[i].self[AFTER][PERIOD] * scale[AFTER] - c->flat[i].self[BEFORE][PERIOD] * scale[BEFORE];
	assert_near(sum, whole, 1e-9 * fabs(whole));
	assert_true(row(c, "hot")->significant && row(c, "fresh")->significant);
	assert_false(row(c, "a")->significant);
	assert_false(row(c, "c")->significant);
	/* m has no cost of its own, and its total moved with hot and fresh. */
	assert_true(row(c, "m")->total_hi < 0 && isnan(row(c, "m")->p));
	assert_non_null(c->stacks);
	assert_near((c->stacks[NODE_ROOT].lo + c->stacks[NODE_ROOT].hi) / 2, whole, 1e-9 * fabs(whole));
	for (i = 0; i < c->diff->n; i++) {
		const char *name = diff_symbol(c->diff, (uint32_t)i)->name;

		if (!strcmp(name, "hot") || !strcmp(name, "fresh"))
			assert_true(c->stacks[i].significant);
		if (!strcmp(name, "a") || !strcmp(name, "b"))
			assert_true(c->stacks[i].q > 0.05 && c->stacks[i].lo < 0 && c->stacks[i].hi > 0);
	}
	compare_free(c);
	for (i = 0; i < 6; i++)
		profile_free(p[i]);
}

/* Forty functions that did not change: without counting them two would be called changed, with it none is. */
static void test_many_functions(void **state)
{
	struct compare_block blocks[16];
	struct noise noise = noise_new(NOISE_NORMAL, 0.05, 9);
	struct profile *p[16];
	struct run runs[16];
	struct compare *c;
	size_t i, k, alone = 0, called = 0;

	(void)state;
	for (i = 0; i < 16; i++) {
		struct buf text = BUF_INIT;

		for (k = 0; k < 40; k++)
			buf_printf(&text, "%sm;f%zu %.0f", k ? "\n" : "", k, 1000 * noise_next(&noise));
		p[i] = folded(buf_str(&text));
		buf_release(&text);
		runs[i] = block(i % 2 ? VARIANT_AFTER : VARIANT_BEFORE, 1000, 10);
		blocks[i] = (struct compare_block){ &runs[i], p[i] };
	}
	c = compare_build(blocks, 16, NULL);
	for (i = 0; i < c->n_flat; i++) {
		alone += c->flat[i].p < 0.05;
		called += c->flat[i].significant;
	}
	print_message("of 40 unchanged functions %zu have p < 0.05, %zu are called changed\n", alone, called);
	assert_true(alone > 0);
	assert_int_equal(called, 0);
	compare_free(c);
	for (i = 0; i < 16; i++)
		profile_free(p[i]);
}

static void test_unsampled_blocks_do_not_dilute(void **state)
{
	struct run runs[] = {
		block(VARIANT_BEFORE, 1000, 10), block(VARIANT_BEFORE, 1000, 10),
		block(VARIANT_AFTER, 1000, 10),
	};
	struct profile *p = folded("f 30");
	struct compare_block blocks[] = { { &runs[0], p }, { &runs[1], NULL }, { &runs[2], p } };
	struct compare *c = compare_build(blocks, 3, NULL);

	(void)state;
	assert_true(c->diff->ops[BEFORE] == 10);
	assert_true(c->diff->wall_ns[BEFORE] == 1000);
	assert_false(row(c, "f")->has_interval);
	assert_int_equal(c->metrics[0].est.before.n, 2);
	compare_free(c);
	profile_free(p);
}

/* Sampled blocks ran 10 % slower; where both sides also ran without the profiler theirs do not count. */
static void test_times_come_from_unsampled_blocks(void **state)
{
	struct run runs[] = {
		block(VARIANT_BEFORE, 10000, 1), block(VARIANT_AFTER, 8000, 1),
		block(VARIANT_BEFORE, 11000, 1), block(VARIANT_AFTER, 8800, 1),
	};
	struct compare_block blocks[4];
	struct compare *c;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		blocks[i] = (struct compare_block){ &runs[i], NULL };
	runs[2].sampled = runs[3].sampled = true;
	c = compare_build(blocks, 4, NULL);
	assert_int_equal(c->metrics[0].n_values[VARIANT_BEFORE], 1);
	assert_near(c->metrics[0].est.before.mean, 10000, 1e-9);
	assert_near(c->metrics[0].est.after.mean, 8000, 1e-9);
	assert_int_equal(c->blocks[VARIANT_BEFORE], 2);
	compare_free(c);
	/* One side has sampled blocks only: then all count, on both. */
	runs[1].sampled = true;
	c = compare_build(blocks, 4, NULL);
	assert_int_equal(c->metrics[0].n_values[VARIANT_BEFORE], 2);
	assert_near(c->metrics[0].est.before.mean, 10500, 1e-9);
	compare_free(c);
}

static void test_one_side_without_samples(void **state)
{
	struct run runs[] = { block(VARIANT_BEFORE, 1000, 10), block(VARIANT_AFTER, 1000, 10) };
	struct profile *p = folded("m;f 30");
	struct compare_block blocks[] = { { &runs[0], NULL }, { &runs[1], p } };
	struct compare *c = compare_build(blocks, 2, NULL);

	(void)state;
	assert_null(c->side[BEFORE]);
	assert_non_null(c->side[AFTER]);
	assert_true(diff_new(c->diff, NODE_ROOT));
	assert_true(norm_scale(c->diff, NORM_OP, BEFORE, COUNT) == 0);
	compare_free(c);
	profile_free(p);
}

static void test_pair(void **state)
{
	struct run before = {
		.kind = RUN_RECORD, .wall_ns = 2000000000, .ops = 1, .samples = 100, .lost = 2,
	};
	struct run after = { .kind = RUN_IMPORT, .samples = 50 };
	struct profile *b = folded("m;f 60\nm;g 40"), *a = folded("m;f 50");
	struct compare *c = compare_pair(&before, b, NULL, &after, a, NULL);

	(void)state;
	profile_free(b);
	profile_free(a);
	assert_int_equal(c->n_metrics, 1);
	assert_int_equal(c->metrics[0].est.before.n, 1);
	assert_int_equal(c->metrics[0].est.after.n, 0);	/* an import has no times: none are made up */
	assert_int_equal(c->metrics[0].est.verdict, VERDICT_TOO_FEW);
	assert_true(c->samples[BEFORE] == 100 && c->lost[BEFORE] == 2 && c->samples[AFTER] == 50);
	assert_true(c->diff->ops[BEFORE] == 1 && c->diff->ops[AFTER] == 1);
	assert_false(row(c, "f")->has_interval);
	assert_true(row(c, "g")->rank[AFTER] == 0);
	assert_true(c->side[AFTER]->samples == 50);
	compare_free(c);
}

static void test_pair_of_profiles_alone(void **state)
{
	struct profile *p = folded("m;f 60");
	struct compare *c = compare_pair(NULL, NULL, NULL, NULL, p, NULL);

	(void)state;
	assert_int_equal(c->n_metrics, 0);
	assert_int_equal(c->blocks[VARIANT_BEFORE], 0);
	assert_true(diff_new(c->diff, 1));
	compare_free(c);
	c = compare_pair(NULL, NULL, NULL, NULL, NULL, NULL);
	assert_null(c->diff);
	compare_free(c);
	profile_free(p);
}

/* --- experiment --- */

static void test_names(void **state)
{
	enum variant v;
	int i;

	(void)state;
	for (i = 0; i < VARIANT_COUNT; i++) {
		assert_true(variant_parse(variant_name((enum variant)i), &v));
		assert_int_equal(v, i);
	}
	assert_false(variant_parse("", &v));
	assert_false(variant_parse("Before", &v));
	assert_string_equal(variant_name(VARIANT_AFTER), "after");
	assert_string_equal(run_state_name(RUN_INCOMPLETE), "incomplete");
	assert_string_equal(exp_state_name(EXP_CANCELLED), "cancelled");
	/* Numbers of a session file that this version does not know. */
	assert_string_equal(variant_name((enum variant)77), "unknown");
	assert_string_equal(run_state_name((enum run_state)77), "unknown");
	assert_string_equal(exp_state_name((enum exp_state)77), "unknown");
}

static void test_machine(void **state)
{
	struct machine m = { 0 };

	(void)state;
	assert_null(machine_get(&m, "cpu.model"));
	machine_add(&m, "kernel", "6.1");
	machine_add(&m, "cpu.model", "TCG");
	machine_add(&m, "note", NULL);
	assert_string_equal(machine_get(&m, "cpu.model"), "TCG");
	assert_null(machine_get(&m, "cpu"));
	assert_null(machine_get(&m, "note"));
	assert_string_equal(m.facts[0].key, "kernel");
	machine_release(&m);
	assert_int_equal(m.n, 0);
}

static void test_releases_leave_nothing(void **state)
{
	struct case_facts c = { 0 };
	struct experiment e = { 0 };
	struct run r = { 0 };

	(void)state;
	case_facts_release(&c);
	experiment_release(&e);
	run_release(&r);
	r.label = mem_strdup("l");
	r.command = mem_strdup("c");
	r.event = mem_strdup("e");
	run_release(&r);
	assert_null(r.label);
	e.case_name = mem_strdup("n");
	e.note = mem_strdup("n");
	experiment_release(&e);
	assert_null(e.note);
	c.name = mem_strdup("net-procfs");
	c.files = mem_calloc(2, sizeof(char *));
	c.files[0] = mem_strdup("a");
	c.files[1] = mem_strdup("b");
	c.n_files = 2;
	c.functions = mem_calloc(1, sizeof(*c.functions));
	c.functions[0].name = mem_strdup("f");
	c.n_functions = 1;
	c.claims = mem_calloc(1, sizeof(*c.claims));
	c.claims[0].metric = mem_strdup("m");
	c.n_claims = 1;
	c.frames = mem_calloc(1, sizeof(*c.frames));
	c.frames[0].function = mem_strdup("f");
	c.n_frames = 1;
	case_facts_release(&c);
	assert_null(c.files);
	assert_int_equal(c.n_frames, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_no_blocks),
		cmocka_unit_test(test_unmeasured_times_are_no_metric),
		cmocka_unit_test(test_exact_blocks),
		cmocka_unit_test(test_functions_per_operation),
		cmocka_unit_test(test_pairs_take_out_drift),
		cmocka_unit_test(test_the_last_block_alone),
		cmocka_unit_test(test_noise_floor_of_again),
		cmocka_unit_test(test_differences_add_up),
		cmocka_unit_test(test_many_functions),
		cmocka_unit_test(test_function_interval),
		cmocka_unit_test(test_unsampled_blocks_do_not_dilute),
		cmocka_unit_test(test_times_come_from_unsampled_blocks),
		cmocka_unit_test(test_one_side_without_samples),
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_pair_of_profiles_alone),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_releases_leave_nothing),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
