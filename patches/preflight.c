// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * preflight: see preflight.h. A livepatch replaces a function at its ftrace
 * hook, so a function must have a symbol of its own, just one, and a hook; what
 * the compiler has inlined or cloned has not, and then one of its callers must
 * be replaced. The checks are the table at the end, in the order they are shown.
 */
#include "patches/preflight.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define CALLERS_DEEP 8		/* how far up a call graph a patchable caller is looked for */

struct judging {
	const struct preflight_input *in;
	struct preflight *out;
};

static void add(struct preflight *p, enum check_state state, const char *what, const char *fmt, va_list ap)
{
	struct check_row *r = vec_add(&p->rows);
	char *said;

	if (vasprintf(&said, fmt, ap) < 0)
		said = mem_strdup(fmt);
	*r = (struct check_row){ state, mem_strdup(what), said };
}

void preflight_add(struct preflight *p, enum check_state state, const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(p, state, what, fmt, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 4, 5)))
row(struct judging *j, enum check_state state, const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(j->out, state, what, fmt, ap);
	va_end(ap);
}

static const char *fact(const struct judging *j, const char *key)
{
	const char *v = machine_get(j->in->facts, key);

	return v ? v : "";
}

static bool fact_is(const struct judging *j, const char *key, const char *value)
{
	return !strcmp(fact(j, key), value);
}

static void join(struct buf *out, char *const *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", v[i]);
}

/* --- the kernel as a whole --- */

static void kernel(struct judging *j)
{
	const char *release = fact(j, "kernel.release");
	struct buf lines = BUF_INIT;

	join(&lines, j->in->c->facts.kernels, j->in->c->facts.n_kernels);
	if (case_for_kernel(j->in->c, release))
		row(j, CHECK_OK, "kernel", "%s is of a line that the case is for (%s)", release, buf_str(&lines));
	else
		row(j, CHECK_FAIL, "kernel", "%s is of no line that the case is for (%s): take one of those with --kernel",
		    release, buf_str(&lines));
	buf_release(&lines);
}

static void requirements(struct judging *j)
{
	size_t i;

	for (i = 0; i < j->in->c->n_requires; i++) {
		const struct requirement *r = &j->in->c->requires[i];
		const struct probed_symbol *s = probe_symbol(j->in->probe, r->symbol);
		bool there = s && s->code + s->data + s->in_modules > 0;

		if (!s)
			row(j, CHECK_FAIL, r->symbol, "kab-agent did not answer for it: install kab and kab-agent from one build");
		else if (there == !r->absent)
			row(j, CHECK_OK, r->symbol, "is %s this kernel, as the case requires", there ? "in" : "not in");
		else
			row(j, CHECK_FAIL, r->symbol, "is %s this kernel: %s", there ? "in" : "not in", r->because);
	}
}

static void loading(struct judging *j)
{
	if (!fact_is(j, "kernel.modules", "yes"))
		row(j, CHECK_FAIL, "modules", "this kernel was built without modules: measure in the lab (-t vm)");
	else if (fact_is(j, "modules.disabled", "1"))
		row(j, CHECK_FAIL, "modules", "kernel.modules_disabled is 1, which holds until the next boot: boot again, or -t vm");
	else
		row(j, CHECK_OK, "modules", "can be loaded");
}

static void signing(struct judging *j)
{
	const char *lockdown = fact(j, "kernel.lockdown");
	bool locked = strstr(lockdown, "[integrity]") || strstr(lockdown, "[confidentiality]");

	if (locked)
		row(j, CHECK_FAIL, "signing", "the kernel is locked down (%s)%s and takes signed modules only: turn Secure Boot "
		    "off, sign the module with an enrolled key, or -t vm", lockdown,
		    fact_is(j, "kernel.secure_boot", "on") ? " by Secure Boot" : "");
	else if (fact_is(j, "modules.sig_enforce", "Y"))
		row(j, CHECK_FAIL, "signing", "the kernel takes signed modules only (module.sig_enforce): boot without it, sign "
		    "the module with an enrolled key, or -t vm");
	else
		row(j, CHECK_OK, "signing", "unsigned modules are taken (Secure Boot %s, lockdown %s)",
		    *fact(j, "kernel.secure_boot") ? fact(j, "kernel.secure_boot") : "absent",
		    *lockdown ? lockdown : "not in this kernel");
}

static void livepatch(struct judging *j)
{
	if (fact_is(j, "kernel.livepatch", "yes"))
		row(j, CHECK_OK, "livepatch", "configured");
	else
		row(j, CHECK_FAIL, "livepatch", "this kernel has none (CONFIG_LIVEPATCH): boot a distribution's kernel, or -t vm");
}

