// SPDX-License-Identifier: GPL-2.0-or-later
/* cache: see cache.h. Finding a kernel needs neither network nor packages. */
#include "lab/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "lab/bzimage.h"
#include "lab/release.h"

#define NEW_PREFIX "new."

char *cache_dir(struct err *err)
{
	return fs_cache_dir("kernels", err);
}

int cache_lock(const char *dir, const struct lab_opts *o, struct err *err)
{
	char *path = mem_printf("%s/lock", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), rc = fd;

	if (fd < 0)
		rc = err_sys(err, errno, "Cannot open %s", path);
	while (rc >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			rc = err_sys(err, errno, "Cannot lock %s", path);
		} else if (o && o->stop && o->stop(o->ctx)) {
			rc = err_add(err, -ECANCELED, "Stopped.");
		} else {
			if (o && o->progress)
				o->progress(o->ctx, "Waiting for another kab that fetches a kernel", 0, 0);
			usleep(100000);
		}
	}
	if (rc < 0 && fd >= 0)
		close(fd);
	free(path);
	return rc;
}

char *cache_note(const char *dir, const char *line)
{
	return mem_printf("%s/line-%s", dir, line ? line : "default");
}

static char *image_path(const char *dir, const char *release)
{
	return mem_printf("%s/%s/boot/vmlinuz-%s", dir, release, release);
}

bool cache_has(const char *dir, const char *release)
{
	char *image = image_path(dir, release);
	bool has = fs_exists(image);

	free(image);
	return has;
}

/* `path` when there is such a file, NULL (and freed) otherwise. */
static char *if_exists(char *path)
{
	if (fs_exists(path))
		return path;
	free(path);
	return NULL;
}

/* What modules are built against has been configured; a folder without that is of no use. */
static bool is_build_dir(const char *dir)
{
	char *config = mem_printf("%s/include/config/auto.conf", dir);
	bool has = fs_exists(config);

	free(config);
	return has;
}

char *cache_headers(const char *dir, const char *release)
{
	char *places[] = {
		mem_printf("/usr/src/linux-headers-%s", release),
		mem_printf("/lib/modules/%s/build", release),
		mem_printf("%s/%s/usr/src/linux-headers-%s", dir, release, release),
	}, *found = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!found && is_build_dir(places[i]))
			found = places[i];
		else
			free(places[i]);
	}
	return found;
}

char *cache_new(const char *dir, struct err *err)
{
	char *new = mem_printf("%s/" NEW_PREFIX "XXXXXX", dir);

	if (mkdtemp(new))
		return new;
	err_sys(err, errno, "Cannot create a folder in %s", dir);
	free(new);
	return NULL;
}

void cache_sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, NEW_PREFIX, strlen(NEW_PREFIX))) {
			char *path = mem_printf("%s/%s", dir, e->d_name);

			fs_remove(path, NULL);
			free(path);
		}
	if (d)
		closedir(d);
}

char *cache_image_release(const char *path, struct err *err)
{
	struct buf head = BUF_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	char *release = NULL;

	if (fd < 0) {
		err_sys(err, errno, "Cannot open the kernel image %s", path);
		return NULL;
	}
	rc = buf_read_fd(&head, fd, BZIMAGE_HEAD, NULL);
	close(fd);
	if (rc && rc != -EFBIG)
		err_sys(err, -rc, "Cannot read the kernel image %s", path);
	else
		release = bzimage_release(buf_str(&head), head.len, path, err);
	buf_release(&head);
	return release;
}

int cache_kernel(const char *dir, const char *release, struct lab_kernel *k, struct err *err)
{
	char *image = image_path(dir, release), *found = cache_image_release(image, err);
	bool same = found && !strcmp(found, release);

	free(found);
	if (!same) {
		free(image);
		return err_add(err, -EINVAL, "The lab's kernel %s is damaged; run `kab lab clean`, then "
			       "`kab lab fetch`.", release);
	}
	*k = (struct lab_kernel){
		.line = release_line(release),
		.release = mem_strdup(release),
		.image = image,
		.elf = if_exists(mem_printf("%s/%s/vmlinux", dir, release)),
		.modules = if_exists(mem_printf("%s/%s/lib/modules/%s", dir, release, release)),
		.build = cache_headers(dir, release),
	};
	return 0;
}

/* A kernel of the user's; its modules are where `make modules_install` puts them. */
static int find_image(const struct lab_opts *o, const char *dir, struct lab_kernel *k, struct err *err)
{
	char *release = cache_image_release(o->image, err);

	if (!release)
		return -EINVAL;
	*k = (struct lab_kernel){
		.line = release_line(release),
		.release = release,
		.image = mem_strdup(o->image),
		.modules = if_exists(mem_printf("/lib/modules/%s", release)),
		.build = o->build ? mem_strdup(o->build) : cache_headers(dir, release),
	};
	if (!o->build || is_build_dir(o->build))
		return 0;
	err_add(err, -ENOENT, "%s is not a folder that modules can be built in (it has no "
		"include/config/auto.conf); give --kernel-build the headers of %s, or its build folder after "
		"`make modules_prepare`.", o->build, release);
	lab_kernel_release(k);
	return -ENOENT;
}

/* The release a note names; the caller frees. NULL when there is none that is usable. */
static char *read_note(const char *dir, const char *line)
{
	char *path = cache_note(dir, line), *release = NULL;
	struct buf text = BUF_INIT;

	if (!buf_read_file(&text, path, RELEASE_MAX, NULL) && release_valid(buf_str(&text), text.len) &&
	    cache_has(dir, text.data))
		release = mem_strdup(text.data);
	buf_release(&text);
	free(path);
	return release;
}

int lab_kernel_find(const struct lab_opts *o, struct lab_kernel *k, struct err *err)
{
	char *dir, *release;
	int rc;

	*k = (struct lab_kernel){ 0 };
	if (!o->image && o->line && !release_line_valid(o->line))
		return err_add(err, -EINVAL, "\"%s\" is no kernel line; give --kernel two numbers, as in 6.1 "
			       "or 6.12.", o->line);
	dir = cache_dir(err);
	if (!dir)
		return -EIO;
	release = o->image ? NULL : read_note(dir, o->line);
	if (o->image)
		rc = find_image(o, dir, k, err);
	else if (release)
		rc = cache_kernel(dir, release, k, err);
	else
		rc = err_add(err, -ENOENT, "The lab has no %s%skernel yet; run `kab lab fetch%s%s`.",
			     o->line ? o->line : "", o->line ? " " : "", o->line ? " --kernel " : "",
			     o->line ? o->line : "");
	free(release);
	free(dir);
	return rc;
}

void lab_kernel_release(struct lab_kernel *k)
{
	free(k->line);
	free(k->release);
	free(k->image);
	free(k->elf);
	free(k->modules);
	free(k->build);
	*k = (struct lab_kernel){ 0 };
}

int lab_need_build(const struct lab_kernel *k, struct err *err)
{
	if (k->build)
		return 0;
	return err_add(err, -ENOENT, "A module for the kernel %s needs the headers of exactly this release; "
		       "run `kab lab fetch --kernel %s`, or give a kernel of your own its build folder with "
		       "--kernel-build DIR.", k->release, k->line ? k->line : "LINE");
}
