// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's pure parts: records of a perf ring, their way to messages, and what a workload reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* They belong to another program than kab, so they are in no library. */
#include "collectors/live/agent/record.c"
#include "collectors/live/agent/recorder.c"
#include "collectors/live/agent/results.c"

#define KERNEL 0xffffffff81000000
#define USER 0x400000

/* --- records as the kernel writes them --- */

struct bytes {
	_Alignas(8) char v[512];
	size_t n;		/* words of 8 bytes in v */
};

static void set(struct bytes *b, size_t word, uint64_t x)
{
	memcpy(b->v + word * 8, &x, 8);
}

static void u64(struct bytes *b, uint64_t x)
{
	set(b, b->n++, x);
}

static void u32s(struct bytes *b, uint32_t x, uint32_t y)
{
	u64(b, x | (uint64_t)y << 32);
}

static void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	*b = (struct bytes){ 0 };
	u64(b, type | (uint64_t)misc << 32);
}

static size_t end(struct bytes *b)
{
	uint16_t size = (uint16_t)(b->n * 8);

	memcpy(b->v + offsetof(struct perf_event_header, size), &size, 2);
	return size;
}

static void text(struct bytes *b, const char *s)
{
	memcpy(b->v + b->n * 8, s, strlen(s) + 1);
	b->n += strlen(s) / 8 + 1;
}

static void trailer(struct bytes *b, uint32_t pid, uint32_t tid, uint64_t time)
{
	u32s(b, pid, tid);
	u64(b, time);
	u32s(b, 1, 0);
}

static size_t sample(struct bytes *b, uint32_t pid, uint64_t time, const uint64_t *ips, size_t n)
{
	begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	u64(b, KERNEL + 1);
	u32s(b, pid, pid);
	u64(b, time);
	u32s(b, 1, 0);
	u64(b, 250000);
	u64(b, n);
	for (size_t i = 0; i < n; i++)
		u64(b, ips[i]);
	return end(b);
}

static size_t comm(struct bytes *b, uint32_t pid, uint64_t time, const char *name, bool exec)
{
	begin(b, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	u32s(b, pid, pid);
	text(b, name);
	trailer(b, pid, pid, time);
	return end(b);
}

static size_t forked(struct bytes *b, uint32_t parent, uint32_t child, uint64_t time)
{
	begin(b, PERF_RECORD_FORK, 0);
	u32s(b, child, parent);
	u32s(b, child, parent);
	u64(b, time);
	trailer(b, parent, parent, time);
	return end(b);
}

/* --- decoding --- */

static void test_sample(void **state)
{
	const uint64_t ips[] = { PERF_CONTEXT_KERNEL, KERNEL + 1, PERF_CONTEXT_USER, USER };
	struct record r;
	struct bytes b;
	size_t size = sample(&b, 7, 123, ips, 4);

	(void)state;
	assert_int_equal(record_decode(b.v, size, &r), 0);
	assert_int_equal(r.kind, RECORD_SAMPLE);
	assert_int_equal(r.pid, 7);
	assert_int_equal(r.time_ns, 123);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.period, 250000);
	assert_int_equal(r.n_ips, 4);
	assert_true(r.kernel_mode);
	assert_int_equal(record_time(b.v, size), 123);

	/* A chain that claims more than the record holds. */
	set(&b, 6, 5);
	assert_int_equal(record_decode(b.v, size, &r), -EINVAL);
	set(&b, 6, UINT64_MAX / 8 + 2);
	assert_int_equal(record_decode(b.v, size, &r), -EINVAL);
}

/* A sample of a tracepoint: no chain, and 20 bytes behind their length. */
static size_t traced(struct bytes *b, uint32_t tid, uint64_t time, uint32_t raw_len)
{
	sample(b, tid, time, NULL, 0);
	u32s(b, raw_len, 372);
	u64(b, 0x1122334455667788);
	u64(b, 0x99);
	return end(b);
}

static void test_traced(void **state)
{
	struct record r;
	struct bytes b;
	size_t size = traced(&b, 7, 99, 20);

	(void)state;
	assert_int_equal(record_decode(b.v, size, &r), 0);
	assert_int_equal(r.kind, RECORD_TRACE);
	assert_int_equal(r.tid, 7);
	assert_int_equal(r.time_ns, 99);
	assert_int_equal(r.raw_len, 20);
	assert_true(r.raw[0] == (372 & 0xff) && r.raw[4] == 0x88);
	/* Longer than the record, or too short for an id. */
	assert_int_equal(record_decode(b.v, traced(&b, 7, 99, 21), &r), -EINVAL);
	assert_int_equal(record_decode(b.v, traced(&b, 7, 99, UINT32_MAX), &r), -EINVAL);
	assert_int_equal(record_decode(b.v, traced(&b, 7, 99, 1), &r), -EINVAL);
}

