// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The catalogue of patch cases, and the building of modules and workloads. Works on a copy of patches/ and
 * kmod/ in a temporary folder, with a cache of its own; needs gcc, and for the module the headers of some
 * kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "patches/case.h"

struct place {
	char *tmp;			/* holds patches/, kmod/ and cache/ */
	char *tree;			/* the source tree */
};

/* The nearest folder above this program that has the catalogue. */
static char *source_tree(void)
{
	char *dir = realpath("/proc/self/exe", NULL), *slash;

	while (dir && (slash = strrchr(dir, '/'))) {
		char *file;
		bool here;

		*slash = '\0';
		file = mem_printf("%s/patches/net-procfs/case.yaml", dir);
		here = fs_exists(file);
		free(file);
		if (here)
			return dir;
	}
	fail_msg("no folder above this program holds patches/net-procfs");
	return dir;
}

static void run(const char *const *argv, struct buf *out)
{
	struct proc_opts o = { .out = out };
	struct err err = ERR_INIT;

	if (proc_run(argv, &o, &err))
		fail_msg("%s: %s", argv[0], err.text);
}

static int start(void **state)
{
	struct place *p = mem_calloc(1, sizeof(*p));
	struct err err = ERR_INIT;
	char *patches, *kmod, *cache;

	p->tree = source_tree();
	p->tmp = fs_tmpdir("case-test", &err);
	if (!p->tmp)
		fail_msg("%s", err.text);
	patches = mem_printf("%s/patches", p->tree);
	kmod = mem_printf("%s/kmod", p->tree);
	run((const char *const[]){ "cp", "-r", patches, kmod, p->tmp, NULL }, NULL);
	cache = mem_printf("%s/cache", p->tmp);
	setenv("KAB_DATA", p->tmp, 1);
	setenv("XDG_CACHE_HOME", cache, 1);
	free(cache);
	free(kmod);
	free(patches);
	*state = p;
	return 0;
}

static int end(void **state)
{
	struct place *p = *state;

	fs_remove(p->tmp, NULL);
	free(p->tmp);
	free(p->tree);
	free(p);
	return 0;
}

static void assert_near(double is, double expected, double within)
{
	if (!(fabs(is - expected) <= within))
		fail_msg("%g is not within %g of %g", is, within, expected);
}

static void load(const char *name, struct patch_case *c)
{
	struct err err = ERR_INIT;

	if (case_load(name, c, &err))
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
}

static const struct claim *claim_of(const struct patch_case *c, const char *metric)
{
	size_t i;

	for (i = 0; i < c->facts.n_claims; i++)
		if (!strcmp(c->facts.claims[i].metric, metric))
			return &c->facts.claims[i];
	fail_msg("no claim \"%s\"", metric);
	return NULL;
}

static const struct claimed_frame *frame_of(const struct patch_case *c, const char *function)
{
	size_t i;

	for (i = 0; i < c->facts.n_frames; i++)
		if (!strcmp(c->facts.frames[i].function, function))
			return &c->facts.frames[i];
	fail_msg("no frame \"%s\"", function);
	return NULL;
}

static void net_procfs_is_read(void **state)
{
	const struct claim *cl;
	const struct claimed_frame *f;
	struct patch_case c;

	(void)state;
	load("net-procfs", &c);
	assert_string_equal(c.facts.author, "David Wang");
	assert_string_equal(c.facts.message_id, "20241110045221.4959-1-00107082@163.com");
	assert_string_equal(c.facts.module, "kab_net_procfs");
	assert_int_equal(c.facts.n_kernels, 2);
	assert_string_equal(c.facts.kernels[1], "6.12");
	assert_string_equal(c.workload_args[0], "{ops}");
	assert_int_equal(c.ops_per_block, 10000);
	assert_non_null(strstr(c.kmod_dir, "/kmod/net_procfs"));
	assert_true(c.n_setup >= 1 && c.n_check >= 1);

	cl = claim_of(&c, "real time of 1,000,000 reads");
	assert_near(cl->before, 51.828, 1e-9);
	assert_near(cl->after, 49.127, 1e-9);
	assert_int_equal(cl->better, LOWER_IS_BETTER);
	cl = claim_of(&c, "improvement");
	assert_true(isnan(cl->before));
	assert_near(cl->after, 6, 0);
	assert_int_equal(cl->better, HIGHER_IS_BETTER);

	f = frame_of(&c, "seq_printf");
	assert_string_equal(f->parent, "dev_seq_printf_stats");
	assert_near(f->before_share, 13.719, 1e-9);
	assert_near(f->before_count, 58594, 0);
	assert_true(isnan(f->after_share) && isnan(f->after_count));
	assert_null(frame_of(&c, "all")->parent);
	case_release(&c);
}

