/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare: the one comparison that screen, text, mail and JSON are views of.
 */
#ifndef KAB_PROFILE_COMPARE_H
#define KAB_PROFILE_COMPARE_H

#include "profile/diff.h"
#include "profile/stats.h"

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
	struct estimate est;
	/* Each side less native, its `before` being native: what the routing costs, for a side whose code is the
	 * kernel's own. Undetermined (VERDICT_TOO_FEW) without native blocks. */
	struct estimate over_native[SIDES];
	double *values[VARIANT_COUNT];		/* per block, in order; owned */
	size_t n_values[VARIANT_COUNT];
};

struct compare {
	/* metrics[0] is wall time; a time that is 0 in every block was not measured and is left out */
	struct metric *metrics; size_t n_metrics;
	struct diff *diff;			/* of all sampled blocks of each side; NULL without */
	enum measure measure;			/* of the flat rows' order and intervals */
	struct flat_diff_row *flat; size_t n_flat;
	struct profile *side[SIDES];		/* each side folded over its blocks; NULL without */
	double samples[SIDES], lost[SIDES];
	size_t blocks[VARIANT_COUNT];		/* complete, not warm-up */
	char *not_comparable;			/* why, in sentences; NULL: it is */
	size_t left_out;			/* warm-up, incomplete, failed, without operations */
};

/*
 * Builds it from the blocks of an experiment. Profiles of one side are merged;
 * per-function intervals are Welch over the per-block self cost per operation.
 */
struct compare *compare_build(const struct compare_block *blocks, size_t n);
/*
 * The same for any two profiles (recordings, imports): one block a side, so no
 * intervals. Each argument may be NULL; a run without operations counts as one.
 */
struct compare *compare_pair(const struct run *before, const struct profile *p_before,
			     const struct run *after, const struct profile *p_after);
/* No verdict holds: the blocks were not measured under the same conditions. `why` is copied. */
void compare_refuse(struct compare *c, const char *why);
void compare_free(struct compare *c);

#endif
