// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * evidence: what a view or a report needs of one comparison, read from the
 * session file in one go. Every figure above comes from the one `struct compare`
 * built here, so that screen, text and JSON cannot disagree.
 */
#include "jobs/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "jobs/beside.h"

/* The case as it was when the experiment ran; a session from elsewhere needs no catalogue. */
static int load_case(struct evidence *e, struct err *err)
{
	if (!e->exp.case_yaml || !e->exp.case_yaml[0])
		return 0;
	return case_parse(e->exp.case_yaml, strlen(e->exp.case_yaml), "the session file", &e->pcase, err);
}

static bool has_profile(const struct run *r)
{
	return r->sampled && !r->warmup && r->state == RUN_COMPLETE &&
		(r->variant == VARIANT_BEFORE || r->variant == VARIANT_AFTER);
}

static int build(struct store *s, struct evidence *e, struct err *err)
{
	struct compare_block *blocks = mem_calloc(e->n_runs, sizeof(*blocks));
	struct profile **profiles = mem_calloc(e->n_runs, sizeof(*profiles));
	struct store_profile_opts opts = { 0 };
	struct alias *aliases = case_aliases(&e->pcase, &opts.n_aliases);
	size_t i;
	int rc = 0;

	opts.aliases = aliases;
	for (i = 0; !rc && i < e->n_runs; i++) {
		if (has_profile(&e->runs[i]))
			rc = store_profile(s, &e->runs[i].id, 1, &opts, &profiles[i], err);
		blocks[i] = (struct compare_block){ &e->runs[i], profiles[i] };
	}
	if (!rc)
		e->cmp = compare_build(blocks, e->n_runs);
	for (i = 0; i < e->n_runs; i++)
		profile_free(profiles[i]);
	free(profiles);
	free(blocks);
	free(aliases);
	return rc;
}

/* Times only: the machines of a group are compared by their metrics, not by their profiles. */
static int compare_times(struct store *s, int64_t experiment, struct compare **cmp, struct err *err)
{
	struct compare_block *blocks;
	struct run *runs = NULL;
	size_t n = 0, i;
	int rc = store_runs(s, experiment, &runs, &n, err);

	if (rc)
		return rc;
	blocks = mem_calloc(n, sizeof(*blocks));
	for (i = 0; i < n; i++)
		blocks[i].run = &runs[i];
	*cmp = compare_build(blocks, n);
	for (i = 0; i < n; i++)
		run_release(&runs[i]);
	free(runs);
	free(blocks);
	return 0;
}

static int64_t first_of(const struct experiment *e)
{
	return e->group ? e->group : e->id;
}

/* Whether it is of the same group, in a file that may be somebody else's. */
static bool same_group(const struct experiment *a, const struct experiment *b)
{
	return first_of(a) == first_of(b) && (!a->case_name) == (!b->case_name) &&
	       (!a->case_name || !strcmp(a->case_name, b->case_name));
}

#define MACHINES_MAX 64		/* of one group; kab run takes fewer */

static int load_across(struct store *s, struct evidence *e, struct err *err)
{
	struct experiment *all = NULL, group[MACHINES_MAX];
	struct compare *cmp[MACHINES_MAX] = { NULL };
	size_t n_all = 0, n = 0, i;
	int rc = store_experiments(s, &all, &n_all, err);

	for (i = n_all; !rc && i-- > 0;)	/* oldest first, as they were measured */
		if (n < MACHINES_MAX && same_group(&all[i], &e->exp))
			group[n++] = all[i];
	for (i = 0; !rc && n > 1 && i < n; i++)
		rc = compare_times(s, group[i].id, &cmp[i], err);
	if (!rc && n > 1)
		e->across = across_build(group, (const struct compare *const *)cmp, n);
	for (i = 0; i < n; i++)
		compare_free(cmp[i]);
	for (i = 0; i < n_all; i++)
		experiment_release(&all[i]);
	free(all);
	return rc;
}

int evidence_load(struct store *s, int64_t experiment, struct evidence *e, struct err *err)
{
	int rc;

	memset(e, 0, sizeof(*e));
	rc = store_experiment(s, experiment, &e->exp, err);
	if (!rc && e->exp.machine)
		rc = store_machine(s, e->exp.machine, &e->machine, err);
	if (!rc)
		rc = store_runs(s, experiment, &e->runs, &e->n_runs, err);
	if (!rc)
		rc = load_case(e, err);
	if (!rc)
		rc = build(s, e, err);
	if (!rc)
		rc = beside_load(s, e, err);
	if (!rc)
		rc = load_across(s, e, err);
	snprintf(e->title[BEFORE], sizeof(e->title[BEFORE]), "before");
	snprintf(e->title[AFTER], sizeof(e->title[AFTER]), "after");
	if (rc)
		evidence_release(e);
	return rc;
}