/* Each printed share must be the quotient of the two counts beside it; 0.001 is the mail's last digit. */
static void profile_agrees_with_itself(void **state)
{
	struct patch_case c;
	size_t i;

	(void)state;
	load("net-procfs", &c);
	for (i = 0; i < c.facts.n_frames; i++) {
		const struct claimed_frame *f = &c.facts.frames[i];

		if (f->parent)
			assert_near(f->before_share,
				    100 * f->before_count / frame_of(&c, f->parent)->before_count, 0.001);
	}
	case_release(&c);
}

static void assert_printed(const struct buf *mail, double v, const char *form)
{
	char text[40];

	snprintf(text, sizeof(text), form, v);
	if (isfinite(v) && !strstr(buf_str(mail), text))
		fail_msg("%s does not stand in the mail", text);
}

static void figures_stand_in_the_mail(void **state)
{
	struct place *p = *state;
	char *path = mem_printf("%s/../shared/cases/net-procfs.mail.txt", p->tree);
	struct buf mail = BUF_INIT;
	struct patch_case c;
	size_t i;

	if (buf_read_file(&mail, path, 1 << 20, NULL)) {
		print_message("skipped: the mail shared/cases/net-procfs.mail.txt is not beside the tree\n");
		free(path);
		skip();
	}
	load("net-procfs", &c);
	for (i = 0; i < c.facts.n_claims; i++) {
		const struct claim *cl = &c.facts.claims[i];

		assert_printed(&mail, cl->before, strcmp(cl->unit, "%") ? "%.3f" : "%.0f%%");
		assert_printed(&mail, cl->after, strcmp(cl->unit, "%") ? "%.3f" : "%.0f%%");
	}
	for (i = 0; i < c.facts.n_frames; i++) {
		assert_printed(&mail, c.facts.frames[i].before_share, "%.3f%%");
		assert_printed(&mail, c.facts.frames[i].before_count, "%.0f");
	}
	case_release(&c);
	buf_release(&mail);
	free(path);
}

static void aliases_name_the_replaced_function(void **state)
{
	const char *const bodies[] = { "kab_before_dev_seq_printf_stats", "kab_after_dev_seq_printf_stats" };
	struct patch_case c;
	struct alias *a;
	size_t n, i;

	(void)state;
	load("net-procfs", &c);
	a = case_aliases(&c, &n);
	assert_int_equal(n, 2);
	for (i = 0; i < n; i++) {
		struct symbol body = { bodies[i], "[kab_net_procfs]", FRAME_MODULE };
		struct symbol s = alias_apply(a, n, body);

		assert_string_equal(s.name, "dev_seq_printf_stats");
		assert_string_equal(s.dso, "[kernel.kallsyms]");
		assert_int_equal(s.kind, FRAME_KERNEL);
	}
	free(a);
	case_release(&c);
}

static void catalogue_is_listed(void **state)
{
	struct patch_case c;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;
	char **names;
	size_t n, i, found = 0;

	(void)state;
	assert_int_equal(case_names(&names, &n, &err), 0);
	for (i = 0; i < n; i++) {
		assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
		found += !strcmp(names[i], "net-procfs");
	}
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	assert_int_equal(found, 1);

	assert_int_equal(case_text("net-procfs", &text, &err), 0);
	assert_int_equal(case_parse(buf_str(&text), text.len, "a session", &c, &err), 0);
	assert_null(c.dir);
	assert_null(c.kmod_dir);
	case_release(&c);
	buf_release(&text);
}

