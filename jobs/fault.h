/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault: whether a target's kernel has reported one since it was opened, by a
 * line of its log or by a taint bit that only a fault sets: the log may have
 * been cut or overrun, the bit may have been set before.
 */
#ifndef KAB_JOBS_FAULT_H
#define KAB_JOBS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct fault {
	char what[200];		/* the line, or the bit; "" none */
	uint64_t tainted;	/* bits that were set at the start */
};

/* A line of the kernel's log, as it comes. */
void fault_hear(struct fault *f, const char *line);
/* With the taint bits of now. */
bool fault_now(struct fault *f, uint64_t tainted);

#endif
