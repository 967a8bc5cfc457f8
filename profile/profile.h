/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile: samples folded to a tree of symbolised frames. Pure data, no I/O.
 *
 * A profile is filled with profile_add() and then sealed; a sealed profile is
 * read-only and may be read by many. Nodes and symbols are named by index;
 * node 0 is the root, symbol 0 its name "all". One owner, freed at once.
 *
 * Two measures are kept apart everywhere: COUNT is the number of samples,
 * PERIOD the sum of what each sample stands for (cpu-clock: nanoseconds;
 * cycles: cycles). Both are doubles: folded files carry fractions and signs.
 */
#ifndef KAB_PROFILE_PROFILE_H
#define KAB_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

enum frame_kind {
	FRAME_KERNEL,		/* the kernel image; dso "[kernel.kallsyms]" */
	FRAME_MODULE,		/* a kernel module; dso "[NAME]" */
	FRAME_USER,		/* dso is the path of the file */
	FRAME_MARK,		/* "[unknown]", "[no callchain]", "[truncated]", the root, a comm */
	FRAME_KINDS
};

enum measure { COUNT, PERIOD, MEASURES };

#define NODE_NONE UINT32_MAX
#define NODE_ROOT 0

struct symbol {
	const char *name;	/* raw bytes as met, not yet escaped; owned by the table */
	const char *dso;	/* "" when unknown */
	enum frame_kind kind;
};

/* Interned (name, dso, kind). Shared identity rule of the whole tool. */
struct symtab {
	struct map keys;
	struct symbol *symbols;
	size_t n, cap;
};

void symtab_release(struct symtab *t);
uint32_t symtab_intern(struct symtab *t, const char *name, const char *dso, enum frame_kind kind);
/* The order of names wherever figures tie: name, dso, kind. */
int symbol_cmp(const struct symbol *a, const struct symbol *b);

struct node {
	uint32_t symbol, parent, first_child, next_sibling;
	uint32_t depth;			/* root 0 */
	double self[MEASURES], total[MEASURES];	/* total valid once sealed */
};

struct profile {
	struct symtab symtab;
	struct node *nodes;
	size_t n, cap;
	uint32_t *index, index_size;	/* (parent, symbol) -> node; dropped when sealed */
	bool sealed;
	double samples, period;		/* of the whole profile = root total */
};

/*
 * Renames applied when samples enter a profile, so that the before and after
 * bodies of a replaced function stand on one row named after it. The raw names
 * stay in the session file.
 */
struct alias {
	const char *name, *dso;		/* as recorded; dso NULL: any */
	const char *to_name, *to_dso;
	enum frame_kind to_kind;
};

struct profile *profile_new(void);
void profile_free(struct profile *p);
/* Child of `parent` with this symbol of p->symtab, made when absent. */
uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t symbol);
/* Adds to the self value of `node`. */
void profile_add(struct profile *p, uint32_t node, double count, double period);
/* Adds a whole stack, root first; n = 0 counts under "[no callchain]". Iterative: any depth. */
void profile_add_stack(struct profile *p, const uint32_t *symbols, size_t n, double count, double period);
/* Computes totals and orders siblings by total, largest first, then by name. */
void profile_seal(struct profile *p);
/* Adds every stack of `from` to `into` (not sealed). */
void profile_merge(struct profile *into, const struct profile *from);
/* What a sealed profile is ordered by: PERIOD, or COUNT where no period was recorded. */
enum measure profile_measure(const struct profile *p);
const struct symbol *profile_symbol(const struct profile *p, uint32_t node);
/* The replacement, or the argument itself. */
struct symbol alias_apply(const struct alias *aliases, size_t n, struct symbol s);

/* --- flat: one row per symbol --- */

struct flat_row {
	uint32_t symbol;		/* of the profile's symtab */
	double self[MEASURES];
	double total[MEASURES];		/* recursion counted once: a frame below itself adds nothing */
};
/* Rows ordered by self of `by`, largest first, then name. *n rows, freed by the caller. */
struct flat_row *profile_flat(const struct profile *p, enum measure by, size_t *n);

#endif
