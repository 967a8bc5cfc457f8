// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload: tbench over loopback, a fixed number of operations; one operation is one line of its load file.
 *
 *	workload prepare OPERATIONS	cuts the load file, once
 *	workload run			one client a CPU does all of it, against a server of its own
 *	workload check			references to routes are given back, and data arrive
 *
 * Beside this program lie tbench, tbench_srv and client.txt of the package dbench, and LOAD when it is made.
 *
 * tbench runs for a time, not for an amount of work, and begins its load file again at the end. But it does
 * say when it comes to an operation that it does not know, at once and for each client. So LOAD has one such
 * line in front and one behind, and after that a long sleep; the timed part is from the first client's first
 * to the last client's last. To tbench an operation is a packet of some size each way, whatever came before,
 * so an even choice of the lines of client.txt has the mix of the whole file.
 *
 * Figures go to the descriptor named by KAB_RESULT_FD (HACKING.md) and to stdout. User and system time are of
 * all the processes of tbench and its server from their start, which wall time leaves out.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 7003		/* that tbench and its server know */
#define LOAD "tbench-load"
#define MAX_CLIENTS 4096
#define MAX_OPERATIONS 100000000UL
#define START_S 60		/* for the clients to be ready; they come one after the other */

static char dir[4000];		/* of this program */
static pid_t group;		/* of tbench, its clients and the server */

static int fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "workload: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static void place(char path[4096], const char *name)
{
	snprintf(path, 4096, "%s/%s", dir, name);
}

/* --- prepare --- */

/* Bytes that tbench counts for a line of the load file: what a read brings and a write takes. */
static unsigned long bytes_of(const char *line)
{
	unsigned long size, returned;

	if (sscanf(line, "WriteX %*s %*s %lu", &size) == 1)
		return size;
	if (sscanf(line, "ReadX %*s %*s %*s %lu", &returned) == 1)
		return returned;
	return 0;
}

static long clients(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > MAX_CLIENTS ? MAX_CLIENTS : n;
}

/* The file's bytes with a NUL behind, and its lines; NULL with a message. */
static char *read_lines(const char *path, char ***lines, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	char *text = NULL, *p;
	ssize_t got = 0, more = 1;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		text = malloc((size_t)st.st_size + 1);
	for (; text && more > 0 && got < st.st_size; got += more)
		more = read(fd, text + got, (size_t)(st.st_size - got));
	if (!text || more <= 0) {
		fail("cannot read %s: %s", path, errno ? strerror(errno) : "it is empty");
		return NULL;
	}
	close(fd);
	text[got] = '\0';
	for (*n = 0, p = text; (p = strchr(p, '\n')); p++)
		++*n;
	*lines = calloc(*n + 1, sizeof(**lines));
	for (*n = 0, p = text; *lines && strchr(p, '\n'); ++*n) {
		(*lines)[*n] = p;
		p = strchr(p, '\n');
		*p++ = '\0';
	}
	if (*lines && *n)
		return text;
	fail("%s has no lines", path);
	return NULL;
}

/* The i-th of `wanted` lines, evenly out of n; all of them over and over when there are too few. */
static size_t chosen(unsigned long i, unsigned long wanted, size_t n)
{
	return wanted <= n ? i * n / wanted : i % n;
}

static int prepare(unsigned long operations)
{
	unsigned long per_client = operations / (unsigned long)clients(), i;
	unsigned long long bytes = 0;
	char path[4096], **lines, *text;
	size_t n;
	FILE *f;

	if (!per_client)
		return fail("there are %ld CPUs, so the least is as many operations", clients());
	place(path, "client.txt");
	text = read_lines(path, &lines, &n);
	if (!text)
		return 1;
	for (i = 0; i < per_client; i++)
		bytes += bytes_of(lines[chosen(i, per_client, n)]);
	place(path, LOAD);
	f = fopen(path, "we");
	if (!f)
		return fail("cannot write %s: %s", path, strerror(errno));
	fprintf(f, "# %lu operations, %llu bytes\nBegin 0 0x0\n", per_client, bytes);
	for (i = 0; i < per_client; i++)
		fprintf(f, "%s\n", lines[chosen(i, per_client, n)]);
	fprintf(f, "End 0 0x0\nSleep %u 0x0\n", 3600 * 1000000U);
	if (fclose(f))
		return fail("cannot write %s: %s", path, strerror(errno));
	free(lines);
	free(text);
	return 0;
}

