/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters: what the kernel and the PMU count of one task and its children from
 * its exec to the end: nothing is sampled, no ring is read, nobody is woken.
 *
 * Hardware events are opened twice, for user and for kernel code, since the PMU
 * tells these apart for nothing. Events of one group are counted over the same
 * time; where the PMU has too few counters the kernel lets the groups take
 * turns, and a value then stands for more than was counted.
 */
#ifndef KAB_AGENT_COUNTERS_H
#define KAB_AGENT_COUNTERS_H

#include <stddef.h>
#include <sys/types.h>

#define COUNTERS_MAX 16

struct counters;

struct count {
	const char *name, *unit;	/* static: "instructions:u", as perf writes it */
	double value;			/* extrapolated to the whole time; NaN: not supported here */
	double running;			/* share of the time it was counted in; under 1: scaled; 0: never */
};

/* Opens what this machine counts of `pid`, which will exec. What it cannot count is no error. */
struct counters *counters_open(pid_t pid);
void counters_close(struct counters *c);	/* NULL is fine */
/* Every counter there is, in a fixed order, once the task has ended. Returns how many. */
size_t counters_read(struct counters *c, struct count v[COUNTERS_MAX]);

#endif
