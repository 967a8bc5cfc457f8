/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * supervise: nothing of the agent outlives it.
 *
 * Two processes watch each other: the worker does everything, the supervisor
 * waits. When the worker dies, whatever killed it, the supervisor kills what
 * the worker left running, unloads its modules and removes its files, by a
 * ledger in shared memory. When the supervisor dies, the worker sees its leash
 * (a pipe) end and does the same itself.
 */
#ifndef KAB_AGENT_SUPERVISE_H
#define KAB_AGENT_SUPERVISE_H

#include <stdbool.h>

struct err;

#define LEDGER_MODULES 16
#define MODULE_NAME 56		/* the kernel's limit */

/* What is to be undone. The worker writes before it acts, the supervisor reads once the worker is gone. */
struct ledger {
	char modules[LEDGER_MODULES][MODULE_NAME];	/* "" is free */
	char folder[64];				/* where files were put, "" none */
};
bool ledger_add(struct ledger *l, const char *module);
void ledger_drop(struct ledger *l, const char *module);

struct worker {
	struct ledger *ledger;	/* shared with the supervisor */
	int leash;		/* readable (its end) when the supervisor is gone */
	void *ctx;
};

/*
 * Forks the worker, which runs `work` and exits with what it returns. The caller
 * becomes the supervisor, closes its copies of `stream` and returns the exit
 * status of the worker once all is undone.
 */
int supervise(const int stream[2], int (*work)(struct worker *w), void *ctx, struct err *err);

/* Kills every child of this process, and theirs, until none is left. Needs PR_SET_CHILD_SUBREAPER. */
void tree_kill(void);
/* Undoes what the ledger names; waits for livepatch transitions. */
void ledger_undo(struct ledger *l);

#endif
