// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload: rounds of reading /proc/net/dev, one operation a round.
 *
 *	workload ROUNDS [FILE]
 *
 * A round reads the file from its beginning until read says end of file, with pread() on a descriptor that
 * stays open. The mail does not show its loop, but its profile puts 98.35 % of the samples under
 * dev_seq_show(), which leaves no room for an open and a close in each round; a monitoring program may keep
 * the file open as well.
 *
 * The timed part is the rounds alone, after one round that is not timed. Its figures go to the descriptor
 * named by KAB_RESULT_FD (HACKING.md) and, in the shape of time(1), to stdout. Statically linked; touches
 * nothing but FILE.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

/* Bytes in the file, negative with errno when it cannot be read. */
static long read_whole(int fd)
{
	static char page[65536];
	long size = 0;
	ssize_t n;

	do {
		n = pread(fd, page, sizeof(page), size);
		if (n > 0)
			size += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -1 : size;
}

static int report(unsigned long rounds, const struct times *t)
{
	const char *fd = getenv("KAB_RESULT_FD");

	if (fd && dprintf(atoi(fd), "ops %lu\nwall_ns %lld\nuser_ns %lld\nsys_ns %lld\n",
			  rounds, t->wall, t->user, t->sys) < 0) {
		fprintf(stderr, "workload: cannot write to descriptor %s: %s\n", fd, strerror(errno));
		return 1;
	}
	printf("real\t%lldm%.3fs\nuser\t%lldm%.3fs\nsys\t%lldm%.3fs\n",
	       t->wall / 60000000000LL, (t->wall % 60000000000LL) / 1e9,
	       t->user / 60000000000LL, (t->user % 60000000000LL) / 1e9,
	       t->sys / 60000000000LL, (t->sys % 60000000000LL) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	const char *file = argc > 2 ? argv[2] : "/proc/net/dev";
	unsigned long rounds, i;
	struct times start, end;
	char *rest;
	long size;
	int fd;

	errno = 0;
	rounds = argc > 1 && argv[1][0] >= '0' && argv[1][0] <= '9' ? strtoul(argv[1], &rest, 10) : 0;
	if (!rounds || errno || *rest || argc > 3) {
		fprintf(stderr, "usage: workload ROUNDS [FILE]\n");
		return 2;
	}
	fd = open(file, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read_whole(fd);
	if (size <= 0) {
		fprintf(stderr, "workload: cannot read %s: %s\n", file,
			size < 0 ? strerror(errno) : "it is empty");
		return 1;
	}

	start = now();
	for (i = 0; i < rounds && size > 0; i++)
		size = read_whole(fd);
	end = now();

	if (size <= 0) {
		fprintf(stderr, "workload: round %lu could not read %s: %s\n", i, file,
			size < 0 ? strerror(errno) : "it is empty");
		return 1;
	}
	return report(rounds, &(struct times){
		.wall = end.wall - start.wall,
		.user = end.user - start.user,
		.sys = end.sys - start.sys,
	});
}