static void ftrace(struct judging *j)
{
	if (!*fact(j, "ftrace.enabled"))
		row(j, CHECK_FAIL, "ftrace", "this kernel has no function tracer, which livepatch builds on: -t vm");
	else if (fact_is(j, "ftrace.enabled", "0"))
		row(j, CHECK_FAIL, "ftrace", "switched off: `sysctl kernel.ftrace_enabled=1`");
	else if (!j->in->probe->tracing)
		row(j, CHECK_NOTE, "ftrace", "on, but its lists cannot be read: `mount -t tracefs tracefs /sys/kernel/tracing`, as "
		    "root");
	else
		row(j, CHECK_OK, "ftrace", "on");
}

/* A symbol that exists only where the kernel was built with IBT. */
#define IBT_SYMBOL "ibt_save"

static void ibt(struct judging *j)
{
	const struct probed_symbol *s = probe_symbol(j->in->probe, IBT_SYMBOL);

	if (!s || !s->code)
		row(j, CHECK_OK, "IBT", "not in this kernel");
	else if (!fact_is(j, "cpu.ibt", "yes"))
		row(j, CHECK_OK, "IBT", "in this kernel, not in this processor");
	else
		row(j, CHECK_OK, "IBT", "in force: the module's imports are called directly (KAB_CALL), which needs no ENDBR");
}

/* --- the module --- */

static void module(struct judging *j)
{
	const struct module_info *m = j->in->module;
	const char *release = fact(j, "kernel.release");

	if (!m && j->in->not_built)
		row(j, CHECK_FAIL, "module", "%s", j->in->not_built);
	else if (!m)
		row(j, CHECK_NOTE, "module", "not built, as the case is not for this kernel");
	else if (!m->release || strcmp(m->release, release))
		row(j, CHECK_FAIL, "module", "built for %s, and %s runs there: install its headers, or --kernel-build",
		    m->release ? m->release : "no kernel", release);
	else
		row(j, CHECK_OK, "module", "built for this kernel");
}

/* The case says what the module replaces; so does the module. */
static void agreement(struct judging *j)
{
	const struct case_facts *f = &j->in->c->facts;
	const struct module_info *m = j->in->module;
	size_t i, k;

	for (i = 0; m && m->replaces.n && i < m->replaces.n; i++) {
		for (k = 0; k < f->n_functions && strcmp(f->functions[k].name, m->replaces.v[i]); k++)
			;
		if (k == f->n_functions)
			row(j, CHECK_FAIL, m->replaces.v[i], "is replaced by the module, but not among \"functions\" in case.yaml: "
			    "name it there, so that profiles find its bodies");
	}
}

static void undefined(struct judging *j)
{
	const struct module_info *m = j->in->module;
	size_t i, found = 0;

	for (i = 0; m && i < m->undefined.n; i++) {
		const struct probed_symbol *s = probe_symbol(j->in->probe, m->undefined.v[i]);

		if (s && s->code + s->data + s->in_modules)
			found++;
		else
			row(j, CHECK_FAIL, m->undefined.v[i], "is needed by the module and not in this kernel: KAB_IMPORT() it when it "
			    "exists unexported, else do without");
	}
	if (m && m->undefined.n && found == m->undefined.n)
		row(j, CHECK_OK, "exports", "the kernel has all %zu symbols that the module is linked to", found);
}

static void imports(struct judging *j)
{
	const struct module_info *m = j->in->module;
	size_t i;

	for (i = 0; m && i < m->imports.n; i++) {
		const struct probed_symbol *s = probe_symbol(j->in->probe, m->imports.v[i]);

		if (!s || !s->code)
			row(j, CHECK_FAIL, m->imports.v[i], "is imported by the module, and this kernel has no function of that "
			    "name: it is inlined or gone, so the module must do without");
		else if (s->code > 1)
			row(j, CHECK_FAIL, m->imports.v[i], "is imported by the module, and this kernel has %u functions of that name: "
			    "the lookup would take any of them", s->code);
		else
			row(j, CHECK_OK, m->imports.v[i], "import: one function of this name, bound by address");
	}
}

/* --- functions --- */

