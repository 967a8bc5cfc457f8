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
	char *there = NULL, *slash;
	int rc = target_put(s->t, workload, &there, err);

	slash = rc ? NULL : strrchr(there, '/');
	if (!rc && !slash)
		rc = err_add(err, -EPROTO, "kab-agent did not say in which folder it keeps files.");
	if (!rc)
		rc = carry(s->t, s->c, err);
	if (!rc)
		s->dir = mem_printf("%.*s", (int)(slash - there), there);
	free(there);
	return rc;
}

void stage_release(struct stage *s)
{
	free(s->dir);
	s->dir = NULL;
}

char *stage_expand(const struct stage *s, const char *text)
{
	struct buf out = BUF_INIT;

	while (*text) {
		if (!strncmp(text, "{ops}", 5)) {
			buf_printf(&out, "%u", s->ops);
			text += 5;
		} else if (s->dir && !strncmp(text, "{dir}", 5)) {
			buf_puts(&out, s->dir);
			text += 5;
		} else if (s->dir && !strncmp(text, "{workload}", 10)) {
			buf_printf(&out, "%s/workload", s->dir);
			text += 10;
		} else {
			buf_putc(&out, *text++);
		}
	}
	return out.data ? buf_detach(&out) : mem_strdup("");
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
