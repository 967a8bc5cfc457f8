// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mail: a comparison as text for a kernel list. The result first, then the
 * evidence, then what a reader needs to do it again; that last part belongs
 * below the three-dash line of a patch mail. At most MAIL_COLUMNS columns of
 * ASCII, nothing that git takes for something else (para.h), no dates of today:
 * the same comparison gives the same bytes.
 */
#include "report/mail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/beside.h"
#include "report/claims.h"
#include "report/figure.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/ranks.h"

#define INDENT 2		/* of tables */
#define PROFILE_INDENT 4
#define PROFILE_SHARE 0.5	/* per cent of all samples below which a branch is trimmed */
#define PROFILE_LEVELS 6	/* caller, patched function, four levels of callees */
#define PROFILE_ROWS 12		/* of the flat styles */
#define MOVED_ROWS 10
#define FACT_CELLS 400		/* of a machine fact; kernel command lines and flag lists can be long */

static const struct para_opts plain = { 0 };
static const struct para_opts fact = { .first = INDENT, .rest = 2 * INDENT };
static const struct para_opts shell = { .first = 2 * INDENT, .rest = 4 * INDENT, .shell = true };

/* A paragraph from one of the parts, with a blank line behind it; nothing when it has nothing to say. */
static void say(const struct report_input *in, void (*part)(const struct report_input *, struct buf *),
		struct buf *out)
{
	struct buf text = BUF_INIT;

	part(in, &text);
	if (text.len) {
		para(out, &plain, buf_str(&text));
		buf_putc(out, '\n');
	}
	buf_release(&text);
}

static void metrics(const struct report_input *in, struct buf *out)
{
	static const struct parts_opts o = { .indent = INDENT, .width = MAIL_COLUMNS };
	struct buf text = BUF_INIT;

	if (!in->cmp->n_metrics)
		return;
	parts_metrics_caption(in, &text);
	para(out, &plain, buf_str(&text));
	buf_putc(out, '\n');
	parts_metrics(in, &o, out);
	buf_putc(out, '\n');
	buf_release(&text);
}

/* --- profiles --- */

/* The heaviest caller of a function, NULL when the root or a mark calls it or it is not there. */
static const char *caller_of(const struct profile *p, const char *function)
{
	double *by_symbol = mem_calloc(p->symtab.n, sizeof(*by_symbol));
	const struct symbol *best = NULL;
	double most = 0;
	size_t i;

	for (i = 1; i < p->n; i++) {
		const struct node *n = &p->nodes[i];
		const struct symbol *s = profile_symbol(p, n->parent);
		double *sum = &by_symbol[p->nodes[n->parent].symbol];

		if (strcmp(profile_symbol(p, i)->name, function) || s->kind == FRAME_MARK)
			continue;
		*sum += n->total[COUNT];
		if (*sum > most || (*sum == most && best && strcmp(s->name, best->name) < 0)) {
			most = *sum;
			best = s;
		}
	}
	free(by_symbol);
	return best ? best->name : NULL;
}

static bool has_function(const struct profile *p, const char *name)
{
	size_t i;

	for (i = 1; i < p->n; i++)
		if (!strcmp(profile_symbol(p, i)->name, name))
			return true;
	return false;
}

/* Where the trees start: the caller of the first patched function, one for both sides; NULL: unknown. */
static const char *tree_start(const struct report_input *in)
{
	const char *function, *caller;
	enum side s;

	if (!in->facts || !in->facts->n_functions)
		return NULL;
	function = in->facts->functions[0].name;
	for (s = BEFORE; s < SIDES; s++) {
		caller = in->cmp->side[s] ? caller_of(in->cmp->side[s], function) : NULL;
		if (caller)
			return caller;
	}
	return function;
}

