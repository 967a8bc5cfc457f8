// SPDX-License-Identifier: GPL-2.0-or-later
/* The session file when all goes well: what is written is read back, folded and named. */
#include "store-fixture.h"

#include <math.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"

static const struct experiment some_experiment = {
	.case_name = (char *)"net-procfs", .case_yaml = (char *)"name: net-procfs\n",
	.target = (char *)"vm", .command = (char *)"kab run net-procfs",
	.workload = (char *)"read /proc/net/dev", .kernel = (char *)"6.1.0", .kab_version = (char *)"0.1",
	.started = 1700000000.25, .seed = UINT64_MAX, .blocks_planned = 6, .exact = true,
	.event = (char *)"cpu-clock", .freq_hz = 4000, .job = (char *)"case: net-procfs\n",
};

static void experiments(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct experiment e = some_experiment, back, *all;
	size_t n;

	ok(f, store_experiment_begin(s, &e, &f->err));
	e.state = EXP_CANCELLED;
	e.note = (char *)"Stopped by the user.";
	e.finished = 1700000001;
	ok(f, store_experiment_finish(s, &e, &f->err));
	ok(f, store_close(s, &f->err));

	s = open_store(f, STORE_READ);
	ok(f, store_experiment(s, e.id, &back, &f->err));
	assert_int_equal(back.id, e.id);
	assert_int_equal(back.state, EXP_CANCELLED);
	assert_string_equal(back.case_name, e.case_name);
	assert_string_equal(back.case_yaml, e.case_yaml);
	assert_string_equal(back.target, e.target);
	assert_string_equal(back.command, e.command);
	assert_string_equal(back.workload, e.workload);
	assert_string_equal(back.note, e.note);
	assert_string_equal(back.kernel, e.kernel);
	assert_string_equal(back.kab_version, e.kab_version);
	assert_string_equal(back.event, e.event);
	assert_true(back.started == e.started && back.finished == e.finished);
	assert_true(back.seed == UINT64_MAX && back.exact);	/* 64 bits are kept */
	assert_int_equal(back.blocks_planned, 6);
	assert_int_equal(back.freq_hz, 4000);
	assert_int_equal(back.machine, 0);
	assert_int_equal(back.group, 0);
	assert_string_equal(back.job, e.job);
	experiment_release(&back);
	ok(f, store_experiments(s, &all, &n, &f->err));
	assert_int_equal(n, 1);
	experiment_release(&all[0]);
	free(all);
	fails(f, -ENOENT, "There is no experiment 9", store_experiment(s, 9, &back, &f->err));
	ok(f, store_close(s, &f->err));
}

/* The second of two machines names the first. */
static void groups(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct experiment first = some_experiment, second = some_experiment, back;

	ok(f, store_experiment_begin(s, &first, &f->err));
	second.group = first.id;
	ok(f, store_experiment_begin(s, &second, &f->err));
	ok(f, store_experiment(s, second.id, &back, &f->err));
	assert_int_equal(back.group, first.id);
	experiment_release(&back);
	second.group = 999;		/* no such experiment */
	assert_int_not_equal(store_experiment_begin(s, &second, &f->err), 0);
	store_close(s, NULL);
}

