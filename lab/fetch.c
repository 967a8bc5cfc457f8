// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fetch: brings a distribution kernel into the cache.
 *
 * The image package is downloaded and unpacked, never installed: that would
 * rebuild the machine's initramfs and boot loader. Only the parts a guest needs
 * are unpacked, into a folder that gets its name when it is complete, so that an
 * interrupted fetch leaves nothing that could be taken for a kernel. The headers
 * follow (headers.c).
 */
#include "lab/lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "lab/apt.h"
#include "lab/busybox.h"
#include "lab/cache.h"
#include "lab/headers.h"
#include "lab/payload.h"
#include "lab/release.h"

/*
 * What is wanted below lib/modules/RELEASE, as patterns for tar. Each must match something, or tar
 * fails: these are in every kernel package of Debian.
 */
static const char *const module_parts[] = {
	"modules.builtin",
	"kernel/drivers/virtio",
	"kernel/drivers/char",		/* virtio_console, where it is not built in */
	"kernel/drivers/net/dummy.ko*",
	"kernel/drivers/net/veth.ko*",
	"kernel/drivers/net/virtio_net.ko*",	/* with the two failovers: a guest that is reached by network */
	"kernel/drivers/net/net_failover.ko*",
	"kernel/net/core/failover.ko*",
	"kernel/net/802",		/* what bridge needs */
	"kernel/net/llc",
	"kernel/net/bridge/bridge.ko*",
};
#define PARTS (sizeof(module_parts) / sizeof(module_parts[0]))

static void say(const struct lab_opts *o, const char *what)
{
	if (o->progress)
		o->progress(o->ctx, what, 0, 0);
}

/* --- which release --- */

/* Debian 12 names its newer line in the package, Debian 13 has it as the plain one. */
static char *ask_release(const char *line)
{
	char *meta = line ? mem_printf("linux-image-%s-amd64", line) : NULL, *release = NULL;

	if (meta)
		release = apt_depends(meta, "linux-image-");
	if (!release)
		release = apt_depends("linux-image-amd64", "linux-image-");
	if (release && line && !release_on_line(release, line)) {
		free(release);
		release = NULL;
	}
	free(meta);
	return release;
}

static int resolve(const struct lab_opts *o, char **release, struct err *err)
{
	struct err why = ERR_INIT;
	char *current;
	int rc;

	*release = ask_release(o->line);
	if (*release)
		return 0;
	rc = apt_update(o, &why);
	if (rc)
		return err_add(err, rc, "The package lists on this machine name no %s%skernel. %s",
			       o->line ? o->line : "", o->line ? " " : "", why.text);
	*release = ask_release(o->line);
	if (*release)
		return 0;
	current = apt_depends("linux-image-amd64", "linux-image-");
	if (current)
		rc = err_add(err, -ENOENT, "This Debian has no package linux-image-%s-amd64; its current "
			     "kernel is %s, which `kab lab fetch` without --kernel takes.", o->line, current);
	else
		rc = err_add(err, -ENOENT, "The package sources of this machine have no linux-image-amd64. "
			     "On another distribution give a kernel of your own: --kernel-image "
			     "/boot/vmlinuz-RELEASE --kernel-build /lib/modules/RELEASE/build.");
	free(current);
	return rc;
}

/* --- unpacking --- */

static int unpack(const struct lab_opts *o, const char *from, const char *release, const char *to,
		  struct err *err)
{
	const char *patterns[PARTS + 2] = { NULL };
	size_t i;
	int rc;

	say(o, "Unpacking the kernel");
	patterns[PARTS] = mem_printf("./boot/vmlinuz-%s", release);
	/* Newer packages have their modules in ./usr/lib. */
	for (i = 0; i < PARTS; i++)
		patterns[i] = mem_printf("*/lib/modules/%s/%s", release, module_parts[i]);
	rc = apt_unpack(o, from, to, patterns, err);
	for (i = 0; i <= PARTS; i++)
		free((char *)patterns[i]);
	return rc;
}

