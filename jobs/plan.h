/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: which blocks come next, and whether another pair does. The order is a
 * function of the seed; whether it goes on, of the pairs measured so far and of
 * the clock. Nothing here talks to a target: run.c measures what plan asks for.
 *
 * A pair is before and after side by side, timed, with the code of before once
 * more (AGAIN) right beside before, on the outer side: before against before is
 * then the same comparison as before against after. Some pairs are followed by
 * one of the same order that is sampled.
 */
#ifndef KAB_JOBS_PLAN_H
#define KAB_JOBS_PLAN_H

#include "base/vec.h"
#include "profile/experiment.h"
#include "profile/stop.h"

struct buf;

struct plan_opts {
	uint64_t seed;
	unsigned blocks;		/* of each variant; with `until`: pairs that are sampled before it thins out */
	double until;			/* half width, a fraction; 0: `blocks` pairs, whatever they say */
	double time_limit;		/* s from the first pair on; 0: none */
};

struct plan_pair {
	enum variant timed[3];
	enum variant sampled[2];
	bool sample;
};

struct plan {
	struct plan_opts o;
	size_t pairs;			/* handed out */
	double began, last;		/* s; of the first pair, of the newest */
	double longest;			/* s that a pair took, with its sampled one */
	bool out_of_time;
	VEC(double) values[VARIANT_COUNT];	/* time per operation of each timed block */
	struct stop_state look;		/* after the last complete pair */
};

void plan_init(struct plan *p, const struct plan_opts *o);
void plan_release(struct plan *p);
/* The next pair, `now` on a clock in seconds; false when there is none. */
bool plan_next(struct plan *p, double now, struct plan_pair *out);
/* A timed block is done. */
void plan_add(struct plan *p, enum variant v, double per_op);
/* Timed pairs in all, as far as can be told now. */
size_t plan_pairs(const struct plan *p);
/* Share of the work that is done, 0..1: of the pairs, or of the time limit where that comes first. */
double plan_fraction(const struct plan *p, double now);
/* s until the end as it looks now; NaN when unknown. */
double plan_time_left(const struct plan *p, double now);
/* Why it ended otherwise than planned, and what it would have taken: sentences; nothing when it did not. */
void plan_end(const struct plan *p, struct buf *out);

/* --- the length of a block --- */

#define PLAN_PROBES 3			/* blocks of one operation */
#define PLAN_EDGE_SHARE 0.001		/* most that starting and timing a block may cost of it */
#define PLAN_MOST_OPS 10		/* times what the case asks for: longer blocks are not made */

/*
 * Operations in a block, at least `usual`: enough for the median of edge[PLAN_PROBES], ns that a block takes
 * besides its operations, to be PLAN_EDGE_SHARE of it. `per_op` > 0, ns. *share: what it will be.
 */
unsigned plan_ops(unsigned usual, double per_op, const double *edge, double *share);

#endif
