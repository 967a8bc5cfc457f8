// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live: kab's end against the real kab-agent, on this machine: samples are as
 * many as the clock says, losses are counted once, and whoever is killed,
 * nothing stays behind. Skipped where perf events may not be opened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/map.h"
#include "collectors/live/live.h"
#include "collectors/live/wire.h"

#define HZ 4000
#define SPIN "0.4"		/* CPU seconds of the busy loop */

/* --- the workload: this program again --- */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int spin(const char *seconds)
{
	const char *fd = getenv("KAB_RESULT_FD");
	struct rusage ru;

	while (cpu_seconds() < atof(seconds))
		;
	getrusage(RUSAGE_SELF, &ru);
	dprintf(fd ? atoi(fd) : 2, "ops 4\nuser_ns %lld\nsys_ns %lld\nmetric laps 1 12.5\n",
		ru.ru_utime.tv_sec * 1000000000LL + ru.ru_utime.tv_usec * 1000LL,
		ru.ru_stime.tv_sec * 1000000000LL + ru.ru_stime.tv_usec * 1000LL);
	puts("spun");
	return 0;
}

static int calls(const char *n)
{
	for (long i = atol(n); i > 0; i--)
		syscall(SYS_sched_get_priority_max, 0);
	return 0;
}

/* --- the sink --- */

struct watch {
	struct map tids;
	uint32_t stacks;
	uint64_t samples, period;
	size_t maps, execs, deep, kallsyms, vdso;
	uint32_t pid;			/* of the last exec */
	bool own_map;			/* this program was mapped with a build id */
	bool (*stop)(struct watch *w);
	double stop_at;			/* CLOCK_MONOTONIC s */
	pid_t victim;
	int refuse;			/* what samples() returns */
	size_t formats, calls, switches;
	uint32_t call_id;
	uint64_t traced_ns;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int on_kallsyms(void *ctx, const char *text, size_t len)
{
	((struct watch *)ctx)->kallsyms++;
	assert_non_null(strstr(text, " _text\n"));
	assert_int_equal(strlen(text), len);
	return 0;
}

static int on_vdso(void *ctx, const void *elf, size_t len)
{
	((struct watch *)ctx)->vdso++;
	assert_true(len > 4096 && !memcmp(elf, "\177ELF", 4));
	return 0;
}

static int on_thread(void *ctx, uint32_t pid, uint32_t tid, const char *comm)
{
	(void)pid, (void)comm;
	map_intern(&((struct watch *)ctx)->tids, &tid, sizeof(tid), NULL);
	return 0;
}

static int on_exec(void *ctx, uint32_t pid)
{
	((struct watch *)ctx)->execs++;
	((struct watch *)ctx)->pid = pid;
	return 0;
}

static int on_map(void *ctx, const struct live_map *m)
{
	struct watch *w = ctx;

	w->maps++;
	w->own_map |= strstr(m->path, "live-test") && m->len;
	return 0;
}

static int on_stack(void *ctx, uint32_t number, uint32_t pid, const uint64_t *ips, size_t n, size_t n_kernel,
		    bool damaged, bool truncated)
{
	struct watch *w = ctx;

	(void)pid, (void)damaged, (void)truncated;
	assert_int_equal(number, w->stacks++);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ips[i] >> 63, i < n_kernel);
	w->deep += n > 1;
	return 0;
}

static int on_samples(void *ctx, const struct live_sample *v, size_t n)
{
	struct watch *w = ctx;

	for (size_t i = 0; i < n; i++) {
		assert_true(v[i].stack < w->stacks || v[i].stack == LIVE_NO_STACK);
		assert_true(map_find(&w->tids, &v[i].tid, sizeof(v[i].tid)) != MAP_NONE);
		assert_true(!i || v[i].time_ns >= v[i - 1].time_ns);
		w->period += v[i].period;
	}
	w->samples += n;
	return w->refuse;
}

static int on_format(void *ctx, uint32_t id, const char *system, const char *name, const char *text,
		     size_t len)
{
	struct watch *w = ctx;

	w->formats++;
	if (!strcmp(system, "syscalls"))
		w->call_id = id;
	assert_non_null(strstr(text, name));
	assert_int_equal(strlen(text), len);
	return 0;
}

