// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload: what creating containers does to the network stack, one operation a container.
 *
 *	workload CONTAINERS
 *	workload --attributes
 *
 * A container is a new network namespace, a veth pair with one end in it, an IPv4 and an IPv6 address on
 * either end, and the RTM_GETLINK dump of all devices on the host's side that the runtime makes. All
 * containers stay to the end, so the n-th dump has n + 1 devices and the cost of a container grows with
 * their number: the mean of each quarter is reported beside the total.
 *
 * --attributes prints what the patched code writes, so that variants can be compared: the attributes of
 * family AF_INET6 in answers to RTM_GETLINK, in order of type. The devices, in a namespace made for it, are
 * a loopback device that has had traffic on every CPU and has none any more, and veth pairs that were never
 * up: their counters cannot move.
 *
 * The host's side is a namespace of its own, so nothing of the machine's network is seen or touched, and the
 * namespaces are held by open files only: whatever ends this program, the kernel removes them all. That is
 * work for the kernel's threads, for which the program waits after the timed part, so that it does not fall
 * into the next block. Needs CAP_NET_ADMIN and CAP_SYS_ADMIN, and the module veth.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libmnl/libmnl.h>

#define CONTAINERS_MAX 100000	/* 4 addresses of 10.0.0.0/8 each: it would do for 4 million */
#define QUARTERS 4
#define LOOPBACK 1		/* its index in every namespace */
#define RECEIVE_BYTES 32768	/* what iproute2 offers the kernel for an answer */
#define REQUEST_BYTES 1024

/* --- netlink --- */

struct route {
	struct mnl_socket *socket;	/* of the namespace it was opened in, wherever we go */
	unsigned port, sequence;
	size_t receive_bytes;		/* RECEIVE_BYTES at most */
};

static int fault(const char *what)
{
	fprintf(stderr, "workload: cannot %s: %s\n", what, strerror(errno));
	return -1;
}

static int route_open(struct route *r, size_t receive_bytes)
{
	*r = (struct route){ .socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC), .receive_bytes = receive_bytes };
	if (!r->socket || mnl_socket_bind(r->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return fault("open a netlink socket");
	r->port = mnl_socket_get_portid(r->socket);
	return 0;
}

static void route_close(struct route *r)
{
	if (r->socket)
		mnl_socket_close(r->socket);
}

/* A request in `buf`, of REQUEST_BYTES, with the header of its kind. */
static struct nlmsghdr *request(char *buf, int type, int flags, const void *header, size_t size)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(buf);

	m->nlmsg_type = (uint16_t)type;
	m->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	memcpy(mnl_nlmsg_put_extra_header(m, size), header, size);
	return m;
}

