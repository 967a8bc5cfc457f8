// SPDX-License-Identifier: GPL-2.0-or-later
/* tracepoints: fields out of records, and what jobs makes of them: counts, distributions, times between
 * events. */
#include <math.h>

#include "store-fixture.h"

#include "base/buf.h"
#include "collectors/tracepoints.h"
#include "jobs/trace.h"
#include "profile/hist.h"

/* --- formats as tracefs has them --- */

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] = "name: sched_switch\nID: 372\nformat:\n" COMMON
				    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
				    "\nprint fmt: \"prev_comm=%s prev_pid=%d next_pid=%d\", REC->prev_comm, "
				    "REC->prev_pid, REC->next_pid\n";
static const char queue_format[] = "name: net_dev_queue\nID: 2304\nformat:\n" COMMON
	"\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:short ret;\toffset:24;\tsize:2;\tsigned:1;\n"
	"\nprint fmt: \"dev=%s len=%u\", __get_str(name), REC->len\n";
static const char enter_format[] = "name: sys_enter_x\nID: 7\nformat:\n" COMMON
	"\tfield:int nr;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->nr\n";
static const char exit_format[] = "name: sys_exit_x\nID: 8\nformat:\n" COMMON
	"\tfield:long ret;\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"%d\", REC->ret\n";

struct record { uint8_t v[48]; };

static void put(struct record *r, size_t at, uint64_t value, size_t size)
{
	memcpy(r->v + at, &value, size);
}

static struct record queue_record(uint32_t len, int16_t ret)
{
	struct record r = { { 0 } };

	put(&r, 0, 2304, 2);
	put(&r, 8, 0xffff888001234500, 8);
	put(&r, 16, len, 4);
	put(&r, 20, 26 | 3 << 16, 4);		/* 3 bytes at 26 */
	put(&r, 24, (uint16_t)ret, 2);
	memcpy(r.v + 26, "lo", 3);
	return r;
}

static struct record switch_record(uint32_t prev, uint32_t next)
{
	struct record r = { { 0 } };

	put(&r, 0, 372, 2);
	memcpy(r.v + 8, "a\033b", 4);
	put(&r, 24, prev, 4);
	put(&r, 28, next, 4);
	return r;
}

/* --- fields --- */

static struct tracepoints *queue(void)
{
	struct tracepoints *t = tracepoints_new();

	assert_int_equal(tracepoints_add(t, "net", "net_dev_queue", queue_format, strlen(queue_format), NULL),
			 0);
	return t;
}

static void test_fields(void **state)
{
	struct tracepoints *t = queue();
	struct record r = queue_record(74, -11);
	struct err err = ERR_INIT;
	int64_t v;

	(void)state;
	assert_int_equal(tracepoints_id(t, "net", "net_dev_queue"), 2304);
	assert_int_equal(tracepoints_id(t, "net", "net_dev_xmit"), 0);
	assert_int_equal(tracepoints_number(t, r.v, 32, "len", &v), 0);
	assert_int_equal(v, 74);
	assert_int_equal(tracepoints_number(t, r.v, 32, "ret", &v), 0);
	assert_int_equal(v, -11);
	assert_int_equal(tracepoints_number(t, r.v, 32, "skbaddr", &v), 0);
	assert_true(v == INT64_MAX);		/* an address is no signed number */
	assert_int_equal(tracepoints_number(t, r.v, 32, "common_pid", &v), 0);
	assert_int_equal(tracepoints_number(t, r.v, 32, "name", &v), -EINVAL);
	assert_int_equal(tracepoints_has_number(t, 2304, "len", NULL), 0);
	assert_int_equal(tracepoints_has_number(t, 2304, "bytes", &err), -ENOENT);
	assert_string_equal(
		err.text, "The tracepoint net_dev_queue has no numeric field \"bytes\"; it has skbaddr, len, "
			  "ret.");
	tracepoints_free(t);
}

