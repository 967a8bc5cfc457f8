// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parts: see parts.h. Reads a comparison and writes text; every figure is one
 * that compare holds, scaled by norm_scale() where a norm is in force.
 */
#include "report/parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/figure.h"
#include "report/para.h"
#include "report/table.h"

#define BLOCKS_NEEDED 2		/* of each variant, for an interval */
#define MUCH_LOST 0.01		/* share of samples from which on a reader is warned */

char *parts_operation(const struct report_input *in)
{
	const char *op = in->facts ? in->facts->operation : NULL;

	return para_ascii(op && *op ? op : "operation");
}

const char *parts_title(const struct report_input *in, enum side s)
{
	const char *title = in->side_title[s];

	return title && *title ? title : s == BEFORE ? "before" : "after";
}

char *parts_side(const struct report_input *in, enum side s)
{
	return para_ascii(parts_title(in, s));
}

enum measure parts_measure(const struct report_input *in)
{
	return in->cmp->diff && in->cmp->measure == COUNT ? COUNT : in->measure;
}

bool parts_has_intervals(const struct report_input *in)
{
	return in->norm == NORM_OP && parts_measure(in) == in->cmp->measure;
}

bool parts_is_experiment(const struct report_input *in)
{
	return in->exp && in->exp->id;
}

const char *parts_verdict(const struct metric *m)
{
	return m->est.verdict == VERDICT_TOO_FEW ? "too few blocks" : verdict_name(m->est.verdict, m->better);
}

static double larger(double a, double b)
{
	a = isfinite(a) ? fabs(a) : 0;
	b = isfinite(b) ? fabs(b) : 0;
	return a > b ? a : b;
}

static struct scale metric_scale(const struct metric *m)
{
	return figure_scale_bare(m->unit, larger(m->est.before.mean, m->est.after.mean),
				 (m->est.hi - m->est.lo) / 2);
}

static bool per_operation(const struct metric *m)
{
	return strstr(m->unit, "/op") != NULL;
}

static void with_unit(struct buf *out, double v, const struct scale *s, bool sign)
{
	if (!isfinite(v)) {
		buf_puts(out, "not measured");
		return;
	}
	figure(out, v, s, sign);
	buf_printf(out, "%s%s", *s->unit == '%' ? "" : " ", s->unit);
}

/* "1 block before and 6 after" */
static void block_counts(const struct estimate *e, struct buf *out)
{
	buf_printf(out, "%zu %s before and %zu after", e->before.n, e->before.n == 1 ? "block" : "blocks",
		   e->after.n);
}

static void interval_words(const struct estimate *e, const struct scale *s, struct buf *out)
{
	int decimals = figure_percent_decimals(e->rel_lo, e->rel_hi);

	figure(out, e->lo, s, true);
	buf_puts(out, " to ");
	with_unit(out, e->hi, s, true);
	if (!isfinite(e->rel_lo) || !isfinite(e->rel_hi))
		return;
	buf_puts(out, ", ");
	figure_percent(out, e->rel_lo, decimals, true);
	buf_puts(out, " to ");
	figure_percent(out, e->rel_hi, decimals, true);
}

/* How the interval came about. */
static void method(const struct report_input *in, const struct estimate *e, struct buf *out)
{
	buf_printf(out, "%s, ", e->method ? e->method : "interval over blocks");
	block_counts(e, out);
	if (parts_is_experiment(in))
		buf_puts(out, ", interleaved in balanced random order");
	if (e->sd_zero)
		buf_puts(out, "; blocks of a side repeat exactly: the interval is the clock's resolution");
}

static void decided(const struct report_input *in, const struct metric *m, const struct scale *s,
		    const char *what, struct buf *out)
{
	const struct estimate *e = &m->est;

	buf_printf(out, "%s %s from ", what, e->diff < 0 ? "falls" : "rises");
	with_unit(out, e->before.mean, s, false);
	buf_puts(out, " to ");
	with_unit(out, e->after.mean, s, false);
	if (isfinite(e->rel)) {
		buf_puts(out, ", by ");
		figure_percent(out, fabs(e->rel), figure_percent_decimals(e->rel_lo, e->rel_hi), false);
	}
	buf_puts(out, " (95% interval of the difference ");
	interval_words(e, s, out);
	buf_puts(out, "; ");
	method(in, e, out);
	buf_puts(out, ").");
}

