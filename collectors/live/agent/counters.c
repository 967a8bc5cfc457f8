// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters: see counters.h. With ring.c the other door to libperf.
 *
 * An inherited group cannot be read as a whole (the kernel refuses
 * PERF_FORMAT_GROUP with inherit before 6.13), so each member is read by itself;
 * the kernel adds what ended children have counted.
 */
#include "collectors/live/agent/counters.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>

#include "base/mem.h"

enum group { HARDWARE_USER, HARDWARE_KERNEL, SOFTWARE, GROUPS };

/* The code during which an event counts. */
enum part { ALL, USER, KERNEL };

/* Rows of a group stand together. A context switch or migration always happens in the kernel: not split. */
static const struct counter {
	const char *name, *unit;
	enum group group;
	enum part part;
	uint32_t type;
	uint64_t config;
} counters[] = {
#define HW(name, config) { name ":u", "events", HARDWARE_USER, USER, PERF_TYPE_HARDWARE, config }
	HW("cycles", PERF_COUNT_HW_CPU_CYCLES),
	HW("instructions", PERF_COUNT_HW_INSTRUCTIONS),
	HW("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
	HW("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
	HW("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
#undef HW
#define HW(name, config) { name ":k", "events", HARDWARE_KERNEL, KERNEL, PERF_TYPE_HARDWARE, config }
	HW("cycles", PERF_COUNT_HW_CPU_CYCLES),
	HW("instructions", PERF_COUNT_HW_INSTRUCTIONS),
	HW("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
	HW("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
	HW("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
#undef HW
#define SW(name, unit, part, config) { name, unit, SOFTWARE, part, PERF_TYPE_SOFTWARE, config }
	SW("task-clock", "ns", ALL, PERF_COUNT_SW_TASK_CLOCK),
	SW("context-switches", "events", ALL, PERF_COUNT_SW_CONTEXT_SWITCHES),
	SW("cpu-migrations", "events", ALL, PERF_COUNT_SW_CPU_MIGRATIONS),
	SW("page-faults:u", "events", USER, PERF_COUNT_SW_PAGE_FAULTS),
	SW("page-faults:k", "events", KERNEL, PERF_COUNT_SW_PAGE_FAULTS),
#undef SW
};
#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))
_Static_assert(N_COUNTERS <= COUNTERS_MAX, "callers have room for COUNTERS_MAX");

struct counters {
	struct perf_thread_map *threads;
	struct perf_evlist *groups[GROUPS];	/* own the events in them */
	struct perf_evsel *events[N_COUNTERS];	/* NULL: not supported */
	bool alone[N_COUNTERS];			/* in no group: ours to delete */
};

static int quiet(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

/* A member of a group counts when its leader does. */
static struct perf_evsel *new_event(const struct counter *c, bool leader)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = c->type,
		.config = c->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = leader,
		.enable_on_exec = leader,
		.inherit = 1,
		.exclude_user = c->part == KERNEL,
		.exclude_kernel = c->part == USER,
		.exclude_hv = 1,
	};

	return perf_evsel__new(&a);
}

/* For an event that its group has no room for. */
static void open_alone(struct counters *c, size_t i)
{
	struct perf_evsel *e = new_event(&counters[i], true);

	if (e && perf_evsel__open(e, NULL, c->threads)) {
		perf_evsel__delete(e);
		e = NULL;
	}
	c->events[i] = e;
	c->alone[i] = e != NULL;
}

/* The first event that opens leads its group. */
static void open_event(struct counters *c, size_t i)
{
	struct perf_evlist *group = c->groups[counters[i].group];
	bool leader = !perf_evlist__next(group, NULL);
	struct perf_evsel *e = new_event(&counters[i], leader);
	int rc;

	if (!e)
		return;
	perf_evlist__add(group, e);
	perf_evlist__set_leader(group);
	rc = perf_evsel__open(e, NULL, c->threads);
	if (!rc) {
		c->events[i] = e;
		return;
	}
	perf_evlist__remove(group, e);
	perf_evsel__delete(e);
	if (rc == -EINVAL && !leader)
		open_alone(c, i);
}

struct counters *counters_open(pid_t pid)
{
	struct counters *c = mem_alloc(sizeof(*c));
	bool ok;

	libperf_init(quiet);
	c->threads = perf_thread_map__new_dummy();
	ok = c->threads != NULL;
	for (int g = 0; g < GROUPS; g++) {
		c->groups[g] = perf_evlist__new();
		ok = ok && c->groups[g];
	}
	if (ok)
		perf_thread_map__set_pid(c->threads, 0, pid);
	for (size_t i = 0; ok && i < N_COUNTERS; i++)
		open_event(c, i);
	return c;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < N_COUNTERS; i++) {
		if (!c->events[i])
			continue;
		perf_evsel__close(c->events[i]);
		if (c->alone[i])
			perf_evsel__delete(c->events[i]);
	}
	for (int g = 0; g < GROUPS; g++)
		if (c->groups[g])
			perf_evlist__delete(c->groups[g]);
	perf_thread_map__put(c->threads);
	free(c);
}

size_t counters_read(struct counters *c, struct count v[COUNTERS_MAX])
{
	for (size_t i = 0; i < N_COUNTERS; i++) {
		struct perf_counts_values got = { 0 };

		v[i] = (struct count){ counters[i].name, counters[i].unit, NAN, 0 };
		if (!c->events[i] || perf_evsel__read(c->events[i], 0, 0, &got) || !got.ena || !got.run)
			continue;
		v[i].running = got.run < got.ena ? (double)got.run / (double)got.ena : 1;
		v[i].value = (double)got.val / v[i].running;
	}
	return N_COUNTERS;
}
