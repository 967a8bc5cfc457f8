/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data: what the views show, read from the session file and the catalogue.
 *
 * Everything slow is behind data_load() and data_lists(), so that a worker can
 * take them over. What is loaded is read-only for the views.
 */
#ifndef KAB_TUI_DATA_H
#define KAB_TUI_DATA_H

#include "jobs/jobs.h"
#include "profile/compare.h"
#include "tui/figures.h"

struct err;
struct store;

struct case_row {
	char *name;
	struct patch_case pcase;
	char *error;			/* why the case cannot be read; NULL when it can */
	int64_t newest;			/* experiment; 0: never measured */
	bool measured;			/* `result` is filled */
	struct estimate result;		/* wall time per operation of the newest */
};

struct exp_row {
	struct experiment exp;
	struct run *runs; size_t n_runs;
	size_t done[VARIANT_COUNT];	/* complete blocks that count */
	struct estimate result;		/* wall time per operation; n 0 without blocks */
};

struct data {
	struct store *store;
	struct case_row *cases; size_t n_cases;
	struct exp_row *exps; size_t n_exps;	/* newest first */
	struct run *loose; size_t n_loose;	/* recordings and imports, newest first */
	int64_t version;		/* of the file, when the lists were read */

	/* What is looked at: a comparison, or one profile as a diff with an empty side. */
	char id[40];			/* "e3", "p5"; "" when nothing is loaded */
	struct evidence ev;
	bool has_evidence;
	struct run run;			/* of a single profile */
	struct diff *diff;		/* NULL without samples; borrowed from ev.cmp, or ours when single */
	struct flat_diff_row *flat; size_t n_flat;	/* the same ownership */
	bool single;
	unsigned serial;		/* steps with every load */
};

int data_open(struct data *d, const char *path, struct err *err);
void data_release(struct data *d);

/* Catalogue, experiments and runs anew. What fails is told and the rest is kept. */
int data_lists(struct data *d, struct err *err);
/* Whether another process has written since. */
bool data_stale(struct data *d);
/* Loads what `id` names in place of what was loaded; on failure the old one stays. */
int data_load(struct data *d, const char *id, struct err *err);

/* What one operation is, for formulas; NULL when unknown. */
const char *data_operation(const struct data *d);
/* "net-procfs e3, vm exact, Linux 6.1.0, 8 + 8 blocks", not escaped. */
void data_title(const struct data *d, struct buf *out);

#endif