static int on_trace(void *ctx, const struct live_trace *v, size_t n)
{
	struct watch *w = ctx;

	for (size_t i = 0; i < n; i++) {
		uint16_t id;

		memcpy(&id, v[i].raw, sizeof(id));
		*(id == w->call_id ? &w->calls : &w->switches) += 1;
		assert_true(v[i].time_ns >= w->traced_ns);
		w->traced_ns = v[i].time_ns;
		/* Fields common to all: the task's own number at 4. */
		assert_true(v[i].len >= 8 && (id != w->call_id || !memcmp(v[i].raw + 4, &v[i].tid, 4)));
	}
	return 0;
}

static bool on_stop(void *ctx)
{
	struct watch *w = ctx;

	return w->stop && w->stop(w);
}

static struct live_sink sink_to(struct watch *w)
{
	return (struct live_sink){ .ctx = w,
				   .kallsyms = on_kallsyms,
				   .vdso = on_vdso,
				   .thread = on_thread,
				   .exec = on_exec,
				   .map = on_map,
				   .stack = on_stack,
				   .samples = on_samples,
				   .format = on_format,
				   .trace = on_trace,
				   .stop = on_stop };
}

/* --- the agent --- */

static const char *self(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return path;
}

/* Beside the folder this test is in; the sanitised one where there is one. */
static char *agent(void)
{
	static const char *const names[] = { "kab-agent-san", "kab-agent" };
	static char path[PATH_MAX + 32];
	int dir = (int)(strrchr(self(), '/') - self());

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%.*s/../%s", dir, self(), names[i]);
		if (!access(path, X_OK))
			return path;
	}
	fail_msg("kab-agent is not built");
	return NULL;
}

static struct live *spawn(struct watch *w)
{
	struct live_sink sink = sink_to(w);
	struct err err = ERR_INIT;
	struct machine m = { 0 };
	struct live *l;
	bool none;

	if (live_spawn(agent(), false, &sink, &l, &err))
		fail_msg("%s", err.text);
	assert_int_equal(live_facts(l, &m, &err), 0);
	none = !machine_get(m.n ? &m : NULL, "perf.rights") ||
	       strcmp(machine_get(&m, "perf.rights"), "kernel");
	if (none)
		print_message("skipped: perf.rights is \"%s\" here\n", machine_get(&m, "perf.rights"));
	machine_release(&m);
	if (none) {
		live_close(l);
		skip();
	}
	return l;
}

/* Processes whose command line holds `word`. */
static size_t running(const char *word)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	size_t n = 0;

	while ((d = readdir(proc))) {
		struct buf line = BUF_INIT;
		char path[300];

		snprintf(path, sizeof(path), "/proc/%s/cmdline", d->d_name);
		if (isdigit((unsigned char)d->d_name[0]) && atoi(d->d_name) != getpid() &&
		    !buf_read_file(&line, path, 65536, NULL) &&
		    memmem(buf_str(&line), line.len, word, strlen(word)))
			n++;
		buf_release(&line);
	}
	closedir(proc);
	return n;
}

/* The `nth` child of a process, in order of /proc; 0: none. */
static pid_t child_of(pid_t parent)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	pid_t found = 0;

	while (!found && (d = readdir(proc))) {
		struct buf line = BUF_INIT;
		char path[300], *p;
		int ppid = 0;

		snprintf(path, sizeof(path), "/proc/%s/stat", d->d_name);
		if (isdigit((unsigned char)d->d_name[0]) && !buf_read_file(&line, path, 4096, NULL)) {
			p = strrchr(buf_str(&line), ')');
			if (p && sscanf(p + 1, " %*c %d", &ppid) == 1 && ppid == parent)
				found = atoi(d->d_name);
		}
		buf_release(&line);
	}
	closedir(proc);
	return found;
}

/* Waits until nothing with `word` runs; how many still do after 10 s. */
static size_t left(const char *word)
{
	for (int i = 0; i < 500 && running(word); i++)
		usleep(20000);
	return running(word);
}

/* --- recording --- */

