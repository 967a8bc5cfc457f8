// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * data: see data.h. Reads through jobs, store and patches; every view reads
 * what is here and none of them writes it.
 */
#include "tui/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "patches/case.h"
#include "store/store.h"

int data_open(struct data *d, const char *path, struct err *err)
{
	struct err writing = ERR_INIT;
	int rc;

	memset(d, 0, sizeof(*d));
	/* Opened for writing once: it makes the file, and marks what a dead writer left. A file that
	 * cannot be written can still be looked at; its own error is the one to tell. */
	rc = store_open(path, STORE_WRITE, &d->store, &writing);
	if (!rc)
		store_close(d->store, NULL);
	d->store = NULL;
	return store_open(path, STORE_READ, &d->store, err);
}

static void unload(struct data *d)
{
	if (d->single) {
		diff_free(d->diff);
		free(d->flat);
	}
	evidence_release(&d->ev);
	run_release(&d->run);
	memset(&d->run, 0, sizeof(d->run));
	d->diff = NULL;
	d->flat = NULL;
	d->n_flat = 0;
	d->has_evidence = d->single = false;
	d->id[0] = '\0';
	d->serial++;
}

static void release_lists(struct data *d)
{
	size_t i, k;

	for (i = 0; i < d->n_cases; i++) {
		free(d->cases[i].name);
		free(d->cases[i].error);
		case_release(&d->cases[i].pcase);
	}
	for (i = 0; i < d->n_exps; i++) {
		for (k = 0; k < d->exps[i].n_runs; k++)
			run_release(&d->exps[i].runs[k]);
		free(d->exps[i].runs);
		experiment_release(&d->exps[i].exp);
	}
	for (i = 0; i < d->n_loose; i++)
		run_release(&d->loose[i]);
	free(d->cases);
	free(d->exps);
	free(d->loose);
	d->cases = NULL;
	d->exps = NULL;
	d->loose = NULL;
	d->n_cases = d->n_exps = d->n_loose = 0;
}

void data_release(struct data *d)
{
	unload(d);
	release_lists(d);
	store_close(d->store, NULL);
	d->store = NULL;
}

/* The result of the blocks alone: no profile is folded for a list. */
static void measure_blocks(struct exp_row *e)
{
	struct compare_block *blocks = mem_calloc(e->n_runs ? e->n_runs : 1, sizeof(*blocks));
	struct verdict_design design = verdict_design_of(&e->exp);
	struct compare *c;
	size_t i;

	for (i = 0; i < e->n_runs; i++)
		blocks[i].run = &e->runs[i];
	c = compare_build(blocks, e->n_runs, &design);
	if (c && c->n_metrics)
		e->result = c->metrics[0].est;
	if (c)
		memcpy(e->done, c->blocks, sizeof(e->done));
	compare_free(c);
	free(blocks);
}

static int read_experiments(struct data *d, struct err *err)
{
	struct experiment *v = NULL;
	size_t n = 0, i;
	int rc = store_experiments(d->store, &v, &n, err);

	if (rc)
		return rc;
	d->exps = mem_calloc(n ? n : 1, sizeof(*d->exps));
	d->n_exps = n;
	for (i = 0; i < n; i++) {
		struct exp_row *e = &d->exps[i];
		int r;

		e->exp = v[i];
		r = store_runs(d->store, e->exp.id, &e->runs, &e->n_runs, err);
		if (r)
			rc = r;
		else
			measure_blocks(e);
	}
	free(v);
	return rc;
}

/* A case that cannot be read stays in the list, with the reason. */
static int read_cases(struct data *d, struct err *err)
{
	char **names = NULL;
	size_t n = 0, i, k;
	int rc = case_names(&names, &n, err);

	if (rc)
		return rc;
	d->cases = mem_calloc(n ? n : 1, sizeof(*d->cases));
	d->n_cases = n;
	for (i = 0; i < n; i++) {
		struct case_row *c = &d->cases[i];
		struct err why = ERR_INIT;

		c->name = names[i];
		if (case_load(c->name, &c->pcase, &why))
			c->error = mem_strdup(why.text);
		for (k = 0; k < d->n_exps && !c->newest; k++) {
			const struct exp_row *e = &d->exps[k];

			if (!e->exp.case_name || strcmp(e->exp.case_name, c->name))
				continue;
			c->newest = e->exp.id;
			c->result = e->result;
			c->measured = e->result.before.n && e->result.after.n;
		}
	}
	free(names);
	return 0;
}

int data_lists(struct data *d, struct err *err)
{
	int rc, r;

	release_lists(d);
	d->version = store_data_version(d->store);
	rc = read_experiments(d, err);
	r = store_runs(d->store, 0, &d->loose, &d->n_loose, err);
	rc = rc ? rc : r;
	r = read_cases(d, err);
	return rc ? rc : r;
}

bool data_stale(struct data *d)
{
	return d->store && store_data_version(d->store) != d->version;
}

static int load_comparison(struct data *d, int64_t id, struct err *err)
{
	struct evidence ev;
	int rc = evidence_load(d->store, id, &ev, err);

	if (rc)
		return rc;
	unload(d);
	d->ev = ev;
	d->has_evidence = true;
	d->diff = ev.cmp->diff;
	d->flat = ev.cmp->flat;
	d->n_flat = ev.cmp->n_flat;
	return 0;
}

static int load_single(struct data *d, const char *id, struct err *err)
{
	struct diff_side sides[SIDES] = { 0 };
	struct profile *p = NULL;
	struct run meta;
	int rc = evidence_profile(d->store, id, false, &p, &meta, err);

	if (rc)
		return rc;
	sides[BEFORE] = (struct diff_side){ p, meta.ops, (double)meta.wall_ns };
	unload(d);
	d->run = meta;
	d->single = true;
	d->diff = diff_build(sides);
	diff_set_event(d->diff, meta.event);
	d->flat = diff_flat(d->diff, PERIOD, &d->n_flat);
	profile_free(p);
	return 0;
}

int data_load(struct data *d, const char *id, struct err *err)
{
	struct store_id sid;
	char text[40];
	int rc = store_id_resolve(d->store, id, &sid, err);

	if (rc)
		return rc;
	store_id_format(&sid, text);
	if (sid.kind == 'e' && sid.side == VARIANT_NONE)
		rc = load_comparison(d, sid.n, err);
	else
		rc = load_single(d, text, err);
	if (!rc)
		memcpy(d->id, text, sizeof(d->id));
	return rc;
}

const char *data_operation(const struct data *d)
{
	return d->has_evidence ? d->ev.pcase.facts.operation : NULL;
}

void data_title(const struct data *d, struct buf *out)
{
	const struct experiment *e = &d->ev.exp;

	if (d->single) {
		buf_printf(out, "%s  %s", d->id, d->run.label ? d->run.label :
			   d->run.command ? d->run.command :
			   d->run.variant != VARIANT_NONE ? variant_name(d->run.variant) : "profile");
		return;
	}
	if (!d->has_evidence)
		return;
	buf_printf(out, "%s  %s", d->id, e->case_name ? e->case_name : "");
	if (e->target)
		buf_printf(out, "  %s%s", e->target, e->exact ? " exact" : "");
	if (e->kernel)
		buf_printf(out, "  Linux %s", e->kernel);
	buf_printf(out, "  %zu + %zu blocks", d->ev.cmp->blocks[VARIANT_BEFORE],
		   d->ev.cmp->blocks[VARIANT_AFTER]);
	if (e->state != EXP_COMPLETE)
		buf_printf(out, "  %s", exp_state_name(e->state));
}
