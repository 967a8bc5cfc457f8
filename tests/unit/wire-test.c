// SPDX-License-Identifier: GPL-2.0-or-later
/* wire: frames survive any cut of the stream; what no peer of ours sends never reaches a sink. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "collectors/live/intake.h"
#include "collectors/live/wire.h"

/* --- a sink that believes nothing --- */

struct seen {
	uint32_t stacks;
	size_t samples, maps, threads, kallsyms;
	uint64_t first_time, last_ip;
	char comm[64], path[64];
};

static int on_stack(void *ctx, uint32_t number, uint32_t pid, const uint64_t *ips, size_t n, size_t n_kernel,
		    bool damaged, bool truncated)
{
	struct seen *s = ctx;

	(void)pid, (void)damaged, (void)truncated;
	assert_int_equal(number, s->stacks++);
	assert_true(n > 0 && n_kernel <= n);
	s->last_ip = ips[n - 1];
	return 0;
}

static int on_samples(void *ctx, const struct live_sample *v, size_t n)
{
	struct seen *s = ctx;

	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_true(v[i].stack < s->stacks || v[i].stack == LIVE_NO_STACK);
	s->samples += n;
	s->first_time = v[0].time_ns;
	return 0;
}

static int on_map(void *ctx, const struct live_map *m)
{
	struct seen *s = ctx;

	assert_true(strlen(m->path) < 4096 && strlen(m->build_id) <= 40);
	strncpy(s->path, m->path, sizeof(s->path) - 1);
	s->maps++;
	return 0;
}

static int on_thread(void *ctx, uint32_t pid, uint32_t tid, const char *comm)
{
	struct seen *s = ctx;

	(void)pid, (void)tid;
	assert_true(strlen(comm) < sizeof(s->comm));
	strcpy(s->comm, comm);
	s->threads++;
	return 0;
}

static int on_kallsyms(void *ctx, const char *text, size_t len)
{
	struct seen *s = ctx;

	assert_int_equal(strlen(text), len);
	s->kallsyms = len;
	return 0;
}

static struct intake intake_to(struct seen *s)
{
	memset(s, 0, sizeof(*s));
	return (struct intake){ .sink = { .ctx = s, .stack = on_stack, .samples = on_samples, .map = on_map,
					  .thread = on_thread, .kallsyms = on_kallsyms } };
}

/* --- a stream as an agent would write it --- */

static void add_stack(struct buf *out, uint32_t number)
{
	int64_t ips[] = { (int64_t)0xffffffff81000010, 0x20, -0x10 };
	Kab__Stack m = KAB__STACK__INIT;

	m.number = number;
	m.pid = 7;
	m.n_kernel = 3;
	m.n_ips = 3;
	m.ips = ips;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_STACK, &m), 0);
}

static void add_samples(struct buf *out, size_t columns, uint32_t last_stack)
{
	int64_t time[] = { 1000, 250, 250 };
	uint64_t period = 250000;
	uint32_t same[] = { 7, 7, 7 }, stack[] = { 0, LIVE_NO_STACK, last_stack };
	Kab__Samples m = KAB__SAMPLES__INIT;

	m.n_time_ns = m.n_pid = m.n_tid = m.n_stack = 3;
	m.n_cpu = columns;
	m.n_period = 1;
	m.time_ns = time;
	m.period = &period;
	m.pid = m.tid = m.cpu = same;
	m.stack = stack;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_SAMPLES, &m), 0);
}

static void add_thread(struct buf *out, const char *comm, size_t len)
{
	Kab__Thread m = KAB__THREAD__INIT;

	m.pid = m.tid = 7;
	m.comm.data = (uint8_t *)comm;
	m.comm.len = len;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_THREAD, &m), 0);
}

static void add_map(struct buf *out, const char *path, size_t len, size_t id_len)
{
	uint8_t id[32] = { 0xab };
	Kab__Map m = KAB__MAP__INIT;

	m.pid = 7;
	m.start = 0x400000;
	m.len = 0x1000;
	m.path.data = (uint8_t *)path;
	m.path.len = len;
	m.build_id.data = id;
	m.build_id.len = id_len;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_MAP, &m), 0);
}

static void add_kallsyms(struct buf *out, const char *text, size_t len)
{
	size_t room = ZSTD_compressBound(len);
	Kab__Kallsyms m = KAB__KALLSYMS__INIT;

	m.zstd.data = mem_alloc(room);
	m.zstd.len = ZSTD_compress(m.zstd.data, room, text, len, 1);
	m.last = true;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_KALLSYMS, &m), 0);
	free(m.zstd.data);
}

static void add_good(struct buf *out)
{
	add_thread(out, "net proc", 8);
	add_map(out, "/bin/true", 9, 20);
	add_stack(out, 0);
	add_stack(out, 1);
	add_samples(out, 3, 1);
	add_kallsyms(out, "ffffffff81000000 T _text\n", 25);
}

