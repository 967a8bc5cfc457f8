// SPDX-License-Identifier: GPL-2.0-or-later
/* across: see across.h. The writers in report/ show it. */
#include "profile/across.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct metric *metric_named(const struct compare *c, const char *name)
{
	size_t i;

	for (i = 0; c && i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].name, name))
			return &c->metrics[i];
	return NULL;
}

/* The standard error that the interval was made of. */
static double relative_se(const struct estimate *e)
{
	double half = (e->rel_hi - e->rel_lo) / 2;

	return e->df > 0 ? half / gsl_cdf_tdist_Pinv(0.975, e->df) : NAN;
}

static enum verdict judge(const struct combined *c, enum direction better)
{
	if (c->n < 2)
		return VERDICT_TOO_FEW;
	if (c->hi < 0)
		return better == LOWER_IS_BETTER ? VERDICT_BETTER : VERDICT_WORSE;
	if (c->lo > 0)
		return better == LOWER_IS_BETTER ? VERDICT_WORSE : VERDICT_BETTER;
	return VERDICT_UNDECIDED;
}

static void add_metric(struct across *a, const struct metric *like, const struct compare *const *cmp)
{
	struct combine_in *in = mem_calloc(a->n, sizeof(*in));
	struct across_metric *m = &a->metrics[a->n_metrics++];
	size_t i;

	m->name = mem_strdup(like->name);
	m->unit = mem_strdup(like->unit);
	m->better = like->better;
	m->est = mem_calloc(a->n, sizeof(*m->est));
	for (i = 0; i < a->n; i++) {
		const struct metric *of = metric_named(cmp[i], like->name);

		in[i] = (struct combine_in){ NAN, NAN };
		if (!of)
			continue;
		m->est[i] = of->est;
		in[i] = (struct combine_in){ of->est.rel, relative_se(&of->est) };
	}
	m->all = combine(in, a->n);
	m->verdict = judge(&m->all, m->better);
	free(in);
}

struct across *across_build(const struct experiment *exps, const struct compare *const *cmp, size_t n)
{
	struct across *a = mem_alloc(sizeof(*a));
	const struct compare *like = NULL;
	size_t i;

	a->n = n;
	a->machines = mem_calloc(n, sizeof(*a->machines));
	for (i = 0; i < n; i++) {
		a->machines[i] = (struct across_machine){
			.experiment = exps[i].id, .target = mem_strdup(exps[i].target),
			.kernel = mem_strdup(exps[i].kernel), .state = exps[i].state,
		};
		if (!like && cmp[i] && cmp[i]->n_metrics)
			like = cmp[i];
	}
	if (!like)
		return a;
	a->metrics = mem_calloc(like->n_metrics, sizeof(*a->metrics));
	for (i = 0; i < like->n_metrics; i++)
		add_metric(a, &like->metrics[i], cmp);
	return a;
}

void across_free(struct across *a)
{
	size_t i;

	if (!a)
		return;
	for (i = 0; i < a->n; i++) {
		free(a->machines[i].target);
		free(a->machines[i].kernel);
	}
	for (i = 0; i < a->n_metrics; i++) {
		free(a->metrics[i].name);
		free(a->metrics[i].unit);
		free(a->metrics[i].est);
	}
	free(a->machines);
	free(a->metrics);
	free(a);
}
