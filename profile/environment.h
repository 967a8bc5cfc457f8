/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * environment: what may change on a machine while it measures, how far it may,
 * and what to do about it beforehand. Pure: facts come in as text, sentences go out.
 *
 * A moment is the set of facts that the agent sends between two blocks. What
 * differs between moments is drift; past its limit the two sides are not
 * comparable, whatever their intervals say.
 */
#ifndef KAB_PROFILE_ENVIRONMENT_H
#define KAB_PROFILE_ENVIRONMENT_H

#include <stdbool.h>

#include "profile/experiment.h"

struct buf;

/* A moment as lines "KEY VALUE", and the way it is kept in a session file. */
void environment_text(const struct machine *moment, struct buf *out);

struct environment {
	struct machine *v; size_t n, cap;	/* in order of time; the first is before the first block */
};
void environment_release(struct environment *e);
/* Adds the moment that `text` tells. The text is hostile: what is no line of facts is passed over. */
void environment_add(struct environment *e, const char *text);

/* One thing that moved. */
struct drift {
	const char *name;		/* static: "clock source" */
	char before[80], after[80];	/* with unit; of an amount `before` is "" and `after` all of it */
	const char *limit, *reason;	/* static, in words */
	bool beyond;			/* past the limit */
};
/* In the order of the table of limits; the array is the caller's to free. Values are escaped. */
size_t environment_drift(const struct environment *e, struct drift **v);
/* One sentence, "Clock source moved from tsc to hpet (limit: ...).", for a person. */
void drift_sentence(const struct drift *d, struct buf *out);

/* What `kab doctor` says of a machine before it measures, from all its facts. */
struct advice {
	const char *check;		/* static: "governor" */
	bool good;
	char found[160];
	const char *remedy;		/* static; "" when good */
};
#define ADVICE_MAX 16
/* Only of what the facts tell. */
size_t environment_advise(const struct machine *m, struct advice v[ADVICE_MAX]);

#endif