static void runs(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct experiment e = some_experiment;
	struct run r = {
		.kind = RUN_BLOCK, .variant = VARIANT_AFTER, .ordinal = 3, .warmup = true, .sampled = true,
		.label = (char *)"a\x1b[31mb\xff", .started = 1.5, .ops = 20000, .exit_status = -9,
	}, first = { .kind = RUN_BLOCK, .ordinal = 0 }, back, *all;
	size_t n;

	ok(f, store_experiment_begin(s, &e, &f->err));
	r.experiment = first.experiment = e.id;
	ok(f, store_run_begin(s, &r, &f->err));
	assert_int_equal(r.id, e.id + 1);			/* one sequence */
	ok(f, store_run_begin(s, &first, &f->err));
	r.state = RUN_COMPLETE;
	r.wall_ns = UINT64_MAX;
	r.samples = 1168;
	ok(f, store_run_finish(s, &r, &f->err));
	ok(f, store_run(s, r.id, &back, &f->err));
	assert_int_equal(back.experiment, e.id);
	assert_int_equal(back.kind, RUN_BLOCK);
	assert_int_equal(back.state, RUN_COMPLETE);
	assert_int_equal(back.variant, VARIANT_AFTER);
	assert_int_equal(back.ordinal, 3);
	assert_true(back.warmup && back.sampled && back.ops == 20000 && back.wall_ns == UINT64_MAX);
	assert_string_equal(back.label, r.label);		/* raw bytes, as met */
	assert_null(back.command);
	assert_int_equal(back.exit_status, -9);
	assert_int_equal(back.samples, 1168);
	run_release(&back);

	ok(f, store_runs(s, e.id, &all, &n, &f->err));		/* in order, not as they were begun */
	assert_int_equal(n, 2);
	assert_int_equal(all[0].id, first.id);
	assert_int_equal(all[1].id, r.id);
	for (size_t i = 0; i < n; i++)
		run_release(&all[i]);
	free(all);
	ok(f, store_runs(s, 0, &all, &n, &f->err));
	assert_int_equal(n, 0);
	fails(f, -ENOENT, "There is no run 99", store_run(s, 99, &back, &f->err));
	r.id = 99;
	fails(f, -ENOENT, "run 99 to finish", store_run_finish(s, &r, &f->err));
	ok(f, store_close(s, &f->err));
}

