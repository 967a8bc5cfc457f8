// SPDX-License-Identifier: GPL-2.0-or-later
/* report: every writer against a file, and the figures in them against answers known beforehand. */
#include "tests/unit/report-fixture.h"
#include "tests/unit/near.h"

#include <jansson.h>

#include "base/text.h"
#include "report/claims.h"
#include "report/figure.h"
#include "report/para.h"
#include "report/table.h"

static void test_golden_bites(void **state)
{
	(void)state;
	assert_null(differs("a 1.00000000001,x", "a 1,x"));
	assert_null(differs("-0.5e3;", "-500;"));
	assert_non_null(differs("a 1.0001", "a 1"));
	assert_non_null(differs("a 1", "a -1"));
	assert_non_null(differs("a 1 ", "a 1"));
	assert_non_null(differs("a", "b"));
	assert_non_null(differs("x10", "x1"));
}

/* --- figures --- */

static void check_figure(const char *unit, double magnitude, double fine, double v, bool sign,
			 const char *want)
{
	struct scale s = figure_scale(unit, magnitude, fine);
	struct buf b = BUF_INIT;

	figure(&b, v, &s, sign);
	buf_printf(&b, " %s", s.unit);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_figures(void **state)
{
	(void)state;
	check_figure("ns/op", 14071.5, 0, 14071.5, false, "14.07 us/op");
	check_figure("ns/op", 14071.5, 3, 14071.5, false, "14.0715 us/op");
	check_figure("ns/op", 14071.5, 0, -0.001, true, "0.00 us/op");
	check_figure("ns/op", 14071.5, 0, -3390, true, "-3.39 us/op");
	check_figure("ns", 2.5e9, 0, 2.5e9, false, "2.500 s");
	check_figure("cycles/op", 1168, 0, 1168, false, "1168 cycles/op");
	check_figure("nsamples", 2, 0, 2, false, "2.000 nsamples");
	check_figure("ns/op", NAN, NAN, NAN, false, "- ns/op");
	check_figure("ns/op", INFINITY, NAN, INFINITY, true, "- ns/op");
	check_figure("ns/op", 0, 0, 0, false, "0 ns/op");
}

static void check_percent(double fraction, const char *want)
{
	struct buf b = BUF_INIT;

	figure_percent(&b, fraction, 1, true);
	assert_string_equal(buf_str(&b), want);
	assert_true(b.len <= 8);
	buf_release(&b);
}

static void test_percent(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	check_percent(-0.2418, "-24.2%");
	check_percent(-0.0001, "0.0%");
	check_percent(-1, "-100%");
	check_percent(123.45, "+12345%");
	check_percent(1e60, "+1e+62%");
	check_percent(NAN, "-");
	check_percent(-INFINITY, "-");
	figure_percent_interval(&b, -0.249, -0.235);
	assert_string_equal(buf_str(&b), "[-24.9, -23.5]%");
	buf_clear(&b);
	figure_percent_interval(&b, -0.24012, -0.24008);
	assert_string_equal(buf_str(&b), "[-24.012, -24.008]%");
	buf_clear(&b);
	figure_percent_interval(&b, NAN, NAN);
	assert_string_equal(buf_str(&b), "-");
	buf_release(&b);
}

static void test_exact(void **state)
{
	static const double v[] = { 0, -0.0, 1, 0.1, 1.0 / 3, 14071.497999999998, 1e300, 0x1p53, -2.5 };
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		buf_clear(&b);
		figure_exact(&b, v[i]);
		assert_true(strtod(buf_str(&b), NULL) == v[i]);
	}
	buf_clear(&b);
	figure_exact(&b, 0.1);
	assert_string_equal(buf_str(&b), "0.1");
	buf_release(&b);
}

/* --- the table helper --- */

