// SPDX-License-Identifier: GPL-2.0-or-later
/* fs: see fs.h. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

static char *xdg(const char *var, const char *below_home, const char *rest)
{
	const char *dir = getenv(var), *home = getenv("HOME");

	if (dir && dir[0] == '/')
		return mem_printf("%s/kab%s%s", dir, rest ? "/" : "", rest ? rest : "");
	return mem_printf("%s/%s/kab%s%s", home && home[0] ? home : "/root", below_home,
			  rest ? "/" : "", rest ? rest : "");
}

int fs_mkdirs(const char *path, struct err *err)
{
	char *copy, *p;
	struct stat st;
	int rc = 0;

	if (!*path)
		return err_add(err, -ENOENT, "A folder without a name cannot be created.");
	copy = mem_strdup(path);
	for (p = copy + 1; !rc; p++) {
		char c = *p;

		if (c != '/' && c)
			continue;
		*p = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST)
			rc = err_sys(err, errno, "Cannot create the folder %s", copy);
		*p = c;
		if (!c)
			break;
	}
	free(copy);
	if (!rc && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		rc = err_sys(err, ENOTDIR, "Cannot create the folder %s", path);
	return rc;
}

char *fs_cache_dir(const char *sub, struct err *err)
{
	char *path = xdg("XDG_CACHE_HOME", ".cache", sub);

	if (fs_mkdirs(path, err) == 0)
		return path;
	free(path);
	return NULL;
}

char *fs_data_file(const char *name, struct err *err)
{
	char *dir = xdg("XDG_DATA_HOME", ".local/share", NULL), *path = NULL;

	if (fs_mkdirs(dir, err) == 0)
		path = mem_printf("%s/%s", dir, name);
	free(dir);
	return path;
}

char *fs_config_file(const char *name)
{
	return xdg("XDG_CONFIG_HOME", ".config", name);
}

/* The folder of the running program, without a slash at its end. */
static void own_dir(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	dir[n > 0 ? n : 0] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
}

/* DIR/FORM/NAME for the first form where that exists, and DIR/FORM/MARK too when there is a mark. */
static char *first_of(const char *dir, const char *const *forms, const char *name, const char *mark)
{
	for (; *forms; forms++) {
		char *path = mem_printf("%s/%s/%s", dir, *forms, name);
		char *beside = mem_printf("%s/%s/%s", dir, *forms, mark ? mark : name);
		bool found = fs_exists(path) && fs_exists(beside);

		free(beside);
		if (found)
			return path;
		free(path);
	}
	return NULL;
}

char *fs_shipped(const char *name, struct err *err)
{
	/* A build folder has folders of the same names, full of objects: HACKING.md marks the source tree. */
	static const char *const installed[] = { "../share/kab", NULL };
	static const char *const tree[] = { ".", "..", "../..", NULL };
	const char *data = getenv("KAB_DATA");
	char dir[PATH_MAX], *path;

	if (data && data[0])
		return mem_printf("%s/%s", data, name);
	own_dir(dir);
	path = first_of(dir, installed, name, NULL);
	if (!path)
		path = first_of(dir, tree, name, "HACKING.md");
	if (!path)
		err_add(err, -ENOENT, "kab's folder \"%s\" is neither at the top of a source tree around "
			"%s nor in ../share/kab; set KAB_DATA to its parent.", name, dir);
	return path;
}

char *fs_program(const char *name, struct err *err)
{
	static const char *const forms[] = { "build", ".", "..", "../libexec/kab", NULL };
	char dir[PATH_MAX], *path;

	own_dir(dir);
	path = first_of(dir, forms, name, NULL);
	if (!path)
		err_add(err, -ENOENT, "The program %s that comes with kab is not beside it in %s; "
			"run make, or make install.", name, dir);
	return path;
}

bool fs_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path) && errno != ENOENT ? errno : 0;
}

int fs_remove(const char *path, struct err *err)
{
	char *bare = mem_strdup(path);
	size_t len = strlen(bare);
	int rc;

	/* "link/" would be followed. */
	while (len > 1 && bare[len - 1] == '/')
		bare[--len] = '\0';
	rc = nftw(bare, remove_one, 32, FTW_DEPTH | FTW_PHYS);
	free(bare);
	if (rc < 0 && errno == ENOENT)
		return 0;
	if (rc)
		return err_sys(err, rc < 0 ? errno : rc, "Cannot remove %s", path);
	return 0;
}

int fs_write(const char *path, const void *data, size_t len, struct err *err)
{
	char *tmp = mem_printf("%s.XXXXXX", path);
	int fd = mkostemp(tmp, O_CLOEXEC), rc = 0;
	const char *p = data;
	mode_t mask = umask(0);

	umask(mask);
	if (fd < 0) {
		rc = err_sys(err, errno, "Cannot create a file beside %s", path);
		goto out;
	}
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = err_sys(err, errno, "Cannot write %s", path);
			break;
		}
		p += n;
		len -= (size_t)n;
	}
	if (!rc && fchmod(fd, 0666 & ~mask))
		rc = err_sys(err, errno, "Cannot write %s", path);
	if (close(fd) && !rc)
		rc = err_sys(err, errno, "Cannot write %s", path);
	if (!rc && rename(tmp, path))
		rc = err_sys(err, errno, "Cannot put %s in place", path);
	if (rc)
		unlink(tmp);
out:
	free(tmp);
	return rc;
}

int fs_copy(const char *from, const char *to, struct err *err)
{
	struct buf data = BUF_INIT;
	struct stat st;
	int rc = buf_read_file(&data, from, (size_t)1 << 30, err);

	if (!rc)
		rc = fs_write(to, data.data, data.len, err);
	if (!rc && !stat(from, &st) && chmod(to, st.st_mode & 07777))
		rc = err_sys(err, errno, "Cannot set the mode of %s", to);
	buf_release(&data);
	return rc;
}

char *fs_tmpdir(const char *what, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *path = mem_printf("%s/kab-%s.XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp", what);

	if (mkdtemp(path))
		return path;
	err_sys(err, errno, "Cannot create a temporary folder %s", path);
	free(path);
	return NULL;
}

int fs_digest(const char *path, size_t limit, uint64_t *digest, struct err *err)
{
	struct buf b = BUF_INIT;
	int rc = buf_read_file(&b, path, limit, err);
	size_t i;

	*digest = 0xcbf29ce484222325;
	for (i = 0; !rc && i < b.len; i++)
		*digest = (*digest ^ (uint8_t)b.data[i]) * 0x100000001b3;
	buf_release(&b);
	return rc;
}
