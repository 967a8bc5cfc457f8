// SPDX-License-Identifier: GPL-2.0-or-later
/* equal: see equal.h. Pure. */
#include "jobs/equal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

#define SHOWN 120			/* bytes of a line in a sentence */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same lines in the order of their bytes. */
static void sort_lines(struct buf *b)
{
	VEC(char *) lines = { 0 };
	struct buf sorted = BUF_INIT;
	char *p, *save = NULL;
	size_t i;

	for (p = b->len ? strtok_r(b->data, "\n", &save) : NULL; p; p = strtok_r(NULL, "\n", &save))
		vec_push(&lines, p);
	if (lines.n)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
	for (i = 0; i < lines.n; i++)
		buf_printf(&sorted, "%s\n", lines.v[i]);
	vec_release(&lines);
	buf_release(b);
	*b = sorted;
}

/* The line that holds byte `at`, counted from 1, fit to be shown. */
static size_t line_at(const struct buf *b, size_t at, struct buf *line)
{
	const char *text = buf_str(b);
	size_t number = 1, from = 0, i;

	for (i = 0; i < at && i < b->len; i++)
		if (text[i] == '\n') {
			number++;
			from = i + 1;
		}
	i = strcspn(text + from, "\n");
	text_escape(line, text + from, i < SHOWN ? i : SHOWN, false);
	return number;
}

static int same(const struct patch_case *c, size_t command, const struct buf *a, const char *name_a,
		const struct buf *b, const char *name_b, const char *when, struct err *err)
{
	struct buf line_a = BUF_INIT, line_b = BUF_INIT;
	size_t i, number;

	if (a->len == b->len && !memcmp(buf_str(a), buf_str(b), a->len))
		return 0;
	for (i = 0; i < a->len && i < b->len && a->data[i] == b->data[i]; i++)
		;
	number = line_at(a, i, &line_a);
	line_at(b, i, &line_b);
	err_add(err, 0, "The output of \"%.200s\" differs between %s and %s in line %zu%s: \"%s\" and \"%s\".",
		c->check[command], name_a, name_b, number, c->equal == EQUAL_LINES ? " of the sorted lines" : "",
		buf_str(&line_a), buf_str(&line_b));
	buf_release(&line_a);
	buf_release(&line_b);
	return err_add(err, -EBADMSG, "The variants are not equivalent, %s.", when);
}

int equal_judge(const struct patch_case *c, struct buf *const out[VARIANT_COUNT], const char *when, struct err *err)
{
	struct buf *native = out[VARIANT_NATIVE], *before = out[VARIANT_BEFORE], *after = out[VARIANT_AFTER];
	size_t i;
	int rc = 0;

	for (i = 0; c->equal == EQUAL_LINES && i < c->n_check; i++) {
		sort_lines(&native[i]);
		sort_lines(&before[i]);
		sort_lines(&after[i]);
	}
	for (i = 0; !rc && i < c->n_check; i++) {
		rc = same(c, i, &native[i], "native", &before[i], "before", when, err);
		if (!rc)
			rc = same(c, i, &before[i], "before", &after[i], "after", when, err);
	}
	return rc;
}
