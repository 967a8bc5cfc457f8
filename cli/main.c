// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kab: the commands, one row each, and what they share. The only place that
 * ends the program or prints an error.
 */
#include "cli/cli.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/version.h"

static const struct command *const commands[] = {
	&cmd_tui, &cmd_doctor, &cmd_patch, &cmd_run, &cmd_record, &cmd_list, &cmd_show, &cmd_compare, &cmd_report,
	&cmd_lab,
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* --- common options --- */

static const struct argp_option common_options[] = {
	{ "session", 's', "FILE", 0, "session file (default: $KAB_SESSION, else session.kab in $XDG_DATA_HOME/kab)", 90 },
	{ "json", 'j', NULL, 0, "machine-readable output, where there is one", 90 },
	{ 0 }
};

static error_t common_parse(int key, char *arg, struct argp_state *state)
{
	struct common *c = state->input;

	switch (key) {
	case 's':
		c->session = arg;
		return 0;
	case 'j':
		c->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp common_argp = { .options = common_options, .parser = common_parse };
const struct argp_child common_children[] = { { &common_argp, 0, NULL, 0 }, { 0 } };

void cli_parse(const struct argp *argp, const char *name, int argc, char **argv, void *input)
{
	char *full = mem_printf("kab %s", name);

	argv[0] = full;
	argp_parse(argp, argc, argv, 0, NULL, input);
	free(full);
	argv[0] = (char *)"kab";
}

char *session_path(const struct common *c, struct err *err)
{
	const char *env = getenv("KAB_SESSION");

	if (c->session)
		return mem_strdup(c->session);
	return env && env[0] ? mem_strdup(env) : fs_data_file("session.kab", err);
}

int session_open(const struct common *c, enum store_mode mode, struct store **s, struct err *err)
{
	char *path = session_path(c, err);
	int rc = path ? store_open(path, mode, s, err) : -ENOENT;

	free(path);
	return rc;
}

bool lab_option(int key, const char *arg, struct lab_opts *o)
{
	switch (key) {
	case 'k':
		o->line = arg;
		return true;
	case 1001:
		o->image = arg;
		return true;
	case 1002:
		o->build = arg;
		return true;
	}
	return false;
}

struct report_input report_input_of(const struct evidence *e, enum norm norm)
{
	return (struct report_input){
		.cmp = e->cmp, .exp = &e->exp, .machine = &e->machine,
		.facts = e->pcase.facts.name ? &e->pcase.facts : NULL,
		.runs = e->runs, .n_runs = e->n_runs, .counted = e->counted, .environment = &e->environment,
		.side_title = { e->title[BEFORE], e->title[AFTER] },
		.norm = norm, .measure = PERIOD, .across = e->across,
	};
}

int print_out(const struct buf *b, struct err *err)
{
	if (fwrite(buf_str(b), 1, b->len, stdout) == b->len && fflush(stdout) == 0)
		return 0;
	if (errno == EPIPE)
		return 0;	/* the reader has seen enough */
	return err_sys(err, errno, "Cannot write to stdout");
}

/* --- long work --- */

/* Set by a signal handler, read by stop(): the one mutable global of cli/. */
static volatile sig_atomic_t stop_asked;

static void ask_stop(int sig)
{
	(void)sig;
	stop_asked = 1;
}

bool watch_stopped(void *ctx)
{
	(void)ctx;
	return stop_asked;
}

static void bar(struct watch *w, double fraction, const char *text)
{
	enum { BAR = 24 };
	struct buf line = BUF_INIT;
	size_t full = (size_t)(fraction < 0 ? 0 : fraction > 1 ? BAR : fraction * BAR), width;

	buf_putc(&line, '[');
	buf_fill(&line, '#', full);
	buf_fill(&line, '.', BAR - full);
	buf_printf(&line, "] %3.0f %%  ", 100 * fraction);
	text_escape(&line, text, strlen(text), true);
	width = line.len;
	if (width > 100) {
		line.len = width = 100;
		line.data[100] = '\0';
	}
	fprintf(stderr, "\r%s%*s", line.data, width < w->drawn ? (int)(w->drawn - width) : 0, "");
	fflush(stderr);
	w->drawn = width;
	buf_release(&line);
}

static void progress_line(const struct job_progress *p, struct buf *out)
{
	if (p->phase != JOB_BLOCK || p->blocks <= 1) {
		buf_puts(out, p->text);
		return;
	}
	buf_printf(out, "block %u of %u: %s", p->block, p->blocks, p->text);
	if (p->diff_lo == p->diff_lo)
		buf_printf(out, "; difference so far %+.2f %% (95 %%: %+.2f to %+.2f)", 100 * p->diff_rel,
			   100 * p->diff_lo, 100 * p->diff_hi);
}

static void on_progress(void *ctx, const struct job_progress *p)
{
	struct watch *w = ctx;
	struct buf line = BUF_INIT;

	if (w->json) {
		job_progress_json(p, &line);
		printf("%s\n", buf_str(&line));
		fflush(stdout);
	} else if (p->phase == JOB_DONE || p->phase == JOB_FAILED) {
		;	/* the caller's own words follow */
	} else if (w->terminal) {
		progress_line(p, &line);
		bar(w, p->fraction, buf_str(&line));
	} else {
		/* One line a step: the estimate so far would repeat itself in a log. */
		if (p->phase == JOB_BLOCK && p->blocks > 1 && p->block)
			buf_printf(&line, "block %u of %u: ", p->block, p->blocks);
		text_escape(&line, p->text, strlen(p->text), true);
		if (strncmp(w->last, buf_str(&line), sizeof(w->last) - 1)) {
			snprintf(w->last, sizeof(w->last), "%s", buf_str(&line));
			fprintf(stderr, "%s\n", buf_str(&line));
		}
	}
	buf_release(&line);
}

void watch_lab(void *ctx, const char *what, double done, double total)
{
	struct watch *w = ctx;

	if (w->terminal && total > 0) {
		bar(w, done / total, what);
	} else if (strncmp(w->last, what, sizeof(w->last) - 1)) {
		snprintf(w->last, sizeof(w->last), "%s", what);
		if (w->terminal)
			bar(w, 0, what);
		else
			fprintf(stderr, "%s\n", what);
	}
}

void watch_start(struct watch *w, bool json)
{
	struct sigaction sa = { .sa_handler = ask_stop };

	*w = (struct watch){ .json = json, .terminal = isatty(STDERR_FILENO) };
	w->job = (struct job_watch){ on_progress, watch_stopped, w };
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

void watch_end(struct watch *w)
{
	if (w->drawn)
		fprintf(stderr, "\r%*s\r", (int)w->drawn, "");
	w->drawn = 0;
}

/* --- the program --- */

static void usage(FILE *out)
{
	size_t i;

	fprintf(out, "Usage: kab [COMMAND] [OPTION...]\n"
		"What does a kernel patch change, where, by how much, and could it be noise?\n\n");
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\nWithout a command the workbench opens. `kab COMMAND --help` tells a command's options.\n");
}

static void print_options(const char *command, const struct argp *argp)
{
	const struct argp_option *o;

	for (o = argp ? argp->options : NULL; o && (o->name || o->key || o->doc); o++)
		if (o->name && !(o->flags & OPTION_HIDDEN))
			printf("%s --%s%s%s\n", command, o->name, o->arg ? "=" : "", o->arg ? o->arg : "");
}

/* Every command and option, a line each: what the manual page and completion are checked against. */
static void print_tables(void)
{
	size_t i;

	print_options("common", &common_argp);
	for (i = 0; i < COMMANDS; i++) {
		printf("%s\n", commands[i]->name);
		print_options(commands[i]->name, commands[i]->argp);
	}
}

int main(int argc, char **argv)
{
	const struct command *c = &cmd_tui;
	struct err err = ERR_INIT;
	size_t i;
	int rc;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	argp_err_exit_status = 2;
	if (argc > 1 && argv[1][0] != '-') {
		for (i = 0; i < COMMANDS && strcmp(commands[i]->name, argv[1]); i++)
			;
		if (i == COMMANDS) {
			struct buf name = BUF_INIT;

			text_escape(&name, argv[1], strlen(argv[1]), true);
			fprintf(stderr, "kab: There is no command \"%.60s\"; `kab --help` lists them.\n", buf_str(&name));
			buf_release(&name);
			return 2;
		}
		c = commands[i];
		argc--;
		argv++;
	} else if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?"))) {
		usage(stdout);
		return 0;
	} else if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("kab %s\n", KAB_VERSION);
		return 0;
	} else if (argc > 1 && !strcmp(argv[1], "--print-tables")) {
		print_tables();
		return 0;
	}
	rc = c->run(argc, argv, &err);
	if (rc < 0) {
		fprintf(stderr, "kab: %s\n", err.len ? err.text : strerror(-rc));
		return 1;
	}
	return rc;
}
