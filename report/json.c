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

static json_t *plain_figure(double v, const char *unit)
{
	return json_pack("{s:o, s:o}", "value", number(v), "unit", string(unit));
}

static json_t *effect(const struct effect *e, const char *unit)
{
	json_t *o;

	if (!e->method)
		return json_null();
	o = plain_figure(e->diff, unit);
	set(o, "interval", interval(e->lo, e->hi));
	set(o, "p", number(e->p));
	set(o, "method", string(e->method));
	return o;
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

/* By which rule of profile/verdict.h the difference was judged, and what did not decide. */
static void judgement(json_t *o, const struct metric *m)
{
	const struct estimate *e = &m->est;

	set(o, "pairs", number((double)e->pairs));
	set(o, "pair_sd", plain_figure(e->diff_sd, m->unit));
	set(o, "sequential", json_boolean(e->sequential));
	set(o, "by_rank", json_boolean(e->by_rank));
	set(o, "nominal", effect(&e->nominal, m->unit));
	set(o, "companion", effect(&e->other, m->unit));
	set(o, "margin", plain_figure(100 * e->margin, "%"));
	set(o, "pairs_needed", e->pairs_needed ? number((double)e->pairs_needed) : json_null());
}

/* Before against before, with the end of its interval that is farther from 0. */
static json_t *noise_floor(const struct metric *m)
{
	json_t *o;

	if (!m->floor.n)
		return json_null();
	o = effect(&m->floor.effect, m->unit);
	set(o, "n", number((double)m->floor.n));
	set(o, "worst", plain_figure(100 * m->floor.worst, "%"));
	set(o, "split", json_boolean(m->floor.split));
	return o;
}

static json_t *metrics(const struct report_input *in)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < in->cmp->n_metrics; i++) {
		const struct metric *m = &in->cmp->metrics[i];
		json_t *o = json_object(), *diff = difference(m, &m->est);

		judgement(diff, m);
		set(o, "name", string(m->name));
		set(o, "better", string(m->better == LOWER_IS_BETTER ? "lower" : "higher"));
		set(o, "before", side_figure(m, VARIANT_BEFORE, &m->est.before));
		set(o, "after", side_figure(m, VARIANT_AFTER, &m->est.after));
		set(o, "native", m->native.n ? side_figure(m, VARIANT_NATIVE, &m->native) : json_null());
		set(o, "difference", diff);
		set(o, "noise_floor", noise_floor(m));
		set(o, "routing", parts_routing(in, m) ? difference(m, parts_routing(in, m)) : json_null());
		set(o, "verdict", string(parts_verdict(m)));
		json_array_append_new(a, o);
	}
	return a;
}

/* --- profile --- */

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
	double total = r->total[AFTER][m] * norm_scale(d, in->norm, AFTER, m) -
		r->total[BEFORE][m] * norm_scale(d, in->norm, BEFORE, m);
	json_t *o = json_object(), *diff = plain_figure(after - before, unit), *all = plain_figure(total, unit);
	bool known = r->has_interval && parts_has_intervals(in);

	set(diff, "interval", known ? interval(r->self_lo, r->self_hi) : json_null());
	set(diff, "p", known ? number(r->p) : json_null());
	set(diff, "q", known ? number(r->q) : json_null());
	set(diff, "significant", known && isfinite(r->q) ? json_boolean(r->significant) : json_null());
	set(all, "interval", known ? interval(r->total_lo, r->total_hi) : json_null());
	set(o, "name", string(s->name));
	set(o, "dso", string(s->dso));
	set(o, "kind", string(kinds[s->kind]));
	set(o, "before", function_side(in, r, BEFORE, unit));
	set(o, "after", function_side(in, r, AFTER, unit));
	set(o, "self_difference", diff);
	set(o, "total_difference", all);
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
	set(o, "until", e->until > 0 ? plain_figure(100 * e->until, "%") : json_null());
	set(o, "time_limit", e->time_limit > 0 ? plain_figure(e->time_limit, "s") : json_null());
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

static json_t *machine(const struct report_input *in)
{
	json_t *o;
	size_t i;

	if (!in->machine || !in->machine->n)
		return json_null();
	o = json_object();
	for (i = 0; i < in->machine->n; i++) {
		struct buf key = BUF_INIT;

		text_escape(&key, in->machine->facts[i].key, strlen(in->machine->facts[i].key), false);
		set(o, buf_str(&key), string(in->machine->facts[i].value));
		buf_release(&key);
	}
	return o;
}

static json_t *caveats(const struct caveats *c)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct caveat *v = &c->v[i];
		json_t *o = json_object();

		set(o, "kind", string(caveat_name(v->kind)));
		set(o, "level", string(caveat_level_name(v->level)));
		set(o, "metric", string(v->metric));
		set(o, "text", string(v->text));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *blocks(const struct compare *c)
{
	json_t *o = json_object();

	set(o, "native", number((double)c->blocks[VARIANT_NATIVE]));
	set(o, "again", number((double)c->blocks[VARIANT_AGAIN]));
	set(o, "before", number((double)c->blocks[VARIANT_BEFORE]));
	set(o, "after", number((double)c->blocks[VARIANT_AFTER]));
	set(o, "left_out", number((double)c->left_out));
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
	if (in->across)
		set(o, "across", across(in));
	set(o, "profile", profile(in));
	set(o, "comparable", json_boolean(!in->cmp->refused));
	set(o, "caveats", caveats(&in->cmp->caveats));
	set(o, "case", patch_case(in));
	set(o, "experiment", experiment(in));
	set(o, "machine", machine(in));
	set(o, "runs", runs(in));
	json_dump_callback(o, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	buf_putc(out, '\n');
	json_decref(o);
}
