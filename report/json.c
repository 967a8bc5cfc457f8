// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json: a comparison for scripts. docs/json.md is the contract: keys stay, new
 * ones may come. Doubles are written so that they read back the same; what is
 * not a number is null; names are escaped as everywhere.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/err.h"
#include "base/text.h"
#include "profile/counted.h"
#include "report/claims.h"
#include "report/figure.h"
#include "report/parts.h"

#define FORMAT_VERSION 1

static json_t *string(const char *s)
{
	struct buf b = BUF_INIT;
	json_t *j;

	if (!s)
		return json_null();
	text_escape(&b, s, strlen(s), false);
	j = json_string(buf_str(&b));
	buf_release(&b);
	return j;
}

static json_t *number(double v)
{
	if (!isfinite(v))
		return json_null();
	return v == floor(v) && fabs(v) < 0x1p53 ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *interval(double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi))
		return json_null();
	return json_pack("[o, o]", number(lo), number(hi));
}

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

/* --- metrics --- */

static json_t *block_values(const struct metric *m, enum variant v)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < m->n_values[v]; i++)
		json_array_append_new(a, number(m->values[v][i]));
	return a;
}

static json_t *side_figure(const struct metric *m, enum variant v, const struct summary *s)
{
	json_t *o = json_object();

	set(o, "value", number(s->mean));
	set(o, "unit", string(m->unit));
	set(o, "n", number((double)s->n));
	set(o, "sd", number(s->sd));
	set(o, "median", number(s->median));
	set(o, "min", number(s->min));
	set(o, "max", number(s->max));
	set(o, "blocks", block_values(m, v));
	return o;
}

static json_t *counts(size_t before, size_t after)
{
	return json_pack("{s:o, s:o}", "before", number((double)before), "after", number((double)after));
}

static json_t *difference(const struct metric *m, const struct estimate *e)
{
	json_t *o = json_object(), *rel = json_object();

	set(o, "value", number(e->diff));
	set(o, "unit", string(m->unit));
	set(o, "n", counts(e->before.n, e->after.n));
	set(o, "interval", interval(e->lo, e->hi));
	set(o, "confidence_percent", number(95));
	set(rel, "value", number(100 * e->rel));
	set(rel, "unit", string("%"));
	set(rel, "n", counts(e->before.n, e->after.n));
	set(rel, "interval", interval(100 * e->rel_lo, 100 * e->rel_hi));
	set(o, "relative", rel);
	set(o, "p", number(e->p));
	set(o, "df", number(e->df));
	set(o, "method", string(e->method));
	set(o, "repeats_exactly", json_boolean(e->sd_zero));
	return o;
}

static json_t *metrics(const struct report_input *in)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < in->cmp->n_metrics; i++) {
		const struct metric *m = &in->cmp->metrics[i];
		json_t *o = json_object();

		set(o, "name", string(m->name));
		set(o, "better", string(m->better == LOWER_IS_BETTER ? "lower" : "higher"));
		set(o, "before", side_figure(m, VARIANT_BEFORE, &m->est.before));
		set(o, "after", side_figure(m, VARIANT_AFTER, &m->est.after));
		set(o, "native", m->native.n ? side_figure(m, VARIANT_NATIVE, &m->native) : json_null());
		set(o, "difference", difference(m, &m->est));
		set(o, "routing", parts_routing(in, m) ? difference(m, parts_routing(in, m)) : json_null());
		set(o, "verdict", string(parts_verdict(m)));
		json_array_append_new(a, o);
	}
	return a;
}

/* --- profile --- */

static json_t *plain_figure(double v, const char *unit)
{
	return json_pack("{s:o, s:o}", "value", number(v), "unit", string(unit));
}

static json_t *function_side(const struct report_input *in, const struct flat_diff_row *r, enum side s,
			     const char *unit)
{
	enum measure m = parts_measure(in);
	double scale = norm_scale(in->cmp->diff, in->norm, s, m);
	json_t *o = json_object();

	set(o, "self", plain_figure(r->self[s][m] * scale, unit));
	set(o, "total", plain_figure(r->total[s][m] * scale, unit));
	set(o, "samples_self", number(r->self[s][COUNT]));
	set(o, "samples_total", number(r->total[s][COUNT]));
	set(o, "rank", r->rank[s] ? number(r->rank[s]) : json_null());
	return o;
}

