/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures: costs of a diff in one unit for a whole view, so that columns can be
 * read down. The unit and the decimals follow the root's value. Pure.
 */
#ifndef KAB_TUI_FIGURES_H
#define KAB_TUI_FIGURES_H

#include "base/buf.h"
#include "profile/diff.h"

struct figures {
	enum norm norm;
	enum measure measure;
	double scale[SIDES];		/* norm_scale(): raw to the norm's own unit */
	double divisor;			/* the norm's unit to the one shown */
	int decimals;
	char unit[40];			/* "us/op" */
	char formula[160];		/* norm_formula(): what was divided by what */
};

void figures_init(struct figures *f, const struct diff *d, enum norm n, enum measure m,
		  const char *operation);
/* Of raw values per side and measure, as in diff_node and flat_diff_row. */
double figures_side(const struct figures *f, const double raw[SIDES][MEASURES], enum side s);
double figures_diff(const struct figures *f, const double raw[SIDES][MEASURES]);
/* The value of one side; "-" where it has none. */
void figures_put_side(const struct figures *f, const double raw[SIDES][MEASURES], enum side s,
		      struct buf *out);
/* A value in the norm's own unit, as shown; `sign` forces "+". */
void figures_put(const struct figures *f, double value, bool sign, struct buf *out);
/* after / before - 1; NaN when before is 0. */
double figures_relative(double before, double after);
/* "+4.2 %", "new", "gone", "" when both are 0. */
void figures_put_relative(double before, double after, struct buf *out);

#endif
