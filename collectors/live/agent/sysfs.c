// SPDX-License-Identifier: GPL-2.0-or-later
/* sysfs: see sysfs.h. */
#include "collectors/live/agent/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SYS_PATH 160

bool sys_exists(const char *dir, const char *name, const char *file)
{
	char path[SYS_PATH];

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	return access(path, F_OK) == 0;
}

int sys_write(const char *dir, const char *name, const char *file, const char *text)
{
	char path[SYS_PATH];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

int sys_number(const char *dir, const char *name, const char *file)
{
	char path[SYS_PATH];
	int value = -EINVAL;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, "%d", &value) != 1)
		value = -EINVAL;
	fclose(f);
	return value;
}

void sys_line(const char *dir, const char *name, const char *file, char *line, size_t size)
{
	char path[SYS_PATH];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/%s/%s/%s", dir, name, file);
	f = fopen(path, "re");
	if (!f || !fgets(line, (int)size, f))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
}