static void unknown_names_get_a_sentence(void **state)
{
	static const char *const names[] = {
		"nope", "", "..", "../patches/net-procfs", "net-procfs/", "-x", "\033[2J",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct err err = ERR_INIT;
		struct patch_case c;

		assert_int_equal(case_load(names[i], &c, &err), -ENOENT);
		assert_non_null(strstr(err.text, "kab patch list"));
		assert_null(strchr(err.text, '\033'));
	}
}

/* The shipped case with one piece of text replaced, and a part of the complaint. */
static void invalid_files_are_refused(void **state)
{
	static const struct { const char *from, *to, *says; } rows[] = {
		{ "name: net-procfs\n", "", "name" },
		{ "name: net-procfs\n", "name: ../etc\n", "\"name\"" },
		{ "name: net-procfs\n", "name: net-procfs\nname: net-procfs\n", "name" },
		{ "name: net-procfs\n", "name: net-procfs\nnonsense: 1\n", "nonsense" },
		{ "name: net-procfs\n", "name: &a net-procfs\ncopy: *a\n", "" },
		{ "style: tree", "style: {a: [b, {c: d}]}", "style" },
		{ "style: tree", "style: \"\\e[31m\"", "\"style\"" },
		{ "module: kab_net_procfs", "module: net_procfs", "\"module\"" },
		{ "module: kab_net_procfs", "module: kab_../x", "\"module\"" },
		{ "source: workload.c", "source: ../workload.c", "\"source\"" },
		{ "source: workload.c", "source: workload.sh", "\"source\"" },
		{ "ops_per_block: 10000", "ops_per_block: 0", "\"ops_per_block\"" },
		{ "ops_per_block: 10000", "ops_per_block: -1", "ops_per_block" },
		{ "ops_per_block: 10000", "ops_per_block: many", "ops_per_block" },
		{ "before: 51.828", "before: nan", "finite" },
		{ "before: 51.828", "before: 1e999", "before" },
		{ "before: 51.828", "before: fast", "before" },
		{ "better: lower", "better: faster", "better" },
		{ "kernels: [\"6.1\", \"6.12\"]", "kernels: [new]", "\"kernels\"" },
		{ "kernels: [\"6.1\", \"6.12\"]", "kernels: []", "kernels" },
		{ "- name: dev_seq_printf_stats", "- name: \"a b\"", "\"functions\"" },
		{ "check:\n", "check:\n  - [\n", "" },
	};
	struct buf text = BUF_INIT, changed = BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(case_text("net-procfs", &text, NULL), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = strstr(buf_str(&text), rows[i].from);
		struct err err = ERR_INIT;
		struct patch_case c;

		assert_non_null(at);
		buf_clear(&changed);
		buf_add(&changed, text.data, (size_t)(at - text.data));
		buf_puts(&changed, rows[i].to);
		buf_puts(&changed, at + strlen(rows[i].from));
		if (case_parse(changed.data, changed.len, "a test", &c, &err) != -EINVAL)
			fail_msg("\"%s\" was accepted", rows[i].to);
		if (!strstr(err.text, rows[i].says) || !strstr(err.text, "a test") ||
		    strchr(err.text, '\033'))
			fail_msg("\"%s\": %s", rows[i].to, err.text);
	}
	buf_release(&text);
	buf_release(&changed);
}

static void damaged_files_are_refused(void **state)
{
	struct buf text = BUF_INIT, big = BUF_INIT;
	struct patch_case c;
	size_t i;

	(void)state;
	assert_int_equal(case_text("net-procfs", &text, NULL), 0);
	/* Cut anywhere, it is a whole case or an error, and never a crash. */
	for (i = 0; i < text.len; i += 37)
		if (!case_parse(text.data, i, "a test", &c, NULL))
			case_release(&c);
	for (i = 0; i < text.len; i += 11) {
		char was = text.data[i];

		text.data[i] = (char)(i * 7);
		if (!case_parse(text.data, text.len, "a test", &c, NULL))
			case_release(&c);
		text.data[i] = was;
	}
	assert_int_equal(case_parse("", 0, "a test", &c, NULL), -EINVAL);
	assert_int_equal(case_parse("\0\0", 2, "a test", &c, NULL), -EINVAL);
	assert_int_equal(case_parse("- a\n", 4, "a test", &c, NULL), -EINVAL);
	buf_puts(&big, "notes: ");
	buf_fill(&big, '[', 100000);
	assert_int_equal(case_parse(big.data, big.len, "a test", &c, NULL), -EINVAL);
	buf_fill(&big, ' ', 1 << 20);
	assert_int_equal(case_parse(big.data, big.len, "a test", &c, NULL), -EINVAL);
	buf_release(&big);
	buf_release(&text);
}

