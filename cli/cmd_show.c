// SPDX-License-Identifier: GPL-2.0-or-later
/* kab show: one profile, in the styles that people post. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

struct args {
	struct common common;
	const char *id, *style;
	struct show_input in;
};

static const struct argp_option options[] = {
	{ "style", 'y', "STYLE", 0, "tree (default), flat, oprofile, folded, or events (what was counted beside)", 1 },
	{ "min", 'm', "PERCENT", 0, "leave out rows below this share and count them (default 0.5)", 1 },
	{ "from", 'f', "FUNCTION", 0, "tree: start at this function", 1 },
	{ "depth", 'd', "N", 0, "tree: at most N levels", 1 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	uint64_t v;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'y':
		a->style = arg;
		return 0;
	case 'm':
		if (!text_to_double(arg, 0, 100, &a->in.min_share))
			argp_error(state, "--min takes a per cent from 0 to 100");
		return 0;
	case 'f':
		a->in.from = arg;
		return 0;
	case 'd':
		if (!text_to_u64(arg, 1, 100000, &v))
			argp_error(state, "--depth takes a number from 1 to 100000");
		a->in.max_depth = (unsigned)v;
		return 0;
	case ARGP_KEY_ARG:
		if (a->id)
			argp_error(state, "one profile at a time");
		a->id = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a profile; `kab list` shows the ids");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, "ID",
	"Print one profile: a recording or import (p5), a block (r12), or one side of an experiment (e3:before).",
	common_children, NULL, NULL };

static int show_one(struct store *s, const char *id, const struct show_style *style, struct args *a,
		    struct buf *out, struct err *err)
{
	struct profile *p = NULL;
	struct run meta;
	int rc = evidence_profile(s, id, style->by_comm, &p, &meta, err);

	if (rc)
		return rc;
	a->in.profile = p;
	a->in.run = &meta;
	rc = style->write(&a->in, out, err);
	profile_free(p);
	run_release(&meta);
	return rc;
}

/* An experiment's bare id means both of its sides, one after the other. */
static int show(struct store *s, const struct show_style *style, struct args *a, struct buf *out, struct err *err)
{
	static const enum variant sides[] = { VARIANT_BEFORE, VARIANT_AFTER };
	struct store_id id;
	char name[40];
	size_t i;
	int rc = store_id_resolve(s, a->id, &id, err);

	if (rc || id.kind != 'e' || id.side != VARIANT_NONE)
		return rc ? rc : show_one(s, a->id, style, a, out, err);
	for (i = 0; !rc && i < 2; i++) {
		id.side = sides[i];
		store_id_format(&id, name);
		buf_printf(out, "%s%s:\n", i ? "\n" : "", variant_name(sides[i]));
		rc = show_one(s, name, style, a, out, err);
	}
	return rc;
}

/* Style "events": no profile, but what was counted beside it. */
static int counted(struct store *s, const char *id, struct buf *out, struct err *err)
{
	struct buf records = BUF_INIT;
	struct counted *c;
	int rc = evidence_counted(s, id, &c, &records, err);

	if (!rc)
		show_counted(c, buf_str(&records), out);
	counted_free(c);
	buf_release(&records);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { .style = "tree", .in = { .min_share = 0.5 } };
	const struct show_style *style = show_styles;
	struct buf out = BUF_INIT;
	struct store *s = NULL;
	int rc;

	cli_parse(&argp, "show", argc, argv, &a);
	while (style->name && strcmp(style->name, a.style))
		style++;
	if (!style->name && strcmp(a.style, "events"))
		return err_add(err, -EINVAL, "There is no style \"%.40s\"; the styles are tree, flat, oprofile, folded "
			       "and events.", a.style);
	rc = session_open(&a.common, STORE_READ, &s, err);
	if (!rc)
		rc = style->name ? show(s, style, &a, &out, err) : counted(s, a.id, &out, err);
	if (!rc)
		rc = print_out(&out, err);
	buf_release(&out);
	store_close(s, NULL);
	return rc;
}

const struct command cmd_show = {
	"show", "ID", "print one profile as tree, flat, oprofile or folded, or the events beside it", &argp, run,
};
