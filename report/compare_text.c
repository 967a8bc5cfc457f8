// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare_text: a comparison as text, in the shapes that kernel lists know.
 * Written from the same `struct compare` as mail and JSON; `kab compare` prints it.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/beside.h"
#include "report/figure.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/table.h"

#define FUNCTIONS 20		/* rows of the function table */
#define TREE_SHARE 0.5		/* per cent of the larger side below which branches are left out */
#define TREE_STEP 2		/* blanks a level */
#define TREE_MAX_INDENT 120
#define LKP_FUNCTIONS 20

/* Prose from one of the parts, wrapped; nothing when it has nothing to say. */
static void say(const struct report_input *in, void (*part)(const struct report_input *, struct buf *),
		struct buf *out)
{
	static const struct para_opts plain = { 0 };
	struct buf text = BUF_INIT;

	part(in, &text);
	para(out, &plain, buf_str(&text));
	buf_release(&text);
}

static void formula(const struct report_input *in, struct buf *out)
{
	static const struct para_opts plain = { 0 };
	const char *op = in->facts ? in->facts->operation : NULL;
	char formula[160], unit[32], *text;

	norm_formula(in->cmp->diff, in->norm, parts_measure(in), op, formula, unit);
	text = para_ascii(formula);
	para(out, &plain, text);
	free(text);
}

/* --- table --- */

static int table_style(const struct report_input *in, struct buf *out, struct err *err)
{
	static const struct parts_opts metrics = { .verdict = true };
	static const struct parts_opts functions = { .rank = true, .max_rows = FUNCTIONS };

	(void)err;
	say(in, parts_sides, out);
	say(in, parts_result, out);
	say(in, parts_state, out);
	say(in, beside_environment, out);
	if (in->cmp->n_metrics) {
		buf_putc(out, '\n');
		say(in, parts_metrics_caption, out);
		parts_metrics(in, &metrics, out);
		say(in, parts_native, out);
	}
	beside_counted(in, 0, 0, out);
	buf_putc(out, '\n');
	if (in->cmp->diff && in->cmp->n_flat) {
		say(in, parts_functions_caption, out);
		buf_puts(out, "The rank is a function's place by self cost, before > after.\n");
		parts_functions(in, &functions, out);
		buf_putc(out, '\n');
	}
	say(in, parts_samples, out);
	if (in->across) {
		buf_putc(out, '\n');
		report_across(in, out);
	}
	return 0;
}

/* --- tree --- */

static double share_of(const struct diff *d, uint32_t node, enum side s, enum measure m)
{
	return fabs(d->nodes[node].total[s][m] * norm_scale(d, NORM_SHARE, s, m));
}

static void tree_row(const struct diff *d, uint32_t n, const double v[SIDES], const struct scale *s,
		     struct table *t)
{
	const char *name = diff_symbol(d, n)->name;
	unsigned blanks = d->nodes[n].depth * TREE_STEP;
	struct buf b = BUF_INIT;

	figure(&b, v[BEFORE], s, false);
	table_take(t, &b);
	figure(&b, v[AFTER], s, false);
	table_take(t, &b);
	figure(&b, v[AFTER] - v[BEFORE], s, true);
	table_take(t, &b);
	figure_percent(&b, v[BEFORE] != 0 ? (v[AFTER] - v[BEFORE]) / fabs(v[BEFORE]) : NAN, 1, true);
	table_take(t, &b);
	buf_puts(&b, diff_gone(d, n) ? "gone" : diff_new(d, n) ? "new" : "");
	table_take(t, &b);
	buf_fill(&b, ' ', blanks < TREE_MAX_INDENT ? blanks : TREE_MAX_INDENT);
	text_escape(&b, name, strlen(name), false);
	table_take(t, &b);
}

