// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring: see ring.h.
 *
 * libperf's traps, each of which costs records or a crash: perf_mmap__read_done()
 * skips what came after the last read (so it is not called: a read that found
 * nothing has consumed everything); attr.size is not set by the library; a
 * NULL thread map crashes; a task event with inherit must be opened per CPU.
 */
#include "collectors/live/agent/ring.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>

#include "base/err.h"
#include "base/mem.h"

#define DEFAULT_HZ 4000
#define MAX_CLOCKS 16

static const struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool clock;		/* counts nanoseconds by a timer of its own */
} events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false },
};
#define N_EVENTS (sizeof(events) / sizeof(events[0]))

/* What an older kernel refuses with EINVAL, given up one by one. */
enum { WITH_BUILD_ID = 1, WITH_LOST = 2 };
static const unsigned feature_sets[] = { WITH_BUILD_ID | WITH_LOST, WITH_LOST, 0 };

/* Each with rings of its own. */
enum list { SAMPLED, TRACED, EVERYWHERE, LISTS };

struct ring {
	const struct event *event;
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads, *anyone;	/* the task; whoever runs */
	struct perf_evlist *lists[LISTS];		/* own their events; NULL when there are none */
	unsigned clocks;
	size_t pages;
	unsigned features;
};

static int quiet(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

static void attr_common(struct perf_event_attr *a, const struct ring_opts *o, unsigned features)
{
	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	a->read_format = features & WITH_LOST ? PERF_FORMAT_LOST : 0;
	a->disabled = 1;
	a->enable_on_exec = 1;
	a->inherit = 1;
	a->sample_id_all = 1;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
	a->exclude_kernel = o->user_only;
	a->exclude_callchain_kernel = o->user_only;
	a->exclude_hv = 1;
	/* No wake-ups: the reader comes by the clock, or after the block, at no cost to the workload. */
	a->watermark = 1;
	a->wakeup_watermark = UINT32_MAX;
}

static void attr_sampled(struct perf_event_attr *a, const struct event *e, const struct ring_opts *o,
			 unsigned features)
{
	attr_common(a, o, features);
	a->type = e->type;
	a->config = e->config;
	a->freq = 1;
	a->sample_freq = o->freq_hz ? o->freq_hz : DEFAULT_HZ;
}

static unsigned clocks_of(const struct event *e, const struct ring_opts *o)
{
	if (!e->clock || o->clocks < 2)
		return 1;
	return o->clocks < MAX_CLOCKS ? o->clocks : MAX_CLOCKS;
}

/*
 * Clock i of n. The periods lie within 10 % of n / freq_hz, spread by the golden
 * ratio so that no two are near a simple ratio of one another; the rates add up
 * to freq_hz within a per cent. A multiple of n, so that a share is whole.
 */
static void attr_clock(struct perf_event_attr *a, const struct ring_opts *o, unsigned i, unsigned n)
{
	double turn = (i + 1) * 0.6180339887, spread = 0.9 + 0.2 * (turn - (double)(unsigned)turn);

	a->freq = 0;
	a->sample_period = (uint64_t)(spread * 1e9 / (double)(o->freq_hz ? o->freq_hz : DEFAULT_HZ)) * n;
}

static void attr_dummy(struct perf_event_attr *a, const struct ring_opts *o, unsigned features)
{
	attr_common(a, o, features);
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->exclude_kernel = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
	a->mmap = 1;
	a->mmap2 = 1;
	a->build_id = !!(features & WITH_BUILD_ID);
}

/* The tracepoint's own id tells its samples apart, so none is asked for. */
static void attr_tracepoint(struct perf_event_attr *a, const struct ring_tracepoint *t, unsigned features)
{
	attr_common(a, &(struct ring_opts){ .user_only = false }, features);
	a->type = PERF_TYPE_TRACEPOINT;
	a->config = t->id;
	a->sample_period = 1;
	a->sample_type |= PERF_SAMPLE_RAW;
	a->exclude_callchain_kernel = 1;
	a->exclude_callchain_user = 1;
	a->enable_on_exec = !t->everywhere;
	a->inherit = !t->everywhere;
}

static void close_list(struct perf_evlist **list)
{
	if (!*list)
		return;
	perf_evlist__munmap(*list);
	perf_evlist__close(*list);
	perf_evlist__set_maps(*list, NULL, NULL);	/* deleting an evsel does not put its references */
	perf_evlist__delete(*list);
	*list = NULL;
}

static int add_event(struct perf_evlist *list, struct perf_event_attr *a)
{
	struct perf_evsel *e = perf_evsel__new(a);

	if (!e)
		return -ENOMEM;
	perf_evlist__add(list, e);
	return 0;
}

/* Opens what was added; a list that fails is gone. */
static int open_added(struct ring *r, enum list l, struct perf_thread_map *threads)
{
	int rc;

	perf_evlist__set_maps(r->lists[l], r->cpus, threads);
	rc = perf_evlist__open(r->lists[l]);
	if (!rc)
		return 0;
	close_list(&r->lists[l]);
	return rc < 0 ? rc : -EINVAL;
}

/* One attempt; negative errno. */
static int open_sampled(struct ring *r, const struct event *e, const struct ring_opts *o, unsigned features)
{
	struct perf_event_attr sampled, dummy;
	unsigned i;
	int rc = 0;

	attr_sampled(&sampled, e, o, features);
	attr_dummy(&dummy, o, features);
	r->lists[SAMPLED] = perf_evlist__new();
	if (!r->lists[SAMPLED])
		return -ENOMEM;
	r->clocks = clocks_of(e, o);
	for (i = 0; !rc && i < r->clocks; i++) {
		if (r->clocks > 1)
			attr_clock(&sampled, o, i, r->clocks);
		rc = add_event(r->lists[SAMPLED], &sampled);
	}
	if (!rc)
		rc = add_event(r->lists[SAMPLED], &dummy);
	if (!rc)
		rc = open_added(r, SAMPLED, r->threads);
	if (!rc) {
		r->event = e;
		r->features = features;
	}
	return rc;
}

static int open_traced(struct ring *r, const struct ring_opts *o, enum list l)
{
	struct perf_event_attr a;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n_tracepoints; i++) {
		if (o->tracepoints[i].everywhere != (l == EVERYWHERE))
			continue;
		if (!r->lists[l])
			r->lists[l] = perf_evlist__new();
		if (!r->lists[l])
			return -ENOMEM;
		attr_tracepoint(&a, &o->tracepoints[i], r->features);
		rc = add_event(r->lists[l], &a);
	}
	if (rc || !r->lists[l])
		return rc;
	return open_added(r, l, l == EVERYWHERE ? r->anyone : r->threads);
}