/* --- run --- */

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* In the group of the others, and with stdout on `out`. */
static pid_t start(const char *name, int out, char *const argv[])
{
	char path[4096];
	pid_t pid;

	place(path, name);
	pid = fork();
	if (pid) {
		if (pid > 0)
			setpgid(pid, group ? group : pid);
		return pid;
	}
	setpgid(0, group);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	dup2(out, STDOUT_FILENO);
	execv(path, argv);
	fprintf(stderr, "workload: cannot start %s: %s\n", path, strerror(errno));
	_exit(127);
}

static void reap_all(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void stop(pid_t server)
{
	/* It ignores its children's ends, and with them their times; without it they are ours to reap. */
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	if (group)
		kill(-group, SIGKILL);
	reap_all();
}

static void on_term(int sig)
{
	if (group)
		kill(-group, SIGKILL);
	_exit(128 + sig);
}

static int local_socket(struct sockaddr_in *to)
{
	*to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(PORT),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* The server does not notice when it cannot have the port. */
static bool port_is_free(void)
{
	struct sockaddr_in to;
	int fd = local_socket(&to), one = 1;
	bool free;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	free = !bind(fd, (struct sockaddr *)&to, sizeof(to)) && !listen(fd, 1);
	close(fd);
	return free;
}

static bool server_answers(void)
{
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		struct sockaddr_in to;
		int fd = local_socket(&to), rc = connect(fd, (struct sockaddr *)&to, sizeof(to));

		close(fd);
		if (!rc)
			return true;
		usleep(10000);
	}
	return false;
}

struct marks {
	long begun, ended;		/* clients */
	long long first, last;		/* ns: the first begin, the last end */
	char said[200];			/* the last line that is neither */
};

static void take_line(struct marks *m, const char *line, long long now)
{
	if (strstr(line, "Unknown operation Begin")) {
		if (!m->begun++)
			m->first = now;
	} else if (strstr(line, "Unknown operation End")) {
		m->ended++;
		m->last = now;
	} else {
		snprintf(m->said, sizeof(m->said), "%.199s", line);
	}
}

/* Until all clients have done their work. */
static int follow(int fd, long n, struct marks *m)
{
	long long until = now_ns() + START_S * 1000000000LL;
	char text[8192];
	size_t len = 0;

	while (m->ended < n) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char *line = text, *end;
		long long now;
		ssize_t got;

		if (!poll(&p, 1, 1000) && m->begun < n && now_ns() > until)
			return fail("tbench did not start within %d s; it said: %s", START_S, m->said);
		if (!p.revents)
			continue;
		got = read(fd, text + len, sizeof(text) - 1 - len);
		now = now_ns();
		if (got <= 0)
			return fail("tbench ended before its work was done; it said: %s", m->said);
		len += (size_t)got;
		text[len] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			take_line(m, line, now);
		}
		len -= (size_t)(line - text);
		memmove(text, line, len);
		if (len == sizeof(text) - 1)
			len = 0;
	}
	return 0;
}

static long long rusage_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000LL + t->tv_usec * 1000LL;
}

static int report(unsigned long ops, double bytes, const struct marks *m)
{
	const char *fd = getenv("KAB_RESULT_FD");
	double wall = (double)(m->last - m->first), mb = bytes / 1e6 / (wall / 1e9);
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	if (fd && dprintf(atoi(fd), "ops %lu\nwall_ns %lld\nuser_ns %lld\nsys_ns %lld\n"
			  "metric throughput MB/s %.6g\nmetric clients 1 %ld\n", ops, m->last - m->first,
			  rusage_ns(&used.ru_utime), rusage_ns(&used.ru_stime), mb, m->ended) < 0)
		return fail("cannot write to descriptor %s: %s", fd, strerror(errno));
	printf("%lu operations in %.3f s, %ld clients\nThroughput %.4g MB/sec\n", ops, wall / 1e9, m->ended, mb);
	return 0;
}

