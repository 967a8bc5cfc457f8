// SPDX-License-Identifier: GPL-2.0-or-later
/* ranks: see ranks.h. By own samples, as the tables are; functions with equally many share the better place. */
#include "report/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/report.h"

struct place {
	size_t at, of;			/* from 1, of how many functions; at 0: no sample in it */
	double samples, share;		/* share: per cent */
};

static struct place place_of(const struct profile *p, const char *function)
{
	enum measure m = p->samples != 0 ? COUNT : PERIOD;
	struct place place = { 0 };
	struct flat_row *rows;
	double own = 0;
	size_t n, i;

	rows = profile_flat(p, m, &n);
	for (i = 0; i < n && rows[i].self[m] > 0; i++)
		if (!strcmp(p->symtab.symbols[rows[i].symbol].name, function) && rows[i].self[m] > own)
			own = rows[i].self[m];
	place.of = i;
	for (i = 0; own > 0 && rows[i].self[m] > own; i++)
		;
	place.at = own > 0 ? i + 1 : 0;
	place.samples = own;
	place.share = own > 0 ? 100 * own / p->nodes[NODE_ROOT].total[m] : 0;
	free(rows);
	return place;
}

static void side(const struct report_input *in, enum side s, const char *function, struct buf *out)
{
	struct place p = place_of(in->cmp->side[s], function);
	char *title = parts_side(in, s);

	if (p.at) {
		buf_printf(out, "number %zu of %zu %s (", p.at, p.of, title);
		figure_samples(out, p.samples);
		buf_printf(out, " samples, %.4f %%)", p.share);
	} else {
		buf_printf(out, "in no sample %s", title);
	}
	free(title);
}

void ranks(const struct report_input *in, struct buf *out)
{
	size_t i;

	if (!in->facts || !in->cmp->side[BEFORE] || !in->cmp->side[AFTER])
		return;
	for (i = 0; i < in->facts->n_functions; i++) {
		char *name = para_ascii(in->facts->functions[i].name);

		buf_printf(out, "%s%s() is ", out->len ? " " : "", name);
		side(in, BEFORE, in->facts->functions[i].name, out);
		buf_puts(out, " and ");
		side(in, AFTER, in->facts->functions[i].name, out);
		buf_puts(out, ", by its own samples.");
		free(name);
	}
}
