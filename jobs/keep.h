/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep: what every measured block leaves in the session file beside its times and samples. */
#ifndef KAB_JOBS_KEEP_H
#define KAB_JOBS_KEEP_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct live;
struct live_result;
struct store;
struct trace;

/*
 * What the workload reported, the counters, and what the tracepoints came to (`t` may be NULL). `exact`: the
 * guest's clock counts its instructions, so that the wall time is a counter too.
 */
int keep_figures(struct store *s, int64_t run, const struct live_result *r, bool exact, struct trace *t,
		 struct err *err);

/* The machine as it is now. `kind`: "environment" after a block, "environment-before" before the first. */
int keep_environment(struct store *s, int64_t run, const char *kind, struct live *l, struct err *err);

#endif
