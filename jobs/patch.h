/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * patch: one case's module on one target, by hand: look first, load, switch,
 * unload. On this machine the module stays between commands; a guest lives as
 * long as the command, so there each one ends with the module unloaded again.
 */
#ifndef KAB_JOBS_PATCH_H
#define KAB_JOBS_PATCH_H

#include "collectors/live/live.h"
#include "lab/lab.h"
#include "patches/preflight.h"

struct patch_opts {
	const char *case_name;		/* not used by job_patch_state() */
	const char *target;
	unsigned patience_s;		/* see live_patience() */
	enum variant variant;		/* job_patch_switch() */
	struct lab_opts lab;		/* progress() hears of a transition that lasts, too */
};

/* What was done and what was seen; zeroed by its user, filled as far as it went also on failure. */
struct patch_report {
	struct preflight preflight;
	char *release;			/* of the kernel there */
	char *module;
	bool stays;			/* it is loaded still; else the guest ended, or it was unloaded */
	bool loaded, changed, unloaded;	/* which of the three below hold something */
	struct live_took load, change, unload;
	char *log;			/* what the kernel logged at warning or worse; NULL: nothing */
};
void patch_report_release(struct patch_report *r);

/* Only looks. 0 also when a check failed: see preflight_failed(). */
int job_patch_check(const struct patch_opts *o, struct patch_report *r, struct err *err);
int job_patch_load(const struct patch_opts *o, struct patch_report *r, struct err *err);
int job_patch_switch(const struct patch_opts *o, struct patch_report *r, struct err *err);
int job_patch_unload(const struct patch_opts *o, struct patch_report *r, struct err *err);
/* Which modules of kab's are loaded there; takes no rights. */
int job_patch_state(const struct patch_opts *o, struct probe *p, struct err *err);

/*
 * The preflight of a case on an open target. `ko`: the built module; NULL with `not_built` saying why, or
 * with neither when it was not tried. `to_load`: see preflight_input.
 */
int job_preflight(struct live *l, const struct patch_case *c, const char *ko, const char *not_built, bool to_load,
		  struct preflight *out, struct err *err);

#endif
