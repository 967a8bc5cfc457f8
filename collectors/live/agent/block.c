// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * block: runs a command, watched (a timed block) or plainly (a capture).
 *
 * A block that is drained as it runs is visited by the clock, more often when
 * the rings fill faster. With drain_after, nothing here runs between the exec
 * and the end: output goes to memory files, the rings are large, and the wait
 * has no timer. Nor does what went before: the kernel frees the rings of a
 * sampled block some ticks later, and that time would be the next block's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collectors/live/agent/counters.h"
#include "collectors/live/agent/recorder.h"
#include "collectors/live/agent/ring.h"
#include "collectors/live/agent/session.h"
#include "collectors/live/agent/tracefs.h"

#define OUTPUT_LIMIT (64U << 10)	/* of a block's output kept: the last part */
#define CAPTURE_LIMIT (1U << 20)
#define RESULTS_LIMIT (64U << 10)
#define RING_KIB 1024			/* per CPU */
#define RING_KIB_AFTER 8192		/* holding a whole block: 2 s at 4000 Hz and 127 frames */
#define TRACE_FACTOR 4			/* rings of tracepoints are larger: there is a record for each */
#define TRACEPOINTS_MAX 64
#define VISIT_MIN_MS 5
#define VISIT_MAX_MS 100
#define TICK_NS 250000000
#define SETTLE_MS 200