static const struct show_style *style(const char *name)
{
	const struct show_style *s;

	for (s = show_styles; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

static int profile_of(const struct report_input *in, enum side s, const char *layout, const char *from,
		      struct buf *out, struct err *err)
{
	const struct profile *p = in->cmp->side[s];
	struct run run = { .event = in->cmp->diff ? in->cmp->diff->event : NULL,
			   .freq_hz = in->exp ? in->exp->freq_hz : 0 };
	struct show_input show = {
		.profile = p, .run = &run, .from = from,
		.min_share = PROFILE_SHARE, .max_depth = PROFILE_LEVELS, .max_rows = PROFILE_ROWS,
		.indent = PROFILE_INDENT, .width = MAIL_COLUMNS, .ascii = true,
	};

	if (!p) {
		para(out, &fact, "(not sampled)");
		return 0;
	}
	if (from && !has_function(p, from)) {
		char *name = para_ascii(from);
		struct buf text = BUF_INIT;

		buf_printf(&text, "(no sample of this side has %s in its stack)", name);
		para(out, &fact, buf_str(&text));
		buf_release(&text);
		free(name);
		return 0;
	}
	return style(layout)->write(&show, out, err);
}

static int profiles(const struct report_input *in, struct buf *out, struct err *err)
{
	const char *asked = in->facts ? in->facts->style : NULL;
	const char *layout = asked && style(asked) ? asked : "tree";
	bool tree = !strcmp(layout, "tree");
	const char *from = tree ? tree_start(in) : NULL;
	enum side s;
	int rc = 0;

	if (!in->cmp->side[BEFORE] && !in->cmp->side[AFTER])
		return 0;
	if (tree && !from)		/* whole stacks from the system call down say little in a few lines */
		layout = "flat";
	for (s = BEFORE; !rc && s < SIDES; s++) {
		char *side = parts_side(in, s);
		struct buf text = BUF_INIT;

		buf_printf(&text, "Profile %s%s:", side,
			   from ? " (share of the caller, samples / samples of the caller)" : "");
		para(out, &plain, buf_str(&text));
		buf_putc(out, '\n');
		rc = profile_of(in, s, layout, from, out, err);
		buf_putc(out, '\n');
		buf_release(&text);
		free(side);
	}
	if (!tree)
		say(in, ranks, out);
	return rc;
}

static void moved(const struct report_input *in, struct buf *out)
{
	static const struct parts_opts o = {
		.indent = INDENT, .width = MAIL_COLUMNS, .max_rows = MOVED_ROWS,
	};

	say(in, parts_functions_caption, out);
	if (parts_functions(in, &o, out))
		buf_putc(out, '\n');
}

/* --- what the measurement can and cannot show --- */

static const char *accel(const struct report_input *in)
{
	const char *s = in->machine ? machine_get(in->machine, "lab.accel") : NULL;

	return s ? s : "";
}

static bool on_cpu_clock(const struct report_input *in)
{
	const char *event = in->cmp->diff ? in->cmp->diff->event : NULL;

	return event && (!strncmp(event, "cpu-clock", 9) || !strncmp(event, "task-clock", 10));
}

/* One sentence after another. */
static void add(struct buf *out, const char *sentences)
{
	buf_puts(out, out->len ? " " : "");
	buf_puts(out, sentences);
}

static void limits(const struct report_input *in, struct buf *out)
{
	bool vm = in->exp && in->exp->target && !strcmp(in->exp->target, "vm");
	bool tcg = vm && !strncmp(accel(in), "tcg", 3), exact = in->exp && in->exp->exact;

	if (tcg)
		add(out, "Measured in a QEMU guest without KVM (TCG): this shows instructions and paths, not"
			 " caches, branch prediction or contention between cores. What the change does to the"
			 " time on hardware has to be measured there.");
	else if (vm && strcmp(accel(in), "kvm"))
		add(out, "Measured in a QEMU guest; whether it ran under KVM or TCG was not recorded. Under"
			 " TCG the figures would show instructions and paths, not caches or branch"
			 " prediction.");
	if (exact)
		add(out, "Time is the instruction clock (-icount shift=0, one CPU): one guest instruction is"
			 " 1 ns, so times are instruction counts. Samples are taken on the same clock, by"
			 " several timers of different periods so that they do not beat with the workload: the"
			 " times are exact, the costs of single functions as good as their intervals.");
	else if (tcg)
		add(out, "Times are those of translated code: take their direction, not their size.");
	if (on_cpu_clock(in))
		add(out, "Samples of this event come from a timer interrupt and cannot land where interrupts"
			 " are off; they show where interrupts are enabled again.");
}

/* --- below the line --- */

static void labelled(const char *label, const char *value, struct buf *out)
{
	struct buf text = BUF_INIT;
	char *name, *ascii;

	if (!value || !*value)
		return;
	name = para_ascii(label);
	ascii = para_ascii(value);
	buf_printf(&text, "%s: %.*s%s", name, FACT_CELLS, ascii, strlen(ascii) > FACT_CELLS ? " ..." : "");
	para(out, &fact, buf_str(&text));
	buf_release(&text);
	free(name);
	free(ascii);
}

static void command(const char *label, const char *value, struct buf *out)
{
	char *ascii;

	if (!value || !*value)
		return;
	ascii = para_ascii(value);
	para(out, &fact, label);
	para(out, &shell, ascii);
	free(ascii);
}

/* "2024-11-10 04:52 UTC" */
static void when(double unix_time, struct buf *out)
{
	time_t t = (time_t)unix_time;
	struct tm tm;
	char text[64];

	if (!(unix_time > 0 && unix_time < 4e9) || !gmtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm);
	labelled("date", text, out);
}

/* The blocks themselves, in the order they ran, for whoever wants to do the statistics again. */
static void block_values(const struct report_input *in, struct buf *out)
{
	static const struct { enum variant v; const char *label; } rows[] = {
		{ VARIANT_NATIVE, "native" }, { VARIANT_BEFORE, "before" }, { VARIANT_AFTER, "after" },
	};
	const struct metric *m = in->cmp->metrics;
	struct scale s;
	size_t i, k;

	if (!in->cmp->n_metrics)
		return;
	s = figure_scale(m->unit, fmax(fabs(m->est.before.mean), fabs(m->est.after.mean)),
			 fabs(m->est.diff) / 1000);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf label = BUF_INIT, text = BUF_INIT;

		if (!m->n_values[rows[i].v])
			continue;
		buf_printf(&label, "%s, %s of each %s block", m->name, s.unit, rows[i].label);
		for (k = 0; k < m->n_values[rows[i].v]; k++) {
			buf_puts(&text, k ? " " : "");
			figure(&text, m->values[rows[i].v][k], &s, false);
		}
		buf_printf(&label, ": %s", buf_str(&text));
		para(out, &fact, buf_str(&label));
		buf_release(&label);
		buf_release(&text);
	}
}

static void setup_experiment(const struct report_input *in, struct buf *out)
{
	const struct experiment *e = in->exp;
	struct buf text = BUF_INIT;

	when(e->started, out);
	labelled("target", e->target, out);
	labelled("kernel", e->kernel, out);
	labelled("kab", e->kab_version, out);
	if (in->facts && in->facts->module) {
		buf_printf(&text, "%s, a livepatch that holds both variants behind a static key; loading it"
			   " taints the kernel", in->facts->module);
		labelled("module", buf_str(&text), out);
		buf_clear(&text);
	}
	buf_printf(&text, "%llu", (unsigned long long)e->seed);
	labelled("seed of the block order", buf_str(&text), out);
	buf_release(&text);
	command("again:", e->command, out);
	command("workload of a block:", e->workload, out);
}

static void setup_pair(const struct report_input *in, struct buf *out)
{
	size_t i;

	for (i = 0; i < in->n_runs; i++) {
		labelled("profile", in->runs[i].label, out);
		command("command:", in->runs[i].command, out);
	}
}

/* Whether the experiment says the same already. */
static bool repeated(const struct report_input *in, const struct fact *f)
{
	const struct { const char *key, *value; } said[] = {
		{ "target", in->exp ? in->exp->target : NULL },
		{ "kernel.release", in->exp ? in->exp->kernel : NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (said[i].value && !strcmp(f->key, said[i].key) && !strcmp(f->value, said[i].value))
			return true;
	return false;
}

static void setup(const struct report_input *in, struct buf *out)
{
	size_t i;

	para(out, &plain, "How it was measured (for below the three-dash line of a patch mail):");
	buf_putc(out, '\n');
	if (parts_is_experiment(in))
		setup_experiment(in, out);
	else
		setup_pair(in, out);
	block_values(in, out);
	for (i = 0; in->machine && i < in->machine->n; i++)
		if (!repeated(in, &in->machine->facts[i]))
			labelled(in->machine->facts[i].key, in->machine->facts[i].value, out);
	for (i = 0; in->facts && i < in->facts->n_notes; i++)
		labelled("note", in->facts->notes[i], out);
}

static void title(const struct report_input *in, struct buf *out)
{
	struct buf text = BUF_INIT;
	char *name;

	if (!in->facts || !in->facts->title)
		return;
	name = para_ascii(in->facts->title);
	buf_printf(&text, "Patch measured: %s", name);
	para(out, &plain, buf_str(&text));
	buf_putc(out, '\n');
	buf_release(&text);
	free(name);
}

int mail_write(const struct report_input *in, struct buf *out, struct err *err)
{
	int rc;

	say(in, parts_result, out);
	say(in, parts_sides, out);
	say(in, parts_state, out);
	metrics(in, out);
	say(in, parts_native, out);
	beside_counted(in, INDENT, MAIL_COLUMNS, out);
	say(in, beside_environment, out);
	rc = profiles(in, out, err);
	if (rc)
		return rc;
	moved(in, out);
	say(in, limits, out);
	say(in, parts_samples, out);
	title(in, out);
	claims_mail(in, out);
	setup(in, out);
	return 0;
}