static int tree_style(const struct report_input *in, struct buf *out, struct err *err)
{
	static const struct table_col cols[] = {
		{ "before", TABLE_RIGHT }, { "after", TABLE_RIGHT }, { "difference", TABLE_RIGHT },
		{ "", TABLE_RIGHT }, { "", 0 }, { "function", 0 },
	};
	const struct diff *d = in->cmp->diff;
	enum measure m = parts_measure(in);
	size_t small = 0;
	struct scale scale;
	struct table t;
	double f[SIDES];
	char text[160], unit[32];
	uint32_t n;

	(void)err;
	say(in, parts_sides, out);
	if (!d) {
		say(in, parts_samples, out);
		return 0;
	}
	f[BEFORE] = norm_scale(d, in->norm, BEFORE, m);
	f[AFTER] = norm_scale(d, in->norm, AFTER, m);
	norm_formula(d, in->norm, m, NULL, text, unit);
	scale = figure_scale(unit, fmax(fabs(d->nodes[NODE_ROOT].total[BEFORE][m] * f[BEFORE]),
					fabs(d->nodes[NODE_ROOT].total[AFTER][m] * f[AFTER])), 0);
	buf_puts(out, "Total of each function with all it calls, in one tree of both sides.\n");
	formula(in, out);
	buf_printf(out, "\n%s\n", scale.unit);
	table_init(&t, cols, sizeof(cols) / sizeof(cols[0]));
	for (n = NODE_ROOT; n < d->n;) {
		const double v[SIDES] = { d->nodes[n].total[BEFORE][m] * f[BEFORE],
					  d->nodes[n].total[AFTER][m] * f[AFTER] };

		if (n == NODE_ROOT || share_of(d, n, BEFORE, m) >= TREE_SHARE ||
		    share_of(d, n, AFTER, m) >= TREE_SHARE) {
			tree_row(d, n, v, &scale, &t);
			n++;
		} else {
			n += d->nodes[n].frames;
			small++;
		}
	}
	table_write(&t, 0, 0, out);
	table_release(&t);
	if (small)
		buf_printf(out, "(%zu %s below %g%% of both sides left out)\n", small,
			   small == 1 ? "branch" : "branches", TREE_SHARE);
	buf_putc(out, '\n');
	say(in, parts_samples, out);
	return 0;
}

/* Four digits whatever the interval: these two shapes show none. */
static struct scale metric_scale(const struct metric *m)
{
	return figure_scale(m->unit, fmax(fabs(m->est.before.mean), fabs(m->est.after.mean)), 0);
}

/* --- lkp: the table of the kernel test robot --- */

static void lkp_side(const struct summary *s, const struct scale *scale, struct buf *out)
{
	struct buf v = BUF_INIT;

	figure(&v, s->mean, scale, false);
	buf_printf(out, "%10s", buf_str(&v));
	if (s->sd > 0 && fabs(s->mean) <= 200 * s->sd)		/* 0% says nothing */
		buf_printf(out, " +-%3.0f%%", 100 * s->sd / fabs(s->mean));
	else
		buf_puts(out, "       ");
	buf_release(&v);
}

/* "kab.wall_time.us/op": blanks would split the name. */
static void lkp_name(const char *name, struct buf *out)
{
	size_t from = out->len, i;

	text_escape(out, name, strlen(name), true);
	for (i = from; i < out->len; i++)
		if (out->data[i] == ' ')
			out->data[i] = '_';
}

static void lkp_line_end(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_putc(out, '\n');
}

static void lkp_metric(const struct metric *m, struct buf *out)
{
	struct scale s = metric_scale(m);
	bool percent = !strcmp(m->unit, "%");
	struct buf change = BUF_INIT;

	lkp_side(&m->est.before, &s, out);
	if (percent)
		figure(&change, m->est.diff, &s, true);
	else
		figure_percent(&change, m->est.rel, 1, true);
	buf_printf(out, "%*s%s", percent ? 10 : 11, buf_str(&change), percent ? " " : "");
	lkp_side(&m->est.after, &s, out);
	buf_puts(out, "  kab.");
	lkp_name(m->name, out);
	buf_putc(out, '.');
	lkp_name(s.unit, out);
	lkp_line_end(out);
	buf_release(&change);
}

/* Shares of self in per cent: these change absolutely. */
static void lkp_functions(const struct report_input *in, struct buf *out)
{
	const struct diff *d = in->cmp->diff;
	enum measure m = parts_measure(in);
	size_t i;

	if (!d)
		return;
	for (i = 0; i < in->cmp->n_flat && i < LKP_FUNCTIONS; i++) {
		const struct flat_diff_row *r = &in->cmp->flat[i];
		double v[SIDES] = { r->self[BEFORE][m] * norm_scale(d, NORM_SHARE, BEFORE, m),
				    r->self[AFTER][m] * norm_scale(d, NORM_SHARE, AFTER, m) };

		buf_printf(out, "%10.2f        %+9.2f %10.2f         perf-profile.self.", v[BEFORE],
			   v[AFTER] - v[BEFORE], v[AFTER]);
		lkp_name(d->event ? d->event : "samples", out);
		buf_putc(out, '.');
		lkp_name(d->symtab.symbols[r->symbol].name, out);
		buf_putc(out, '\n');
	}
}