/* The runs that an id stands for: itself, or the sampled blocks of one side. */
static int runs_of(struct store *s, const struct store_id *id, struct run *meta, int64_t **ids, size_t *n, struct err *err)
{
	struct run *runs = NULL;
	size_t n_runs = 0, i;
	int rc;

	*ids = NULL;
	*n = 0;
	if (id->kind != 'e') {
		rc = store_run(s, id->n, meta, err);
		if (rc)
			return rc;
		*ids = mem_dup(&meta->id, sizeof(meta->id));
		*n = 1;
		return 0;
	}
	rc = store_runs(s, id->n, &runs, &n_runs, err);
	if (rc)
		return rc;
	*ids = mem_calloc(n_runs, sizeof(**ids));
	memset(meta, 0, sizeof(*meta));
	meta->experiment = id->n;
	meta->variant = id->side;
	meta->sampled = true;
	meta->state = RUN_COMPLETE;
	for (i = 0; i < n_runs; i++) {
		const struct run *r = &runs[i];

		if (!has_profile(r) || r->variant != id->side)
			continue;
		(*ids)[(*n)++] = r->id;
		meta->wall_ns += r->wall_ns;
		meta->user_ns += r->user_ns;
		meta->sys_ns += r->sys_ns;
		meta->ops += r->ops;
		meta->samples += r->samples;
		meta->lost += r->lost;
		meta->bad_stacks += r->bad_stacks;
		meta->freq_hz = r->freq_hz;
		if (!meta->event)
			meta->event = mem_strdup(r->event);
	}
	for (i = 0; i < n_runs; i++)
		run_release(&runs[i]);
	free(runs);
	if (*n)
		return 0;
	free(*ids);
	*ids = NULL;
	return err_add(err, -ENODATA, "Experiment e%lld has no complete sampled block of \"%s\"; `kab list` shows what there "
		       "is.", (long long)id->n, variant_name(id->side));
}

/* Aliases of the case that a run or side belongs to. */
static int case_of(struct store *s, int64_t experiment, struct patch_case *c, struct err *err)
{
	struct evidence e = { 0 };
	int rc;

	memset(c, 0, sizeof(*c));
	if (!experiment)
		return 0;
	rc = store_experiment(s, experiment, &e.exp, err);
	if (!rc)
		rc = load_case(&e, err);
	if (!rc)
		*c = e.pcase;
	experiment_release(&e.exp);
	return rc;
}

int evidence_profile(struct store *s, const char *text, bool by_comm, struct profile **p, struct run *meta, struct err *err)
{
	struct store_profile_opts opts = { .by_comm = by_comm };
	struct store_id id;
	struct patch_case c = { 0 };
	struct alias *aliases = NULL;
	int64_t *ids = NULL;
	size_t n = 0;
	int rc = store_id_resolve(s, text, &id, err);

	memset(meta, 0, sizeof(*meta));
	if (!rc && id.kind == 'e' && id.side == VARIANT_NONE)
		rc = err_add(err, -EINVAL, "e%lld is an experiment with two sides; name one: e%lld:before or e%lld:after.",
			     (long long)id.n, (long long)id.n, (long long)id.n);
	if (!rc)
		rc = runs_of(s, &id, meta, &ids, &n, err);
	if (!rc)
		rc = case_of(s, meta->experiment, &c, err);
	if (!rc) {
		aliases = case_aliases(&c, &opts.n_aliases);
		opts.aliases = aliases;
		rc = store_profile(s, ids, n, &opts, p, err);
	}
	free(aliases);
	free(ids);
	case_release(&c);
	if (rc)
		run_release(meta);
	return rc;
}

/* What a side of a pair is called: its label, its command, else its id. */
static void title_of(const struct run *r, const char *id, char title[120])
{
	const char *s = r->label && r->label[0] ? r->label : r->command && r->command[0] ? r->command : id;

	snprintf(title, 120, "%.119s", s);
}

int evidence_load_pair(struct store *s, const char *before, const char *after, struct evidence *e, struct err *err)
{
	const char *ids[SIDES] = { before, after };
	struct profile *p[SIDES] = { NULL, NULL };
	int rc = 0, side;

	memset(e, 0, sizeof(*e));
	e->runs = mem_calloc(SIDES, sizeof(*e->runs));
	e->n_runs = SIDES;
	for (side = BEFORE; !rc && side < SIDES; side++) {
		rc = evidence_profile(s, ids[side], false, &p[side], &e->runs[side], err);
		if (!rc)
			title_of(&e->runs[side], ids[side], e->title[side]);
	}
	if (!rc)
		e->cmp = compare_pair(&e->runs[BEFORE], p[BEFORE], &e->runs[AFTER], p[AFTER]);
	if (!rc)
		rc = beside_load_pair(s, e, err);
	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
	if (rc)
		evidence_release(e);
	return rc;
}

void evidence_release(struct evidence *e)
{
	size_t i;

	for (i = 0; i < e->n_runs; i++)
		run_release(&e->runs[i]);
	free(e->runs);
	compare_free(e->cmp);
	counted_free(e->counted);
	environment_release(&e->environment);
	across_free(e->across);
	case_release(&e->pcase);
	machine_release(&e->machine);
	experiment_release(&e->exp);
	memset(e, 0, sizeof(*e));
}
