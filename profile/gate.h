/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate: may these two profiles be compared at all, and what is to be known when
 * they are? Pure: what is known of each side in, caveats out.
 */
#ifndef KAB_PROFILE_GATE_H
#define KAB_PROFILE_GATE_H

#include "profile/experiment.h"
#include "profile/caveat.h"
#include "profile/profile.h"

/* NULL, 0 or NaN where unknown, as said. Strings are borrowed; they may come from a file. */
struct gate_side {
	const char *event;		/* "cpu-clock"; NULL */
	uint64_t freq_hz;		/* asked for; 0: unknown, or a fixed period */
	double mean_period;		/* what a sample stands for, in units of the event; NaN */
	const char *kernel;		/* uname -r; NULL */
	double samples, lost;
	double damaged;			/* stacks with a part that could not be read */
	double truncated, unresolved;	/* shares of the samples: root cut off; leaf without a name */
	double wall_ns;			/* 0 */
};

/* What a run and its profile say; either may be NULL. */
struct gate_side gate_side_of(const struct run *r, const struct profile *p, const char *kernel);

/* Beyond these shares a reader is warned. */
#define GATE_LOST 0.01
#define GATE_TRUNCATED 0.05
#define GATE_UNRESOLVED 0.05
/* Fewer samples on a side: one of them weighs more than 1 %. */
#define GATE_SAMPLES 100
/* A side this many times as long as the other. */
#define GATE_DURATION 10

/*
 * Appends what there is to say. LEVEL_REFUSE when differences would mean nothing: other events, or numbers
 * of samples taken at other rates; `m` COUNT says that only numbers are there. With periods, other rates are
 * normalised: each sample counts for what it stands for.
 */
void gate_check(const struct gate_side s[2], enum measure m, struct caveats *out);

#endif
