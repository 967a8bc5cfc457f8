// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands beside the result: counters, distributions and what moved, in text and JSON, figure for figure. */
#include "tests/unit/report-fixture.h"
#include "tests/unit/near.h"

#include <jansson.h>
#include <math.h>

#include "profile/counted.h"
#include "profile/environment.h"
#include "report/beside.h"

/* Two blocks a side: page faults 2 and 4, 6 and 8 an operation; cycles not supported; instructions scaled. */
struct beside {
	struct counted_block blocks[4];
	struct block_figure figures[4][3];
	struct block_hist hists[4];
	struct hist hist[4];
	struct run runs[4];
	struct counted *counted;
	struct environment environment;
};

static void beside_make(struct beside *b, struct fixture *f)
{
	for (int i = 0; i < 4; i++) {
		b->runs[i] = (struct run){ .state = RUN_COMPLETE, .ops = 10, .sampled = true,
					   .variant = i < 2 ? VARIANT_BEFORE : VARIANT_AFTER };
		b->figures[i][0] = (struct block_figure){ "page-faults:u", "events", 20 + 20 * i, 1 };
		b->figures[i][1] = (struct block_figure){ "cycles:u", "events", NAN, 0 };
		b->figures[i][2] = (struct block_figure){ "instructions:k", "events", 5e6, i ? 1 : 0.5 };
		hist_add(&b->hist[i], 1000 * (i + 1));
		b->hists[i] = (struct block_hist){ "a:b..c\033[2J", "ns", &b->hist[i] };
		b->blocks[i] = (struct counted_block){ &b->runs[i], b->figures[i], 3, &b->hists[i], 1 };
	}
	b->counted = counted_build(b->blocks, 4);
	environment_add(&b->environment, "clock.source tsc\nload 0.1\ncpu.count 2\n");
	environment_add(&b->environment, "clock.source tsc\nload 9.0\ncpu.count 2\n");
	f->in.counted = b->counted;
	f->in.environment = &b->environment;
}

static void beside_free(struct beside *b)
{
	counted_free(b->counted);
	environment_release(&b->environment);
	for (int i = 0; i < 4; i++)
		hist_release(&b->hist[i]);
}

static void has(const struct buf *b, const char *words)
{
	if (!strstr(buf_str(b), words))
		fail_msg("\"%s\" is not in:\n%s", words, buf_str(b));
}

static void test_text(void **state)
{
	struct fixture *f = *state;
	struct beside b = { 0 };
	struct buf out = BUF_INIT;

	beside_make(&b, f);
	beside_counted(&f->in, 2, 0, &out);
	has(&out, "  page-faults:u   events   3.000 +-47.1%    7.000 +-20.2%    +133%");
	has(&out, "  instructions:k  events  500000");
	has(&out, "Not supported by this machine: cycles.");
	has(&out, "they took turns (the least was\ncounted 50% of the time): instructions:k.");
	has(&out, "Distribution of a:b..c\\x1b[2J, 2 values before and 2 after, to 1 part in\n128;");
	has(&out, "  p50    us   1.505 ");		/* the mean of 1003 and 2007, where the buckets end */
	assert_null(strstr(buf_str(&out), "nan"));
	assert_null(strchr(buf_str(&out), '\033'));
	buf_clear(&out);
	beside_environment(&f->in, &out);
	assert_string_equal(buf_str(&out), "While it was measured something moved. Load: 4.5 runnable tasks a CPU (limit: "
			    "none: it widens the interval, which shows it); other work ran beside.");
	buf_release(&out);
	beside_free(&b);
}

static void test_mail_width(void **state)
{
	struct fixture *f = *state;
	struct beside b = { 0 };
	struct buf out = BUF_INIT;

	beside_make(&b, f);
	beside_counted(&f->in, 4, 72, &out);
	for (const char *line = buf_str(&out); *line; line += strcspn(line, "\n"), line += *line == '\n')
		assert_true(strcspn(line, "\n") <= 72);
	has(&out, "page-faults:u");
	buf_release(&out);
	beside_free(&b);
}

static json_t *item(json_t *array, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach(array, i, v)
		if (!strcmp(json_string_value(json_object_get(v, "name")), name))
			return v;
	fail_msg("there is no %s", name);
	return NULL;
}