static void check_spin(bool after, unsigned ring_kib, bool lossy)
{
	const char *const argv[] = { self(), "spin", SPIN, NULL };
	struct live_block b = { .argv = argv,
				.sampled = true,
				.event = "cpu-clock",
				.freq_hz = HZ,
				.drain_after = after,
				.ring_kib = ring_kib };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);
	double expected;

	if (live_run(l, &b, &r, &err))
		fail_msg("%s", err.text);
	expected = (double)(r.user_ns + r.sys_ns) / 1e9 * HZ;
	print_message("%llu samples, %llu lost, %.0f expected\n", (unsigned long long)r.samples,
		      (unsigned long long)r.lost, expected);
	assert_true(expected > 0.9 * HZ * atof(SPIN));
	/* Kept and lost together. A virtual machine's timer skips some; side-band records are lost too. */
	assert_in_range((uint64_t)(r.samples + r.lost), (uint64_t)(0.8 * expected),
			(uint64_t)(1.1 * expected) + 100);
	assert_int_equal(w.samples, r.samples);
	if (lossy)
		assert_true(r.lost > 100 && r.samples > 5);
	else
		assert_true(r.lost == 0 && w.execs == 1 && w.own_map && w.maps >= 3 && w.deep > 2);
	assert_true(w.kallsyms == 1 && w.vdso == 1);
	assert_int_equal(w.period, r.samples * (1000000000 / HZ));
	assert_true(r.reported && r.ops == 4 && r.exit_status == 0);
	assert_true(r.wall_ns >= 400000000 && r.n_metrics == 1 && r.metrics[0].value == 12.5);
	assert_string_equal(r.metrics[0].name, "laps");
	assert_string_equal(r.event, "cpu-clock");
	assert_string_equal(buf_str(&r.output), "spun\n");
	live_result_release(&r);
	live_close(l);
	map_release(&w.tids);
	assert_int_equal(left(agent()), 0);
}

static void test_samples(void **state)
{
	(void)state;
	check_spin(false, 0, false);
}

static void test_drained_after(void **state)
{
	(void)state;
	check_spin(true, 0, false);
}

static const struct live_counter *counter(const struct live_result *r, const char *name)
{
	for (size_t i = 0; i < r->n_counters; i++)
		if (!strcmp(r->counters[i].name, name))
			return &r->counters[i];
	fail_msg("there is no counter %s", name);
	return NULL;
}

/*
 * A timed block is counted from its exec on, children included: the task clock
 * is what wait4 says, pages are touched in user code. What the PMU counts is
 * either there, or not supported: a spinning program has more than no cycles.
 */
static void test_counted(void **state)
{
	static const char *const hardware[] = { "cycles:u", "instructions:u", "cycles:k", "instructions:k" };
	const char *const argv[] = { "sh", "-c", "\"$0\" spin 0.2; exit $?", self(), NULL };
	struct live_block b = { .argv = argv, .counted = true };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);
	const struct live_counter *clock;

	(void)state;
	if (live_run(l, &b, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.exit_status, 0);
	clock = counter(&r, "task-clock");
	assert_string_equal(clock->unit, "ns");
	assert_true(clock->running == 1 && clock->value > 0.2e9 && clock->value < 1e9);
	assert_true(counter(&r, "page-faults:u")->value > 20);
	assert_true(counter(&r, "context-switches")->value >= 1);
	assert_true(counter(&r, "cpu-migrations")->value >= 0);
	for (size_t i = 0; i < sizeof(hardware) / sizeof(hardware[0]); i++) {
		const struct live_counter *c = counter(&r, hardware[i]);

		print_message("%s: %s\n", hardware[i], c->running > 0 ? "counted" : "not supported");
		assert_true(c->running > 0 ? c->value > 1000 : c->value != c->value);
	}
	live_result_release(&r);
	b.counted = false;
	if (live_run(l, &b, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.n_counters, 0);
	live_result_release(&r);
	live_close(l);
	map_release(&w.tids);
}

/* A tracepoint of the workload and its children: every one is met, in order, with its format before it. */
static void traced(bool after)
{
	static const struct live_tracepoint tracepoints[] = {
		{ "syscalls", "sys_enter_sched_get_priority_max", false }, { "sched", "sched_switch", true },
	};
	const char *const argv[] = { "sh", "-c", "\"$0\" calls 1000; \"$0\" calls 500", self(), NULL };
	struct live_block b = { .argv = argv, .sampled = true, .event = "cpu-clock", .freq_hz = 1000,
				.drain_after = after, .tracepoints = tracepoints, .n_tracepoints = 2 };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);
	int rc = live_run(l, &b, &r, &err);

	if (rc == -ENOENT || rc == -EACCES) {
		print_message("skipped: %s\n", err.text);
		live_close(l);
		skip();
	}
	if (rc)
		fail_msg("%s", err.text);
	assert_int_equal(r.lost, 0);
	assert_int_equal(w.formats, 2);
	assert_int_equal(w.calls, 1500);
	assert_true(w.switches > 2);
	live_result_release(&r);
	live_close(l);
	map_release(&w.tids);
}

