// SPDX-License-Identifier: GPL-2.0-or-later
/* jobs: the progress line goes both ways unchanged, and a bad one is refused; machines of a group are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "jobs/jobs.h"

static const struct job_progress sample = {
	.phase = JOB_BLOCK, .text = "before, timed", .fraction = 0.375, .experiment = 7, .block = 9, .blocks = 31,
	.variant = VARIANT_BEFORE, .warmup = true, .samples_per_s = 3998.5, .samples = 1168, .lost = 2,
	.before_ns = 14012.25, .after_ns = 10433.5, .diff_rel = -0.2554, .diff_lo = -0.2561, .diff_hi = -0.2547,
};

static void same_real(double a, double b)
{
	assert_true((isnan(a) && isnan(b)) || a == b);
}

static void round_trip(const struct job_progress *p)
{
	struct job_progress q;
	struct buf line = BUF_INIT;

	job_progress_json(p, &line);
	assert_null(memchr(line.data, '\n', line.len));
	assert_int_equal(job_progress_parse(line.data, line.len, &q), 0);
	assert_int_equal(q.phase, p->phase);
	assert_int_equal(q.variant, p->variant);
	assert_int_equal(q.warmup, p->warmup);
	assert_int_equal(q.experiment, p->experiment);
	assert_int_equal(q.block, p->block);
	assert_int_equal(q.blocks, p->blocks);
	assert_int_equal(q.samples, p->samples);
	assert_int_equal(q.lost, p->lost);
	same_real(q.fraction, p->fraction);
	same_real(q.samples_per_s, p->samples_per_s);
	same_real(q.before_ns, p->before_ns);
	same_real(q.after_ns, p->after_ns);
	same_real(q.diff_rel, p->diff_rel);
	same_real(q.diff_lo, p->diff_lo);
	same_real(q.diff_hi, p->diff_hi);
	buf_release(&line);
}

static void test_round_trip(void **state)
{
	struct job_progress p = sample;

	(void)state;
	round_trip(&p);
	p.before_ns = p.after_ns = p.diff_rel = p.diff_lo = p.diff_hi = NAN;
	round_trip(&p);
	memset(&p, 0, sizeof(p));
	round_trip(&p);
}

/* A peer's words in the text reach the line escaped, so that the line stays JSON. */
static void test_text_escaped(void **state)
{
	struct job_progress p = sample, q;
	struct buf line = BUF_INIT;

	(void)state;
	strcpy(p.text, "\x1b[2J\xff \"quoted\"\n");
	job_progress_json(&p, &line);
	assert_int_equal(job_progress_parse(line.data, line.len, &q), 0);
	assert_string_equal(q.text, "\\x1b[2J\\xff \"quoted\"\\x0a");
	buf_release(&line);
}

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"", "{", "[]", "{}", "null", "\"phase\"",
		"{\"phase\":\"nonsense\",\"text\":\"\",\"variant\":\"none\"}",
		"{\"phase\":\"block\",\"text\":\"\",\"variant\":\"sideways\"}",
		"{\"phase\":\"block\",\"text\":7,\"variant\":\"none\"}",
	};
	struct job_progress q;
	struct buf line = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(job_progress_parse(lines[i], strlen(lines[i]), &q), -EINVAL);
	/* Every shorter line is refused, none read past its end. */
	job_progress_json(&sample, &line);
	for (i = 0; i < line.len; i++) {
		char *cut = mem_dup(line.data, i);

		assert_int_equal(job_progress_parse(cut, i, &q), -EINVAL);
		free(cut);
	}
	buf_release(&line);
}

static void test_bad_types(void **state)
{
	static const char *const replaced[][2] = {
		{ "\"block\":9", "\"block\":-9" }, { "\"block\":9", "\"block\":4294967296" },
		{ "\"lost\":2", "\"lost\":-2" }, { "\"lost\":2", "\"lost\":\"2\"" }, { "\"lost\":2", "\"lost\":2.5" },
		{ "\"fraction\":0.375", "\"fraction\":true" },
	};
	struct job_progress q;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
		struct buf line = BUF_INIT, bad = BUF_INIT;
		char *at;

		job_progress_json(&sample, &line);
		at = strstr(line.data, replaced[i][0]);
		assert_non_null(at);
		buf_add(&bad, line.data, (size_t)(at - line.data));
		buf_puts(&bad, replaced[i][1]);
		buf_puts(&bad, at + strlen(replaced[i][0]));
		assert_int_equal(job_progress_parse(bad.data, bad.len, &q), -EINVAL);
		buf_release(&line);
		buf_release(&bad);
	}
}

/* --- one case on several machines --- */

static int64_t add_experiment(struct store *s, const char *target, const char *case_name, int64_t group, uint64_t after_ns)
{
	struct experiment e = { .case_name = (char *)case_name, .target = (char *)target, .started = 1, .group = group };
	unsigned i;

	assert_int_equal(store_experiment_begin(s, &e, NULL), 0);
	for (i = 0; i < 8; i++) {
		struct run r = { .experiment = e.id, .kind = RUN_BLOCK, .variant = i % 2 ? VARIANT_AFTER : VARIANT_BEFORE,
				 .ordinal = i, .ops = 1000 };

		assert_int_equal(store_run_begin(s, &r, NULL), 0);
		r.state = RUN_COMPLETE;
		r.wall_ns = (i % 2 ? after_ns : 1000000) + 1000 * (i / 2);
		assert_int_equal(store_run_finish(s, &r, NULL), 0);
	}
	e.state = EXP_COMPLETE;
	assert_int_equal(store_experiment_finish(s, &e, NULL), 0);
	return e.id;
}

static void test_group(void **state)
{
	char *dir = fs_tmpdir("jobs-test", NULL), *path = mem_printf("%s/s.kab", dir);
	struct err err = ERR_INIT;
	struct evidence e;
	struct store *s;
	int64_t alone, first, second, other;

	(void)state;
	assert_int_equal(store_open(path, STORE_WRITE, &s, &err), 0);
	alone = add_experiment(s, "vm", "net-procfs", 0, 900000);
	first = add_experiment(s, "vm", "net-procfs", 0, 900000);
	second = add_experiment(s, "ssh:a", "net-procfs", first, 800000);
	other = add_experiment(s, "ssh:b", "another", first, 100000);	/* a damaged file's: of another case */
	assert_int_equal(evidence_load(s, alone, &e, &err), 0);
	assert_null(e.across);
	evidence_release(&e);
	assert_int_equal(evidence_load(s, other, &e, &err), 0);
	assert_null(e.across);
	evidence_release(&e);
	/* From either machine the same, in the order they were measured. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(evidence_load(s, i ? second : first, &e, &err), 0);
		assert_non_null(e.across);
		assert_int_equal(e.across->n, 2);
		assert_int_equal(e.across->machines[0].experiment, first);
		assert_string_equal(e.across->machines[1].target, "ssh:a");
		assert_string_equal(e.across->metrics[0].name, "wall time");
		assert_true(e.across->metrics[0].est[i].diff == e.cmp->metrics[0].est.diff);
		assert_int_equal(e.across->metrics[0].all.n, 2);
		assert_true(e.across->metrics[0].all.value < -0.09 && e.across->metrics[0].all.value > -0.21);
		evidence_release(&e);
	}
	assert_int_equal(store_close(s, &err), 0);
	fs_remove(dir, NULL);
	free(path);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_text_escaped),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_bad_types), cmocka_unit_test(test_group),
	};

	return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