static void undecided(const struct report_input *in, const struct metric *m, const struct scale *s,
		      const char *what, struct buf *out)
{
	const struct estimate *e = &m->est;

	buf_printf(out, "Undecided: %s is ", what);
	with_unit(out, e->before.mean, s, false);
	buf_puts(out, " before and ");
	with_unit(out, e->after.mean, s, false);
	buf_puts(out, " after, and the 95% interval of the difference (");
	interval_words(e, s, out);
	buf_puts(out, ") holds 0 (");
	method(in, e, out);
	buf_puts(out, "). A difference of this size cannot be told from noise by these blocks.");
}

static void too_few(const struct report_input *in, const struct metric *m, const struct scale *s,
		    const char *what, struct buf *out)
{
	const struct estimate *e = &m->est;

	buf_printf(out, "No verdict: %s was ", what);
	with_unit(out, e->before.mean, s, false);
	buf_puts(out, " before and ");
	with_unit(out, e->after.mean, s, false);
	if (!parts_is_experiment(in)) {
		buf_puts(out, " after; these are single recordings, not interleaved blocks, so the difference"
			      " has no interval.");
		return;
	}
	buf_puts(out, " after, from ");
	block_counts(e, out);
	buf_printf(out, ". An interval needs at least %d complete blocks of each: run it again with"
		   " --blocks %d or more.", BLOCKS_NEEDED, BLOCKS_NEEDED);
}

static void not_comparable(const struct report_input *in, const struct metric *m, const struct scale *s,
			   const char *what, struct buf *out)
{
	char *why = para_ascii(in->cmp->not_comparable);

	buf_printf(out, "Not comparable: %s was ", what);
	with_unit(out, m->est.before.mean, s, false);
	buf_puts(out, " before and ");
	with_unit(out, m->est.after.mean, s, false);
	buf_printf(out, " after, but the machine did not stay the same. %s", why);
	free(why);
}

void parts_result(const struct report_input *in, struct buf *out)
{
	const struct metric *m = in->cmp->metrics;
	struct buf what = BUF_INIT;
	struct scale s;
	char *op;

	if (!in->cmp->n_metrics) {
		buf_puts(out, "No verdict: there are profiles but no timed blocks, so no interval.");
		return;
	}
	op = parts_operation(in);
	s = metric_scale(m);
	buf_puts(&what, m->name);
	if (per_operation(m))
		buf_printf(&what, " per %s", op);
	switch (m->est.verdict) {
	case VERDICT_TOO_FEW:
		too_few(in, m, &s, buf_str(&what), out);
		break;
	case VERDICT_UNDECIDED:
		undecided(in, m, &s, buf_str(&what), out);
		break;
	case VERDICT_NOT_COMPARABLE:
		not_comparable(in, m, &s, buf_str(&what), out);
		break;
	case VERDICT_BETTER:
	case VERDICT_WORSE:
		what.data[0] = toupper((unsigned char)what.data[0]);
		decided(in, m, &s, buf_str(&what), out);
		break;
	}
	buf_release(&what);
	free(op);
}

void parts_sides(const struct report_input *in, struct buf *out)
{
	char *side[SIDES] = { parts_side(in, BEFORE), parts_side(in, AFTER) };

	if (strcmp(side[BEFORE], "before") || strcmp(side[AFTER], "after"))
		buf_printf(out, "Before is %s; after is %s.", side[BEFORE], side[AFTER]);
	free(side[BEFORE]);
	free(side[AFTER]);
}

