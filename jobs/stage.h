/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stage: a case's workload with all that it needs, put on an open target, and
 * the case's own commands run there, with the words of case_expand() filled in.
 */
#ifndef KAB_JOBS_STAGE_H
#define KAB_JOBS_STAGE_H

#include "jobs/target.h"
#include "patches/case.h"

struct stage {
	struct target *t;		/* both borrowed */
	const struct patch_case *c;
	unsigned ops;
	char *workload;			/* on the target; NULL before stage_open() */
};

/* `workload`: the built program, here. */
int stage_open(struct stage *s, const char *workload, struct err *err);
void stage_release(struct stage *s);

/* The caller frees. Before stage_open() {dir} and {workload} stay as they are. */
char *stage_expand(const struct stage *s, const char *text);
/* The argument vector of a block: the case's workload, or `command` for a shell; NULL at the end. */
char **stage_argv(const struct stage *s, const char *command);
void stage_argv_free(char **argv);

/* One of the case's commands; -EIO when it does not end with 0. `out` gets what it prints. */
int stage_shell(struct stage *s, const char *command, struct buf *out, struct err *err);
int stage_setup(struct stage *s, struct err *err);
/* What each check command prints now; an array of c->n_check, to be freed with stage_outputs_free(). */
int stage_outputs(struct stage *s, struct buf **out, struct err *err);
void stage_outputs_free(const struct stage *s, struct buf *out);

#endif