/* Sends it and takes the answers up to the last; `each` (NULL: none are expected) gets every one. */
static int ask(struct route *r, struct nlmsghdr *m, mnl_cb_t each, void *ctx, const char *what)
{
	static char answer[RECEIVE_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	ssize_t n;
	int rc;

	m->nlmsg_seq = ++r->sequence;
	if (mnl_socket_sendto(r->socket, m, m->nlmsg_len) < 0)
		return fault(what);
	do {
		n = mnl_socket_recvfrom(r->socket, answer, r->receive_bytes);
		rc = n < 0 ? -1 : mnl_cb_run(answer, (size_t)n, r->sequence, r->port, each, ctx);
	} while (rc > MNL_CB_STOP);
	return rc < 0 ? fault(what) : 0;
}

static int set_up(struct route *r, unsigned index)
{
	struct ifinfomsg up = { .ifi_index = (int)index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	char buf[REQUEST_BYTES];

	return ask(r, request(buf, RTM_NEWLINK, 0, &up, sizeof(up)), NULL, NULL, "bring a device up");
}

/*
 * One queue each way, as veth had when the patch was written; by itself it would now take one for each
 * possible CPU.
 */
static void put_end(struct nlmsghdr *m, const char *name)
{
	mnl_attr_put_strz(m, IFLA_IFNAME, name);
	mnl_attr_put_u32(m, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(m, IFLA_NUM_RX_QUEUES, 1);
}

/* The peer's namespace is that of descriptor `ns`, or ours with -1. Neither end is up. */
static int add_veth(struct route *r, const char *name, const char *peer_name, int ns)
{
	struct ifinfomsg link = { 0 };
	char buf[REQUEST_BYTES];
	struct nlmsghdr *m = request(buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof(link));
	struct nlattr *info, *data, *peer;

	put_end(m, name);
	info = mnl_attr_nest_start(m, IFLA_LINKINFO);
	mnl_attr_put_strz(m, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(m, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(m, VETH_INFO_PEER);
	memcpy(mnl_nlmsg_put_extra_header(m, sizeof(link)), &link, sizeof(link));
	put_end(m, peer_name);
	if (ns >= 0)
		mnl_attr_put_u32(m, IFLA_NET_NS_FD, (uint32_t)ns);
	mnl_attr_nest_end(m, peer);
	mnl_attr_nest_end(m, data);
	mnl_attr_nest_end(m, info);
	return ask(r, m, NULL, NULL, "create a veth pair; is the module veth there?");
}

/* RTM_GETLINK of one device, or of all with index 0. */
static int get_links(struct route *r, int family, int index, uint32_t ext_mask, mnl_cb_t each, void *ctx)
{
	struct ifinfomsg link = { .ifi_family = (unsigned char)family, .ifi_index = index };
	char buf[REQUEST_BYTES];
	struct nlmsghdr *m = request(buf, RTM_GETLINK, index ? 0 : NLM_F_DUMP, &link, sizeof(link));

	if (ext_mask)
		mnl_attr_put_u32(m, IFLA_EXT_MASK, ext_mask);
	return ask(r, m, each, ctx, "list the devices");
}

/* --- containers --- */

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

struct timing {
	struct times start, end;
	long long quarter[QUARTERS + 1];	/* wall time at which each ended, behind that of the start */
	long long dumps;			/* in RTM_GETLINK dumps, ns of wall time */
	unsigned long devices;			/* in all dumps together */
};

static int add_address(struct route *r, unsigned device, int family, const void *address, size_t len, int prefix)
{
	/* Without the wait for duplicates, as on any link of which both ends are known. */
	struct ifaddrmsg a = { .ifa_family = (unsigned char)family, .ifa_prefixlen = (unsigned char)prefix,
			       .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0, .ifa_index = device };
	char buf[REQUEST_BYTES];
	struct nlmsghdr *m = request(buf, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &a, sizeof(a));

	mnl_attr_put(m, IFA_LOCAL, len, address);
	mnl_attr_put(m, IFA_ADDRESS, len, address);
	return ask(r, m, NULL, NULL, "add an address");
}

/* Container i has the subnets 10.0.0.0/30 + 4i and fd00::/126 + 4i; the host's end is 1 there, its own 2. */
static int add_addresses(struct route *r, unsigned device, unsigned long i, int end)
{
	uint32_t low = htonl((uint32_t)(4 * i) + (uint32_t)end), v4 = htonl(10U << 24) | low;
	struct in6_addr v6 = { .s6_addr = { 0xfd } };
	int rc = add_address(r, device, AF_INET, &v4, sizeof(v4), 30);

	memcpy(&v6.s6_addr[12], &low, sizeof(low));
	return rc ? rc : add_address(r, device, AF_INET6, &v6, sizeof(v6), 126);
}

/* The container's own part: it runs in the new namespace. */
static int inside(unsigned long i)
{
	unsigned device = if_nametoindex("eth0");
	struct route r;
	int rc = route_open(&r, RECEIVE_BYTES);

	if (!rc)
		rc = set_up(&r, LOOPBACK);
	if (!rc)
		rc = set_up(&r, device);
	if (!rc)
		rc = add_addresses(&r, device, i, 2);
	route_close(&r);
	return rc;
}

struct seen {
	unsigned devices, newest;	/* in a dump; the newest has the highest index */
};

static int count(const struct nlmsghdr *m, void *ctx)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(m);
	struct seen *s = ctx;

	s->devices++;
	if ((unsigned)link->ifi_index > s->newest)
		s->newest = (unsigned)link->ifi_index;
	return MNL_CB_OK;
}

static int container(struct route *host, unsigned long i, struct timing *t)
{
	struct seen seen = { 0 };
	char name[IFNAMSIZ];
	long long before;
	int ns, rc;

	/* The file stays open: it is what keeps the namespace. */
	if (unshare(CLONE_NEWNET) || (ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) < 0)
		return fault("make a network namespace");
	snprintf(name, sizeof(name), "veth%u", (unsigned)i);
	rc = add_veth(host, name, "eth0", ns);
	if (!rc)
		rc = inside(i);
	before = now().wall;
	if (!rc)
		rc = get_links(host, AF_UNSPEC, 0, 0, count, &seen);
	t->dumps += now().wall - before;
	t->devices += seen.devices;
	if (!rc && seen.devices != i + 2) {
		fprintf(stderr, "workload: the dump has %u devices instead of %lu\n", seen.devices, i + 2);
		rc = -1;
	}
	if (!rc)
		rc = set_up(host, seen.newest);
	return rc ? rc : add_addresses(host, seen.newest, i, 1);
}

/* Containers in quarters 0 to q of n; from 4 on, no quarter is empty. */
static unsigned long quarter_end(unsigned long n, int q)
{
	return n * (unsigned long)(q + 1) / QUARTERS;
}

static int report(unsigned long n, const struct timing *t)
{
	static const char *const names[QUARTERS] = { "first", "second", "third", "last" };
	const char *fd = getenv("KAB_RESULT_FD");
	int out = fd ? atoi(fd) : 1, q;
	int rc = dprintf(out, "ops %lu\nwall_ns %lld\nuser_ns %lld\nsys_ns %lld\n"
			 "metric dump ns %.0f\nmetric dump_per_device ns %.0f\n", n, t->end.wall - t->start.wall,
			 t->end.user - t->start.user, t->end.sys - t->start.sys, (double)t->dumps / (double)n,
			 (double)t->dumps / (double)t->devices);

	for (q = 0; rc >= 0 && n >= QUARTERS && q < QUARTERS; q++)
		rc = dprintf(out, "metric container_%s_quarter ns %.0f\n", names[q],
			     (double)(t->quarter[q + 1] - t->quarter[q]) /
			     (double)(quarter_end(n, q) - (q ? quarter_end(n, q - 1) : 0)));
	if (rc < 0)
		fprintf(stderr, "workload: cannot write to descriptor %d: %s\n", out, strerror(errno));
	return rc < 0 ? 1 : 0;
}

/* All containers; runs in a process of its own, with whose end they go. */
static int create(unsigned long n)
{
	struct rlimit files = { n + 64, n + 64 };
	struct timing t = { 0 };
	struct route host;
	unsigned long i;
	int q = 0, rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setrlimit(RLIMIT_NOFILE, &files) || unshare(CLONE_NEWNET)) {
		fault("make a network namespace; is this root?");
		return 1;
	}
	if (route_open(&host, RECEIVE_BYTES) || set_up(&host, LOOPBACK))
		return 1;
	t.start = now();
	t.quarter[0] = t.start.wall;
	for (i = 0; !rc && i < n; i++) {
		rc = container(&host, i, &t);
		if (i + 1 == quarter_end(n, q))
			t.quarter[++q] = now().wall;
	}
	t.end = now();
	route_close(&host);
	return rc ? 1 : report(n, &t);
}

/* --- the end --- */

/*
 * Whether a kernel thread is removing namespaces. A worker is named after what it does, or did last:
 * "kworker/u8:2+netns" while at it, with a minus in front of the last part when done (proc(5), comm).
 */
static int removing(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int found = 0;

	while (proc && !found && (e = readdir(proc))) {
		char path[64], comm[64] = "";
		FILE *f;

		if (e->d_name[0] < '1' || e->d_name[0] > '9' || strlen(e->d_name) > 10)
			continue;
		snprintf(path, sizeof(path), "/proc/%.10s/comm", e->d_name);
		f = fopen(path, "re");
		found = f && fgets(comm, sizeof(comm), f) && !strncmp(comm, "kworker/", 8) && strstr(comm, "+netns");
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	return found;
}

/* Two looks with nothing going on: the work may not have begun yet at the first. At most a minute. */
static void wait_for_removal(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int quiet = 0, looks;

	for (looks = 0; quiet < 2 && looks < 3000; looks++) {
		nanosleep(&pause, NULL);
		quiet = removing() ? 0 : quiet + 1;
	}
}

/* --- attributes --- */

/* One datagram of `len` bytes from `from` to port `to` of ::1; `arrives` at `at`, or is refused. */
static int datagram(int from, int at, in_port_t to, size_t len, int arrives)
{
	static const char zeros[1024];
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(to) };
	char got[sizeof(zeros)];

	if (connect(from, (struct sockaddr *)&a, sizeof(a)) || send(from, zeros, len, 0) != (ssize_t)len)
		return -1;
	/* Waits until the counters are final. */
	if (arrives)
		return recv(at, got, sizeof(got), 0) == (ssize_t)len ? 0 : -1;
	return recv(from, got, sizeof(got), 0) < 0 && errno == ECONNREFUSED ? 0 : -1;
}

static int udp_socket(in_port_t port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(port) };
	const struct timeval limit = { .tv_sec = 5 };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    bind(fd, (struct sockaddr *)&a, sizeof(a)))
		return -1;
	return fd;
}

/* Numbers of datagrams and lengths that differ from CPU to CPU, so that a CPU left out or taken twice shows. */
static int traffic(void)
{
	int from = udp_socket(1000), at = udp_socket(1001), cpu, i, rc = 0;
	cpu_set_t allowed, one;

	if (from < 0 || at < 0 || sched_getaffinity(0, sizeof(allowed), &allowed))
		rc = -1;
	for (cpu = 0; !rc && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		rc = sched_setaffinity(0, sizeof(one), &one);
		for (i = 0; !rc && i < 3 + 2 * cpu; i++)
			rc = datagram(from, at, 1001, 100 + 7U * (cpu % 64U), 1);
		/* Nobody listens: an ICMPv6 error goes out and comes in. Few, or the kernel limits their rate. */
		if (!rc && cpu < 8)
			rc = datagram(from, -1, 1002, 64, 0);
	}
	if (rc)
		fault("send over ::1");
	close(from);
	close(at);
	return rc;
}

static void print_attribute(const char *device, const struct nlattr *a)
{
	const unsigned char *p = mnl_attr_get_payload(a);
	int i;

	printf("%s %d ", device, mnl_attr_get_type(a));
	for (i = 0; i < mnl_attr_get_payload_len(a); i++) {
		/* Not the time the device was made, nor the reachable time, which the kernel draws by lot. */
		if (mnl_attr_get_type(a) == IFLA_INET6_CACHEINFO && i >= 4 && i < 12)
			printf("--");
		else
			printf("%02x", p[i]);
	}
	putchar('\n');
}

static const struct nlattr *find(const struct nlattr *nest, int type)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest)
		if (mnl_attr_get_type(a) == type)
			return a;
	return NULL;
}