/* NULL when a livepatch can replace it; else why not, for the middle of a sentence; the caller frees. */
static char *unpatchable(const struct judging *j, const struct probed_symbol *s)
{
	struct buf b = BUF_INIT;

	if (!s) {
		buf_puts(&b, "was not looked up");
	} else if (s->code > 1) {
		buf_printf(&b, "stands %u times in the symbol table, so its name does not say which one is meant "
			   "(livepatch's old_sympos would have to)", s->code);
	} else if (!s->code && s->n_parts) {
		buf_puts(&b, "exists only as ");
		join(&b, s->parts, s->n_parts);
		buf_puts(&b, ", which the compiler made of it, with other arguments or a part of the body");
	} else if (!s->code && s->in_modules) {
		buf_puts(&b, "is a function of a module; kab's modules replace functions of the kernel image");
	} else if (!s->code) {
		buf_printf(&b, "is %s: the compiler inlined it everywhere, or this kernel has no such function",
			   s->data ? "no function" : "not in the symbol table");
	} else if (j->in->probe->tracing && !s->traceable) {
		buf_puts(&b, "has no ftrace hook (notrace, as everything that the source calls inline, or of lib/ or early code), "
			 "so livepatch says \"failed to find location\"");
	}
	return b.data ? buf_detach(&b) : NULL;
}

/* The callers of a function as far as they are known, nearest first: by the case, else by the mail's call graph. */
struct known_callers { const char *v[32]; size_t n; const char *source; };

static void known_callers(const struct patch_case *c, const char *name, struct known_callers *k)
{
	const struct claimed_frame *f;
	size_t i, deep;

	*k = (struct known_callers){ .n = 0 };
	for (i = 0; i < c->n_patched; i++)
		if (!strcmp(c->patched[i].name, name)) {
			k->source = "by the case's list of callers";
			for (; k->n < c->patched[i].n_callers && k->n < 32; k->n++)
				k->v[k->n] = c->patched[i].callers[k->n];
			return;
		}
	k->source = "by the call graph in the mail";
	for (deep = 0; deep < CALLERS_DEEP; deep++) {
		for (i = 0, f = NULL; i < c->facts.n_frames && !f; i++)
			if (!strcmp(c->facts.frames[i].function, name) && c->facts.frames[i].parent)
				f = &c->facts.frames[i];
		if (!f)
			return;
		name = k->v[k->n++] = f->parent;
	}
}

/* What to replace in the place of what cannot be; for the end of a sentence. */
static char *instead(const struct judging *j, const char *name)
{
	struct known_callers k;
	size_t i;

	known_callers(j->in->c, name, &k);
	for (i = 0; i < k.n; i++) {
		char *why = unpatchable(j, probe_symbol(j->in->probe, k.v[i]));

		if (!why)
			return mem_printf("the nearest caller that can be replaced is %s (%s; one symbol, traceable)", k.v[i],
					  k.source);
		free(why);
	}
	return mem_printf("replace a caller of it%s", k.n ? " further up: none of those known can be" :
			  " (a profile shows them: kab record)");
}

static void part_notes(struct judging *j, const struct probed_symbol *s)
{
	size_t i;

	for (i = 0; i < s->n_parts; i++)
		if (!strstr(s->parts[i], ".cold"))
			row(j, CHECK_NOTE, s->name, "also exists as %s: calls that the compiler sent there are not replaced",
			    s->parts[i]);
}

static void owners(struct judging *j, const struct probed_symbol *s)
{
	size_t i;

	for (i = 0; i < s->n_owners; i++) {
		if (!strcmp(s->owners[i], j->in->c->facts.module))
			continue;
		if (!strcmp(s->owners[i], "ftrace"))
			row(j, CHECK_FAIL, s->name, "is already redirected by another user of ftrace: end that tracer or BPF program "
			    "(/sys/kernel/tracing/enabled_functions shows it)");
		else
			row(j, CHECK_FAIL, s->name, "is already replaced by the livepatch %s, whose code would be measured as native: "
			    "disable that first (echo 0 > /sys/kernel/livepatch/%s/enabled)", s->owners[i], s->owners[i]);
	}
}

static void functions(struct judging *j)
{
	const struct case_facts *f = &j->in->c->facts;
	size_t i;

	for (i = 0; i < f->n_functions; i++) {
		const struct probed_symbol *s = probe_symbol(j->in->probe, f->functions[i].name);
		char *why = unpatchable(j, s), *other;

		if (why) {
			other = instead(j, f->functions[i].name);
			row(j, CHECK_FAIL, f->functions[i].name, "%s: %s", why, other);
			free(other);
			free(why);
			continue;
		}
		row(j, CHECK_OK, f->functions[i].name, "one symbol, %s", j->in->probe->tracing ? "traceable" :
		    "whether traceable is not known");
		part_notes(j, s);
		owners(j, s);
	}
}

