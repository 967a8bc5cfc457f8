// SPDX-License-Identifier: GPL-2.0-or-later
/* busybox: see busybox.h. */
#include "lab/busybox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "lab/apt.h"
#include "lab/elf.h"

/* The one in the cache; the caller frees. */
static char *cached(struct err *err)
{
	char *dir = fs_cache_dir("lab", err), *path = dir ? mem_printf("%s/busybox", dir) : NULL;

	free(dir);
	return path;
}

static bool usable(const char *path)
{
	bool is_static;

	return !elf_is_static(path, &is_static, NULL) && is_static;
}

char *busybox_find(struct err *err)
{
	static const char *const places[] = { "/bin/busybox", "/usr/bin/busybox", "/usr/local/bin/busybox" };
	char *path;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (usable(places[i]))
			return mem_strdup(places[i]);
	path = cached(err);
	if (path && usable(path))
		return path;
	if (path)
		err_add(err, -ENOENT, "The lab's guest needs a static busybox; run `apt-get install "
			"busybox-static`, or `kab lab fetch`, which takes a copy of it.");
	free(path);
	return NULL;
}

int busybox_fetch(const struct lab_opts *o, struct err *err)
{
	char *found = busybox_find(NULL), *path, *dir;
	int rc;

	if (found) {
		free(found);
		return 0;
	}
	path = cached(err);
	dir = path ? mem_printf("%s.new", path) : NULL;
	rc = path ? fs_mkdirs(dir, err) : -EIO;
	if (!rc)
		rc = apt_download(o, "busybox-static", dir, err);
	if (!rc)
		rc = apt_unpack(o, dir, dir, (const char *const[]){ "*bin/busybox", NULL }, err);
	if (!rc) {
		char *file = mem_printf("%s/bin/busybox", dir);

		if (rename(file, path))
			rc = err_sys(err, errno, "Cannot put busybox in place as %s", path);
		free(file);
	}
	if (dir)
		fs_remove(dir, NULL);
	free(dir);
	free(path);
	return rc;
}
