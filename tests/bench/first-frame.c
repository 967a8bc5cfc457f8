// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * first-frame COLS ROWS COMMAND...: starts a screen program on a terminal of its
 * own and prints the milliseconds from exec to the last byte of its first frame
 * (the first burst of output, over when 150 ms pass in silence), and its bytes.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SILENCE_MS 150
#define LIMIT_MS 20000

static double ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct winsize size = { 0 };
	double start, last = 0;
	size_t bytes = 0;
	char chunk[65536];
	int fd;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: first-frame COLS ROWS COMMAND...\n");
		return 2;
	}
	size.ws_col = (unsigned short)atoi(argv[1]);
	size.ws_row = (unsigned short)atoi(argv[2]);
	start = ms();
	pid = forkpty(&fd, NULL, NULL, &size);
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (pid < 0)
		return 1;
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, bytes ? SILENCE_MS : LIMIT_MS) <= 0)
			break;
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			break;
		bytes += (size_t)n;
		last = ms();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%.1f ms %zu bytes\n", bytes ? last - start : -1.0, bytes);
	return bytes ? 0 : 1;
}
