/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figure: how a number is written, so that every text view rounds alike.
 * A value that is not a number is written "-": never "nan" or "inf".
 */
#ifndef KAB_REPORT_FIGURE_H
#define KAB_REPORT_FIGURE_H

#include <stdbool.h>

struct buf;

/* One scale for the figures that stand side by side in a row or column. */
struct scale {
	double div;		/* shown = value / div */
	int decimals;
	char unit[32];		/* of what is shown: "us/op"; ASCII, borrowed text cut to fit */
};

/*
 * The scale on which `magnitude` shows four significant digits; times ("ns",
 * "ns/op") move to the unit that reads best. `fine` (0: none), the half width
 * of an interval, asks for up to two digits more where it is narrow.
 */
struct scale figure_scale(const char *unit, double magnitude, double fine);
/* The same without what the unit is divided by: "us" for "us/op". */
struct scale figure_scale_bare(const char *unit, double magnitude, double fine);

void figure(struct buf *out, double value, const struct scale *s, bool sign);
/* "[-3.41, -3.37]"; "-" where there is no interval. */
void figure_interval(struct buf *out, double lo, double hi, const struct scale *s);

/* A fraction as per cent: "-24.2%". At most eight characters for anything up to 1e99. */
void figure_percent(struct buf *out, double fraction, int decimals, bool sign);
/* "[-24.9, -23.5]%"; "-" where there is no interval. */
void figure_percent_interval(struct buf *out, double lo, double hi);
/* Decimals that show an interval of this width (in fractions): 1, for narrow ones 2 or 3. */
int figure_percent_decimals(double lo, double hi);

/* A number of samples: whole below 1e12, else at most twelve characters. */
void figure_samples(struct buf *out, double n);
/* So that reading it back gives the same double; no more digits than that takes. */
void figure_exact(struct buf *out, double value);

#endif