static int open_tracepoints(struct ring *r, const struct ring_opts *o, struct err *err)
{
	int rc = open_traced(r, o, TRACED);

	if (!rc)
		rc = open_traced(r, o, EVERYWHERE);
	if (rc == -EACCES || rc == -EPERM)
		return err_add(err, rc, "An ordinary user may not record tracepoints; run kab as root.");
	return rc ? err_sys(err, -rc, "Cannot open the tracepoints") : 0;
}

static int open_event(struct ring *r, const struct event *e, const struct ring_opts *o)
{
	int rc = -EINVAL;

	for (size_t i = 0; i < sizeof(feature_sets) / sizeof(feature_sets[0]) && rc == -EINVAL; i++)
		rc = open_sampled(r, e, o, feature_sets[i]);
	return rc;
}

static bool no_such_event(int rc)
{
	return rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENODEV;
}

static int explain(int rc, const char *name, const struct ring_opts *o, struct err *err)
{
	struct err why = ERR_INIT;

	if ((rc == -EACCES || rc == -EPERM) && ring_allowed(o->user_only, &why))
		return err_add(err, rc, "%s", why.text);
	if (no_such_event(rc))
		return err_add(err, rc,
			       "This machine does not count %s; choose cpu-clock, which every kernel has.",
			       name);
	if (rc == -EINVAL)
		return err_add(err, rc,
			       "The kernel refused to sample %s %llu times a second; a lower frequency may "
			       "do (kernel.perf_event_max_sample_rate has the limit).",
			       name, (unsigned long long)(o->freq_hz ? o->freq_hz : DEFAULT_HZ));
	if (rc == -EMFILE)
		return err_add(err, rc,
			       "Too many open files for an event on every CPU; raise the limit (ulimit -n).");
	return err_sys(err, -rc, "Cannot open the event %s", name);
}