static void test_table(void **state)
{
	static const struct table_col cols[] = {
		{ "n", TABLE_RIGHT }, { "name", TABLE_FLEX }, { "x", TABLE_TIGHT },
	};
	struct buf out = BUF_INIT;
	struct table t;

	(void)state;
	table_init(&t, cols, 3);
	table_cell(&t, "7");
	table_cell(&t, "a_long_function_name");
	table_cell(&t, "end");
	table_cell(&t, "1234");
	table_cell(&t, "\xe6\xbc\xa2");		/* two cells wide */
	table_cell(&t, "%s", "");
	table_write(&t, 1, 0, &out);
	assert_string_equal(buf_str(&out), "    n  name                 x\n"
					   "    7  a_long_function_name end\n"
					   " 1234  \xe6\xbc\xa2\n");
	buf_clear(&out);
	table_write(&t, 1, 16, &out);
	assert_string_equal(buf_str(&out), "    n  name  x\n"
					   "    7  a_lo~ end\n"
					   " 1234  \xe6\xbc\xa2\n");
	table_release(&t);
	buf_release(&out);
}

/* --- running text --- */

static void check_para(struct para_opts o, const char *text, const char *want)
{
	struct buf out = BUF_INIT;

	para(&out, &o, text);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10
#define X70 X60 X10

static void test_para(void **state)
{
	struct para_opts flush = { 0 }, hanging = { .first = 2, .rest = 4 };
	struct para_opts shell = { .rest = 4, .shell = true };

	(void)state;
	check_para(flush, "", "");
	check_para(flush, "  two   words  ", "two words\n");
	check_para(flush, X70 " a b", X70 " a\nb\n");
	check_para(flush, X60 X60, X60 X10 "xx\n" X10 X10 X10 X10 "xxxxxxxx\n");
	check_para(hanging, X60 " 12345678 90", "  " X60 " 12345678\n    90\n");
	check_para(shell, X60 " 1234567 90", X60 " 1234567 \\\n    90\n");
	/* what git would take for something else at the start of a line */
	check_para(flush, "--- a", " --- a\n");
	check_para(flush, X70 " # b", X70 " #\nb\n");
	check_para(flush, X70 "xx # b", X70 "xx\n # b\n");
	check_para(flush, X70 " diff --git", X70 "\n diff --git\n");
	check_para(flush, X70 " From here", X70 "\n From here\n");
	check_para(flush, X70 " Index: 1", X70 "\n Index: 1\n");
	check_para(hanging, "# b", "  # b\n");
}

static void test_ascii(void **state)
{
	char *s = para_ascii("a\tb\nc\033\xc3\xa9\xff"), *none = para_ascii(NULL);

	(void)state;
	assert_string_equal(s, "a b c\\x1b\\xc3\\xa9\\xff");
	assert_string_equal(none, "");
	free(s);
	free(none);
}

/* --- one profile --- */

static void show(const struct fixture *f, const char *name, const char *file, struct show_input in)
{
	const struct show_style *s = show_styles;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	while (strcmp(s->name, name))
		s++;
	in.run = &f->runs[4];
	assert_int_equal(s->write(&in, &out, &err), 0);
	assert_int_equal(err.len, 0);
	golden(file, &out);
	buf_release(&out);
}

static void test_show(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct profile *p = f->cmp->side[BEFORE];

	show(f, "tree", "show-tree.txt", (struct show_input){ .profile = p, .min_share = 0.5 });
	show(f, "tree", "show-tree-from.txt",
	     (struct show_input){ .profile = p, .from = "dev_seq_show", .max_depth = 3 });
	show(f, "flat", "show-flat.txt", (struct show_input){ .profile = p, .min_share = 0.5 });
	show(f, "oprofile", "show-oprofile.txt", (struct show_input){ .profile = p, .max_rows = 6 });
	show(f, "folded", "show-folded.txt", (struct show_input){ .profile = p, .min_share = 50 });
}

static struct profile *mails_profile(bool comm)
{
	struct profile *p = profile_new();
	uint32_t first = symtab_intern(&p->symtab, "docker", "", FRAME_MARK);
	uint32_t fold = symtab_intern(&p->symtab, "snmp_fold_field", "[kernel.kallsyms]", FRAME_KERNEL);
	uint32_t show_ = symtab_intern(&p->symtab, "dev_seq_show", "[kernel.kallsyms]", FRAME_KERNEL);
	uint32_t stats = symtab_intern(&p->symtab, "dev_seq_printf_stats", "[kernel.kallsyms]", FRAME_KERNEL);
	uint32_t print = symtab_intern(&p->symtab, "seq_printf", "[kernel.kallsyms]", FRAME_KERNEL);
	uint32_t iter = symtab_intern(&p->symtab, "seq_read_iter", "[kernel.kallsyms]", FRAME_KERNEL);

	if (comm) {
		profile_add_stack(p, (uint32_t[]){ first, fold }, 2, 5073, 5073);
		profile_add_stack(p, (uint32_t[]){ first, print }, 2, 4927, 4927);
	} else {
		/* The counts of the mail of 10 Nov 2024. */
		profile_add_stack(p, (uint32_t[]){ iter, show_, stats, print }, 4, 58594, 58594);
		profile_add_stack(p, (uint32_t[]){ iter, show_, stats }, 3, 427092 - 58594, 427092 - 58594);
		profile_add_stack(p, (uint32_t[]){ iter, show_ }, 2, 428046 - 427092, 428046 - 427092);
		profile_add_stack(p, (uint32_t[]){ iter }, 1, 435229 - 428046, 435229 - 428046);
	}
	profile_seal(p);
	return p;
}

static void check_show(const char *name, struct show_input in, const char *want)
{
	const struct show_style *s = show_styles;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	while (strcmp(s->name, name))
		s++;
	assert_int_equal(s->write(&in, &out, &err), 0);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

/* The lines of the three mails, from their own counts. */
static void test_show_as_posted(void **state)
{
	struct profile *p = mails_profile(false), *q = mails_profile(true);

	(void)state;
	check_show("tree", (struct show_input){ .profile = p, .from = "dev_seq_show", .indent = 4 },
		   "    dev_seq_show(98.350% 428046/435229)\n"
		   "        dev_seq_printf_stats(99.777% 427092/428046)\n"
		   "            seq_printf(13.719% 58594/427092)\n");
	check_show("flat", (struct show_input){ .profile = q },
		   "    50.73%  docker  [kernel.kallsyms]  [k] snmp_fold_field\n"
		   "    49.27%  docker  [kernel.kallsyms]  [k] seq_printf\n");
	check_show("oprofile", (struct show_input){ .profile = q },
		   "samples  %        symbol name\n"
		   "5073      50.7300 snmp_fold_field\n"
		   "4927      49.2700 seq_printf\n");
	profile_free(p);
	profile_free(q);
}

/* Calls from two callers are one; a caller below another, and recursion, count once. */
static void test_show_from_many(void **state)
{
	struct profile *p = profile_new();
	char a[] = "top;a;f;g", b[] = "top;b;f", c[] = "top;a;x;a;f;f", d[] = "top;a;y";

	(void)state;
	add_stack(p, a, 10);
	add_stack(p, b, 20);
	add_stack(p, c, 30);
	add_stack(p, d, 40);
	profile_seal(p);
	check_show("tree", (struct show_input){ .profile = p, .from = "f" },
		   "f(60.000% 60/100)\n"
		   "    f(50.000% 30/60)\n"
		   "    g(16.667% 10/60)\n");
	check_show("tree", (struct show_input){ .profile = p, .max_depth = 2, .min_share = 25 },
		   "top(100.000% 100/100)\n"
		   "    a(80.000% 80/100)\n"
		   "(1 branch below 25% of all samples left out)\n"
		   "(3 deeper branches left out)\n");
	profile_free(p);
}

static void test_show_empty(void **state)
{
	struct profile *p = profile_new();
	const struct show_style *s;

	(void)state;
	profile_seal(p);
	for (s = show_styles; s->name; s++)
		check_show(s->name, (struct show_input){ .profile = p, .from = "nowhere" },
			   strcmp(s->name, "folded") ? "(no samples)\n" : "");
	profile_free(p);
}

static void test_show_unknown_start(void **state)
{
	struct fixture *f = fixture_of(state);
	struct show_input in = { .profile = f->cmp->side[BEFORE], .from = "no\033such" };
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(show_styles[0].write(&in, &out, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no\\x1bsuch"));
	buf_release(&out);
}

/* 5000 frames deep, in every style. */
static void test_show_deep(void **state)
{
	struct profile *p = profile_new();
	const struct show_style *s;
	uint32_t *stack = mem_calloc(5000, sizeof(*stack));
	size_t i;

	(void)state;
	for (i = 0; i < 5000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%zu", i);
		stack[i] = symtab_intern(&p->symtab, name, "", FRAME_KERNEL);
	}
	profile_add_stack(p, stack, 5000, 1, 1);
	profile_seal(p);
	for (s = show_styles; s->name; s++) {
		struct show_input in = { .profile = p };
		struct buf out = BUF_INIT;
		struct err err = ERR_INIT;

		assert_int_equal(s->write(&in, &out, &err), 0);
		assert_non_null(strstr(buf_str(&out), "f4999"));
		buf_release(&out);
	}
	free(stack);
	profile_free(p);
}

/* Where the line is too short for the depth, indentation gives way before the name, and the counts stay. */
static void test_show_narrow(void **state)
{
	struct profile *p = profile_new();
	char stack[] = "a;b;a_function_with_a_very_long_name_indeed;c";

	(void)state;
	add_stack(p, stack, 10);
	profile_seal(p);
	check_show("tree", (struct show_input){ .profile = p, .width = 44, .indent = 1 },
		   " a(100.000% 10/10)\n"
		   "     b(100.000% 10/10)\n"
		   "    a_function_with_a_very_~(100.000% 10/10)\n"
		   "             c(100.000% 10/10)\n");
	profile_free(p);
}

/* A ';' within a name is no separator, a line end no line end. */
static void test_folded_names(void **state)
{
	struct profile *p = profile_new();
	uint32_t s = symtab_intern(&p->symtab, "a;b\nc", "", FRAME_USER);

	(void)state;
	profile_add_stack(p, (uint32_t[]){ s, s }, 2, 2.5, 0);
	profile_seal(p);
	check_show("folded", (struct show_input){ .profile = p }, "a\\x3bb\\x0ac;a\\x3bb\\x0ac 2.5\n");
	profile_free(p);
}

/* --- comparisons --- */

static void test_styles(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct compare_style *s;

	for (s = compare_styles; s->name; s++) {
		struct buf out = BUF_INIT;
		struct err err = ERR_INIT;
		char file[64];

		assert_int_equal(s->write(&f->in, &out, &err), 0);
		snprintf(file, sizeof(file), "compare-%s.txt", s->name);
		golden(file, &out);
		buf_release(&out);
	}
}

/* As shares there are no intervals of functions, and nothing is marked undecided by them. */
static void test_styles_by_share(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	f->in.norm = NORM_SHARE;
	assert_int_equal(compare_styles[0].write(&f->in, &out, &err), 0);
	golden("compare-table-share.txt", &out);
	buf_release(&out);
}

static void test_formats(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct report_format *fmt;

	for (fmt = report_formats; fmt->name; fmt++) {
		struct buf out = BUF_INIT, again = BUF_INIT;
		struct err err = ERR_INIT;
		char file[64];

		assert_int_equal(fmt->write(&f->in, &out, &err), 0);
		snprintf(file, sizeof(file), "report-%s%s", fmt->name, fmt->suffix);
		golden(file, &out);
		fixture_compare(f);
		assert_int_equal(fmt->write(&f->in, &again, &err), 0);
		assert_string_equal(buf_str(&out), buf_str(&again));
		buf_release(&out);
		buf_release(&again);
	}
}

static void test_summary(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf out = BUF_INIT;

	report_summary(&f->in, &out);
	golden("summary.txt", &out);
	buf_release(&out);
}

/* The mail in the layouts of the other two mails. */
static void test_mail_layouts(void **state)
{
	static const char *const styles[] = { "flat", "oprofile" };
	struct fixture *f = fixture_of(state);
	size_t i;

	for (i = 0; i < 2; i++) {
		struct buf out = BUF_INIT, part = BUF_INIT;
		struct err err = ERR_INIT;
		char file[64];
		const char *from, *to;

		f->facts.style = (char *)styles[i];
		assert_int_equal(report_formats[0].write(&f->in, &out, &err), 0);
		from = strstr(buf_str(&out), "Profile before");
		to = strstr(buf_str(&out), "Self cost of the functions");
		assert_true(from && to && from < to);
		buf_add(&part, from, (size_t)(to - from));
		snprintf(file, sizeof(file), "mail-%s.txt", styles[i]);
		golden(file, &part);
		buf_release(&part);
		buf_release(&out);
	}
}

/* Three machines, one of which failed: a row each, and the JSON has the figures of the text. */
static void test_across(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct experiment exps[] = {
		{ .id = 3, .target = (char *)"vm", .kernel = (char *)"6.1.0-57-amd64", .state = EXP_COMPLETE },
		{ .id = 4, .target = (char *)"ssh:root@a\033[2J", .kernel = (char *)"6.12.1", .state = EXP_COMPLETE, .group = 3 },
		{ .id = 5, .target = (char *)"ssh:b", .state = EXP_FAILED, .group = 3 },
	};
	const struct compare *const cmp[] = { f->cmp, f->cmp, NULL };
	struct across *a = across_build(exps, cmp, 3);
	struct buf out = BUF_INIT;
	json_t *root, *wall, *first;
	double value, lo, hi, second;
	const char *verdict, *state_of_third;
	int n;

	report_across(&f->in, &out);
	assert_int_equal(out.len, 0);
	f->in.across = a;
	report_across(&f->in, &out);
	golden("across.txt", &out);
	buf_clear(&out);
	report_json(&f->in, &out);
	root = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(root);
	wall = json_array_get(json_object_get(root, "across"), 0);
	assert_int_equal(json_unpack(wall, "{s:{s:F, s:i, s:[FF]}, s:s, s:[o, {s:{s:F}}, {s:s, s:n}]}", "relative", "value",
				     &value, "n", &n, "interval", &lo, &hi, "verdict", &verdict, "machines", &first,
				     "relative", "value", &second, "state", &state_of_third, "relative"), 0);
	assert_non_null(first);
	assert_near(value, 100 * a->metrics[0].all.value, 1e-12);
	assert_near(lo, 100 * a->metrics[0].all.lo, 1e-12);
	assert_near(hi, 100 * a->metrics[0].all.hi, 1e-12);
	assert_near(second, 100 * f->cmp->metrics[0].est.rel, 1e-12);
	assert_int_equal(n, 2);
	assert_string_equal(verdict, "faster");
	assert_string_equal(state_of_third, "failed");
	json_decref(root);
	across_free(a);
	buf_release(&out);
}

static void test_job(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct report_format *fmt = report_formats;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	while (strcmp(fmt->name, "job"))
		fmt++;
	f->exp.job = (char *)"kab-job: 1\nworkload: \033[2J";
	assert_int_equal(fmt->write(&f->in, &out, &err), 0);
	assert_string_equal(buf_str(&out), "kab-job: 1\nworkload: \\x1b[2J\n");
	f->exp.job = NULL;
	assert_int_equal(fmt->write(&f->in, &out, &err), -ENODATA);
	assert_non_null(strstr(err.text, "older kab"));
	buf_release(&out);
}

/* The figures of JSON are those of the comparison, to the last bit, and those of the text after rounding. */
static void test_json_agrees(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct metric *m = f->cmp->metrics;
	struct buf out = BUF_INIT;
	json_t *root, *wall;
	json_error_t jerr;
	double mean, lo, hi, block;
	const char *unit, *verdict;
	int n;

	report_json(&f->in, &out);
	root = json_loadb(out.data, out.len, 0, &jerr);
	assert_non_null(root);
	wall = json_array_get(json_object_get(root, "metrics"), 0);
	assert_int_equal(json_unpack(wall, "{s:{s:F, s:s, s:i, s:[F]}, s:{s:[FF]}, s:s}", "before", "value",
				     &mean, "unit", &unit, "n", &n, "blocks", &block, "difference",
				     "interval", &lo, &hi, "verdict", &verdict),
			 0);
	assert_true(mean == m->est.before.mean);
	assert_true(lo == m->est.lo && hi == m->est.hi);
	assert_true(block == m->values[VARIANT_BEFORE][0]);
	assert_int_equal(n, 6);
	assert_string_equal(unit, "ns/op");
	assert_string_equal(verdict, "faster");
	assert_int_equal(json_array_size(json_object_get(json_object_get(root, "profile"), "functions")),
			 f->cmp->n_flat);
	json_decref(root);
	buf_release(&out);
}

/* Doubles in CSV read back the same. */
static void test_csv_agrees(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	double before, after;

	assert_int_equal(report_formats[2].write(&f->in, &out, &err), 0);
	assert_int_equal(sscanf(strstr(buf_str(&out), "metric,\"wall time\""),
				"metric,\"wall time\",,\"ns/op\",6,%lf,%*f,6,%lf", &before, &after),
			 2);
	assert_true(before == f->cmp->metrics[0].est.before.mean);
	assert_true(after == f->cmp->metrics[0].est.after.mean);
	buf_release(&out);
}

/* What compare says per function adds up: raw counts of difffolded are the samples of each side. */
static void test_difffolded_sums(void **state)
{
	struct fixture *f = fixture_of(state);
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	double sum[SIDES] = { 0, 0 };
	char *save = NULL, *line;

	f->in.norm = NORM_RAW;
	f->in.measure = COUNT;
	assert_int_equal(report_formats[4].write(&f->in, &out, &err), 0);
	for (line = strtok_r(out.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *second = strrchr(line, ' '), *first;

		sum[AFTER] += strtod(second, NULL);
		*second = '\0';
		first = strrchr(line, ' ');
		sum[BEFORE] += strtod(first, NULL);
	}
	assert_true(sum[BEFORE] == f->cmp->samples[BEFORE]);
	assert_true(sum[AFTER] == f->cmp->samples[AFTER]);
	buf_release(&out);
}

/* Sides of different length: each is divided by its own operations. Quotes in names are doubled in CSV. */
static void test_sides_of_their_own(void **state)
{
	struct run before = { .ops = 10 }, after = { .ops = 40 };
	struct profile *p = profile_new(), *q = profile_new();
	struct report_input in = { .norm = NORM_OP, .measure = COUNT };
	struct compare *c;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	char a[] = "f;say \"hi\", x", b[] = "f;say \"hi\", x";

	(void)state;
	add_stack(p, a, 5);
	add_stack(q, b, 10);
	profile_seal(p);
	profile_seal(q);
	in.cmp = c = compare_pair(&before, p, &after, q);
	assert_int_equal(report_formats[4].write(&in, &out, &err), 0);
	assert_string_equal(buf_str(&out), "f;say \"hi\", x 0.5 0.25\n");
	buf_clear(&out);
	assert_int_equal(report_formats[2].write(&in, &out, &err), 0);
	assert_non_null(strstr(buf_str(&out), "\r\nfunction,\"say \"\"hi\"\", x\",\"[kernel.kallsyms]\","
			       "\"samples/op\",,0.5,,,0.25,,-0.25,,,-50,,\r\n"));
	buf_clear(&out);
	assert_int_equal(report_formats[3].write(&in, &out, &err), 0);
	assert_string_equal(buf_str(&out), "before;f;say \"hi\", x 5\nafter;f;say \"hi\", x 10\n");
	buf_release(&out);
	compare_free(c);
	profile_free(p);
	profile_free(q);
}

static void test_claims(void **state)
{
	struct fixture *f = fixture_of(state);

	assert_string_equal(claims_metric(f->cmp, &f->claims[0])->name, "wall time");
	assert_string_equal(claims_metric(f->cmp, &f->claims[1])->name, "system time");
	assert_null(claims_metric(f->cmp, &f->claims[2]));
	f->claims[2] = (struct claim){ .metric = (char *)"user time", .unit = (char *)"ms/op" };
	assert_string_equal(claims_metric(f->cmp, &f->claims[2])->name, "user time");
	f->claims[2] = (struct claim){ .metric = (char *)"packets", .unit = (char *)"packets/s" };
	assert_null(claims_metric(f->cmp, &f->claims[2]));
	assert_true(fabs(claims_change(&f->claims[0]) + 0.0521) < 0.0001);
	assert_true(isnan(claims_change(&f->claims[2])));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_bites),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_para),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_show_as_posted),
		cmocka_unit_test(test_show_from_many),
		cmocka_unit_test(test_show_empty),
		cmocka_unit_test(test_show_deep),
		cmocka_unit_test(test_show_narrow),
		cmocka_unit_test(test_folded_names),
		cmocka_unit_test(test_sides_of_their_own),
		cmocka_unit_test_setup_teardown(test_show, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_show_unknown_start, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_styles, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_styles_by_share, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_across, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_job, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_formats, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_summary, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_mail_layouts, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_json_agrees, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_csv_agrees, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_difffolded_sums, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_claims, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
