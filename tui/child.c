// SPDX-License-Identifier: GPL-2.0-or-later
/* child: see child.h. */
#include "tui/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "tui/screen.h"

#define LINE_LIMIT (64U << 10)		/* a longer line is thrown away */
#define TEXT_LIMIT (64U << 10)
#define GRACE_MS 5000			/* for a child at our own end */

static void exec_child(const char *const *argv, int out, int log, int status)
{
	int null = open("/dev/null", O_RDONLY), e;

	screen_unblock_signals();
	setpgid(0, 0);
	dup2(null, 0);
	dup2(out, 1);
	dup2(log, 2);
	execvp(argv[0], (char *const *)argv);
	e = errno;
	if (write(status, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

struct child *child_start(const char *const *argv, struct err *err)
{
	int out[2] = { -1, -1 }, log[2] = { -1, -1 }, status[2] = { -1, -1 }, why = 0;
	struct child *c;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(log, O_CLOEXEC) || pipe2(status, O_CLOEXEC)) {
		err_sys(err, errno, "Cannot make a pipe for %s", argv[0]);
		pid = -1;
	} else {
		pid = fork();
		if (pid < 0)
			err_sys(err, errno, "Cannot start %s", argv[0]);
	}
	if (!pid)
		exec_child(argv, out[1], log[1], status[1]);
	close(out[1]);
	close(log[1]);
	close(status[1]);
	if (pid > 0 && read(status[0], &why, sizeof(why)) == sizeof(why)) {
		waitpid(pid, NULL, 0);
		err_sys(err, why, "Cannot run %s", argv[0]);
		pid = -1;
	}
	close(status[0]);
	if (pid < 0) {
		close(out[0]);
		close(log[0]);
		return NULL;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(log[0], F_SETFL, O_NONBLOCK);
	c = mem_alloc(sizeof(*c));
	*c = (struct child){ .pid = pid, .out = out[0], .log = log[0] };
	clock_gettime(CLOCK_MONOTONIC, &c->started);
	return c;
}

/* Appends what can be read; closes the descriptor at its end. */
static void drain(int *fd, struct buf *to, size_t limit)
{
	char chunk[8192];
	ssize_t n = 1;

	while (*fd >= 0 && n > 0 && to->len <= 2 * limit) {
		n = read(*fd, chunk, sizeof(chunk));
		if (n > 0)
			buf_add(to, chunk, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(*fd);
			*fd = -1;
		}
	}
}

static void keep_tail(struct buf *b, size_t limit)
{
	if (b->len <= limit)
		return;
	memmove(b->data, b->data + b->len - limit, limit + 1);
	b->len = limit;
}

static void lines(struct child *c, void (*line)(void *ctx, const char *line, size_t len), void *ctx)
{
	size_t start = 0;
	char *nl;

	while (start < c->line.len && (nl = memchr(c->line.data + start, '\n', c->line.len - start))) {
		*nl = '\0';
		line(ctx, c->line.data + start, (size_t)(nl - c->line.data) - start);
		start = (size_t)(nl - c->line.data) + 1;
	}
	if (start == c->line.len || c->line.len - start > LINE_LIMIT)
		buf_clear(&c->line);
	else if (start)
		keep_tail(&c->line, c->line.len - start);
}

void child_read(struct child *c, void (*line)(void *ctx, const char *line, size_t len), void *ctx)
{
	int status;

	if (c->ended)
		return;
	drain(&c->out, &c->line, LINE_LIMIT);
	lines(c, line, ctx);
	drain(&c->log, &c->text, TEXT_LIMIT);
	keep_tail(&c->text, TEXT_LIMIT);
	if (c->pid > 0 && waitpid(c->pid, &status, WNOHANG) == c->pid) {
		c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		c->seconds = child_seconds(c);
		c->pid = 0;
		/* A grandchild may hold the pipes open; what is in them now is all we wait for. */
		drain(&c->out, &c->line, LINE_LIMIT);
		lines(c, line, ctx);
		drain(&c->log, &c->text, TEXT_LIMIT);
		keep_tail(&c->text, TEXT_LIMIT);
		if (c->out >= 0)
			close(c->out);
		if (c->log >= 0)
			close(c->log);
		c->out = c->log = -1;
		c->ended = true;
	}
}

void child_stop(struct child *c)
{
	if (c->pid > 0)
		kill(c->pid, c->asked++ ? SIGTERM : SIGINT);
}

double child_seconds(const struct child *c)
{
	struct timespec now;

	if (c->ended)
		return c->seconds;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - c->started.tv_sec) + (double)(now.tv_nsec - c->started.tv_nsec) / 1e9;
}

void child_free(struct child *c)
{
	int waited = 0;

	if (!c)
		return;
	if (c->pid > 0 && !c->asked)
		child_stop(c);
	while (c->pid > 0 && waitpid(c->pid, NULL, WNOHANG) == 0 && waited < GRACE_MS) {
		struct timespec pause = { 0, 20 * 1000000 };

		/* A full pipe would keep it from ending. */
		drain(&c->out, &c->line, LINE_LIMIT);
		drain(&c->log, &c->text, TEXT_LIMIT);
		buf_clear(&c->line);
		buf_clear(&c->text);
		nanosleep(&pause, NULL);
		waited += 20;
	}
	if (c->out >= 0)
		close(c->out);
	if (c->log >= 0)
		close(c->log);
	if (c->free_state)
		c->free_state(c->state);
	buf_release(&c->line);
	buf_release(&c->text);
	free(c);
}
