/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace: what the records of tracepoints come to in one block: how often each
 * event was met, how a field or the time between two events is distributed, and
 * the first records as text. Fed by ingest in stream order, kept in the store
 * when the block is over.
 */
#ifndef KAB_JOBS_TRACE_H
#define KAB_JOBS_TRACE_H

#include "collectors/live/live.h"
#include "profile/events.h"

struct err;
struct store;
struct trace;

/* `list` is copied. NULL when it has no tracepoint in it. */
struct trace *trace_new(const struct event_list *list);
void trace_free(struct trace *t);		/* NULL is fine */

/* The tracepoints to ask the agent for, each once; borrowed from t. */
const struct live_tracepoint *trace_tracepoints(const struct trace *t, size_t *n);

/* A block begins: counts are 0 again, formats and threads stay known. */
void trace_begin(struct trace *t);
/* -ENOENT when a field that was asked for is not there. */
int trace_format(struct trace *t, const char *system, const char *name, const char *text, size_t len,
		 struct err *err);
/* A thread of the workload. */
void trace_thread(struct trace *t, uint32_t tid);
void trace_record(struct trace *t, const struct live_trace *r);

/* Counts and histograms of the block go to `run`; formats go there once, with the first run. */
int trace_keep(struct trace *t, struct store *s, int64_t run, struct err *err);

#endif
