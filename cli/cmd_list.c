// SPDX-License-Identifier: GPL-2.0-or-later
/* kab list: what a session file holds, newest first. */
#include "cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

struct args {
	struct common common;
	bool runs;
};

static const struct argp_option options[] = {
	{ "runs", 'r', NULL, 0, "also every block of every experiment", 1 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'r':
		a->runs = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, NULL,
	"List experiments, their runs, and recorded or imported profiles, newest first.", common_children, NULL, NULL };

/* All of it, read once. */
struct listing {
	struct experiment *exps; size_t n_exps;
	struct run **runs; size_t *n_runs;	/* by experiment */
	struct run *profiles; size_t n_profiles;
};

static int load(struct store *s, struct listing *l, struct err *err)
{
	size_t i;
	int rc = store_experiments(s, &l->exps, &l->n_exps, err);

	l->runs = mem_calloc(l->n_exps, sizeof(*l->runs));
	l->n_runs = mem_calloc(l->n_exps, sizeof(*l->n_runs));
	for (i = 0; !rc && i < l->n_exps; i++)
		rc = store_runs(s, l->exps[i].id, &l->runs[i], &l->n_runs[i], err);
	return rc ? rc : store_runs(s, 0, &l->profiles, &l->n_profiles, err);
}

static void release(struct listing *l)
{
	size_t i, k;

	for (i = 0; i < l->n_exps; i++) {
		for (k = 0; k < l->n_runs[i]; k++)
			run_release(&l->runs[i][k]);
		free(l->runs[i]);
		experiment_release(&l->exps[i]);
	}
	for (i = 0; i < l->n_profiles; i++)
		run_release(&l->profiles[i]);
	free(l->exps);
	free(l->runs);
	free(l->n_runs);
	free(l->profiles);
}

/* --- JSON --- */

/* Session strings may be any bytes; JSON takes valid UTF-8 only. */
static json_t *text_json(const char *s)
{
	struct buf b = BUF_INIT;
	json_t *v;

	if (!s)
		return json_null();
	text_escape(&b, s, strlen(s), false);
	v = json_string(buf_str(&b));
	buf_release(&b);
	return v;
}

static json_t *run_json(char kind, const struct run *r)
{
	char id[32], exp[32];

	snprintf(id, sizeof(id), "%c%lld", kind, (long long)r->id);
	snprintf(exp, sizeof(exp), "e%lld", (long long)r->experiment);
	return json_pack("{s:s, s:s?, s:s, s:s, s:b, s:b, s:o, s:o, s:f, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o, s:I, s:i}",
			 "id", id, "experiment", r->experiment ? exp : NULL, "state", run_state_name(r->state),
			 "variant", variant_name(r->variant), "warmup", r->warmup, "sampled", r->sampled,
			 "label", text_json(r->label), "command", text_json(r->command), "started", r->started,
			 "wall_ns", (json_int_t)r->wall_ns, "user_ns", (json_int_t)r->user_ns,
			 "sys_ns", (json_int_t)r->sys_ns, "ops", r->ops, "samples", (json_int_t)r->samples,
			 "lost", (json_int_t)r->lost, "bad_stacks", (json_int_t)r->bad_stacks,
			 "event", text_json(r->event), "freq_hz", (json_int_t)r->freq_hz, "exit_status", r->exit_status);
}

static json_t *exp_json(const struct experiment *e)
{
	char id[32];

	snprintf(id, sizeof(id), "e%lld", (long long)e->id);
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:I, s:i, s:b, s:o}",
			 "id", id, "state", exp_state_name(e->state), "case", text_json(e->case_name),
			 "target", text_json(e->target), "kernel", text_json(e->kernel),
			 "workload", text_json(e->workload), "command", text_json(e->command),
			 "note", text_json(e->note), "started", e->started, "finished", e->finished,
			 "seed", (json_int_t)e->seed, "blocks_planned", (int)e->blocks_planned, "exact", e->exact,
			 "event", text_json(e->event));
}

