// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serve: requests about modules and files. A module's bytes are kept, because a
 * livepatch that was disabled (native) comes back only by loading it again. A
 * module of kab's that was loaded before this agent began is adopted: it can be
 * switched and unloaded, and stays when the agent ends.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "collectors/live/agent/module.h"
#include "collectors/live/agent/session.h"

#define PAUSE_MS 20

static bool pause_in_session(void *ctx)
{
	return session_wait(ctx, NULL, 0, PAUSE_MS) >= 0;
}

/* At once, for the person who waits for the transition. */
static void say_in_session(void *ctx, const char *line)
{
	session_log(ctx, "%s", line);
	session_send(ctx);
}

static struct module_wait wait_in(struct session *s)
{
	return (struct module_wait){ pause_in_session, say_in_session, s, s->patience_s };
}

/* Adds what the kernel logged meanwhile: its errno alone seldom says why. */
static int with_reasons(struct session *s, int rc, struct err *err)
{
	session_kernel_log(s);
	if (rc < 0 && rc != -ECANCELED && s->reasons.len)
		err_add(err, rc, "The kernel said: %s.", buf_str(&s->reasons));
	return rc;
}

/* Known to this session, or adopted. */
static struct kept_module *find(struct session *s, const char *name, struct err *err)
{
	struct kept_module *m;

	for (size_t i = 0; i < s->modules.n; i++) {
		if (!strcmp(s->modules.v[i].name, name))
			return &s->modules.v[i];
	}
	if (!module_is_kab(name)) {
		err_add(err, -ENOENT, "The module \"%.60s\" is not loaded.", name);
		return NULL;
	}
	m = vec_add(&s->modules);
	strcpy(m->name, name);
	m->livepatch = true;
	return m;
}

static int load(struct session *s, struct kept_module *m, struct err *err)
{
	const struct module_wait wait = wait_in(s);
	int rc;

	if (!ledger_add(s->worker->ledger, m->name))
		return err_add(err, -ENOSPC, "kab-agent holds %d modules already; unload one.", LEDGER_MODULES);
	rc = module_load(m->name, m->ko.data, m->ko.len, m->params, &wait, &s->took, err);
	if (!module_loaded(m->name))
		ledger_drop(s->worker->ledger, m->name);
	m->livepatch = module_enabled(m->name);
	return with_reasons(s, rc, err);
}

static int unload(struct session *s, const char *name, struct err *err)
{
	const struct module_wait wait = wait_in(s);
	int rc = module_remove(name, &wait, &s->took, err);

	if (!rc)
		ledger_drop(s->worker->ledger, name);
	return with_reasons(s, rc, err);
}

/* What all module requests have in common: patience before, figures after. */
static void begin(struct session *s, uint32_t patience_s)
{
	s->patience_s = patience_s;
	s->took = (struct module_took){ 0 };
}

static int end(struct session *s, struct answer *a, int rc)
{
	kab__module_result__init(&a->module);
	a->module.call_ns = s->took.call_ns;
	a->module.transition_ns = s->took.transition_ns;
	a->has_module = true;
	return rc;
}

static int load_new(struct session *s, const char *name, const char *params, struct err *err)
{
	struct kept_module *m;
	int rc;

	if (!module_name_ok(name))
		return err_add(err, -EINVAL, "\"%.60s\" cannot be the name of a kernel module.", name);
	if (module_loaded(name))
		return err_add(err, -EEXIST, "A module named %s is loaded already; unload it first (`kab patch unload`, or "
			       "rmmod %s).", name, name);
	if (strlen(params) >= sizeof(m->params))
		return err_add(err, -EINVAL, "The parameters of the module %s are too long.", name);
	m = vec_add(&s->modules);
	strcpy(m->name, name);
	strcpy(m->params, params);
	m->ko = s->data;
	s->data = (struct buf)BUF_INIT;
	rc = load(s, m, err);
	if (rc) {
		buf_release(&m->ko);
		s->modules.n--;
	}
	return rc;
}

int serve_module_load(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	begin(s, rq->module_load->patience_s);
	return end(s, a, load_new(s, rq->module_load->name, rq->module_load->params, err));
}

int serve_module_unload(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	struct kept_module *m = find(s, rq->module_unload->name, err);
	int rc;

	if (!m)
		return -ENOENT;
	begin(s, rq->module_unload->patience_s);
	rc = unload(s, m->name, err);
	if (!rc) {
		buf_release(&m->ko);
		*m = s->modules.v[--s->modules.n];
	}
	return end(s, a, rc);
}

int serve_module_keep(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	struct kept_module *m = find(s, rq->module_keep->name, err);

	(void)a;
	if (!m)
		return -ENOENT;
	ledger_drop(s->worker->ledger, m->name);
	return 0;
}

