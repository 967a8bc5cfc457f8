// SPDX-License-Identifier: GPL-2.0-or-later
/* patch: see patch.h. Joins a case, its build and a target's agent; nothing goes to a store. */
#include "jobs/patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "jobs/target.h"
#include "patches/case.h"

#define MODULE_LIMIT (64U << 20)

struct patch_job {
	const struct patch_opts *o;
	struct patch_report *r;
	struct patch_case c;
	struct case_build build;
	struct target target;
	struct err not_built;		/* why there is no module; empty: there is, or it was not tried */
	struct err *err;
};

void patch_report_release(struct patch_report *r)
{
	preflight_release(&r->preflight);
	free(r->release);
	free(r->module);
	free(r->log);
	memset(r, 0, sizeof(*r));
}

static bool stopped(void *ctx)
{
	const struct patch_job *j = ctx;

	return j->o->lab.stop && j->o->lab.stop(j->o->lab.ctx);
}

/* A line of the kernel's log, or of the agent while it waits for a transition. */
static void heard(void *ctx, const char *line)
{
	const struct patch_job *j = ctx;

	if (j->o->lab.progress)
		j->o->lab.progress(j->o->lab.ctx, line, 0, 0);
}

/* --- the steps --- */

static int find(struct patch_job *j)
{
	int rc = j->o->case_name ? case_load(j->o->case_name, &j->c, j->err) : 0;

	if (!rc)
		rc = target_init(&j->target, j->o->target, NULL, j->err);
	if (rc)
		return rc;
	j->target.ingest.stop = stopped;
	j->target.ingest.heard = heard;
	j->target.ingest.ctx = j;
	rc = j->target.kind->find(&j->target, &j->o->lab, j->err);
	if (!rc) {
		j->r->release = mem_strdup(j->target.kernel.release);
		j->r->module = mem_strdup(j->c.facts.module);
	}
	return rc;
}

static int build(struct patch_job *j, struct err *err)
{
	struct lab_opts lab = j->o->lab;

	lab.stop = stopped;
	lab.ctx = j;
	return target_build(&j->target, &j->c, &lab, &j->build, err);
}

static int open_target(struct patch_job *j, bool as_root)
{
	int rc = j->target.kind->open(&j->target, &j->o->lab, as_root, j->err);

	if (!rc)
		live_patience(j->target.live, j->o->patience_s);
	return rc;
}

int job_preflight(struct live *l, const struct patch_case *c, const char *ko, const char *not_built, bool to_load,
		  struct preflight *out, struct err *err)
{
	struct module_info m = { 0 };
	struct machine facts = { 0 };
	struct probe probe = { 0 };
	const char **names = NULL;
	int rc = ko ? module_info_read(ko, &m, err) : 0;
	size_t n;

	if (!rc)
		rc = live_facts(l, &facts, err);
	if (!rc) {
		names = preflight_symbols(c, ko ? &m : NULL, &n);
		rc = live_probe(l, names, n, &probe, err);
	}
	if (!rc)
		preflight_judge(&(struct preflight_input){
			.c = c, .module = ko ? &m : NULL, .not_built = not_built, .facts = &facts, .probe = &probe,
			.to_load = to_load,
		}, out);
	free(names);
	probe_release(&probe);
	machine_release(&facts);
	module_info_release(&m);
	return rc;
}

static int look(struct patch_job *j, bool to_load)
{
	return job_preflight(j->target.live, &j->c, j->build.module, j->not_built.len ? j->not_built.text : NULL,
			     to_load, &j->r->preflight, j->err);
}

static int load(struct patch_job *j)
{
	struct buf ko = BUF_INIT;
	int rc = buf_read_file(&ko, j->build.module, MODULE_LIMIT, j->err);

	if (!rc) {
		rc = live_module_load(j->target.live, j->c.facts.module, ko.data, ko.len, "", j->err);
		j->r->load = live_took(j->target.live);
		j->r->loaded = true;
	}
	buf_release(&ko);
	return rc;
}

static int change(struct patch_job *j)
{
	int rc = live_module_switch(j->target.live, j->c.facts.module, j->o->variant, j->err);

	j->r->change = live_took(j->target.live);
	j->r->changed = !rc;
	return rc;
}

static int unload(struct patch_job *j)
{
	int rc = live_module_unload(j->target.live, j->c.facts.module, j->err);

	j->r->unload = live_took(j->target.live);
	j->r->unloaded = !rc;
	return rc;
}

/* What follows a successful load: it stays, but a guest is left as it was found. */
static int leave(struct patch_job *j)
{
	int rc;

	if (j->target.kind->passing)
		return unload(j);
	rc = live_module_keep(j->target.live, j->c.facts.module, j->err);
	j->r->stays = !rc;
	return rc;
}

/* Whether the module is loaded there, and how; log lines before this are of no interest. */
static int state(struct patch_job *j, bool *loaded, bool *enabled)
{
	struct probe p;
	const struct probed_module *m;
	int rc = live_probe(j->target.live, NULL, 0, &p, j->err);

	if (rc)
		return rc;
	m = probe_module(&p, j->c.facts.module);
	*loaded = m != NULL;
	*enabled = m && m->enabled && !m->transition;
	probe_release(&p);
	ingest_run(&j->target.ingest, 0);
	return 0;
}