void parts_state(const struct report_input *in, struct buf *out)
{
	const struct compare *c = in->cmp;
	const struct experiment *e = in->exp;

	if (!parts_is_experiment(in))
		return;
	if (e->state != EXP_COMPLETE) {
		buf_printf(out, "The experiment is %s: ", exp_state_name(e->state));
		if (c->n_metrics)
			block_counts(&c->metrics[0].est, out);
		else
			buf_puts(out, "no blocks");
		buf_printf(out, " were timed, of %u planned for each.", e->blocks_planned);
		if (e->note) {
			char *note = para_ascii(e->note);

			buf_printf(out, " %s", note);
			free(note);
		}
	}
	if (c->left_out)
		buf_printf(out, "%sLeft out: %zu %s (warm-up, incomplete or failed).", out->len ? " " : "",
			   c->left_out, c->left_out == 1 ? "block" : "blocks");
}

static void plus_minus(const struct summary *s, struct buf *out)
{
	double rel;

	if (!isfinite(s->sd) || !isfinite(s->mean) || s->mean == 0)
		return;
	buf_puts(out, "+-");
	rel = s->sd / fabs(s->mean);
	figure_percent(out, rel, figure_percent_decimals(-rel, rel), false);
}

const struct estimate *parts_routing(const struct report_input *in, const struct metric *m)
{
	enum variant own = in->facts ? in->facts->native : VARIANT_NONE;

	if (!m->native.n || (own != VARIANT_BEFORE && own != VARIANT_AFTER))
		return NULL;
	return &m->over_native[own == VARIANT_AFTER ? AFTER : BEFORE];
}

static void routing(const struct report_input *in, const struct metric *m, struct buf *out)
{
	const struct estimate *e = parts_routing(in, m);
	struct scale s;
	char *op, *side;

	if (!e) {
		buf_puts(out, " What the routing costs cannot be told apart: the case names no variant whose code"
			      " is the kernel's own.");
		return;
	}
	if (e->verdict == VERDICT_TOO_FEW) {
		buf_puts(out, " What the routing costs takes 2 blocks of native and of either side to tell.");
		return;
	}
	op = parts_operation(in);
	side = parts_side(in, e == &m->over_native[AFTER] ? AFTER : BEFORE);
	s = figure_scale_bare(m->unit, larger(e->diff, 0), (e->hi - e->lo) / 2);
	buf_puts(out, " The routing costs ");
	with_unit(out, e->diff, &s, true);
	buf_printf(out, " per %s: %s, whose code is the kernel's own, less native (95%% interval ", op, side);
	interval_words(e, &s, out);
	buf_puts(out, e->verdict == VERDICT_UNDECIDED ? "; it holds 0)." : ").");
	free(side);
	free(op);
}

void parts_native(const struct report_input *in, struct buf *out)
{
	size_t i, n = 0;

	for (i = 0; i < in->cmp->n_metrics; i++) {
		const struct metric *m = &in->cmp->metrics[i];
		struct scale s = metric_scale(m);

		if (!m->native.n)
			continue;
		if (!n++)
			buf_puts(out, "The untouched kernel (native):");
		buf_printf(out, "%s %s ", n == 1 ? "" : ",", m->name);
		with_unit(out, m->native.mean, &s, false);
		buf_putc(out, ' ');
		plus_minus(&m->native, out);
		buf_printf(out, " (n %zu)", m->native.n);
	}
	if (n)
		buf_putc(out, '.');
	if (in->cmp->n_metrics && in->cmp->metrics[0].native.n)
		routing(in, in->cmp->metrics, out);
}

/* Whether a block of the experiment counts for a side: complete and no warm-up. */
static bool block_of(const struct run *r, enum side s)
{
	enum variant v = s == BEFORE ? VARIANT_BEFORE : VARIANT_AFTER;

	return r->variant == v && r->state == RUN_COMPLETE && !r->warmup;
}

