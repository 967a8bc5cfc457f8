/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target: where a measurement runs, opened for use: an agent that answers, its
 * stream bound to the store by an ingest. One table row a kind of target.
 */
#ifndef KAB_JOBS_TARGET_H
#define KAB_JOBS_TARGET_H

#include "jobs/ingest.h"
#include "lab/lab.h"

struct target_kind;

struct target {
	const struct target_kind *kind;
	struct ingest ingest;
	struct live *live;
	struct lab_guest *guest;	/* vm only */
	struct lab_kernel kernel;	/* release and build are set for every kind; the rest vm only */
	char *agent;			/* path of kab-agent here */
	struct target_file { char *remote, *local; } *files;	/* what we put there, for symbols */
	size_t n_files;
	struct live_sink sink;
};

struct target_kind {
	const char *name;
	bool gives_root;	/* the agent runs as root there, whoever we are */
	/* Finds kernel and headers: after it, modules can be built. `lab` is used by vm. */
	int (*find)(struct target *t, const struct lab_opts *lab, struct err *err);
	/* Starts the agent; `as_root`: the job needs more than sampling its own user's programs. */
	int (*open)(struct target *t, const struct lab_opts *lab, bool as_root, struct err *err);
	/* Says why modules cannot be loaded there, when that is known before opening; 0 when they can. */
	int (*can_load)(struct target *t, struct err *err);
};

/* -EINVAL with the kinds there are. */
int target_init(struct target *t, const char *name, struct store *s, struct err *err);
/* Ends agent and guest; safe at any stage after target_init(). */
void target_release(struct target *t);
/* Puts a program there and remembers it for symbols; *remote is the caller's. */
int target_put(struct target *t, const char *local, char **remote, struct err *err);
/* The same in the place that `hint` names (see live_put()); NULL: by its own name. */
int target_put_as(struct target *t, const char *local, const char *hint, char **remote, struct err *err);
/* live_facts() plus what only this side knows of the target. */
int target_facts(struct target *t, struct machine *m, struct err *err);
/* The last console lines of a guest that is no longer alive, as a sentence; else nothing. */
void target_last_words(struct target *t, struct err *err);

#endif
