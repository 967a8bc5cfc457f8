// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live: see live.h. Requests go out, events go to intake.c until the reply
 * comes. Once the stream has failed, every further call says why again.
 */
#include "collectors/live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "collectors/live/intake.h"
#include "collectors/live/wire.h"

#define KAB_NAME "kab 0.1"
#define LOOK_MS 50		/* how often `stop` is asked */
#define HELLO_MS 10000		/* a local agent says hello at once */
#define CANCEL_MS 15000		/* between Stop and the reply to what it stops */
#define ALIVE_MS 10000		/* how often an agent behind a connection hears that we are there */
#define CLOSE_MS 70000		/* an agent that unloads a livepatch waits for its transition */
#define LOG_LIMIT 4096		/* of what the agent's program, or sudo, said on stderr */
#define FACTS_LIMIT 256
#define PROBE_LIMIT 256		/* elements taken of any list of an answer to a probe */

struct live {
	int fd;				/* the stream, not blocking; -1 closed */
	int log_fd;			/* stderr of the child, not blocking; -1 none */
	pid_t child;			/* 0: not ours */
	bool sudo;
	char *host;			/* the child is a connection to the agent on this machine; NULL: the agent itself */
	uint64_t alive_ms;		/* when Alive was last sent to `host` */
	struct wire_in rd;
	struct intake in;
	struct buf log;
	uint32_t id;			/* of the last request */
	bool greeted;
	bool stopped;			/* Stop was sent for the request in hand */
	unsigned patience_s;		/* see live_patience() */
	struct live_took took;
	uint64_t tainted;
	int dead;			/* negative errno once the stream has failed */
	struct err died;		/* why */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool asked_to_stop(struct live *l)
{
	return l->in.sink.stop && l->in.sink.stop(l->in.sink.ctx);
}

/* --- the stream --- */

static void read_log(struct live *l)
{
	char chunk[1024];
	ssize_t n;

	while (l->log_fd >= 0 && (n = read(l->log_fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0)
			return;
		for (ssize_t i = 0; i < n; i++)
			chunk[i] = chunk[i] == '\n' || chunk[i] == '\r' ? ' ' : chunk[i];	/* it becomes part of a sentence */
		if (l->log.len + (size_t)n <= LOG_LIMIT)
			text_escape(&l->log, chunk, (size_t)n, false);
	}
	if (l->log_fd >= 0)
		close(l->log_fd);
	l->log_fd = -1;
}

/* Notes why the stream is over, and says it. */
static int die(struct live *l, int code, const struct err *why, struct err *err)
{
	if (!l->dead) {
		l->dead = code;
		l->died = *why;
	}
	return err_add(err, l->dead, "%s", l->died.text);
}

/* Whether the command that reached the agent passed on the end of the agent: ssh's own failures are 255. */
static bool agent_ended(struct live *l)
{
	int status, tries = 0;

	if (!l->child)
		return false;
	/* Its streams end a moment before it does. */
	while (waitpid(l->child, &status, WNOHANG) != l->child) {
		if (++tries == 20)
			return false;
		usleep(50000);
	}
	l->child = 0;
	return WIFEXITED(status) && WEXITSTATUS(status) != 255;
}

static int closed_early(struct live *l, struct err *err)
{
	struct err why = ERR_INIT;

	/* What the child had to say comes with its end. */
	if (l->child) {
		struct pollfd p = { .fd = l->log_fd, .events = POLLIN };

		for (int i = 0; l->log_fd >= 0 && i < 20; i++) {
			poll(&p, 1, LOOK_MS);
			read_log(l);
		}
	}
	while (l->log.len && l->log.data[l->log.len - 1] == ' ')
		l->log.data[--l->log.len] = '\0';
	if (l->host && !l->greeted)
		err_add(&why, -EPIPE, "kab-agent did not start on %s%s%s.", l->host, l->log.len ? ": " : "",
			buf_str(&l->log));
	else if (l->host && agent_ended(l))
		err_add(&why, -EPIPE, "kab-agent on %s ended early: it was killed, or gave up after a long silence%s%s. "
			"What had arrived is kept.", l->host, l->log.len ? ": " : "", buf_str(&l->log));
	else if (l->host)
		err_add(&why, -EPIPE, "The connection to %s was lost%s%s. What had arrived is kept; the agent there ends "
			"the workload and unloads its module by itself.", l->host, l->log.len ? ": " : "",
			buf_str(&l->log));
	else if (l->sudo && !l->greeted)
		err_add(&why, -EPERM,
			"sudo did not start kab-agent%s%s. Recording takes root: run kab itself with sudo, "
			"or as root.",
			l->log.len ? ": " : "", buf_str(&l->log));
	else if (!l->greeted)
		err_add(&why, -EPIPE, "kab-agent ended before it had said a word%s%s.",
			l->log.len ? ": " : "", buf_str(&l->log));
	else
		err_add(&why, -EPIPE,
			"The stream from kab-agent ended early: the agent was killed, or its machine is "
			"gone%s%s. What had arrived is kept.",
			l->log.len ? ": " : "", buf_str(&l->log));
	return die(l, l->sudo && !l->greeted ? -EPERM : -EPIPE, &why, err);
}

/* Not a signal when nobody reads: the error is enough. */
static ssize_t put(int fd, const void *p, size_t n)
{
	ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

	return done < 0 && errno == ENOTSOCK ? write(fd, p, n) : done;
}

static int send_all(struct live *l, struct buf *b, struct err *err)
{
	uint64_t stopped_at = 0;
	size_t at = 0;
	int rc = 0;

	while (!rc && at < b->len) {
		struct pollfd p = { .fd = l->fd, .events = POLLOUT };
		ssize_t n = put(l->fd, b->data + at, b->len - at);

		if (n >= 0) {
			at += (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR) {
			rc = closed_early(l, err);
			break;
		}
		poll(&p, 1, LOOK_MS);
		if (!stopped_at && asked_to_stop(l))
			stopped_at = now_ms();
		/* Half a frame cannot be taken back, so the stream is lost with it. */
		if (stopped_at && now_ms() - stopped_at > CANCEL_MS) {
			struct err why = ERR_INIT;

			err_add(&why, -ECANCELED, "Cancelled while kab-agent did not read.");
			rc = die(l, -ECANCELED, &why, err);
		}
	}
	buf_release(b);
	return rc;
}

static int send_request(struct live *l, Kab__Request__BodyCase body, void *message, struct err *err)
{
	struct buf b = BUF_INIT;
	bool of_another = body == KAB__REQUEST__BODY_STOP || body == KAB__REQUEST__BODY_DATA ||
			  body == KAB__REQUEST__BODY_ALIVE;

	if (l->dead)
		return err_add(err, l->dead, "%s", l->died.text);
	if (wire_request(&b, of_another ? l->id : ++l->id, body, message)) {
		buf_release(&b);
		return err_add(err, -EMSGSIZE, "The request is longer than a frame may be (4 MiB).");
	}
	return send_all(l, &b, err);
}

/* Reads once, or waits a look. 0 or the negative code of a dead stream. */
static int look(struct live *l, struct err *err)
{
	struct pollfd p[] = { { .fd = l->fd, .events = POLLIN }, { .fd = l->log_fd, .events = POLLIN } };
	ssize_t n;

	if (poll(p, 2, LOOK_MS) <= 0)
		return 0;
	read_log(l);
	if (!p[0].revents)
		return 0;
	n = wire_read(&l->rd, l->fd);
	return n == 0 || (n < 0 && n != -EAGAIN) ? closed_early(l, err) : 0;
}

static int garbage(struct live *l, struct err *err)
{
	struct err why = ERR_INIT;

	err_add(&why, -EPROTO,
		"What came from kab-agent is not the stream that was expected: a frame is no event.");
	return die(l, -EPROTO, &why, err);
}

/* The next event: 1 (the caller frees it), 0 when more must be read, negative on a dead stream. */
static int next_event(struct live *l, Kab__Event **ev, struct err *err)
{
	struct err why = ERR_INIT;
	const uint8_t *p;
	size_t len;
	int rc = wire_next(&l->rd, "kab-agent", &p, &len, &why);

	if (rc < 0)
		return die(l, rc, &why, err);
	if (!rc)
		return 0;
	*ev = kab__event__unpack(NULL, len, p);
	return *ev ? 1 : garbage(l, err);
}

/* An error sentence of the agent, made fit for a terminal. */
static int agents_error(struct live *l, const Kab__Reply *r, struct err *err)
{
	struct err why = ERR_INIT;
	struct buf text = BUF_INIT;
	int code = r->code < 0 && r->code > -4096 ? r->code : -EPROTO;

	text_escape(&text, r->error, strlen(r->error), false);
	err_add(&why, code, "%s", buf_str(&text));
	buf_release(&text);
	if (!r->id)
		return die(l, code, &why, err);
	return err_add(err, code, "%s", why.text);
}

/* A connection that is cut may stay open at the other end for hours: silence tells the agent there. */
static void keep_alive(struct live *l)
{
	Kab__Alive alive = KAB__ALIVE__INIT;

	if (!l->host || now_ms() - l->alive_ms < ALIVE_MS)
		return;
	l->alive_ms = now_ms();
	send_request(l, KAB__REQUEST__BODY_ALIVE, &alive, NULL);
}

/* Cancels the request in hand, once. */
static void cancel(struct live *l)
{
	Kab__Stop stop = KAB__STOP__INIT;

	if (!l->stopped)
		send_request(l, KAB__REQUEST__BODY_STOP, &stop, NULL);
	l->stopped = true;
}

/* One event of a request in hand. 1: it was the reply, whose owner is now *reply. */
static int take(struct live *l, Kab__Event *ev, int *sink_rc, Kab__Reply **reply, struct err *err)
{
	struct err why = ERR_INIT;
	int rc;

	if (ev->body_case == KAB__EVENT__BODY_REPLY) {
		if (ev->reply->id && ev->reply->id != l->id)
			return garbage(l, err);
		if (!ev->reply->id)
			return agents_error(l, ev->reply, err);
		*reply = ev->reply;
		ev->body_case = KAB__EVENT__BODY__NOT_SET;
		ev->reply = NULL;
		return 1;
	}
	if (*sink_rc)
		return 0;
	rc = intake_event(&l->in, ev, &why);
	if (rc < 0 && why.len)
		return die(l, rc, &why, err);
	if (rc < 0) {
		*sink_rc = rc;
		cancel(l);
	}
	return 0;
}

/*
 * Serves the stream until the reply to the last request. 0: it succeeded, and
 * *reply is the caller's.
 */
static int await(struct live *l, Kab__Reply **reply, struct err *err)
{
	uint64_t stopped_at = 0;
	int rc = 0, sink_rc = 0;
	Kab__Event *ev;

	*reply = NULL;
	l->stopped = false;
	while (!*reply) {
		rc = next_event(l, &ev, err);
		if (rc > 0) {
			rc = take(l, ev, &sink_rc, reply, err);
			kab__event__free_unpacked(ev, NULL);
		} else if (!rc) {
			rc = look(l, err);
		}
		if (rc < 0)
			return rc;
		keep_alive(l);
		if (!l->stopped && asked_to_stop(l))
			cancel(l);
		if (l->stopped && !stopped_at)
			stopped_at = now_ms();
		if (stopped_at && now_ms() - stopped_at > CANCEL_MS) {
			struct err why = ERR_INIT;

			err_add(&why, -ECANCELED, "Cancelled, but kab-agent did not answer.");
			return die(l, -ECANCELED, &why, err);
		}
	}
	l->tainted = (*reply)->tainted;
	if ((*reply)->module)
		l->took = (struct live_took){ (*reply)->module->call_ns, (*reply)->module->transition_ns };
	if (sink_rc)
		rc = err_add(err, sink_rc, "The recording was stopped because what came could not be kept.");
	else
		rc = (*reply)->code < 0 ? agents_error(l, *reply, err) : 0;
	if (rc < 0) {
		kab__reply__free_unpacked(*reply, NULL);
		*reply = NULL;
	}
	return rc;
}

/* A request whose reply holds nothing but its code. */
static int ask(struct live *l, Kab__Request__BodyCase body, void *message, struct err *err)
{
	Kab__Reply *reply;
	int rc = send_request(l, body, message, err);

	if (!rc)
		rc = await(l, &reply, err);
	if (!rc)
		kab__reply__free_unpacked(reply, NULL);
	return rc;
}

/* --- opening and closing --- */

static int take_hello(struct live *l, const Kab__Event *ev, struct err *err)
{
	struct buf name = BUF_INIT;

	if (ev->body_case == KAB__EVENT__BODY_REPLY)
		return agents_error(l, ev->reply, err);
	if (ev->body_case != KAB__EVENT__BODY_HELLO)
		return garbage(l, err);
	if (ev->hello->version != WIRE_VERSION) {
		text_escape(&name, ev->hello->name, strlen(ev->hello->name), false);
		err_add(err, -EPROTO,
			"The agent (%.60s) speaks version %u of the stream and %s version %u; install both "
			"from the same build.",
			buf_str(&name), ev->hello->version, KAB_NAME, WIRE_VERSION);
		buf_release(&name);
		return -EPROTO;
	}
	l->greeted = true;
	return 0;
}

static int greet(struct live *l, int timeout_ms, struct err *err)
{
	Kab__Hello hello = KAB__HELLO__INIT;
	char name[] = KAB_NAME;
	uint64_t began = now_ms();
	Kab__Event *ev;
	int rc;

	while (!l->greeted) {
		rc = next_event(l, &ev, err);
		if (rc > 0) {
			rc = take_hello(l, ev, err);
			kab__event__free_unpacked(ev, NULL);
		} else if (!rc) {
			rc = look(l, err);
		}
		if (rc < 0)
			return rc;
		if (asked_to_stop(l))
			return err_add(err, -ECANCELED, "Cancelled before kab-agent was ready.");
		if (timeout_ms >= 0 && now_ms() - began > (uint64_t)timeout_ms)
			return err_add(err, -ETIMEDOUT, "kab-agent said nothing for %d s.",
				       timeout_ms / 1000);
	}
	hello.version = WIRE_VERSION;
	hello.name = name;
	return send_request(l, KAB__REQUEST__BODY_HELLO, &hello, err);
}

/* The child and its streams are the new live's, also on failure. */
static int start(struct live *l, const struct live_sink *sink, int timeout_ms, struct live **out, struct err *err)
{
	int rc;

	l->in.sink = *sink;
	fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
	rc = greet(l, timeout_ms, err);
	if (rc) {
		live_close(l);
		return rc;
	}
	l->alive_ms = now_ms();
	*out = l;
	return 0;
}

int live_attach(int fd, const struct live_sink *sink, int timeout_ms, struct live **out, struct err *err)
{
	struct live *l = mem_alloc(sizeof(*l));

	l->fd = fd;
	l->log_fd = -1;
	return start(l, sink, timeout_ms, out, err);
}

/* --user: who the workloads run as under an agent that sudo made root. */
static char *user_option(void)
{
	struct buf b = BUF_INIT;
	gid_t groups[32];
	int n = getgroups(32, groups);

	buf_printf(&b, "--user=%u:%u", getuid(), getgid());
	for (int i = 0; i < n && i < 31; i++)
		buf_printf(&b, ",%u", groups[i]);
	return buf_detach(&b);
}

/* `apart`: in a session of its own, without a terminal and its Ctrl-C. */
static void exec_child(const char *const *argv, bool apart, int stream, int log, int status)
{
	int num;

	if (apart)
		setsid();
	dup2(stream, 0);
	dup2(stream, 1);
	dup2(log, 2);
	execvp(argv[0], (char *const *)argv);
	num = errno;
	if (write(status, &num, sizeof(num)) < 0)
		_exit(126);
	_exit(127);
}

/* A new live whose stream is stdin and stdout of a child; NULL with a sentence when that did not start. */
static struct live *child_of(const char *const *argv, bool apart, struct err *err)
{
	int stream[2], log[2], status[2], num = 0;
	struct live *l;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) || pipe2(log, O_CLOEXEC) ||
	    pipe2(status, O_CLOEXEC)) {
		err_sys(err, errno, "Cannot make a stream for kab-agent");
		return NULL;
	}
	pid = fork();
	if (pid < 0) {
		err_sys(err, errno, "Cannot start kab-agent");
		return NULL;
	}
	if (!pid)
		exec_child(argv, apart, stream[1], log[1], status[1]);
	close(stream[1]);
	close(log[1]);
	close(status[1]);
	if (read(status[0], &num, sizeof(num)) != sizeof(num))
		num = 0;
	close(status[0]);
	if (num) {
		waitpid(pid, NULL, 0);
		close(stream[0]);
		close(log[0]);
		err_sys(err, num, "Cannot start %s", argv[0]);
		return NULL;
	}
	fcntl(log[0], F_SETFL, O_NONBLOCK);
	l = mem_alloc(sizeof(*l));
	l->fd = stream[0];
	l->log_fd = log[0];
	l->child = pid;
	return l;
}

int live_spawn(const char *program, bool sudo, const struct live_sink *sink, struct live **out,
	       struct err *err)
{
	char *user = user_option();
	const char *const direct[] = { program, "--stdio", NULL };
	const char *const by_sudo[] = { "sudo", "--", program, "--stdio", user, NULL };
	struct live *l = NULL;
	int rc = -EIO;