/* Feeds `b` in steps and lets `in` take every event. The first negative code, or how many events came. */
static int play(struct intake *in, const struct buf *b, size_t step, struct err *err)
{
	struct wire_in rd = WIRE_IN_INIT;
	int rc = 0, events = 0;
	const uint8_t *p;
	Kab__Event *ev;
	size_t len;

	for (size_t at = 0; at < b->len && rc >= 0; at += step) {
		wire_feed(&rd, b->data + at, b->len - at < step ? b->len - at : step);
		while (rc >= 0 && (rc = wire_next(&rd, "a test", &p, &len, err)) > 0) {
			ev = kab__event__unpack(NULL, len, p);
			rc = ev ? intake_event(in, ev, err) : -EPROTO;
			if (ev)
				kab__event__free_unpacked(ev, NULL);
			events++;
		}
	}
	wire_in_release(&rd);
	return rc < 0 ? rc : events;
}

static int refused(struct buf *b, const char *word)
{
	struct err err = ERR_INIT;
	struct seen s;
	struct intake in = intake_to(&s);
	int rc = play(&in, b, b->len, &err);

	intake_release(&in);
	assert_int_equal(rc, -EPROTO);
	assert_non_null(strstr(err.text, word));
	buf_release(b);
	return 1;
}

/* --- tests --- */

static void test_every_cut(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	add_good(&b);
	for (size_t step = 1; step <= b.len; step++) {
		struct err err = ERR_INIT;
		struct seen s;
		struct intake in = intake_to(&s);

		assert_int_equal(play(&in, &b, step, &err), 6);
		assert_int_equal(err.len, 0);
		assert_string_equal(s.comm, "net proc");
		assert_string_equal(s.path, "/bin/true");
		assert_int_equal(s.stacks, 2);
		assert_true(s.last_ip == 0xffffffff81000020);
		assert_int_equal(s.samples, 3);
		assert_int_equal(s.first_time, 1000);
		assert_int_equal(s.kallsyms, 25);
		intake_release(&in);
	}
	buf_release(&b);
}

static void test_truncated(void **state)
{
	struct wire_in rd = WIRE_IN_INIT;
	struct buf b = BUF_INIT;
	const uint8_t *p;
	size_t len;

	(void)state;
	add_thread(&b, "x", 1);
	wire_feed(&rd, b.data, b.len - 1);
	assert_int_equal(wire_next(&rd, "a test", &p, &len, NULL), 0);
	assert_int_equal(wire_next(&rd, "a test", &p, &len, NULL), 0);
	wire_feed(&rd, b.data + b.len - 1, 1);
	assert_int_equal(wire_next(&rd, "a test", &p, &len, NULL), 1);
	assert_int_equal(len, b.len - 4);
	assert_int_equal(wire_next(&rd, "a test", &p, &len, NULL), 0);
	buf_release(&b);
	wire_in_release(&rd);
}

static void test_huge(void **state)
{
	struct wire_in rd = WIRE_IN_INIT;
	struct err err = ERR_INIT;
	const uint8_t *p;
	size_t len;

	(void)state;
	wire_feed(&rd, "sudo: a password is required\n", 29);
	assert_int_equal(wire_next(&rd, "kab-agent", &p, &len, &err), -EPROTO);
	assert_non_null(strstr(err.text, "kab-agent"));
	assert_true(rd.buf.cap < 4096);
	wire_in_release(&rd);

	/* The largest frame there may be is not refused for its length. */
	wire_feed(&rd, "\0\0\x40\0", 4);
	assert_int_equal(wire_next(&rd, "kab-agent", &p, &len, NULL), 0);
	wire_in_release(&rd);
	wire_feed(&rd, "\1\0\x40\0", 4);
	assert_int_equal(wire_next(&rd, "kab-agent", &p, &len, NULL), -EPROTO);
	wire_in_release(&rd);
}

static void test_too_long_to_send(void **state)
{
	char *bytes = mem_alloc(WIRE_FRAME_MAX);
	Kab__Data m = KAB__DATA__INIT;
	struct buf b = BUF_INIT;

	(void)state;
	m.bytes.data = (uint8_t *)bytes;
	m.bytes.len = WIRE_FRAME_MAX;
	assert_int_equal(wire_request(&b, 1, KAB__REQUEST__BODY_DATA, &m), -EMSGSIZE);
	assert_int_equal(b.len, 0);
	m.bytes.len = WIRE_CHUNK;
	assert_int_equal(wire_request(&b, 1, KAB__REQUEST__BODY_DATA, &m), 0);
	buf_release(&b);
	free(bytes);
}

