/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder: records of the rings become messages of the stream.
 *
 * Rings of different CPUs are read one after the other, so records are held
 * until nothing older can follow, and leave sorted by time. Raw stacks are
 * interned: each crosses the stream once, keyed by process, exec and addresses.
 */
#ifndef KAB_AGENT_RECORDER_H
#define KAB_AGENT_RECORDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

#define RECORDER_BATCH 4096	/* samples in one message */
#define RECORDER_RAW (1U << 20)	/* bytes of tracepoint records from which on a message is full */

struct held { uint64_t time; size_t at, size; };
struct comm { char text[16]; };

struct recorder {
	struct buf *out;		/* borrowed: where messages go */
	struct buf held;		/* records not yet old enough, 8-byte aligned each */
	VEC(struct held) order;
	struct map stacks;		/* key: struct stack_key and the addresses */
	size_t stack_bytes;		/* of keys in `stacks` */
	uint32_t first_stack;		/* number of stacks' entry 0 on the stream */
	size_t max_stack;		/* perf_event_max_stack */
	unsigned clocks;		/* that share the sampling: a sample stands for period / clocks */
	struct map pids, tids;
	VEC(uint32_t) execs;		/* by number in pids: how often that process became another program */
	VEC(struct comm) comms;	/* by number in tids */
	struct batch *batch;		/* samples not yet written to `out` */
	struct trace_batch *trace;	/* the same of tracepoints; NULL until there is one */
	uint64_t samples, damaged;	/* sent; those with a damaged stack */
	uint64_t lost;			/* what LOST records say */
	uint64_t lost_samples;		/* what LOST_SAMPLES records say: dropped before the ring */
	uint64_t dropped;		/* records that made no sense: ours to answer for */
};

void recorder_init(struct recorder *r, struct buf *out, uint32_t first_stack, size_t max_stack);
/* Returns the number the next recorder may start at. */
uint32_t recorder_release(struct recorder *r);

/* The workload before its exec, whose comm no record tells. */
void recorder_start(struct recorder *r, pid_t pid, const char *program);
/* One record of a ring; copied. `recorder` is a struct recorder (for ring_drain). */
void recorder_take(void *recorder, const void *record, size_t size);
/* Writes what is not younger than `horizon_ns` to out. */
void recorder_flush(struct recorder *r, uint64_t horizon_ns);

#endif
