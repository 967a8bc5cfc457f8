/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop: when an experiment that runs "until its interval is narrow" has seen
 * enough, and intervals that stay valid however often somebody looks.
 *
 * A 95 % t interval is right for a number of pairs fixed in advance. Who looks
 * after each pair and stops when it pleases finds a difference between equals
 * sooner or later. A confidence sequence holds at all looks at once: the chance
 * that it ever leaves the truth out is 5 %, whoever stops it, when, and why.
 */
#ifndef KAB_PROFILE_STOP_H
#define KAB_PROFILE_STOP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What stands in the place of the t quantile in a confidence sequence over n
 * differences: Student's t under a normal mixture over effects of sd
 * STOP_EFFECT_SD (in units of the sd of one difference), inverted in closed form.
 * H. Robbins, Ann. Math. Statist. 41 (1970); the t version as in M. Lindon,
 * D. W. Ham, M. Tingley, I. Bojinov, arXiv 2210.08589, and H. Wang, A. Ramdas,
 * arXiv 2310.03722. INFINITY where n is too small for any statement.
 */
double stop_multiplier(size_t n, double alpha);
/* The p value that goes with it: valid at any time; 1 where nothing can be said. */
double stop_p(size_t n, double t);

/* The effect, in sds of one pair's difference, at which the sequence is sharpest: large effects, few pairs. */
#define STOP_EFFECT_SD 1.4142135623730951

/* Fewer pairs than this end no experiment by their narrowness: one pair more or less would change the sd. */
#define STOP_MIN_PAIRS 6
/* And no experiment has more: what is not narrow then will not be in any reasonable time. */
#define STOP_MAX_PAIRS 2000

/*
 * The t interval of the pairs at which the width alone ended an experiment is right at the first order and too
 * narrow at the second (M. Woodroofe, Ann. Statist. 5, 1977): the end comes at a moment when the spread looks
 * small. The factor, 1 + 2/n, undoes that; tests/unit/method-sim-test.c measures that 93 to 97 of 100 then hold
 * the truth.
 */
double stop_widening(size_t n);

/* How many pairs it takes for the half width to be at most `half`, when one difference has this sd; 0: too many. */
size_t stop_pairs_needed(double sd, double half, bool sequential);

struct stop_state {
	size_t pairs;			/* done */
	double rel, rel_lo, rel_hi;	/* the confidence sequence so far, as fractions of the before mean */
	double half;			/* its half width; INFINITY until there is one */
	size_t more;			/* pairs still needed, from the sd so far; 0 when done or unknown */
	bool known;			/* `more` is an estimate */
	bool done;			/* narrow enough */
};
/*
 * Looks at the pairs done so far: before[i] and after[i] ran side by side.
 * `until` is the half width asked for, as a fraction of the before mean.
 */
struct stop_state stop_look(const double *before, const double *after, size_t pairs, double until);

#endif
