// SPDX-License-Identifier: GPL-2.0-or-later
/* The job file: what is written is read back, and what is not understood is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "jobs/jobfile.h"

static const char whole[] =
	"# what a person adds is no harm\n"
	"kab-job: 1\n"
	"case: net-procfs\n"
	"targets: [vm, \"ssh:root@a:2222\"]\n"
	"blocks: 12\n"
	"ops: 20000\n"
	"exact: true\n"
	"no-counters: true\n"
	"kernel: 6.12\n"
	"workload: 'sh -c \"a: b # c\"'\n"
	"params: [skip=0x10]\n"
	"event: cpu-clock,net:net_dev_queue:len\n"
	"frequency: 997\n"
	"seed: 9007199254740993\n";

static struct job_file *parsed(const char *text)
{
	struct err err = ERR_INIT;
	struct job_file *f = NULL;

	if (job_file_parse(text, strlen(text), "job.yaml", &f, &err))
		fail_msg("%s", err.text);
	return f;
}

static void is_whole(const struct job_file *f)
{
	assert_string_equal(f->case_name, "net-procfs");
	assert_int_equal(f->n_targets, 2);
	assert_string_equal(f->targets[1], "ssh:root@a:2222");
	assert_int_equal(f->blocks, 12);
	assert_int_equal(f->ops, 20000);
	assert_true(f->exact && f->no_counters);
	assert_string_equal(f->kernel, "6.12");
	assert_null(f->kernel_image);
	assert_string_equal(f->workload, "sh -c \"a: b # c\"");
	assert_int_equal(f->n_params, 1);
	assert_string_equal(f->params[0], "skip=0x10");
	assert_string_equal(f->event, "cpu-clock,net:net_dev_queue:len");
	assert_int_equal(f->frequency, 997);
	assert_true(f->seed == 9007199254740993);	/* no double in between */
}

static void test_there_and_back(void **state)
{
	struct job_file *f = parsed(whole), *again;
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	is_whole(f);
	assert_int_equal(job_file_text(f, &text, &err), 0);
	again = parsed(buf_str(&text));
	is_whole(again);
	job_file_free(f);
	job_file_free(again);
	buf_release(&text);
}

/* Strings that YAML could take for something else. */
static void test_odd_strings(void **state)
{
	static const char *const odd[] = {
		"yes", "null", "6.10", "- a", "a: b", "#", "'", "\"", "&x", "*x", "{", "[", "two\nlines\n", " blank ", "%", "@", "`",
		"\xc3\xa4", "0x10", "!tag",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct job_file f = { .version = 1, .case_name = (char *)"x", .workload = (char *)odd[i] }, *back;
		struct buf text = BUF_INIT;
		struct err err = ERR_INIT;

		assert_int_equal(job_file_text(&f, &text, &err), 0);
		back = parsed(buf_str(&text));
		assert_string_equal(back->workload, odd[i]);
		job_file_free(back);
		buf_release(&text);
	}
}

static void test_least(void **state)
{
	struct job_file *f = parsed("kab-job: 1\ncase: net-procfs\n");

	(void)state;
	assert_int_equal(f->n_targets + f->n_params + f->blocks + f->ops + f->frequency, 0);
	assert_true(f->seed == 0 && !f->exact && !f->event && !f->workload);
	job_file_free(f);
}

static void test_refused(void **state)
{
	static const struct { const char *text, *words; int code; } bad[] = {
		{ "", "it is empty", -EINVAL },
		{ "\n", "it is empty", -EINVAL },
		{ "kab-job: 1\n", "case", -EINVAL },
		{ "case: x\n", "kab-job", -EINVAL },
		{ "kab-job: 2\ncase: x\n", "update kab", -EPROTONOSUPPORT },
		{ "kab-job: 1\ncase: x\nblock: 3\n", "block", -EINVAL },
		{ "kab-job: 1\ncase: x\nblocks: many\n", "blocks", -EINVAL },
		{ "kab-job: 1\ncase: x\nblocks: -1\n", "blocks", -EINVAL },
		{ "kab-job: 1\ncase: x\nblocks: 10001\n", "\"blocks\" is at most 10000", -EINVAL },
		{ "kab-job: 1\ncase: x\nfrequency: 100001\n", "\"frequency\" is at most 100000", -EINVAL },
		{ "kab-job: 1\ncase: x\nseed: 18446744073709551615\n", "\"seed\" is too large", -EINVAL },
		{ "kab-job: 1\ncase: x\nseed: 18446744073709551616\n", "seed", -EINVAL },
		{ "kab-job: 1\ncase: x\nexact: perhaps\n", "exact", -EINVAL },
		{ "kab-job: 1\ncase: x\ntargets: vm\n", "targets", -EINVAL },
		{ "kab-job: 1\ncase: [x]\n", "case", -EINVAL },
		{ "kab-job: 1\ncase: x\ncase: y\n", "case", -EINVAL },
		{ "kab-job: 1\ncase: &a x\nworkload: *a\n", "", -EINVAL },
		{ "kab-job: 1\ncase: x\n\033: 1\n", "", -EINVAL },
		{ "- 1\n", "", -EINVAL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = ERR_INIT;
		struct job_file *f;

		if (job_file_parse(bad[i].text, strlen(bad[i].text), "job.yaml", &f, &err) != bad[i].code ||
		    !strstr(err.text, bad[i].words) || strchr(err.text, '\033'))
			fail_msg("\"%s\": %s", bad[i].text, err.text);
		assert_null(f);
		assert_non_null(strstr(err.text, "job file job.yaml is"));
	}
}

/* Cut anywhere, it is whole or refused, and nothing behind its end is read. */
static void test_cut(void **state)
{
	size_t len;

	(void)state;
	for (len = 0; len < strlen(whole); len++) {
		char *cut = mem_dup(whole, len ? len : 1);
		struct err err = ERR_INIT;
		struct job_file *f;
		int rc = job_file_parse(cut, len, "cut", &f, &err);

		assert_true(rc ? !f && err.len : !!f->case_name);
		job_file_free(f);
		free(cut);
	}
}

static void test_large(void **state)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct job_file *f;
	int i;

	(void)state;
	buf_puts(&text, "kab-job: 1\ncase: x\ntargets: [");
	for (i = 0; i < JOB_TARGETS + 1; i++)
		buf_printf(&text, "%sssh:h%d", i ? ", " : "", i);
	buf_puts(&text, "]\n");
	assert_int_equal(job_file_parse(text.data, text.len, "job.yaml", &f, &err), -EINVAL);
	buf_fill(&text, '\n', 70000);
	err_clear(&err);
	assert_int_equal(job_file_parse(text.data, text.len, "job.yaml", &f, &err), -EINVAL);
	assert_non_null(strstr(err.text, "64 KiB"));
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_odd_strings), cmocka_unit_test(test_least),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_cut), cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests_name("jobfile", tests, NULL, NULL);
}