/* Damaged stacks of the blocks that count, or of one of a pair. */
static uint64_t damaged(const struct report_input *in, enum side s)
{
	uint64_t sum = 0;
	size_t i;

	if (!parts_is_experiment(in))
		return in->n_runs == SIDES ? in->runs[s].bad_stacks : 0;
	for (i = 0; i < in->n_runs; i++)
		if (block_of(&in->runs[i], s))
			sum += in->runs[i].bad_stacks;
	return sum;
}

/* Sampling costs time: where there are blocks without it, these give the times, the others the profiles. */
static void sampled_apart(const struct report_input *in, struct buf *out)
{
	size_t sampled[SIDES] = { 0, 0 }, timed[SIDES] = { 0, 0 }, i;
	enum side s;

	for (i = 0; i < in->n_runs; i++)
		for (s = BEFORE; s < SIDES; s++)
			if (block_of(&in->runs[i], s))
				(in->runs[i].sampled ? sampled : timed)[s]++;
	if (!parts_is_experiment(in) || !timed[BEFORE] || !timed[AFTER])
		return;
	buf_printf(out, " The profiles are of %zu blocks before and %zu after, the times of others without"
		   " the profiler.", sampled[BEFORE], sampled[AFTER]);
}

/* Of the runs, else of the profile itself: an import may say nothing of its run. */
static double samples_of(const struct compare *c, enum side s)
{
	return c->samples[s] > 0 || !c->side[s] ? c->samples[s] : c->side[s]->samples;
}

static double lost_share(const struct compare *c, enum side s)
{
	return c->lost[s] > 0 ? c->lost[s] / (samples_of(c, s) + c->lost[s]) : 0;
}

static void lost_words(const struct compare *c, enum side s, struct buf *out)
{
	figure_samples(out, c->lost[s]);
	if (c->lost[s] > 0) {
		buf_puts(out, " (");
		figure_percent(out, lost_share(c, s), 2, false);
		buf_putc(out, ')');
	}
}

void parts_samples(const struct report_input *in, struct buf *out)
{
	const struct compare *c = in->cmp;
	uint64_t bad[SIDES] = { damaged(in, BEFORE), damaged(in, AFTER) };
	char *event;

	if (!samples_of(c, BEFORE) && !samples_of(c, AFTER)) {
		buf_puts(out, "No samples were taken.");
		return;
	}
	event = para_ascii(c->diff && c->diff->event ? c->diff->event : in->exp ? in->exp->event : NULL);
	buf_puts(out, "Samples");
	if (*event)
		buf_printf(out, " of %s", event);
	if (in->exp && in->exp->freq_hz)
		buf_printf(out, " at %llu Hz", (unsigned long long)in->exp->freq_hz);
	buf_puts(out, ": ");
	figure_samples(out, samples_of(c, BEFORE));
	buf_puts(out, " before, ");
	figure_samples(out, samples_of(c, AFTER));
	buf_puts(out, " after; lost: ");
	if (!c->lost[BEFORE] && !c->lost[AFTER]) {
		buf_puts(out, "none");
	} else {
		lost_words(c, BEFORE, out);
		buf_puts(out, " before, ");
		lost_words(c, AFTER, out);
		buf_puts(out, " after");
	}
	if (bad[BEFORE] || bad[AFTER])
		buf_printf(out, "; stacks with a damaged part: %llu before, %llu after",
			   (unsigned long long)bad[BEFORE], (unsigned long long)bad[AFTER]);
	buf_putc(out, '.');
	sampled_apart(in, out);
	if (lost_share(c, BEFORE) > MUCH_LOST || lost_share(c, AFTER) > MUCH_LOST)
		buf_puts(out, " With that many lost the profiles may be off; a lower rate (-F) loses fewer.");
	free(event);
}

void parts_metrics_caption(const struct report_input *in, struct buf *out)
{
	const struct estimate *e;
	char *op;

	if (!in->cmp->n_metrics)
		return;
	e = &in->cmp->metrics[0].est;
	op = parts_operation(in);
	if (parts_is_experiment(in))
		buf_printf(out, "Per %s, mean and standard deviation of a block (n %zu before, %zu after),"
			   " change of the mean and its 95%% interval:", op, e->before.n, e->after.n);
	else
		buf_printf(out, "Per %s, one recording a side:", op);
	free(op);
}

