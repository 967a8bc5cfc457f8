/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: one record of a perf ring, taken apart. Pure; no libperf.
 *
 * The layout is fixed by what ring.c asks for: samples carry IP, TID, TIME,
 * CPU, PERIOD, CALLCHAIN, those of tracepoints RAW behind it, and all other
 * records end in TID, TIME, CPU.
 */
#ifndef KAB_AGENT_RECORD_H
#define KAB_AGENT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind {
	RECORD_OTHER, RECORD_SAMPLE, RECORD_TRACE, RECORD_COMM, RECORD_EXEC, RECORD_FORK, RECORD_MAP,
	RECORD_LOST, RECORD_LOST_SAMPLES
};

/* Pointers are borrowed from the record's bytes. */
struct record {
	enum record_kind kind;
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	uint32_t ppid, ptid;		/* fork */
	uint64_t ip, period;		/* sample */
	const uint64_t *ips;		/* sample: the chain as the kernel wrote it, with its context marks */
	size_t n_ips;
	bool kernel_mode;		/* sample: where ip lies */
	const uint8_t *raw;		/* trace: the tracepoint's record, padding behind it */
	size_t raw_len;
	const char *text;		/* comm (exec too), map: NUL-terminated */
	uint64_t start, len, pgoff;	/* map */
	const uint8_t *build_id;	/* map; NULL when the kernel gave none */
	size_t build_id_len;		/* at most 20 */
	uint64_t lost;			/* lost, lost samples */
};

/* `data` is 8-byte aligned and `size` long. -EINVAL when the record contradicts its own size. */
int record_decode(const void *data, size_t size, struct record *r);
/* The time of a record without the rest, 0 when it has none; for sorting. */
uint64_t record_time(const void *data, size_t size);

/* A chain without marks. */
struct chain {
	const uint64_t *ips;		/* into the caller's room: kernel part first, leaf first */
	size_t n, n_kernel;
	bool damaged, truncated;
};
/*
 * Splits the chain of a sample into kernel and user part. Frame pointers of user
 * code without them yield addresses that nothing can be at, or values in the range of the marks:
 * the chain is cut there, and what came before is kept. `room` takes n_ips + 1
 * addresses. `max_stack` is perf_event_max_stack.
 */
void record_chain(const struct record *sample, size_t max_stack, uint64_t *room, struct chain *c);

#endif