static void print_json(const struct listing *l, struct buf *out)
{
	json_t *exps = json_array(), *runs = json_array(), *profiles = json_array(), *all;
	size_t i, k;
	char *s;

	for (i = 0; i < l->n_exps; i++) {
		json_array_append_new(exps, exp_json(&l->exps[i]));
		for (k = l->n_runs[i]; k-- > 0;)
			json_array_append_new(runs, run_json('r', &l->runs[i][k]));
	}
	for (i = 0; i < l->n_profiles; i++)
		json_array_append_new(profiles, run_json('p', &l->profiles[i]));
	all = json_pack("{s:o, s:o, s:o}", "experiments", exps, "runs", runs, "profiles", profiles);
	s = json_dumps(all, JSON_INDENT(1));
	buf_printf(out, "%s\n", s ? s : "{}");
	free(s);
	json_decref(all);
}

/* --- text --- */

static void when(struct buf *out, double t)
{
	time_t sec = (time_t)t;
	struct tm tm;
	char s[32];

	if (t > 0 && t < 4e9 && localtime_r(&sec, &tm) && strftime(s, sizeof(s), "%Y-%m-%d %H:%M", &tm))
		buf_puts(out, s);
	else
		buf_puts(out, "-");
}

static void cell(struct buf *out, const char *s, size_t width)
{
	struct buf safe = BUF_INIT;

	text_escape(&safe, s && s[0] ? s : "-", s && s[0] ? strlen(s) : 1, false);
	text_fit(out, buf_str(&safe), width, true);
	buf_puts(out, "  ");
	buf_release(&safe);
}

static void run_row(char kind, const struct run *r, struct buf *out)
{
	char id[32];

	snprintf(id, sizeof(id), "%s%c%lld", r->experiment ? "  " : "", kind, (long long)r->id);
	cell(out, id, 8);
	cell(out, r->experiment ? variant_name(r->variant) : "-", 6);
	cell(out, r->warmup ? "warm-up" : r->sampled ? "sampled" : "timed", 7);
	cell(out, run_state_name(r->state), 10);
	if (r->ops > 0) {
		text_ns(out, (double)r->wall_ns / r->ops, 4, false);
		buf_printf(out, "/op  n %.0f", r->ops);
	} else {
		buf_puts(out, "-");
	}
	if (r->sampled)
		buf_printf(out, "  %llu samples, %llu lost", (unsigned long long)r->samples, (unsigned long long)r->lost);
	if (!r->experiment) {
		buf_puts(out, "  ");
		cell(out, r->label ? r->label : r->command, 40);
	}
	buf_putc(out, '\n');
}

static void print_text(const struct listing *l, bool with_runs, struct buf *out)
{
	size_t i, k;
	char id[32];

	if (!l->n_exps && !l->n_profiles)
		buf_puts(out, "Nothing is recorded here yet; `kab run net-procfs` measures the first case, `kab record -- "
			 "COMMAND` profiles a command.\n");
	for (i = 0; i < l->n_exps; i++) {
		const struct experiment *e = &l->exps[i];

		snprintf(id, sizeof(id), "e%lld", (long long)e->id);
		cell(out, id, 8);
		cell(out, e->case_name, 14);
		cell(out, e->target, 5);
		cell(out, e->kernel, 18);
		cell(out, exp_state_name(e->state), 10);
		when(out, e->started);
		buf_printf(out, "  %zu blocks%s\n", l->n_runs[i], e->exact ? ", exact" : "");
		for (k = 0; with_runs && k < l->n_runs[i]; k++)
			run_row('r', &l->runs[i][k], out);
	}
	for (i = 0; i < l->n_profiles; i++)
		run_row('p', &l->profiles[i], out);
}

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { 0 };
	struct listing l = { 0 };
	struct buf out = BUF_INIT;
	struct store *s = NULL;
	int rc;

	cli_parse(&argp, "list", argc, argv, &a);
	rc = session_open(&a.common, STORE_READ, &s, err);
	if (!rc)
		rc = load(s, &l, err);
	if (!rc) {
		if (a.common.json)
			print_json(&l, &out);
		else
			print_text(&l, a.runs, &out);
		rc = print_out(&out, err);
	}
	release(&l);
	buf_release(&out);
	store_close(s, NULL);
	return rc;
}

const struct command cmd_list = { "list", "", "experiments, runs and profiles in the session file", &argp, run };
