// SPDX-License-Identifier: GPL-2.0-or-later
/* fault: see fault.h. Pure. */
#include "jobs/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What the kernel says when something has broken it. */
static const char *const words[] = {
	"WARNING: CPU", "BUG:", "Oops:", "general protection fault", "Call Trace:", "soft lockup", "detected stalls",
};

/* Documentation/admin-guide/tainted-kernels.rst */
static const struct { unsigned bit; const char *what; } bits[] = {
	{ 5, "bad page (B)" }, { 7, "oops or BUG (D)" }, { 9, "warning (W)" }, { 14, "soft lockup (L)" },
};

void fault_hear(struct fault *f, const char *line)
{
	size_t i;

	for (i = 0; !f->what[0] && i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			snprintf(f->what, sizeof(f->what), "%s", line);
}

bool fault_now(struct fault *f, uint64_t tainted)
{
	size_t i;

	for (i = 0; !f->what[0] && i < ARRAY_SIZE(bits); i++)
		if ((tainted & ~f->tainted) >> bits[i].bit & 1)
			snprintf(f->what, sizeof(f->what), "taint: %s", bits[i].what);
	return f->what[0];
}
