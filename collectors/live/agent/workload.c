// SPDX-License-Identifier: GPL-2.0-or-later
/* workload: see workload.h. */
#include "collectors/live/agent/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "collectors/live/agent/supervise.h"

#define RESULT_FD 3
#define HIGH_FD 10		/* ours are kept above what the child arranges for the program */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Out of the way of descriptors 0 to 3. */
static int high(int fd)
{
	int moved;

	if (fd < 0 || fd >= HIGH_FD)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	close(fd);
	return moved;
}

static int high_pipe(int p[2])
{
	if (pipe2(p, O_CLOEXEC))
		return -1;
	p[0] = high(p[0]);
	p[1] = high(p[1]);
	return p[0] < 0 || p[1] < 0 ? -1 : 0;
}

static int memory_file(const char *name)
{
	return high(memfd_create(name, MFD_CLOEXEC));
}

static void default_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child, up to its exec. Never returns. */
static void child(const struct workload_opts *o, const struct workload *w, int go, int status, int out,
		  int errfd)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), num;
	char byte;

	default_signals();
	setsid();
	dup2(null, 0);
	dup2(out, 1);
	dup2(errfd, 2);
	dup2(w->results, RESULT_FD);
	setenv("KAB_RESULT_FD", "3", 1);
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
	if (o->user && o->user->given &&
	    (setgroups(o->user->n_groups, o->user->groups) ||
	     setresgid(o->user->gid, o->user->gid, o->user->gid) ||
	     setresuid(o->user->uid, o->user->uid, o->user->uid)))
		goto failed;
	/* After the change of user, which clears it. The agent's end of `go` closing also ends us here. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) != 1)
		_exit(127);
	execvp(o->argv[0], o->argv);
failed:
	num = errno;
	if (write(status, &num, sizeof(num)) < 0)
		_exit(126);
	_exit(127);
}

int workload_prepare(const struct workload_opts *o, struct workload *w, struct err *err)
{
	int go[2] = { -1, -1 }, status[2] = { -1, -1 }, out[2] = { -1, -1 }, errs[2] = { -1, -1 };

	*w = (struct workload){ .pidfd = -1, .go = -1, .status = -1, .out = -1, .err = -1, .results = -1 };
	w->results = memory_file("kab-results");
	if (o->files) {
		out[0] = memory_file("kab-output");
		out[1] = out[0] < 0 ? -1 : fcntl(out[0], F_DUPFD_CLOEXEC, HIGH_FD);
		errs[0] = out[0] < 0 ? -1 : fcntl(out[0], F_DUPFD_CLOEXEC, HIGH_FD);
		errs[1] = out[0] < 0 ? -1 : fcntl(out[0], F_DUPFD_CLOEXEC, HIGH_FD);
	} else if (high_pipe(out) || high_pipe(errs)) {
		out[0] = -1;
	}
	if (w->results < 0 || out[0] < 0 || high_pipe(go) || high_pipe(status))
		goto failed;
	w->pid = fork();
	if (w->pid < 0) {
		w->pid = 0;
		goto failed;
	}
	if (!w->pid) {
		/* Or the read of `go` would wait for its own copy of the other end. */
		close(go[1]);
		child(o, w, go[0], status[1], out[1], errs[1]);
	}
	close(go[0]);
	close(status[1]);
	close(out[1]);
	close(errs[1]);
	w->go = go[1];
	w->status = status[0];
	w->out = out[0];
	w->err = errs[0];
	if (!o->files) {
		fcntl(w->out, F_SETFL, O_NONBLOCK);
		fcntl(w->err, F_SETFL, O_NONBLOCK);
	}
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	if (w->pidfd >= 0)
		return 0;
	err_sys(err, errno, "Cannot watch the workload");
	workload_release(w);
	return -ENOSYS;
failed:
	err_sys(err, errno, "Cannot start the workload");
	for (int i = 0; i < 2; i++) {
		shut(&go[i]);
		shut(&status[i]);
		shut(&out[i]);
		shut(&errs[i]);
	}
	workload_release(w);
	return -EAGAIN;
}

int workload_go(struct workload *w, const char *program, struct err *err)
{
	int num = 0;
	ssize_t n;

	w->started_ns = now_ns();
	n = write(w->go, "", 1);
	shut(&w->go);
	do
		n = read(w->status, &num, sizeof(num));
	while (n < 0 && errno == EINTR);
	shut(&w->status);
	if (n == sizeof(num) && num)
		return err_sys(err, num, "Cannot run %.200s", program);
	return 0;
}

void workload_reap(struct workload *w)
{
	struct rusage ru = { 0 };
	int status = 0;

	w->ended_ns = now_ns();
	while (wait4(w->pid, &status, 0, &ru) < 0 && errno == EINTR)
		;
	w->pid = 0;
	w->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	w->user_ns = (uint64_t)ru.ru_utime.tv_sec * 1000000000 + (uint64_t)ru.ru_utime.tv_usec * 1000;
	w->sys_ns = (uint64_t)ru.ru_stime.tv_sec * 1000000000 + (uint64_t)ru.ru_stime.tv_usec * 1000;
	tree_kill();
}

void workload_release(struct workload *w)
{
	if (w->pid) {
		kill(-w->pid, SIGKILL);
		kill(w->pid, SIGKILL);
		workload_reap(w);
	}
	shut(&w->pidfd);
	shut(&w->go);
	shut(&w->status);
	shut(&w->out);
	shut(&w->err);
	shut(&w->results);
}
