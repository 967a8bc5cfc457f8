// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kab run: measure a patch case before and after, on one machine or several, store
 * it, print the result. A job file stands for the options that are not given.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "jobs/jobfile.h"

struct args {
	struct common common;
	struct job_run_opts job;
	const char *targets[JOB_TARGETS];
	unsigned n_targets;
	const char *params[JOB_PARAMS + 1];	/* NULL at the end */
	unsigned n_params;
	struct job_file *file;		/* what was read; borrowed from by the above */
	const char *write_job;
	bool progress_json;
};

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0, "where to measure: vm (the lab, default), local or ssh:HOST; may be repeated", 1 },
	{ "keep-agent", 1020, NULL, 0, "ssh: leave kab-agent and its folder on the host", 1 },
	{ "blocks", 'b', "N", 0, "blocks of each variant, timed and sampled each (default 6)", 1 },
	{ "ops", 'o', "N", 0, "operations in a block (default: the case's)", 1 },
	{ "exact", 'x', NULL, 0, "lab only: one CPU, time counted in instructions, repeats agree to about 0.1 %", 1 },
	LAB_OPTIONS,
	{ "workload", 'w', "CMD", 0, "run this shell command in each block instead of the case's workload", 1 },
	{ "param", 'p', "NAME=VALUE", 0, "set a parameter of the case's module; may be repeated", 1 },
	EVENTS_OPTION,
	{ "no-counters", 1050, NULL, 0, "count no instructions, faults, switches, ... in the timed blocks", 1 },
	{ "frequency", 'F', "HZ", 0, "samples a second (default 4000)", 1 },
	{ "seed", 1003, "N", 0, "seed of the block order (default: from the clock; stored)", 1 },
	{ "write-job", 1021, "FILE", 0, "write these settings as a job file instead of measuring", 1 },
	{ "progress", 1004, "FORM", 0, "json: one JSON object a step on stdout instead of the result", 1 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	uint64_t v;

	if (lab_option(key, arg, &a->job.lab))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 't':
		if (a->n_targets == JOB_TARGETS)
			argp_error(state, "at most %d targets", JOB_TARGETS);
		a->targets[a->n_targets++] = arg;
		return 0;
	case 'b':
		if (!text_to_u64(arg, 1, 10000, &v))
			argp_error(state, "--blocks takes a number from 1 to 10000");
		a->job.blocks = (unsigned)v;
		return 0;
	case 'o':
		if (!text_to_u64(arg, 1, 1000000000, &v))
			argp_error(state, "--ops takes a number from 1 to 1000000000");
		a->job.ops = (unsigned)v;
		return 0;
	case 'x':
		a->job.exact = true;
		return 0;
	case 'w':
		a->job.workload = arg;
		return 0;
	case 1020:
		a->job.keep_agent = true;
		return 0;
	case 'p':
		if (!strchr(arg, '='))
			argp_error(state, "--param takes NAME=VALUE");
		if (a->n_params == JOB_PARAMS)
			argp_error(state, "at most %d parameters", JOB_PARAMS);
		a->params[a->n_params++] = arg;
		return 0;
	case 'e':
		a->job.event = arg;
		return 0;
	case 1050:
		a->job.no_counters = true;
		return 0;
	case 'F':
		if (!text_to_u64(arg, 1, 100000, &v))
			argp_error(state, "--frequency takes a number from 1 to 100000 (Hz)");
		a->job.freq_hz = v;
		return 0;
	case 1003:
		if (!text_to_u64(arg, 1, INT64_MAX, &a->job.seed))
			argp_error(state, "--seed takes a positive number");
		return 0;
	case 1021:
		a->write_job = arg;
		return 0;
	case 1004:
		if (strcmp(arg, "json"))
			argp_error(state, "--progress takes json");
		a->progress_json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->job.case_name)
			argp_error(state, "one case at a time");
		a->job.case_name = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a case, `kab patch list` shows them; or a job file (FILE.yaml)");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, "CASE\nFILE.yaml",
	"Build the case's module, load it on the target, check that before and after print the same, "
	"measure both in interleaved blocks, and store everything. With several targets, one after the other, and the "
	"result across them. A job file holds the case and the options; those given here come before its own.", common_children, NULL, NULL };

/* --- the plan: options, then the job file, then what is usual --- */