/* --- builds --- */

static void need(const char *program)
{
	if (!proc_have(program)) {
		print_message("skipped: no %s\n", program);
		skip();
	}
}

/* Puts `text` behind the file PLACE/NAME. */
static void append(const struct place *p, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", p->tmp, name);
	FILE *f = fopen(path, "a");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	free(path);
}

/* Folders in the cache of builds. */
static size_t entries(const struct place *p)
{
	char *path = mem_printf("%s/cache/kab/build", p->tmp);
	DIR *d = opendir(path);
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	free(path);
	return n > 2 ? n - 2 : 0;
}

static void workload_is_built_once_and_reports(void **state)
{
	struct buf out = BUF_INIT;
	struct case_build a, b;
	struct patch_case c;
	struct err err = ERR_INIT;
	struct stat first, second;
	unsigned long long ops, wall, user, sys;

	need("gcc");
	load("net-procfs", &c);
	if (case_build(&c, NULL, NULL, NULL, NULL, &a, &err))
		fail_msg("%s", err.text);
	assert_null(a.module);
	assert_int_equal(stat(a.workload, &first), 0);
	assert_int_equal(case_build(&c, NULL, NULL, NULL, NULL, &b, &err), 0);
	assert_string_equal(a.workload, b.workload);
	assert_int_equal(stat(b.workload, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	case_build_release(&b);

	setenv("KAB_RESULT_FD", "1", 1);
	run((const char *const[]){ a.workload, "50", NULL }, &out);
	unsetenv("KAB_RESULT_FD");
	assert_int_equal(sscanf(buf_str(&out), "ops %llu\nwall_ns %llu\nuser_ns %llu\nsys_ns %llu\n",
				&ops, &wall, &user, &sys), 4);
	assert_int_equal(ops, 50);
	assert_true(wall > 0);
	assert_non_null(strstr(out.data, "\nreal\t0m"));

	append(*state, "patches/net-procfs/workload.c", "/* another source, another file */\n");
	assert_int_equal(case_build(&c, NULL, NULL, NULL, NULL, &b, &err), 0);
	assert_string_not_equal(a.workload, b.workload);
	case_build_release(&b);
	case_build_release(&a);
	case_release(&c);
	buf_release(&out);
}

static void compiler_errors_are_told(void **state)
{
	struct case_build b;
	struct patch_case c;
	struct err err = ERR_INIT;
	size_t before = entries(*state);

	need("gcc");
	load("net-procfs", &c);
	append(*state, "patches/net-procfs/workload.c", "int broken(void) { return missing_name; }\n");
	assert_int_equal(case_build(&c, NULL, NULL, NULL, NULL, &b, &err), -EIO);
	assert_non_null(strstr(err.text, "workload.c:"));
	assert_non_null(strstr(err.text, "missing_name"));
	assert_null(b.workload);
	assert_int_equal(entries(*state), before);
	case_release(&c);
}

static void missing_tools_are_named(void **state)
{
	char *path = mem_strdup(getenv("PATH"));
	struct case_build b;
	struct patch_case c;
	struct err err = ERR_INIT;

	(void)state;
	load("net-procfs", &c);
	assert_int_equal(case_build(&c, "6.1.0-0-amd64", "/nonexistent", NULL, NULL, &b, &err), -ENOENT);
	assert_non_null(strstr(err.text, "linux-headers-6.1.0-0-amd64"));
	err_clear(&err);
	assert_int_equal(case_build(&c, "../x", "/nonexistent", NULL, NULL, &b, &err), -EINVAL);
	err_clear(&err);
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(case_build(&c, NULL, NULL, NULL, NULL, &b, &err), -ENOENT);
	setenv("PATH", path, 1);
	assert_non_null(strstr(err.text, "apt-get install gcc"));
	free(path);
	case_release(&c);
}

static bool at_once(void *ctx)
{
	(void)ctx;
	return true;
}

static void a_stopped_build_leaves_nothing(void **state)
{
	size_t before = entries(*state);
	struct case_build b;
	struct patch_case c;
	struct err err = ERR_INIT;

	need("gcc");
	load("net-procfs", &c);
	append(*state, "patches/net-procfs/workload.c", "/* not built before */\n");
	assert_int_equal(case_build(&c, NULL, NULL, at_once, NULL, &b, &err), -ECANCELED);
	assert_int_equal(entries(*state), before);
	case_release(&c);
}

/* A headers folder and its release; skips when the machine has none. */
static char *headers(char **release)
{
	const char *const found[] = { "/bin/bash", "-c", "ls -d {,\"$HOME\"/.cache/kab/kernels/*}/usr/"
				      "src/linux-headers-*-$(dpkg --print-architecture 2>/dev/null) 2>/dev/null | "
				      "head -n 1", NULL };
	struct buf out = BUF_INIT;
	struct stat st;
	char *name;

	need("gcc");
	need("make");
	run(found, &out);
	buf_str(&out);
	if (!out.len || (out.data[strcspn(out.data, "\n")] = '\0', stat(out.data, &st))) {
		print_message("skipped: no kernel headers (kab lab fetch)\n");
		buf_release(&out);
		skip();
	}
	name = strrchr(out.data, '/') + strlen("/linux-headers-");
	*release = mem_strdup(name);
	return buf_detach(&out);
}

static void module_is_built_for_the_release(void **state)
{
	char *release, *dir = headers(&release);
	struct case_build a, b;
	struct patch_case c;
	struct err err = ERR_INIT;
	size_t made;

	load("net-procfs", &c);
	if (case_build(&c, release, dir, NULL, NULL, &a, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(a.module, "/kab_net_procfs.ko"));
	assert_int_equal(case_build(&c, release, dir, NULL, NULL, &b, &err), 0);
	assert_string_equal(a.module, b.module);
	case_build_release(&b);
	made = entries(*state);

	assert_int_equal(case_build(&c, "6.1.0-0-other", dir, NULL, NULL, &b, &err), -EINVAL);
	assert_non_null(strstr(err.text, release));
	assert_non_null(strstr(err.text, "6.1.0-0-other"));
	err_clear(&err);

	append(*state, "kmod/kab_variant.h", "#error shared header broken\n");
	assert_int_equal(case_build(&c, release, dir, NULL, NULL, &b, &err), -EIO);
	assert_non_null(strstr(err.text, "kab_variant.h:"));
	assert_non_null(strstr(err.text, "shared header broken"));
	assert_null(strstr(err.text, "/tmp/kab-build"));
	assert_int_equal(entries(*state), made);

	case_build_release(&a);
	case_release(&c);
	free(release);
	free(dir);
}

int main(void)
{
#define IN_A_PLACE(f) cmocka_unit_test_setup_teardown(f, start, end)
	const struct CMUnitTest tests[] = {
		IN_A_PLACE(net_procfs_is_read),
		IN_A_PLACE(profile_agrees_with_itself),
		IN_A_PLACE(figures_stand_in_the_mail),
		IN_A_PLACE(aliases_name_the_replaced_function),
		IN_A_PLACE(catalogue_is_listed),
		IN_A_PLACE(unknown_names_get_a_sentence),
		IN_A_PLACE(invalid_files_are_refused),
		IN_A_PLACE(damaged_files_are_refused),
		IN_A_PLACE(workload_is_built_once_and_reports),
		IN_A_PLACE(compiler_errors_are_told),
		IN_A_PLACE(missing_tools_are_named),
		IN_A_PLACE(a_stopped_build_leaves_nothing),
		IN_A_PLACE(module_is_built_for_the_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