static void test_traced(void **state)
{
	(void)state;
	traced(false);
}

static void test_traced_after(void **state)
{
	(void)state;
	traced(true);
}

static void test_no_tracepoint(void **state)
{
	static const struct { struct live_tracepoint t; const char *words; } wrong[] = {
		{ { "sched", "sched_swotch", false }, "no tracepoint sched:sched_swotch" },
		{ { "..", "events", false }, "cannot be the name" },
		{ { "sched/../sched", "sched_switch", false }, "cannot be the name" },
	};
	const char *const argv[] = { "true", NULL };
	struct watch w = { 0 };
	struct live_result r;
	struct live *l = spawn(&w);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct live_block b = {
			.argv = argv, .sampled = true, .tracepoints = &wrong[i].t, .n_tracepoints = 1
		};
		struct err err = ERR_INIT;
		int rc = live_run(l, &b, &r, &err);

		assert_true(rc < 0);
		if (!strstr(err.text, wrong[i].words) && !strstr(err.text, "run kab as root"))
			fail_msg("%s", err.text);
	}
	live_close(l);
	map_release(&w.tids);
}

/* What moves is there, and read again it has not gone back. */
static void test_moving(void **state)
{
	static const char *const keys[] = { "uptime_us", "stat.total", "stat.interrupts", "stat.switches" };
	struct machine m[2] = { { 0 }, { 0 } };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live *l = spawn(&w);

	(void)state;
	for (size_t i = 0; i < 2; i++)
		if (live_moving(l, &m[i], &err))
			fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_non_null(machine_get(&m[0], keys[i]));
		assert_true(atof(machine_get(&m[0], keys[i])) > 0);
		assert_true(atof(machine_get(&m[1], keys[i])) >= atof(machine_get(&m[0], keys[i])));
	}
	assert_non_null(machine_get(&m[0], "clock.source"));
	machine_release(&m[0]);
	machine_release(&m[1]);
	live_close(l);
}

/* One page of ring: the kernel drops most, and tells it twice, in the ring and by the event. */
static void test_lost(void **state)
{
	(void)state;
	check_spin(true, 4, true);
}

static void test_two_blocks(void **state)
{
	const char *const argv[] = { self(), "spin", "0.05", NULL };
	struct live_block b = { .argv = argv, .sampled = true, .freq_hz = HZ };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);

	(void)state;
	for (int i = 0; i < 2; i++) {
		b.drain_after = i;
		if (live_run(l, &b, &r, &err))
			fail_msg("%s", err.text);
		assert_true(r.samples > 50);
		live_result_release(&r);
	}
	assert_int_equal(w.execs, 2);
	assert_int_equal(w.kallsyms, 1);	/* no module came or went */
	b.sampled = false;
	b.drain_after = false;
	w.samples = 0;
	assert_int_equal(live_run(l, &b, &r, &err), 0);
	assert_true(r.samples == 0 && w.samples == 0 && r.ops == 4);
	assert_string_equal(r.event, "");
	live_result_release(&r);
	live_close(l);
	map_release(&w.tids);
}

static void test_silent_workload(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo out; echo err >&2; sleep 0.05; exit 3", NULL };
	struct live_block b = { .argv = argv };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);

	(void)state;
	assert_int_equal(live_run(l, &b, &r, &err), 0);
	assert_true(!r.reported && r.ops == 1 && r.exit_status == 3);
	assert_in_range(r.wall_ns, 50000000, 30000000000);
	assert_non_null(strstr(buf_str(&r.output), "out\n"));
	assert_non_null(strstr(buf_str(&r.output), "err\n"));
	live_result_release(&r);
	live_close(l);
}