static double at(json_t *o, const char *key, const char *sub)
{
	return json_number_value(json_object_get(json_object_get(o, key), sub));
}

static void test_json(void **state)
{
	struct fixture *f = *state;
	struct beside b = { 0 };
	struct buf out = BUF_INIT;
	json_t *root, *c, *d, *q, *e;

	beside_make(&b, f);
	report_json(&f->in, &out);
	root = json_loads(buf_str(&out), 0, NULL);
	assert_non_null(root);
	c = item(json_object_get(root, "counters"), "page-faults:u");
	assert_near(at(c, "before", "value"), 3, 0);
	assert_near(at(c, "after", "value"), 7, 0);
	assert_near(at(c, "difference", "value"), 4, 0);
	assert_near(at(c, "before", "n"), 2, 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(c, "before"), "unit")), "events/op");
	assert_int_equal(json_array_size(json_object_get(json_object_get(c, "difference"), "interval")), 2);
	assert_true(json_is_true(json_object_get(c, "supported")) && json_is_false(json_object_get(c, "scaled")));
	c = item(json_object_get(root, "counters"), "cycles:u");
	assert_true(json_is_false(json_object_get(c, "supported")) && json_is_null(json_object_get(c, "before")));
	assert_string_equal(json_string_value(json_object_get(c, "verdict")), "not supported");
	c = item(json_object_get(root, "counters"), "instructions:k");
	assert_true(json_is_true(json_object_get(c, "scaled")));
	assert_near(json_number_value(json_object_get(c, "running")), 0.5, 0);
	d = json_array_get(json_object_get(root, "distributions"), 0);
	assert_near(at(d, "before", "values"), 2, 0);
	q = item(json_object_get(d, "quantiles"), "p50");
	assert_near(at(q, "before", "value"), hist_high(hist_bucket(1000)), 0);
	assert_near(json_number_value(json_object_get(q, "before_mean")),
		    (double)(hist_high(hist_bucket(1000)) + hist_high(hist_bucket(2000))) / 2, 0);
	e = json_object_get(root, "environment");
	assert_near(json_number_value(json_object_get(e, "moments")), 2, 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(e, "after"), "load")), "9.0");
	assert_int_equal(json_array_size(json_object_get(e, "moved")), 1);
	assert_true(json_is_null(json_object_get(e, "not_comparable")));
	json_decref(root);
	buf_release(&out);
	beside_free(&b);
}

/* Past a limit there is no verdict anywhere, and the reason stands in its place. */
static void test_not_comparable(void **state)
{
	struct fixture *f = *state;
	struct buf out = BUF_INIT;
	json_t *root, *m;
	size_t i;

	compare_refuse(f->cmp, "Clock source moved from tsc to hpet (limit: no change); because.");
	report_summary(&f->in, &out);
	has(&out, "Not comparable: wall time per read");
	has(&out, "did not stay the same. Clock source\nmoved from tsc to hpet");
	assert_null(strstr(buf_str(&out), "faster"));
	buf_clear(&out);
	report_json(&f->in, &out);
	root = json_loads(buf_str(&out), 0, NULL);
	json_array_foreach(json_object_get(root, "metrics"), i, m)
		assert_string_equal(json_string_value(json_object_get(m, "verdict")), "not comparable");
	json_decref(root);
	buf_release(&out);
}

static void test_one(void **state)
{
	struct fixture *f = *state;
	struct beside b = { 0 };
	struct counted *one;
	struct buf out = BUF_INIT;

	beside_make(&b, f);
	one = counted_build(b.blocks, 1);
	show_counted(one, "1.5 7 [0] a:b c=\033\n", &out);
	has(&out, "page-faults:u         2.000  events/op");
	has(&out, "a:b..c\\x1b[2J p99.9   1.003  us");
	has(&out, "1.5 7 [0] a:b c=\\x1b\n");
	counted_free(one);
	buf_clear(&out);
	one = counted_build(NULL, 0);
	show_counted(one, "", &out);
	has(&out, "Nothing was counted");
	counted_free(one);
	buf_release(&out);
	beside_free(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text), TEST(test_mail_width), TEST(test_json), TEST(test_not_comparable), TEST(test_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