static json_t *function_row(const struct report_input *in, const struct flat_diff_row *r, const char *unit)
{
	static const char *const kinds[FRAME_KINDS] = {
		[FRAME_KERNEL] = "kernel", [FRAME_MODULE] = "module",
		[FRAME_USER] = "user", [FRAME_MARK] = "mark",
	};
	const struct diff *d = in->cmp->diff;
	const struct symbol *s = &d->symtab.symbols[r->symbol];
	enum measure m = parts_measure(in);
	double before = r->self[BEFORE][m] * norm_scale(d, in->norm, BEFORE, m);
	double after = r->self[AFTER][m] * norm_scale(d, in->norm, AFTER, m);
	json_t *o = json_object(), *diff = plain_figure(after - before, unit);
	bool known = r->has_interval && parts_has_intervals(in);

	set(diff, "interval", known ? interval(r->self_lo, r->self_hi) : json_null());
	set(o, "name", string(s->name));
	set(o, "dso", string(s->dso));
	set(o, "kind", string(kinds[s->kind]));
	set(o, "before", function_side(in, r, BEFORE, unit));
	set(o, "after", function_side(in, r, AFTER, unit));
	set(o, "self_difference", diff);
	return o;
}

static json_t *profile_side(const struct report_input *in, enum side s)
{
	const struct diff *d = in->cmp->diff;
	json_t *o = json_object();

	set(o, "samples", plain_figure(in->cmp->samples[s], "samples"));
	set(o, "lost", plain_figure(in->cmp->lost[s], "samples"));
	set(o, "operations", number(d->ops[s]));
	set(o, "wall", plain_figure(d->wall_ns[s], "ns"));
	set(o, "total_samples", number(d->nodes[NODE_ROOT].total[s][COUNT]));
	set(o, "total_period", number(d->nodes[NODE_ROOT].total[s][PERIOD]));
	return o;
}

static json_t *profile(const struct report_input *in)
{
	const struct compare *c = in->cmp;
	char formula[160], unit[32];
	json_t *o, *functions;
	size_t i;

	if (!c->diff)
		return json_null();
	o = json_object();
	functions = json_array();
	norm_formula(c->diff, in->norm, parts_measure(in), in->facts ? in->facts->operation : NULL, formula,
		     unit);
	set(o, "event", string(c->diff->event));
	set(o, "by", string(norm_name(in->norm)));
	set(o, "formula", string(formula));
	set(o, "before", profile_side(in, BEFORE));
	set(o, "after", profile_side(in, AFTER));
	for (i = 0; i < c->n_flat; i++)
		json_array_append_new(functions, function_row(in, &c->flat[i], unit));
	set(o, "functions", functions);
	return o;
}

/* --- what stands beside the comparison --- */

static json_t *experiment(const struct report_input *in)
{
	const struct experiment *e = in->exp;
	json_t *o;

	if (!parts_is_experiment(in))
		return json_null();
	o = json_object();
	set(o, "id", json_integer(e->id));
	set(o, "state", string(exp_state_name(e->state)));
	set(o, "case", string(e->case_name));
	set(o, "target", string(e->target));
	set(o, "kernel", string(e->kernel));
	set(o, "command", string(e->command));
	set(o, "workload", string(e->workload));
	set(o, "note", string(e->note));
	set(o, "kab_version", string(e->kab_version));
	set(o, "started", number(e->started));
	set(o, "finished", e->finished > 0 ? number(e->finished) : json_null());
	/* 64 bits do not survive readers that hold numbers as doubles */
	set(o, "seed", json_sprintf("%llu", (unsigned long long)e->seed));
	set(o, "exact", json_boolean(e->exact));
	set(o, "blocks_planned", json_integer(e->blocks_planned));
	set(o, "event", string(e->event));
	set(o, "frequency", json_pack("{s:o, s:s}", "value", number((double)e->freq_hz), "unit", "Hz"));
	return o;
}

static json_t *percent(double v, double lo, double hi, size_t n)
{
	return json_pack("{s:o, s:s, s:o, s:o}", "value", number(100 * v), "unit", "%", "n", number((double)n), "interval",
			 interval(100 * lo, 100 * hi));
}

static json_t *combined(const struct across_metric *m)
{
	const struct combined *c = &m->all;
	json_t *o = json_object();

	set(o, "relative", percent(c->value, c->lo, c->hi, c->n));
	set(o, "method", string(c->method));
	set(o, "verdict", string(m->verdict == VERDICT_TOO_FEW ? "too few machines" : verdict_name(m->verdict, m->better)));
	set(o, "these_machines", percent(c->fixed, c->fixed_lo, c->fixed_hi, c->n));
	set(o, "between_machines_sd", plain_figure(100 * c->tau, "%"));
	set(o, "i_squared", plain_figure(100 * c->i2, "%"));
	set(o, "q", number(c->q));
	set(o, "q_p", number(c->q_p));
	return o;
}