static void test_errors(void **state)
{
	const char *const nothing[] = { "/nowhere/program", NULL }, *const ok[] = { "true", NULL };
	struct live_block b = { .argv = nothing, .sampled = true };
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);

	(void)state;
	assert_int_equal(live_run(l, &b, &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "Cannot run /nowhere/program"));
	err_clear(&err);
	b.argv = ok;
	b.event = "sneezes";
	assert_int_equal(live_run(l, &b, &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "sneezes"));
	assert_non_null(strstr(err.text, "cpu-clock"));
	err_clear(&err);
	assert_int_equal(live_module_load(l, "../evil", "x", 1, "", &err), -EINVAL);
	err_clear(&err);
	assert_true(live_module_load(l, "kab_no_elf", "x", 1, "", &err) < 0);
	assert_true(err.len > 20);
	err_clear(&err);
	assert_int_equal(live_module_switch(l, "kab_none", VARIANT_BEFORE, &err), -ENOENT);
	/* None of this ended the stream. */
	b.event = NULL;
	assert_int_equal(live_run(l, &b, &r, NULL), 0);
	live_result_release(&r);
	live_close(l);
	map_release(&w.tids);
}

static void test_sink_refuses(void **state)
{
	const char *const argv[] = { self(), "spin", "60", NULL };
	struct live_block b = { .argv = argv, .sampled = true };
	struct watch w = { .refuse = -ENOSPC };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);

	(void)state;
	assert_int_equal(live_run(l, &b, &r, &err), -ENOSPC);
	live_close(l);
	map_release(&w.tids);
}

static void test_put_and_capture(void **state)
{
	static const char script[] = "#!/bin/sh\necho \"got $1\"\nexit 5\n";
	struct watch w = { 0 };
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	struct live *l = spawn(&w);
	const char *argv[3] = { NULL, "this", NULL };
	char *path;
	int status = -1;

	(void)state;
	assert_int_equal(live_put(l, "/a/b/script", script, sizeof(script) - 1, &path, &err), 0);
	assert_non_null(strstr(path, "/script"));
	argv[0] = path;
	assert_int_equal(live_capture(l, argv, &out, &status, &err), 0);
	assert_string_equal(buf_str(&out), "got this\n");
	assert_int_equal(status, 5);
	live_close(l);
	assert_false(fs_exists(path));
	buf_release(&out);
	free(path);
}

/* --- cancelling and killing --- */

/* Two sleepers, one out of the process group, that no other run of this test can be confused with. */
static void sleepers(char mark[32], char script[120])
{
	snprintf(mark, 32, "9%09d", (int)getpid());
	snprintf(script, 120, "sleep %s & setsid sleep %s; :", mark, mark);
}

static bool after_a_while(struct watch *w)
{
	return now_s() > w->stop_at;
}

static void test_cancel(void **state)
{
	char mark[32], script[120];
	const char *const argv[] = { "sh", "-c", script, NULL };
	const char *const ok[] = { "true", NULL };
	struct live_block b = { .argv = argv, .sampled = true };
	struct watch w = { .stop = NULL };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);

	(void)state;
	sleepers(mark, script);
	for (int after = 0; after < 2; after++) {
		b.argv = argv;
		b.drain_after = after;
		w.stop = after_a_while;
		w.stop_at = now_s() + 0.5;
		assert_int_equal(live_run(l, &b, &r, &err), -ECANCELED);
		assert_int_equal(running(mark), 0);	/* before live_run returns, not after */
		w.stop = NULL;
		b.argv = ok;
		assert_int_equal(live_run(l, &b, &r, &err), 0);	/* and the next block is served */
		live_result_release(&r);
	}
	live_close(l);
	map_release(&w.tids);
}

static bool kill_once(struct watch *w)
{
	if (w->victim && now_s() > w->stop_at) {
		assert_int_equal(kill(w->victim, SIGKILL), 0);
		w->victim = 0;
	}
	return false;
}

static void check_kill(bool worker)
{
	char mark[32], script[120];
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct live_block b = { .argv = argv, .sampled = true };
	struct watch w = { .stop = kill_once };
	struct err err = ERR_INIT;
	struct live_result r;
	struct live *l = spawn(&w);
	pid_t supervisor = child_of(getpid());

	sleepers(mark, script);
	w.victim = worker ? child_of(supervisor) : supervisor;
	w.stop_at = now_s() + 0.7;
	assert_true(w.victim > 0);
	assert_int_equal(live_run(l, &b, &r, &err), -EPIPE);
	assert_non_null(strstr(err.text, "ended early"));
	err_clear(&err);
	assert_int_equal(live_run(l, &b, &r, &err), -EPIPE);	/* and says so again */
	assert_true(err.len > 0);
	live_close(l);
	assert_int_equal(left(mark), 0);
	assert_int_equal(left(agent()), 0);
	map_release(&w.tids);
}