struct block {
	struct session *s;
	const Kab__Run *run;
	struct answer *a;
	struct workload w;
	struct ring *ring;		/* NULL when not sampled */
	struct counters *counters;	/* NULL when not counted */
	struct recorder rec;
	uint64_t visited_ns;		/* when the rings were last looked at: nothing older can follow */
	uint64_t ticked_ns;
	int visit_ms;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* NULL-terminated; the strings stay the request's. */
static char **argv_of(char **argv, size_t n)
{
	char **copy = mem_calloc(n + 1, sizeof(*copy));

	memcpy(copy, argv, n * sizeof(*copy));
	return copy;
}

/* --- output --- */

static void keep_last(struct buf *b, size_t limit)
{
	if (b->len <= limit)
		return;
	memmove(b->data, b->data + b->len - limit, limit);
	b->len = limit;
	b->data[limit] = '\0';
}

/* Reads one pipe as far as it goes; closes it at its end. */
static void pump(struct block *b, int *fd, unsigned number)
{
	Kab__Output m = KAB__OUTPUT__INIT;
	char chunk[16384];
	ssize_t n;

	while (*fd >= 0 && (n = read(*fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		if (b->run->stream_output) {
			m.fd = number;
			m.bytes.data = (uint8_t *)chunk;
			m.bytes.len = (size_t)n;
			wire_event(&b->s->out, KAB__EVENT__BODY_OUTPUT, &m);
			if (session_send(b->s))
				return;
		} else {
			buf_add(&b->a->output, chunk, (size_t)n);
			if (b->a->output.len > 2 * OUTPUT_LIMIT)
				keep_last(&b->a->output, OUTPUT_LIMIT);
		}
	}
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The last `limit` bytes of a memory file. */
static void read_file(int fd, size_t limit, struct buf *out)
{
	off_t size = lseek(fd, 0, SEEK_END), at = size > (off_t)limit ? size - (off_t)limit : 0;

	lseek(fd, at, SEEK_SET);
	buf_read_fd(out, fd, limit, NULL);
}

static void send_output(struct block *b)
{
	Kab__Output m = KAB__OUTPUT__INIT;

	keep_last(&b->a->output, OUTPUT_LIMIT);
	if (!b->run->stream_output || !b->a->output.len)
		return;
	m.fd = 1;
	m.bytes.data = (uint8_t *)b->a->output.data;
	m.bytes.len = b->a->output.len;
	wire_event(&b->s->out, KAB__EVENT__BODY_OUTPUT, &m);
	buf_clear(&b->a->output);
}

/* --- samples --- */

static uint64_t lost(const struct block *b)
{
	uint64_t told;

	/* Two counts of the same loss: the records in the rings lack what was lost after the last of them. */
	if (!ring_lost(b->ring, &told) || told < b->rec.lost)
		told = b->rec.lost;
	return told + b->rec.lost_samples + b->rec.dropped;
}

static void visit(struct block *b)
{
	uint64_t now = now_ns();
	size_t bytes, size = ring_bytes(b->ring);

	bytes = ring_drain(b->ring, recorder_take, &b->rec);
	recorder_flush(&b->rec, b->visited_ns);
	b->visited_ns = now;
	if (bytes > size / 4 && b->visit_ms > VISIT_MIN_MS)
		b->visit_ms /= 2;
	else if (bytes < size / 16 && b->visit_ms < VISIT_MAX_MS)
		b->visit_ms *= 2;
}

static void tick(struct block *b)
{
	Kab__Tick m = KAB__TICK__INIT;
	uint64_t now = now_ns();

	if (now - b->ticked_ns < TICK_NS)
		return;
	b->ticked_ns = now;
	m.elapsed_ns = now - b->w.started_ns;
	m.samples = b->rec.samples;
	m.lost = b->ring ? lost(b) : 0;
	wire_event(&b->s->out, KAB__EVENT__BODY_TICK, &m);
}

/* Until the workload's first process ends. */
static int follow(struct block *b)
{
	bool after = b->run->drain_after;
	int rc;

	do {
		struct pollfd fds[] = {
			{ .fd = b->w.pidfd, .events = POLLIN },
			{ .fd = after ? -1 : b->w.out, .events = POLLIN },
			{ .fd = after ? -1 : b->w.err, .events = POLLIN },
		};

		rc = session_wait(b->s, fds, 3, after ? -1 : b->visit_ms);
		if (rc < 0)
			return rc;
		if (fds[0].revents) {
			workload_reap(&b->w);
			return 0;
		}
		if (after)
			continue;
		if (fds[1].revents)
			pump(b, &b->w.out, 1);
		if (fds[2].revents)
			pump(b, &b->w.err, 2);
		if (b->ring)
			visit(b);
		tick(b);
		session_kernel_log(b->s);
		rc = session_send(b->s);
	} while (!rc);
	return rc;
}

static void finish_samples(struct block *b)
{
	Kab__RunResult *r = &b->a->result;

	ring_disable(b->ring);
	ring_drain(b->ring, recorder_take, &b->rec);
	recorder_flush(&b->rec, UINT64_MAX);
	r->samples = b->rec.samples;
	r->bad_stacks = b->rec.damaged;
	r->lost = lost(b);
	r->event = (char *)ring_event(b->ring);
	if (b->rec.dropped)
		session_log(b->s, "%llu records of the kernel's rings made no sense and were dropped.",
			    (unsigned long long)b->rec.dropped);
}

static void finish_results(struct block *b)
{
	struct results *r = &b->a->results;
	Kab__RunResult *out = &b->a->result;
	struct buf text = BUF_INIT;

	read_file(b->w.results, RESULTS_LIMIT, &text);
	results_parse(buf_str(&text), text.len, r);
	buf_release(&text);
	if (r->bad_lines)
		session_log(b->s, "%u lines that the workload wrote to KAB_RESULT_FD were not understood.",
			    r->bad_lines);
	out->ops = r->ops;
	out->reported = r->reported;
	out->wall_ns = r->has_wall ? r->wall_ns : b->w.ended_ns - b->w.started_ns;
	out->user_ns = r->has_user ? r->user_ns : b->w.user_ns;
	out->sys_ns = r->has_sys ? r->sys_ns : b->w.sys_ns;
	for (size_t i = 0; i < r->n_metrics; i++) {
		kab__metric__init(&b->a->metrics[i]);
		b->a->metrics[i].name = r->metrics[i].name;
		b->a->metrics[i].unit = r->metrics[i].unit;
		b->a->metrics[i].value = r->metrics[i].value;
		b->a->metric_list[i] = &b->a->metrics[i];
	}
	out->n_metrics = r->n_metrics;
	out->metrics = b->a->metric_list;
	b->a->exit_status = b->w.exit_status;
	b->a->has_result = true;
}

static void finish_counters(struct block *b)
{
	Kab__RunResult *out = &b->a->result;
	struct count v[COUNTERS_MAX];

	out->n_counters = counters_read(b->counters, v);
	out->counters = b->a->counter_list;
	for (size_t i = 0; i < out->n_counters; i++) {
		Kab__Counter *c = &b->a->counters[i];

		kab__counter__init(c);
		c->name = (char *)v[i].name;
		c->unit = (char *)v[i].unit;
		c->value = v[i].value;
		c->running = v[i].running;
		b->a->counter_list[i] = c;
	}
}

static void finish_output(struct block *b)
{
	if (b->run->drain_after) {
		read_file(b->w.out, OUTPUT_LIMIT, &b->a->output);
	} else {
		pump(b, &b->w.out, 1);
		pump(b, &b->w.err, 2);
	}
	send_output(b);
}

static size_t max_stack(void)
{
	struct buf text = BUF_INIT;
	size_t n = 127;

	if (!buf_read_file(&text, "/proc/sys/kernel/perf_event_max_stack", 64, NULL))
		n = strtoul(buf_str(&text), NULL, 10);
	buf_release(&text);
	return n;
}

/* Looks the tracepoints up, and tells kab of their formats. */
static int find_tracepoints(struct block *b, struct ring_tracepoint *v, struct err *err)
{
	const Kab__Run *run = b->run;
	int rc = 0;

	if (run->n_tracepoints > TRACEPOINTS_MAX)
		return err_add(err, -E2BIG,
			       "kab-agent records %d tracepoints at once, and %zu were asked for.",
			       TRACEPOINTS_MAX, run->n_tracepoints);
	for (size_t i = 0; !rc && i < run->n_tracepoints; i++) {
		const Kab__Tracepoint *t = run->tracepoints[i];
		Kab__Format m = KAB__FORMAT__INIT;
		struct buf text = BUF_INIT;

		rc = tracefs_event(t->system, t->name, &v[i].id, &text, err);
		v[i].everywhere = t->everywhere;
		if (!rc) {
			m.id = v[i].id;
			m.system = t->system;
			m.name = t->name;
			m.text.data = (uint8_t *)text.data;
			m.text.len = text.len;
			wire_event(&b->s->out, KAB__EVENT__BODY_FORMAT, &m);
		}
		buf_release(&text);
	}
	return rc;
}

static int start_sampling(struct block *b, struct err *err)
{
	const Kab__Run *run = b->run;
	struct ring_tracepoint tracepoints[TRACEPOINTS_MAX];
	size_t kib = run->ring_kib ? run->ring_kib : run->drain_after ? RING_KIB_AFTER : RING_KIB;
	const struct ring_opts o = {
		.event = run->event,
		.freq_hz = run->freq_hz,
		.user_only = run->user_only,
		.clocks = run->clocks,
		.pid = b->w.pid,
		.kib = kib,
		.tracepoints = tracepoints,
		.n_tracepoints = run->n_tracepoints,
		.trace_kib = kib * TRACE_FACTOR,
	};
	int rc = find_tracepoints(b, tracepoints, err);

	if (!rc)
		rc = ring_open(&o, &b->ring, err);
	if (rc)
		return rc;
	recorder_init(&b->rec, &b->s->out, b->s->next_stack, max_stack());
	b->rec.clocks = ring_clocks(b->ring);
	recorder_start(&b->rec, b->w.pid, run->argv[0]);
	return 0;
}

static int run_block(struct block *b, char **argv, struct err *err)
{
	const struct workload_opts o = { .argv = argv, .user = b->s->user, .files = b->run->drain_after };
	int rc = b->run->drain_after ? session_wait(b->s, NULL, 0, SETTLE_MS) : 0;

	if (rc >= 0)
		rc = b->run->sampled ? send_symbols(b->s, err) : 0;
	if (!rc)
		rc = workload_prepare(&o, &b->w, err);
	if (!rc && b->run->sampled)
		rc = start_sampling(b, err);
	if (!rc && b->run->counted)
		b->counters = counters_open(b->w.pid);
	if (!rc)
		rc = session_send(b->s);
	if (!rc && b->ring)
		ring_enable(b->ring);
	if (!rc)
		rc = workload_go(&b->w, argv[0], err);
	if (rc)
		return rc;
	b->ticked_ns = b->visited_ns = b->w.started_ns;
	rc = follow(b);
	if (rc)
		return rc;
	if (b->counters)
		finish_counters(b);
	if (b->ring)
		finish_samples(b);
	finish_output(b);
	finish_results(b);
	return session_send(b->s);
}

int serve_run(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	struct block b = {
		.s = s,
		.run = rq->run,
		.a = a,
		.visit_ms = VISIT_MAX_MS,
		.w = { .pidfd = -1, .go = -1, .status = -1, .out = -1, .err = -1, .results = -1 }
	};
	char **argv;
	int rc;

	if (!rq->run->n_argv)
		return err_add(err, -EINVAL, "There is no command to run.");
	argv = argv_of(rq->run->argv, rq->run->n_argv);
	rc = run_block(&b, argv, err);
	workload_release(&b.w);
	counters_close(b.counters);
	if (b.ring) {
		ring_close(b.ring);
		s->next_stack = recorder_release(&b.rec);
	}
	free(argv);
	return rc;
}

/* --- capture --- */

static int collect(struct session *s, struct workload *w, struct buf *out, struct buf *errors,
		   struct err *err)
{
	struct buf *into[] = { out, errors };
	int *fd[] = { &w->out, &w->err };
	char chunk[16384];

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = w->pidfd, .events = POLLIN },
			{ .fd = w->out, .events = POLLIN },
			{ .fd = w->err, .events = POLLIN },
		};
		int rc = session_wait(s, fds, 3, -1);

		if (rc < 0)
			return rc;
		for (size_t i = 0; i < 2; i++) {
			ssize_t n = fds[1 + i].revents ? read(*fd[i], chunk, sizeof(chunk)) : -1;

			if (n > 0)
				buf_add(into[i], chunk, (size_t)n);
			else if (n == 0) {
				close(*fd[i]);
				*fd[i] = -1;
			}
		}
		if (out->len > CAPTURE_LIMIT)
			return err_add(err, -EFBIG, "The command printed more than 1 MiB.");
		keep_last(errors, OUTPUT_LIMIT);
		/* Not before its output was read: it may have been the last to write. */
		if (fds[0].revents && !fds[1].revents && !fds[2].revents)
			return 0;
	}
}

int serve_capture(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	struct workload w;
	struct buf errors = BUF_INIT;
	char **argv;
	int rc;

	if (!rq->capture->n_argv)
		return err_add(err, -EINVAL, "There is no command to run.");
	argv = argv_of(rq->capture->argv, rq->capture->n_argv);
	rc = workload_prepare(&(struct workload_opts){ .argv = argv, .user = s->user }, &w, err);
	if (!rc) {
		rc = workload_go(&w, argv[0], err);
		if (!rc)
			rc = collect(s, &w, &a->output, &errors, err);
		if (!rc) {
			workload_reap(&w);
			a->exit_status = w.exit_status;
		}
		workload_release(&w);
	}
	if (errors.len)
		session_log(s, "%.100s: %.300s", argv[0], buf_str(&errors));
	buf_release(&errors);
	free(argv);
	return rc;
}
