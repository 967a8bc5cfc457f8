// SPDX-License-Identifier: GPL-2.0-or-later
/* counted: counters and distributions as text; see beside.h. The figures are profile/counted.h's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/counted.h"
#include "report/beside.h"
#include "report/figure.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/table.h"

static const struct para_opts plain = { 0 };

static const struct table_col columns[] = {
	{ "", TABLE_FLEX }, { "", 0 }, { "before", TABLE_RIGHT }, { "", TABLE_TIGHT },
	{ "after", TABLE_RIGHT }, { "", TABLE_TIGHT }, { "change", TABLE_RIGHT },
	{ "95% interval", TABLE_RIGHT }, { "", 0 },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Where lines are short: without spread and verdict, so that names keep room. */
static const struct table_col short_columns[] = {
	{ "", TABLE_FLEX }, { "", 0 }, { "before", TABLE_RIGHT }, { "after", TABLE_RIGHT },
	{ "change", TABLE_RIGHT }, { "95% interval", TABLE_RIGHT },
};
#define SHORT_COLUMNS (sizeof(short_columns) / sizeof(short_columns[0]))

static void begin(struct table *t, bool whole)
{
	if (whole)
		table_init(t, columns, COLUMNS);
	else
		table_init(t, short_columns, SHORT_COLUMNS);
}

static double larger(double a, double b)
{
	a = isfinite(a) ? fabs(a) : 0;
	b = isfinite(b) ? fabs(b) : 0;
	return a > b ? a : b;
}

static void spread(const struct summary *s, struct table *t)
{
	struct buf b = BUF_INIT;
	double rel = s->sd / fabs(s->mean);

	if (isfinite(rel)) {
		buf_puts(&b, "+-");
		figure_percent(&b, rel, figure_percent_decimals(-rel, rel), false);
	}
	table_take(t, &b);
}

/* What both kinds of row have behind the two values. */
static void change(const struct estimate *e, bool whole, struct table *t)
{
	struct buf b = BUF_INIT;

	figure_percent(&b, e->rel, figure_percent_decimals(e->rel_lo, e->rel_hi), true);
	table_take(t, &b);
	figure_percent_interval(&b, e->rel_lo, e->rel_hi);
	table_take(t, &b);
	if (whole)
		table_cell(t, "%s", counter_verdict(e));
}

static void name_cell(const char *name, struct table *t)
{
	char *ascii = para_ascii(name);

	table_cell(t, "%s", ascii);
	free(ascii);
}

/* Nothing at all is no figure with digits. */
static void value_cell(double v, const struct scale *s, struct table *t)
{
	struct buf b = BUF_INIT;

	if (v == 0)
		buf_putc(&b, '0');
	else
		figure(&b, v, s, false);
	table_take(t, &b);
}

static void counter_row(const struct counter *c, bool whole, struct table *t)
{
	const struct estimate *e = &c->est;
	double size = larger(e->before.mean, e->after.mean);
	struct scale s = figure_scale_bare(c->unit, size, (e->hi - e->lo) / 2);

	name_cell(c->name, t);
	table_cell(t, "%.12s", s.unit);
	value_cell(e->before.mean, &s, t);
	if (whole)
		spread(&e->before, t);
	value_cell(e->after.mean, &s, t);
	if (whole)
		spread(&e->after, t);
	change(e, whole, t);
}

/* "cycles, instructions" for their :u and :k where the whole of an event is meant. */
static void add_name(const char *name, struct buf *list)
{
	size_t len = strcspn(name, ":");
	const char *tail = name + len;
	char *base;

	if (strcmp(tail, ":u") && strcmp(tail, ":k"))
		len = strlen(name);
	base = mem_printf("%.*s", (int)len, name);
	if (!strstr(buf_str(list), base))
		buf_printf(list, "%s%s", list->len ? ", " : "", base);
	free(base);
}

/* What the table does not say: what could not be counted, only in part, or not without tracing. */
static void remarks(const struct counted *c, struct buf *out)
{
	struct buf missing = BUF_INIT, scaled = BUF_INIT, text = BUF_INIT;
	bool sampled = false;
	double least = 1;
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct counter *v = &c->v[i];

		if (!v->supported)
			add_name(v->name, &missing);
		else if (v->running < 1)
			buf_printf(&scaled, "%s%s", scaled.len ? ", " : "", v->name);
		if (v->supported && v->running < least)
			least = v->running;
		sampled = sampled || (v->supported && v->sampled);
	}
	if (missing.len)
		buf_printf(&text, "Not supported by this machine: %s. ", buf_str(&missing));
	if (scaled.len) {
		buf_puts(&text, "Scaled up, since the PMU has fewer counters than were asked for and they"
			 " took turns (the least was counted ");
		figure_percent(&text, least, 0, false);
		buf_printf(&text, " of the time): %s. ", buf_str(&scaled));
	}
	if (sampled)
		buf_puts(&text, "Rates of tracepoints are of the sampled blocks, other counts of blocks that"
			 " ran without the profiler.");
	if (text.len) {
		char *ascii = para_ascii(buf_str(&text));

		para(out, &plain, ascii);
		free(ascii);
	}
	buf_release(&missing);
	buf_release(&scaled);
	buf_release(&text);
}