static json_t *machine_figures(const struct across *a, const struct across_metric *m)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < a->n; i++) {
		const struct estimate *e = &m->est[i];
		bool measured = e->before.n || e->after.n;
		json_t *o = json_object();

		set(o, "experiment", json_integer(a->machines[i].experiment));
		set(o, "target", string(a->machines[i].target));
		set(o, "kernel", string(a->machines[i].kernel));
		set(o, "state", string(exp_state_name(a->machines[i].state)));
		set(o, "before", measured ? plain_figure(e->before.mean, m->unit) : json_null());
		set(o, "after", measured ? plain_figure(e->after.mean, m->unit) : json_null());
		set(o, "relative", measured ? json_pack("{s:o, s:s, s:o, s:o}", "value", number(100 * e->rel), "unit", "%",
							"n", counts(e->before.n, e->after.n), "interval",
							interval(100 * e->rel_lo, 100 * e->rel_hi)) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *across(const struct report_input *in)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < in->across->n_metrics; i++) {
		const struct across_metric *m = &in->across->metrics[i];
		json_t *o = combined(m);

		set(o, "name", string(m->name));
		set(o, "machines", machine_figures(in->across, m));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *runs(const struct report_input *in)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < in->n_runs; i++) {
		const struct run *r = &in->runs[i];
		json_t *o = json_object();

		set(o, "id", json_integer(r->id));
		set(o, "variant", string(variant_name(r->variant)));
		set(o, "state", string(run_state_name(r->state)));
		set(o, "ordinal", json_integer(r->ordinal));
		set(o, "warmup", json_boolean(r->warmup));
		set(o, "sampled", json_boolean(r->sampled));
		set(o, "label", string(r->label));
		set(o, "wall", plain_figure((double)r->wall_ns, "ns"));
		set(o, "user", plain_figure((double)r->user_ns, "ns"));
		set(o, "system", plain_figure((double)r->sys_ns, "ns"));
		set(o, "operations", number(r->ops));
		set(o, "samples", number((double)r->samples));
		set(o, "lost", number((double)r->lost));
		set(o, "damaged_stacks", number((double)r->bad_stacks));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *patch_case(const struct report_input *in)
{
	const struct case_facts *f = in->facts;
	json_t *o, *claims;
	size_t i;

	if (!f)
		return json_null();
	o = json_object();
	claims = json_array();
	set(o, "name", string(f->name));
	set(o, "title", string(f->title));
	set(o, "message_id", string(f->message_id));
	set(o, "operation", string(f->operation));
	set(o, "module", string(f->module));
	for (i = 0; i < f->n_claims; i++) {
		const struct claim *claim = &f->claims[i];
		const struct metric *m = claims_metric(in->cmp, claim);
		json_t *c = json_object();

		set(c, "metric", string(claim->metric));
		set(c, "unit", string(claim->unit));
		set(c, "before", number(claim->before));
		set(c, "after", number(claim->after));
		set(c, "relative", plain_figure(100 * claims_change(claim), "%"));
		set(c, "measured_by", m ? string(m->name) : json_null());
		json_array_append_new(claims, c);
	}
	set(o, "claims", claims);
	return o;
}

static json_t *blocks(const struct compare *c)
{
	json_t *o = json_object();

	set(o, "native", number((double)c->blocks[VARIANT_NATIVE]));
	set(o, "before", number((double)c->blocks[VARIANT_BEFORE]));
	set(o, "after", number((double)c->blocks[VARIANT_AFTER]));
	set(o, "left_out", number((double)c->left_out));
	return o;
}

/* --- counters, distributions, environment --- */

static json_t *counter_side(const struct counter *c, enum variant v, const struct summary *s)
{
	json_t *o = json_object(), *blocks = json_array();
	size_t i;

	for (i = 0; i < c->n_values[v]; i++)
		json_array_append_new(blocks, number(c->values[v][i]));
	set(o, "value", number(s->mean));
	set(o, "unit", string(c->unit));
	set(o, "n", number((double)s->n));
	set(o, "sd", number(s->sd));
	set(o, "median", number(s->median));
	set(o, "min", number(s->min));
	set(o, "max", number(s->max));
	set(o, "blocks", blocks);
	return o;
}

static json_t *change(const struct estimate *e, const char *unit)
{
	const struct metric as_metric = { .unit = unit };

	return difference(&as_metric, e);
}

static json_t *counters(const struct counted *c)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; c && i < c->n; i++) {
		const struct counter *v = &c->v[i];
		json_t *o = json_object();

		set(o, "name", string(v->name));
		set(o, "supported", json_boolean(v->supported));
		set(o, "scaled", json_boolean(v->supported && v->running < 1));
		set(o, "running", v->supported && v->per_op ? number(v->running) : json_null());
		set(o, "sampled", json_boolean(v->sampled));
		set(o, "before",
		    v->supported ? counter_side(v, VARIANT_BEFORE, &v->est.before) : json_null());
		set(o, "after", v->supported ? counter_side(v, VARIANT_AFTER, &v->est.after) : json_null());
		set(o, "native", v->native.n ? counter_side(v, VARIANT_NATIVE, &v->native) : json_null());
		set(o, "difference", v->supported ? change(&v->est, v->unit) : json_null());
		set(o, "verdict", string(v->supported ? counter_verdict(&v->est) : "not supported"));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *buckets(const struct hist *h)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < h->n; i++)
		json_array_append_new(a, json_pack("[o, o, o]", number((double)hist_low(h->v[i].bucket)),
						   number((double)hist_high(h->v[i].bucket)),
						   number((double)h->v[i].n)));
	return a;
}