/* Records of two CPUs leave sorted, in one message, their bytes one behind the other. */
static void test_trace_message(void **state)
{
	struct buf out = BUF_INIT;
	struct wire_in rd = WIRE_IN_INIT;
	struct recorder rec;
	struct bytes b;
	Kab__Event *ev;
	const uint8_t *p;
	size_t len;

	(void)state;
	recorder_init(&rec, &out, 0, 127);
	recorder_take(&rec, b.v, traced(&b, 8, 2000, 12));
	recorder_take(&rec, b.v, traced(&b, 7, 1500, 20));
	recorder_flush(&rec, UINT64_MAX);
	wire_feed(&rd, out.data, out.len);
	assert_int_equal(wire_next(&rd, "kab-agent", &p, &len, NULL), 1);
	ev = kab__event__unpack(NULL, len, p);
	assert_int_equal(ev->body_case, KAB__EVENT__BODY_TRACE);
	assert_int_equal(ev->trace->n_time_ns, 2);
	assert_true(ev->trace->time_ns[0] == 1500 && ev->trace->time_ns[1] == 500);
	assert_true(ev->trace->tid[0] == 7 && ev->trace->tid[1] == 8);
	assert_true(ev->trace->size[0] == 20 && ev->trace->size[1] == 12 && ev->trace->raw.len == 32);
	assert_int_equal(rec.samples, 0);
	kab__event__free_unpacked(ev, NULL);
	recorder_release(&rec);
	wire_in_release(&rd);
	buf_release(&out);
}

static void test_side_band(void **state)
{
	struct record r;
	struct bytes b;
	size_t size = comm(&b, 9, 55, "net proc", true);

	(void)state;
	assert_int_equal(record_decode(b.v, size, &r), 0);
	assert_int_equal(r.kind, RECORD_EXEC);
	assert_string_equal(r.text, "net proc");
	assert_int_equal(record_time(b.v, size), 55);

	begin(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	u32s(&b, 9, 9);
	u64(&b, USER);
	u64(&b, 0x1000);
	u64(&b, 0x2000);
	u32s(&b, 20, 0xccddeeff);
	u64(&b, 0);
	u64(&b, 0);
	u32s(&b, 5, 0);
	text(&b, "/bin/true");
	trailer(&b, 9, 9, 56);
	size = end(&b);
	assert_int_equal(record_decode(b.v, size, &r), 0);
	assert_int_equal(r.kind, RECORD_MAP);
	assert_true(r.start == USER && r.len == 0x1000 && r.pgoff == 0x2000);
	assert_string_equal(r.text, "/bin/true");
	assert_int_equal(r.build_id_len, 20);
	assert_int_equal(r.build_id[0], 0xff);

	/* Without the flag the same bytes are an inode. */
	memset(b.v + offsetof(struct perf_event_header, misc), 0, 2);
	assert_int_equal(record_decode(b.v, size, &r), 0);
	assert_null(r.build_id);

	/* A name that runs into the trailer. */
	memset(b.v + 72, 'x', 16);
	assert_int_equal(record_decode(b.v, size, &r), -EINVAL);

	begin(&b, PERF_RECORD_LOST, 0);
	u64(&b, 1);
	u64(&b, 41);
	trailer(&b, 9, 9, 57);
	size = end(&b);
	assert_int_equal(record_decode(b.v, size, &r), 0);
	assert_int_equal(r.kind, RECORD_LOST);
	assert_int_equal(r.lost, 41);
}

/* Every record cut at every length: refused or decoded, never read beyond its end (the sanitizer looks). */
static void test_cut(void **state)
{
	const uint64_t ips[] = { PERF_CONTEXT_KERNEL, KERNEL + 1 };
	struct bytes all[3];
	struct record r;
	size_t sizes[3] = { sample(&all[0], 7, 1, ips, 2), comm(&all[1], 7, 1, "name", false),
			    forked(&all[2], 7, 8, 1) };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		for (size_t n = 0; n < sizes[k]; n++) {
			char *cut = mem_dup(all[k].v, n ? n : 1);
			uint16_t size = (uint16_t)n;

			record_time(cut, n);
			if (n >= sizeof(struct perf_event_header))
				memcpy(cut + offsetof(struct perf_event_header, size), &size, 2);
			assert_true(record_decode(cut, n, &r) == -EINVAL || n % 8 == 0);
			free(cut);
		}
		assert_int_equal(record_decode(all[k].v, sizes[k], &r), 0);
	}
}

