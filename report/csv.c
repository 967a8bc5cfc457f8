// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * csv: one row a metric and one a function, for spreadsheets. RFC 4180; the
 * doubles read back the same, an empty field is a figure that there is not.
 */
#include "report/csv.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/figure.h"
#include "report/parts.h"

static void text(struct buf *out, const char *s)
{
	struct buf b = BUF_INIT;
	const char *p;

	text_escape(&b, s, strlen(s), false);
	buf_putc(out, '"');
	for (p = buf_str(&b); *p; p++) {
		if (*p == '"')
			buf_putc(out, '"');
		buf_putc(out, *p);
	}
	buf_putc(out, '"');
	buf_release(&b);
}

static void field(struct buf *out, double v)
{
	buf_putc(out, ',');
	if (isfinite(v))
		figure_exact(out, v);
}

static void metric_row(const struct metric *m, struct buf *out)
{
	const struct estimate *e = &m->est;
	const double fields[] = {
		(double)e->before.n, e->before.mean, e->before.sd,
		(double)e->after.n, e->after.mean, e->after.sd,
		e->diff, e->lo, e->hi, 100 * e->rel, e->p,
	};
	size_t i;

	buf_puts(out, "metric,");
	text(out, m->name);
	buf_puts(out, ",,");
	text(out, m->unit);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		field(out, fields[i]);
	buf_putc(out, ',');
	text(out, parts_verdict(m));
	buf_puts(out, "\r\n");
}

static void function_row(const struct report_input *in, const struct flat_diff_row *r, const char *unit,
			 struct buf *out)
{
	const struct diff *d = in->cmp->diff;
	const struct symbol *s = &d->symtab.symbols[r->symbol];
	enum measure m = parts_measure(in);
	bool known = r->has_interval && parts_has_intervals(in);
	double before = r->self[BEFORE][m] * norm_scale(d, in->norm, BEFORE, m);
	double after = r->self[AFTER][m] * norm_scale(d, in->norm, AFTER, m);
	const double fields[] = {
		NAN, before, NAN,
		NAN, after, NAN,
		after - before, known ? r->self_lo : NAN, known ? r->self_hi : NAN,
		before != 0 ? 100 * (after - before) / fabs(before) : NAN, NAN,
	};
	size_t i;

	buf_puts(out, "function,");
	text(out, s->name);
	buf_putc(out, ',');
	text(out, s->dso);
	buf_putc(out, ',');
	text(out, unit);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		field(out, fields[i]);
	buf_puts(out, ",\r\n");
}

int csv_write(const struct report_input *in, struct buf *out, struct err *err)
{
	char formula[160], unit[32];
	size_t i;

	(void)err;
	buf_puts(out, "kind,name,dso,unit,n_before,before,sd_before,n_after,after,sd_after,"
		      "difference,interval_lo,interval_hi,relative_percent,p,verdict\r\n");
	for (i = 0; i < in->cmp->n_metrics; i++)
		metric_row(&in->cmp->metrics[i], out);
	if (!in->cmp->diff)
		return 0;
	norm_formula(in->cmp->diff, in->norm, parts_measure(in), NULL, formula, unit);
	for (i = 0; i < in->cmp->n_flat; i++)
		function_row(in, &in->cmp->flat[i], unit, out);
	return 0;
}