	if (access(program, X_OK))
		rc = err_sys(err, errno, "The agent %s cannot be run; run make", program);
	else if (sudo && !proc_have("sudo"))
		rc = err_add(err, -ENOENT,
			     "Recording takes root, and sudo is not installed: run kab as root.");
	else
		l = child_of(sudo ? by_sudo : direct, false, err);
	free(user);
	if (!l)
		return rc;
	l->sudo = sudo;
	/* sudo may be waiting for a password; it ends by itself, or by `stop`. */
	return start(l, sink, sudo ? -1 : HELLO_MS, out, err);
}

int live_spawn_over(const char *const *argv, const char *host, const struct live_sink *sink, int timeout_ms,
		    struct live **out, struct err *err)
{
	struct live *l = child_of(argv, true, err);

	if (!l)
		return -EIO;
	l->host = mem_strdup(host);
	return start(l, sink, timeout_ms, out, err);
}

/* The agent undoes what it did and ends; a child that never does is left to itself. */
static void reap(struct live *l)
{
	uint64_t began = now_ms();
	const struct timespec pause = { 0, 5000000 };

	/* Before its Hello it is sudo at a prompt, or not our program at all. */
	if (!l->greeted)
		kill(l->child, SIGTERM);
	while (waitpid(l->child, NULL, WNOHANG) == 0 && now_ms() - began < CLOSE_MS) {
		read_log(l);
		nanosleep(&pause, NULL);
	}
}

void live_close(struct live *l)
{
	if (!l)
		return;
	close(l->fd);
	if (l->child)
		reap(l);
	if (l->log_fd >= 0)
		close(l->log_fd);
	wire_in_release(&l->rd);
	intake_release(&l->in);
	buf_release(&l->log);
	free(l->host);
	free(l);
}

/* --- requests --- */

int live_facts(struct live *l, struct machine *m, struct err *err)
{
	Kab__Facts rq = KAB__FACTS__INIT;
	struct buf key = BUF_INIT, value = BUF_INIT;
	Kab__Reply *reply;
	int rc = send_request(l, KAB__REQUEST__BODY_FACTS, &rq, err);

	if (!rc)
		rc = await(l, &reply, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < reply->n_facts && i < FACTS_LIMIT; i++) {
		buf_clear(&key);
		buf_clear(&value);
		text_escape(&key, reply->facts[i]->key, strlen(reply->facts[i]->key), false);
		text_escape(&value, reply->facts[i]->value, strlen(reply->facts[i]->value), false);
		machine_add(m, buf_str(&key), buf_str(&value));
	}
	buf_release(&key);
	buf_release(&value);
	kab__reply__free_unpacked(reply, NULL);
	return 0;
}

static int send_data(struct live *l, const void *data, size_t len, struct err *err)
{
	Kab__Data part = KAB__DATA__INIT;
	int rc = 0;

	if (len > WIRE_BLOB_MAX)
		return err_add(err, -EFBIG, "A file of %zu bytes is more than the agent takes (64 MiB).",
			       len);
	for (size_t at = 0; at < len && !rc; at += part.bytes.len) {
		part.bytes.data = (uint8_t *)data + at;
		part.bytes.len = len - at < WIRE_CHUNK ? len - at : WIRE_CHUNK;
		rc = send_request(l, KAB__REQUEST__BODY_DATA, &part, err);
	}
	return rc;
}

int live_module_load(struct live *l, const char *name, const void *ko, size_t len, const char *params,
		     struct err *err)
{
	Kab__ModuleLoad rq = KAB__MODULE_LOAD__INIT;
	int rc = send_data(l, ko, len, err);

