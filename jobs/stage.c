// SPDX-License-Identifier: GPL-2.0-or-later
/* stage: see stage.h. */
#include "jobs/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "jobs/carry.h"

int stage_open(struct stage *s, const char *workload, struct err *err)
{
	return carry(s->t, s->c, workload, &s->workload, err);
}

void stage_release(struct stage *s)
{
	free(s->workload);
	s->workload = NULL;
}

char *stage_expand(const struct stage *s, const char *text)
{
	return case_expand(text, s->ops, s->workload);
}

char **stage_argv(const struct stage *s, const char *command)
{
	size_t n = 0, i;
	char **argv = mem_calloc(s->c->n_workload_args + 4, sizeof(*argv));

	if (command) {
		argv[n++] = mem_strdup("/bin/sh");
		argv[n++] = mem_strdup("-c");
		argv[n++] = stage_expand(s, command);
		return argv;
	}
	argv[n++] = stage_expand(s, "{workload}");
	for (i = 0; i < s->c->n_workload_args; i++)
		argv[n++] = stage_expand(s, s->c->workload_args[i]);
	return argv;
}

void stage_argv_free(char **argv)
{
	size_t i;

	for (i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

int stage_shell(struct stage *s, const char *command, struct buf *out, struct err *err)
{
	char *expanded = stage_expand(s, command);
	const char *argv[] = { "/bin/sh", "-c", expanded, NULL };
	int status = 0, rc = live_capture(s->t->live, argv, out, &status, err);

	free(expanded);
	if (!rc && status)
		rc = err_add(err, -EIO, "The case's command \"%.200s\" ended with status %d on the target: %.200s",
			     command, status, out->len ? out->data : "it printed nothing.");
	return rc;
}

int stage_setup(struct stage *s, struct err *err)
{
	struct buf out = BUF_INIT;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < s->c->n_setup; i++) {
		buf_clear(&out);
		rc = stage_shell(s, s->c->setup[i], &out, err);
	}
	buf_release(&out);
	return rc;
}

int stage_outputs(struct stage *s, struct buf **out, struct err *err)
{
	size_t i;
	int rc = 0;

	*out = mem_calloc(s->c->n_check, sizeof(**out));
	for (i = 0; !rc && i < s->c->n_check; i++)
		rc = stage_shell(s, s->c->check[i], &(*out)[i], err);
	return rc;
}

void stage_outputs_free(const struct stage *s, struct buf *out)
{
	size_t i;

	for (i = 0; out && i < s->c->n_check; i++)
		buf_release(&out[i]);
	free(out);
}