/* "wall" of "wall time", where columns are few. */
static size_t short_name(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, " time") ? len - 5 : len;
}

void parts_metrics(const struct report_input *in, const struct parts_opts *o, struct buf *out)
{
	static const struct table_col cols[] = {
		{ "", TABLE_FLEX }, { "", 0 }, { "before", TABLE_RIGHT }, { "", TABLE_TIGHT },
		{ "after", TABLE_RIGHT }, { "", TABLE_TIGHT }, { "change", TABLE_RIGHT },
		{ "95% interval", TABLE_RIGHT }, { "", 0 },
	};
	struct table t;
	size_t i;

	if (!in->cmp->n_metrics)
		return;
	table_init(&t, cols, sizeof(cols) / sizeof(cols[0]) - !o->verdict);
	for (i = 0; i < in->cmp->n_metrics; i++) {
		const struct metric *m = &in->cmp->metrics[i];
		const struct estimate *e = &m->est;
		struct scale s = metric_scale(m);
		struct buf b = BUF_INIT;

		table_cell(&t, "%.*s", o->width ? (int)short_name(m->name) : 20, m->name);
		table_cell(&t, "%.12s", s.unit);
		figure(&b, e->before.mean, &s, false);
		table_take(&t, &b);
		plus_minus(&e->before, &b);
		table_take(&t, &b);
		figure(&b, e->after.mean, &s, false);
		table_take(&t, &b);
		plus_minus(&e->after, &b);
		table_take(&t, &b);
		figure_percent(&b, e->rel, figure_percent_decimals(e->rel_lo, e->rel_hi), true);
		table_take(&t, &b);
		figure_percent_interval(&b, e->rel_lo, e->rel_hi);
		table_take(&t, &b);
		if (o->verdict)
			table_cell(&t, "%s", parts_verdict(m));
	}
	table_write(&t, o->indent, o->width, out);
	table_release(&t);
}

/* --- functions --- */

struct moved {
	const struct flat_diff_row *row;
	const struct symbol *symbol;
	double self[SIDES], diff;	/* in the norm in force */
};

static int by_move(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;
	double dx = fabs(x->diff), dy = fabs(y->diff);
	int c;

	if (dx != dy)
		return dx < dy ? 1 : -1;
	c = strcmp(x->symbol->name, y->symbol->name);
	return c ? c : strcmp(x->symbol->dso, y->symbol->dso);
}

static void rank_cell(const struct flat_diff_row *r, struct buf *out)
{
	enum side s;

	for (s = BEFORE; s < SIDES; s++) {
		if (r->rank[s])
			buf_printf(out, "%u", r->rank[s]);
		else
			buf_putc(out, '-');
		if (s == BEFORE)
			buf_puts(out, " > ");
	}
}

/* "new", "gone", or "~" where the interval holds 0. */
static const char *mark(const struct report_input *in, const struct flat_diff_row *r)
{
	if (!r->rank[BEFORE])
		return "new";
	if (!r->rank[AFTER])
		return "gone";
	return parts_has_intervals(in) && r->has_interval && r->self_lo <= 0 && r->self_hi >= 0 ? "~" : "";
}

static void function_row(const struct report_input *in, const struct moved *m, const struct scale *s,
			 bool rank, struct table *t)
{
	struct buf b = BUF_INIT;

	figure(&b, m->self[BEFORE], s, false);
	table_take(t, &b);
	figure(&b, m->self[AFTER], s, false);
	table_take(t, &b);
	figure(&b, m->diff, s, true);
	table_take(t, &b);
	if (m->row->has_interval && parts_has_intervals(in)) {
		buf_puts(&b, "+-");
		figure(&b, (m->row->self_hi - m->row->self_lo) / 2, s, false);
	}
	table_take(t, &b);
	table_cell(t, "%s", mark(in, m->row));
	if (rank) {
		rank_cell(m->row, &b);
		table_take(t, &b);
	}
	text_escape(&b, m->symbol->name, strlen(m->symbol->name), true);
	table_take(t, &b);
}