	rq.name = (char *)name;
	rq.params = (char *)params;
	rq.patience_s = l->patience_s;
	l->took = (struct live_took){ 0 };
	return rc ? rc : ask(l, KAB__REQUEST__BODY_MODULE_LOAD, &rq, err);
}

int live_module_switch(struct live *l, const char *name, enum variant v, struct err *err)
{
	static const Kab__Variant variants[VARIANT_COUNT] = {
		[VARIANT_NONE] = KAB__VARIANT__NONE,
		[VARIANT_NATIVE] = KAB__VARIANT__NATIVE,
		[VARIANT_BEFORE] = KAB__VARIANT__BEFORE,
		[VARIANT_AFTER] = KAB__VARIANT__AFTER,
		[VARIANT_AGAIN] = KAB__VARIANT__BEFORE,
	};
	Kab__ModuleSwitch rq = KAB__MODULE_SWITCH__INIT;

	rq.name = (char *)name;
	rq.variant = variants[v];
	rq.patience_s = l->patience_s;
	l->took = (struct live_took){ 0 };
	return ask(l, KAB__REQUEST__BODY_MODULE_SWITCH, &rq, err);
}

int live_module_unload(struct live *l, const char *name, struct err *err)
{
	Kab__ModuleUnload rq = KAB__MODULE_UNLOAD__INIT;

	rq.name = (char *)name;
	rq.patience_s = l->patience_s;
	l->took = (struct live_took){ 0 };
	return ask(l, KAB__REQUEST__BODY_MODULE_UNLOAD, &rq, err);
}

int live_module_keep(struct live *l, const char *name, struct err *err)
{
	Kab__ModuleKeep rq = KAB__MODULE_KEEP__INIT;

	rq.name = (char *)name;
	return ask(l, KAB__REQUEST__BODY_MODULE_KEEP, &rq, err);
}

void live_patience(struct live *l, unsigned seconds)
{
	l->patience_s = seconds;
}

struct live_took live_took(const struct live *l)
{
	return l->took;
}

uint64_t live_tainted(const struct live *l)
{
	return l->tainted;
}

/* --- probe --- */

static char *escaped(const char *s)
{
	struct buf b = BUF_INIT;

	text_escape(&b, s, strlen(s), false);
	return b.data ? buf_detach(&b) : mem_strdup("");
}

static char **strings(char *const *from, size_t n, size_t *count)
{
	char **v;

	*count = n < PROBE_LIMIT ? n : PROBE_LIMIT;
	v = mem_calloc(*count + 1, sizeof(*v));
	for (size_t i = 0; i < *count; i++)
		v[i] = escaped(from[i]);
	return v;
}

static void take_symbol(struct probed_symbol *s, const char *asked, const Kab__ProbedSymbol *from)
{
	s->name = mem_strdup(asked);
	s->code = from->code;
	s->data = from->data;
	s->in_modules = from->in_modules;
	s->traceable = from->traceable;
	s->parts = strings(from->parts, from->n_parts, &s->n_parts);
	s->owners = strings(from->owners, from->n_owners, &s->n_owners);
}

static int take_probe(struct live *l, const char *const *symbols, size_t n, const Kab__ProbeResult *from, struct probe *p,
		      struct err *err)
{
	if (!from || from->n_symbols > n)
		return garbage(l, err);
	p->tracing = from->tracing;
	p->symbols = mem_calloc(n + 1, sizeof(*p->symbols));
	/* The same name twice is answered once, in order of first mention. */
	for (size_t i = 0; i < n && p->n_symbols < from->n_symbols; i++)
		if (!strcmp(symbols[i], from->symbols[p->n_symbols]->name)) {
			take_symbol(&p->symbols[p->n_symbols], symbols[i], from->symbols[p->n_symbols]);
			p->n_symbols++;
		}
	if (p->n_symbols < from->n_symbols)
		return garbage(l, err);
	p->n_modules = from->n_modules < PROBE_LIMIT ? from->n_modules : PROBE_LIMIT;
	p->modules = mem_calloc(p->n_modules + 1, sizeof(*p->modules));
	for (size_t i = 0; i < p->n_modules; i++)
		p->modules[i] = (struct probed_module){ .name = escaped(from->modules[i]->name),
			.variant = escaped(from->modules[i]->variant), .enabled = from->modules[i]->enabled,
			.transition = from->modules[i]->transition };
	return 0;
}

int live_probe(struct live *l, const char *const *symbols, size_t n, struct probe *p, struct err *err)
{
	Kab__Probe rq = KAB__PROBE__INIT;
	Kab__Reply *reply;
	int rc;

	memset(p, 0, sizeof(*p));
	rq.symbols = (char **)symbols;
	rq.n_symbols = n;
	rc = send_request(l, KAB__REQUEST__BODY_PROBE, &rq, err);
	if (!rc)
		rc = await(l, &reply, err);
	if (rc)
		return rc;
	rc = take_probe(l, symbols, n, reply->probe, p, err);
	if (rc)
		probe_release(p);
	kab__reply__free_unpacked(reply, NULL);
	return rc;
}

int live_put(struct live *l, const char *path_hint, const void *data, size_t len, char **remote_path,
	     struct err *err)
{
	Kab__Put rq = KAB__PUT__INIT;
	Kab__Reply *reply;
	int rc = send_data(l, data, len, err);

