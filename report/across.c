// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * across: one case on several machines, as text: a sentence about wall time, and
 * a row a machine below each metric's name. Says nothing when there is one machine.
 */
#include <math.h>
#include <stdlib.h>

#include "report/figure.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/report.h"
#include "report/table.h"

static const char *verdict_of(const struct across_metric *m, enum verdict v)
{
	return v == VERDICT_TOO_FEW ? "too few" : verdict_name(v, m->better);
}

static void percent_words(double value, double lo, double hi, struct buf *out)
{
	figure_percent(out, value, figure_percent_decimals(lo, hi), true);
	buf_puts(out, " (95% interval ");
	figure_percent_interval(out, lo, hi);
	buf_putc(out, ')');
}

/* The spread between machines, as far as it shows. */
static void spread_words(const struct combined *c, struct buf *out)
{
	if (c->tau > 0) {
		buf_puts(out, " Beside their noise the machines differ from one another, with a standard deviation of ");
		figure_percent(out, c->tau, figure_percent_decimals(0, c->tau), false);
		buf_printf(out, " (%.0f%% of the spread; Cochran's Q %.3g, p %.2g).", 100 * c->i2, c->q, c->q_p);
	} else {
		buf_printf(out, " The machines do not differ by more than their noise (Cochran's Q %.3g, p %.2g).", c->q,
			   c->q_p);
	}
}

static void result(const struct report_input *in, const struct across_metric *m, struct buf *out)
{
	const struct combined *c = &m->all;
	char *op = parts_operation(in);

	if (c->n < 2) {
		buf_printf(out, "Of %zu machines %zu has a difference with an interval in %s per %s, so there is none across "
			   "machines.", in->across->n, c->n, m->name, op);
	} else {
		buf_printf(out, "Across %zu machines: %s per %s changes by ", c->n, m->name, op);
		percent_words(c->value, c->lo, c->hi, out);
		buf_printf(out, ", %s; %s. On these machines alone: ", verdict_of(m, m->verdict), c->method);
		percent_words(c->fixed, c->fixed_lo, c->fixed_hi, out);
		buf_puts(out, ", weighted by the inverse variances.");
		spread_words(c, out);
	}
	free(op);
}

static void machine_row(const struct across *a, const struct across_metric *m, size_t i, struct table *t)
{
	const struct estimate *e = &m->est[i];
	double size = fmax(isfinite(e->before.mean) ? fabs(e->before.mean) : 0,
			   isfinite(e->after.mean) ? fabs(e->after.mean) : 0);
	struct scale s = figure_scale_bare(m->unit, size, (e->hi - e->lo) / 2);
	char *target = para_ascii(a->machines[i].target), *kernel = para_ascii(a->machines[i].kernel);
	struct buf cell = BUF_INIT;

	table_cell(t, "e%lld %s", (long long)a->machines[i].experiment, target);
	table_cell(t, "%s", kernel);
	if (e->before.n || e->after.n) {
		figure(&cell, e->before.mean, &s, false);
		buf_printf(&cell, " %s", s.unit);
		table_take(t, &cell);
		figure(&cell, e->after.mean, &s, false);
		buf_printf(&cell, " %s", s.unit);
		table_take(t, &cell);
		figure_percent(&cell, e->rel, figure_percent_decimals(e->rel_lo, e->rel_hi), true);
		table_take(t, &cell);
		figure_percent_interval(&cell, e->rel_lo, e->rel_hi);
		table_take(t, &cell);
		table_cell(t, "%s", verdict_of(m, e->verdict));
	} else {
		table_cell(t, "-");
		table_cell(t, "-");
		table_cell(t, "-");
		table_cell(t, "-");
		table_cell(t, "%s", exp_state_name(a->machines[i].state));
	}
	buf_release(&cell);
	free(target);
	free(kernel);
}

static void metric_table(const struct across *a, const struct across_metric *m, struct buf *out)
{
	const struct table_col cols[] = {
		{ m->name, TABLE_FLEX }, { "kernel", TABLE_FLEX }, { "before", TABLE_RIGHT }, { "after", TABLE_RIGHT },
		{ "change", TABLE_RIGHT }, { "95% interval", TABLE_RIGHT }, { "", 0 },
	};
	struct buf cell = BUF_INIT;
	struct table t;
	size_t i;

	table_init(&t, cols, sizeof(cols) / sizeof(cols[0]));
	for (i = 0; i < a->n; i++)
		machine_row(a, m, i, &t);
	table_cell(&t, "across");
	for (i = 0; i < 3; i++)
		table_cell(&t, "%s", "");
	figure_percent(&cell, m->all.value, figure_percent_decimals(m->all.lo, m->all.hi), true);
	table_take(&t, &cell);
	figure_percent_interval(&cell, m->all.lo, m->all.hi);
	table_take(&t, &cell);
	table_cell(&t, "%s", verdict_of(m, m->verdict));
	table_write(&t, 2, 0, out);
	table_release(&t);
	buf_release(&cell);
}

void report_across(const struct report_input *in, struct buf *out)
{
	static const struct para_opts plain = { 0 };
	struct buf text = BUF_INIT;
	size_t i;

	if (!in->across || !in->across->n_metrics)
		return;
	result(in, &in->across->metrics[0], &text);
	para(out, &plain, buf_str(&text));
	buf_putc(out, '\n');
	for (i = 0; i < in->across->n_metrics; i++) {
		metric_table(in->across, &in->across->metrics[i], out);
		buf_putc(out, '\n');
	}
	buf_release(&text);
}
