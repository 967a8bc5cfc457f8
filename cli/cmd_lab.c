// SPDX-License-Identifier: GPL-2.0-or-later
/* kab lab: the VM target's kernels and guest. One table row a verb. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/fs.h"

struct args {
	struct common common;
	struct lab_opts lab;
	const char *verb;
};

static int fetch(struct args *a, struct err *err)
{
	struct lab_kernel k = { 0 };
	int rc = lab_fetch(&a->lab, &k, err);

	if (!rc)
		printf("The lab's kernel %s is ready%s%s.\n", k.release, k.build ? "; headers in " : ", without headers",
		       k.build ? k.build : "");
	lab_kernel_release(&k);
	return rc;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* What boot and shell need before they differ. */
static int ready(struct args *a, struct lab_kernel *k, char **agent, struct err *err)
{
	int rc = lab_kernel_find(&a->lab, k, err);

	if (rc)
		return rc;
	*agent = fs_program("kab-agent", err);
	return *agent ? 0 : -ENOENT;
}

/* Boots once and says what came up: the proof that the lab works here. */
static int boot(struct args *a, struct err *err)
{
	struct live_sink sink = { 0 };
	struct lab_guest *g = NULL;
	struct lab_kernel k = { 0 };
	struct machine m = { 0 };
	struct live *l = NULL;
	char *agent = NULL;
	double start = seconds(), up = 0;
	int fd, rc = ready(a, &k, &agent, err);
	size_t i;

	if (!rc)
		rc = lab_boot(&a->lab, &k, agent, &g, &fd, err);
	if (!rc)
		rc = live_attach(fd, &sink, 60000, &l, err);
	if (!rc) {
		up = seconds() - start;
		rc = live_facts(l, &m, err);
	}
	if (!rc) {
		printf("The guest is up after %.1f s (%s).\n", up, lab_accel(g));
		for (i = 0; i < m.n; i++)
			printf("  %-24s %s\n", m.facts[i].key, m.facts[i].value);
	}
	live_close(l);
	lab_stop(g);
	machine_release(&m);
	lab_kernel_release(&k);
	free(agent);
	return rc;
}

static int shell(struct args *a, struct err *err)
{
	struct lab_kernel k = { 0 };
	char *agent = NULL;
	int rc = ready(a, &k, &agent, err);

	if (!rc)
		rc = lab_shell(&a->lab, &k, agent, err);
	lab_kernel_release(&k);
	free(agent);
	return rc;
}

static int status(struct args *a, struct err *err)
{
	struct buf out = BUF_INIT;
	int rc = lab_status(&out, a->common.json, err);

	if (!rc)
		rc = print_out(&out, err);
	buf_release(&out);
	return rc;
}

static int clean(struct args *a, struct err *err)
{
	int rc = lab_clean(err);

	(void)a;
	if (!rc)
		printf("The lab's kernels are removed from the cache; `kab lab fetch` brings them back.\n");
	return rc;
}

static const struct verb {
	const char *name;
	int (*run)(struct args *a, struct err *err);
} verbs[] = {
	{ "fetch", fetch }, { "boot", boot }, { "shell", shell }, { "status", status }, { "clean", clean },
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct argp_option options[] = {
	LAB_OPTIONS,
	{ "exact", 'x', NULL, 0, "boot, shell: one CPU, time counted in instructions", 1 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (lab_option(key, arg, &a->lab))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'x':
		a->lab.exact = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->verb)
			argp_error(state, "one of fetch, boot, shell, status, clean");
		a->verb = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "one of fetch, boot, shell, status, clean");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, "fetch|boot|shell|status|clean",
	"The lab: a distribution's kernel in QEMU. fetch brings kernel and headers, boot tries it, shell opens "
	"one inside, status says what is there, clean removes the kernels from the cache.", common_children,
	NULL, NULL };

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { 0 };
	struct watch w;
	size_t i;
	int rc;

	cli_parse(&argp, "lab", argc, argv, &a);
	for (i = 0; i < VERBS && strcmp(verbs[i].name, a.verb); i++)
		;
	if (i == VERBS)
		return err_add(err, -EINVAL, "`kab lab` knows fetch, boot, shell, status and clean, not \"%.40s\".", a.verb);
	watch_start(&w, false);
	a.lab.progress = watch_lab;
	a.lab.stop = watch_stopped;
	a.lab.ctx = &w;
	rc = verbs[i].run(&a, err);
	watch_end(&w);
	return rc;
}

const struct command cmd_lab = {
	"lab", "fetch|boot|shell|status|clean", "the VM target's kernels and guest", &argp, run,
};
