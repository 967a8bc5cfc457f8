/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats: what the blocks allow one to say. Pure arithmetic; distributions from GSL.
 */
#ifndef KAB_PROFILE_STATS_H
#define KAB_PROFILE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/experiment.h"

struct summary {
	size_t n;
	double mean, sd;		/* sd with n - 1; NaN for n < 2 */
	double median, min, max;
};
/* All NaN and n 0 for an empty set. `x` is not changed. */
struct summary stats_summary(const double *x, size_t n);

enum verdict {
	VERDICT_TOO_FEW,		/* under 2 blocks a side: no verdict */
	VERDICT_UNDECIDED,		/* the interval holds 0 */
	VERDICT_BETTER, VERDICT_WORSE,
	VERDICT_NOT_COMPARABLE,		/* the machine changed under the blocks: compare_refuse() */
};

/* Difference after - before of two sets of blocks. */
struct estimate {
	struct summary before, after;
	double diff;			/* of the means */
	double lo, hi;			/* 95 % confidence interval of diff */
	double rel, rel_lo, rel_hi;	/* the same as a fraction of the before mean; NaN when that is 0 */
	double p;			/* two-sided */
	double df;
	enum verdict verdict;		/* with the direction applied */
	bool sd_zero;			/* both sides repeat exactly: the interval is the resolution */
	const char *method;		/* "Welch t interval over blocks", static */
};
/*
 * Welch's unequal-variances t interval (B. L. Welch, Biometrika 34, 1947).
 * `resolution` is the smallest difference the clock can show on one block, in
 * the unit of x; it widens an interval that would otherwise be zero.
 */
struct estimate stats_welch(const double *before, size_t n_before, const double *after, size_t n_after,
			    double resolution, enum direction better);

/* "faster", "slower", "higher", "lower", "undecided", "too few blocks" */
const char *verdict_name(enum verdict v, enum direction d);

/* A reproducible generator (xoshiro256** of Blackman and Vigna), for block orders. */
struct rng { uint64_t s[4]; };
void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n);	/* unbiased, n > 0 */

/*
 * Balanced random order of `pairs` before and `pairs` after blocks: each pair
 * holds one of each in random order, so that no variant ever runs more than
 * twice in a row and drift falls on both alike. out has 2 * pairs elements.
 */
void stats_block_order(uint64_t seed, size_t pairs, enum variant *out);

#endif
