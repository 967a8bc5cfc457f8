// SPDX-License-Identifier: GPL-2.0-or-later
/* beside: see beside.h. */
#include "jobs/beside.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "jobs/jobs.h"

/* The figures of one run as the store gives them, and as counted_build() takes them. */
struct loaded {
	struct store_metric *metrics; size_t n_metrics;
	struct store_hist *hists; size_t n_hists;
	struct block_figure *figures;
	struct block_hist *borrowed;
};

static int load_run(struct store *s, int64_t run, struct loaded *l, struct err *err)
{
	int rc = store_metrics(s, run, &l->metrics, &l->n_metrics, err);
	size_t i;

	if (!rc)
		rc = store_hists(s, run, &l->hists, &l->n_hists, err);
	l->figures = mem_calloc(l->n_metrics + 1, sizeof(*l->figures));
	l->borrowed = mem_calloc(l->n_hists + 1, sizeof(*l->borrowed));
	for (i = 0; i < l->n_metrics; i++)
		l->figures[i] = (struct block_figure){ l->metrics[i].name, l->metrics[i].unit,
						       l->metrics[i].value, l->metrics[i].running };
	for (i = 0; i < l->n_hists; i++)
		l->borrowed[i] = (struct block_hist){ l->hists[i].name, l->hists[i].unit, &l->hists[i].hist };
	return rc;
}

static void release_run(struct loaded *l)
{
	size_t i;

	for (i = 0; i < l->n_metrics; i++)
		store_metric_release(&l->metrics[i]);
	for (i = 0; i < l->n_hists; i++)
		store_hist_release(&l->hists[i]);
	free(l->metrics);
	free(l->hists);
	free(l->figures);
	free(l->borrowed);
}

static int load_counted(struct store *s, struct evidence *e, struct err *err)
{
	struct counted_block *blocks = mem_calloc(e->n_runs, sizeof(*blocks));
	struct loaded *l = mem_calloc(e->n_runs, sizeof(*l));
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < e->n_runs; i++) {
		rc = load_run(s, e->runs[i].id, &l[i], err);
		blocks[i] = (struct counted_block){ &e->runs[i], l[i].figures, l[i].n_metrics, l[i].borrowed,
						    l[i].n_hists };
	}
	if (!rc)
		e->counted = counted_build(blocks, e->n_runs);
	for (i = 0; i < e->n_runs; i++)
		release_run(&l[i]);
	free(l);
	free(blocks);
	return rc;
}

/* The runs as blocks that count, whatever they were: sides of a pair, or one alone. */
static int load_as(struct store *s, const struct run *runs, const enum variant *as, size_t n, struct counted **c,
		   struct err *err)
{
	struct counted_block blocks[SIDES];
	struct loaded l[SIDES] = { 0 };
	struct run copies[SIDES];
	size_t i;
	int rc = 0;

	for (i = 0; i < n; i++) {
		copies[i] = runs[i];		/* strings stay borrowed */
		copies[i].variant = as[i];
		copies[i].warmup = false;
		copies[i].state = RUN_COMPLETE;
		copies[i].ops = runs[i].ops > 0 ? runs[i].ops : 1;
		rc = rc ? rc : runs[i].id ? load_run(s, runs[i].id, &l[i], err) : 0;
		blocks[i] = (struct counted_block){ &copies[i], l[i].figures, l[i].n_metrics, l[i].borrowed,
						    l[i].n_hists };
	}
	if (!rc)
		*c = counted_build(blocks, n);
	for (i = 0; i < n; i++)
		release_run(&l[i]);
	return rc;
}

int beside_load_pair(struct store *s, struct evidence *e, struct err *err)
{
	static const enum variant sides[SIDES] = { [BEFORE] = VARIANT_BEFORE, [AFTER] = VARIANT_AFTER };

	return load_as(s, e->runs, sides, SIDES, &e->counted, err);
}

int evidence_counted(struct store *s, const char *text, struct counted **c, struct buf *records, struct err *err)
{
	static const enum variant alone[] = { VARIANT_BEFORE };
	struct store_id id;
	struct run run = { 0 };
	int rc = store_id_resolve(s, text, &id, err);

	*c = NULL;
	if (!rc && id.kind == 'e')
		rc = err_add(err, -EINVAL, "e%lld is an experiment; what was counted is of one block or recording "
			     "(`kab list --runs` shows the ids), or of both sides: kab compare e%lld.",
			     (long long)id.n, (long long)id.n);
	if (!rc)
		rc = store_run(s, id.n, &run, err);
	if (!rc)
		rc = load_as(s, &run, alone, 1, c, err);
	if (!rc)
		rc = store_text(s, id.n, "trace", records, err);
	run_release(&run);
	return rc;
}

static int load_environment(struct store *s, struct evidence *e, struct err *err)
{
	static const char *const kinds[] = { "environment-before", "environment" };
	struct buf text = BUF_INIT;
	size_t i, k;
	int rc = 0;

	for (i = 0; !rc && i < e->n_runs; i++) {
		for (k = 0; !rc && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			buf_clear(&text);
			rc = store_text(s, e->runs[i].id, kinds[k], &text, err);
			if (!rc && text.len)
				environment_add(&e->environment, buf_str(&text));
		}
	}
	buf_release(&text);
	return rc;
}

static void judge(struct evidence *e)
{
	struct buf why = BUF_INIT;
	struct drift *v;
	size_t n = environment_drift(&e->environment, &v), i;

	for (i = 0; i < n; i++) {
		if (!v[i].beyond)
			continue;
		buf_puts(&why, why.len ? " " : "");
		drift_sentence(&v[i], &why);
	}
	if (why.len)
		compare_refuse(e->cmp, buf_str(&why));
	buf_release(&why);
	free(v);
}

int beside_load(struct store *s, struct evidence *e, struct err *err)
{
	int rc = load_counted(s, e, err);

	if (!rc)
		rc = load_environment(s, e, err);
	if (!rc)
		judge(e);
	return rc;
}
