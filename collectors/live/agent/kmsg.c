// SPDX-License-Identifier: GPL-2.0-or-later
/* kmsg: see kmsg.h. */
#include "collectors/live/agent/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX 8192		/* the kernel's own limit of one record with its keys */

void kmsg_open(struct kmsg *k)
{
	k->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (k->fd >= 0)
		lseek(k->fd, 0, SEEK_END);
}

void kmsg_close(struct kmsg *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

void kmsg_read(struct kmsg *k, void (*line)(void *ctx, int level, const char *text), void *ctx)
{
	char record[RECORD_MAX + 1], *text;
	unsigned long priority;
	ssize_t n;

	if (k->fd < 0)
		return;
	/* EPIPE: the log turned over before we came; the next read goes on at its oldest record. */
	while ((n = read(k->fd, record, RECORD_MAX)) > 0 || (n < 0 && (errno == EPIPE || errno == EINTR))) {
		if (n < 0)
			continue;
		record[n] = '\0';
		priority = strtoul(record, NULL, 10);
		text = strchr(record, ';');
		if (!text || priority >> 3)	/* not the kernel's: a program wrote it */
			continue;
		text++;
		text[strcspn(text, "\n")] = '\0';
		line(ctx, (int)(priority & 7), text);
	}
}
