// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * carry: see carry.h. What a program needs is asked of its own dynamic loader,
 * which is what will look for it: `LOADER --list PROGRAM`, the core of ldd.
 */
#include "jobs/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/proc.h"
#include "jobs/target.h"

static const char launcher[] =
	"#!/bin/sh\n"
	"dir=${0%/*} name=${0##*/}\n"
	"exec \"$dir/run/$name\" --library-path \"$dir/lib\" --argv0 \"$0\" \"$dir/lib/$name\" \"$@\"\n";

struct carrier {
	struct target *t;
	const char *case_name;
	struct map libraries;		/* names of those that are there */
	struct err *err;
};

/* `hint`: see live_put(). */
static int put_in(struct carrier *c, const char *local, const char *folder, const char *name)
{
	char *hint = mem_printf("%s/%s", folder, name), *remote = NULL;
	int rc = target_put_as(c->t, local, hint, &remote, c->err);

	free(remote);
	free(hint);
	return rc;
}

/* The dynamic loader that a program asks for; NULL: it is static, or no program. The caller frees. */
static char *loader_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	size_t n = 0, i;
	char *loader = NULL;

	if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; !loader && i < n; i++) {
		Elf_Data *data;
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_INTERP || ph.p_filesz > PATH_MAX)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_BYTE);
		if (data && data->d_buf)
			loader = mem_printf("%.*s", (int)data->d_size, (const char *)data->d_buf);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return loader;
}

/* One line of the list, cut to pieces: "\tNAME => PATH (0x...)"; lines without an arrow are the loader and the vdso. */
static int library(struct carrier *c, const char *program, char *line)
{
	char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => "), *path, *end;
	bool added;

	if (!arrow)
		return 0;
	*arrow = '\0';
	path = arrow + strlen(" => ");
	end = strstr(path, " (0x");
	if (*path != '/' || !end)
		return err_add(c->err, -ENOENT, "The program %s does not find its library %.60s on this machine; install its "
			       "package again.", program, name);
	*end = '\0';
	map_intern(&c->libraries, name, strlen(name), &added);
	return added ? put_in(c, path, "lib", name) : 0;
}

static int program(struct carrier *c, const char *path, const char *name, const char *loader, char **remote)
{
	const char *const argv[] = { loader, "--list", path, NULL };
	struct buf list = BUF_INIT;
	const struct proc_opts o = { .out = &list };
	char *line, *state = NULL;
	int rc = proc_run(argv, &o, c->err);

	if (rc > 0)
		rc = err_add(c->err, -ENOEXEC, "The loader %s cannot start the program %s; install its package again.",
			     loader, path);
	line = list.data ? strtok_r(list.data, "\n", &state) : NULL;
	for (; !rc && line; line = strtok_r(NULL, "\n", &state))
		rc = library(c, path, line);
	if (!rc)
		rc = put_in(c, loader, "run", name);
	if (!rc)
		rc = put_in(c, path, "lib", name);
	if (!rc)
		rc = live_put(c->t->live, name, launcher, sizeof(launcher) - 1, remote, c->err);
	buf_release(&list);
	return rc;
}

/* A program of that name in PATH, as the shell would find it; NULL. The caller frees. */
static char *in_path(const char *name)
{
	const char *path = getenv("PATH"), *end;

	for (; path && *path; path = *end ? end + 1 : end) {
		char *file;

		end = strchrnul(path, ':');
		file = mem_printf("%.*s/%s", (int)(end - path), path, name);
		if (*path == '/' && !access(file, X_OK))
			return file;
		free(file);
	}
	return NULL;
}

/* A program with what it needs, or a file of data; *remote is the caller's. */
static int put_whole(struct carrier *c, const char *path, char **remote)
{
	const char *name = strrchr(path, '/') + 1;
	char *loader = loader_of(path);
	int rc = loader ? program(c, path, name, loader, remote) : target_put_as(c->t, path, name, remote, c->err);

	free(loader);
	return rc;
}

static int carry_file(struct carrier *c, const struct carried_file *f)
{
	char *path = strchr(f->path, '/') ? mem_strdup(f->path) : in_path(f->path), *remote = NULL;
	int rc;

	if (!path || access(path, R_OK)) {
		free(path);
		return err_add(c->err, -ENOENT, "The workload of %s needs %s, which is not on this machine; install it "
			       "(Debian: apt-get install %s).", c->case_name, f->path, f->package);
	}
	rc = put_whole(c, path, &remote);
	free(remote);
	free(path);
	return rc;
}

int carry(struct target *t, const struct patch_case *pcase, const char *workload, char **remote, struct err *err)
{
	struct carrier c = { .t = t, .case_name = pcase->facts.name, .libraries = MAP_INIT, .err = err };
	size_t i;
	int rc = put_whole(&c, workload, remote);

	for (i = 0; !rc && i < pcase->n_carried; i++)
		rc = carry_file(&c, &pcase->carried[i]);
	map_release(&c.libraries);
	return rc;
}
