// SPDX-License-Identifier: GPL-2.0-or-later
/* session: see session.h. */
#include "collectors/live/agent/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collectors/live/agent/version.h"

#define REASONS_LIMIT 2000	/* bytes of kernel log kept for an error sentence */

static const struct request {
	Kab__Request__BodyCase body;
	int (*serve)(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err);
} requests[] = {
	{ KAB__REQUEST__BODY_FACTS, serve_facts },
	{ KAB__REQUEST__BODY_MODULE_LOAD, serve_module_load },
	{ KAB__REQUEST__BODY_MODULE_SWITCH, serve_module_switch },
	{ KAB__REQUEST__BODY_MODULE_UNLOAD, serve_module_unload },
	{ KAB__REQUEST__BODY_MODULE_KEEP, serve_module_keep },
	{ KAB__REQUEST__BODY_PROBE, serve_probe },
	{ KAB__REQUEST__BODY_PUT, serve_put },
	{ KAB__REQUEST__BODY_CAPTURE, serve_capture },
	{ KAB__REQUEST__BODY_RUN, serve_run },
};

/* --- waiting and writing --- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The time until kab has been silent for too long, at most `timeout_ms` (-1: for ever). */
static int until_silent(const struct session *s, int timeout_ms)
{
	uint64_t until = s->heard_ms + s->silence_ms, now = now_ms();
	int left = now < until ? (int)(until - now) : 0;

	return s->silence_ms && (timeout_ms < 0 || left < timeout_ms) ? left : timeout_ms;
}

/*
 * Poll on the stream, the leash, the signals and `n` more. What arrives is
 * only read into rd here.
 */
static int watch(struct session *s, short out_events, struct pollfd *fds, size_t n, int timeout_ms)
{
	struct pollfd all[8];
	int ready;

	all[0] = (struct pollfd){ .fd = s->ended ? -1 : s->in, .events = POLLIN };
	all[1] = (struct pollfd){ .fd = s->worker->leash, .events = POLLIN };
	all[2] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
	all[3] = (struct pollfd){ .fd = out_events ? s->out_fd : -1, .events = out_events };
	for (size_t i = 0; i < n; i++)
		all[4 + i] = fds[i];
	ready = poll(all, 4 + n, until_silent(s, timeout_ms));
	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < n; i++)
		fds[i] = all[4 + i];
	if (all[1].revents || all[2].revents)
		s->ended = true;
	if (all[0].revents) {
		ssize_t got = wire_read(&s->rd, s->in);

		if (got == 0 || (got < 0 && got != -EAGAIN))
			s->ended = true;
		else if (got > 0)
			s->heard_ms = now_ms();
	}
	if (s->silence_ms && now_ms() - s->heard_ms >= s->silence_ms)
		s->ended = true;
	ready = 0;
	for (size_t i = 0; i < n; i++)
		ready += !!fds[i].revents;
	return ready;
}

static void bad_stream(struct session *s, const char *sentence)
{
	Kab__Reply reply = KAB__REPLY__INIT;

	reply.code = -EPROTO;
	reply.error = (char *)sentence;
	wire_event(&s->out, KAB__EVENT__BODY_REPLY, &reply);
	session_send(s);
	s->ended = true;
}

/* While a request is in hand only Stop and Alive may come. */
static void take_stop(struct session *s)
{
	struct err err = ERR_INIT;
	const uint8_t *p;
	Kab__Request *rq;
	size_t len;
	int rc;

	while (!s->ended && (rc = wire_next(&s->rd, "kab", &p, &len, &err))) {
		rq = rc > 0 ? kab__request__unpack(NULL, len, p) : NULL;
		if (rq && rq->body_case == KAB__REQUEST__BODY_STOP)
			s->stop = true;
		else if (!rq || rq->body_case != KAB__REQUEST__BODY_ALIVE)
			bad_stream(s, rc < 0 ? err.text : "kab-agent is busy; only Stop may come now.");
		if (rq)
			kab__request__free_unpacked(rq, NULL);
	}
}