static int choose_event(struct ring *r, const struct ring_opts *o, struct err *err)
{
	size_t i;
	int rc;

	if (!o->event || !o->event[0]) {
		rc = open_event(r, &events[0], o);
		if (no_such_event(rc))
			rc = open_event(r, &events[1], o);
		return rc ? explain(rc, "cpu-clock", o, err) : 0;
	}
	for (i = 0; i < N_EVENTS; i++) {
		if (!strcmp(o->event, events[i].name)) {
			rc = open_event(r, &events[i], o);
			return rc ? explain(rc, events[i].name, o, err) : 0;
		}
	}
	err_add(err, -ENOENT, "There is no event of the name \"%.40s\". These are known:", o->event);
	for (i = 0; i < N_EVENTS; i++)
		err_add(err, -ENOENT, "%s%s", events[i].name, i + 1 < N_EVENTS ? "," : ".");
	return -ENOENT;
}

/* perf_event_mlock_kb bounds an ordinary user: take the largest power of two that is granted. */
static int map_list(struct perf_evlist *list, size_t kib, size_t *pages, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), want = kib * 1024 / page;

	for (*pages = 1; *pages < want; *pages *= 2)
		;
	while (perf_evlist__mmap(list, (int)*pages)) {
		int num = errno;

		perf_evlist__munmap(list);
		if ((num != EPERM && num != ENOMEM) || *pages <= 8)
			return err_sys(err, num, "Cannot map the event rings of %zu pages per CPU; "
				       "kernel.perf_event_mlock_kb has the limit", *pages);
		*pages /= 2;
	}
	return 0;
}

static int map_rings(struct ring *r, const struct ring_opts *o, struct err *err)
{
	int rc = map_list(r->lists[SAMPLED], o->kib, &r->pages, err);
	size_t pages;

	for (enum list l = TRACED; !rc && l < LISTS; l++)
		if (r->lists[l])
			rc = map_list(r->lists[l], o->trace_kib, &pages, err);
	return rc;
}