/* What the first line of the load file says is in it for one client. */
static int read_load(char path[4096], unsigned long *operations, unsigned long long *bytes)
{
	FILE *f;
	int n;

	place(path, LOAD);
	f = fopen(path, "re");
	if (!f)
		return fail("cannot read %s: %s; run `workload prepare` first", path, strerror(errno));
	n = fscanf(f, "# %lu operations, %llu bytes", operations, bytes);
	fclose(f);
	return n == 2 ? 0 : fail("%s is not a load file of ours", path);
}

static int run(void)
{
	char load[4096], number[24];
	char *const server_argv[] = { "tbench_srv", NULL };
	char *const client_argv[] = { "tbench", "-t", "1000000", "-c", load, number, "127.0.0.1", NULL };
	unsigned long operations;
	unsigned long long bytes;
	int out[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;
	long n = clients();
	struct marks m = { .said = "nothing" };
	pid_t server, client = -1;

	if (read_load(load, &operations, &bytes))
		return 1;
	if (!port_is_free())
		return fail("another program listens on port %d, which tbench needs; end it first", PORT);
	snprintf(number, sizeof(number), "%ld", n);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGTERM, on_term);
	if (pipe2(out, O_CLOEXEC))
		return fail("cannot make a pipe: %s", strerror(errno));
	server = group = start("tbench_srv", null, server_argv);
	rc = server > 0 && server_answers() ? 0 : fail("tbench_srv does not answer on port %d", PORT);
	if (!rc)
		client = start("tbench", out[1], client_argv);
	close(out[1]);
	if (!rc)
		rc = client > 0 ? follow(out[0], n, &m) : fail("cannot start tbench: %s", strerror(errno));
	stop(server);
	return rc ? rc : report(operations * (unsigned long)n, (double)bytes * (double)n, &m);
}

/* --- check --- */

#define PACKETS 2000
#define PAYLOAD 100
#define PROTOCOL 253		/* for experiments */
#define STREAM (1 << 20)

static uint32_t mix(uint32_t sum, const unsigned char *p, size_t n)
{
	while (n--)
		sum = (sum ^ *p++) * 16777619u;
	return sum;
}

/* Of /proc/net/stat/rt_cache, which is of the whole machine: routes that there are, and that were made to send. */
static int routes(unsigned long *there, unsigned long *made)
{
	FILE *f = fopen("/proc/net/stat/rt_cache", "re");
	unsigned long entries, out;
	char line[400];

	*there = *made = 0;
	if (!f || !fgets(line, sizeof(line), f))
		return fail("cannot read /proc/net/stat/rt_cache: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*x %*x %*x %*x %*x %*x %*x %*x %lx", &entries, &out) == 2) {
			*there = entries;
			*made += out;
		}
	fclose(f);
	return 0;
}

/* A network of our own, whose loopback has counted nothing yet; as an ordinary user by way of a user namespace. */
static int new_network(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd, rc;

	if (unshare(CLONE_NEWNET | (geteuid() ? CLONE_NEWUSER : 0)))
		return fail("cannot make a network namespace: %s; run it as root", strerror(errno));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	rc = fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	return rc ? fail("cannot set up the loopback interface: %s", strerror(errno)) : 0;
}

