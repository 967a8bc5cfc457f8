/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded: profiles for tests, written as one knows them: "main;foo;bar 4" a line.
 * Test input only: it trusts its lines and is no importer.
 */
#ifndef KAB_TESTS_FOLDED_H
#define KAB_TESTS_FOLDED_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/profile.h"

/* What one sample stands for in these profiles, ns. */
#define FOLDED_PERIOD 250000.0

static inline void folded_add(struct profile *p, const char *lines, double period)
{
	char *copy = mem_strdup(lines), *line, *next = copy;

	while ((line = strsep(&next, "\n"))) {
		char *count = strrchr(line, ' '), *name;
		uint32_t node = NODE_ROOT;

		if (!count)
			continue;
		*count++ = '\0';
		while ((name = strsep(&line, ";")))
			node = profile_child(p, node, symtab_intern(&p->symtab, name, "[kernel.kallsyms]",
								    FRAME_KERNEL));
		profile_add(p, node, strtod(count, NULL), strtod(count, NULL) * period);
	}
	free(copy);
}

/* Sealed; the caller frees. */
static inline struct profile *folded(const char *lines)
{
	struct profile *p = profile_new();

	folded_add(p, lines, FOLDED_PERIOD);
	profile_seal(p);
	return p;
}

#endif
