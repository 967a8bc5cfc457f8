// SPDX-License-Identifier: GPL-2.0-or-later
/* target: see target.h. The kinds are the table at the end. */
#include "jobs/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"

#define ATTACH_TIMEOUT_MS 60000
#define MAX_PROGRAM (256U << 20)

/* --- symbols: which file here is the one that ran there --- */

static const char *find_local(void *ctx, const char *path, const char *build_id)
{
	(void)ctx, (void)build_id;
	return path;
}

static const char *find_put(void *ctx, const char *path, const char *build_id)
{
	struct target *t = ctx;
	size_t i;

	(void)build_id;		/* the symboliser compares it */
	for (i = 0; i < t->n_files; i++)
		if (!strcmp(t->files[i].remote, path))
			return t->files[i].local;
	return NULL;
}

/* --- local --- */

static int local_find(struct target *t, const struct lab_opts *lab, struct err *err)
{
	struct utsname u;

	(void)lab;
	if (uname(&u))
		return err_sys(err, errno, "Cannot read the kernel's release");
	t->kernel.release = mem_strdup(u.release);
	t->kernel.build = mem_printf("/lib/modules/%s/build", u.release);
	if (!fs_exists(t->kernel.build)) {
		free(t->kernel.build);
		t->kernel.build = NULL;
	}
	return 0;
}

static int local_can_load(struct target *t, struct err *err)
{
	if (!fs_exists("/proc/modules"))
		return err_add(err, -ENOTSUP, "This machine's kernel (%s) cannot load modules; measure in the lab "
			       "instead: -t vm.", t->kernel.release);
	if (!fs_exists("/sys/kernel/livepatch"))
		return err_add(err, -ENOTSUP, "This machine's kernel (%s) has no livepatch support; measure in the lab "
			       "instead: -t vm.", t->kernel.release);
	if (!t->kernel.build)
		return err_add(err, -ENOENT, "The headers of the running kernel are not installed; install "
			       "linux-headers-%s, or measure in the lab: -t vm.", t->kernel.release);
	return 0;
}

static int local_open(struct target *t, const struct lab_opts *lab, bool as_root, struct err *err)
{
	(void)lab;
	return live_spawn(t->agent, as_root && geteuid() != 0, &t->sink, &t->live, err);
}

/* --- vm --- */

static int vm_find(struct target *t, const struct lab_opts *lab, struct err *err)
{
	/* Idempotent: costs nothing when the kernel is in the cache. */
	if (lab_kernel_find(lab, &t->kernel, NULL) == 0 && t->kernel.build)
		return 0;
	lab_kernel_release(&t->kernel);
	return lab_fetch(lab, &t->kernel, err);
}

static int vm_can_load(struct target *t, struct err *err)
{
	if (!t->kernel.build)
		return err_add(err, -ENOENT, "There are no headers of the lab's kernel %s, so no module can be built "
			       "for it; run `kab lab fetch`, or point at them with --kernel-build DIR.",
			       t->kernel.release);
	return 0;
}

static int vm_open(struct target *t, const struct lab_opts *lab, bool as_root, struct err *err)
{
	int fd, rc = lab_boot(lab, &t->kernel, t->agent, &t->guest, &fd, err);

	(void)as_root;
	if (rc)
		return rc;
	rc = live_attach(fd, &t->sink, ATTACH_TIMEOUT_MS, &t->live, err);
	if (rc)
		target_last_words(t, err);
	return rc;
}

static void vm_close(struct target *t)
{
	lab_stop(t->guest);
}

static const struct target_kind target_local = {
	.name = "local", .shows_output = true, .file = find_local,
	.find = local_find, .open = local_open, .can_load = local_can_load,
};

static const struct target_kind target_vm = {
	.name = "vm", .gives_root = true, .passing = true, .carries = CARRY_PATHS, .file = find_put,
	.find = vm_find, .open = vm_open, .can_load = vm_can_load, .close = vm_close,
};

