// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moving: the facts that may change while a machine measures, read between
 * blocks in a few milliseconds. What they may do is judged at kab's end
 * (profile/environment.c), where the keys are known again.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "collectors/live/agent/facts.h"
#include "collectors/live/agent/session.h"

#define CPU_SYS "/sys/devices/system/cpu/"
#define CPUS_MAX 4096

/* What somebody set; where a measurement starts, these are facts of the machine as well. */
static const struct { const char *key, *path; } settings[] = {
	{ "cpu.online", CPU_SYS "online" },
	{ "cpu.governor", CPU_SYS "cpu0/cpufreq/scaling_governor" },
	{ "cpu.smt", CPU_SYS "smt/control" },
	{ "cpu.no_turbo", CPU_SYS "intel_pstate/no_turbo" },
	{ "cpu.boost", CPU_SYS "cpufreq/boost" },
	{ "clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "kernel.tainted", "/proc/sys/kernel/tainted" },
};

/* A number that each CPU has; false where this one has none. */
static bool of_cpu(long cpu, const char *file, uint64_t *value)
{
	char path[120];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), CPU_SYS "cpu%ld/%s", cpu, file);
	f = fopen(path, "re");
	ok = f && fscanf(f, "%" SCNu64, value) == 1;
	if (f)
		fclose(f);
	return ok;
}

static long cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 0 ? 0 : n > CPUS_MAX ? CPUS_MAX : n;
}

static void frequencies(struct answer *a)
{
	uint64_t khz, sum = 0, n = 0;
	char mhz[64];

	for (long cpu = 0; cpu < cpus(); cpu++) {
		if (of_cpu(cpu, "cpufreq/scaling_cur_freq", &khz)) {
			sum += khz;
			n++;
		}
	}
	if (n)
		fact_printf(a, "cpu.mhz", "%.0f", (double)sum / (double)n / 1000);
	else if (fact_field("/proc/cpuinfo", "cpu MHz", mhz, sizeof(mhz)))
		fact_add(a, "cpu.mhz", mhz);
}

/* Times that any core, or its package, was slowed since the machine started. */
static void throttling(struct answer *a)
{
	static const char *const counts[] = {
		"thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count",
	};
	uint64_t sum = 0, v;
	bool known = false;

	for (long cpu = 0; cpu < cpus(); cpu++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			if (of_cpu(cpu, counts[i], &v)) {
				sum += v;
				known = true;
			}
		}
	}
	if (known)
		fact_printf(a, "cpu.throttled", "%" PRIu64, sum);
}

/* The first number behind `name` at the start of a line; false when there is none. */
static bool line_number(const char *text, const char *name, uint64_t *value)
{
	size_t n = strlen(name);

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (!strncmp(text, name, n))
			return sscanf(text + n, "%" SCNu64, value) == 1;
	return false;
}

/* /proc/stat (proc(5)): ticks of all CPUs; guest time is in user time already. */
static void stat_counts(struct answer *a)
{
	uint64_t v[8] = { 0 }, total = 0, n;	/* user nice system idle iowait irq softirq steal */
	struct buf text = BUF_INIT;

	if (buf_read_file(&text, "/proc/stat", 1U << 20, NULL)) {
		buf_release(&text);
		return;
	}
	if (sscanf(buf_str(&text), "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 8) {
		for (size_t i = 0; i < 8; i++)
			total += v[i];
		fact_printf(a, "stat.total", "%" PRIu64, total);
		fact_printf(a, "stat.steal", "%" PRIu64, v[7]);
		fact_printf(a, "stat.steal_percent", "%.2f", total ? 100 * (double)v[7] / (double)total : 0);
	}
	if (line_number(buf_str(&text), "intr ", &n))
		fact_printf(a, "stat.interrupts", "%" PRIu64, n);
	if (line_number(buf_str(&text), "ctxt ", &n))
		fact_printf(a, "stat.switches", "%" PRIu64, n);
	buf_release(&text);
}

/* Interrupts that each CPU has taken, without the timer's own: columns of /proc/interrupts. */
static void interrupts(struct answer *a)
{
	uint64_t sum[64] = { 0 }, v;
	struct buf text = BUF_INIT, list = BUF_INIT;
	size_t n = 0;

	if (buf_read_file(&text, "/proc/interrupts", 4U << 20, NULL))
		buf_clear(&text);
	for (char *line = text.len ? strchr(text.data, '\n') : NULL; line; line = strchr(line + 1, '\n')) {
		char *p = strpbrk(line + 1, ":\n");
		bool timer = strncmp(line + 1 + strspn(line + 1, " "), "LOC", 3) == 0;
		size_t cpu = 0;
		int used;

		for (p = p && *p == ':' ? p + 1 : NULL;
		     p && cpu < 64 && sscanf(p, "%" SCNu64 "%n", &v, &used) == 1; p += used)
			sum[cpu++] += timer ? 0 : v;
		n = cpu > n ? cpu : n;
	}
	for (size_t i = 0; i < n; i++)
		buf_printf(&list, "%s%" PRIu64, i ? " " : "", sum[i]);
	if (list.len < 250 && n)
		fact_add(a, "interrupts", buf_str(&list));
	buf_release(&list);
	buf_release(&text);
}

/* Documentation/accounting/psi.rst: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", in microseconds. */
static void pressure(struct answer *a, const char *what)
{
	char path[64], key[64], line[200];
	double avg10;
	uint64_t total;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/pressure/%s", what);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) &&
	    sscanf(line, "some avg10=%lf avg60=%*f avg300=%*f total=%" SCNu64, &avg10, &total) == 2) {
		snprintf(key, sizeof(key), "pressure.%s", what);
		fact_printf(a, key, "%" PRIu64, total);
		snprintf(key, sizeof(key), "pressure.%s.avg10", what);
		fact_printf(a, key, "%.2f", avg10);
	}
	if (f)
		fclose(f);
}

static void load(struct answer *a)
{
	double load1;
	FILE *f = fopen("/proc/loadavg", "re");

	if (f && fscanf(f, "%lf", &load1) == 1)
		fact_printf(a, "load", "%.2f", load1);
	if (f)
		fclose(f);
	fact_printf(a, "cpu.count", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
}

void facts_settings(struct answer *a)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		fact_file(a, settings[i].key, settings[i].path);
}

void facts_moving(struct answer *a)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	fact_printf(a, "uptime_us", "%llu",
		    (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000);
	facts_settings(a);
	frequencies(a);
	throttling(a);
	stat_counts(a);
	interrupts(a);
	load(a);
	pressure(a, "cpu");
	pressure(a, "memory");
	pressure(a, "io");
}
