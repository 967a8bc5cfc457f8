/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs: what joins the siblings. An experiment needs a case, a target, the
 * agent's stream, symbols and the store; none of those rooms knows another, so
 * they meet here, and here only.
 *
 * A job runs in its own process (`kab run`, `kab record`): the workbench starts
 * it as a child with --progress=json and reads one JSON object a line, so that a
 * crash of the screen loses no measurement and cancelling is a SIGINT.
 */
#ifndef KAB_JOBS_JOBS_H
#define KAB_JOBS_JOBS_H

#include "collectors/live/live.h"
#include "lab/lab.h"
#include "patches/case.h"
#include "profile/across.h"
#include "profile/compare.h"
#include "profile/counted.h"
#include "profile/environment.h"
#include "store/store.h"

/* --- progress --- */

enum job_phase { JOB_BUILD, JOB_FETCH, JOB_BOOT, JOB_LOAD, JOB_CHECK, JOB_BLOCK, JOB_STORE, JOB_DONE, JOB_FAILED };
const char *job_phase_name(enum job_phase p);

struct job_progress {
	enum job_phase phase;
	char text[200];			/* one line for a person */
	double fraction;		/* of the whole job, 0..1 */
	int64_t experiment;		/* 0 until known */
	unsigned block, blocks;		/* in hand, of how many in all */
	enum variant variant;		/* of the block in hand */
	bool warmup;
	double samples_per_s;
	uint64_t samples, lost;
	double before_ns, after_ns;	/* means per operation so far; NaN until known */
	double diff_rel, diff_lo, diff_hi;	/* fractions; NaN until known */
};
/* One line of JSON without newline, and back; -EINVAL for anything else. */
void job_progress_json(const struct job_progress *p, struct buf *out);
int job_progress_parse(const char *line, size_t len, struct job_progress *p);

struct job_watch {
	void (*progress)(void *ctx, const struct job_progress *p);
	bool (*stop)(void *ctx);
	void *ctx;
};

/* --- run an experiment --- */

struct job_run_opts {
	const char *case_name;
	const char *target;		/* "vm", "local", "ssh:HOST" */
	bool keep_agent;		/* see struct target */
	bool exact;
	unsigned blocks;		/* per variant */
	unsigned ops;			/* per block; 0: the case's */
	const char *event;		/* --events, see profile/events.h; NULL: chosen by the agent */
	bool no_counters;		/* timed blocks are not counted */
	uint64_t freq_hz;
	uint64_t seed;			/* 0: from the clock */
	const char *command;		/* kab's command line, kept in the session */
	const char *job;		/* the settings as a job file, kept in the session; NULL: none */
	int64_t group;			/* of the experiments that measure the same on several machines, the first; 0 */
	const char *workload;		/* --workload; NULL: the case's */
	const char *const *params;	/* "NAME=VALUE" of the case's module, NULL at the end; may be NULL */
	struct lab_opts lab;
};
/* Stores everything in `s`; *experiment is set as soon as there is one. -ECANCELED when stopped: what was measured stays. */
int job_run(struct store *s, const struct job_run_opts *o, const struct job_watch *w, int64_t *experiment, struct err *err);

/* Whether the case can be measured on the target, as far as is known without opening it. */
int job_run_check(const struct job_run_opts *o, const struct job_watch *w, struct err *err);

struct job_record_opts {
	const char *target, *label, *event;
	bool keep_agent;		/* see struct target */
	uint64_t freq_hz;
	const char *const *argv;
	struct lab_opts lab;
};
/* `note` takes what to know of a recording that worked: kernel code left out, names hidden. */
int job_record(struct store *s, const struct job_record_opts *o, const struct job_watch *w, int64_t *run,
	       int *exit_status, struct err *note, struct err *err);

/* --- evidence: all that a report or a view shows of one comparison --- */

struct evidence {
	struct experiment exp;		/* id 0 for a pair of profiles */
	struct machine machine;
	struct patch_case pcase;	/* facts.name NULL when there is no case */
	struct run *runs; size_t n_runs;
	struct compare *cmp;
	struct counted *counted;	/* beside the times; NULL for a pair of profiles */
	struct environment environment;	/* what was seen before, between and after the blocks */
	struct across *across;		/* of an experiment that is one of several machines; else NULL */
	char title[2][120];		/* of the sides: "before", "after", or labels */
};
/* Of an experiment, or of two profiles. */
int evidence_load(struct store *s, int64_t experiment, struct evidence *e, struct err *err);
int evidence_load_pair(struct store *s, const char *before, const char *after, struct evidence *e, struct err *err);
void evidence_release(struct evidence *e);
/* What was counted in one block or recording, as its BEFORE side, and the first records of its tracepoints as text. */
int evidence_counted(struct store *s, const char *id, struct counted **c, struct buf *records, struct err *err);
/* One sealed profile for an id ("r12", "p5", "e3:before"), aliases applied. */
int evidence_profile(struct store *s, const char *id, bool by_comm, struct profile **p, struct run *meta, struct err *err);

#endif
