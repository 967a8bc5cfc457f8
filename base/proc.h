/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: other programs, run without a shell.
 */
#ifndef KAB_BASE_PROC_H
#define KAB_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;

struct proc_opts {
	const char *dir;		/* working directory, NULL: ours */
	int in_fd;			/* stdin; 0: /dev/null */
	int out_fd;			/* takes stdout, when `out` is NULL; 0: /dev/null */
	struct buf *out;		/* takes stdout, when not NULL; at most 64 MiB */
	struct buf *log;		/* takes the last 64 KiB of stderr, and of a stdout without taker */
	bool (*stop)(void *ctx);	/* asked about ten times a second; true kills the program's group */
	void *ctx;
};

/*
 * Runs argv[0] (looked up in PATH) to its end in a process group of its own.
 * Returns the exit status 0..255 (128 + n for signal n), or negative when it
 * could not be started (-ENOENT: no such program) or was stopped (-ECANCELED).
 * No zombie and no member of the group is left behind.
 */
int proc_run(const char *const *argv, const struct proc_opts *opts, struct err *err);

/* Whether a program of this name can be found in PATH. */
bool proc_have(const char *name);

#endif
