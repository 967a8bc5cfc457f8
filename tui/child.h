/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child: a program of ours that runs beside the screen. Its standard output
 * comes line by line, of its standard error the last part is kept.
 *
 * It has a process group of its own, so that keys typed here do not reach it,
 * and it is not killed when we die: a crash of the screen loses no measurement.
 */
#ifndef KAB_TUI_CHILD_H
#define KAB_TUI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/buf.h"

struct err;

struct child {
	pid_t pid;
	int out, log;			/* read ends, not blocking; -1 at their end */
	bool ended;			/* waited for, and both pipes are read out */
	int status;			/* exit status, 128 + n for signal n; valid once ended */
	unsigned asked;			/* times it was asked to stop */
	struct timespec started;	/* monotonic */
	double seconds;			/* it ran for; valid once ended */
	struct buf line;		/* a part of a line of standard output */
	struct buf text;		/* the end of standard error */
	void *state;			/* of run_view.c, which frees it */
	void (*free_state)(void *state);
};

struct child *child_start(const char *const *argv, struct err *err);
/* Reads what is there, calls `line` for each whole line of standard output, notices the end. Never waits. */
void child_read(struct child *c, void (*line)(void *ctx, const char *line, size_t len), void *ctx);
/* SIGINT at first; SIGTERM when it had been asked before. */
void child_stop(struct child *c);
double child_seconds(const struct child *c);
/* Asks one that still runs to stop, waits for it a few seconds, and frees. NULL is fine. */
void child_free(struct child *c);

#endif
