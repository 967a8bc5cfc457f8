/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: one file a command, one row each in the table of main.c. A command
 * declares its options once, as an argp table; --help, the checks of the manual
 * page and shell completion read the same rows.
 *
 * A command prints its result to stdout and returns 0, or returns negative with
 * a sentence in `err`, which main prints to stderr; exit codes are 0, 1 and 2
 * (usage).
 */
#ifndef KAB_CLI_CLI_H
#define KAB_CLI_CLI_H

#include <argp.h>
#include <stdbool.h>

#include "jobs/jobs.h"
#include "report/report.h"

struct err;

/* What every command may be told: -s and --json. */
struct common {
	const char *session;	/* -s; NULL: see session_path() */
	bool json;
};

struct command {
	const char *name, *args, *summary;
	const struct argp *argp;	/* options; NULL: none but the common ones */
	int (*run)(int argc, char **argv, struct err *err);
};

extern const struct command cmd_tui, cmd_doctor, cmd_patch, cmd_run, cmd_record, cmd_list, cmd_show, cmd_compare,
	cmd_report, cmd_lab;

/* Child parser for -s and --json; its input is a struct common. Every command has it as its first child. */
extern const struct argp_child common_children[];
/* Parses with `argp` (whose state->child_inputs[0] is set from the first member of `input`); ends the program
 * with 2 on wrong usage, as argp does. */
void cli_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input);

/* -s, else $KAB_SESSION, else the XDG data folder; the caller frees. */
char *session_path(const struct common *c, struct err *err);
int session_open(const struct common *c, enum store_mode mode, struct store **s, struct err *err);

/* --- options of the lab, shared by run, record and lab --- */
#define LAB_OPTIONS \
	{ "kernel", 'k', "LINE", 0, "kernel line of the lab: 6.1, 6.12 (default: the distribution's current one)", 1 }, \
	{ "kernel-image", 1001, "FILE", 0, "boot this bzImage instead of a distribution's kernel", 1 }, \
	{ "kernel-build", 1002, "DIR", 0, "its headers or build folder, for modules", 1 }
/* True when the key was one of LAB_OPTIONS. */
bool lab_option(int key, const char *arg, struct lab_opts *o);

/* What `run` and `record` sample and trace; profile/events.h has the forms. */
#define EVENTS_OPTION \
	{ "events", 'e', "LIST", 0, "sampled event (default: cycles, or cpu-clock where there is no PMU) " \
	  "and tracepoints: SYSTEM:EVENT, SYSTEM:EVENT:FIELD, SYSTEM:EVENT..EVENT, off-cpu", 1 }

/* --- long work --- */
/* A job_watch that draws a bar on a terminal, plain lines elsewhere, JSON lines on stdout when `json`;
 * Ctrl-C and SIGTERM make stop() true from here on. */
struct watch {
	struct job_watch job;
	bool json, terminal;
	char last[240];	/* the plain line printed last */
	size_t drawn;
};
void watch_start(struct watch *w, bool json);
void watch_end(struct watch *w);	/* clears the bar */
bool watch_stopped(void *ctx);		/* the same, for lab_opts and case_build */
void watch_lab(void *ctx, const char *what, double done, double total);	/* lab_opts.progress; ctx is a struct watch */

/* An evidence as the writers take it; everything borrowed from `e`. */
struct report_input report_input_of(const struct evidence *e, enum norm norm);

/* Prints text made for a terminal or a file; says when stdout is gone (full disk, closed pipe). */
int print_out(const struct buf *b, struct err *err);

#endif
