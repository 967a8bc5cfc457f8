/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target: where a measurement runs, opened for use: an agent that answers, its
 * stream bound to the store by an ingest. One table row a kind of target.
 */
#ifndef KAB_JOBS_TARGET_H
#define KAB_JOBS_TARGET_H

#include "jobs/ingest.h"
#include "lab/lab.h"
#include "patches/case.h"

struct target_kind;
struct ssh_host;

struct target {
	const struct target_kind *kind;
	struct ingest ingest;
	struct live *live;
	struct lab_guest *guest;	/* vm only */
	struct lab_kernel kernel;	/* release and build are set for every kind; the rest vm only */
	char *host;			/* ssh only: what stands behind "ssh:" */
	struct ssh_host *ssh;		/* ssh only: what is known of it */
	bool keep_agent;		/* ssh only: what was copied there stays */
	char *agent;			/* path of kab-agent here */
	struct target_file { char *remote, *local; } *files;	/* what we put there, for symbols */
	size_t n_files;
	struct live_sink sink;
};

/* Which programs of a recording are files of this machine, to be put there first. */
enum target_carries { CARRY_NONE, CARRY_PATHS, CARRY_RELATIVE };

struct target_kind {
	const char *name;		/* one that ends with ':' is followed by a host */
	bool gives_root;		/* the agent runs as root there, whoever we are */
	bool passing;			/* it ends with the command, and what was loaded there with it */
	bool shows_output;		/* what a recorded command prints is ours to show as it comes */
	enum target_carries carries;
	/* The file here that was mapped there, for symbols; see symboliser_new(). */
	const char *(*file)(void *target, const char *path, const char *build_id);
	/* Finds kernel and headers: after it, modules can be built. `lab` is used by vm; its stop by all. */
	int (*find)(struct target *t, const struct lab_opts *lab, struct err *err);
	/* Starts the agent; `as_root`: the job needs more than sampling its own user's programs. */
	int (*open)(struct target *t, const struct lab_opts *lab, bool as_root, struct err *err);
	/* Says why modules cannot be loaded there, when that is known before opening; 0 when they can. */
	int (*can_load)(struct target *t, struct err *err);
	/* Builds module and workload of a case for it; NULL: here, against t->kernel.build. */
	int (*build)(struct target *t, const struct patch_case *c, const struct lab_opts *lab, struct case_build *b,
		     struct err *err);
	/* Ends what open() began, after the agent has; NULL: nothing. */
	void (*close)(struct target *t);
};

/* -EINVAL with the kinds there are. */
int target_init(struct target *t, const char *name, struct store *s, struct err *err);
/* Ends agent and guest; safe at any stage after target_init(). */
void target_release(struct target *t);
/* Module and workload of a case, built for this target wherever that can be done. */
int target_build(struct target *t, const struct patch_case *c, const struct lab_opts *lab, struct case_build *b,
		 struct err *err);
/* Puts a program there and remembers it for symbols; *remote is the caller's. */
int target_put(struct target *t, const char *local, char **remote, struct err *err);
/* The same in the place that `hint` names (see live_put()); NULL: by its own name. */
int target_put_as(struct target *t, const char *local, const char *hint, char **remote, struct err *err);
/* live_facts() plus what only this side knows of the target. */
int target_facts(struct target *t, struct machine *m, struct err *err);
/* The last console lines of a guest that is no longer alive, as a sentence; else nothing. */
void target_last_words(struct target *t, struct err *err);

/* The row of another machine, in target_ssh.c. */
extern const struct target_kind target_ssh;

#endif
