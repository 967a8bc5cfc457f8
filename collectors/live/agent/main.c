// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kab-agent: the one program of kab that touches the kernel.
 *
 * It is started by kab (as a child, or as the child of a guest's init), speaks
 * the stream of wire.proto until its end, and leaves nothing behind. It prints
 * nothing but --help and --version on stdout; what it has to say goes over the
 * stream, and to stderr when there is none.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "collectors/live/agent/session.h"
#include "collectors/live/agent/version.h"

#define HIGH_FD 10
#define PORT_PATIENCE 500	/* looks of 20 ms for the port to appear */

enum { OPT_STDIO = 256, OPT_PORT, OPT_USER, OPT_SILENCE };

struct options {
	bool stdio;
	const char *port;
	struct identity user;
	unsigned silence_s;
};

const char *argp_program_version = "kab-agent " AGENT_VERSION;

static const struct argp_option option_table[] = {
	{ "stdio", OPT_STDIO, NULL, 0, "speak to kab over stdin and stdout", 0 },
	{ "port", OPT_PORT, "PATH", 0, "speak to kab over a virtio-serial port of this guest", 0 },
	{ "user", OPT_USER, "UID:GID[,GID...]", 0, "run workloads as this user, not as the agent's own", 0 },
	{ "silence", OPT_SILENCE, "SECONDS", 0, "end when kab has said nothing for so long; it says something "
	  "every 10 s", 0 },
	{ 0 }
};

/* "UID:GID[,GID...]"; the first group is the main one. */
static bool parse_user(const char *text, struct identity *u)
{
	unsigned uid, gid;
	int used;

	if (sscanf(text, "%u:%u%n", &uid, &gid, &used) != 2)
		return false;
	*u = (struct identity){ .given = true, .uid = uid, .gid = gid, .groups = { gid }, .n_groups = 1 };
	for (text += used; *text; text += used) {
		if (u->n_groups == sizeof(u->groups) / sizeof(u->groups[0]) ||
		    sscanf(text, ",%u%n", &gid, &used) != 1)
			return false;
		u->groups[u->n_groups++] = gid;
	}
	return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	uint64_t v;

	switch (key) {
	case OPT_STDIO:
		o->stdio = true;
		return 0;
	case OPT_PORT:
		o->port = arg;
		return 0;
	case OPT_USER:
		if (!parse_user(arg, &o->user))
			argp_error(state, "--user takes UID:GID[,GID...], at most 32 groups");
		return 0;
	case OPT_SILENCE:
		if (!text_to_u64(arg, 1, 86400, &v))
			argp_error(state, "--silence takes a number from 1 to 86400 (s)");
		o->silence_s = (unsigned)v;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\" is too much", arg);
		return 0;
	case ARGP_KEY_END:
		if (o->stdio == !!o->port)
			argp_error(state, "give either --stdio or --port; kab starts this program itself");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* stdin and stdout become the stream; what remains under their numbers can do it no harm. */
static int open_stdio(int stream[2], struct err *err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	stream[0] = fcntl(0, F_DUPFD_CLOEXEC, HIGH_FD);
	stream[1] = fcntl(1, F_DUPFD_CLOEXEC, HIGH_FD);
	if (null < 0 || stream[0] < 0 || stream[1] < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0)
		return err_sys(err, errno, "kab-agent cannot use stdin and stdout");
	return 0;
}

/* A port hangs up until the host has opened its end. */
static int open_port(const char *path, int stream[2], struct err *err)
{
	const struct timespec look = { 0, 20000000 };
	struct pollfd p;
	int fd = -1;

	for (int i = 0; i < PORT_PATIENCE && fd < 0; i++) {
		fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 && errno != ENOENT && errno != ENXIO)
			break;
		if (fd < 0)
			nanosleep(&look, NULL);
	}
	if (fd < 0)
		return err_sys(err, errno, "kab-agent cannot open the port %s", path);
	stream[0] = stream[1] = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	close(fd);
	p = (struct pollfd){ .fd = stream[0], .events = POLLOUT };
	while (poll(&p, 1, -1) >= 0 && p.revents & POLLHUP)
		nanosleep(&look, NULL);
	return 0;
}

struct stream {
	int fd[2];
	const struct options *o;
};

static int work(struct worker *w)
{
	const struct stream *s = w->ctx;

	return session_run(w, s->fd[0], s->fd[1], &s->o->user, s->o->silence_s);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "The part of kab that records, loads modules and runs workloads.",
	};
	struct err err = ERR_INIT;
	struct options o = { 0 };
	struct stream s;
	int rc;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	s.o = &o;
	close_range(3, ~0U, 0);		/* whatever we were started with is not for workloads to inherit */
	rc = o.stdio ? open_stdio(s.fd, &err) : open_port(o.port, s.fd, &err);
	if (!rc)
		rc = supervise(s.fd, work, &s, &err);
	if (err.len)
		fprintf(stderr, "%s\n", err.text);
	return rc < 0 ? 1 : rc;
}
