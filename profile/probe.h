/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe: what a running kernel was found to have of some names. Plain data:
 * filled from an agent's answer, judged by patches/preflight. Strings are
 * owned, and fit for a terminal.
 */
#ifndef KAB_PROFILE_PROBE_H
#define KAB_PROFILE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct probed_symbol {
	char *name;
	unsigned code, data;		/* functions, and other symbols, of just this name in the kernel image */
	unsigned in_modules;
	bool traceable;			/* ftrace can hook it; see probe.tracing */
	char **parts; size_t n_parts;	/* clones and pieces in the image: f.constprop.0, f.isra.0, f.part.0, f.cold */
	char **owners; size_t n_owners;	/* livepatches that replace it; "ftrace": something else redirects it */
};

struct probed_module {			/* one of kab's that is loaded */
	char *name, *variant;
	bool enabled, transition;	/* of its livepatch */
};

struct probe {
	bool tracing;			/* ftrace's lists could be read */
	struct probed_symbol *symbols; size_t n_symbols;
	struct probed_module *modules; size_t n_modules;
};
void probe_release(struct probe *p);
/* NULL when it was not asked for, or is not loaded. */
const struct probed_symbol *probe_symbol(const struct probe *p, const char *name);
const struct probed_module *probe_module(const struct probe *p, const char *name);

#endif
