/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preflight: can this case's module work on that kernel? One row a question,
 * with the remedy where the answer is no. Judged from what an agent found
 * there; pure, nothing is touched.
 */
#ifndef KAB_PATCHES_PREFLIGHT_H
#define KAB_PATCHES_PREFLIGHT_H

#include "base/vec.h"
#include "patches/case.h"
#include "patches/module.h"
#include "profile/probe.h"

struct buf;
struct err;

enum check_state { CHECK_OK, CHECK_NOTE, CHECK_FAIL };

struct check_row {
	enum check_state state;
	char *what;		/* "kernel", or the function in question */
	char *said;		/* one sentence, the remedy included */
};

struct preflight { VEC(struct check_row) rows; };

struct preflight_input {
	const struct patch_case *c;
	const struct module_info *module;	/* NULL when it was not built */
	const char *not_built;			/* then: why, a sentence; NULL when nobody tried */
	const struct machine *facts;		/* of live_facts() */
	const struct probe *probe;		/* of preflight_symbols() */
	bool to_load;				/* a module that is loaded already is then in the way */
};

/* Names to probe for, borrowed from `c` and `m` (may be NULL); the caller frees the array. */
const char **preflight_symbols(const struct patch_case *c, const struct module_info *m, size_t *n);
void preflight_judge(const struct preflight_input *in, struct preflight *out);
/* 0, or -ENOTSUP and a sentence with the first check that failed and how to see them all. */
int preflight_verdict(const struct preflight *p, const char *case_name, const char *target, struct err *err);
/* Appends a row; for whoever has more to say in the same form. */
void preflight_add(struct preflight *p, enum check_state state, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
size_t preflight_failed(const struct preflight *p);
void preflight_release(struct preflight *p);

const char *check_state_name(enum check_state s);	/* "ok", "note", "no" */
/* One line a row. */
void preflight_text(const struct preflight *p, struct buf *out);

#endif
