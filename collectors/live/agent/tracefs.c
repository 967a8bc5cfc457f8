// SPDX-License-Identifier: GPL-2.0-or-later
/* tracefs: see tracefs.h. */
#include "collectors/live/agent/tracefs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

#define FORMAT_LIMIT (256U << 10)	/* the longest in the kernel are some 10 KiB */

/* A tracefs that is mounted nowhere in the tree of files; -1 without the right to, or without tracefs. */
static int detached(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return fd;
}

static int open_root(void)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		int fd = open(roots[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && !faccessat(fd, "events", F_OK, 0))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return detached();
}

/* They become a path. */
static bool name_ok(const char *s)
{
	if (!*s || strlen(s) > 120)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && *s != '-')
			return false;
	return true;
}

static int read_at(int root, const char *system, const char *name, const char *file, struct buf *out)
{
	char path[300];
	int fd, rc;

	snprintf(path, sizeof(path), "events/%s/%s/%s", system, name, file);
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = buf_read_fd(out, fd, FORMAT_LIMIT, NULL);
	close(fd);
	return rc;
}

static int id_of(const char *text, uint32_t *id)
{
	char digits[16];
	uint64_t v;

	snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(text, "\n"), text);
	if (!text_to_u64(digits, 1, UINT32_MAX, &v))
		return -EPROTO;
	*id = (uint32_t)v;
	return 0;
}

int tracefs_event(const char *system, const char *name, uint32_t *id, struct buf *format, struct err *err)
{
	struct buf number = BUF_INIT;
	int root, rc;

	if (!name_ok(system) || !name_ok(name))
		return err_add(err, -EINVAL, "\"%.60s:%.60s\" cannot be the name of a tracepoint.",
			       system, name);
	root = open_root();
	if (root < 0)
		return err_add(err, -ENOENT, "Tracepoints take tracefs, which is not mounted here and cannot "
			       "be opened by this user; run kab as root.");
	rc = read_at(root, system, name, "id", &number);
	if (!rc)
		rc = id_of(buf_str(&number), id);
	if (!rc)
		rc = read_at(root, system, name, "format", format);
	close(root);
	buf_release(&number);
	if (rc == -ENOENT)
		return err_add(err, rc, "The kernel has no tracepoint %s:%s; "
			       "/sys/kernel/tracing/available_events lists those there are.", system, name);
	if (rc == -EACCES || rc == -EPERM)
		return err_add(err, rc, "An ordinary user may not read the tracepoints; run kab as root.");
	return rc ? err_sys(err, -rc, "Cannot read the format of the tracepoint %s:%s", system, name) : 0;
}