static json_t *distribution_side(const struct distribution *d, enum side s)
{
	json_t *o = json_object();

	set(o, "values", number((double)d->side[s].total));
	set(o, "blocks", number((double)d->blocks[s]));
	set(o, "buckets", buckets(&d->side[s]));
	return o;
}

static json_t *quantiles(const struct distribution *d)
{
	json_t *a = json_array();
	size_t q;

	for (q = 0; q < HIST_QUANTILES; q++) {
		json_t *o = json_object();

		set(o, "name", string(hist_quantiles[q].name));
		set(o, "quantile", number(hist_quantiles[q].q));
		set(o, "before", plain_figure(d->value[q][BEFORE], d->unit));
		set(o, "after", plain_figure(d->value[q][AFTER], d->unit));
		set(o, "before_mean", number(d->est[q].before.mean));
		set(o, "after_mean", number(d->est[q].after.mean));
		set(o, "difference", change(&d->est[q], d->unit));
		set(o, "verdict", string(counter_verdict(&d->est[q])));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *distributions(const struct counted *c)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; c && i < c->n_dist; i++) {
		const struct distribution *d = &c->dist[i];
		json_t *o = json_object();

		set(o, "name", string(d->name));
		set(o, "unit", string(d->unit));
		set(o, "before", distribution_side(d, BEFORE));
		set(o, "after", distribution_side(d, AFTER));
		set(o, "quantiles", quantiles(d));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *facts_of(const struct machine *m)
{
	json_t *o;
	size_t i;

	if (!m || !m->n)
		return json_null();
	o = json_object();
	for (i = 0; i < m->n; i++) {
		struct buf key = BUF_INIT;

		text_escape(&key, m->facts[i].key, strlen(m->facts[i].key), false);
		set(o, buf_str(&key), string(m->facts[i].value));
		buf_release(&key);
	}
	return o;
}

static json_t *environment(const struct report_input *in)
{
	const struct environment *e = in->environment;
	json_t *o, *moved;
	struct drift *v;
	size_t i, n;

	if (!e || !e->n)
		return json_null();
	n = environment_drift(e, &v);
	o = json_object();
	moved = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(
			moved, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", string(v[i].name), "from",
					 *v[i].before ? string(v[i].before) : json_null(), "to",
					 string(v[i].after), "limit", string(v[i].limit), "reason",
					 string(v[i].reason), "beyond", json_boolean(v[i].beyond)));
	free(v);
	set(o, "moments", number((double)e->n));
	set(o, "before", facts_of(&e->v[0]));
	set(o, "after", facts_of(&e->v[e->n - 1]));
	set(o, "moved", moved);
	set(o, "not_comparable", string(in->cmp->not_comparable));
	return o;
}

static int append(const char *text, size_t len, void *ctx)
{
	buf_add(ctx, text, len);
	return 0;
}

void report_json(const struct report_input *in, struct buf *out)
{
	json_t *o = json_object();

	set(o, "format", string("kab-comparison"));
	set(o, "version", json_integer(FORMAT_VERSION));
	set(o, "sides", json_pack("{s:o, s:o}", "before", string(parts_title(in, BEFORE)),
				  "after", string(parts_title(in, AFTER))));
	set(o, "blocks", blocks(in->cmp));
	set(o, "metrics", metrics(in));
	set(o, "counters", counters(in->counted));
	set(o, "distributions", distributions(in->counted));
	set(o, "environment", environment(in));
	if (in->across)
		set(o, "across", across(in));
	set(o, "profile", profile(in));
	set(o, "case", patch_case(in));
	set(o, "experiment", experiment(in));
	set(o, "machine", facts_of(in->machine));
	set(o, "runs", runs(in));
	json_dump_callback(o, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	buf_putc(out, '\n');
	json_decref(o);
}
