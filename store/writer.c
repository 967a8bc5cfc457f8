// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * writer: which process writes a run, so that a later one can tell that it is
 * gone. A process number alone is used again; with the start time of the
 * process and the id of the boot it names one process for ever. Reads /proc only.
 */
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* At most size - 1 bytes of a small file; 0 or -errno. */
static int slurp(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, out, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n < 0 ? (int)n : 0;
}

/* The state letter and the start time (fields 3 and 22 of proc(5) stat). */
static int process_start(int64_t pid, char *state, uint64_t *start)
{
	char path[64], text[1024], *p;
	unsigned long long ticks;
	int rc;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	rc = slurp(path, text, sizeof(text));
	if (rc)
		return rc;
	p = strrchr(text, ')');		/* the name before it may hold anything */
	if (!p || sscanf(p + 1, " %c%*d%*d%*d%*d%*d%*u%*u%*u%*u%*u%*u%*u%*d%*d%*d%*d%*d%*d%llu", state,
			 &ticks) != 2)
		return -EPROTO;
	*start = ticks;
	return 0;
}

static int boot_id(char *out, size_t size)
{
	int rc = slurp("/proc/sys/kernel/random/boot_id", out, size);

	out[strcspn(out, "\n")] = '\0';
	return rc;
}

int writer_self(struct store_writer *w, struct err *err)
{
	char state;
	int rc;

	w->pid = getpid();
	rc = process_start(w->pid, &state, &w->start);
	if (!rc)
		rc = boot_id(w->boot, sizeof(w->boot));
	if (rc)
		return err_add(err, rc,
			       "The start time of this process cannot be read from /proc (%s); mount /proc.",
			       strerror(-rc));
	return 0;
}

bool writer_alive(const struct store_writer *w)
{
	char boot[sizeof(w->boot)], state;
	uint64_t start;

	if (boot_id(boot, sizeof(boot)) || strcmp(boot, w->boot))
		return false;
	if (w->pid <= 0 || w->pid != (pid_t)w->pid || (kill((pid_t)w->pid, 0) && errno == ESRCH))
		return false;
	if (process_start(w->pid, &state, &start))
		return true;		/* it exists, another user's and hidden from us */
	return start == w->start && state != 'Z' && state != 'X';
}
