// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * headers: brings a kernel's headers into the cache. See headers.h.
 *
 * They are never installed, for which there are three reasons: Debian 12's
 * linux-headers-6.12-amd64 depends on the kernel itself, whose installation writes
 * /boot and the initramfs; unpacking needs no root; and it takes seconds.
 *
 * Debian has them in three packages, which lie in the cache as they would in /usr:
 *
 *	src/linux-headers-RELEASE/	configuration, symbol versions
 *	src/linux-headers-...-common/	headers, makefiles
 *	lib/linux-kbuild-.../		programs of the build: modpost, objtool
 *
 * They refer to one another by relative links, but for the include line of the
 * first one's Makefile. The build uses the compiler named there, which is Debian's gcc.
 */
#include "lab/headers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "lab/apt.h"
#include "lab/cache.h"

#define MAKEFILE_MAX 65536

char *headers_makefile(const char *text)
{
	static const char absolute[] = "/usr/src/";
	struct buf out = BUF_INIT;
	const char *p;

	for (; (p = strstr(text, absolute)); text = p + strlen(absolute)) {
		buf_add(&out, text, (size_t)(p - text));
		buf_puts(&out, "../");
	}
	buf_puts(&out, text);
	return buf_detach(&out);
}

static int fix_makefile(const char *usr, const char *release, struct err *err)
{
	char *path = mem_printf("%s/src/linux-headers-%s/Makefile", usr, release), *text;
	struct buf old = BUF_INIT;
	int rc = buf_read_file(&old, path, MAKEFILE_MAX, err);

	if (!rc) {
		text = headers_makefile(buf_str(&old));
		rc = fs_write(path, text, strlen(text), err);
		free(text);
	}
	buf_release(&old);
	free(path);
	return rc;
}

struct part {
	char *package;
	const char *members;	/* what of it is wanted, a pattern for tar */
};
#define PARTS 3

/* Downloads into a folder of its own below `new`, unpacks into `usr`. */
static int fetch_part(const struct lab_opts *o, const struct part *part, const char *new, const char *usr,
		      struct err *err)
{
	const char *const members[] = { part->members, NULL };
	char *dir = mem_printf("%s/%s", new, part->package);
	int rc = mkdir(dir, 0755) ? err_sys(err, errno, "Cannot create the folder %s", dir) : 0;

	if (!rc)
		rc = apt_download(o, part->package, dir, err);
	if (!rc && o->progress)
		o->progress(o->ctx, "Unpacking the kernel's headers", 0, 0);
	if (!rc)
		rc = apt_unpack(o, dir, usr, members, err);
	free(dir);
	return rc;
}

/* All parts, unpacked below `new` and put in place together. */
static int fetch_parts(const struct lab_opts *o, const struct part parts[PARTS], const char *new,
		       const char *release, const char *final, struct err *err)
{
	char *usr = mem_printf("%s/usr", new);
	int rc = mkdir(usr, 0755) ? err_sys(err, errno, "Cannot create the folder %s", usr) : 0;
	size_t i;

	for (i = 0; !rc && i < PARTS; i++)
		rc = fetch_part(o, &parts[i], new, usr, err);
	if (!rc)
		rc = fix_makefile(usr, release, err);
	/* What lies there is not complete, or it would have been found. */
	if (!rc)
		rc = fs_remove(final, err);
	if (!rc && rename(usr, final))
		rc = err_sys(err, errno, "Cannot put the headers in place as %s", final);
	free(usr);
	return rc;
}

int headers_fetch(const struct lab_opts *o, const char *dir, const char *release, struct err *err)
{
	char *own = mem_printf("linux-headers-%s", release), *final = mem_printf("%s/%s/usr", dir, release);
	char *common = apt_depends(own, "linux-headers-"), *kbuild = apt_depends(own, "linux-kbuild-");
	struct part parts[PARTS] = {
		{ own, "./usr/src/linux-headers-*" },
		{ common ? mem_printf("linux-headers-%s", common) : NULL, "./usr/src/linux-headers-*" },
		{ kbuild ? mem_printf("linux-kbuild-%s", kbuild) : NULL, "./usr/lib/linux-kbuild-*" },
	};
	char *new = NULL;
	int rc = -EIO;

	if (!common || !kbuild)
		rc = err_add(err, -ENOENT, "The package sources of this machine have no %s, which modules "
			     "for the lab's kernel are built against; run `apt-get update` as root, then "
			     "`kab lab fetch`.", own);
	else if ((new = cache_new(dir, err)))
		rc = fetch_parts(o, parts, new, release, final, err);
	if (new)
		fs_remove(new, NULL);
	free(new);
	for (size_t i = 0; i < PARTS; i++)
		free(parts[i].package);
	free(kbuild);
	free(common);
	free(final);
	return rc;
}
