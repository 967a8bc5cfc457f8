/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring: the kernel's perf rings of one task and its children, one per CPU.
 *
 * With counters.c the only door to libperf, whose names change between kernel
 * versions. Two events share a ring: the sampled one, and a dummy that carries
 * comm, fork, exec and mmap records. Tracepoints have rings of their own, since
 * they may be many; their samples hold the raw record and no chain.
 */
#ifndef KAB_AGENT_RING_H
#define KAB_AGENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct ring;

struct ring_tracepoint {
	uint32_t id;		/* of its format */
	bool everywhere;	/* on every CPU, whoever runs there; else in the task and its children */
};

struct ring_opts {
	const char *event;	/* NULL or "": cycles, cpu-clock where there is no PMU */
	uint64_t freq_hz;	/* samples a second; 0: 4000 */
	/* 0, 1: one sampling clock. More: that many at once, of different fixed periods that add up to freq_hz,
	 * so that no beat with the workload's loop hides a part of it; see ring_clocks(). */
	unsigned clocks;
	bool user_only;
	pid_t pid;		/* that will exec: events count from there on, and follow its children */
	size_t kib;		/* of ring per CPU, rounded up to a power of two; less if need be */
	const struct ring_tracepoint *tracepoints;
	size_t n_tracepoints;
	size_t trace_kib;	/* of the rings of tracepoints */
};

int ring_open(const struct ring_opts *o, struct ring **out, struct err *err);
void ring_close(struct ring *r);	/* NULL is fine */

const char *ring_event(const struct ring *r);	/* the name of the sampled event; static */
/* Clocks in force, at least 1. Each covers the whole time: a sample stands for its period / clocks. */
unsigned ring_clocks(const struct ring *r);
size_t ring_bytes(const struct ring *r);	/* of one CPU's ring; those of tracepoints are larger */

/* Hands over every record that is in the rings; `record` is 8-byte aligned and only good for the call.
 * Returns the bytes taken from the fullest ring. */
size_t ring_drain(struct ring *r, void (*take)(void *ctx, const void *record, size_t size), void *ctx);
/* Starts what does not start with the exec: tracepoints on every CPU. */
void ring_enable(struct ring *r);
void ring_disable(struct ring *r);
/* Records dropped because a ring was full, by the kernel's count per event. False: it does not tell. */
bool ring_lost(struct ring *r, uint64_t *lost);

/* Whether the PMU counts cycles here; opens an event on the caller for it. */
bool ring_has_cycles(void);
/* Why this user may not record, as a sentence; 0 when it may. */
int ring_allowed(bool user_only, struct err *err);

#endif
