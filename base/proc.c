// SPDX-License-Identifier: GPL-2.0-or-later
/* proc: see proc.h. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

#define OUT_LIMIT (64U << 20)
#define LOG_LIMIT (64U << 10)

/* Keeps the last LOG_LIMIT bytes. */
static void log_add(struct buf *log, const char *p, size_t n)
{
	buf_add(log, p, n);
	if (log->len > 2 * LOG_LIMIT) {
		memmove(log->data, log->data + log->len - LOG_LIMIT, LOG_LIMIT + 1);
		log->len = LOG_LIMIT;
	}
}

static void child(const char *const *argv, const struct proc_opts *o, int out, int errfd, int status)
{
	int null = open("/dev/null", O_RDWR), e;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(null, 0);
	dup2(out >= 0 ? out : null, 1);
	dup2(errfd >= 0 ? errfd : null, 2);
	if (!o->dir || !chdir(o->dir))
		execvp(argv[0], (char *const *)argv);
	e = errno;
	if (write(status, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

/* Copies one pipe; false at its end. */
static bool copy(int fd, struct buf *out, struct buf *log, bool *full)
{
	char chunk[16384];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	if (out && out->len + (size_t)n > OUT_LIMIT)
		*full = true;
	else if (out)
		buf_add(out, chunk, (size_t)n);
	else if (log)
		log_add(log, chunk, (size_t)n);
	return true;
}

int proc_run(const char *const *argv, const struct proc_opts *opts, struct err *err)
{
	static const struct proc_opts none;
	const struct proc_opts *o = opts ? opts : &none;
	int out[2] = { -1, -1 }, log[2] = { -1, -1 }, start[2], e = 0, status = 0;
	bool stopped = false, full = false, to_log = o->log && !o->out && !o->out_fd;
	struct pollfd fds[2];
	pid_t pid;

	if (pipe2(start, O_CLOEXEC) || pipe2(log, O_CLOEXEC) || (o->out && pipe2(out, O_CLOEXEC)))
		return err_sys(err, errno, "Cannot make a pipe for %s", argv[0]);
	pid = fork();
	if (pid < 0)
		return err_sys(err, errno, "Cannot start %s", argv[0]);
	if (!pid)
		child(argv, o, o->out ? out[1] : to_log ? log[1] : o->out_fd ? o->out_fd : -1, log[1], start[1]);
	setpgid(pid, pid);
	close(start[1]);
	close(log[1]);
	if (o->out)
		close(out[1]);
	if (read(start[0], &e, sizeof(e)) != sizeof(e))
		e = 0;
	close(start[0]);

	fds[0] = (struct pollfd){ .fd = o->out ? out[0] : -1, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = log[0], .events = POLLIN };
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, 100) < 0 && errno != EINTR)
			break;
		if (fds[0].fd >= 0 && fds[0].revents && !copy(fds[0].fd, o->out, NULL, &full))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents && !copy(fds[1].fd, NULL, o->log, &full))
			fds[1].fd = -1;
		if (!stopped && ((o->stop && o->stop(o->ctx)) || full)) {
			kill(-pid, SIGKILL);
			stopped = true;
		}
	}
	/* The pipes may close before the program ends. */
	while (waitpid(pid, &status, o->stop ? WNOHANG : 0) == 0) {
		if (!stopped && o->stop(o->ctx)) {
			kill(-pid, SIGKILL);
			stopped = true;
		}
		usleep(20000);
	}
	kill(-pid, SIGKILL);
	if (o->out)
		close(out[0]);
	close(log[0]);
	if (e)
		return err_sys(err, e, "Cannot run %s", argv[0]);
	if (full)
		return err_add(err, -EFBIG, "%s printed more than 64 MiB.", argv[0]);
	if (stopped)
		return err_add(err, -ECANCELED, "Stopped.");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool proc_have(const char *name)
{
	const char *path = getenv("PATH"), *p, *end;
	char full[4096];

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	for (p = path ? path : "/usr/sbin:/usr/bin:/sbin:/bin"; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (snprintf(full, sizeof(full), "%.*s/%s", (int)(end - p), p, name) < (int)sizeof(full) &&
		    access(full, X_OK) == 0)
			return true;
	}
	return false;
}
