// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload: calls of getppid(), one operation a call; and a check of what it returns.
 *
 *	workload CALLS
 *	workload check
 *
 * The timed part is the calls alone, after a few that are not timed. Each goes to the kernel: nothing
 * remembers the answer in between. Figures go to the descriptor named by KAB_RESULT_FD (HACKING.md) and to
 * stdout. Statically linked; touches nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 16

struct times {
	long long wall, user, sys;	/* ns */
};

static struct times now(void)
{
	struct timespec wall;
	struct rusage used;

	clock_gettime(CLOCK_MONOTONIC, &wall);
	getrusage(RUSAGE_SELF, &used);
	return (struct times){
		.wall = wall.tv_sec * 1000000000LL + wall.tv_nsec,
		.user = used.ru_utime.tv_sec * 1000000000LL + used.ru_utime.tv_usec * 1000LL,
		.sys = used.ru_stime.tv_sec * 1000000000LL + used.ru_stime.tv_usec * 1000LL,
	};
}

static int measure(unsigned long calls)
{
	const char *fd = getenv("KAB_RESULT_FD");
	struct times start, end;
	long first = 0, last = 0;
	unsigned long i;

	for (i = 0; i < WARM_UP; i++)
		first = syscall(SYS_getppid);
	start = now();
	for (i = 0; i < calls; i++)
		last = syscall(SYS_getppid);
	end = now();
	if (first != last) {
		fprintf(stderr, "workload: the parent died while its child was measured\n");
		return 1;
	}
	if (fd && dprintf(atoi(fd), "ops %lu\nwall_ns %lld\nuser_ns %lld\nsys_ns %lld\n", calls, end.wall - start.wall,
			  end.user - start.user, end.sys - start.sys) < 0) {
		fprintf(stderr, "workload: cannot write to descriptor %s: %s\n", fd, strerror(errno));
		return 1;
	}
	printf("%lu calls in %lld ns\n", calls, end.wall - start.wall);
	return 0;
}

/* A child of ours whose own child outlives it. Both say by their exit status whether they see their parent. */
static int child(pid_t top)
{
	pid_t self = getpid(), grandchild;
	int status = 1;

	grandchild = fork();
	if (!grandchild)
		_exit(getppid() != self);
	if (grandchild < 0 || waitpid(grandchild, &status, 0) != grandchild || status || getppid() != top)
		return 1;
	if (!fork()) {
		while (getppid() == self)	/* until we have ended */
			usleep(1000);
		_exit(getppid() != top);
	}
	return 0;
}

/* Prints the same wherever getppid() is right: of a child, a grandchild, and one that changes its parent. */
static int check(void)
{
	int children = 0, wrong = 0, status;
	pid_t top = getpid(), pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (!pid)
		_exit(child(top));
	while (waitpid(-1, &status, 0) > 0) {
		children++;
		wrong += status != 0;
	}
	printf("%d children ended under this process, %d of them saw another parent\n", children, wrong);
	return pid < 0 || children != 2;
}

int main(int argc, char **argv)
{
	unsigned long calls;
	char *rest;

	if (argc == 2 && !strcmp(argv[1], "check"))
		return check();
	errno = 0;
	calls = argc == 2 && argv[1][0] >= '0' && argv[1][0] <= '9' ? strtoul(argv[1], &rest, 10) : 0;
	if (!calls || errno || *rest) {
		fprintf(stderr, "usage: workload CALLS | check\n");
		return 2;
	}
	return measure(calls);
}
