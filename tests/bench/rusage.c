// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rusage OUT COMMAND...: runs a command and writes to OUT, in seconds, its wall
 * time and the user + system time of it and of all that it waited for. One
 * around a recorder and one around the recorded load tell the two apart.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage ru;
	FILE *out;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: rusage OUT COMMAND...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &ru) != pid)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &b);
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.6f %.6f\n", (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
		seconds(ru.ru_utime) + seconds(ru.ru_stime));
	return fclose(out) || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}
