// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * environment: see environment.h. Limits and remedies are the two tables below;
 * the code beside them knows no fact by name.
 */
#include "profile/environment.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/vec.h"

#define FACTS_LIMIT 64		/* of one moment */
#define VALUE_LIMIT 256		/* bytes of one fact */
#define MOMENTS_LIMIT 100000

enum rule {
	SAME,		/* the text does not change */
	RISE,		/* a counter: by how much it went up */
	SHARE,		/* two counters: how much of `over` is this one, in per cent */
	SPREAD,		/* a number: by how many per cent of the largest it varies */
	PEAK,		/* two numbers: the largest quotient of this one by `over` */
};

/* Told from `report` on; past `limit` (NaN: there is none) nothing is comparable any more. */
static const struct watched {
	const char *key, *name, *over;
	enum rule rule;
	double report, limit;
	const char *unit, *limit_words, *reason;
} watched[] = {
	{ "clock.source", "clock source", NULL, SAME, 0, 0, "", "no change",
	  "two clocks do not run alike, and the kernel gives one up when it was found to be wrong" },
	{ "cpu.online", "CPUs online", NULL, SAME, 0, 0, "", "no change",
	  "the blocks did not have the same CPUs" },
	{ "cpu.governor", "frequency governor", NULL, SAME, 0, 0, "", "no change",
	  "blocks ran under different rules for the clock rate" },
	{ "cpu.no_turbo", "turbo (no_turbo)", NULL, SAME, 0, 0, "", "no change",
	  "blocks ran under different rules for the clock rate" },
	{ "cpu.boost", "turbo (boost)", NULL, SAME, 0, 0, "", "no change",
	  "blocks ran under different rules for the clock rate" },
	{ "cpu.smt", "SMT", NULL, SAME, 0, 0, "", "no change",
	  "a core was shared in some blocks and not in others" },
	{ "kernel.tainted", "kernel taint", NULL, SAME, 0, 0, "", "no change",
	  "the kernel has warned, or taken a module in, while it was measured" },
	{ "cpu.throttled", "heat throttling", NULL, RISE, 1, 0, "times", "none",
	  "a CPU that is slowed by heat slows whichever variant is running" },
	{ "stat.steal", "stolen time", "stat.total", SHARE, 0.5, 5, "% of CPU time", "5 % of CPU time",
	  "wall time holds what the hypervisor gave to others" },
	{ "pressure.memory", "memory pressure", "uptime_us", SHARE, 1, 10, "% of the time",
	  "10 % of the time", "tasks waited for memory: reclaim ran in the measured path" },
	{ "pressure.cpu", "CPU pressure", "uptime_us", SHARE, 5, NAN, "% of the time",
	  "none: it widens the interval, which shows it", "tasks waited for a CPU: other work ran beside" },
	{ "load", "load", "cpu.count", PEAK, 1.5, NAN, "runnable tasks a CPU",
	  "none: it widens the interval, which shows it", "other work ran beside" },
	{ "cpu.mhz", "CPU frequency", NULL, SPREAD, 10, NAN, "% between blocks",
	  "none: between blocks a CPU idles, and its rate there says little of a block",
	  "the clock rate follows heat and load" },
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

/* --- moments --- */

void environment_text(const struct machine *m, struct buf *out)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!strpbrk(m->facts[i].key, " \n") && !strchr(m->facts[i].value, '\n'))
			buf_printf(out, "%s %s\n", m->facts[i].key, m->facts[i].value);
}

void environment_release(struct environment *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		machine_release(&e->v[i]);
	vec_release(e);
}

void environment_add(struct environment *e, const char *text)
{
	struct machine *m;
	const char *end;

	if (e->n == MOMENTS_LIMIT)
		return;
	m = vec_add(e);
	for (; *text && m->n < FACTS_LIMIT; text = *end ? end + 1 : end) {
		size_t len = strcspn(text, "\n"), key = strcspn(text, " \n");
		char name[VALUE_LIMIT], value[VALUE_LIMIT];

		end = text + len;
		if (!key || key >= len || key >= sizeof(name) || len - key > sizeof(value))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)key, text);
		snprintf(value, sizeof(value), "%.*s", (int)(len - key - 1), text + key + 1);
		machine_add(m, name, value);
	}
}

/* NaN when the fact is not there, or no number. */
static double number(const struct machine *m, const char *key)
{
	const char *s = key ? machine_get(m, key) : NULL;
	double v;

	return s && text_to_double(s, -1e18, 1e18, &v) ? v : NAN;
}

/* --- drift --- */

static void escaped(char *to, size_t size, const char *from)
{
	struct buf b = BUF_INIT;

	text_escape(&b, from, strlen(from), false);
	snprintf(to, size, "%s", buf_str(&b));
	buf_release(&b);
}

/* The first moment that differs from the one before all of them. */
static bool changed(const struct environment *e, const struct watched *w, struct drift *d)
{
	const char *first = machine_get(&e->v[0], w->key), *now = NULL;
	size_t i;

	for (i = 1; first && i < e->n; i++) {
		now = machine_get(&e->v[i], w->key);
		if (now && strcmp(now, first))
			break;
	}
	if (!first || i >= e->n)
		return false;
	escaped(d->before, sizeof(d->before), first);
	escaped(d->after, sizeof(d->after), now);
	return true;
}

static double rise(const struct environment *e, const char *key)
{
	return number(&e->v[e->n - 1], key) - number(&e->v[0], key);
}

