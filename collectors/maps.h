/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps: which file lies where in each process. Internal to symbols.c.
 *
 * What the kernel reports is followed in order: a later mapping replaces what it
 * overlaps, exec empties a process, fork gives the child the parent's mappings
 * (shared until one of the two changes).
 */
#ifndef KAB_COLLECTORS_MAPS_H
#define KAB_COLLECTORS_MAPS_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct mapping {
	uint64_t start, end;	/* end is the first address behind it */
	uint64_t pgoff;		/* file offset of start */
	uint32_t file;		/* the caller's number */
};

struct mapset;

struct maps {
	struct map pids;		/* pid -> index into sets */
	VEC(struct mapset *) sets;	/* NULL: nothing mapped */
};

#define MAPS_INIT { .pids = MAP_INIT }

void maps_release(struct maps *m);
void maps_exec(struct maps *m, uint32_t pid);
void maps_fork(struct maps *m, uint32_t parent, uint32_t child);
/* Empty and wrapping mappings, and pids that Linux does not give, are ignored. */
void maps_add(struct maps *m, uint32_t pid, const struct mapping *what);
/* NULL when nothing is mapped there; borrowed until the next change. */
const struct mapping *maps_find(const struct maps *m, uint32_t pid, uint64_t addr);

#endif
