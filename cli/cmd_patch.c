// SPDX-License-Identifier: GPL-2.0-or-later
/* kab patch: the catalogue of cases. One table row a verb. */
#include "cli/cli.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "jobs/target.h"

struct args {
	struct common common;
	struct lab_opts lab;
	const char *target, *verb, *name;
};

static json_t *claim_json(const struct claim *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "metric", json_string(c->metric));
	json_object_set_new(o, "unit", json_string(c->unit));
	json_object_set_new(o, "before", isfinite(c->before) ? json_real(c->before) : json_null());
	json_object_set_new(o, "after", isfinite(c->after) ? json_real(c->after) : json_null());
	json_object_set_new(o, "better", json_string(c->better == LOWER_IS_BETTER ? "lower" : "higher"));
	return o;
}

static json_t *case_json(const struct case_facts *f)
{
	json_t *o = json_object(), *kernels = json_array(), *functions = json_array(), *claims = json_array();
	const struct { const char *key, *value; } texts[] = {
		{ "name", f->name }, { "title", f->title }, { "date", f->date }, { "author", f->author },
		{ "message_id", f->message_id }, { "upstream", f->upstream }, { "summary", f->summary },
		{ "module", f->module }, { "operation", f->operation },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		json_object_set_new(o, texts[i].key, texts[i].value ? json_string(texts[i].value) : json_null());
	for (i = 0; i < f->n_kernels; i++)
		json_array_append_new(kernels, json_string(f->kernels[i]));
	for (i = 0; i < f->n_functions; i++)
		json_array_append_new(functions, json_string(f->functions[i].name));
	for (i = 0; i < f->n_claims; i++)
		json_array_append_new(claims, claim_json(&f->claims[i]));
	json_object_set_new(o, "kernels", kernels);
	json_object_set_new(o, "functions", functions);
	json_object_set_new(o, "claims", claims);
	return o;
}

static void dump(json_t *v, struct buf *out)
{
	char *s = json_dumps(v, JSON_INDENT(1));

	buf_printf(out, "%s\n", s ? s : "null");
	free(s);
	json_decref(v);
}

static int list(struct args *a, struct buf *out, struct err *err)
{
	json_t *all = json_array();
	char **names = NULL;
	size_t n = 0, i;
	int rc = case_names(&names, &n, err);

	for (i = 0; !rc && i < n; i++) {
		struct patch_case c;

		rc = case_load(names[i], &c, err);
		if (rc)
			break;
		json_array_append_new(all, case_json(&c.facts));
		if (!a->common.json) {
			text_fit(out, c.facts.name, 14, true);
			buf_puts(out, "  ");
			text_fit(out, c.facts.date, 10, true);
			buf_printf(out, "  %s\n", c.facts.title);
		}
		case_release(&c);
	}
	if (a->common.json)
		dump(json_incref(all), out);
	json_decref(all);
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return rc;
}

static void line(struct buf *out, const char *key, const char *value)
{
	if (value && value[0])
		buf_printf(out, "%-10s %s\n", key, value);
}

static void joined(struct buf *out, const char *key, char *const *v, size_t n)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", v[i]);
	line(out, key, buf_str(&b));
	buf_release(&b);
}

static void figure(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, "%12.6g", v);
	else
		buf_printf(out, "%12s", "-");
}

static int show(struct args *a, struct buf *out, struct err *err)
{
	struct patch_case c;
	const struct case_facts *f = &c.facts;
	size_t i;
	int rc = case_load(a->name, &c, err);

	if (rc)
		return rc;
	if (a->common.json) {
		dump(case_json(f), out);
		case_release(&c);
		return 0;
	}
	buf_printf(out, "%s: %s\n\n", f->name, f->title);
	line(out, "author", f->author);
	line(out, "date", f->date);
	line(out, "message", f->message_id);
	joined(out, "files", f->files, f->n_files);
	joined(out, "kernels", f->kernels, f->n_kernels);
	line(out, "module", f->module);
	line(out, "operation", f->operation);
	line(out, "upstream", f->upstream);
	buf_printf(out, "\n%s\n", f->summary ? f->summary : "");
	if (f->n_claims)
		buf_printf(out, "\nWhat the mail claims\n%-34s %-8s %12s %12s  better\n", "metric", "unit", "before", "after");
	for (i = 0; i < f->n_claims; i++) {
		const struct claim *cl = &f->claims[i];

		text_fit(out, cl->metric, 34, true);
		buf_putc(out, ' ');
		text_fit(out, cl->unit, 8, true);
		buf_putc(out, ' ');
		figure(out, cl->before);
		buf_putc(out, ' ');
		figure(out, cl->after);
		buf_printf(out, "  %s\n", cl->better == LOWER_IS_BETTER ? "lower" : "higher");
	}
	for (i = 0; i < f->n_notes; i++)
		buf_printf(out, "%s- %s\n", i ? "" : "\nTo know\n", f->notes[i]);
	case_release(&c);
	return 0;
}

static int build(struct args *a, struct buf *out, struct err *err)
{
	struct patch_case c = { 0 };
	struct case_build b = { 0 };
	struct target t = { 0 };
	int rc = case_load(a->name, &c, err);

	if (!rc)
		rc = target_init(&t, a->target, NULL, err);
	if (!rc)
		rc = t.kind->find(&t, &a->lab, err);
	if (!rc)
		rc = t.kind->can_load(&t, err);
	if (!rc)
		rc = case_build(&c, t.kernel.release, t.kernel.build, watch_stopped, NULL, &b, err);
	if (!rc)
		buf_printf(out, "module    %s\nworkload  %s\n", b.module, b.workload);
	case_build_release(&b);
	target_release(&t);
	case_release(&c);
	return rc;
}

static const struct verb {
	const char *name;
	bool takes_name;
	int (*run)(struct args *a, struct buf *out, struct err *err);
} verbs[] = {
	{ "list", false, list }, { "show", true, show }, { "build", true, build },
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0, "build: for which target, vm (default) or local", 1 },
	LAB_OPTIONS,
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
	case 't':
		a->target = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->verb && a->name)
			argp_error(state, "one case at a time");
		*(a->verb ? &a->name : &a->verb) = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "one of list, show NAME, build NAME");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse, "list\nshow NAME\nbuild NAME",
	"The catalogue of patch cases: list them, show one's facts and claims, build its module and workload.",
	common_children, NULL, NULL };

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { .target = "vm" };
	struct buf out = BUF_INIT;
	struct watch w;
	size_t i;
	int rc;

	cli_parse(&argp, "patch", argc, argv, &a);
	for (i = 0; i < VERBS && strcmp(verbs[i].name, a.verb); i++)
		;
	if (i == VERBS)
		return err_add(err, -EINVAL, "`kab patch` knows list, show and build, not \"%.40s\".", a.verb);
	if (verbs[i].takes_name && !a.name)
		return err_add(err, -EINVAL, "Name a case: `kab patch %s NAME`; `kab patch list` shows them.", a.verb);
	watch_start(&w, false);
	a.lab.progress = watch_lab;
	a.lab.stop = watch_stopped;
	a.lab.ctx = &w;
	rc = verbs[i].run(&a, &out, err);
	watch_end(&w);
	if (!rc)
		rc = print_out(&out, err);
	buf_release(&out);
	return rc;
}

const struct command cmd_patch = { "patch", "list|show|build", "the catalogue of patch cases", &argp, run };