int session_wait(struct session *s, struct pollfd *fds, size_t n, int timeout_ms)
{
	int ready;

	if (s->ended)
		return -EPIPE;
	ready = watch(s, 0, fds, n, timeout_ms);
	take_stop(s);
	if (s->ended)
		return -EPIPE;
	return s->stop ? -ECANCELED : ready;
}

int session_send(struct session *s)
{
	size_t at = 0;

	while (!s->ended && at < s->out.len) {
		ssize_t n = write(s->out_fd, s->out.data + at, s->out.len - at);

		if (n >= 0)
			at += (size_t)n;
		else if (errno == EAGAIN)
			watch(s, POLLOUT, NULL, 0, -1);
		else if (errno != EINTR)
			s->ended = true;
	}
	buf_clear(&s->out);
	return s->ended ? -EPIPE : 0;
}

void session_log(struct session *s, const char *fmt, ...)
{
	Kab__Log m = KAB__LOG__INIT;
	char line[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	m.line = line;
	wire_event(&s->out, KAB__EVENT__BODY_LOG, &m);
}

static void kernel_line(void *ctx, int level, const char *text)
{
	struct session *s = ctx;

	if (level <= KMSG_WARNING)
		session_log(s, "kernel: %s", text);
	if (s->reasons.len + strlen(text) + 3 < REASONS_LIMIT)
		buf_printf(&s->reasons, "%s\"%s\"", s->reasons.len ? ", " : "", text);
}

void session_kernel_log(struct session *s)
{
	kmsg_read(&s->kmsg, kernel_line, s);
}

/* --- requests --- */

static void answer_release(struct answer *a)
{
	buf_release(&a->output);
	free(a->path);
	for (size_t i = 0; i < a->facts.n; i++) {
		free(a->facts.v[i].key);
		free(a->facts.v[i].value);
	}
	vec_release(&a->facts);
	if (a->probe)
		kab__probe_result__free_unpacked(a->probe, NULL);
}

/* 0 where it cannot be read. */
static uint64_t tainted(void)
{
	struct buf text = BUF_INIT;
	uint64_t bits = 0;

	if (!buf_read_file(&text, "/proc/sys/kernel/tainted", 64, NULL))
		bits = strtoull(buf_str(&text), NULL, 10);
	buf_release(&text);
	return bits;
}

static void reply(struct session *s, uint32_t id, int code, struct answer *a, struct err *err)
{
	Kab__Reply r = KAB__REPLY__INIT;
	Kab__Fact *facts = mem_calloc(a->facts.n + 1, sizeof(*facts));
	Kab__Fact **list = mem_calloc(a->facts.n + 1, sizeof(*list));

	for (size_t i = 0; i < a->facts.n; i++) {
		kab__fact__init(&facts[i]);
		facts[i].key = a->facts.v[i].key;
		facts[i].value = a->facts.v[i].value;
		list[i] = &facts[i];
	}
	r.id = id;
	r.code = code < 0 ? code : 0;
	r.error = code < 0 ? err->text : "";
	r.n_facts = a->facts.n;
	r.facts = list;
	r.path = a->path ? a->path : "";
	r.output.data = (uint8_t *)a->output.data;
	r.output.len = a->output.len;
	r.exit_status = a->exit_status;
	r.result = a->has_result ? &a->result : NULL;
	r.module = a->has_module ? &a->module : NULL;
	r.probe = a->probe;
	r.tainted = tainted();
	if (wire_event(&s->out, KAB__EVENT__BODY_REPLY, &r))
		bad_stream(s, "kab-agent's answer is longer than a frame may be.");
	session_send(s);
	free(facts);
	free(list);
}

static void take_hello(struct session *s, const Kab__Hello *hello)
{
	char sentence[300];

	/* A port that was closed and opened again at once looks as if it had never been closed. */
	if (s->greeted) {
		bad_stream(s, "kab-agent was still serving another kab, which is gone; try again.");
		return;
	}
	s->greeted = hello->version == WIRE_VERSION;
	if (s->greeted)
		return;
	snprintf(sentence, sizeof(sentence),
		 "kab-agent %s speaks version %u of the stream and kab (%.40s) version %u; install both "
		 "from the same build.",
		 AGENT_VERSION, WIRE_VERSION, hello->name, hello->version);
	bad_stream(s, sentence);
}

static void take_data(struct session *s, const Kab__Data *d)
{
	if (s->data.len + d->bytes.len > WIRE_BLOB_MAX)
		bad_stream(s, "kab sent more data in one piece than kab-agent takes (64 MiB).");
	else
		buf_add(&s->data, d->bytes.data, d->bytes.len);
}

static void serve(struct session *s, const Kab__Request *rq)
{
	const struct request *r = requests, *end = r + sizeof(requests) / sizeof(requests[0]);
	struct err err = ERR_INIT;
	struct answer a = { 0 };
	int rc;

	while (r < end && r->body != rq->body_case)
		r++;
	if (!s->greeted || r == end) {
		bad_stream(s, s->greeted ? "kab-agent does not know this request." :
			   "kab-agent got a request before kab had said its version.");
		return;
	}
	s->stop = false;
	buf_clear(&s->reasons);
	kab__run_result__init(&a.result);
	rc = r->serve(s, rq, &a, &err);
	session_kernel_log(s);
	buf_release(&s->data);		/* used, or meant for a request that failed */
	if (rc == -ECANCELED && !err.len)
		err_add(&err, rc, "Cancelled.");
	if (!s->ended)
		reply(s, rq->id, rc, &a, &err);
	answer_release(&a);
}

static void take_request(struct session *s, const Kab__Request *rq)
{
	if (rq->body_case == KAB__REQUEST__BODY_HELLO && rq->hello)
		take_hello(s, rq->hello);
	else if (rq->body_case == KAB__REQUEST__BODY_DATA && s->greeted)
		take_data(s, rq->data);
	else if (rq->body_case == KAB__REQUEST__BODY_STOP)
		;	/* what it should have stopped was already over */
	else if (rq->body_case == KAB__REQUEST__BODY_ALIVE)
		;	/* that it came is all it says */
	else
		serve(s, rq);
}

static void take_frame(struct session *s, const uint8_t *p, size_t len)
{
	Kab__Request *rq = kab__request__unpack(NULL, len, p);

	if (!rq) {
		bad_stream(s, "kab-agent got a frame that is no request; something else wrote to it.");
		return;
	}
	take_request(s, rq);
	kab__request__free_unpacked(rq, NULL);
}

static void greet(struct session *s)
{
	Kab__Hello hello = KAB__HELLO__INIT;
	char name[] = "kab-agent " AGENT_VERSION;

	hello.version = WIRE_VERSION;
	hello.name = name;
	wire_event(&s->out, KAB__EVENT__BODY_HELLO, &hello);
	modules_left(s);
	session_send(s);
}

static void session_release(struct session *s)
{
	wire_in_release(&s->rd);
	buf_release(&s->out);
	buf_release(&s->reasons);
	buf_release(&s->data);
	buf_release(&s->kernel_modules);
	for (size_t i = 0; i < s->modules.n; i++)
		buf_release(&s->modules.v[i].ko);
	vec_release(&s->modules);
	kmsg_close(&s->kmsg);
	close(s->signals);
}

int session_run(struct worker *w, int in, int out, const struct identity *user, unsigned silence_s)
{
	struct session s = { .in = in, .out_fd = out, .worker = w, .user = user, .rd = WIRE_IN_INIT,
			     .silence_ms = silence_s * 1000, .heard_ms = now_ms() };
	struct err err = ERR_INIT;
	const uint8_t *p;
	sigset_t set;
	size_t len;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
	fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
	kmsg_open(&s.kmsg);
	greet(&s);
	while (!s.ended) {
		rc = wire_next(&s.rd, "kab", &p, &len, &err);
		if (rc > 0)
			take_frame(&s, p, len);
		else if (rc < 0)
			bad_stream(&s, err.text);
		else
			watch(&s, 0, NULL, 0, -1);
	}
	tree_kill();
	ledger_undo(w->ledger);
	session_release(&s);
	return s.greeted ? 0 : 1;
}
