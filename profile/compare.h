/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare: the one comparison that screen, text, mail and JSON are views of.
 */
#ifndef KAB_PROFILE_COMPARE_H
#define KAB_PROFILE_COMPARE_H

#include "profile/change.h"
#include "profile/diff.h"
#include "profile/caveat.h"
#include "profile/verdict.h"

/* What one block contributes. */
struct compare_block {
	const struct run *run;			/* borrowed */
	const struct profile *profile;		/* borrowed; NULL when not sampled or not loaded */
};

/*
 * One measured quantity per operation, over complete blocks that are no warm-up.
 * Sampling costs time: where both sides have blocks that ran without the
 * profiler, times come from those alone, and profiles from the others.
 */
struct metric {
	const char *name;			/* "wall time", "user time", "system time" (static) */
	const char *unit;			/* "ns/op" (static) */
	enum direction better;
	struct summary native;			/* n 0 when there was no native block */
	struct estimate est;			/* by the rules of profile/verdict.h */
	/* Each side less native, its `before` being native: what the routing costs, for a side whose code is the
	 * kernel's own. Undetermined (VERDICT_TOO_FEW) without native blocks. */
	struct estimate over_native[SIDES];
	struct noise_floor floor;		/* before against before; n 0 when not measured */
	double *values[VARIANT_COUNT];		/* per block, in order; before[i] and after[i] are a pair where
						 * est.pairs is not 0; owned */
	size_t n_values[VARIANT_COUNT];
};

struct compare {
	/* metrics[0] is wall time; a time that is 0 in every block was not measured and is left out */
	struct metric *metrics; size_t n_metrics;
	struct diff *diff;			/* of all sampled blocks of each side; NULL without */
	enum measure measure;			/* of the flat rows' order and intervals */
	struct flat_diff_row *flat; size_t n_flat;
	struct stack_change *stacks;		/* of each node of diff; NULL without two sampled blocks a side */
	struct profile *side[SIDES];		/* each side folded over its blocks; NULL without */
	double samples[SIDES], lost[SIDES];
	size_t blocks[VARIANT_COUNT];		/* complete, not warm-up */
	size_t left_out;			/* warm-up, incomplete, failed, without operations, without partner */
	struct caveats caveats;		/* what is to be known of blocks and profiles */
	bool refused;				/* the profiles are not comparable: no diff; `caveats` says why */
};

/*
 * Builds it from the blocks of an experiment, in the order they ran. Profiles of one side are merged.
 *
 * Blocks are in pairs where each before has an after next to it among the blocks of its kind (timed, or
 * sampled), as the block order of an experiment has them; the last may have lost its partner to an
 * interruption and is then left out. Other orders are compared as independent sets. `design` NULL: a number
 * of blocks fixed in advance, the usual margin.
 */
struct compare *compare_build(const struct compare_block *blocks, size_t n, const struct verdict_design *design);
/*
 * The same for any two profiles (recordings, imports): one block a side, so no
 * intervals. Each argument may be NULL; a run without operations counts as one;
 * the kernels' releases may be NULL. Profiles that cannot be compared are refused.
 */
struct compare *compare_pair(const struct run *before, const struct profile *p_before, const char *kernel_before,
			     const struct run *after, const struct profile *p_after, const char *kernel_after);
void compare_free(struct compare *c);

#endif