static void test_print(void **state)
{
	struct tracepoints *t = queue();
	struct record q = queue_record(74, 0), s = switch_record(3, 4);
	struct buf b = BUF_INIT;

	(void)state;
	tracepoints_print(t, q.v, 32, &b);
	assert_string_equal(buf_str(&b), "net:net_dev_queue skbaddr=0xffff888001234500 len=74 name=lo ret=0");
	buf_clear(&b);
	tracepoints_print(t, s.v, 32, &b);	/* of a tracepoint that is not known */
	assert_int_equal(b.len, 0);
	assert_int_equal(
		tracepoints_add(t, "sched", "sched_switch", switch_format, strlen(switch_format), NULL), 0);
	tracepoints_print(t, s.v, 32, &b);
	assert_string_equal(buf_str(&b), "sched:sched_switch prev_comm=a\\x1bb prev_pid=3 next_pid=4");
	buf_release(&b);
	tracepoints_free(t);
}

/* Every cut of a record, in memory of just that size, and strings that claim to lie elsewhere. */
static void test_hostile_records(void **state)
{
	struct tracepoints *t = queue();
	struct record r = queue_record(74, 0);
	struct buf b = BUF_INIT;
	int64_t v;

	(void)state;
	for (size_t len = 2; len <= 32; len++) {
		uint8_t *cut = mem_dup(r.v, len);

		assert_int_equal(tracepoints_number(t, cut, len, "len", &v), len < 20 ? -EINVAL : 0);
		tracepoints_print(t, cut, len, &b);
		free(cut);
	}
	for (uint32_t at = 0; at < 40; at++) {
		uint8_t *copy;

		put(&r, 20, at | 0xffff << 16, 4);
		copy = mem_dup(r.v, 32);
		buf_clear(&b);
		tracepoints_print(t, copy, 32, &b);
		assert_non_null(strstr(buf_str(&b), "name=..."));
		free(copy);
	}
	buf_release(&b);
	tracepoints_free(t);
}

static void test_hostile_formats(void **state)
{
	static const char *const wrong[] = {
		"", "name: x", "name: x\nID: 5\n", "name: x\nID: 5\nformat:\n\tfield:int", "\n\n\n",
		"name: x\nID: 70000000000\nformat:\n", "print fmt: \"%s\"",
	};
	struct tracepoints *t = tracepoints_new();

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(tracepoints_add(t, "a", "b", wrong[i], strlen(wrong[i]), &err), -EINVAL);
		assert_non_null(strstr(err.text, "a:b cannot be understood"));
	}
	/* Named otherwise than it was asked for. */
	assert_int_equal(tracepoints_add(t, "net", "other", queue_format, strlen(queue_format), NULL),
			 -EINVAL);
	tracepoints_free(t);
}

/* --- what a block comes to --- */

static void feed(struct trace *t, const struct record *r, uint64_t time, uint32_t tid)
{
	const struct live_trace v = {
		.time_ns = time, .pid = tid, .tid = tid, .cpu = 0, .raw = r->v, .len = 32
	};

	trace_record(t, &v);
}

static struct trace *trace_of(const char *list)
{
	struct event_list l;

	assert_int_equal(event_list_parse(list, &l, NULL), 0);
	return trace_new(&l);
}

static double metric(const struct store_metric *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return v[i].value;
	return NAN;
}

