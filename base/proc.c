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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

#define OUT_LIMIT (64U << 20)
#define LOG_LIMIT (64U << 10)
#define CHUNK 16384U
#define PIPE_LIMIT (1U << 20)	/* the most that two pipes hold, unless root has raised theirs */

/* Keeps the last LOG_LIMIT bytes and the NUL behind them. */
static void log_trim(struct buf *log)
{
	memmove(log->data, log->data + log->len - LOG_LIMIT, LOG_LIMIT + 1);
	log->len = LOG_LIMIT;
}

static void log_add(struct buf *log, const char *p, size_t n)
{
	buf_add(log, p, n);
	if (log->len > 2 * LOG_LIMIT)
		log_trim(log);
}

/* Why a program did not start, sent by the child before it ends. */
struct failure {
	int num;
	bool dir;		/* could not enter the folder, else: could not run the program */
};

static void child(const char *const *argv, const struct proc_opts *o, int out, int errfd, int status)
{
	/* What kab ignores or blocks for itself its children must not inherit: exec keeps both. */
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGWINCH };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct failure f = { 0 };
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dup2(o->in_fd ? o->in_fd : null, 0);
	dup2(out >= 0 ? out : null, 1);
	dup2(errfd, 2);
	f.dir = o->dir && chdir(o->dir);
	if (!f.dir)
		execvp(argv[0], (char *const *)argv);
	f.num = errno;
	if (write(status, &f, sizeof(f)) < 0)
		_exit(126);
	_exit(127);
}

/* Copies what one pipe holds; false at its end. */
static bool copy(int fd, struct buf *out, struct buf *log, bool *full)
{
	char chunk[CHUNK];
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

/* Whether the program has ended; it stays a zombie, so that its group's number is not given away. */
static bool ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

static void close_pair(int fds[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

/*
 * Copies the program's output until it has ended, its group has been killed and
 * what was left in the pipes is read. A descendant in a group of its own may hold
 * a pipe open, and fill it, for ever: the end of the program counts, not theirs.
 */
static void follow(pid_t pid, int out, int log, const struct proc_opts *o, bool *stopped, bool *full)
{
	struct pollfd fds[2] = { { .fd = out, .events = POLLIN }, { .fd = log, .events = POLLIN } };
	unsigned rest = PIPE_LIMIT / CHUNK;
	bool done = false;

	while (rest) {
		int ready = poll(fds, 2, done ? 0 : fds[0].fd < 0 && fds[1].fd < 0 ? 10 : 100);

		if (ready > 0 && fds[0].revents && !copy(out, o->out, NULL, full))
			fds[0].fd = -1;
		if (ready > 0 && fds[1].revents && !copy(log, NULL, o->log, full))
			fds[1].fd = -1;
		if (done && (ready == 0 || (ready < 0 && errno != EINTR)))
			return;
		rest -= done;
		if (!done && ended(pid))
			done = true;
		else if (!done && !*stopped && ((o->stop && o->stop(o->ctx)) || *full))
			*stopped = true;
		if (done || *stopped)
			kill(-pid, SIGKILL);
	}
}

int proc_run(const char *const *argv, const struct proc_opts *opts, struct err *err)
{
	static const struct proc_opts none;
	const struct proc_opts *o = opts ? opts : &none;
	int out[2] = { -1, -1 }, log[2] = { -1, -1 }, start[2] = { -1, -1 }, status = 0, to, rc;
	bool stopped = false, full = false;
	struct failure f = { 0 };
	pid_t pid = -1;

	if (pipe2(start, O_CLOEXEC) || pipe2(log, O_CLOEXEC) || (o->out && pipe2(out, O_CLOEXEC)) ||
	    (pid = fork()) < 0) {
		rc = err_sys(err, errno, "Cannot start %s", argv[0]);
		goto close;
	}
	to = o->out ? out[1] : o->out_fd ? o->out_fd : o->log ? log[1] : -1;
	if (!pid)
		child(argv, o, to, log[1], start[1]);
	setpgid(pid, pid);
	close(start[1]);
	close(log[1]);
	if (o->out)
		close(out[1]);
	start[1] = log[1] = out[1] = -1;
	/* The pipe closes when exec succeeds. */
	if (read(start[0], &f, sizeof(f)) != sizeof(f))
		f.num = 0;
	follow(pid, out[0], log[0], o, &stopped, &full);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (o->log && o->log->len > LOG_LIMIT)
		log_trim(o->log);
	if (f.num && f.dir)
		rc = err_sys(err, f.num, "Cannot run %s in %s", argv[0], o->dir);
	else if (f.num == ENOENT)
		rc = err_add(err, -ENOENT, "There is no program %s in PATH; "
			     "install it, or add its folder to PATH.", argv[0]);
	else if (f.num)
		rc = err_sys(err, f.num, "Cannot run %s", argv[0]);
	else if (full)
		rc = err_add(err, -EFBIG, "%s printed more than 64 MiB and was stopped.", argv[0]);
	else if (stopped)
		rc = err_add(err, -ECANCELED, "Stopped.");
	else
		rc = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
close:
	close_pair(start);
	close_pair(log);
	close_pair(out);
	return rc;
}

static bool runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool proc_have(const char *name)
{
	const char *path = getenv("PATH"), *p, *end;
	char full[4096];

	if (strchr(name, '/'))
		return runnable(name);
	for (p = path ? path : "/usr/sbin:/usr/bin:/sbin:/bin"; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		if (snprintf(full, sizeof(full), "%.*s/%s", (int)(end - p), p, name) < (int)sizeof(full) &&
		    runnable(full))
			return true;
	}
	return false;
}
