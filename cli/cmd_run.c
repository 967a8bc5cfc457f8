// SPDX-License-Identifier: GPL-2.0-or-later
/* kab run: measure a patch case before and after, store it, print the result. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define PARAMS 16

struct args {
	struct common common;
	struct job_run_opts job;
	const char *params[PARAMS + 1];	/* NULL at the end */
	size_t n_params;
	bool progress_json;
};

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0, "where to measure: vm (the lab, default) or local", 1 },
	{ "blocks", 'b', "N", 0, "blocks of each variant, timed and sampled each (default 6)", 1 },
	{ "ops", 'o', "N", 0, "operations in a block (default: the case's)", 1 },
	{ "exact", 'x', NULL, 0, "lab only: one CPU, time counted in instructions, repeats agree to about 0.1 %", 1 },
	LAB_OPTIONS,
	{ "workload", 'w', "CMD", 0, "run this shell command in each block instead of the case's workload", 1 },
	{ "param", 'p', "NAME=VALUE", 0, "set a parameter of the case's module; may be repeated", 1 },
	EVENTS_OPTION,
	{ "no-counters", 1020, NULL, 0, "count no instructions, faults, switches, ... in the timed blocks", 1 },
	{ "frequency", 'F', "HZ", 0, "samples a second (default 4000)", 1 },
	{ "seed", 1003, "N", 0, "seed of the block order (default: from the clock; stored)", 1 },
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
		a->job.target = arg;
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
	case 'p':
		if (!strchr(arg, '='))
			argp_error(state, "--param takes NAME=VALUE");
		if (a->n_params == PARAMS)
			argp_error(state, "at most %d parameters", PARAMS);
		a->params[a->n_params++] = arg;
		return 0;
	case 'e':
		a->job.event = arg;
		return 0;
	case 1020:
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
		argp_error(state, "name a case; `kab patch list` shows them");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, "CASE",
	"Build the case's module, load it on the target, check that before and after print the same, "
	"measure both in interleaved blocks, and store everything.", common_children, NULL, NULL };

static int print_result(struct store *s, int64_t id, const struct args *a, struct err *err)
{
	struct evidence e;
	struct report_input in;
	struct buf out = BUF_INIT;
	int rc = evidence_load(s, id, &e, err);

	if (rc)
		return rc;
	in = report_input_of(&e, NORM_OP);
	if (a->common.json) {
		report_json(&in, &out);
	} else {
		report_summary(&in, &out);
		buf_printf(&out, "\nStored as e%lld in %s. Look at it: kab -s %s   Report: kab report e%lld -s %s\n",
			   (long long)id, store_path(s), store_path(s), (long long)id, store_path(s));
	}
	rc = print_out(&out, err);
	buf_release(&out);
	evidence_release(&e);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { .job = { .target = "vm", .blocks = 6, .freq_hz = 4000 } };
	struct buf command = BUF_INIT;
	struct store *s = NULL;
	struct watch w;
	int64_t id = 0;
	int rc, i;

	for (i = 0; i < argc; i++)
		buf_printf(&command, "%s%s", i ? " " : "kab ", argv[i]);
	cli_parse(&argp, "run", argc, argv, &a);
	a.job.command = buf_str(&command);
	a.job.params = a.params;
	rc = session_open(&a.common, STORE_WRITE, &s, err);
	if (!rc) {
		watch_start(&w, a.progress_json);
		rc = job_run(s, &a.job, &w.job, &id, err);
		watch_end(&w);
	}
	if (rc && id)
		err_add(err, 0, "What was measured is kept as e%lld in %s.", (long long)id, store_path(s));
	if (!rc && !a.progress_json)
		rc = print_result(s, id, &a, err);
	if (s) {
		int rc2 = store_close(s, rc ? NULL : err);

		rc = rc ? rc : rc2;
	}
	buf_release(&command);
	return rc;
}

const struct command cmd_run = { "run", "CASE", "measure a patch before and after", &argp, run };