static bool is_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static void text_unless_given(const char **option, const char *value)
{
	*option = *option ? *option : value;
}

static int take_file(struct args *a, struct err *err)
{
	struct job_run_opts *o = &a->job;
	struct job_file *f;
	unsigned i;
	int rc = job_file_load(o->case_name, &f, err);

	if (rc)
		return rc;
	a->file = f;
	o->case_name = f->case_name;
	for (i = 0; !a->n_targets && i < f->n_targets; i++)
		a->targets[i] = f->targets[i];
	a->n_targets = a->n_targets ? a->n_targets : f->n_targets;
	for (i = 0; !a->n_params && i < f->n_params; i++)
		a->params[i] = f->params[i];
	a->n_params = a->n_params ? a->n_params : f->n_params;
	o->blocks = o->blocks ? o->blocks : f->blocks;
	o->ops = o->ops ? o->ops : f->ops;
	o->freq_hz = o->freq_hz ? o->freq_hz : f->frequency;
	o->seed = o->seed ? o->seed : f->seed;
	o->exact |= f->exact;
	o->no_counters |= f->no_counters;
	text_unless_given(&o->event, f->event);
	text_unless_given(&o->workload, f->workload);
	text_unless_given(&o->lab.line, f->kernel);
	text_unless_given(&o->lab.image, f->kernel_image);
	text_unless_given(&o->lab.build, f->kernel_build);
	return 0;
}