/* --- chains --- */

static struct chain chain_of(const uint64_t *ips, size_t n, size_t max_stack, uint64_t *room)
{
	struct record r = { .ip = KERNEL + 1, .kernel_mode = true, .ips = ips, .n_ips = n };
	struct chain c;

	record_chain(&r, max_stack, room, &c);
	return c;
}

static void test_chain(void **state)
{
	static const uint64_t whole[] = { PERF_CONTEXT_KERNEL, KERNEL + 1, KERNEL + 2, PERF_CONTEXT_USER,
					  USER, USER + 1 };
	static const uint64_t mark[] = { PERF_CONTEXT_KERNEL, KERNEL + 1, PERF_CONTEXT_USER, USER, -32, 1 };
	static const uint64_t ones[] = { PERF_CONTEXT_USER, USER, UINT64_MAX, USER + 1 };
	static const uint64_t small[] = { PERF_CONTEXT_USER, USER, 5 };
	static const uint64_t outermost[] = { PERF_CONTEXT_USER, USER, 0 };
	static const uint64_t high[] = { PERF_CONTEXT_USER, USER, KERNEL };
	static const uint64_t twice[] = { PERF_CONTEXT_USER, USER, PERF_CONTEXT_USER, USER };
	uint64_t room[8];
	struct chain c;

	(void)state;
	c = chain_of(whole, 6, 127, room);
	assert_true(c.n == 4 && c.n_kernel == 2 && !c.damaged && !c.truncated);
	assert_true(c.ips[0] == KERNEL + 1 && c.ips[3] == USER + 1);
	c = chain_of(whole, 6, 4, room);
	assert_true(c.n == 4 && c.truncated);
	c = chain_of(mark, 6, 127, room);
	assert_true(c.n == 2 && c.n_kernel == 1 && c.damaged);
	c = chain_of(ones, 4, 127, room);
	assert_true(c.n == 1 && c.n_kernel == 0 && c.damaged);
	c = chain_of(small, 3, 127, room);
	assert_true(c.n == 1 && c.damaged);
	c = chain_of(outermost, 3, 127, room);
	assert_true(c.n == 1 && !c.damaged);
	c = chain_of(high, 3, 127, room);
	assert_true(c.n == 1 && c.damaged);
	c = chain_of(twice, 4, 127, room);
	assert_true(c.n == 1 && c.damaged);
	c = chain_of(whole, 0, 127, room);	/* no chain: the sampled address alone */
	assert_true(c.n == 1 && c.n_kernel == 1 && c.ips[0] == KERNEL + 1);
}

/* --- recorder --- */

/* The kinds of messages in order, one letter each; samples as "s" each with its stack's number. */
static void letters(struct buf *stream, struct buf *out)
{
	size_t at = 0;

	while (at < stream->len) {
		uint32_t len;
		Kab__Event *ev;

		memcpy(&len, stream->data + at, 4);
		ev = kab__event__unpack(NULL, len, (uint8_t *)stream->data + at + 4);
		assert_non_null(ev);
		at += 4 + len;
		switch (ev->body_case) {
		case KAB__EVENT__BODY_THREAD:
			buf_printf(out, "t(%.*s) ", (int)ev->thread->comm.len, ev->thread->comm.data);
			break;
		case KAB__EVENT__BODY_EXEC:
			buf_puts(out, "x ");
			break;
		case KAB__EVENT__BODY_FORK:
			buf_puts(out, "f ");
			break;
		case KAB__EVENT__BODY_STACK:
			buf_printf(out, "k%u ", ev->stack->number);
			break;
		case KAB__EVENT__BODY_SAMPLES:
			for (size_t i = 0; i < ev->samples->n_stack; i++)
				buf_printf(out, "s%u ", ev->samples->stack[i]);
			break;
		default:
			fail();
		}
		kab__event__free_unpacked(ev, NULL);
	}
	buf_clear(stream);
}

