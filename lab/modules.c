// SPDX-License-Identifier: GPL-2.0-or-later
/* modules: see modules.h. */
#include "lab/modules.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/proc.h"
#include "lab/elf.h"

#define MODULE_MAX (32U << 20)	/* bytes of one module; the largest of a distribution has about 10 million */

/*
 * The stream to the agent needs virtio; the network devices are for workloads of
 * patch cases, loaded by their setup commands: a dummy0 that nobody asked for
 * would be one more line in /proc/net/dev, and change what is measured.
 */
static const struct { const char *name; bool at_boot; } wanted[] = {
	{ "virtio_pci", true },
	{ "virtio_console", true },
	{ "veth", false },
	{ "dummy", false },
	{ "bridge", false },
};

static const struct packing { const char *suffix, *program, *package; } packings[] = {
	{ ".ko", NULL, NULL },
	{ ".ko.xz", "xz", "xz-utils" },
	{ ".ko.zst", "zstd", "zstd" },
	{ ".ko.gz", "gzip", "gzip" },
};

struct scan {
	struct map names;	/* module name -> number */
	VEC(char *) paths;	/* by that number */
	struct map builtin;
	struct map seen;	/* loaded or being loaded */
	struct modules *out;
};

/* What follows the module's name in its file name. */
static const struct packing *packing_of(const char *file)
{
	size_t len = strlen(file), i;

	for (i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		size_t n = strlen(packings[i].suffix);

		if (len > n && !strcmp(file + len - n, packings[i].suffix))
			return &packings[i];
	}
	return NULL;
}

bool module_name(const char *path, char *name, size_t size)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	const struct packing *p = packing_of(file);
	size_t n = p ? strlen(file) - strlen(p->suffix) : 0, i;

	if (!n || n >= size)
		return false;
	for (i = 0; i < n; i++)
		name[i] = file[i] == '-' ? '_' : file[i];
	name[n] = '\0';
	return true;
}

static int find_files(struct scan *s, const char *dir, struct err *err)
{
	char *roots[] = { (char *)dir, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	char name[64];
	bool added;

	if (!fts)
		return err_sys(err, errno, "Cannot read the folder %s", dir);
	while ((e = fts_read(fts)))
		if (e->fts_info == FTS_F && module_name(e->fts_path, name, sizeof(name))) {
			map_intern(&s->names, name, strlen(name), &added);
			if (added)
				vec_push(&s->paths, mem_strdup(e->fts_path));
		}
	fts_close(fts);
	return 0;
}

static int read_builtin(struct scan *s, const char *dir, struct err *err)
{
	char *path = mem_printf("%s/modules.builtin", dir), *line, *save = NULL, name[64];
	struct buf text = BUF_INIT;
	int rc = buf_read_file(&text, path, 4U << 20, err);

	if (!rc && text.len)
		for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			if (module_name(line, name, sizeof(name)))
				map_intern_str(&s->builtin, name);
	buf_release(&text);
	free(path);
	return rc;
}

static int unpack(const char *path, struct buf *ko, struct err *err)
{
	const struct packing *p = packing_of(path);
	const char *const argv[] = { p->program, "-dc", "--", path, NULL };
	const struct proc_opts opts = { .out = ko };
	int rc;

	if (!p->program)
		return buf_read_file(ko, path, MODULE_MAX, err);
	if (!proc_have(p->program))
		return err_add(err, -ENOENT, "The kernel module %s cannot be unpacked without %s; run "
			       "`apt-get install %s`.", path, p->program, p->package);
	rc = proc_run(argv, &opts, err);
	if (rc > 0 || ko->len > MODULE_MAX)
		return err_add(err, -EIO, "%s could not unpack the kernel module %s; run `kab lab clean`, "
			       "then `kab lab fetch`.", p->program, path);
	return rc;
}

struct need {
	struct scan *scan;
	bool at_boot;
	struct buf depends;
};

static int load(struct scan *s, const char *name, bool at_boot, struct err *err);

static int need_one(void *ctx, const char *depends, size_t len, struct err *err)
{
	struct need *n = ctx;
	char name[64];
	size_t i;

	if (len >= sizeof(name))
		return err_add(err, -EINVAL, "A kernel module needs another one with a name of %zu bytes; "
			       "the kernel package is damaged.", len);
	for (i = 0; i < len; i++)
		name[i] = depends[i] == '-' ? '_' : depends[i];
	name[len] = '\0';
	buf_printf(&n->depends, "%s ", name);
	return load(n->scan, name, n->at_boot, err);
}

/* Loads one module behind what it needs. The ones for the boot are asked for first. */
static int load(struct scan *s, const char *name, bool at_boot, struct err *err)
{
	struct need need = { s, at_boot, BUF_INIT };
	struct module m = { .at_boot = at_boot };
	uint32_t number;
	bool added;
	int rc;

	if (map_find(&s->builtin, name, strlen(name)) != MAP_NONE)
		return 0;
	map_intern(&s->seen, name, strlen(name), &added);
	if (!added)
		return 0;
	number = map_find(&s->names, name, strlen(name));
	if (number == MAP_NONE)
		return err_add(err, -ENOENT, "The kernel has no module %s, and it is not built in.", name);
	rc = unpack(s->paths.v[number], &m.ko, err);
	if (!rc)
		rc = elf_module_depends(m.ko.data, m.ko.len, name, need_one, &need, err);
	if (rc) {
		buf_release(&m.ko);
		buf_release(&need.depends);
		return rc;
	}
	m.name = mem_strdup(name);
	m.depends = mem_strdup(buf_str(&need.depends));
	buf_release(&need.depends);
	vec_push(&s->out->list, m);
	return 0;
}

int modules_load(const char *dir, struct modules *m, struct err *err)
{
	struct scan s = { .out = m };
	size_t i;
	int rc;

	*m = (struct modules){ 0 };
	if (!dir)
		return 0;
	rc = find_files(&s, dir, err);
	if (!rc)
		rc = read_builtin(&s, dir, err);
	for (i = 0; !rc && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const char *name = wanted[i].name;

		if (wanted[i].at_boot || map_find(&s.names, name, strlen(name)) != MAP_NONE)
			rc = load(&s, name, wanted[i].at_boot, err);
	}
	for (i = 0; i < s.paths.n; i++)
		free(s.paths.v[i]);
	vec_release(&s.paths);
	map_release(&s.names);
	map_release(&s.builtin);
	map_release(&s.seen);
	if (rc)
		modules_release(m);
	return rc;
}

bool module_needs(const struct module *m, const char *name)
{
	const char *p = m->depends;
	size_t n = strlen(name);

	for (; *p; p = strchr(p, ' ') + 1)
		if (!strncmp(p, name, n) && p[n] == ' ')
			return true;
	return false;
}

void modules_release(struct modules *m)
{
	size_t i;

	for (i = 0; i < m->list.n; i++) {
		free(m->list.v[i].name);
		free(m->list.v[i].depends);
		buf_release(&m->list.v[i].ko);
	}
	vec_release(&m->list);
}