/* In order of type, whatever the order they came in; ones with the same type in theirs. */
static int print_link(const struct nlmsghdr *m, void *family)
{
	const struct nlattr *a, *ip6 = NULL;
	const char *name = "?";
	int type;

	mnl_attr_for_each(a, m, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(a) == IFLA_IFNAME)
			name = mnl_attr_get_str(a);
		else if (mnl_attr_get_type(a) == IFLA_AF_SPEC && *(int *)family == AF_UNSPEC)
			ip6 = find(a, AF_INET6);
		else if (mnl_attr_get_type(a) == IFLA_PROTINFO && *(int *)family == AF_INET6)
			ip6 = a;
	}
	printf("%s: %d bytes of IPv6\n", name, ip6 ? mnl_attr_get_payload_len(ip6) : 0);
	for (type = 0; ip6 && type < 256; type++)
		mnl_attr_for_each_nested(a, ip6)
			if (mnl_attr_get_type(a) == type)
				print_attribute(name, a);
	return MNL_CB_OK;
}

/*
 * Every way to the patched function, and one that does not lead there. The small buffer makes the kernel
 * stop in the middle of a device many times, take it back, and begin the next message with it.
 */
static int attributes(void)
{
	static const struct { const char *title; int family, index; uint32_t mask; size_t receive_bytes; } ways[] = {
		{ "all devices", AF_UNSPEC, 0, 0, RECEIVE_BYTES },
		{ "all devices, 4096 bytes at a time", AF_UNSPEC, 0, 0, 4096 },
		{ "all devices, without statistics", AF_UNSPEC, 0, RTEXT_FILTER_SKIP_STATS, RECEIVE_BYTES },
		{ "one device", AF_UNSPEC, 1, 0, RECEIVE_BYTES },
		{ "all devices, family AF_INET6", AF_INET6, 0, 0, RECEIVE_BYTES },
	};
	struct route r;
	size_t i;
	int rc;

	if (unshare(CLONE_NEWNET))
		return fault("make a network namespace; is this root?");
	rc = route_open(&r, RECEIVE_BYTES);
	if (!rc)
		rc = set_up(&r, LOOPBACK);
	for (i = 0; !rc && i < 8; i++) {
		char name[2][IFNAMSIZ];

		snprintf(name[0], IFNAMSIZ, "a%zu", i);
		snprintf(name[1], IFNAMSIZ, "b%zu", i);
		rc = add_veth(&r, name[0], name[1], -1);
	}
	route_close(&r);
	if (!rc)
		rc = traffic();
	for (i = 0; !rc && i < sizeof(ways) / sizeof(ways[0]); i++) {
		int family = ways[i].family;

		printf("# %s\n", ways[i].title);
		rc = route_open(&r, ways[i].receive_bytes);
		if (!rc)
			rc = get_links(&r, family, ways[i].index, ways[i].mask, print_link, &family);
		route_close(&r);
	}
	return rc || fflush(stdout) ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long n = 0;
	char *rest = "";
	int status;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "--attributes"))
		return attributes() ? 1 : 0;
	if (argc == 2 && argv[1][0] >= '0' && argv[1][0] <= '9')
		n = strtoul(argv[1], &rest, 10);
	if (!n || *rest || n > CONTAINERS_MAX) {
		fprintf(stderr, "usage: workload CONTAINERS, 1 to %d\n       workload --attributes\n", CONTAINERS_MAX);
		return 2;
	}
	pid = fork();
	if (!pid)
		exit(create(n));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0) {
		fprintf(stderr, "workload: cannot fork: %s\n", strerror(errno));
		return 1;
	}
	wait_for_removal();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
