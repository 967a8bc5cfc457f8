// SPDX-License-Identifier: GPL-2.0-or-later
/* mem: see mem.h. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *check(void *p)
{
	static const char msg[] = "kab: out of memory; what was measured so far is in the session file.\n";

	if (p)
		return p;
	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		abort();
	abort();
}

void *mem_alloc(size_t size)
{
	return check(calloc(1, size ? size : 1));
}

void *mem_calloc(size_t n, size_t size)
{
	return check(calloc(n ? n : 1, size ? size : 1));
}

void *mem_realloc(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return check(NULL);
	return check(realloc(p, bytes ? bytes : 1));
}

void *mem_dup(const void *p, size_t size)
{
	void *copy = mem_alloc(size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *mem_strdup(const char *s)
{
	return s ? mem_dup(s, strlen(s) + 1) : NULL;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return check(n < 0 ? NULL : s);
}