/* What the patch changes but the module replaces further up: why, and that this is still so. */
static void detours(struct judging *j)
{
	size_t i;

	for (i = 0; i < j->in->c->n_patched; i++) {
		const char *name = j->in->c->patched[i].name;
		char *why = unpatchable(j, probe_symbol(j->in->probe, name)), *other = instead(j, name);

		if (why)
			row(j, CHECK_OK, name, "%s: %s", why, other);
		else
			row(j, CHECK_NOTE, name, "could be replaced itself on this kernel; the module replaces a caller of it");
		free(other);
		free(why);
	}
}

/* --- what is loaded already --- */

static void loaded(struct judging *j)
{
	const char *own = j->in->c->facts.module;
	size_t i;

	for (i = 0; i < j->in->probe->n_modules; i++) {
		const struct probed_module *m = &j->in->probe->modules[i];
		const char *state = m->transition ? "in transition" : m->enabled ? "in force" : "not in force";

		if (strcmp(m->name, own))
			row(j, CHECK_NOTE, m->name, "another module of kab's is loaded (%s, %s): `kab patch unload` removes it",
			    m->variant, state);
		else
			row(j, j->in->to_load ? CHECK_FAIL : CHECK_NOTE, m->name, "is loaded already (%s, %s): "
			    "`kab patch unload %s` removes it", m->variant, state, j->in->c->facts.name);
	}
}

static void (*const checks[])(struct judging *j) = {
	kernel, requirements, loading, signing, livepatch, ftrace, ibt, module, agreement, undefined, imports, functions, detours,
	loaded,
};

void preflight_judge(const struct preflight_input *in, struct preflight *out)
{
	struct judging j = { in, out };
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&j);
}

/* --- around it --- */

const char **preflight_symbols(const struct patch_case *c, const struct module_info *m, size_t *n)
{
	VEC(const char *) names = { 0 };
	struct known_callers k;
	size_t i, l;

	vec_push(&names, IBT_SYMBOL);
	for (i = 0; i < c->facts.n_functions; i++) {
		vec_push(&names, c->facts.functions[i].name);
		known_callers(c, c->facts.functions[i].name, &k);
		for (l = 0; l < k.n; l++)
			vec_push(&names, k.v[l]);
	}
	for (i = 0; i < c->n_patched; i++) {
		vec_push(&names, c->patched[i].name);
		for (l = 0; l < c->patched[i].n_callers; l++)
			vec_push(&names, c->patched[i].callers[l]);
	}
	for (i = 0; i < c->n_requires; i++)
		vec_push(&names, c->requires[i].symbol);
	for (i = 0; m && i < m->imports.n; i++)
		vec_push(&names, m->imports.v[i]);
	for (i = 0; m && i < m->undefined.n; i++)
		vec_push(&names, m->undefined.v[i]);
	*n = names.n < 256 ? names.n : 256;
	return names.v;
}

size_t preflight_failed(const struct preflight *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->rows.n; i++)
		n += p->rows.v[i].state == CHECK_FAIL;
	return n;
}

int preflight_verdict(const struct preflight *p, const char *case_name, const char *target, struct err *err)
{
	size_t failed = preflight_failed(p), i;

	for (i = 0; i < p->rows.n && p->rows.v[i].state != CHECK_FAIL; i++)
		;
	if (!failed)
		return 0;
	err_add(err, 0, "The case %s cannot be loaded there: %s %s.", case_name, p->rows.v[i].what, p->rows.v[i].said);
	return err_add(err, -ENOTSUP, "%zu of %zu checks failed; `kab patch check %s -t %s` shows them all.", failed,
		       p->rows.n, case_name, target);
}

void preflight_release(struct preflight *p)
{
	size_t i;

	for (i = 0; i < p->rows.n; i++) {
		free(p->rows.v[i].what);
		free(p->rows.v[i].said);
	}
	vec_release(&p->rows);
}

const char *check_state_name(enum check_state s)
{
	return s == CHECK_OK ? "ok" : s == CHECK_NOTE ? "note" : "no";
}

void preflight_text(const struct preflight *p, struct buf *out)
{
	size_t i, width = 8;

	for (i = 0; i < p->rows.n; i++)
		if (strlen(p->rows.v[i].what) > width && strlen(p->rows.v[i].what) <= 32)
			width = strlen(p->rows.v[i].what);
	for (i = 0; i < p->rows.n; i++)
		buf_printf(out, "%-4s  %-*s  %s.\n", check_state_name(p->rows.v[i].state), (int)width, p->rows.v[i].what,
			   p->rows.v[i].said);
}
