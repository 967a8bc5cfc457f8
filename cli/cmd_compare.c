// SPDX-License-Identifier: GPL-2.0-or-later
/* kab compare and kab report: the comparison of an experiment or of two profiles, as text or in a format. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/text.h"

struct args {
	struct common common;
	const char *ids[2];
	size_t n_ids;
	const char *style, *format, *output;
	enum norm norm;
};

/* Of both commands: each has some of these options. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 'y':
		a->style = arg;
		return 0;
	case 'f':
		a->format = arg;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'B':
		if (!norm_parse(arg, &a->norm))
			argp_error(state, "--by takes op, time, share or raw");
		return 0;
	case ARGP_KEY_ARG:
		if (a->n_ids == 2)
			argp_error(state, "an experiment, or two profiles");
		a->ids[a->n_ids++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name an experiment, or two profiles; `kab list` shows the ids");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* An experiment's id, or two ids of profiles. */
static int load(struct store *s, const struct args *a, struct evidence *e, struct err *err)
{
	struct store_id id;
	int rc;

	if (a->n_ids == 2)
		return evidence_load_pair(s, a->ids[0], a->ids[1], e, err);
	rc = store_id_resolve(s, a->ids[0], &id, err);
	if (!rc && id.kind != 'e')
		rc = err_add(err, -EINVAL, "%s is one profile; a comparison needs an experiment (e3) or two profiles.",
			     a->ids[0]);
	return rc ? rc : evidence_load(s, id.n, e, err);
}

/* --- compare --- */

static const struct argp_option compare_options[] = {
	{ "style", 'y', "STYLE", 0, "table (default), tree, lkp or benchstat", 1 },
	{ "by", 'B', "WHAT", 0, "cost per op (default), per time, as share, or raw", 1 },
	{ 0 }
};

static const struct argp compare_argp = {
	compare_options, parse, "EXPERIMENT\nBEFORE AFTER",
	"Compare the two sides of an experiment, or any two profiles.", common_children, NULL, NULL,
};

static int compare_run(int argc, char **argv, struct err *err)
{
	struct args a = { .style = "table", .norm = NORM_OP };
	const struct compare_style *style = compare_styles;
	struct evidence e;
	struct buf out = BUF_INIT;
	struct store *s = NULL;
	int rc;

	cli_parse(&compare_argp, "compare", argc, argv, &a);
	while (style->name && strcmp(style->name, a.style))
		style++;
	if (!style->name)
		return err_add(err, -EINVAL, "There is no style \"%.40s\"; the styles are table, tree, lkp and benchstat.",
			       a.style);
	rc = session_open(&a.common, STORE_READ, &s, err);
	if (!rc)
		rc = load(s, &a, &e, err);
	if (!rc) {
		struct report_input in = report_input_of(&e, a.norm);

		if (a.common.json)
			report_json(&in, &out);
		else
			rc = style->write(&in, &out, err);
		if (!rc)
			rc = print_out(&out, err);
		evidence_release(&e);
	}
	buf_release(&out);
	store_close(s, NULL);
	return rc;
}

const struct command cmd_compare = {
	"compare", "EXPERIMENT | A B", "before against after, in text or JSON", &compare_argp, compare_run,
};

/* --- report --- */

static const struct argp_option report_options[] = {
	{ "format", 'f', "FORMAT", 0, "mail (default), json, csv, folded, difffolded or job", 1 },
	{ "output", 'o', "FILE", 0, "write to FILE instead of stdout", 1 },
	{ "by", 'B', "WHAT", 0, "cost per op (default), per time, as share, or raw", 1 },
	{ 0 }
};

static const struct argp report_argp = {
	report_options, parse, "EXPERIMENT\nBEFORE AFTER",
	"Write a comparison out, ready to be posted or read by another program.", common_children, NULL, NULL,
};

static int unknown_format(const char *name, struct err *err)
{
	const struct report_format *f;
	struct buf names = BUF_INIT;

	for (f = report_formats; f->name; f++)
		buf_printf(&names, "%s%s", f == report_formats ? "" : f[1].name ? ", " : " and ", f->name);
	err_add(err, -EINVAL, "There is no format \"%.40s\"; the formats are %s.", name, buf_str(&names));
	buf_release(&names);
	return -EINVAL;
}

static int report_run(int argc, char **argv, struct err *err)
{
	struct args a = { .format = "mail", .norm = NORM_OP };
	const struct report_format *f = report_formats;
	struct evidence e;
	struct buf out = BUF_INIT;
	struct store *s = NULL;
	int rc;

	cli_parse(&report_argp, "report", argc, argv, &a);
	if (a.common.json)
		a.format = "json";
	while (f->name && strcmp(f->name, a.format))
		f++;
	if (!f->name)
		return unknown_format(a.format, err);
	rc = session_open(&a.common, STORE_READ, &s, err);
	if (!rc)
		rc = load(s, &a, &e, err);
	if (!rc) {
		struct report_input in = report_input_of(&e, a.norm);

		rc = f->write(&in, &out, err);
		if (!rc)
			rc = a.output ? fs_write(a.output, buf_str(&out), out.len, err) : print_out(&out, err);
		evidence_release(&e);
	}
	buf_release(&out);
	store_close(s, NULL);
	return rc;
}

const struct command cmd_report = {
	"report", "EXPERIMENT", "write a comparison out: mail, JSON, CSV, folded", &report_argp, report_run,
};
