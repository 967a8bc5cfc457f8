/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counted: what the blocks of an experiment say beside their times: counters and
 * rates per operation, what the workload reported, and distributions, before and
 * after. Pure; what the differences mean is stats.h's.
 */
#ifndef KAB_PROFILE_COUNTED_H
#define KAB_PROFILE_COUNTED_H

#include "profile/diff.h"
#include "profile/hist.h"
#include "profile/stats.h"

/* What one block contributes; everything is borrowed. */
struct block_figure {
	const char *name, *unit;
	/* `running` NaN: as the workload reported it. Else a count of the whole block, divided by its
	 * operations; `running` is the share of the time it was counted in, 0: not supported. */
	double value, running;
};
struct block_hist { const char *name, *unit; const struct hist *hist; };
struct counted_block {
	const struct run *run;
	const struct block_figure *figures; size_t n_figures;
	const struct block_hist *hists; size_t n_hists;
};

/*
 * One quantity over complete blocks that are no warm-up. Where both sides have
 * it from blocks that ran without the profiler, only those count.
 */
struct counter {
	char *name;			/* "instructions:k", "net:net_dev_queue" */
	char *unit;			/* "events/op", "ns/op"; as reported, for what the workload says */
	bool per_op;
	bool supported;			/* false: the machine cannot count it; no figure below holds */
	double running;			/* least share of the time in any block; under 1: scaled up */
	bool sampled;			/* of blocks that ran with the profiler */
	struct summary native;
	struct estimate est;
	double *values[VARIANT_COUNT];	/* per block, in order; owned */
	size_t n_values[VARIANT_COUNT];
};

struct distribution {
	char *name, *unit;
	struct hist side[SIDES];	/* of all its blocks together */
	size_t blocks[SIDES];
	double value[HIST_QUANTILES][SIDES];	/* of the side; NaN when empty */
	struct estimate est[HIST_QUANTILES];	/* over the blocks, each with its own quantile */
};

struct counted {
	struct counter *v; size_t n;			/* in the order in which the first block has them */
	struct distribution *dist; size_t n_dist;
};

/* `blocks` in the order they ran. */
struct counted *counted_build(const struct counted_block *blocks, size_t n);
void counted_free(struct counted *c);	/* NULL is fine */

/* "lower", "higher", "undecided", ...: of a count neither is better. */
const char *counter_verdict(const struct estimate *e);

#endif
