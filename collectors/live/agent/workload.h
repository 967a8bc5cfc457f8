/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: the command under measurement, as a child that is stopped before
 * its exec until everything that watches it is in place.
 */
#ifndef KAB_AGENT_WORKLOAD_H
#define KAB_AGENT_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* Who the workload runs as, when kab started the agent through sudo. */
struct identity {
	bool given;
	uid_t uid;
	gid_t gid;
	gid_t groups[32];
	size_t n_groups;
};

struct workload_opts {
	char **argv;			/* NULL-terminated */
	const struct identity *user;
	bool files;			/* output goes to memory files: nobody need read it while it runs */
};

struct workload {
	pid_t pid;			/* leader of a session of its own; 0 when reaped */
	int pidfd;			/* readable when it has ended */
	int go, status;			/* pipes: a byte lets it exec; its errno when that fails */
	int out, err;			/* of its output: non-blocking pipes or memory files; -1 closed */
	int results;			/* memory file behind $KAB_RESULT_FD */
	uint64_t started_ns, ended_ns;	/* CLOCK_MONOTONIC */
	uint64_t user_ns, sys_ns;	/* by wait4 */
	int exit_status;		/* 128 + n for signal n */
};

int workload_prepare(const struct workload_opts *o, struct workload *w, struct err *err);
/* Lets it exec; -ENOENT and others of execve with a sentence. */
int workload_go(struct workload *w, const char *program, struct err *err);
/* Reaps the ended program, then kills what it left behind. */
void workload_reap(struct workload *w);
/* Kills all of it, when it still runs, and closes everything. */
void workload_release(struct workload *w);

#endif
