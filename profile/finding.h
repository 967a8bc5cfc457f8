/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * finding: a sentence about data that a reader of a figure has to know, with
 * what it means for the figure. Recognisers (shape, gate, compare) add them,
 * every view shows the same ones in the same words.
 */
#ifndef KAB_PROFILE_FINDING_H
#define KAB_PROFILE_FINDING_H

#include <stddef.h>

enum finding_kind {
	/* of blocks */
	FIND_TOO_FEW, FIND_IDENTICAL, FIND_TIES, FIND_OUTLIER, FIND_MODES, FIND_DRIFT, FIND_SLOW_FIRST,
	FIND_NOISE_FLOOR, FIND_AA_DIFFERS,
	/* of two profiles beside one another */
	FIND_EVENT, FIND_RATE, FIND_KERNEL, FIND_LOST, FIND_DAMAGED, FIND_TRUNCATED, FIND_UNRESOLVED,
	FIND_DURATION, FIND_NO_SAMPLES,
	FINDINGS
};
/* A word for JSON: "outlier", "rate". "unknown" for a number that is none. */
const char *finding_name(enum finding_kind k);

enum finding_level {
	LEVEL_NOTE,			/* to know */
	LEVEL_WARN,			/* to be weighed against the result */
	LEVEL_REFUSE,			/* the two are not comparable: no difference is given */
};
const char *finding_level_name(enum finding_level l);	/* "note", "warning", "refused" */

struct finding {
	enum finding_kind kind;
	enum finding_level level;
	const char *metric;		/* "wall time", static; NULL: of the profiles */
	char text[320];			/* whole sentences; names in it are escaped */
};

struct findings {
	struct finding *v; size_t n, cap;
};
void findings_release(struct findings *f);
/* A sentence that is too long is cut at its end. */
void findings_add(struct findings *f, enum finding_kind k, enum finding_level l, const char *metric,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The first of this kind for this metric (NULL: any), NULL when there is none. */
const struct finding *findings_get(const struct findings *f, enum finding_kind k, const char *metric);
enum finding_level findings_worst(const struct findings *f);	/* LEVEL_NOTE when empty */

#endif
