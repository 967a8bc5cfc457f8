// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report-mail: whatever the input, the mail fits a mail and passes git unharmed,
 * and it claims no more than the blocks allow. The rules are written down here
 * once more, apart from the writer, and git itself is asked as well.
 */
#include "tests/unit/report-fixture.h"

#include <unistd.h>

#include "base/proc.h"

#define COLUMNS 75		/* checkpatch's limit for a commit message */

/* --- the rules --- */

static const char *const traps[] = {
	"---", "diff -", "diff --git", "Index:", "From ", ">From", "#", ".", "***", "From:", "Subject:",
};

/* What is wrong with a line, NULL when nothing is. */
static const char *fault(const char *line, size_t len)
{
	size_t i;

	if (len > COLUMNS)
		return "is too long";
	if (len && line[len - 1] == ' ')
		return "ends in a blank";
	for (i = 0; i < len; i++)
		if (line[i] < ' ' || line[i] > '~')
			return "is not printable ASCII";
	for (i = 0; i < sizeof(traps) / sizeof(traps[0]); i++)
		if (len >= strlen(traps[i]) && !strncmp(line, traps[i], strlen(traps[i])))
			return "starts with what git takes for something else";
	return NULL;
}

static void lint(const struct buf *mail)
{
	const char *p = buf_str(mail), *end = p + mail->len;

	assert_int_equal(strlen(p), mail->len);
	assert_true(mail->len && end[-1] == '\n');
	while (p < end) {
		size_t len = strcspn(p, "\n");
		const char *what = fault(p, len);

		if (what)
			fail_msg("a line %s: \"%.*s\"", what, (int)len, p);
		p += len + 1;
	}
	assert_null(strstr(buf_str(mail), "nan"));
	assert_null(strstr(buf_str(mail), "inf "));
	assert_null(strstr(buf_str(mail), "(null)"));
}

static void test_rules_bite(void **state)
{
	static const char *const bad[] = {
		"--- a/file", "# comment", "Index: x", "diff --git a/x b/x", "tab\there", "blank ",
		"1234567890123456789012345678901234567890123456789012345678901234567890123456"
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(fault(bad[i], strlen(bad[i])));
	assert_null(fault("-------- ---", 0));
	assert_null(fault(" --- a/file", strlen(" --- a/file")));
}

/* Every text that is made for people, on what the fixture now holds; returns the mail. */
static void write_all(struct fixture *f, struct buf *mail)
{
	const struct report_format *fmt;
	const struct compare_style *s;
	struct err err = ERR_INIT;

	for (s = compare_styles; s->name; s++) {
		struct buf out = BUF_INIT;

		assert_int_equal(s->write(&f->in, &out, &err), 0);
		assert_true(out.len);
		assert_null(strchr(buf_str(&out), '\033'));
		assert_null(strstr(buf_str(&out), "nan"));
		buf_release(&out);
	}
	for (fmt = report_formats + 1; fmt->name; fmt++) {
		struct buf out = BUF_INIT;
		int rc = fmt->write(&f->in, &out, &err);

		/* No profile, or no experiment and so no job. */
		assert_true(rc == 0 || (rc == -ENODATA && (!f->cmp->diff || !f->in.exp || !f->in.exp->job)));
		assert_null(strchr(buf_str(&out), '\033'));
		buf_release(&out);
	}
	buf_clear(mail);
	report_summary(&f->in, mail);
	assert_true(mail->len);
	assert_null(strchr(buf_str(mail), '\033'));
	assert_null(strstr(buf_str(mail), "nan"));
	buf_clear(mail);
	assert_int_equal(report_formats[0].write(&f->in, mail, NULL), 0);
	lint(mail);
}

/* The text on one line, so that a sentence is found wherever it was broken; the caller frees. */
static char *unwrapped(const struct buf *mail)
{
	struct buf b = BUF_INIT;
	const char *p;

	for (p = buf_str(mail); *p; p++)
		if (!strchr(" \n", *p) || (b.len && b.data[b.len - 1] != ' '))
			buf_putc(&b, *p == '\n' ? ' ' : *p);
	return buf_detach(&b);
}

static void has(const struct buf *mail, const char *part)
{
	char *text = unwrapped(mail);

	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, buf_str(mail));
	free(text);
}

