// SPDX-License-Identifier: GPL-2.0-or-later
/* kab, kab tui: the workbench. */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "tui/tui.h"

struct args {
	struct common common;
	struct tui_opts tui;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case ARGP_KEY_ARG:
		if (a->tui.start)
			argp_error(state, "one id to open");
		a->tui.start = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { NULL, parse, "[ID]",
	"Open the workbench on the session file, at once on an experiment when its id is given.", common_children,
	NULL, NULL };

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { 0 };
	char self[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int rc;

	cli_parse(&argp, "tui", argc, argv, &a);
	self[n > 0 ? n : 0] = '\0';
	path = session_path(&a.common, err);
	if (!path)
		return -1;
	a.tui.session = path;
	a.tui.kab = self;
	rc = tui_run(&a.tui, err);
	free(path);
	return rc;
}

const struct command cmd_tui = { "tui", "[ID]", "open the workbench (also what plain `kab` does)", &argp, run };
