// SPDX-License-Identifier: GPL-2.0-or-later
/* supervise: see supervise.h. */
#include "collectors/live/agent/supervise.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "collectors/live/agent/module.h"

bool ledger_add(struct ledger *l, const char *module)
{
	for (size_t i = 0; i < LEDGER_MODULES; i++) {
		if (!l->modules[i][0]) {
			snprintf(l->modules[i], MODULE_NAME, "%s", module);
			return true;
		}
	}
	return false;
}

void ledger_drop(struct ledger *l, const char *module)
{
	for (size_t i = 0; i < LEDGER_MODULES; i++) {
		if (!strcmp(l->modules[i], module))
			l->modules[i][0] = '\0';
	}
}

void ledger_undo(struct ledger *l)
{
	for (size_t i = LEDGER_MODULES; i-- > 0;) {
		if (l->modules[i][0])
			module_remove(l->modules[i], NULL, NULL, NULL);
		l->modules[i][0] = '\0';
	}
	if (l->folder[0])
		fs_remove(l->folder, NULL);
	l->folder[0] = '\0';
}

/* The parent of a process, 0 when it is gone. The name in the line may hold blanks and parentheses. */
static pid_t parent_of(const char *pid)
{
	char path[64], line[512], *p;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	p = strrchr(line, ')');
	if (!p || sscanf(p + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static void kill_children(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	if (!proc)
		return;
	while ((d = readdir(proc))) {
		if (isdigit((unsigned char)d->d_name[0]) && parent_of(d->d_name) == getpid())
			kill(atoi(d->d_name), SIGKILL);
	}
	closedir(proc);
}

/* A killed child hands its own children to us, so the rounds end when the whole tree is gone. */
void tree_kill(void)
{
	const struct timespec pause = { 0, 2000000 };
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		kill_children();
		nanosleep(&pause, NULL);
	}
}

/* Until the worker ends; reaps what is handed to us. SIGTERM is passed on: the worker ends in order. */
static int wait_for(pid_t worker, const sigset_t *set)
{
	int status, sig;
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == worker)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		}
		sig = sigwaitinfo(set, NULL);
		if (sig == SIGTERM)
			kill(worker, SIGTERM);
	}
}

/* Ctrl-C reaches every program of the terminal; the agent ends by its stream, in order. */
static void ignore_terminal(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

int supervise(const int stream[2], int (*work)(struct worker *w), void *ctx, struct err *err)
{
	struct worker w = { .ctx = ctx };
	int leash[2], status;
	sigset_t set;
	pid_t pid;

	w.ledger = mmap(NULL, sizeof(*w.ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.ledger == MAP_FAILED || pipe2(leash, O_CLOEXEC))
		return err_sys(err, errno, "kab-agent cannot start its worker");
	ignore_terminal();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid < 0)
		return err_sys(err, errno, "kab-agent cannot start its worker");
	if (!pid) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		close(leash[1]);
		w.leash = leash[0];
		exit(work(&w));
	}
	close(leash[0]);
	close(stream[0]);
	if (stream[1] != stream[0])
		close(stream[1]);
	status = wait_for(pid, &set);
	tree_kill();
	ledger_undo(w.ledger);
	return status;
}