static void lacks(const struct buf *mail, const char *part)
{
	char *text = unwrapped(mail);

	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, buf_str(mail));
	free(text);
}

/* Keeps the first blocks of each variant only. */
static void keep(struct fixture *f, unsigned before, unsigned after)
{
	unsigned left[VARIANT_COUNT] = { [VARIANT_BEFORE] = before, [VARIANT_AFTER] = after };
	size_t i;

	for (i = 0; i < f->n; i++) {
		struct run *r = &f->runs[i];

		if (r->warmup || r->variant == VARIANT_NATIVE)
			continue;
		if (left[r->variant])
			left[r->variant]--;
		else
			r->state = RUN_INCOMPLETE;
	}
	fixture_compare(f);
}

/* --- inputs --- */

static void test_as_measured(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	write_all(f, &mail);
	has(&mail, "falls from");
	has(&mail, "not caches");
	has(&mail, "cannot land where interrupts are off");
	has(&mail, "as good as their intervals");
	has(&mail, "dev_seq_show(99.102% 6288/6345)");
	buf_release(&mail);
}

static void test_one_block_a_side(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	keep(f, 1, 1);
	write_all(f, &mail);
	has(&mail, "No verdict: wall time");
	has(&mail, "1 block before and 1 after");
	has(&mail, "at least 2 complete blocks");
	has(&mail, "too few blocks");
	lacks(&mail, "falls");
	lacks(&mail, "faster");
	buf_release(&mail);
}

static void test_one_side_only(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	keep(f, 3, 0);
	f->exp.state = EXP_CANCELLED;
	f->exp.note = (char *)"Stopped by the user.";
	write_all(f, &mail);
	has(&mail, "not measured after");
	has(&mail, "3 blocks before and 0 after were timed, of 6 planned for each. Stopped by the user.");
	has(&mail, "(not sampled)");
	lacks(&mail, "falls");
	buf_release(&mail);
}

static void test_no_blocks(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	keep(f, 0, 0);
	f->runs[0].state = f->runs[f->n - 1].state = RUN_FAILED;
	f->exp.state = EXP_FAILED;
	fixture_compare(f);
	write_all(f, &mail);
	has(&mail, "No verdict");
	has(&mail, "No samples were taken.");
	lacks(&mail, "falls");
	buf_release(&mail);
}

static void test_undecided(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t i;

	for (i = 0; i < f->n; i++)
		f->runs[i].wall_ns = 280000000 + (i * 7919 % 13) * 1000000;
	fixture_compare(f);
	write_all(f, &mail);
	has(&mail, "Undecided: wall time per read of /proc/net/dev is");
	has(&mail, "holds 0");
	lacks(&mail, "falls");
	lacks(&mail, "rises");
	buf_release(&mail);
}

static void test_worse(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->runs[i].variant == VARIANT_AFTER)
			f->runs[i].wall_ns *= 2;
	fixture_compare(f);
	write_all(f, &mail);
	has(&mail, "Wall time per read of /proc/net/dev rises from");
	buf_release(&mail);
}

/* Blocks that repeat to the nanosecond, as --exact may give. */
static void test_exact_repeats(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t i;

	for (i = 0; i < f->n; i++)
		f->runs[i].wall_ns = f->runs[i].variant == VARIANT_AFTER ? 210000000 : 280000000;
	fixture_compare(f);
	write_all(f, &mail);
	has(&mail, "falls from 14.0000 us to 10.5000 us, by 25.000%");
	has(&mail, "resolution");
	buf_release(&mail);
}

