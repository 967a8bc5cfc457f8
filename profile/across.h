/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * across: one patch on several machines, each with an experiment of its own. Holds
 * each machine's result and the result across them. A machine differs from another
 * by more than a factor of speed, so what is combined are relative differences.
 */
#ifndef KAB_PROFILE_ACROSS_H
#define KAB_PROFILE_ACROSS_H

#include "profile/combine.h"
#include "profile/compare.h"

struct across_machine {
	int64_t experiment;
	char *target, *kernel;		/* owned */
	enum exp_state state;
};

struct across_metric {
	char *name, *unit;		/* "wall time", "ns/op"; owned */
	enum direction better;
	struct estimate *est;		/* one a machine; before.n 0 where it was not measured; owned */
	struct combined all;		/* of the relative differences, as fractions */
	enum verdict verdict;		/* across machines: VERDICT_TOO_FEW below 2 of them */
};

struct across {
	struct across_machine *machines; size_t n;
	struct across_metric *metrics; size_t n_metrics;	/* those of the first machine that has any, in order */
};

/* `cmp[i]` is of `exps[i]` and may be NULL. Copies what it needs. */
struct across *across_build(const struct experiment *exps, const struct compare *const *cmp, size_t n);
void across_free(struct across *a);

#endif