/* Native: a livepatch is disabled, anything else unloaded; both come back by a new load. */
static int to_native(struct session *s, const struct kept_module *m, struct err *err)
{
	const struct module_wait wait = wait_in(s);

	if (!module_loaded(m->name))
		return 0;
	if (!m->livepatch)
		return unload(s, m->name, err);
	return with_reasons(s, module_disable(m->name, &wait, &s->took, err), err);
}

static int to_variant(struct session *s, struct kept_module *m, const char *variant, struct err *err)
{
	int rc = 0;

	/* Loaded and not enabled: a disabled livepatch, for native leaves no other module loaded. */
	if (m->livepatch && !module_enabled(m->name)) {
		if (!m->ko.len)
			return err_add(err, -ESTALE, "The module %s was switched to native by an earlier kab, and a livepatch "
				       "that was disabled does not come back: unload it and load it again.", m->name);
		rc = unload(s, m->name, err);
	}
	if (!rc && !module_loaded(m->name))
		rc = load(s, m, err);
	if (!rc)
		rc = with_reasons(s, module_variant(m->name, variant, &s->took, err), err);
	return rc;
}

int serve_module_switch(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	static const char *const names[] = {
		[KAB__VARIANT__BEFORE] = "before", [KAB__VARIANT__AFTER] = "after"
	};
	const Kab__ModuleSwitch *sw = rq->module_switch;
	struct kept_module *m = find(s, sw->name, err);

	if (!m)
		return -ENOENT;
	begin(s, sw->patience_s);
	switch (sw->variant) {
	case KAB__VARIANT__NATIVE:
		return end(s, a, to_native(s, m, err));
	case KAB__VARIANT__BEFORE:
	case KAB__VARIANT__AFTER:
		return end(s, a, to_variant(s, m, names[sw->variant], err));
	default:
		return err_add(err, -EINVAL, "There is no variant number %d.", (int)sw->variant);
	}
}

void modules_left(struct session *s)
{
	DIR *d = opendir("/sys/module");
	char variant[32];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (!module_is_kab(e->d_name))
			continue;
		module_variant_now(e->d_name, variant, sizeof(variant));
		session_log(s, "The module %s has been loaded since before kab-agent began (%s%s); `kab patch unload` removes it.",
			    e->d_name, variant, module_enabled(e->d_name) ? "" : ", not in force");
	}
	if (d)
		closedir(d);
}

/* A private folder, once; in the ledger, so that it goes when the agent does. */
static int folder(struct session *s, struct err *err)
{
	struct ledger *l = s->worker->ledger;
	char *dir;
	int rc = 0;

	if (l->folder[0])
		return 0;
	if (!getenv("TMPDIR"))
		mkdir("/tmp", 01777);		/* an initramfs may have none */
	dir = fs_tmpdir("agent", err);
	if (!dir)
		return -EIO;
	if (strlen(dir) >= sizeof(l->folder) || chmod(dir, 0755)) {
		rc = err_add(err, -ENAMETOOLONG,
			     "The folder %s cannot be used; set TMPDIR to a shorter path.", dir);
		rmdir(dir);
	} else {
		strcpy(l->folder, dir);
	}
	free(dir);
	return rc;
}

/* Whether it can be the name of a file here: not hidden, no "..", no folder in it. */
static bool name_ok(const char *name, size_t len)
{
	return len > 0 && len <= 100 && name[0] != '.' && !memchr(name, '/', len);
}

/* Where a file of this hint goes: NAME or FOLDER/NAME below `root`; of anything else the last part counts. */
static char *place_of(const char *root, const char *hint)
{
	const char *slash = strchr(hint, '/'), *name;

	if (slash && name_ok(hint, (size_t)(slash - hint)) && name_ok(slash + 1, strlen(slash + 1)))
		return mem_printf("%s/%s", root, hint);
	name = strrchr(hint, '/') ? strrchr(hint, '/') + 1 : hint;
	return mem_printf("%s/%s", root, name_ok(name, strlen(name)) ? name : "file");
}

static int make_parent(const char *path, struct err *err)
{
	char *dir = mem_printf("%.*s", (int)(strrchr(path, '/') - path), path);
	int rc = fs_mkdirs(dir, err);

	free(dir);
	return rc;
}

int serve_put(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	int rc = folder(s, err);

	if (rc)
		return rc;
	a->path = place_of(s->worker->ledger->folder, rq->put->hint);
	rc = make_parent(a->path, err);
	if (!rc)
		rc = fs_write(a->path, buf_str(&s->data), s->data.len, err);
	if (!rc && chmod(a->path, 0755))
		rc = err_sys(err, errno, "Cannot make %s executable", a->path);
	return rc;
}
