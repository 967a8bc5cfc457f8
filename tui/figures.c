// SPDX-License-Identifier: GPL-2.0-or-later
/* figures: see figures.h. */
#include "tui/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define DIGITS 5			/* of the root's value, before and behind the point */

static void choose_unit(struct figures *f, double root)
{
	static const struct { double size; const char *name; } units[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" },
	};
	char rest[sizeof(f->unit)];
	size_t u = 0;

	if (strncmp(f->unit, "ns", 2) || (f->unit[2] && f->unit[2] != '/'))
		return;
	while (u < 3 && root < units[u].size)
		u++;
	f->divisor = units[u].size;
	snprintf(rest, sizeof(rest), "%s", f->unit + 2);
	snprintf(f->unit, sizeof(f->unit), "%s%.30s", units[u].name, rest);
}

void figures_init(struct figures *f, const struct diff *d, enum norm n, enum measure m, const char *operation)
{
	double root = 0, shown;
	char unit[32] = "";
	int s;

	memset(f, 0, sizeof(*f));
	f->norm = n;
	f->measure = m;
	f->divisor = 1;
	for (s = 0; s < SIDES; s++) {
		f->scale[s] = norm_scale(d, n, (enum side)s, m);
		if (d->n)
			root = fmax(root, fabs(d->nodes[0].total[s][m] * f->scale[s]));
	}
	norm_formula(d, n, m, operation ? operation : "operation", f->formula, unit);
	snprintf(f->unit, sizeof(f->unit), "%s", unit);
	choose_unit(f, root);
	shown = root / f->divisor;
	if (n == NORM_SHARE)
		f->decimals = 2;
	else if (n == NORM_RAW && m == COUNT)
		f->decimals = shown == floor(shown) ? 0 : 2;
	else
		f->decimals = shown >= 1 ? DIGITS - 1 - (int)fmin(floor(log10(shown)), DIGITS - 1) : DIGITS;
}

double figures_side(const struct figures *f, const double raw[SIDES][MEASURES], enum side s)
{
	return raw[s][f->measure] * f->scale[s];
}

double figures_diff(const struct figures *f, const double raw[SIDES][MEASURES])
{
	return figures_side(f, raw, AFTER) - figures_side(f, raw, BEFORE);
}

void figures_put(const struct figures *f, double value, bool sign, struct buf *out)
{
	double shown = value / f->divisor, unit = pow(10, -f->decimals);

	/* No "-0.000": what rounds to nothing has no sign. */
	if (fabs(shown) < unit / 2)
		shown = 0;
	if (sign && shown > 0)
		buf_putc(out, '+');
	text_count(out, shown, f->decimals);
}

void figures_put_side(const struct figures *f, const double raw[SIDES][MEASURES], enum side s,
		      struct buf *out)
{
	if (raw[s][f->measure] == 0)
		buf_putc(out, '-');
	else
		figures_put(f, figures_side(f, raw, s), false, out);
}

double figures_relative(double before, double after)
{
	return before != 0 ? after / before - 1 : NAN;
}

void figures_put_relative(double before, double after, struct buf *out)
{
	double rel = 100 * figures_relative(before, after);

	if (before == 0 && after == 0)
		return;
	if (before == 0)
		buf_puts(out, "new");
	else if (after == 0)
		buf_puts(out, "gone");
	else if (fabs(rel) >= 1000)
		buf_printf(out, "x%.1f", after / before);
	else
		buf_printf(out, "%+.1f %%", fabs(rel) < 0.05 ? 0.0 : rel);
}
