// SPDX-License-Identifier: GPL-2.0-or-later
/* kab record: profile any command into the session file. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/text.h"

struct args {
	struct common common;
	struct job_record_opts job;
	bool progress_json;
};

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0, "where to run it: local (default), vm (the lab) or ssh:HOST", 1 },
	{ "keep-agent", 1020, NULL, 0, "ssh: leave kab-agent and its folder on the host", 1 },
	{ "label", 'l', "LABEL", 0, "a name for the recording", 1 },
	LAB_OPTIONS,
	EVENTS_OPTION,
	{ "frequency", 'F', "HZ", 0, "samples a second (default 4000)", 1 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (lab_option(key, arg, &a->job.lab))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 't':
		a->job.target = arg;
		return 0;
	case 'l':
		a->job.label = arg;
		return 0;
	case 1020:
		a->job.keep_agent = true;
		return 0;
	case 'e':
		a->job.event = arg;
		return 0;
	case 'F':
		if (!text_to_u64(arg, 1, 100000, &a->job.freq_hz))
			argp_error(state, "--frequency takes a number from 1 to 100000 (Hz)");
		return 0;
	case ARGP_KEY_ARG:
		/* The command and its own options, as they are. */
		a->job.argv = (const char *const *)&state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a command, best behind --: kab record -- COMMAND...");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, "-- COMMAND...",
	"Profile a command, kernel and user call graphs, into the session file.", common_children, NULL, NULL };

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { .job = { .target = "local", .freq_hz = 4000 } };
	struct store *s = NULL;
	struct run meta = { 0 };
	struct err note = ERR_INIT;
	struct watch w;
	int64_t id = 0;
	int rc, rc2, status = 0;

	cli_parse(&argp, "record", argc, argv, &a);
	rc = session_open(&a.common, STORE_WRITE, &s, err);
	if (!rc) {
		watch_start(&w, false);
		/* The command owns the terminal: no bar over its output. */
		w.terminal = false;
		w.job.progress = NULL;
		rc = job_record(s, &a.job, &w.job, &id, &status, &note, err);
		watch_end(&w);
	}
	if (rc && id)
		err_add(err, 0, "What was recorded is kept as p%lld in %s.", (long long)id, store_path(s));
	if (!rc)
		rc = store_run(s, id, &meta, err);
	if (!rc)
		fprintf(stderr, "kab: %llu samples of %s at %llu Hz, %llu lost; command ended with status %d. "
			"Stored as p%lld in %s.\n", (unsigned long long)meta.samples, meta.event ? meta.event : "?",
			(unsigned long long)meta.freq_hz, (unsigned long long)meta.lost, status, (long long)id, store_path(s));
	if (!rc && note.len)
		fprintf(stderr, "kab: %s\n", note.text);
	run_release(&meta);
	if (s) {
		rc2 = store_close(s, rc ? NULL : err);
		rc = rc ? rc : rc2;
	}
	return rc;
}

const struct command cmd_record = { "record", "-- COMMAND...", "profile any command into the session file", &argp, run };