/* Packets with a header of ours: for each the kernel makes a route, and frees it with the packet. */
static int packets(uint32_t *sum)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct { struct iphdr ip; unsigned char data[PAYLOAD]; } p = { .ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = PROTOCOL,
		.saddr = htonl(INADDR_LOOPBACK), .daddr = htonl(INADDR_LOOPBACK), .tot_len = htons(sizeof(p)),
	} };
	int out = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	int in = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, PROTOCOL), i, got;
	unsigned char back[sizeof(p) + 1];

	if (out < 0 || in < 0)
		return fail("cannot open a raw socket: %s", strerror(errno));
	for (i = got = 0; i < PACKETS; i++) {
		memset(p.data, i, sizeof(p.data));
		if (sendto(out, &p, sizeof(p), 0, (struct sockaddr *)&to, sizeof(to)) != sizeof(p))
			return fail("cannot send a packet: %s", strerror(errno));
		if (recv(in, back, sizeof(back), 0) != sizeof(p))
			break;
		*sum = mix(*sum, back + sizeof(p.ip), PAYLOAD);
		got++;
	}
	close(out);
	close(in);
	return got == PACKETS ? 0 : fail("packet %d of %d did not come back whole", got + 1, PACKETS);
}

static int stream(uint32_t *sum)
{
	struct sockaddr_in at;
	int listener = local_socket(&at), out, in;
	static unsigned char data[STREAM];
	size_t got = 0;
	ssize_t n = 1;
	pid_t child;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 251);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1))
		return fail("cannot listen: %s", strerror(errno));
	child = fork();
	if (!child) {
		out = local_socket(&at);
		if (connect(out, (struct sockaddr *)&at, sizeof(at)))
			_exit(1);
		for (; got < sizeof(data) && n > 0; got += (size_t)n)
			n = write(out, data + got, sizeof(data) - got);
		_exit(n <= 0);
	}
	in = accept(listener, NULL, NULL);
	memset(data, 0, sizeof(data));
	for (; got < sizeof(data) && n > 0; got += n > 0 ? (size_t)n : 0)
		n = read(in, data + got, sizeof(data) - got);
	*sum = mix(*sum, data, got);
	close(in);
	close(listener);
	waitpid(child, NULL, 0);
	return got == sizeof(data) ? 0 : fail("only %zu of %d bytes came through TCP", got, STREAM);
}

static int show_counters(void)
{
	FILE *f = fopen("/proc/thread-self/net/dev", "re");
	char line[400];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "lo:"))
			fputs(line, stdout);
	if (f)
		fclose(f);
	return f ? 0 : fail("cannot read the counters of the loopback interface: %s", strerror(errno));
}

/*
 * Prints the same wherever references to routes are counted right: one too few given back, and the routes of
 * the packets stay; one too many, and they are freed in use.
 */
static int check(void)
{
	unsigned long there, made, there_now = 0, made_now;
	uint32_t sum = 2166136261u;
	int tries;

	if (new_network() || routes(&there, &made) || packets(&sum))
		return 1;
	printf("%d packets with a route each, all came back; bytes %08x\n", PACKETS, sum);
	if (routes(&there_now, &made_now) || show_counters())
		return 1;
	printf("routes made: %s\n", made_now - made >= PACKETS ? "one a packet" : "too few");
	if (stream(&sum))
		return 1;
	printf("%d bytes through TCP; bytes %08x\n", STREAM, sum);
	/* A CPU caches a route or two of the new network; the packets' are more than all CPUs together cache. */
	for (tries = 0; tries < 500; tries++) {
		if (routes(&there_now, &made_now))
			return 1;
		if (there_now < there + PACKETS / 2)
			break;
		usleep(10000);
	}
	printf("routes left: %s\n", there_now < there + PACKETS / 2 ? "none of them" : "theirs");
	return 0;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	unsigned long operations;
	char *rest;

	if (n <= 0)
		return fail("cannot tell where this program lies: %s", strerror(errno));
	dir[n] = '\0';
	*strrchr(dir, '/') = '\0';
	if (argc == 2 && !strcmp(argv[1], "run"))
		return run();
	if (argc == 2 && !strcmp(argv[1], "check"))
		return check();
	errno = 0;
	operations = argc == 3 && !strcmp(argv[1], "prepare") && argv[2][0] >= '0' && argv[2][0] <= '9' ?
		strtoul(argv[2], &rest, 10) : 0;
	if (!operations || operations > MAX_OPERATIONS || errno || *rest) {
		fprintf(stderr, "usage: workload prepare OPERATIONS | run | check\n");
		return 2;
	}
	return prepare(operations);
}
