/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symrank: which of several names of one address is shown.
 *
 * The order is perf's, so that a table of kab can be laid beside one of perf:
 * a name with a size, then not weak, then global, then fewer leading
 * underscores, then the longer one. Two additions: a system call that 32-bit
 * programs share goes by its 64-bit name (__x64_sys_getpid, not the longer
 * __ia32_sys_getpid), and where perf leaves a tie to the order of arrival, the
 * string that sorts first wins, so that two boots agree.
 */
#ifndef KAB_COLLECTORS_SYMRANK_H
#define KAB_COLLECTORS_SYMRANK_H

#include <stdbool.h>
#include <string.h>

/* Bits of a rank: the larger number wins. */
enum { RANK_GLOBAL = 1, RANK_STRONG = 2, RANK_SIZED = 4 };

/* Bytes of a name that count, and that are kept: names come from hostile files. */
#define SYMBOL_NAME_MAX 4096

static inline bool symrank_better(unsigned int rank_a, const char *a, unsigned int rank_b, const char *b)
{
	size_t under_a = strspn(a, "_"), under_b = strspn(b, "_");
	bool compat_a = !strncmp(a, "__ia32_", 7), compat_b = !strncmp(b, "__ia32_", 7);
	size_t len_a, len_b;

	if (rank_a != rank_b)
		return rank_a > rank_b;
	if (under_a != under_b)
		return under_a < under_b;
	if (compat_a != compat_b)
		return compat_b;
	len_a = strnlen(a, SYMBOL_NAME_MAX);
	len_b = strnlen(b, SYMBOL_NAME_MAX);
	return len_a != len_b ? len_a > len_b : strncmp(a, b, SYMBOL_NAME_MAX) < 0;
}

/* Marks an assembler leaves behind, "$x" of ARM and RISC-V or ".L12": places inside a function. */
static inline bool symrank_is_mark(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

#endif