static const struct target_kind *const kinds[] = { &target_local, &target_vm, &target_ssh };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* "vm" is the kind vm; "ssh:HOST" is the kind "ssh:", with a host. */
static bool is_kind(const struct target_kind *k, const char *name)
{
	size_t n = strlen(k->name);

	return k->name[n - 1] == ':' ? !strncmp(k->name, name, n) : !strcmp(k->name, name);
}

int target_init(struct target *t, const char *name, struct store *s, struct err *err)
{
	size_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < KINDS && !is_kind(kinds[i], name); i++)
		;
	if (i == KINDS)
		return err_add(err, -EINVAL, "There is no target \"%.40s\"; the targets are local, vm and ssh:HOST.", name);
	t->kind = kinds[i];
	if (strchr(t->kind->name, ':'))
		t->host = mem_strdup(name + strlen(t->kind->name));
	ingest_init(&t->ingest, s, t->kind->file, t, err);
	t->sink = ingest_sink(&t->ingest);
	t->agent = fs_program("kab-agent", err);
	return t->agent ? 0 : -ENOENT;
}

void target_release(struct target *t)
{
	size_t i;

	if (!t->kind)
		return;
	live_close(t->live);
	if (t->kind->close)
		t->kind->close(t);
	lab_kernel_release(&t->kernel);
	ingest_release(&t->ingest);
	for (i = 0; i < t->n_files; i++) {
		free(t->files[i].remote);
		free(t->files[i].local);
	}
	free(t->files);
	free(t->agent);
	free(t->host);
	memset(t, 0, sizeof(*t));
}

int target_build(struct target *t, const struct patch_case *c, const struct lab_opts *lab, struct case_build *b,
		 struct err *err)
{
	if (t->kind->build)
		return t->kind->build(t, c, lab, b, err);
	return case_build(c, t->kernel.release, t->kernel.build, lab->stop, lab->ctx, b, err);
}

int target_put(struct target *t, const char *local, char **remote, struct err *err)
{
	return target_put_as(t, local, NULL, remote, err);
}

int target_put_as(struct target *t, const char *local, const char *hint, char **remote, struct err *err)
{
	const char *base = strrchr(local, '/');
	struct buf data = BUF_INIT;
	int rc = buf_read_file(&data, local, MAX_PROGRAM, err);

	if (!rc)
		rc = live_put(t->live, hint ? hint : base ? base + 1 : local, data.data, data.len, remote, err);
	if (!rc) {
		t->files = mem_realloc(t->files, t->n_files + 1, sizeof(*t->files));
		t->files[t->n_files++] = (struct target_file){ mem_strdup(*remote), mem_strdup(local) };
	}
	buf_release(&data);
	return rc;
}

/* A guest has no configuration file of its own: the one beside its kernel's headers is of the same build. */
static void add_config(const struct target *t, struct machine *m)
{
	char *path, value[64];
	uint64_t digest;

	if (machine_get(m, "kernel.config") || !t->kernel.build)
		return;
	path = mem_printf("%s/.config", t->kernel.build);
	if (!fs_digest(path, MAX_PROGRAM, &digest, NULL)) {
		snprintf(value, sizeof(value), "fnv1a64:%016llx of its headers' .config",
			 (unsigned long long)digest);
		machine_add(m, "kernel.config", value);
	}
	free(path);
}

int target_facts(struct target *t, struct machine *m, struct err *err)
{
	int rc = live_facts(t->live, m, err);

	if (rc)
		return rc;
	machine_add(m, "target", t->host ? "ssh" : t->kind->name);
	add_config(t, m);
	if (t->guest)
		machine_add(m, "lab.accel", lab_accel(t->guest));
	return 0;
}

void target_last_words(struct target *t, struct err *err)
{
	struct buf lines = BUF_INIT;

	if (t->guest && !lab_alive(t->guest)) {
		lab_console(t->guest, &lines, 12);
		err_add(err, 0, "The guest is gone; its last console lines were:\n%s", buf_str(&lines));
	}
	buf_release(&lines);
}
