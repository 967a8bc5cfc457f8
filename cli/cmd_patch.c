// SPDX-License-Identifier: GPL-2.0-or-later
/* kab patch: the catalogue of cases, and their modules by hand. One table row a verb. */
#include "cli/cli.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "jobs/exercise.h"
#include "jobs/patch.h"
#include "jobs/target.h"
#include "patches/scaffold.h"

struct args {
	struct common common;
	struct lab_opts lab;
	const char *target;		/* NULL: not said */
	const char *verb, *name, *variant;
	unsigned patience_s, switches, cycles;
};

static const char *target_of(const struct args *a)
{
	return a->target ? a->target : "vm";
}

static struct patch_opts opts_of(const struct args *a)
{
	return (struct patch_opts){ .case_name = a->name, .target = target_of(a), .patience_s = a->patience_s,
				    .lab = a->lab };
}

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

/* --- list, show, build --- */

/* "(after, in force)" of a case's module that is loaded. */
static void list_state(const struct probed_module *m, struct buf *out)
{
	buf_printf(out, "  [loaded: %s, %s]", m->variant, m->transition ? "in transition" : m->enabled ? "in force" :
		   "not in force");
}

static json_t *state_json(const struct probed_module *m)
{
	json_t *o = json_object();

	json_object_set_new(o, "variant", json_string(m->variant));
	json_object_set_new(o, "in_force", json_boolean(m->enabled && !m->transition));
	return o;
}

static int list_case(const struct args *a, const char *name, const struct probe *p, json_t *all, struct buf *out,
		     struct err *err)
{
	const struct probed_module *m;
	struct patch_case c;
	json_t *o;
	int rc = case_load(name, &c, err);

	if (rc)
		return rc;
	m = probe_module(p, c.facts.module);
	o = case_json(&c.facts);
	if (a->target)
		json_object_set_new(o, "loaded", m ? state_json(m) : json_null());
	json_array_append_new(all, o);
	text_fit(out, c.facts.name, 14, true);
	buf_puts(out, "  ");
	text_fit(out, c.facts.date, 10, true);
	buf_printf(out, "  %s", c.facts.title);
	if (m)
		list_state(m, out);
	buf_putc(out, '\n');
	case_release(&c);
	return 0;
}

static int list(struct args *a, struct buf *out, struct err *err)
{
	struct patch_opts o = opts_of(a);
	json_t *all = json_array();
	struct probe p = { 0 };
	char **names = NULL;
	size_t n = 0, i;
	int rc = a->target ? job_patch_state(&o, &p, err) : 0;

	if (!rc)
		rc = case_names(&names, &n, err);
	for (i = 0; !rc && i < n; i++)
		rc = list_case(a, names[i], &p, all, out, err);
	if (rc || a->common.json)
		buf_clear(out);
	if (!rc && a->common.json)
		dump(json_incref(all), out);
	json_decref(all);
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	probe_release(&p);
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
		rc = target_init(&t, target_of(a), NULL, err);
	if (!rc)
		rc = t.kind->find(&t, &a->lab, err);
	if (!rc)
		rc = t.kind->can_load(&t, err);
	if (!rc)
		rc = target_build(&t, &c, &a->lab, &b, err);
	if (!rc)
		buf_printf(out, "module    %s\nworkload  %s\n", b.module, b.workload);
	case_build_release(&b);
	target_release(&t);
	case_release(&c);
	return rc;
}

/* --- check, load, switch, unload --- */

static json_t *check_json(const struct preflight *p)
{
	json_t *rows = json_array(), *o;
	size_t i;

	for (i = 0; i < p->rows.n; i++) {
		o = json_object();
		json_object_set_new(o, "check", json_string(p->rows.v[i].what));
		json_object_set_new(o, "state", json_string(check_state_name(p->rows.v[i].state)));
		json_object_set_new(o, "text", json_string(p->rows.v[i].said));
		json_array_append_new(rows, o);
	}
	return rows;
}

static int check(struct args *a, struct buf *out, struct err *err)
{
	struct patch_opts o = opts_of(a);
	struct patch_report r = { 0 };
	int rc = job_patch_check(&o, &r, err);
	size_t failed = preflight_failed(&r.preflight);

	if (!rc && a->common.json)
		dump(check_json(&r.preflight), out);
	else if (!rc)
		preflight_text(&r.preflight, out);
	if (!rc && failed)
		rc = err_add(err, -ENOTSUP, "%zu of %zu checks failed, so the case %s cannot be loaded on %s (kernel %s); the rows "
			     "\"no\" say why.", failed, r.preflight.rows.n, a->name, target_of(a), r.release);
	patch_report_release(&r);
	return rc;
}

