/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exercise: proves on a target that a case's module is safe to switch: its
 * variants are equivalent, it is switched, unloaded and loaded again and again
 * under its own workload, and goes when the agent is killed; and the kernel has
 * nothing to say to any of it. Measures nothing and stores nothing.
 */
#ifndef KAB_JOBS_EXERCISE_H
#define KAB_JOBS_EXERCISE_H

#include "lab/lab.h"
#include "patches/preflight.h"

struct exercise_opts {
	const char *case_name, *target;
	unsigned switches, cycles;	/* under the workload */
	struct lab_opts lab;
};

/*
 * One row a proof; 0 also when one failed, see preflight_failed(): those after it were then not tried. On a
 * target that is no guest the agent is not killed.
 */
int job_exercise(const struct exercise_opts *o, struct preflight *rows, struct err *err);

#endif
