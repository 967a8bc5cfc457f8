// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * figure: numbers to text, for the tables and sentences of this room. Writes
 * to the buffer it is given and nowhere else; the JSON and CSV writers use
 * figure_exact() or their library, so that rounding is for people only.
 */
#include "report/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define DIGITS 4		/* significant digits of a mean */
#define DIGITS_FINE 6		/* the same beside a narrow interval */

static int whole_digits(double mag)
{
	return mag >= 1 ? (int)floor(log10(mag)) + 1 : 1;
}

static int clamp(int v, int lo, int hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* The rest of the unit behind "ns", or NULL when it is no time. */
static const char *time_suffix(const char *unit)
{
	if (strncmp(unit, "ns", 2) || (unit[2] && unit[2] != '/'))
		return NULL;
	return unit + 2;
}

struct scale figure_scale(const char *unit, double magnitude, double fine)
{
	static const struct { double size; const char *name; } times[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" },
	};
	struct scale s = { .div = 1 };
	const char *suffix = time_suffix(unit);
	double mag = isfinite(magnitude) ? fabs(magnitude) : 0;
	size_t i = 0;
	int whole;

	if (suffix) {
		while (i < 3 && mag < times[i].size)
			i++;
		s.div = times[i].size;
		snprintf(s.unit, sizeof(s.unit), "%s%s", times[i].name, suffix);
	} else {
		snprintf(s.unit, sizeof(s.unit), "%s", unit);
	}
	mag /= s.div;
	whole = whole_digits(mag);
	s.decimals = mag > 0 ? clamp(DIGITS - whole, 0, DIGITS) : 0;
	if (isfinite(fine) && fine > 0) {
		int need = 1 - (int)floor(log10(fine / s.div));
		int most = clamp(DIGITS_FINE - whole, 0, DIGITS_FINE);

		if (need > s.decimals && most > s.decimals)
			s.decimals = need < most ? need : most;
	}
	return s;
}

struct scale figure_scale_bare(const char *unit, double magnitude, double fine)
{
	struct scale s = figure_scale(unit, magnitude, fine);

	*strchrnul(s.unit, '/') = '\0';
	return s;
}

/* printf's rounding, without "-0.00". */
static void fixed(struct buf *out, double v, int decimals, bool sign)
{
	char text[400];

	if (!isfinite(v)) {
		buf_putc(out, '-');
		return;
	}
	if (fabs(v) >= 1e7)
		snprintf(text, sizeof(text), sign ? "%+.2g" : "%.2g", v);
	else
		snprintf(text, sizeof(text), sign ? "%+.*f" : "%.*f", decimals, v);
	if (!strpbrk(text, "123456789") && (*text == '-' || *text == '+'))
		memmove(text, text + 1, strlen(text));
	buf_puts(out, text);
}

void figure(struct buf *out, double value, const struct scale *s, bool sign)
{
	fixed(out, value / s->div, s->decimals, sign);
}

void figure_interval(struct buf *out, double lo, double hi, const struct scale *s)
{
	if (!isfinite(lo) || !isfinite(hi)) {
		buf_putc(out, '-');
		return;
	}
	buf_putc(out, '[');
	figure(out, lo, s, true);
	buf_puts(out, ", ");
	figure(out, hi, s, true);
	buf_putc(out, ']');
}

/* Without the sign of per cent, at most six characters: "-24.9", "-100", "+12345", "+1e+07". */
static void percent(struct buf *out, double p, int decimals, bool sign)
{
	char text[32];

	if (fabs(p) < 1000) {
		fixed(out, p, fabs(p) < 99.95 ? decimals : 0, sign);
		return;
	}
	snprintf(text, sizeof(text), fabs(p) < 1e5 ? sign ? "%+.0f" : "%.0f" : sign ? "%+.0e" : "%.0e", p);
	buf_puts(out, isfinite(p) ? text : "-");
}

void figure_percent(struct buf *out, double fraction, int decimals, bool sign)
{
	percent(out, 100 * fraction, decimals, sign);
	if (isfinite(fraction))
		buf_putc(out, '%');
}

int figure_percent_decimals(double lo, double hi)
{
	double half = 100 * (hi - lo) / 2;

	if (!isfinite(half) || half >= 0.05)
		return 1;
	return half >= 0.005 ? 2 : 3;
}

void figure_percent_interval(struct buf *out, double lo, double hi)
{
	int decimals = figure_percent_decimals(lo, hi);

	if (!isfinite(lo) || !isfinite(hi)) {
		buf_putc(out, '-');
		return;
	}
	buf_putc(out, '[');
	percent(out, 100 * lo, decimals, true);
	buf_puts(out, ", ");
	percent(out, 100 * hi, decimals, true);
	buf_puts(out, "]%");
}

void figure_samples(struct buf *out, double n)
{
	if (!isfinite(n))
		buf_putc(out, '-');
	else if (n == floor(n) && fabs(n) < 1e12)
		buf_printf(out, "%.0f", n == 0 ? 0 : n);
	else
		buf_printf(out, "%.6g", n);
}

void figure_exact(struct buf *out, double value)
{
	char text[40];
	int digits;

	if (value == floor(value) && fabs(value) < 0x1p53) {
		buf_printf(out, "%.0f", value == 0 ? 0 : value);
		return;
	}
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(out, text);
}
