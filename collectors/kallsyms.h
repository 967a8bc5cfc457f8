/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kallsyms: the functions of one running kernel and its modules, by address. Internal to symbols.c. */
#ifndef KAB_COLLECTORS_KALLSYMS_H
#define KAB_COLLECTORS_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

#define KALLSYMS_CORE "[kernel.kallsyms]"	/* dso of the kernel image, as perf calls it */

struct err;

struct ksym {
	uint64_t start;
	uint32_t name;		/* offset into text */
	uint32_t module : 23;	/* number in modules; 0 is the kernel image */
	uint32_t code : 1;	/* false: only says where the code before it ends */
	uint32_t rank : 8;	/* see symrank.h */
};

struct kallsyms {
	VEC(struct ksym) syms;	/* by address, one each */
	struct map modules;	/* "[name]" */
	char *text;		/* our copy; every name in it ends with NUL */
};

#define KALLSYMS_INIT { .modules = MAP_INIT }

struct kallsyms_hit {
	const char *name, *module;	/* borrowed from the table */
	bool core;			/* of the kernel image */
	size_t number;			/* of the symbol, below syms.n */
	uint64_t offset;
};

/* Fills an empty table; on failure it stays empty. -EACCES: every address is zero. */
int kallsyms_parse(struct kallsyms *k, const char *text, size_t len, struct err *err);
void kallsyms_release(struct kallsyms *k);
bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_hit *hit);

#endif