/* Two threads inside one another's system calls, a call that never ends, an end without a beginning. */
static void test_between(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record(f, s, 1);
	struct trace *t = trace_of("sys:sys_enter_x..sys_exit_x,sys:sys_enter_x,sys:sys_exit_x:ret");
	struct record in = { { 0 } }, out = { { 0 } };
	struct store_metric *m;
	struct store_hist *h;
	struct buf text = BUF_INIT;
	size_t n, n_points, i;

	put(&in, 0, 7, 2);
	put(&out, 0, 8, 2);
	put(&out, 8, 42, 8);
	assert_int_equal(trace_tracepoints(t, &n_points)[0].everywhere, false);
	assert_int_equal(n_points, 2);
	ok(f, trace_format(t, "sys", "sys_enter_x", enter_format, strlen(enter_format), &f->err));
	ok(f, trace_format(t, "sys", "sys_exit_x", exit_format, strlen(exit_format), &f->err));
	trace_begin(t);
	feed(t, &out, 50, 1);
	feed(t, &in, 100, 1);
	feed(t, &in, 110, 2);
	feed(t, &out, 150, 1);		/* 50 */
	feed(t, &out, 210, 2);		/* 100 */
	feed(t, &in, 300, 1);
	ok(f, trace_keep(t, s, id, &f->err));
	ok(f, store_metrics(s, id, &m, &n, &f->err));
	assert_true(metric(m, n, "sys:sys_enter_x") == 3 && metric(m, n, "sys:sys_exit_x") == 3);
	assert_true(metric(m, n, "sys:sys_enter_x..sys_exit_x") == 150);
	for (i = 0; i < n; i++) {
		assert_true(m[i].running == 1);
		store_metric_release(&m[i]);
	}
	free(m);
	ok(f, store_hists(s, id, &h, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(h[0].name, "sys:sys_enter_x..sys_exit_x");
	assert_string_equal(h[0].unit, "ns");
	assert_true(h[0].hist.total == 2 && h[0].hist.v[0].bucket == 50 && h[0].hist.v[1].bucket == 100);
	assert_string_equal(h[1].name, "sys:sys_exit_x:ret");
	assert_true(h[1].hist.total == 3 && hist_quantile(&h[1].hist, 0.5) == 42);
	store_hist_release(&h[0]);
	store_hist_release(&h[1]);
	free(h);
	ok(f, store_text(s, id, "format:sys:sys_exit_x", &text, &f->err));
	assert_string_equal(buf_str(&text), exit_format);
	buf_release(&text);
	trace_free(t);
	ok(f, store_close(s, &f->err));
}

/* Off the CPU from a switch away to the switch back, which happens in another task; strangers count for
 * nothing. */
static void test_off_cpu(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record(f, s, 1);
	struct trace *t = trace_of("off-cpu,sched:sched_switch");
	struct record away = switch_record(10, 0), back = switch_record(0, 10),
		      strangers = switch_record(0, 99);
	struct store_metric *m;
	struct store_hist *h;
	size_t n, n_points;

	assert_true(trace_tracepoints(t, &n_points)->everywhere && n_points == 1);
	ok(f, trace_format(t, "sched", "sched_switch", switch_format, strlen(switch_format), &f->err));
	trace_begin(t);
	trace_thread(t, 10);
	feed(t, &back, 900, 0);
	feed(t, &away, 1000, 10);
	feed(t, &strangers, 1100, 0);
	feed(t, &back, 1200, 0);
	feed(t, &away, 1300, 10);
	ok(f, trace_keep(t, s, id, &f->err));
	ok(f, store_metrics(s, id, &m, &n, &f->err));
	assert_int_equal(n, 2);
	assert_true(metric(m, n, "off-cpu") == 200);
	assert_true(metric(m, n, "sched:sched_switch") == 2);	/* in its own tasks */
	store_metric_release(&m[0]);
	store_metric_release(&m[1]);
	free(m);
	ok(f, store_hists(s, id, &h, &n, &f->err));
	assert_true(n == 1 && h[0].hist.total == 1 && h[0].hist.v[0].bucket == 200);
	store_hist_release(&h[0]);
	free(h);
	trace_free(t);
	ok(f, store_close(s, &f->err));
}

static void test_no_such_field(void **state)
{
	struct trace *t = trace_of("net:net_dev_queue:bytes");
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(trace_format(t, "net", "net_dev_queue", queue_format, strlen(queue_format), &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "no numeric field \"bytes\""));
	trace_free(t);
}

/* A block holds nothing of the one before. */
static void test_next_block(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record(f, s, 1);
	struct trace *t = trace_of("net:net_dev_queue:len");
	struct record r = queue_record(60, 0);
	struct store_hist *h;
	size_t n;

	ok(f, trace_format(t, "net", "net_dev_queue", queue_format, strlen(queue_format), &f->err));
	trace_begin(t);
	feed(t, &r, 1, 1);
	feed(t, &r, 2, 1);
	trace_begin(t);
	feed(t, &r, 3, 1);
	ok(f, trace_keep(t, s, id, &f->err));
	ok(f, store_hists(s, id, &h, &n, &f->err));
	assert_true(n == 1 && h[0].hist.total == 1);
	assert_string_equal(h[0].unit, "");
	store_hist_release(&h[0]);
	free(h);
	trace_free(t);
	ok(f, store_close(s, &f->err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_hostile_records),
		cmocka_unit_test(test_hostile_formats),
		cmocka_unit_test_setup_teardown(test_between, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_off_cpu, fixture_setup, fixture_teardown),
		cmocka_unit_test(test_no_such_field),
		cmocka_unit_test_setup_teardown(test_next_block, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