int ring_open(const struct ring_opts *o, struct ring **out, struct err *err)
{
	struct ring *r = mem_alloc(sizeof(*r));
	int rc;

	libperf_init(quiet);
	r->cpus = perf_cpu_map__new(NULL);
	r->threads = perf_thread_map__new_dummy();
	r->anyone = perf_thread_map__new_dummy();
	if (!r->cpus || !r->threads || !r->anyone) {
		ring_close(r);
		return err_add(err, -ENOMEM, "libperf could not list the CPUs of this machine.");
	}
	perf_thread_map__set_pid(r->threads, 0, o->pid);
	rc = choose_event(r, o, err);
	if (!rc)
		rc = open_tracepoints(r, o, err);
	if (!rc)
		rc = map_rings(r, o, err);
	if (rc) {
		ring_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	for (enum list l = 0; l < LISTS; l++)
		close_list(&r->lists[l]);
	perf_cpu_map__put(r->cpus);
	perf_thread_map__put(r->threads);
	perf_thread_map__put(r->anyone);
	free(r);
}

const char *ring_event(const struct ring *r)
{
	return r->event->name;
}

unsigned ring_clocks(const struct ring *r)
{
	return r->clocks;
}

size_t ring_bytes(const struct ring *r)
{
	return r->pages * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t drain_list(struct perf_evlist *list, void (*take)(void *ctx, const void *record, size_t size),
			 void *ctx)
{
	size_t fullest = 0;
	struct perf_mmap *map;
	union perf_event *ev;

	perf_evlist__for_each_mmap(list, map, false) {
		size_t bytes = 0;

		if (perf_mmap__read_init(map) < 0)
			continue;	/* empty */
		while ((ev = perf_mmap__read_event(map))) {
			take(ctx, ev, ev->header.size);
			bytes += ev->header.size;
			perf_mmap__consume(map);
		}
		if (bytes > fullest)
			fullest = bytes;
	}
	return fullest;
}

size_t ring_drain(struct ring *r, void (*take)(void *ctx, const void *record, size_t size), void *ctx)
{
	size_t fullest = 0;

	for (enum list l = 0; l < LISTS; l++) {
		size_t bytes = r->lists[l] ? drain_list(r->lists[l], take, ctx) : 0;

		if (bytes > fullest)
			fullest = bytes;
	}
	return fullest;
}

void ring_enable(struct ring *r)
{
	if (r->lists[EVERYWHERE])
		perf_evlist__enable(r->lists[EVERYWHERE]);
}

void ring_disable(struct ring *r)
{
	for (enum list l = 0; l < LISTS; l++)
		if (r->lists[l])
			perf_evlist__disable(r->lists[l]);
}

static bool evsel_lost(struct ring *r, struct perf_evsel *evsel, uint64_t *lost)
{
	for (int cpu = 0; cpu < perf_cpu_map__nr(r->cpus); cpu++) {
		struct perf_counts_values counts = { 0 };

		if (perf_evsel__read(evsel, cpu, 0, &counts))
			return false;
		*lost += counts.lost;
	}
	return true;
}

bool ring_lost(struct ring *r, uint64_t *lost)
{
	struct perf_evsel *evsel;

	*lost = 0;
	if (!(r->features & WITH_LOST))
		return false;
	for (enum list l = 0; l < LISTS; l++) {
		if (!r->lists[l])
			continue;
		perf_evlist__for_each_evsel(r->lists[l], evsel)
			if (!evsel_lost(r, evsel, lost))
				return false;
	}
	return true;
}

bool ring_has_cycles(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_HW_CPU_CYCLES,
				     .exclude_kernel = 1,
				     .exclude_hv = 1,
				     .disabled = 1 };
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

int ring_allowed(bool user_only, struct err *err)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .exclude_kernel = user_only,
				     .exclude_hv = 1,
				     .disabled = 1 };
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int num = errno, level = 0;
	FILE *f;

	if (fd >= 0) {
		close((int)fd);
		return 0;
	}
	if (num != EACCES && num != EPERM)
		return err_sys(err, num, "The kernel does not open perf events here");
	f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	if (f) {
		if (fscanf(f, "%d", &level) != 1)
			level = 0;
		fclose(f);
	}
	if (level >= 3)
		return err_add(err, -num,
			       "kernel.perf_event_paranoid is %d: an ordinary user may not record "
			       "anything. Run it as root (sudo kab ...), or allow it with: sudo sysctl "
			       "kernel.perf_event_paranoid=1",
			       level);
	if (level == 2 && !user_only)
		return err_add(err, -num,
			       "kernel.perf_event_paranoid is 2: an ordinary user may not record the "
			       "kernel. Run it as root (sudo kab ...), or allow it with: sudo sysctl "
			       "kernel.perf_event_paranoid=1");
	err_sys(err, num, "The kernel does not let this user open perf events");
	return err_add(err, -num, "Run it as root (sudo kab ...); a container must allow it, too.");
}