static void test_unsampled(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t i;

	for (i = 0; i < f->n; i++) {
		profile_free(f->profiles[i]);
		f->profiles[i] = NULL;
		f->runs[i].sampled = false;
		f->runs[i].samples = f->runs[i].lost = 0;
	}
	fixture_compare(f);
	write_all(f, &mail);
	has(&mail, "falls from");
	has(&mail, "No samples were taken.");
	lacks(&mail, "Profile before");
	buf_release(&mail);
}

/* Blocks that were timed only give the times, sampled ones the profiles. */
static void test_sampled_apart(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t i, n[VARIANT_COUNT] = { 0 };

	for (i = 0; i < f->n; i++) {
		struct run *r = &f->runs[i];

		if (r->warmup || !f->profiles[i] || n[r->variant]++ % 2)
			continue;
		profile_free(f->profiles[i]);
		f->profiles[i] = NULL;
		r->sampled = false;
		r->samples = r->lost = 0;
	}
	fixture_compare(f);
	write_all(f, &mail);
	has(&mail, "3 blocks before and 3 after, interleaved");
	has(&mail, "The profiles are of 3 blocks before and 3 after, the times of others without");
	buf_release(&mail);
}

/* The places are those of the self samples in blocks.txt, counted with another program. */
static void test_ranks(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	write_all(f, &mail);
	lacks(&mail, "by its own samples");
	f->facts.style = (char *)"oprofile";
	write_all(f, &mail);
	has(&mail, "dev_seq_printf_stats() is number 7 of 16 before (130 samples, 1.9154");
	has(&mail, "and number 8 of 19 after (122 samples, 2.5103 %), by its own");
	f->function.name = (char *)"nobody";
	write_all(f, &mail);
	has(&mail, "nobody() is in no sample before and in no sample after");
	f->function.name = (char *)"dev_seq_printf_stats";
	buf_release(&mail);
}

static void test_no_facts(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	f->in.facts = NULL;
	f->in.machine = NULL;
	f->in.runs = NULL;
	f->in.n_runs = 0;
	f->in.side_title[BEFORE] = f->in.side_title[AFTER] = NULL;
	write_all(f, &mail);
	has(&mail, "Wall time per operation falls");
	has(&mail, "[k] vsnprintf");
	f->in.exp = NULL;
	write_all(f, &mail);
	lacks(&mail, "interleaved in");
	buf_release(&mail);
}

static void test_claims_of_nothing(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	f->claims[0] = (struct claim){ .metric = NULL, .unit = NULL, .before = NAN, .after = NAN };
	f->claims[1] = (struct claim){
		.metric = (char *)"time", .unit = (char *)"s", .before = 0, .after = INFINITY
	};
	f->claims[2] = (struct claim){
		.metric = (char *)"time", .unit = (char *)"us/op", .before = 1e300, .after = -1e300
	};
	write_all(f, &mail);
	has(&mail, "no metric");
	buf_release(&mail);
}

/* Two recordings: no experiment, no blocks. */
static void test_pair(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t b = 4, a = 3;

	assert_int_equal(f->runs[b].variant, VARIANT_BEFORE);
	assert_int_equal(f->runs[a].variant, VARIANT_AFTER);
	compare_free(f->cmp);
	f->in.cmp = f->cmp = compare_pair(&f->runs[b], f->profiles[b], &f->runs[a], f->profiles[a]);
	f->in.exp = &(struct experiment){ .id = 0 };
	f->in.facts = NULL;
	f->in.side_title[BEFORE] = "git status, cold\n--- x";
	write_all(f, &mail);
	has(&mail, "these are single recordings");
	has(&mail, "Before is git status, cold --- x; after is after.");
	lacks(&mail, "seed");
	buf_release(&mail);
}