static int end(struct patch_job *j, int rc)
{
	if (rc && rc != -ECANCELED && j->target.kind)
		target_last_words(&j->target, j->err);
	if (j->target.kind && j->target.ingest.log.len)
		j->r->log = buf_detach(&j->target.ingest.log);
	target_release(&j->target);
	case_build_release(&j->build);
	case_release(&j->c);
	return rc;
}

/* --- the jobs --- */

int job_patch_check(const struct patch_opts *o, struct patch_report *r, struct err *err)
{
	struct patch_job j = { .o = o, .r = r, .err = err };
	int rc = find(&j), rc2 = 0;

	/* A module that cannot be built is one more row, not the end of the look. */
	if (!rc && case_for_kernel(&j.c, j.target.kernel.release))
		rc2 = j.target.kind->can_load(&j.target, &j.not_built) ?: build(&j, &j.not_built);
	if (rc2 == -ECANCELED)
		rc = err_add(err, rc2, "Stopped.");
	if (!rc)
		rc = open_target(&j, true);
	if (!rc)
		rc = look(&j, false);
	return end(&j, rc);
}

static int wrong_kernel(const struct patch_job *j)
{
	return err_add(j->err, -ENOTSUP, "The case %s is not for kernel %s; `kab patch check %s -t %s` says why.",
		       j->c.facts.name, j->target.kernel.release, j->c.facts.name, j->o->target);
}

/* From find() up to the point where the module can be loaded: built, the target open, the preflight passed. */
static int ready(struct patch_job *j)
{
	int rc = j->target.kind->can_load(&j->target, j->err);

	if (!rc && !case_for_kernel(&j->c, j->target.kernel.release))
		rc = wrong_kernel(j);
	if (!rc)
		rc = build(j, j->err);
	if (!rc)
		rc = open_target(j, true);
	if (!rc)
		rc = look(j, true);
	if (!rc)
		rc = preflight_verdict(&j->r->preflight, j->c.facts.name, j->o->target, j->err);
	if (!rc)
		ingest_run(&j->target.ingest, 0);
	return rc;
}

int job_patch_load(const struct patch_opts *o, struct patch_report *r, struct err *err)
{
	struct patch_job j = { .o = o, .r = r, .err = err };
	int rc = find(&j);

	if (!rc)
		rc = ready(&j);
	if (!rc)
		rc = load(&j);
	if (!rc)
		rc = leave(&j);
	return end(&j, rc);
}

static int not_loaded(const struct patch_job *j)
{
	return err_add(j->err, -ENOENT, "The module %s is not loaded on %s; `kab patch load %s -t %s` loads it.",
		       j->c.facts.module, j->o->target, j->c.facts.name, j->o->target);
}

static int switch_here(struct patch_job *j)
{
	bool loaded = false, enabled = false;
	int rc = open_target(j, true);

	if (!rc)
		rc = state(j, &loaded, &enabled);
	if (!rc && !loaded)
		rc = not_loaded(j);
	if (!rc && (enabled || j->o->variant == VARIANT_NATIVE)) {
		rc = change(j);
		j->r->stays = true;
		return rc;
	}
	/* After native: a disabled livepatch comes back only with a new load. */
	if (!rc)
		rc = build(j, j->err);
	if (!rc)
		rc = unload(j);
	if (!rc)
		rc = load(j);
	if (!rc)
		rc = change(j);
	return rc ? rc : leave(j);
}

int job_patch_switch(const struct patch_opts *o, struct patch_report *r, struct err *err)
{
	struct patch_job j = { .o = o, .r = r, .err = err };
	int rc = 0;

	rc = find(&j);
	if (!rc && !j.target.kind->passing)
		return end(&j, switch_here(&j));
	if (!rc)
		rc = ready(&j);
	if (!rc)
		rc = load(&j);
	if (!rc)
		rc = change(&j);
	if (!rc)
		rc = leave(&j);
	return end(&j, rc);
}

int job_patch_unload(const struct patch_opts *o, struct patch_report *r, struct err *err)
{
	struct patch_job j = { .o = o, .r = r, .err = err };
	bool loaded = false, enabled = false;
	int rc = find(&j);

	if (!rc && j.target.kind->passing)
		rc = err_add(err, -EINVAL, "kab leaves nothing loaded in a guest or on another machine between two commands. "
			     "Unload from this machine with -t local.");
	if (!rc)
		rc = open_target(&j, true);
	if (!rc)
		rc = state(&j, &loaded, &enabled);
	if (!rc && !loaded)
		rc = not_loaded(&j);
	if (!rc)
		rc = unload(&j);
	return end(&j, rc);
}

int job_patch_state(const struct patch_opts *o, struct probe *p, struct err *err)
{
	struct patch_report r = { 0 };
	struct patch_job j = { .o = o, .r = &r, .err = err };
	int rc = find(&j);

	if (!rc && j.target.kind->passing)
		rc = err_add(err, -EINVAL, "kab leaves nothing loaded in a guest or on another machine; -t local shows what is loaded "
			     "on this machine.");
	if (!rc)
		rc = open_target(&j, false);
	if (!rc)
		rc = live_probe(j.target.live, NULL, 0, p, err);
	rc = end(&j, rc);
	patch_report_release(&r);
	return rc;
}
