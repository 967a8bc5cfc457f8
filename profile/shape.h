/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape: what a set of blocks looks like beyond mean and spread, and what that
 * means for a comparison: repeats, ties, outliers, drift, two modes, a slow
 * first block. Each recogniser is a test with a stated rate of false alarms.
 */
#ifndef KAB_PROFILE_SHAPE_H
#define KAB_PROFILE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/caveat.h"

/* One set, in the order its blocks ran; `at` is the place of each in the whole experiment. */
struct shape_set {
	const char *name;		/* "before", "after": static */
	const double *x;
	const unsigned *at;		/* growing */
	size_t n;
};

/*
 * Outliers by the generalised extreme Studentised deviate test (B. Rosner, Technometrics 25, 1983), which up
 * to `most` outliers cannot hide from by standing together. `alpha` is the chance that a normal sample shows
 * any. which[most] takes their places, the farthest first; the number of them is returned. n >= 3 or none.
 */
size_t shape_outliers(const double *x, size_t n, double alpha, size_t most, size_t *which);

/*
 * Trend by Kendall's tau of the values against their order (H. B. Mann, Econometrica 13, 1945), normal
 * approximation with ties; the slope is Theil's and Sen's median of all slopes. n >= 2.
 */
struct shape_trend { double tau, p, slope; };
struct shape_trend shape_trend(const double *x, size_t n);

/*
 * The share of the sum of squares about the means that the best cut into a low and a high part takes away,
 * in all sets together; each part has at least 2 values and a sixth of its set. 0 where nothing can be cut.
 */
double shape_split(const struct shape_set *sets, size_t n_sets);
/* The share that 1 in 100 samples without modes go beyond: the flat distribution's, which is the widest. */
double shape_split_limit(size_t n);

enum { SHAPE_OUTLIER = 1, SHAPE_MODES = 2, SHAPE_DRIFT = 4, SHAPE_SLOW_FIRST = 8, SHAPE_IDENTICAL = 16,
       SHAPE_TIES = 32 };

/*
 * Looks at both sides of a metric and adds what there is to say; the kinds found are returned. `resolution`
 * is the smallest difference the clock shows on one block: nothing below it is a caveat. `paired`: the
 * comparison is made within pairs, which takes drift out.
 */
unsigned shape_caveats(const struct shape_set sets[2], double resolution, bool paired, const char *metric,
			struct caveats *out);

#endif