static void test_target(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;

	machine_release(&f->machine);
	write_all(f, &mail);
	has(&mail, "whether it ran under KVM or TCG was not recorded");
	machine_add(&f->machine, "lab.accel", "kvm");
	f->exp.exact = false;
	write_all(f, &mail);
	lacks(&mail, "TCG");
	lacks(&mail, "instruction clock");
	f->exp.target = (char *)"local";
	write_all(f, &mail);
	lacks(&mail, "QEMU");
	has(&mail, "cannot land where interrupts are off");
	buf_release(&mail);
}

/* --- hostile names --- */

static const char *const names[] = {
	"--- before ---", "# comment", "Index: x", "diff --git a/x b/x", "From me", ".", "",
	"\033[2J\033]0;title\a", "a\nb\n---\n+++ evil", "\xe2\x80\xae" "reversed", "\xff\xfe\x80",
	"a b  c   d", "%s%n%d", ";;;", "-- >8 -- 8< -- cut here --", "\xe6\xbc\xa2\xe5\xad\x97",
	"operator()(std::vector<int, std::allocator<int> > const&, char const*, unsigned long) [clone .cold]",
};

static char *long_name(size_t n)
{
	char *s = mem_alloc(n + 1);

	memset(s, 'x', n);
	return s;
}

/* Every frame, text and fact of the fixture becomes `name`, one call deep and twenty. */
static void check_hostile(struct fixture *f, const char *name)
{
	struct buf mail = BUF_INIT;
	char *copy = (char *)name;
	size_t i, k;

	for (i = 0; i < f->n; i++) {
		uint32_t stack[24], patched;
		struct profile *p;

		if (!f->profiles[i])
			continue;
		profile_free(f->profiles[i]);
		f->profiles[i] = p = profile_new();
		patched = symtab_intern(&p->symtab, "dev_seq_printf_stats", "[kernel.kallsyms]",
					FRAME_KERNEL);
		for (k = 0; k < 24; k++)
			stack[k] = symtab_intern(&p->symtab, name, name, k % 2 ? FRAME_KERNEL : FRAME_USER);
		stack[1] = patched;
		profile_add_stack(p, stack, 2, 1e9, 1e15);
		profile_add_stack(p, stack, 24, 1234567, 1e300);
		stack[0] = symtab_intern(&p->symtab, name, "", FRAME_MARK);
		profile_add_stack(p, stack, 3, 0.5, 0.25);
		profile_seal(p);
	}
	fixture_compare(f);
	f->exp.case_name = f->exp.target = f->exp.command = f->exp.workload = f->exp.note = copy;
	f->exp.kernel = f->exp.kab_version = f->exp.event = copy;
	f->exp.state = EXP_INCOMPLETE;
	machine_release(&f->machine);
	machine_add(&f->machine, name, name);
	machine_add(&f->machine, "lab.accel", name);
	f->facts.title = f->facts.operation = f->facts.module = f->notes[0] = copy;
	for (i = 0; i < 3; i++)
		f->claims[i].metric = f->claims[i].unit = copy;
	f->in.side_title[BEFORE] = f->in.side_title[AFTER] = name;
	for (i = 0; i < 3; i++) {
		f->facts.style = (char *)(const char *const[]){ "tree", "flat", "oprofile" }[i];
		write_all(f, &mail);
	}
	f->function.name = copy;
	f->facts.style = copy;
	write_all(f, &mail);
	f->function.name = (char *)"dev_seq_printf_stats";
	buf_release(&mail);
}

static void test_hostile_names(void **state)
{
	struct fixture *f = fixture_of(state);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_hostile(f, names[i]);
	for (i = 60; i < 80; i++) {
		char *name = long_name(i);

		check_hostile(f, name);
		free(name);
	}
}

static void test_very_long_names(void **state)
{
	struct fixture *f = fixture_of(state);
	char *name = long_name(20000);

	check_hostile(f, name);
	free(name);
	/* what the fixture holds of it is gone: nothing more is written from it */
}

