/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ingest: the sink between an agent's stream and the session file. Raw stacks
 * are symbolised once each, when they first arrive and the maps they were taken
 * under still hold; samples then name rows of the store.
 */
#ifndef KAB_JOBS_INGEST_H
#define KAB_JOBS_INGEST_H

#include "base/err.h"
#include "collectors/live/live.h"
#include "collectors/symbols.h"
#include "jobs/trace.h"
#include "store/store.h"

struct ingest {
	struct store *store;
	struct symboliser *symbols;	/* owned */
	int64_t run;			/* where samples go; 0: they are dropped */
	struct map comms;		/* (pid, tid) -> index into threads */
	struct ingest_thread *threads;
	size_t n_threads, cap_threads;
	struct ingest_stack *stacks;	/* by the agent's number */
	size_t n_stacks, cap_stacks;
	uint64_t unresolved;		/* frames without a symbol, of `frames` */
	uint64_t frames;
	struct buf log;			/* kernel log lines since the last ingest_run() */
	struct err no_kernel;		/* why kernel frames have no names; empty: they have */
	struct trace *trace;		/* of the tracepoints asked for; owned; NULL: none */
	struct err *err;		/* the store's reason when a call returned negative */
	/* handed on to the job */
	void (*heard)(void *ctx, const char *line);	/* what goes to `log`, as it comes */
	int (*tick)(void *ctx, uint64_t elapsed_ns, uint64_t samples, uint64_t lost);
	bool (*stop)(void *ctx);
	void *ctx;
};

/* `find`: see symboliser_new(). Everything but store and symbols may be set by the caller afterwards. */
void ingest_init(struct ingest *in, struct store *s, const char *(*find)(void *ctx, const char *path, const char *id),
		 void *find_ctx, struct err *err);
void ingest_release(struct ingest *in);
struct live_sink ingest_sink(struct ingest *in);
/* The unit of an event's period: "ns" for the clocks, else "events"; static. */
const char *ingest_event_unit(const char *event);
/* Samples belong to this run from here on; stacks and maps stay known. */
void ingest_run(struct ingest *in, int64_t run);

#endif
