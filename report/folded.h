/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded: the writers of folded stacks, and the growing path they share with
 * the "folded" style of one profile.
 */
#ifndef KAB_REPORT_FOLDED_H
#define KAB_REPORT_FOLDED_H

#include "base/vec.h"
#include "report/report.h"

/* "a;b;c" while a tree is walked depth first: each step cuts back to its parent. Zeroed to begin with. */
struct folded_path {
	struct buf text;
	VEC(size_t) ends;	/* where the path of each depth ends */
};
void folded_path_release(struct folded_path *p);
/* `name` becomes frame number `depth` (from 0), escaped; the frames above it stay. */
void folded_path_at(struct folded_path *p, size_t depth, const char *name, bool ascii);

int folded_write(const struct report_input *in, struct buf *out, struct err *err);
int difffolded_write(const struct report_input *in, struct buf *out, struct err *err);

#endif