static int plan(struct args *a, struct err *err)
{
	struct job_run_opts *o = &a->job;
	struct timespec now;
	unsigned i, k;
	int rc = is_file(o->case_name) ? take_file(a, err) : 0;

	if (rc)
		return rc;
	if (!a->n_targets)
		a->targets[a->n_targets++] = "vm";
	for (i = 0; i < a->n_targets; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(a->targets[i], a->targets[k]))
				return err_add(err, -EINVAL, "The target %.100s is named twice; one machine is measured once.",
					       a->targets[i]);
	clock_gettime(CLOCK_REALTIME, &now);
	o->blocks = o->blocks ? o->blocks : 6;
	o->freq_hz = o->freq_hz ? o->freq_hz : 4000;
	o->seed = o->seed ? o->seed : (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	o->params = a->params;
	return 0;
}

/* The plan as the text of a job file, with all that is settled by now. */
static int job_text(const struct args *a, struct buf *out, struct err *err)
{
	const struct job_run_opts *o = &a->job;
	struct job_file f = {
		.version = JOB_FILE_VERSION, .case_name = (char *)o->case_name,
		.targets = (char **)a->targets, .n_targets = a->n_targets, .blocks = o->blocks, .ops = o->ops,
		.frequency = (unsigned)o->freq_hz, .exact = o->exact, .no_counters = o->no_counters, .seed = o->seed,
		.kernel = (char *)o->lab.line, .kernel_image = (char *)o->lab.image, .kernel_build = (char *)o->lab.build,
		.event = (char *)o->event, .workload = (char *)o->workload,
		.params = a->n_params ? (char **)a->params : NULL, .n_params = a->n_params,
	};
	struct buf params = BUF_INIT;
	struct patch_case c;
	int rc = case_load(o->case_name, &c, err);

	if (rc)
		return rc;
	f.ops = f.ops ? f.ops : c.ops_per_block;
	rc = case_params(&c, a->params, &params, err);
	case_release(&c);
	buf_release(&params);
	return rc ? rc : job_file_text(&f, out, err);
}

/* --- measuring --- */

/* Several machines: before any is measured, each is asked whether it can be. */
static int look_at_all(struct args *a, const struct job_watch *w, struct err *err)
{
	unsigned i;
	int rc = 0;

	for (i = 0; !rc && a->n_targets > 1 && i < a->n_targets; i++) {
		a->job.target = a->targets[i];
		rc = job_run_check(&a->job, w, err);
		if (rc)
			err_add(err, 0, "So %s cannot be measured, and nothing was.", a->targets[i]);
	}
	return rc;
}

/* One experiment; the next ones are of its group. What went wrong is told with the target's name if it is one of many. */
static int measure_one(struct store *s, struct args *a, const char *target, const struct job_watch *w, int64_t *id,
		       struct err *err)
{
	bool many = a->n_targets > 1;
	struct err why = ERR_INIT;
	int rc;

	a->job.target = target;
	rc = job_run(s, &a->job, w, id, &why);
	a->job.group = a->job.group ? a->job.group : *id;
	if (!rc)
		return 0;
	if (*id)
		err_add(&why, 0, "What was measured is kept as e%lld in %s.", (long long)*id, store_path(s));
	return err_add(err, rc, "%s%s%s", many ? target : "", many ? ": " : "", why.text);
}

/* A target that fails does not keep the others from being measured; the first failure is the result. */
static int measure(struct store *s, struct args *a, int64_t ids[JOB_TARGETS], bool good[JOB_TARGETS], struct err *err)
{
	struct watch w;
	int rc, result;
	unsigned i;

	watch_start(&w, a->progress_json);
	rc = result = look_at_all(a, &w.job, err);
	for (i = 0; rc != -ECANCELED && (i || !rc) && i < a->n_targets; i++) {
		if (a->n_targets > 1 && !w.json && !w.terminal)
			fprintf(stderr, "on %s:\n", a->targets[i]);
		rc = measure_one(s, a, a->targets[i], &w.job, &ids[i], err);
		good[i] = !rc;
		result = result ? result : rc;
	}
	watch_end(&w);
	return result;
}

/* --- the result --- */

/* Of the first of several machines the JSON: it holds all of them, under "across". */
static int print_one(struct store *s, int64_t id, const struct args *a, bool last, struct buf *out, struct err *err)
{
	struct evidence e;
	struct report_input in;
	int rc = evidence_load(s, id, &e, err);

	if (rc)
		return rc;
	in = report_input_of(&e, NORM_OP);
	if (a->common.json) {
		if (!out->len)
			report_json(&in, out);
	} else {
		if (a->n_targets > 1)
			buf_printf(out, "%s, kernel %s\n\n", e.exp.target, e.exp.kernel ? e.exp.kernel : "unknown");
		report_summary(&in, out);
		buf_printf(out, "\nStored as e%lld in %s. Look at it: kab -s %s   Report: kab report e%lld -s %s\n",
			   (long long)id, store_path(s), store_path(s), (long long)id, store_path(s));
		if (a->n_targets > 1)
			buf_putc(out, '\n');
		if (last)
			report_across(&in, out);
	}
	evidence_release(&e);
	return 0;
}

static int print_results(struct store *s, const int64_t ids[], const bool good[], const struct args *a, struct err *err)
{
	struct buf out = BUF_INIT;
	unsigned i, left = 0;
	int rc = 0;

	for (i = 0; i < a->n_targets; i++)
		left += good[i];
	for (i = 0; !rc && i < a->n_targets; i++)
		if (good[i])
			rc = print_one(s, ids[i], a, --left == 0, &out, err);
	if (!rc)
		rc = print_out(&out, err);
	buf_release(&out);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	int64_t ids[JOB_TARGETS] = { 0 };
	bool good[JOB_TARGETS] = { false };
	struct buf command = BUF_INIT, job = BUF_INIT;
	struct args a = { 0 };
	struct store *s = NULL;
	int rc, rc2, i;

	for (i = 0; i < argc; i++)
		buf_printf(&command, "%s%s", i ? " " : "kab ", argv[i]);
	cli_parse(&argp, "run", argc, argv, &a);
	a.job.command = buf_str(&command);
	rc = plan(&a, err);
	if (!rc)
		rc = job_text(&a, &job, err);
	a.job.job = buf_str(&job);
	if (!rc && a.write_job) {
		rc = fs_write(a.write_job, buf_str(&job), job.len, err);
		goto out;
	}
	if (!rc)
		rc = session_open(&a.common, STORE_WRITE, &s, err);
	if (!rc)
		rc = measure(s, &a, ids, good, err);
	if (s && !a.progress_json) {
		rc2 = print_results(s, ids, good, &a, rc ? NULL : err);
		rc = rc ? rc : rc2;
	}
	if (s) {
		rc2 = store_close(s, rc ? NULL : err);
		rc = rc ? rc : rc2;
	}
out:
	job_file_free(a.file);
	buf_release(&job);
	buf_release(&command);
	return rc;
}

const struct command cmd_run = { "run", "CASE | FILE.yaml", "measure a patch before and after", &argp, run };