static int lkp_style(const struct report_input *in, struct buf *out, struct err *err)
{
	char *side[SIDES] = { parts_side(in, BEFORE), parts_side(in, AFTER) };
	struct buf fit = BUF_INIT;
	size_t i;

	(void)err;
	text_fit(&fit, side[BEFORE], 16, true);
	buf_putc(&fit, ' ');
	text_fit(&fit, side[AFTER], 27, true);
	buf_puts(out, buf_str(&fit));
	lkp_line_end(out);
	buf_puts(out, "---------------- ---------------------------\n");
	buf_puts(out, "          %stddev    %change          %stddev\n");
	buf_puts(out, "              \\         |                 \\\n");
	for (i = 0; i < in->cmp->n_metrics; i++)
		lkp_metric(&in->cmp->metrics[i], out);
	lkp_functions(in, out);
	buf_puts(out, "\n%stddev: standard deviation over blocks (n - 1). Intervals: the table style.\n");
	buf_release(&fit);
	free(side[BEFORE]);
	free(side[AFTER]);
	return 0;
}

/* --- benchstat --- */

static void benchstat_delta(const struct metric *m, struct buf *out)
{
	const struct estimate *e = &m->est;

	if (e->verdict == VERDICT_TOO_FEW) {
		buf_puts(out, "~ (n=");
	} else {
		if (e->verdict == VERDICT_UNDECIDED)
			buf_putc(out, '~');
		else
			figure_percent(out, e->rel, 2, true);
		buf_printf(out, " (p=%.3f n=", e->p);
	}
	buf_printf(out, "%zu", e->before.n);
	if (e->before.n != e->after.n)
		buf_printf(out, "+%zu", e->after.n);
	buf_putc(out, ')');
	if (e->verdict == VERDICT_TOO_FEW)
		buf_puts(out, " needs 2 or more of each");
}

static void benchstat_side(const struct summary *s, const struct scale *scale, struct buf *out)
{
	figure(out, s->mean, scale, false);
	if (!isfinite(s->mean))
		return;
	buf_printf(out, " %s", scale->unit);
	if (s->sd >= 0 && s->mean != 0)
		buf_printf(out, " +-%3.0f%%", 100 * s->sd / fabs(s->mean));
}

static int benchstat_style(const struct report_input *in, struct buf *out, struct err *err)
{
	char *op = parts_operation(in), *side[SIDES] = { parts_side(in, BEFORE), parts_side(in, AFTER) };
	struct table_col cols[] = {
		{ "", 0 }, { "|", 0 }, { side[BEFORE], TABLE_RIGHT }, { "|", 0 },
		{ side[AFTER], TABLE_RIGHT }, { "vs before", 0 }, { "|", 0 },
	};
	struct table t;
	size_t i;

	(void)err;
	table_init(&t, cols, sizeof(cols) / sizeof(cols[0]));
	for (i = 0; i < in->cmp->n_metrics; i++) {
		const struct metric *m = &in->cmp->metrics[i];
		struct scale s = metric_scale(m);
		struct buf b = BUF_INIT;

		table_cell(&t, "%s", m->name);
		table_cell(&t, "|");
		benchstat_side(&m->est.before, &s, &b);
		table_take(&t, &b);
		table_cell(&t, "|");
		benchstat_side(&m->est.after, &s, &b);
		table_take(&t, &b);
		benchstat_delta(m, &b);
		table_take(&t, &b);
		table_cell(&t, "|");
	}
	table_write(&t, 0, 0, out);
	table_release(&t);
	buf_printf(out, "\nop: %s. Mean over blocks +- standard deviation, p of Welch's t, ~ undecided.\n",
		   op);
	free(op);
	free(side[BEFORE]);
	free(side[AFTER]);
	return 0;
}

const struct compare_style compare_styles[] = {
	{ "table", "result, metrics with intervals, functions that moved most", table_style },
	{ "tree", "one call tree of both sides with total before, after, difference", tree_style },
	{ "lkp", "the kernel test robot's table: value, %stddev, %change", lkp_style },
	{ "benchstat", "benchstat's table: mean, spread, change, p and n", benchstat_style },
	{ NULL, NULL, NULL },
};