static void took(struct buf *out, const char *what, uint64_t ns)
{
	buf_puts(out, what);
	text_ns(out, (double)ns, 3, false);
}

/* What was done and seen, in the order it happened. */
static void say_report(const struct args *a, const struct patch_report *r, enum variant v, struct buf *out)
{
	if (r->loaded) {
		buf_printf(out, "%s is loaded on %s", r->module, r->release);
		took(out, ": the kernel took it in ", r->load.call_ns);
		took(out, ", and its livepatch was in force for every task ", r->load.transition_ns);
		buf_puts(out, " later.\n");
	}
	if (r->changed) {
		buf_printf(out, "Switched to %s", variant_name(v));
		if (v == VARIANT_NATIVE)
			took(out, ": the livepatch was out of every task after ", r->change.transition_ns);
		else
			took(out, " in ", r->change.call_ns);
		buf_puts(out, ".\n");
	}
	if (r->unloaded) {
		buf_printf(out, "%s is unloaded: ", r->module);
		if (r->unload.transition_ns)
			took(out, "its livepatch was out of every task after ", r->unload.transition_ns);
		took(out, r->unload.transition_ns ? ", the module was gone in another " : "the module was gone in ",
		     r->unload.call_ns);
		buf_puts(out, ".\n");
	}
	if (r->stays && r->loaded)
		buf_printf(out, "It stays until `kab patch unload %s -t %s`.\n", a->name, target_of(a));
	else if (!strcmp(target_of(a), "vm"))
		buf_puts(out, "The guest has ended with this command; on a machine (-t local, -t ssh:HOST) a module stays "
			 "loaded.\n");
	buf_printf(out, "%s%s", r->log ? "The kernel logged:\n" : "The kernel logged no warning.\n", r->log ? r->log : "");
}

static int act(struct args *a, int (*job)(const struct patch_opts *, struct patch_report *, struct err *),
	       enum variant v, struct buf *out, struct err *err)
{
	struct patch_opts o = opts_of(a);
	struct patch_report r = { 0 };
	int rc;

	o.variant = v;
	rc = job(&o, &r, err);
	if (!rc)
		say_report(a, &r, v, out);
	patch_report_release(&r);
	return rc;
}

static int load(struct args *a, struct buf *out, struct err *err)
{
	return act(a, job_patch_load, VARIANT_BEFORE, out, err);
}

static int switch_to(struct args *a, struct buf *out, struct err *err)
{
	enum variant v;

	if (!variant_parse(a->variant, &v) || v == VARIANT_NONE)
		return err_add(err, -EINVAL, "There is no variant \"%.40s\"; the variants are native, before and after.",
			       a->variant);
	return act(a, job_patch_switch, v, out, err);
}

static int unload(struct args *a, struct buf *out, struct err *err)
{
	return act(a, job_patch_unload, VARIANT_NATIVE, out, err);
}

static int test(struct args *a, struct buf *out, struct err *err)
{
	const struct exercise_opts o = { .case_name = a->name, .target = target_of(a), .switches = a->switches,
					 .cycles = a->cycles, .lab = a->lab };
	struct preflight rows = { 0 };
	int rc = job_exercise(&o, &rows, err);
	size_t failed = preflight_failed(&rows);

	if (a->common.json)
		dump(check_json(&rows), out);
	else
		preflight_text(&rows, out);
	if (!rc && failed)
		rc = err_add(err, -EIO, "The module of the case %s is not safe to use; the row \"no\" says why.", a->name);
	preflight_release(&rows);
	return rc;
}

/* --- new --- */

static int create(struct args *a, struct buf *out, struct err *err)
{
	struct scaffold made = { 0 };
	int rc = scaffold_case(a->name, &made, err);

	if (!rc)
		buf_printf(out, "%s\n%s\nBoth variants are still the kernel's own execdomains_proc_show(). Try it as it is: "
			   "kab patch check %s\nHACKING.md, \"A patch case\", goes on from here.\n", made.case_dir,
			   made.kmod_dir, a->name);
	scaffold_release(&made);
	return rc;
}