	rq.hint = (char *)path_hint;
	if (!rc)
		rc = send_request(l, KAB__REQUEST__BODY_PUT, &rq, err);
	if (!rc)
		rc = await(l, &reply, err);
	if (rc)
		return rc;
	*remote_path = mem_strdup(reply->path);
	kab__reply__free_unpacked(reply, NULL);
	return 0;
}

static size_t count(const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return n;
}

int live_capture(struct live *l, const char *const *argv, struct buf *out, int *exit_status, struct err *err)
{
	Kab__Capture rq = KAB__CAPTURE__INIT;
	Kab__Reply *reply;
	int rc;

	rq.argv = (char **)argv;
	rq.n_argv = count(argv);
	rc = send_request(l, KAB__REQUEST__BODY_CAPTURE, &rq, err);
	if (!rc)
		rc = await(l, &reply, err);
	if (rc)
		return rc;
	buf_add(out, reply->output.data, reply->output.len);
	*exit_status = reply->exit_status;
	kab__reply__free_unpacked(reply, NULL);
	return 0;
}

/* A short name of the target's for a terminal here; cut to its room. */
static void copy_name(char *to, size_t size, const char *from)
{
	struct buf text = BUF_INIT;

	text_escape(&text, from, strlen(from), false);
	snprintf(to, size, "%s", buf_str(&text));
	buf_release(&text);
}

static void take_metrics(struct live_result *r, const Kab__RunResult *from)
{
	const size_t room = sizeof(r->metrics) / sizeof(r->metrics[0]);

	for (size_t i = 0; i < from->n_metrics && r->n_metrics < room; i++) {
		struct live_metric *m = &r->metrics[r->n_metrics++];

		copy_name(m->name, sizeof(m->name), from->metrics[i]->name);
		copy_name(m->unit, sizeof(m->unit), from->metrics[i]->unit);
		m->value = from->metrics[i]->value;
	}
}

static int take_result(struct live *l, struct live_result *r, const Kab__Reply *reply, struct err *err)
{
	const Kab__RunResult *from = reply->result;

	if (!from || !isfinite(from->ops) || from->ops <= 0)
		return garbage(l, err);
	r->wall_ns = from->wall_ns;
	r->user_ns = from->user_ns;
	r->sys_ns = from->sys_ns;
	r->ops = from->ops;
	r->reported = from->reported;
	r->samples = from->samples;
	r->lost = from->lost;
	r->bad_stacks = from->bad_stacks;
	r->exit_status = reply->exit_status;
	copy_name(r->event, sizeof(r->event), from->event);
	take_metrics(r, from);
	buf_add(&r->output, reply->output.data, reply->output.len);
	return 0;
}

void live_result_release(struct live_result *r)
{
	buf_release(&r->output);
}

int live_run(struct live *l, const struct live_block *b, struct live_result *r, struct err *err)
{
	Kab__Run rq = KAB__RUN__INIT;
	Kab__Reply *reply;
	int rc;

	memset(r, 0, sizeof(*r));
	rq.argv = (char **)b->argv;
	rq.n_argv = count(b->argv);
	rq.sampled = b->sampled;
	rq.event = b->event ? (char *)b->event : "";
	rq.freq_hz = b->freq_hz;
	rq.user_only = b->user_only;
	rq.drain_after = b->drain_after;
	rq.stream_output = b->inherit_output;
	rq.clocks = b->clocks;
	rq.ring_kib = b->ring_kib;
	l->in.print = b->inherit_output;
	rc = send_request(l, KAB__REQUEST__BODY_RUN, &rq, err);
	if (!rc)
		rc = await(l, &reply, err);
	if (rc)
		return rc;
	rc = take_result(l, r, reply, err);
	kab__reply__free_unpacked(reply, NULL);
	return rc;
}