static void test_kill_worker(void **state)
{
	(void)state;
	check_kill(true);
}

static void test_kill_supervisor(void **state)
{
	(void)state;
	check_kill(false);
}

static void test_kill_kab(void **state)
{
	char mark[32], script[120];
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct live_block b = { .argv = argv, .sampled = true };
	struct live_result r;
	struct watch w = { 0 };
	pid_t kab;

	(void)state;
	sleepers(mark, script);
	live_close(spawn(&w));		/* skips when it must */
	kab = fork();
	if (!kab) {
		live_run(spawn(&w), &b, &r, NULL);
		_exit(0);
	}
	for (int i = 0; i < 500 && running(mark) < 3; i++)
		usleep(20000);
	assert_true(running(mark) >= 3);
	kill(kab, SIGKILL);
	waitpid(kab, NULL, 0);
	assert_int_equal(left(mark), 0);
	assert_int_equal(left(agent()), 0);
}

/* --- peers that are not what they should be --- */

static int attach_to(const struct buf *sent, bool close_it, struct err *err)
{
	struct watch w = { 0 };
	struct live_sink sink = sink_to(&w);
	struct live *l = NULL;
	int fd[2], rc;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	if (sent)
		assert_int_equal(write(fd[1], sent->data, sent->len), sent->len);
	if (close_it)
		shutdown(fd[1], SHUT_WR);
	rc = live_attach(fd[0], &sink, 300, &l, err);
	live_close(rc ? NULL : l);
	close(fd[1]);
	return rc;
}

static void test_other_version(void **state)
{
	char name[] = "kab-agent\033[2J 9.9";
	Kab__Hello hello = KAB__HELLO__INIT;
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;

	(void)state;
	hello.version = WIRE_VERSION + 1;
	hello.name = name;
	wire_event(&b, KAB__EVENT__BODY_HELLO, &hello);
	assert_int_equal(attach_to(&b, false, &err), -EPROTO);
	assert_non_null(strstr(err.text, "same build"));
	assert_null(strchr(err.text, '\033'));
	buf_clear(&b);
	hello.version = WIRE_VERSION;
	wire_event(&b, KAB__EVENT__BODY_HELLO, &hello);
	assert_int_equal(attach_to(&b, false, &err), 0);
	buf_release(&b);
}

static void test_bad_peers(void **state)
{
	struct buf b = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(attach_to(NULL, true, &err), -EPIPE);
	err_clear(&err);
	assert_int_equal(attach_to(NULL, false, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "said nothing"));
	err_clear(&err);
	buf_puts(&b, "Linux version 6.1.0");
	assert_int_equal(attach_to(&b, false, &err), -EPROTO);
	assert_non_null(strstr(err.text, "not the stream"));
	err_clear(&err);
	buf_clear(&b);
	buf_add(&b, "\4\0\0\0\377\377\377\377", 8);
	assert_int_equal(attach_to(&b, false, &err), -EPROTO);
	assert_non_null(strstr(err.text, "not the stream"));
	buf_release(&b);
}

static void test_bad_programs(void **state)
{
	struct watch w = { 0 };
	struct live_sink sink = sink_to(&w);
	struct err err = ERR_INIT;
	struct live *l;

	(void)state;
	assert_int_equal(live_spawn("/nowhere/kab-agent", false, &sink, &l, &err), -ENOENT);
	assert_non_null(strstr(err.text, "run make"));
	err_clear(&err);
	assert_int_equal(live_spawn("/bin/true", false, &sink, &l, &err), -EPIPE);
	assert_non_null(strstr(err.text, "before it had said a word"));
	err_clear(&err);
	assert_int_equal(live_spawn("/bin/echo", false, &sink, &l, &err), -EPROTO);
}