static int unpack_elf(const struct lab_opts *o, const char *dir, const char *release, struct err *err)
{
	char *image = mem_printf("%s/boot/vmlinuz-%s", dir, release), *elf = mem_printf("%s/vmlinux", dir);
	char *work = mem_printf("%s/vmlinux.packed", dir);
	int rc = payload_unpack(o, image, elf, work, err);

	free(work);
	free(elf);
	free(image);
	return rc;
}

static int fetch_image(const struct lab_opts *o, const char *dir, const char *release, struct err *err)
{
	char *package = mem_printf("linux-image-%s", release), *final = mem_printf("%s/%s", dir, release);
	char *new = cache_new(dir, err), *root = new ? mem_printf("%s/root", new) : NULL;
	int rc = -EIO;

	if (!new)
		goto out;
	rc = mkdir(root, 0755) ? err_sys(err, errno, "Cannot create the folder %s", root) : 0;
	if (!rc)
		rc = apt_download(o, package, new, err);
	if (!rc)
		rc = unpack(o, new, release, root, err);
	if (!rc)
		rc = unpack_elf(o, root, release, err);
	/* One without its image, which is no kernel, may be in the way. */
	if (!rc)
		rc = fs_remove(final, err);
	if (!rc && rename(root, final))
		rc = err_sys(err, errno, "Cannot put the kernel in place as %s", final);
	fs_remove(new, NULL);
out:
	free(root);
	free(new);
	free(final);
	free(package);
	return rc;
}

/* Remembers the release as its line's, and as the current one when no line was asked for. */
static int write_notes(const struct lab_opts *o, const char *dir, const char *release, struct err *err)
{
	char *line = release_line(release), *own = cache_note(dir, line), *plain = cache_note(dir, NULL);
	int rc = fs_write(own, release, strlen(release), err);

	if (!rc && !o->line)
		rc = fs_write(plain, release, strlen(release), err);
	free(own);
	free(plain);
	free(line);
	return rc;
}

/* Kernel and headers of one release, what of the two is not there yet. */
static int bring(const struct lab_opts *o, const char *dir, const char *release, struct err *err)
{
	char *headers = cache_headers(dir, release);
	int rc = cache_has(dir, release) ? 0 : fetch_image(o, dir, release, err);

	if (!rc && !headers)
		rc = headers_fetch(o, dir, release, err);
	free(headers);
	return rc;
}

/* What apt does not find, or no longer finds on its servers, may be there after an update of its lists. */
static int fetch_current(const struct lab_opts *o, const char *dir, char **release, struct err *err)
{
	struct err first = ERR_INIT;
	int rc = resolve(o, release, err);

	if (rc)
		return rc;
	rc = bring(o, dir, *release, &first);
	if (rc && rc != -ECANCELED && apt_root() && !apt_update(o, NULL)) {
		free(*release);
		rc = resolve(o, release, err);
		return rc ? rc : bring(o, dir, *release, err);
	}
	if (rc)
		err_add(err, rc, "%s", first.text);
	return rc;
}

int lab_fetch(const struct lab_opts *o, struct lab_kernel *k, struct err *err)
{
	char *dir = NULL, *release = NULL;
	int lock = -1, rc;

	*k = (struct lab_kernel){ 0 };
	if (o->image)
		return lab_kernel_find(o, k, err);
	if (o->line && !release_line_valid(o->line))
		return err_add(err, -EINVAL, "\"%s\" is no kernel line; give --kernel two numbers, as in 6.1 "
			       "or 6.12.", o->line);
	rc = apt_present(err);
	if (rc)
		return rc;
	dir = cache_dir(err);
	if (!dir)
		return -EIO;
	lock = cache_lock(dir, o, err);
	rc = lock < 0 ? lock : 0;
	if (!rc) {
		cache_sweep(dir);
		rc = fetch_current(o, dir, &release, err);
	}
	if (!rc)
		rc = cache_kernel(dir, release, k, err);
	if (!rc)
		rc = write_notes(o, dir, release, err);
	if (!rc)
		rc = busybox_fetch(o, err);
	if (rc)
		lab_kernel_release(k);
	if (lock >= 0)
		close(lock);
	free(release);
	free(dir);
	return rc;
}
