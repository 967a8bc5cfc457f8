// SPDX-License-Identifier: GPL-2.0-or-later
/* id: the names that people type for what is in a session file: "e3", "r12", "p5", "e3:before", "12". */
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct { char kind; const char *what; } kinds[] = {
	{ 'e', "an experiment" },
	{ 'r', "a run" },
	{ 'p', "a recording or an import" },
};

static int bad_id(const char *text, struct err *err)
{
	struct buf shown = BUF_INIT;

	text_escape(&shown, text, strnlen(text, 60), false);
	err_add(err, -EINVAL,
		"\"%s\" names nothing in a session file; ids look like e3, r12, p5 or e3:before, and "
		"kab list shows them.",
		buf_str(&shown));
	buf_release(&shown);
	return -EINVAL;
}

int store_id_parse(const char *text, struct store_id *id, struct err *err)
{
	const char *digits = text, *colon = strchr(text, ':');
	char number[24];
	size_t len, i;
	uint64_t n;
	struct store_id out = { 0, 0, VARIANT_NONE };

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text[0] == kinds[i].kind) {
			out.kind = text[0];
			digits = text + 1;
		}
	len = colon ? (size_t)(colon - digits) : strlen(digits);
	if (len >= sizeof(number))
		return bad_id(text, err);
	memcpy(number, digits, len);
	number[len] = '\0';
	if (!text_to_u64(number, 1, INT64_MAX, &n))
		return bad_id(text, err);
	if (colon && (out.kind == 'r' || out.kind == 'p' || !variant_parse(colon + 1, &out.side) ||
		      out.side == VARIANT_NONE))
		return bad_id(text, err);
	out.n = (int64_t)n;
	*id = out;
	return 0;
}

void store_id_format(const struct store_id *id, char out[40])
{
	char kind[2] = { id->kind, '\0' };

	snprintf(out, 40, "%s%lld%s%s", kind, (long long)id->n, id->side ? ":" : "",
		 id->side ? variant_name(id->side) : "");
}

/* 'e', 'r' or 'p'; 0 when no row has the number. */
static int kind_of(struct store *s, int64_t n, char *kind, struct err *err)
{
	struct experiment e;
	struct run r;
	int rc = store_run(s, n, &r, NULL);

	*kind = 0;
	if (!rc) {
		*kind = r.kind == RUN_BLOCK ? 'r' : 'p';
		run_release(&r);
		return 0;
	}
	if (rc != -ENOENT)
		return store_run(s, n, &r, err);	/* for its sentence */
	rc = store_experiment(s, n, &e, NULL);
	if (!rc) {
		*kind = 'e';
		experiment_release(&e);
		return 0;
	}
	return rc == -ENOENT ? 0 : store_experiment(s, n, &e, err);
}

int store_id_resolve(struct store *s, const char *text, struct store_id *id, struct err *err)
{
	struct store_id want;
	char kind, asked[40], is[40];
	size_t i;
	int rc = store_id_parse(text, &want, err);

	if (!rc)
		rc = kind_of(s, want.n, &kind, err);
	if (rc)
		return rc;
	store_id_format(&want, asked);
	if (!kind)
		return err_add(err, -ENOENT,
			       "There is no %s in the session file %s; kab list shows what there is.", asked,
			       s->path);
	if (want.side && kind != 'e')
		return err_add(err, -EINVAL, "%s is no experiment, so it has no side %s; leave the side out.",
			       asked, variant_name(want.side));
	if (want.kind && want.kind != kind) {
		for (i = 0; kinds[i].kind != kind; i++)
			;
		snprintf(is, sizeof(is), "%c%lld", kind, (long long)want.n);
		return err_add(
			err, -ENOENT,
			"There is no %s in the session file %s, but %s is %s; kab list shows what there is.",
			asked, s->path, is, kinds[i].what);
	}
	want.kind = kind;
	*id = want;
	return 0;
}