/* Times from 1 ns to years an operation, ops from a fraction to 1e18. */
static void test_magnitudes(void **state)
{
	static const double ops[] = { 1e-9, 1, 20000, 1e18 };
	static const uint64_t wall[] = { 0, 1, 999999, UINT64_MAX / 4 };
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	size_t i, o, w;

	for (o = 0; o < 4; o++) {
		for (w = 0; w < 4; w++) {
			for (i = 0; i < f->n; i++) {
				f->runs[i].ops = ops[o];
				f->runs[i].wall_ns =
					f->runs[i].variant == VARIANT_AFTER ? wall[w] : wall[w] / 1000 + i;
				f->runs[i].sys_ns = i % 3 ? wall[w] : 0;
				f->runs[i].user_ns = 0;
				f->runs[i].lost = f->runs[i].bad_stacks = wall[w];
			}
			fixture_compare(f);
			write_all(f, &mail);
		}
	}
	buf_release(&mail);
}

static void test_norms(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT;
	int n, m;

	for (n = 0; n < NORMS; n++) {
		for (m = 0; m < MEASURES; m++) {
			f->in.norm = (enum norm)n;
			f->in.measure = (enum measure)m;
			write_all(f, &mail);
			if (n != NORM_OP)
				lacks(&mail, "+- is half");
		}
	}
	buf_release(&mail);
}

/* --- git --- */

static int shell(const char *dir, const char *script, struct buf *out)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct proc_opts opts = { .dir = dir, .out = out };
	struct err err = ERR_INIT;

	return proc_run(argv, &opts, &err);
}

/* Posted as the text of a patch mail, it is the whole commit message; as an editor's file, too. */
static void test_git_keeps_it(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf mail = BUF_INIT, post = BUF_INIT, kept = BUF_INIT;
	struct err err = ERR_INIT;
	char *dir, *path;

	if (!proc_have("git")) {
		print_message("skipped: git is not installed\n");
		skip();
	}
	check_hostile(f, "--- before ---");
	assert_int_equal(report_formats[0].write(&f->in, &mail, &err), 0);
	buf_printf(&post,
		   "From: A Tester <tester@example.org>\nSubject: [PATCH] x: y\n\n%s"
		   "---\n x | 2 +-\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
		   buf_str(&mail));
	dir = fs_tmpdir("report-mail-test", &err);
	assert_non_null(dir);
	path = mem_printf("%s/post", dir);
	assert_int_equal(fs_write(path, post.data, post.len, &err), 0);
	assert_int_equal(shell(dir, "git mailinfo msg patch <post >/dev/null && cat msg", &kept), 0);
	assert_string_equal(buf_str(&kept), buf_str(&mail));
	buf_clear(&kept);
	free(path);
	path = mem_printf("%s/mail", dir);
	assert_int_equal(fs_write(path, mail.data, mail.len, &err), 0);
	assert_int_equal(shell(dir, "git stripspace --strip-comments <mail", &kept), 0);
	assert_string_equal(buf_str(&kept), buf_str(&mail));
	assert_int_equal(fs_remove(dir, &err), 0);
	free(path);
	free(dir);
	buf_release(&kept);
	buf_release(&post);
	buf_release(&mail);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_bite),
		TEST(test_as_measured), TEST(test_one_block_a_side), TEST(test_one_side_only),
		TEST(test_no_blocks), TEST(test_undecided), TEST(test_worse), TEST(test_exact_repeats),
		TEST(test_unsampled), TEST(test_sampled_apart), TEST(test_ranks), TEST(test_no_facts),
		TEST(test_claims_of_nothing),
		TEST(test_pair), TEST(test_target), TEST(test_hostile_names),
		TEST(test_very_long_names), TEST(test_magnitudes), TEST(test_norms),
		TEST(test_git_keeps_it),
	};

	return cmocka_run_group_tests_name("report-mail", tests, NULL, NULL);
}