static void newest_first(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t a = record(f, s, 1), b = record(f, s, 1);
	struct run *v;
	size_t n;

	ok(f, store_runs(s, 0, &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(v[0].id, b);
	assert_int_equal(v[1].id, a);
	run_release(&v[0]);
	run_release(&v[1]);
	free(v);
	ok(f, store_close(s, &f->err));
}

/* Equal facts in equal order are one machine. */
static void machines(void **state)
{
	static const char *const facts[] = { "cpu.model", "QEMU TCG CPU version 2.5+", "cpu.count", "1" };
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct machine m[3] = { 0 }, back;

	for (int i = 0; i < 3; i++) {
		int first = i == 2 ? 2 : 0;

		machine_add(&m[i], facts[first], facts[first + 1]);
		machine_add(&m[i], facts[2 - first], facts[3 - first]);
		ok(f, store_machine_add(s, &m[i], &f->err));
	}
	assert_int_equal(m[1].id, m[0].id);
	assert_int_not_equal(m[2].id, m[0].id);
	ok(f, store_machine(s, m[2].id, &back, &f->err));
	assert_int_equal(back.n, 2);
	assert_string_equal(back.facts[0].key, "cpu.count");
	assert_string_equal(machine_get(&back, "cpu.model"), facts[1]);
	machine_release(&back);
	for (int i = 0; i < 3; i++)
		machine_release(&m[i]);
	ok(f, store_close(s, &f->err));
}

static void metrics_and_texts(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record(f, s, 3);
	struct buf text = BUF_INIT;
	struct store_metric *v;
	size_t n;

	ok(f, store_metric_add(s, id, "throughput", "MB/s", 1.25, &f->err));
	ok(f, store_metric_add(s, id, "latency", NULL, NAN, &f->err));
	ok(f, store_text_add(s, id, "kernel-log", "one\n", &f->err));
	ok(f, store_text_add(s, id, "output", "other\n", &f->err));
	ok(f, store_text_add(s, id, "kernel-log", "two\n", &f->err));
	ok(f, store_metrics(s, id, &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(v[0].name, "throughput");
	assert_string_equal(v[0].unit, "MB/s");
	assert_true(v[0].value == 1.25);
	assert_string_equal(v[1].unit, "");
	assert_true(isnan(v[1].value));
	assert_true(isnan(v[0].running));	/* no count */
	store_metric_release(&v[0]);
	store_metric_release(&v[1]);
	free(v);
	ok(f, store_text(s, id, "kernel-log", &text, &f->err));
	assert_string_equal(buf_str(&text), "one\ntwo\n");
	buf_release(&text);
	fails(f, -EINVAL, "FOREIGN KEY", store_metric_add(s, 4711, "x", "", 1, &f->err));
	ok(f, store_metric_add(s, id, "more", "", 1, &f->err));	/* one wrong row ends nothing */
	ok(f, store_close(s, &f->err));
}

/* A scaled count, one that the machine does not have, and a distribution with values on both sides of 0. */
static void counters(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record(f, s, 3);
	struct hist h = { 0 };
	struct store_metric *v;
	struct store_hist *d;
	size_t n;

	hist_add(&h, -5);
	hist_add(&h, 70000);
	hist_add(&h, 70000);
	ok(f, store_counter_add(s, id, "cycles:k", "events", 1e6, 0.5, &f->err));
	ok(f, store_counter_add(s, id, "cache-misses:u", "events", NAN, 0, &f->err));
	ok(f, store_hist_add(s, id, "net:net_dev_queue:len", "", &h, &f->err));
	fails(f, -EINVAL, "UNIQUE", store_hist_add(s, id, "net:net_dev_queue:len", "", &h, &f->err));
	ok(f, store_close(s, &f->err));
	s = open_store(f, STORE_READ);
	ok(f, store_metrics(s, id, &v, &n, &f->err));
	assert_int_equal(n, 2);
	assert_true(v[0].value == 1e6 && v[0].running == 0.5);
	assert_true(isnan(v[1].value) && v[1].running == 0);
	store_metric_release(&v[0]);
	store_metric_release(&v[1]);
	free(v);
	ok(f, store_hists(s, id, &d, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(d[0].name, "net:net_dev_queue:len");
	assert_int_equal(d[0].hist.total, 3);
	assert_true(d[0].hist.n == 2 && d[0].hist.v[0].bucket == -5 && d[0].hist.v[1].n == 2);
	store_hist_release(&d[0]);
	free(d);
	hist_release(&h);
	ok(f, store_close(s, &f->err));
}

/* 300 samples of 1 ms: the tree with its figures, as the writer and as a reader see it. */
static void profile(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t ids[2] = { record(f, s, 300), record(f, s, 3) };
	uint32_t entry, read, copy, none;
	struct profile *p;

	for (int side = 0; side < 2; side++) {
		ok(f, store_profile(s, ids, 1, NULL, &p, &f->err));
		assert_true(p->sealed && p->samples == 300 && p->period == 300e6);
		entry = child_named(p, NODE_ROOT, "entry");
		none = child_named(p, NODE_ROOT, "[no callchain]");
		assert_true(entry != NODE_NONE && none != NODE_NONE);
		read = child_named(p, entry, "read");
		assert_int_not_equal(read, NODE_NONE);
		copy = child_named(p, read, "copy");
		assert_int_not_equal(copy, NODE_NONE);
		assert_int_equal(p->n, 5);
		assert_true(p->nodes[copy].self[COUNT] == 100 && p->nodes[copy].self[PERIOD] == 100e6);
		assert_true(p->nodes[read].self[COUNT] == 100 && p->nodes[read].total[COUNT] == 200);
		assert_true(p->nodes[entry].self[COUNT] == 0 && p->nodes[entry].total[PERIOD] == 200e6);
		assert_true(p->nodes[none].self[COUNT] == 100);
		assert_int_equal(profile_symbol(p, none)->kind, FRAME_MARK);
		assert_string_equal(profile_symbol(p, copy)->dso, "[kernel.kallsyms]");
		profile_free(p);
		ok(f, store_profile(s, ids, 2, NULL, &p, &f->err));
		assert_true(p->samples == 303);
		profile_free(p);
		ok(f, store_close(s, &f->err));
		s = open_store(f, STORE_READ);
	}
	ok(f, store_close(s, &f->err));
}

/* Folding keeps what it has loaded; stacks that somebody adds later are found all the same. */
static void profile_grows(void **state)
{
	struct fixture *f = *state;
	struct store *w = open_store(f, STORE_WRITE), *r = open_store(f, STORE_READ);
	struct run run = { .kind = RUN_RECORD, .ops = 1 };
	struct store_sample v = { .period = 5 };
	int64_t first = record(f, w, 3);
	struct profile *p;

	ok(f, store_profile(r, &first, 1, NULL, &p, &f->err));
	profile_free(p);
	ok(f, store_run_begin(w, &run, &f->err));
	ok(f, store_thread(w, run.id, 1, 1, "x", &v.thread, &f->err));
	v.stack = stack_of(f, w, "entry", "read", "copy", "fault", NULL);
	ok(f, store_samples(w, run.id, &v, 1, &f->err));
	run.state = RUN_COMPLETE;
	ok(f, store_run_finish(w, &run, &f->err));
	ok(f, store_profile(r, &run.id, 1, NULL, &p, &f->err));
	assert_int_equal(p->n, 5);
	assert_true(p->period == 5);
	profile_free(p);
	ok(f, store_close(w, &f->err));
	ok(f, store_close(r, &f->err));
}

/* Two threads of comm "a", one of "b", which also has a sample of a second event. */
static int64_t record_threads(struct fixture *f, struct store *s)
{
	struct run run = { .kind = RUN_RECORD, .ops = 1 };
	struct store_sample v[4] = { 0 };
	int64_t again;

	ok(f, store_run_begin(s, &run, &f->err));
	ok(f, store_event(s, run.id, 0, "cycles", "", &f->err));
	ok(f, store_event(s, run.id, 1, "cache-misses", "", &f->err));
	ok(f, store_thread(s, run.id, 1, 1, "a", &v[0].thread, &f->err));
	ok(f, store_thread(s, run.id, 2, 2, "b", &v[1].thread, &f->err));
	ok(f, store_thread(s, run.id, 1, 3, "a", &v[2].thread, &f->err));
	ok(f, store_thread(s, run.id, 1, 1, "a", &again, &f->err));
	assert_int_equal(v[0].thread, again);
	for (size_t i = 0; i < 3; i++) {
		v[i].period = 10;
		v[i].stack = stack_of(f, s, "entry", "copy", NULL);
	}
	v[3] = (struct store_sample){ .period = 7, .thread = v[1].thread, .event = 1 };
	ok(f, store_samples(s, run.id, v, 4, &f->err));
	return run.id;
}

static void profile_options(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct alias aliases[] = { { "copy", "[kernel.kallsyms]", "copy_new", "[mod]", FRAME_MODULE } };
	struct store_profile_opts opts = { .by_comm = true };
	int64_t id = record_threads(f, s);
	struct profile *p;
	uint32_t a, b, node;

	ok(f, store_profile(s, &id, 1, &opts, &p, &f->err));
	a = child_named(p, NODE_ROOT, "a");
	b = child_named(p, NODE_ROOT, "b");
	assert_true(a != NODE_NONE && b != NODE_NONE);
	assert_int_equal(p->n, 7);
	assert_true(p->nodes[a].total[COUNT] == 2 && p->nodes[b].total[COUNT] == 1);
	assert_int_equal(profile_symbol(p, a)->kind, FRAME_MARK);
	profile_free(p);

	opts = (struct store_profile_opts){ .aliases = aliases, .n_aliases = 1 };
	ok(f, store_profile(s, &id, 1, &opts, &p, &f->err));
	node = child_named(p, child_named(p, NODE_ROOT, "entry"), "copy_new");
	assert_int_not_equal(node, NODE_NONE);
	assert_string_equal(profile_symbol(p, node)->dso, "[mod]");
	assert_true(p->nodes[node].self[PERIOD] == 30);
	profile_free(p);

	opts = (struct store_profile_opts){ .event = 1, .by_comm = true };
	ok(f, store_profile(s, &id, 1, &opts, &p, &f->err));
	assert_true(p->samples == 1 && p->period == 7);
	assert_int_not_equal(child_named(p, child_named(p, NODE_ROOT, "b"), "[no callchain]"), NODE_NONE);
	profile_free(p);
	ok(f, store_close(s, &f->err));
}

static void threads(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record_threads(f, s);
	struct store_thread_row *t;
	size_t n;

	ok(f, store_threads(s, id, &t, &n, &f->err));
	assert_int_equal(n, 3);
	assert_string_equal(t[0].comm, "b");		/* two samples, of two events */
	assert_true(t[0].samples == 2 && t[1].samples == 1);
	assert_int_equal(t[0].pid, 2);
	assert_int_equal(t[2].tid, 3);
	for (size_t i = 0; i < n; i++)
		store_thread_row_release(&t[i]);
	free(t);
	ok(f, store_close(s, &f->err));
}

/* A second writer finds the rows of the first. */
static void ids_are_for_ever(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t symbol[2], stack[2];

	for (int i = 0; i < 2; i++) {
		ok(f, store_symbol(s, "fn", "/bin/x", "abcd", FRAME_USER, &symbol[i], &f->err));
		ok(f, store_stack_child(s, 0, symbol[i], &stack[i], &f->err));
		ok(f, store_close(s, &f->err));
		s = open_store(f, STORE_WRITE);
	}
	assert_int_equal(symbol[0], symbol[1]);
	assert_int_equal(stack[0], stack[1]);
	ok(f, store_symbol(s, "fn", "/bin/x", "abce", FRAME_USER, &symbol[1], &f->err));
	assert_int_not_equal(symbol[0], symbol[1]);
	ok(f, store_close(s, &f->err));
}

struct kept { struct store_sample *v; size_t n; };

static int keep_raw(void *ctx, const struct store_sample *v, size_t n)
{
	struct kept *k = ctx;

	memcpy(k->v + k->n, v, n * sizeof(*v));
	k->n += n;
	return 0;
}

static int stop_at_once(void *ctx, const struct store_sample *v, size_t n)
{
	(void)ctx, (void)v, (void)n;
	return -ECANCELED;
}

/* More than one chunk, two CPUs drained in turn: back in order of time, each once, every field kept. */
static void raw(void **state)
{
	enum { N = 200000, DRAIN = 1000 };
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct run run = { .kind = RUN_RECORD, .ops = 1 };
	struct store_sample *v = mem_calloc(N, sizeof(*v));
	struct kept k = { mem_calloc(N, sizeof(*v)), 0 };
	struct raw_count c = { 0 };
	int64_t thread;
	size_t i;

	ok(f, store_run_begin(s, &run, &f->err));
	ok(f, store_thread(s, run.id, 1, 1, "x", &thread, &f->err));
	for (i = 0; i < N; i++) {
		uint64_t slot = i / (2 * DRAIN) * DRAIN + i % DRAIN;

		v[i] = (struct store_sample){
			.time_ns = 1000 + slot * 2 + i / DRAIN % 2, .cpu = i / DRAIN % 2, .period = i,
			.addr = i * 3, .thread = thread,
		};
	}
	ok(f, store_samples(s, run.id, v, N, &f->err));
	ok(f, store_raw(s, run.id, count_raw, &c, &f->err)); /* the writer sees what is not yet committed */
	assert_int_equal(c.n, N);
	run.state = RUN_COMPLETE;
	ok(f, store_run_finish(s, &run, &f->err));
	ok(f, store_close(s, &f->err));
	s = open_store(f, STORE_READ);
	ok(f, store_raw(s, run.id, keep_raw, &k, &f->err));
	assert_int_equal(k.n, N);
	for (i = 0; i < N; i++) {
		const struct store_sample *x = &k.v[i], *y = &v[x->period];

		assert_int_equal(x->time_ns, 1000 + i);
		assert_true(x->time_ns == y->time_ns && x->addr == y->addr && x->cpu == y->cpu &&
			    x->thread == y->thread);
	}
	assert_int_equal(store_raw(s, run.id, stop_at_once, NULL, &f->err), -ECANCELED);
	c.n = 0;
	ok(f, store_raw(s, 4711, count_raw, &c, &f->err));
	assert_int_equal(c.n, 0);
	ok(f, store_close(s, &f->err));
	free(v);
	free(k.v);
}

static void ids(void **state)
{
	static const struct { const char *text; char kind; int64_t n; enum variant side; } good[] = {
		{ "e3", 'e', 3, VARIANT_NONE },
		{ "r12", 'r', 12, VARIANT_NONE },
		{ "p5", 'p', 5, VARIANT_NONE },
		{ "7", 0, 7, VARIANT_NONE },
		{ "e3:before", 'e', 3, VARIANT_BEFORE },
		{ "3:after", 0, 3, VARIANT_AFTER },
		{ "e9223372036854775807", 'e', INT64_MAX, VARIANT_NONE },
	};
	static const char *const bad[] = {
		"", "e", "x3", "e-3", "e0", "0", "e3:", "e3:none", "e3:later", "r3:before",
		"e9223372036854775808", "e99999999999999999999999999", "e3 ", "e\x1b[2J", "3:before:after",
		":before",
	};
	struct fixture *f = *state;
	struct store_id id;
	char text[40];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ok(f, store_id_parse(good[i].text, &id, &f->err));
		assert_true(id.kind == good[i].kind && id.n == good[i].n && id.side == good[i].side);
		store_id_format(&id, text);
		assert_string_equal(text, good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(store_id_parse(bad[i], &id, &f->err), -EINVAL);
		assert_non_null(strstr(f->err.text, "kab list shows them."));
		assert_null(strchr(f->err.text, '\x1b'));
		err_clear(&f->err);
	}
}

static void resolve(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct experiment e = some_experiment;
	struct run r = { .kind = RUN_BLOCK };
	struct store_id id;

	ok(f, store_experiment_begin(s, &e, &f->err));
	r.experiment = e.id;
	ok(f, store_run_begin(s, &r, &f->err));
	record(f, s, 1);
	ok(f, store_id_resolve(s, "1", &id, &f->err));
	assert_true(id.kind == 'e' && id.n == 1);
	ok(f, store_id_resolve(s, "e1:before", &id, &f->err));
	assert_int_equal(id.side, VARIANT_BEFORE);
	ok(f, store_id_resolve(s, "2", &id, &f->err));
	assert_int_equal(id.kind, 'r');
	ok(f, store_id_resolve(s, "p3", &id, &f->err));
	assert_int_equal(id.kind, 'p');
	fails(f, -ENOENT, "There is no e4 in the session file", store_id_resolve(s, "e4", &id, &f->err));
	fails(f, -ENOENT, "p3 is a recording", store_id_resolve(s, "r3", &id, &f->err));
	fails(f, -ENOENT, "kab list", store_id_resolve(s, "44", &id, &f->err));
	fails(f, -EINVAL, "no side before", store_id_resolve(s, "2:before", &id, &f->err));
	ok(f, store_close(s, &f->err));
}

/* What a closed store had not finished is incomplete; a store that is open for reading writes nothing. */
static void unfinished(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE), *reader;
	struct experiment e = some_experiment;
	struct run r = { .kind = RUN_BLOCK };

	ok(f, store_experiment_begin(s, &e, &f->err));
	r.experiment = e.id;
	ok(f, store_run_begin(s, &r, &f->err));
	reader = open_store(f, STORE_READ);
	ok(f, store_run(reader, r.id, &r, &f->err));
	assert_int_equal(r.state, RUN_RUNNING);
	fails(f, -EROFS, "for reading only", store_run_begin(reader, &r, &f->err));
	ok(f, store_close(s, &f->err));
	ok(f, store_run(reader, r.id, &r, &f->err));
	assert_int_equal(r.state, RUN_INCOMPLETE);
	ok(f, store_experiment(reader, e.id, &e, &f->err));
	assert_int_equal(e.state, EXP_INCOMPLETE);
	experiment_release(&e);
	ok(f, store_close(reader, &f->err));
	ok(f, store_close(NULL, &f->err));
}

/* Paths that SQLite would take for something else. */
static void odd_paths(void **state)
{
	static const char *const names[] = {
		":memory:", "file:x?mode=memory", "a%20b#c?d", "\xff\x01 x", "%",
	};
	struct fixture *f = *state;
	char *cwd = getcwd(NULL, 0);
	struct store *s;

	assert_int_equal(chdir(f->dir), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ok(f, store_open(names[i], STORE_WRITE, &s, &f->err));
		assert_string_equal(store_path(s), names[i]);
		record(f, s, 3);
		ok(f, store_close(s, &f->err));
		assert_true(fs_exists(names[i]));
		ok(f, store_open(names[i], STORE_READ, &s, &f->err));
		ok(f, store_check(s, &f->err));
		ok(f, store_close(s, &f->err));
	}
	assert_int_equal(chdir(cwd), 0);
	free(cwd);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * Gives samples with ever new stacks as fast as it can for `ms` milliseconds (0: none), finishes its
 * run and returns 0, unless another kept it from writing for 2 s. One of several processes, so it
 * prints what it has to say.
 */
static int write_along(struct fixture *f, unsigned ms)
{
	struct run run = { .kind = RUN_RECORD, .ops = 1 };
	struct store_sample v = { .period = 1 };
	struct store *s = NULL;
	double start = seconds(), before = start, longest = 0;
	char name[40];
	int64_t symbol;
	int rc;

	rc = store_open(f->path, STORE_WRITE, &s, &f->err);
	if (!rc)
		rc = store_run_begin(s, &run, &f->err);
	if (!rc)
		rc = store_thread(s, run.id, 1, 1, "x", &v.thread, &f->err);
	while (!rc && before - start < ms / 1e3) {
		before = seconds();
		snprintf(name, sizeof(name), "f_%lld_%lld", (long long)run.id, (long long)v.time_ns++);
		rc = store_symbol(s, name, "", NULL, FRAME_KERNEL, &symbol, &f->err);
		if (!rc)
			rc = store_stack_child(s, 0, symbol, &v.stack, &f->err);
		if (!rc)
			rc = store_samples(s, run.id, &v, 1, &f->err);
		longest = fmax(longest, seconds() - before);
	}
	run.samples = v.time_ns;
	run.state = RUN_COMPLETE;
	if (!rc)
		rc = store_run_finish(s, &run, &f->err);
	if (!rc)
		rc = store_close(s, &f->err);
	if (rc)
		fprintf(stderr, "%s\n", f->err.text);
	if (longest > 2)
		fprintf(stderr, "kept from writing for %.2f s\n", longest);
	return rc || longest > 2;
}

/* `n` processes create the same file and write it at once; all of them get through. */
static void together(struct fixture *f, size_t n, unsigned ms)
{
	struct store *s;
	struct run *v;
	pid_t pids[8];
	size_t runs, i;
	int status;

	for (i = 0; i < n; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(write_along(f, ms));
	}
	for (i = 0; i < n; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	s = open_store(f, STORE_READ);
	ok(f, store_check(s, &f->err));
	ok(f, store_runs(s, 0, &v, &runs, &f->err));
	assert_int_equal(runs, n);
	for (i = 0; i < runs; i++) {
		struct raw_count c = { 0 };

		assert_int_equal(v[i].state, RUN_COMPLETE);
		ok(f, store_raw(s, v[i].id, count_raw, &c, &f->err));
		assert_int_equal(c.n, v[i].samples);
		assert_true(!ms || c.n > 0);
		run_release(&v[i]);
	}
	free(v);
	ok(f, store_close(s, &f->err));
}

static void created_together(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 20; round++) {
		together(f, 8, 0);
		ok(f, fs_remove(f->path, &f->err));
		fs_remove(f->dir, NULL);
		assert_int_equal(mkdir(f->dir, 0700), 0);
	}
}

/* Two recorders that never pause share the file. */
static void written_together(void **state)
{
	together(*state, 2, 6000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(experiments), TEST(groups), TEST(runs), TEST(newest_first), TEST(machines), TEST(metrics_and_texts),
		TEST(counters),
		TEST(profile), TEST(profile_grows), TEST(profile_options), TEST(threads),
		TEST(ids_are_for_ever), TEST(raw), TEST(ids), TEST(resolve), TEST(unfinished),
		TEST(odd_paths), TEST(created_together), TEST(written_together),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