static const struct verb {
	const char *name;
	const char *args;		/* what follows it; "" nothing */
	int (*run)(struct args *a, struct buf *out, struct err *err);
} verbs[] = {
	{ "list", "", list }, { "show", "NAME", show }, { "build", "NAME", build }, { "check", "NAME", check },
	{ "load", "NAME", load }, { "switch", "NAME native|before|after", switch_to }, { "unload", "NAME", unload },
	{ "test", "NAME", test }, { "new", "NAME", create },
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0, "where: vm (the lab, default), local or ssh:HOST; list: also show what is loaded there", 1 },
	LAB_OPTIONS,
	{ "patience", 1003, "SECONDS", 0, "load, switch, unload: reverse a livepatch transition that lasts longer (default 60)",
	  1 },
	{ "switches", 1004, "N", 0, "test: switches under the workload (default 500)", 1 },
	{ "cycles", 1005, "N", 0, "test: loads and unloads under the workload (default 20)", 1 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	uint64_t n;

	if (lab_option(key, arg, &a->lab))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->common;
		return 0;
	case 't':
		a->target = arg;
		return 0;
	case 1003:
		if (!text_to_u64(arg, 1, 3600, &n))
			argp_error(state, "--patience takes a number from 1 to 3600 (seconds)");
		a->patience_s = (unsigned)n;
		return 0;
	case 1004:
	case 1005:
		if (!text_to_u64(arg, 1, 100000, &n))
			argp_error(state, "--switches and --cycles take a number from 1 to 100000");
		*(key == 1004 ? &a->switches : &a->cycles) = (unsigned)n;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 2)
			argp_error(state, "one case at a time");
		*(state->arg_num == 0 ? &a->verb : state->arg_num == 1 ? &a->name : &a->variant) = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "say what to do: list, show, build, check, load, switch, unload, test or new");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { options, parse,
	"list\nshow NAME\nbuild NAME\ncheck NAME\nload NAME\nswitch NAME native|before|after\nunload NAME\ntest NAME\nnew NAME",
	"The catalogue of patch cases: list them, show one's facts and claims, build its module and workload; check whether "
	"a target's kernel can take the module; load it there, switch it, unload it; test it for safety under its own "
	"workload; make the files of a new one.",
	common_children, NULL, NULL };

/* What was given fits the verb. */
static int check_args(const struct verb *v, const struct args *a, struct err *err)
{
	bool wants_variant = strchr(v->args, ' ') != NULL;

	if ((v->args[0] && !a->name) || (wants_variant && !a->variant))
		return err_add(err, -EINVAL, "It is `kab patch %s %s`; `kab patch list` shows the cases.", v->name, v->args);
	if ((!v->args[0] && a->name) || (!wants_variant && a->variant))
		return err_add(err, -EINVAL, "It is `kab patch %s%s%s`, and nothing behind it.", v->name, v->args[0] ? " " : "",
			       v->args);
	return 0;
}

static int run(int argc, char **argv, struct err *err)
{
	struct args a = { .switches = 500, .cycles = 20 };
	struct buf out = BUF_INIT;
	struct watch w;
	size_t i;
	int rc;

	cli_parse(&argp, "patch", argc, argv, &a);
	for (i = 0; i < VERBS && strcmp(verbs[i].name, a.verb); i++)
		;
	if (i == VERBS)
		return err_add(err, -EINVAL, "`kab patch` knows list, show, build, check, load, switch, unload, test and new, not "
			       "\"%.40s\".", a.verb);
	rc = check_args(&verbs[i], &a, err);
	if (rc)
		return rc;
	watch_start(&w, false);
	a.lab.progress = watch_lab;
	a.lab.stop = watch_stopped;
	a.lab.ctx = &w;
	rc = verbs[i].run(&a, &out, err);
	watch_end(&w);
	/* A check that failed has still been answered. */
	if (!rc || out.len) {
		int rc2 = print_out(&out, rc ? NULL : err);

		rc = rc ? rc : rc2;
	}
	buf_release(&out);
	return rc;
}

const struct command cmd_patch = { "patch", "list|show|build|check|load|switch|unload|test|new",
	"the catalogue of patch cases, and their modules by hand", &argp, run };
