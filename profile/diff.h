/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff: the union of two profile trees, vanished and new frames kept in place.
 *
 * Frames are matched by (name, dso, kind) below matched parents. Values are
 * stored raw (samples and period of each side); what is shown is
 *
 *	value = raw * scale[side]		(norm_scale)
 *
 * so that one tree serves every normalisation and a function that did not
 * change shows no change, whatever its share of the total became.
 */
#ifndef KAB_PROFILE_DIFF_H
#define KAB_PROFILE_DIFF_H

#include "profile/profile.h"

enum side { BEFORE, AFTER, SIDES };

enum norm { NORM_OP, NORM_TIME, NORM_SHARE, NORM_RAW, NORMS };
const char *norm_name(enum norm n);		/* "op", "time", "share", "raw" */
bool norm_parse(const char *s, enum norm *n);

/* What a side's samples are divided by. */
struct diff_side {
	const struct profile *profile;	/* borrowed during diff_build() only; NULL: empty side */
	double ops;			/* operations of the sampled blocks */
	double wall_ns;			/* their wall time */
};

struct diff_node {
	uint32_t symbol, parent, first_child, next_sibling, depth;
	uint32_t frames;		/* of its subtree, itself included: nodes [i, i + frames) */
	double self[SIDES][MEASURES], total[SIDES][MEASURES];
};

struct diff {
	struct symtab symtab;		/* its own: the two profiles may be freed */
	struct diff_node *nodes;	/* 0 is the root; depth first, siblings in the order below */
	size_t n, cap;
	double ops[SIDES], wall_ns[SIDES];
	char *event;			/* "cpu-clock": names the unit of PERIOD; owned, NULL when unknown */
};

/*
 * Joins two sealed profiles. Siblings are ordered by the larger side's total per
 * operation, then by name: one order for both graphs, the same in every view.
 */
struct diff *diff_build(const struct diff_side sides[SIDES]);
void diff_free(struct diff *d);
void diff_set_event(struct diff *d, const char *event);	/* copied; NULL: unknown */
const struct symbol *diff_symbol(const struct diff *d, uint32_t node);
bool diff_gone(const struct diff *d, uint32_t node);	/* only before */
bool diff_new(const struct diff *d, uint32_t node);	/* only after */
/* PERIOD, or COUNT where a side that has samples has no period. */
enum measure diff_measure(const struct diff *d);

/*
 * The factor for one side. NORM_OP: 1/ops; NORM_TIME: 1/wall seconds;
 * NORM_SHARE: 100/root total; NORM_RAW: 1. A zero divisor gives 0, never NaN or Inf.
 */
double norm_scale(const struct diff *d, enum norm n, enum side s, enum measure m);
/*
 * The formula in force, for headers: "period / operations = ns of cpu-clock per operation".
 * `unit` receives the short unit ("ns/op", "ns/s", "%", "samples").
 * Names in both are escaped; `operation` NULL is "operation".
 */
void norm_formula(const struct diff *d, enum norm n, enum measure m, const char *operation,
		  char formula[160], char unit[32]);

/* --- flat difference: one row per symbol --- */

struct flat_diff_row {
	uint32_t symbol;		/* of the diff's symtab */
	double self[SIDES][MEASURES], total[SIDES][MEASURES];	/* raw */
	unsigned rank[SIDES];		/* by self, 1 is the most expensive; 0: absent */
	/* per operation over blocks, filled by change_functions() when blocks carry profiles: */
	bool has_interval;
	double self_lo, self_hi;	/* 95 % of the difference of self per operation, of this function alone */
	double total_lo, total_hi;	/* and of total */
	double p, q;			/* of self: two-sided; with all functions counted (profile/fdr.h). NaN: no test */
	bool significant;		/* q <= FDR_RATE */
};
/* Ordered by |self difference| per operation, largest first. *n rows, freed by the caller. */
struct flat_diff_row *diff_flat(const struct diff *d, enum measure m, size_t *n);

#endif