/* The rows with a self value, in the norm in force, what moved most first; the caller frees. */
static struct moved *moved_rows(const struct report_input *in, size_t *n, double *max)
{
	const struct compare *c = in->cmp;
	struct moved *rows = mem_calloc(c->n_flat, sizeof(*rows));
	enum measure m = parts_measure(in);
	size_t i, kept = 0;

	*max = 0;
	for (i = 0; i < c->n_flat; i++) {
		struct moved *row = &rows[kept];
		enum side s;

		row->row = &c->flat[i];
		row->symbol = &c->diff->symtab.symbols[c->flat[i].symbol];
		for (s = BEFORE; s < SIDES; s++) {
			row->self[s] = c->flat[i].self[s][m] * norm_scale(c->diff, in->norm, s, m);
			*max = larger(*max, row->self[s]);
		}
		row->diff = row->self[AFTER] - row->self[BEFORE];
		kept += row->self[BEFORE] != 0 || row->self[AFTER] != 0;
	}
	qsort(rows, kept, sizeof(*rows), by_move);
	*n = kept;
	return rows;
}

size_t parts_functions(const struct report_input *in, const struct parts_opts *o, struct buf *out)
{
#define FIGURES { "before", TABLE_RIGHT }, { "after", TABLE_RIGHT }, { "difference", TABLE_RIGHT }, \
		{ "", TABLE_RIGHT | TABLE_TIGHT }, { "", 0 }
	static const struct table_col plain[] = { FIGURES, { "function", TABLE_FLEX } };
	static const struct table_col ranked[] = {
		FIGURES, { "rank", TABLE_RIGHT }, { "function", TABLE_FLEX },
	};
#undef FIGURES
	char formula[160], unit[32];
	struct moved *rows;
	struct table t;
	struct scale s;
	size_t i, n, shown;
	double max;

	if (!in->cmp->diff || !in->cmp->n_flat)
		return 0;
	rows = moved_rows(in, &n, &max);
	norm_formula(in->cmp->diff, in->norm, parts_measure(in), NULL, formula, unit);
	s = figure_scale(unit, max, 0);
	shown = o->max_rows && n > o->max_rows ? o->max_rows : n;
	if (o->rank)
		table_init(&t, ranked, sizeof(ranked) / sizeof(ranked[0]));
	else
		table_init(&t, plain, sizeof(plain) / sizeof(plain[0]));
	for (i = 0; i < shown; i++)
		function_row(in, &rows[i], &s, o->rank, &t);
	buf_fill(out, ' ', o->indent);
	buf_printf(out, "%s\n", s.unit);
	table_write(&t, o->indent, o->width, out);
	table_release(&t);
	if (shown < n) {
		buf_fill(out, ' ', o->indent);
		buf_printf(out, "(%zu that moved less left out)\n", n - shown);
	}
	free(rows);
	return n;
}

void parts_functions_caption(const struct report_input *in, struct buf *out)
{
	char formula[160], unit[32], *text;
	bool interval = false;
	size_t i;

	if (!in->cmp->diff || !in->cmp->n_flat)
		return;
	for (i = 0; i < in->cmp->n_flat; i++)
		interval |= in->cmp->flat[i].has_interval && parts_has_intervals(in);
	norm_formula(in->cmp->diff, in->norm, parts_measure(in), in->facts ? in->facts->operation : NULL,
		     formula, unit);
	text = para_ascii(formula);
	buf_printf(out, "Self cost of the functions that moved most: %s.", text);
	if (!interval && in->norm == NORM_OP)
		buf_puts(out, " No intervals without two sampled blocks a side: noise is not told apart.");
	if (interval)
		buf_puts(out, " +- is half the 95% interval over blocks, of each function alone; ~ marks"
			      " those that hold 0.");
	free(text);
}
