/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store: the session file. The only room with SQL and <sqlite3.h>.
 *
 * One SQLite database in WAL mode holds experiments, runs, metrics, threads,
 * symbols, stacks (a prefix tree), folded samples and the raw samples in
 * compressed chunks. It is written while recording goes on and read by others
 * at the same time; kill -9 of the writer loses at most the last second.
 * A file from elsewhere is untrusted: its schema is compared with ours, its
 * blobs and indices are checked before use, no SQL from it is ever run.
 *
 * Ids: "e3" is an experiment, "r12" a run (block), "p5" an imported profile or
 * a recording; "e3:before" one side of an experiment. Numbers come from one sequence.
 */
#ifndef KAB_STORE_STORE_H
#define KAB_STORE_STORE_H

#include "profile/experiment.h"
#include "profile/hist.h"
#include "profile/profile.h"

struct buf;
struct err;
struct store;

#define STORE_APPLICATION_ID 0x6b616231		/* "kab1" */
#define STORE_VERSION 3				/* user_version */

enum store_mode { STORE_READ, STORE_WRITE };	/* STORE_WRITE creates the file when absent */

/*
 * Errors are sentences with a remedy: not a session file; from a newer kab;
 * damaged; no room on the device; no right to write. STORE_READ of a file that
 * does not exist says how to make one; an older file is read as it is, and brought
 * up to date when it is opened for writing. On open for writing, experiments and runs
 * still marked running whose writer is gone (pid and start time are stored)
 * become incomplete.
 */
int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err);
/* Commits what is pending and checkpoints the WAL; NULL is fine. */
int store_close(struct store *s, struct err *err);
const char *store_path(const struct store *s);
/* PRAGMA integrity_check and foreign_key_check, and that every stack lies behind its parent. */
int store_check(struct store *s, struct err *err);
/* Changes whenever another process has committed (PRAGMA data_version). */
int64_t store_data_version(struct store *s);

/* --- ids --- */
struct store_id { char kind; int64_t n; enum variant side; };	/* kind 'e', 'r', 'p' */
int store_id_parse(const char *text, struct store_id *id, struct err *err);
/* Finds the row: a bare number is looked up whatever its kind. -ENOENT with what `kab list` would help. */
int store_id_resolve(struct store *s, const char *text, struct store_id *id, struct err *err);
void store_id_format(const struct store_id *id, char out[40]);

/* --- writing. One transaction is kept open and committed by store_tick() when it is
 *     half a second old, and by every _begin/_finish call. --- */
/* Sets m->id; equal facts are one row. */
int store_machine_add(struct store *s, struct machine *m, struct err *err);
int store_experiment_begin(struct store *s, struct experiment *e, struct err *err);	/* sets e->id */
int store_experiment_finish(struct store *s, const struct experiment *e, struct err *err);
int store_run_begin(struct store *s, struct run *r, struct err *err);			/* sets r->id */
int store_run_finish(struct store *s, const struct run *r, struct err *err);
int store_metric_add(struct store *s, int64_t run, const char *name, const char *unit, double value,
		     struct err *err);
/*
 * A count of the whole run, to be divided by its operations. `running`: the share of the time it was counted
 * in; under 1 the value is extrapolated, 0 with a NaN says that the machine does not count it.
 */
int store_counter_add(struct store *s, int64_t run, const char *name, const char *unit, double value,
		      double running, struct err *err);
int store_hist_add(struct store *s, int64_t run, const char *name, const char *unit, const struct hist *h,
		   struct err *err);
/* `kind` is "kernel-log", "output", "note", "trace", "format:SYSTEM:EVENT", "environment",
 * "environment-before". */
int store_text_add(struct store *s, int64_t run, const char *kind, const char *text, struct err *err);

/* The three ids below are the store's row ids, valid in this file for ever. */
int store_thread(struct store *s, int64_t run, uint32_t pid, uint32_t tid, const char *comm, int64_t *id,
		 struct err *err);
int store_symbol(struct store *s, const char *name, const char *dso, const char *build_id,
		 enum frame_kind kind, int64_t *id, struct err *err);
/* Child of `parent` (0: root) with this symbol; the prefix tree is shared by all runs. */
int store_stack_child(struct store *s, int64_t parent, int64_t symbol, int64_t *id, struct err *err);

struct store_sample {
	uint64_t time_ns;	/* of the target's clock */
	uint64_t period;
	uint64_t addr;		/* leaf instruction: offset into its symbol, for annotate */
	int64_t thread;
	int64_t stack;		/* 0: no callchain */
	uint32_t cpu;
	uint32_t event;		/* index into the run's events, see store_event() */
};
int store_event(struct store *s, int64_t run, uint32_t index, const char *name, const char *unit,
		struct err *err);
/*
 * Adds to the raw chunk (zstd) and to the folded counts, in memory; both reach the file together, with the
 * next commit. Commits by itself, as store_tick() does, so that a stream of samples needs no other clock.
 */
int store_samples(struct store *s, int64_t run, const struct store_sample *v, size_t n, struct err *err);
int store_tick(struct store *s, struct err *err);

/* --- reading. Arrays are the caller's: release each element, free the array. --- */
/* Newest first. */
int store_experiments(struct store *s, struct experiment **v, size_t *n, struct err *err);
int store_experiment(struct store *s, int64_t id, struct experiment *e, struct err *err);
/* Runs of an experiment in order; experiment 0: recordings and imports, newest first. */
int store_runs(struct store *s, int64_t experiment, struct run **v, size_t *n, struct err *err);
int store_run(struct store *s, int64_t id, struct run *r, struct err *err);
int store_machine(struct store *s, int64_t id, struct machine *m, struct err *err);
/* `running` is NaN for what is no count of the whole run, and not to be divided by operations. */
struct store_metric { char *name, *unit; double value, running; };
int store_metrics(struct store *s, int64_t run, struct store_metric **v, size_t *n, struct err *err);
void store_metric_release(struct store_metric *m);
struct store_hist { char *name, *unit; struct hist hist; };
int store_hists(struct store *s, int64_t run, struct store_hist **v, size_t *n, struct err *err);
void store_hist_release(struct store_hist *h);
/* Appends the run's texts of this kind, in the order they were added, raw as met. */
int store_text(struct store *s, int64_t run, const char *kind, struct buf *out, struct err *err);
struct store_thread_row { uint32_t pid, tid; char *comm; double samples; };
int store_threads(struct store *s, int64_t run, struct store_thread_row **v, size_t *n, struct err *err);
void store_thread_row_release(struct store_thread_row *t);

/*
 * Folds the samples of the runs into one sealed profile. Options: group the
 * tree below one frame per comm (as perf's flat style needs); renames.
 */
struct store_profile_opts {
	const struct alias *aliases; size_t n_aliases;
	bool by_comm;			/* first level is FRAME_MARK comm */
	uint32_t event;			/* index */
};
int store_profile(struct store *s, const int64_t *runs, size_t n_runs, const struct store_profile_opts *opts,
		  struct profile **out, struct err *err);
/* Raw samples of a run in time order, for time views and tests: calls back per chunk. */
int store_raw(struct store *s, int64_t run, int (*fn)(void *ctx, const struct store_sample *v, size_t n),
	      void *ctx, struct err *err);

#endif