static double spread(const struct environment *e, const char *key)
{
	double low = INFINITY, high = -INFINITY;
	size_t i;

	for (i = 0; i < e->n; i++) {
		double v = number(&e->v[i], key);

		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	return high > 0 ? 100 * (high - low) / high : NAN;
}

static double peak(const struct environment *e, const char *key, const char *over)
{
	double high = NAN;
	size_t i;

	for (i = 0; i < e->n; i++) {
		double v = number(&e->v[i], key) / number(&e->v[i], over);

		high = isfinite(v) && !(v <= high) ? v : high;
	}
	return high;
}

static double amount(const struct environment *e, const struct watched *w)
{
	switch (w->rule) {
	case RISE:
		return rise(e, w->key);
	case SHARE:
		return 100 * rise(e, w->key) / rise(e, w->over);
	case SPREAD:
		return spread(e, w->key);
	case PEAK:
		return peak(e, w->key, w->over);
	case SAME:
		break;
	}
	return NAN;
}

static bool moved(const struct environment *e, const struct watched *w, struct drift *d)
{
	double v;

	*d = (struct drift){ .name = w->name, .limit = w->limit_words, .reason = w->reason };
	if (w->rule == SAME)
		return d->beyond = changed(e, w, d);
	v = amount(e, w);
	if (!isfinite(v) || v < w->report)
		return false;
	d->beyond = v > w->limit;
	snprintf(d->after, sizeof(d->after), "%.*f %s", w->rule == RISE ? 0 : 1, v, w->unit);
	return true;
}

size_t environment_drift(const struct environment *e, struct drift **out)
{
	VEC(struct drift) all = { 0 };
	struct drift d;
	size_t i;

	*out = NULL;
	for (i = 0; e->n > 1 && i < WATCHED; i++)
		if (moved(e, &watched[i], &d))
			vec_push(&all, d);
	*out = all.v;
	return all.n;
}

void drift_sentence(const struct drift *d, struct buf *out)
{
	size_t at = out->len;

	buf_puts(out, d->name);
	out->data[at] = (char)toupper((unsigned char)out->data[at]);
	if (*d->before)
		buf_printf(out, " moved from %s to %s", d->before, d->after);
	else
		buf_printf(out, ": %s", d->after);
	buf_printf(out, " (limit: %s); %s.", d->limit, d->reason);
}

/* --- advice --- */

static bool one_of(const char *value, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(value, *list))
			return true;
	return false;
}

/* A fact is good when it is one of `good`, or a number of at most `most`; `most` NaN: the text decides. */
static const struct check {
	const char *check, *key;
	const char *good[8];
	double most;
	const char *found;		/* printf format for the value, as text */
	const char *remedy;
} checks[] = {
	{ "governor", "cpu.governor", { "performance" }, NAN, "frequency governor %s",
	  "cpupower frequency-set -g performance, so that the clock rate does not follow the load" },
	{ "turbo", "cpu.no_turbo", { "1" }, NAN, "no_turbo = %s",
	  "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo: turbo follows heat and other load" },
	{ "boost", "cpu.boost", { "0" }, NAN, "cpufreq boost = %s",
	  "echo 0 > /sys/devices/system/cpu/cpufreq/boost: boost follows heat and other load" },
	{ "SMT", "cpu.smt", { "off", "forceoff", "notsupported", "notimplemented" }, NAN, "SMT %s",
	  "echo off > /sys/devices/system/cpu/smt/control, or keep the measured core's sibling idle" },
	{ "clock", "clock.source", { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen" }, NAN,
	  "clock source %s",
	  "slow to read: `dmesg | grep -i tsc` says why it is not the TSC; longer blocks (--ops) read it less" },
	{ "heat", "cpu.throttled", { NULL }, 0, "slowed by heat %s times since it was started",
	  "cool it, or lower its rate for the measurement; a run with more of it is not comparable" },
	{ "load", "load", { NULL }, 0.5, "load %s", "stop other work: it widens every interval" },
	{ "memory", "pressure.memory.avg10", { NULL }, 1, "tasks waited for memory %s %% of the last 10 s",
	  "free some: reclaim would run in the measured path, past 10 % a run is not comparable" },
	{ "stolen time", "stat.steal_percent", { NULL }, 0.5,
	  "%s %% of CPU time since boot went to other guests",
	  "measure on metal, or with -t vm --exact; past 5 % a run is not comparable" },
	{ "machine", "machine.hypervisor", { "none" }, NAN, "a guest of %s",
	  "times are those of a guest; metal, or -t vm --exact for instructions, needs no such caution" },
	{ "taint", "kernel.tainted", { "0" }, NAN, "kernel.tainted = %s",
	  "say so in a report, or boot afresh: Documentation/admin-guide/tainted-kernels.rst has the bits" },
};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))
_Static_assert(CHECKS <= ADVICE_MAX, "callers have room for ADVICE_MAX");

static void advise(const struct check *c, const char *value, struct advice *a)
{
	char shown[64];
	double v;

	escaped(shown, sizeof(shown), value);
	a->check = c->check;
	if (isfinite(c->most))
		a->good = text_to_double(value, -1e18, 1e18, &v) && v <= c->most;
	else
		a->good = one_of(value, c->good);
	snprintf(a->found, sizeof(a->found), c->found, shown);
	a->remedy = a->good ? "" : c->remedy;
}

size_t environment_advise(const struct machine *m, struct advice v[ADVICE_MAX])
{
	size_t i, n = 0;

	for (i = 0; i < CHECKS; i++) {
		const char *value = machine_get(m, checks[i].key);

		if (value)
			advise(&checks[i], value, &v[n++]);
	}
	return n;
}
