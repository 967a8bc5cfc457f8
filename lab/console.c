// SPDX-License-Identifier: GPL-2.0-or-later
/* console: see console.h. */
#include "lab/console.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

/* Bytes: the whole log of a kernel that boots, and more than 200 lines of anything. */
#define KEPT (64U << 10)
#define LINE_SHOWN 200	/* bytes of one line that are shown */

struct console {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;	/* guards what follows */
	struct buf text;	/* the last KEPT bytes at least */
	uint64_t bytes;
	bool ended;
};

static void *drain(void *arg)
{
	struct console *c = arg;
	char chunk[4096];
	ssize_t n;

	do {
		n = read(c->fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		pthread_mutex_lock(&c->lock);
		if (n > 0) {
			buf_add(&c->text, chunk, (size_t)n);
			c->bytes += (uint64_t)n;
			if (c->text.len > 2 * KEPT) {
				memmove(c->text.data, c->text.data + c->text.len - KEPT, KEPT + 1);
				c->text.len = KEPT;
			}
		}
		c->ended = n <= 0;
		pthread_mutex_unlock(&c->lock);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return NULL;
}

struct console *console_new(int fd, struct err *err)
{
	struct console *c = mem_alloc(sizeof(*c));
	sigset_t all, old;
	int rc;

	c->fd = fd;
	pthread_mutex_init(&c->lock, NULL);
	/* Signals are for the threads that know what to do with them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&c->thread, NULL, drain, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rc)
		return c;
	err_sys(err, rc, "Cannot start the thread that reads the guest's console");
	pthread_mutex_destroy(&c->lock);
	close(fd);
	free(c);
	return NULL;
}

void console_free(struct console *c)
{
	if (!c)
		return;
	pthread_join(c->thread, NULL);
	pthread_mutex_destroy(&c->lock);
	close(c->fd);
	buf_release(&c->text);
	free(c);
}

uint64_t console_bytes(struct console *c)
{
	uint64_t n;

	pthread_mutex_lock(&c->lock);
	n = c->bytes;
	pthread_mutex_unlock(&c->lock);
	return n;
}

bool console_ended(struct console *c)
{
	bool ended;

	pthread_mutex_lock(&c->lock);
	ended = c->ended;
	pthread_mutex_unlock(&c->lock);
	return ended;
}

bool console_has(struct console *c, const char *text)
{
	bool has;

	pthread_mutex_lock(&c->lock);
	has = c->text.len && memmem(c->text.data, c->text.len, text, strlen(text));
	pthread_mutex_unlock(&c->lock);
	return has;
}

void console_lines(struct buf *out, const char *text, size_t len, size_t lines)
{
	const char *end = text + len, *start = end;

	if (!lines)
		return;
	/* A last line without its newline counts as one. */
	if (len && end[-1] == '\n')
		start--;
	while (start > text && (start[-1] != '\n' || --lines))
		start--;
	while (start < end) {
		const char *nl = memchr(start, '\n', (size_t)(end - start)), *stop = nl ? nl : end;
		size_t n = (size_t)(stop - start);

		while (n && start[n - 1] == '\r')
			n--;
		text_escape(out, start, n < LINE_SHOWN ? n : LINE_SHOWN, false);
		buf_putc(out, '\n');
		start = nl ? nl + 1 : end;
	}
}

void console_tail(struct console *c, struct buf *out, size_t lines)
{
	pthread_mutex_lock(&c->lock);
	if (c->text.len)
		console_lines(out, c->text.data, c->text.len, lines);
	pthread_mutex_unlock(&c->lock);
}