static void expect(struct buf *stream, const char *what)
{
	struct buf got = BUF_INIT;

	letters(stream, &got);
	assert_string_equal(buf_str(&got), what);
	buf_release(&got);
}

static void test_recorder(void **state)
{
	const uint64_t one[] = { PERF_CONTEXT_KERNEL, KERNEL + 1 };
	const uint64_t two[] = { PERF_CONTEXT_KERNEL, KERNEL + 2 };
	struct buf out = BUF_INIT;
	struct recorder r;
	struct bytes b;
	size_t n;

	(void)state;
	recorder_init(&r, &out, 10, 127);
	recorder_start(&r, 7, "/usr/bin/env");
	expect(&out, "t(env) ");

	/* One CPU's ring, then another's with an older record: they leave by time, up to the horizon. */
	n = sample(&b, 7, 200, one, 2);
	recorder_take(&r, b.v, n);
	n = sample(&b, 7, 400, two, 2);
	recorder_take(&r, b.v, n);
	n = comm(&b, 7, 300, "work", true);
	recorder_take(&r, b.v, n);
	n = sample(&b, 7, 100, one, 2);
	recorder_take(&r, b.v, n);
	recorder_flush(&r, 300);
	expect(&out, "k10 s10 s10 x t(work) ");
	recorder_flush(&r, 300);
	expect(&out, "");
	recorder_flush(&r, UINT64_MAX);
	expect(&out, "k11 s11 ");

	/* The same addresses after an exec are another stack, a repeat is not; a child inherits the name. */
	n = sample(&b, 7, 500, one, 2);
	recorder_take(&r, b.v, n);
	n = sample(&b, 7, 501, two, 2);
	recorder_take(&r, b.v, n);
	n = forked(&b, 7, 8, 502);
	recorder_take(&r, b.v, n);
	n = sample(&b, 8, 503, one, 2);
	recorder_take(&r, b.v, n);
	recorder_flush(&r, UINT64_MAX);
	expect(&out, "k12 s12 s11 f t(work) k13 s13 ");

	/* A thread that no record announced still comes before its sample. */
	n = sample(&b, 99, 600, one, 2);
	recorder_take(&r, b.v, n);
	recorder_flush(&r, UINT64_MAX);
	expect(&out, "k14 t() s14 ");

	set(&b, 6, 1000);	/* a record that lies is our loss, counted */
	recorder_take(&r, b.v, n);
	recorder_flush(&r, UINT64_MAX);
	assert_int_equal(r.dropped, 1);
	assert_int_equal(r.samples, 7);
	assert_int_equal(recorder_release(&r), 15);
	buf_release(&out);
}

/* --- results --- */

static void test_results(void **state)
{
	static const char good[] =
		"ops 20000\nwall_ns 281000000\nuser_ns 9000000\nsys_ns 270000000\nmetric rate op/s 7.1e4\n";
	static const char bad[] =
		"ops 0\nops -3\nops x\nwall_ns 1.5\nmetric a b\nmetric a b nan\nhello\n\xff\xfe 1\nops 3 4\n";
	struct results r;
	char long_line[600];

	(void)state;
	results_parse(good, sizeof(good) - 1, &r);
	assert_true(r.reported && r.has_wall && r.has_user && r.has_sys && r.bad_lines == 0);
	assert_true(r.ops == 20000 && r.wall_ns == 281000000 && r.user_ns == 9000000 &&
		    r.sys_ns == 270000000);
	assert_int_equal(r.n_metrics, 1);
	assert_string_equal(r.metrics[0].name, "rate");
	assert_string_equal(r.metrics[0].unit, "op/s");
	assert_true(r.metrics[0].value == 71000);

	results_parse(bad, sizeof(bad) - 1, &r);
	assert_true(!r.reported && r.ops == 1 && !r.has_wall && r.n_metrics == 0);
	assert_int_equal(r.bad_lines, 9);

	results_parse("", 0, &r);
	assert_true(!r.reported && r.ops == 1);
	results_parse("ops 5", 5, &r);		/* the last line may lack its end */
	assert_true(r.reported && r.ops == 5);
	memset(long_line, '1', sizeof(long_line));
	memcpy(long_line, "ops ", 4);
	results_parse(long_line, sizeof(long_line), &r);
	assert_true(!r.reported && r.bad_lines == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_traced),
		cmocka_unit_test(test_trace_message),
		cmocka_unit_test(test_side_band),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_recorder),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
