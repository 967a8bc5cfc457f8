/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * caveat: a sentence about data that a reader of a figure has to know, with
 * what it means for the figure. Recognisers (shape, gate, compare) add them,
 * every view shows the same ones in the same words.
 */
#ifndef KAB_PROFILE_CAVEAT_H
#define KAB_PROFILE_CAVEAT_H

#include <stddef.h>

enum caveat_kind {
	/* of blocks */
	CAVEAT_TOO_FEW, CAVEAT_IDENTICAL, CAVEAT_TIES, CAVEAT_OUTLIER, CAVEAT_MODES, CAVEAT_DRIFT, CAVEAT_SLOW_FIRST,
	CAVEAT_NOISE_FLOOR, CAVEAT_AA_DIFFERS,
	/* of two profiles beside one another */
	CAVEAT_EVENT, CAVEAT_RATE, CAVEAT_KERNEL, CAVEAT_LOST, CAVEAT_DAMAGED, CAVEAT_TRUNCATED, CAVEAT_UNRESOLVED,
	CAVEAT_DURATION, CAVEAT_NO_SAMPLES,
	CAVEATS
};
/* A word for JSON: "outlier", "rate". "unknown" for a number that is none. */
const char *caveat_name(enum caveat_kind k);

enum caveat_level {
	LEVEL_NOTE,			/* to know */
	LEVEL_WARN,			/* to be weighed against the result */
	LEVEL_REFUSE,			/* the two are not comparable: no difference is given */
};
const char *caveat_level_name(enum caveat_level l);	/* "note", "warning", "refused" */

struct caveat {
	enum caveat_kind kind;
	enum caveat_level level;
	const char *metric;		/* "wall time", static; NULL: of the profiles */
	char text[320];			/* whole sentences; names in it are escaped */
};

struct caveats {
	struct caveat *v; size_t n, cap;
};
void caveats_release(struct caveats *f);
/* A sentence that is too long is cut at its end. */
void caveats_add(struct caveats *f, enum caveat_kind k, enum caveat_level l, const char *metric,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The first of this kind for this metric (NULL: any), NULL when there is none. */
const struct caveat *caveats_get(const struct caveats *f, enum caveat_kind k, const char *metric);
enum caveat_level caveats_worst(const struct caveats *f);	/* LEVEL_NOTE when empty */

#endif