static void counters(const struct report_input *in, unsigned indent, unsigned width, struct buf *out)
{
	const struct counted *c = in->counted;
	struct buf caption = BUF_INIT;
	struct table t;
	size_t i, rows = 0;
	char *op = parts_operation(in);

	begin(&t, !width);
	for (i = 0; i < c->n; i++) {
		if (!c->v[i].supported)
			continue;
		counter_row(&c->v[i], !width, &t);
		rows++;
	}
	if (rows) {
		buf_printf(&caption, "Counted per %s (:u in user code, :k in the kernel)", op);
		buf_puts(&caption, !parts_is_experiment(in) ? ", one recording a side:" : width ?
			 ", mean of the blocks, its change and the 95% interval of that (Welch t over blocks):" :
			 ", mean and standard deviation of a block, change of the mean and its 95% interval (Welch t"
			 " over blocks):");
		para(out, &plain, buf_str(&caption));
		table_write(&t, indent, width, out);
	}
	table_release(&t);
	buf_release(&caption);
	free(op);
	remarks(c, out);
}

/* Of one block a side the quantile itself; of more the mean of theirs, which change and interval are of. */
static double quantile(const struct distribution *d, size_t q, enum side s)
{
	const struct summary *blocks = s == BEFORE ? &d->est[q].before : &d->est[q].after;

	return blocks->n > 1 ? blocks->mean : d->value[q][s];
}

static void distribution(const struct report_input *in, const struct distribution *d, unsigned indent,
			 unsigned width, struct buf *out)
{
	const size_t last = HIST_QUANTILES - 1;
	double largest = larger(quantile(d, last, BEFORE), quantile(d, last, AFTER));
	struct scale s = figure_scale(d->unit, largest, 0);
	struct buf b = BUF_INIT;
	char *name = para_ascii(d->name);
	struct table t;
	size_t q;

	buf_printf(&b, "Distribution of %s, ", name);
	text_count(&b, (double)d->side[BEFORE].total, 0);
	buf_puts(&b, " values before and ");
	text_count(&b, (double)d->side[AFTER].total, 0);
	buf_puts(&b, " after, to 1 part in 128");
	if (parts_is_experiment(in))
		buf_printf(&b, "; quantiles, mean of %zu and %zu sampled blocks, and the 95%% interval of the change"
			   " (Welch t over blocks)", d->blocks[BEFORE], d->blocks[AFTER]);
	buf_putc(&b, ':');
	para(out, &plain, buf_str(&b));
	buf_clear(&b);
	begin(&t, !width);
	for (q = 0; q < HIST_QUANTILES; q++) {
		table_cell(&t, "%s", hist_quantiles[q].name);
		table_cell(&t, "%.12s", s.unit);
		value_cell(quantile(d, q, BEFORE), &s, &t);
		if (!width)
			table_cell(&t, "%s", "");
		value_cell(quantile(d, q, AFTER), &s, &t);
		if (!width)
			table_cell(&t, "%s", "");
		change(&d->est[q], !width, &t);
	}
	table_write(&t, indent, width, out);
	table_release(&t);
	free(name);
}

void beside_counted(const struct report_input *in, unsigned indent, unsigned width, struct buf *out)
{
	size_t i;

	if (!in->counted || (!in->counted->n && !in->counted->n_dist))
		return;
	buf_putc(out, '\n');
	counters(in, indent, width, out);
	for (i = 0; i < in->counted->n_dist; i++) {
		buf_putc(out, '\n');
		distribution(in, &in->counted->dist[i], indent, width, out);
	}
}

/* --- one block or recording --- */

static void one_value(const char *name, const char *unit, double v, struct table *t)
{
	struct scale s = figure_scale(unit, fabs(v), 0);

	name_cell(name, t);
	value_cell(v, &s, t);
	table_cell(t, "%s", s.unit);
}

void show_counted(const struct counted *c, const char *records, struct buf *out)
{
	static const struct table_col cols[] = { { NULL, 0 }, { NULL, TABLE_RIGHT }, { NULL, 0 } };
	struct table t;
	size_t i, q;

	table_init(&t, cols, 3);
	for (i = 0; i < c->n; i++)
		if (c->v[i].supported)
			one_value(c->v[i].name, c->v[i].unit, c->v[i].est.before.mean, &t);
	for (i = 0; i < c->n_dist; i++) {
		for (q = 0; q < HIST_QUANTILES; q++) {
			char *name = mem_printf("%s %s", c->dist[i].name, hist_quantiles[q].name);

			one_value(name, c->dist[i].unit, c->dist[i].value[q][BEFORE], &t);
			free(name);
		}
	}
	if (t.cells.n)
		table_write(&t, 0, 0, out);
	else
		buf_puts(out, "Nothing was counted; --events and blocks without the profiler do.\n");
	table_release(&t);
	remarks(c, out);
	if (*records)
		buf_puts(out, "\nThe first records of tracepoints (time s, thread, [CPU]):\n");
	for (; *records; records += strcspn(records, "\n"), records += *records == '\n') {
		text_escape(out, records, strcspn(records, "\n"), false);
		buf_putc(out, '\n');
	}
}
