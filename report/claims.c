// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * claims: see claims.h. Which metric answers a claim is told from its words and
 * unit; a claim that no metric answers is shown as such, never guessed at.
 */
#include "report/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/table.h"

static bool is_time(const char *unit)
{
	static const char *const units[] = { "s", "ms", "us", "ns", "sec", "seconds", "minutes", "min" };
	size_t len = strcspn(unit, "/"), i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i]) == len && !strncmp(unit, units[i], len))
			return true;
	return false;
}

/* Words in a claim that name a part of the time; all other times are wall time. */
static const struct { const char *word, *metric; } parts_of_time[] = {
	{ "user", "user time" },
	{ "sys", "system time" },
};

const struct metric *claims_metric(const struct compare *c, const struct claim *claim)
{
	const char *want = "wall time";
	size_t i;

	if (!claim->unit || !is_time(claim->unit))
		return NULL;
	for (i = 0; claim->metric && i < sizeof(parts_of_time) / sizeof(parts_of_time[0]); i++)
		if (strcasestr(claim->metric, parts_of_time[i].word))
			want = parts_of_time[i].metric;
	for (i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].name, want))
			return &c->metrics[i];
	return NULL;
}

double claims_change(const struct claim *claim)
{
	double change = (claim->after - claim->before) / fabs(claim->before);

	return isfinite(change) ? change : NAN;
}

/* As the mail has it: no more digits than a reader would have printed. */
static void claimed(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, "%.5g", v);
	else
		buf_putc(out, '-');
}

void claims_mail(const struct report_input *in, struct buf *out)
{
	static const struct table_col cols[] = {
		{ "claim", TABLE_FLEX }, { "", 0 }, { "before", TABLE_RIGHT }, { "after", TABLE_RIGHT },
		{ "change", TABLE_RIGHT }, { "here", TABLE_RIGHT }, { "", 0 },
	};
	static const struct para_opts plain = { 0 };
	struct table t;
	size_t i;

	if (!in->facts || !in->facts->n_claims)
		return;
	para(out, &plain, "What the patch mail claims, and the change measured here:");
	buf_putc(out, '\n');
	table_init(&t, cols, sizeof(cols) / sizeof(cols[0]));
	for (i = 0; i < in->facts->n_claims; i++) {
		const struct claim *claim = &in->facts->claims[i];
		const struct metric *m = claims_metric(in->cmp, claim);
		char *name = para_ascii(claim->metric), *unit = para_ascii(claim->unit);
		struct buf b = BUF_INIT;

		table_cell(&t, "%s", name);
		table_cell(&t, "%.8s", unit);
		claimed(&b, claim->before);
		table_take(&t, &b);
		claimed(&b, claim->after);
		table_take(&t, &b);
		figure_percent(&b, claims_change(claim), 1, true);
		table_take(&t, &b);
		figure_percent(&b, m ? m->est.rel : NAN, 1, true);
		table_take(&t, &b);
		table_cell(&t, "%s", m ? parts_verdict(m) : "no metric");
		free(name);
		free(unit);
	}
	table_write(&t, 2, MAIL_COLUMNS, out);
	table_release(&t);
	buf_putc(out, '\n');
}
