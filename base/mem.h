/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem: allocation that does not return NULL.
 *
 * Sizes that come from a file or a peer are checked against a limit before
 * they reach these functions; what is left are ordinary sizes, and a machine
 * that cannot serve those cannot go on. The process then aborts after one
 * sentence on stderr; the session file survives that, as it survives kill -9.
 */
#ifndef KAB_BASE_MEM_H
#define KAB_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);			/* zeroed */
void *mem_calloc(size_t n, size_t size);	/* zeroed, product checked */
void *mem_realloc(void *p, size_t n, size_t size); /* product checked */
void *mem_dup(const void *p, size_t size);
char *mem_strdup(const char *s);		/* NULL stays NULL */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