/* The agent's own refusals, over bare pipes. */
static void agent_answers(const struct buf *sent, Kab__Reply **reply, int *status)
{
	struct wire_in rd = WIRE_IN_INIT;
	int to[2], from[2];
	const uint8_t *p;
	size_t len;
	pid_t pid;

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(agent(), agent(), "--stdio", NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	assert_int_equal(write(to[1], sent->data, sent->len), sent->len);
	while (wire_read(&rd, from[0]) > 0)	/* to its end: the agent ends by itself */
		;
	*reply = NULL;
	while (wire_next(&rd, "kab-agent", &p, &len, NULL) > 0) {
		Kab__Event *ev = kab__event__unpack(NULL, len, p);

		assert_non_null(ev);
		if (ev->body_case == KAB__EVENT__BODY_REPLY) {
			*reply = ev->reply;
			ev->reply = NULL;
			ev->body_case = KAB__EVENT__BODY__NOT_SET;
		}
		kab__event__free_unpacked(ev, NULL);
	}
	waitpid(pid, status, 0);
	close(to[1]);
	close(from[0]);
	wire_in_release(&rd);
}

static void agent_refuses(struct buf *sent, const char *word)
{
	Kab__Reply *reply;
	int status;

	agent_answers(sent, &reply, &status);
	assert_non_null(reply);
	assert_int_equal(reply->id, 0);
	assert_int_equal(reply->code, -EPROTO);
	assert_non_null(strstr(reply->error, word));
	kab__reply__free_unpacked(reply, NULL);
	buf_clear(sent);
}

static void test_agent_refuses(void **state)
{
	Kab__Hello hello = KAB__HELLO__INIT;
	Kab__Facts facts = KAB__FACTS__INIT;
	struct buf b = BUF_INIT;
	char name[] = "kab 9.9";

	(void)state;
	hello.version = WIRE_VERSION + 1;
	hello.name = name;
	wire_request(&b, 1, KAB__REQUEST__BODY_HELLO, &hello);
	agent_refuses(&b, "same build");
	wire_request(&b, 1, KAB__REQUEST__BODY_FACTS, &facts);
	agent_refuses(&b, "before kab had said its version");
	buf_puts(&b, "GET / HTTP/1.1\r\n");
	agent_refuses(&b, "not the stream");
	buf_add(&b, "\4\0\0\0\377\377\377\377", 8);
	agent_refuses(&b, "no request");
	buf_release(&b);
}

/* Alive keeps an agent that minds silence; silence ends it and the workload, while the stream stays open. */
static void test_silence(void **state)
{
	Kab__Hello hello = KAB__HELLO__INIT;
	Kab__Alive alive = KAB__ALIVE__INIT;
	Kab__Run run = KAB__RUN__INIT;
	const struct timespec pause = { 0, 300000000 };
	char name[] = "kab", *argv[] = { (char *)"/bin/sleep", (char *)"61" };
	struct buf b = BUF_INIT;
	int to[2], from[2], status, i;
	double silent_since;
	char chunk[4096];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(agent(), agent(), "--stdio", "--silence=1", NULL);
		_exit(127);
	}
	close(from[1]);
	hello.version = WIRE_VERSION;
	hello.name = name;
	wire_request(&b, 1, KAB__REQUEST__BODY_HELLO, &hello);
	run.argv = argv;
	run.n_argv = 2;
	wire_request(&b, 2, KAB__REQUEST__BODY_RUN, &run);
	for (i = 0; i < 8; i++) {
		wire_request(&b, 2, KAB__REQUEST__BODY_ALIVE, &alive);
		assert_int_equal(write(to[1], b.data, b.len), b.len);
		buf_clear(&b);
		nanosleep(&pause, NULL);
		assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	}
	silent_since = now_s();
	while (read(from[0], chunk, sizeof(chunk)) > 0)		/* the agent alone holds its other end */
		;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(now_s() - silent_since < 10);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	buf_release(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_drained_after),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_traced),
		cmocka_unit_test(test_traced_after),
		cmocka_unit_test(test_no_tracepoint),
		cmocka_unit_test(test_moving),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_two_blocks),
		cmocka_unit_test(test_silent_workload),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_sink_refuses),
		cmocka_unit_test(test_put_and_capture),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_kill_worker),
		cmocka_unit_test(test_kill_supervisor),
		cmocka_unit_test(test_kill_kab),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_bad_peers),
		cmocka_unit_test(test_bad_programs),
		cmocka_unit_test(test_agent_refuses),
		cmocka_unit_test(test_silence),
	};

	if (argc == 3 && !strcmp(argv[1], "calls"))
		return calls(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "spin"))
		return spin(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
