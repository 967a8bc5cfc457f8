/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict: what the blocks of one metric allow one to say, by rules that stand
 * before any block has run:
 *
 *   1. Blocks that ran in pairs are compared within pairs (paired t); others by Welch's t.
 *   2. Where the number of pairs was not fixed in advance (--until, or stopped by hand), the interval is a
 *      confidence sequence: the same t, with a multiplier that holds at all looks at once (profile/stop.h).
 *   3. Where it was fixed and shape has found outliers or two modes, the rank test that goes with the design
 *      decides instead (signed-rank, or Mann-Whitney), if the blocks are enough for it to have an interval.
 *   4. The interval without 0: faster or slower. With 0 and inside the margin: equivalent. Else undecided.
 *      Under two blocks a side: none.
 *
 * Whatever does not decide is kept beside it.
 */
#ifndef KAB_PROFILE_VERDICT_H
#define KAB_PROFILE_VERDICT_H

#include "profile/stats.h"

#define VERDICT_MARGIN 0.01		/* of the before mean, where nobody asked for another */

struct verdict_design {
	bool sequential;		/* the number of pairs was not fixed in advance */
	double margin;			/* 0: VERDICT_MARGIN */
};

/*
 * The design of an experiment as stored. Only one that ran to its planned end had its number of pairs fixed in
 * advance: who looks at one that runs, or stopped it, may have looked before.
 */
struct verdict_design verdict_design_of(const struct experiment *e);

/*
 * `paired`: before[i] and after[i] ran side by side and n_before equals n_after. `shaky`: shape found
 * outliers or modes. `resolution` and `better` as for stats_welch().
 */
struct estimate verdict_judge(const double *before, size_t n_before, const double *after, size_t n_after, bool paired,
			   bool shaky, double resolution, enum direction better, const struct verdict_design *d);

/*
 * Before against before, measured in the same experiment: what noise alone makes
 * of the very same comparison.
 */
struct noise_floor {
	size_t n;			/* pairs; 0: not measured */
	struct effect effect;		/* "again" minus before */
	double worst;			/* the end of its interval farther from 0, as a fraction of the before mean */
	bool split;			/* no extra blocks: every other before block against the rest */
};
/* before[i] and again[i] ran side by side. */
struct noise_floor noise_floor_paired(const double *before, const double *again, size_t n, double resolution);
/* Without such blocks: the before blocks with even places against those with odd ones; n 0 under four. */
struct noise_floor noise_floor_split(const double *before, size_t n, double resolution);

#endif