static void test_requests(void **state)
{
	char *argv[] = { "workload", "20000", "" };
	struct wire_in rd = WIRE_IN_INIT;
	Kab__Run m = KAB__RUN__INIT;
	struct buf b = BUF_INIT;
	Kab__Request *rq;
	const uint8_t *p;
	size_t len;

	(void)state;
	m.n_argv = 3;
	m.argv = argv;
	m.freq_hz = 4000;
	m.drain_after = true;
	assert_int_equal(wire_request(&b, 77, KAB__REQUEST__BODY_RUN, &m), 0);
	wire_feed(&rd, b.data, b.len);
	assert_int_equal(wire_next(&rd, "kab", &p, &len, NULL), 1);
	rq = kab__request__unpack(NULL, len, p);
	assert_non_null(rq);
	assert_int_equal(rq->id, 77);
	assert_int_equal(rq->body_case, KAB__REQUEST__BODY_RUN);
	assert_int_equal(rq->run->n_argv, 3);
	assert_string_equal(rq->run->argv[1], "20000");
	assert_string_equal(rq->run->event, "");
	assert_int_equal(rq->run->freq_hz, 4000);
	assert_true(rq->run->drain_after && !rq->run->sampled);
	kab__request__free_unpacked(rq, NULL);
	wire_in_release(&rd);
	buf_release(&b);
}

static void add_trace(struct buf *out, size_t columns, uint32_t second, size_t raw)
{
	int64_t time[] = { 1000, 250 };
	uint32_t same[] = { 7, 7 }, size[] = { 8, second };
	uint8_t bytes[64] = { 116, 1 };
	Kab__Trace m = KAB__TRACE__INIT;

	m.n_time_ns = m.n_pid = m.n_tid = m.n_size = 2;
	m.n_cpu = columns;
	m.time_ns = time;
	m.pid = m.tid = m.cpu = same;
	m.size = size;
	m.raw.data = bytes;
	m.raw.len = raw;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_TRACE, &m), 0);
}

static void add_format(struct buf *out, const char *text, size_t len)
{
	Kab__Format m = KAB__FORMAT__INIT;

	m.id = 1;
	m.system = "a";
	m.name = "b";
	m.text.data = (uint8_t *)text;
	m.text.len = len;
	assert_int_equal(wire_event(out, KAB__EVENT__BODY_FORMAT, &m), 0);
}

static void test_refused(void **state)
{
	struct buf b = BUF_INIT;
	char *zeros;

	(void)state;
	add_stack(&b, 1);		/* not the next number */
	refused(&b, "a stack");
	add_stack(&b, 0);
	add_samples(&b, 3, 1);		/* a stack that was never sent */
	refused(&b, "a sample");
	add_stack(&b, 0);
	add_samples(&b, 2, 0);		/* one column is short */
	refused(&b, "a batch of samples");
	add_trace(&b, 1, 8, 16);	/* one column is short */
	refused(&b, "a batch of tracepoint records");
	add_trace(&b, 2, 9, 16);	/* a record ends behind the bytes */
	refused(&b, "a tracepoint record");
	add_trace(&b, 2, UINT32_MAX, 16);
	refused(&b, "a tracepoint record");
	add_trace(&b, 2, 8, 17);	/* bytes of no record */
	refused(&b, "a tracepoint record");
	add_trace(&b, 2, 1, 9);		/* too short for an id */
	refused(&b, "a tracepoint record");
	add_format(&b, "", 0);
	refused(&b, "the format of a tracepoint");
	add_format(&b, "name\0", 5);
	refused(&b, "the format of a tracepoint");
	add_thread(&b, "a\0b", 3);
	refused(&b, "a thread's name");
	add_map(&b, "/bin\0/true", 10, 20);
	refused(&b, "a mapping");
	add_map(&b, "/bin/true", 9, 21);
	refused(&b, "a mapping");

	/* A few kilobytes that become more than the limit. */
	zeros = mem_alloc(WIRE_BLOB_MAX + 1);
	add_kallsyms(&b, zeros, WIRE_BLOB_MAX + 1);
	assert_true(b.len < 65536);
	free(zeros);
	refused(&b, "64 MiB");
}

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* Damaged streams: whatever comes of them, the sink's own checks hold and the end is in order. */
static void test_fuzz(void **state)
{
	uint32_t x = 20241110, refusals = 0;
	struct buf good = BUF_INIT;

	(void)state;
	add_good(&good);
	for (int round = 0; round < 20000; round++) {
		struct buf b = BUF_INIT;
		struct seen s;
		struct intake in = intake_to(&s);
		int rc;

		buf_add(&b, good.data, good.len);
		for (uint32_t n = next_random(&x) % 8 + 1; n; n--)
			b.data[next_random(&x) % b.len] = (char)next_random(&x);
		b.len -= next_random(&x) % 16;
		rc = play(&in, &b, next_random(&x) % 64 + 1, NULL);
		assert_true(rc >= 0 || rc == -EPROTO);
		refusals += rc < 0;
		intake_release(&in);
		buf_release(&b);
	}
	assert_true(refusals > 1000);	/* or the damage never hit anything */
	buf_release(&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_too_long_to_send),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
