// SPDX-License-Identifier: GPL-2.0-or-later
/* environment: what moved, what is past its limit, and what doctor says of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "profile/environment.h"

static size_t drift(const char *before, const char *between, const char *after, struct drift **v)
{
	struct environment e = { 0 };
	size_t n;

	environment_add(&e, before);
	environment_add(&e, between);
	environment_add(&e, after);
	n = environment_drift(&e, v);
	environment_release(&e);
	return n;
}

static void test_nothing_moved(void **state)
{
	static const char *const same =
		"clock.source tsc\ncpu.governor performance\ncpu.throttled 4\nkernel.tainted 45056\n"
		"stat.total 1000\nstat.steal 5\npressure.memory 10\nuptime_us 1000\n";
	struct drift *v;

	(void)state;
	assert_int_equal(drift(same, same, same, &v), 0);
	assert_null(v);
}

/* A change that was undone at the end is still one. */
static void test_clock_changed(void **state)
{
	struct buf b = BUF_INIT;
	struct drift *v;

	(void)state;
	assert_int_equal(drift("clock.source tsc\n", "clock.source hpet\n", "clock.source tsc\n", &v), 1);
	assert_true(v[0].beyond);
	assert_string_equal(v[0].before, "tsc");
	assert_string_equal(v[0].after, "hpet");
	drift_sentence(&v[0], &b);
	assert_string_equal(buf_str(&b),
			    "Clock source moved from tsc to hpet (limit: no change); two clocks do not run "
			    "alike, and the kernel gives one up when it was found to be wrong.");
	buf_release(&b);
	free(v);
}

static void test_throttled(void **state)
{
	struct drift *v;

	(void)state;
	assert_int_equal(drift("cpu.throttled 7\n", "cpu.throttled 8\n", "cpu.throttled 10\n", &v), 1);
	assert_true(v[0].beyond);
	assert_string_equal(v[0].name, "heat throttling");
	assert_string_equal(v[0].after, "3 times");
	free(v);
}

/* 2 % of the ticks between first and last: told; 6 %: past the limit; 0.1 %: nothing. */
static void test_steal(void **state)
{
	struct drift *v;

	(void)state;
	assert_int_equal(
		drift("stat.total 1000\nstat.steal 10\n", "", "stat.total 2000\nstat.steal 30\n", &v), 1);
	assert_false(v[0].beyond);
	assert_string_equal(v[0].after, "2.0 % of CPU time");
	free(v);
	assert_int_equal(
		drift("stat.total 1000\nstat.steal 10\n", "", "stat.total 2000\nstat.steal 70\n", &v), 1);
	assert_true(v[0].beyond);
	free(v);
	assert_int_equal(
		drift("stat.total 1000\nstat.steal 10\n", "", "stat.total 2000\nstat.steal 11\n", &v), 0);
}

/* Told however large, and never a reason to refuse. */
static void test_load_and_frequency(void **state)
{
	struct drift *v;

	(void)state;
	assert_int_equal(drift("load 0.1\ncpu.count 2\ncpu.mhz 3000\n", "load 9\ncpu.count 2\ncpu.mhz 1500\n",
			       "load 0.2\ncpu.count 2\ncpu.mhz 2900\n", &v), 2);
	assert_string_equal(v[0].name, "load");
	assert_string_equal(v[0].after, "4.5 runnable tasks a CPU");
	assert_string_equal(v[1].name, "CPU frequency");
	assert_string_equal(v[1].after, "50.0 % between blocks");
	assert_true(!v[0].beyond && !v[1].beyond);
	free(v);
}

static void test_hostile_text(void **state)
{
	struct environment e = { 0 };
	struct buf many = BUF_INIT, wide = BUF_INIT;
	struct drift *v;

	(void)state;
	for (int i = 0; i < 1000; i++)
		buf_printf(&many, "k%d v\n", i);
	buf_fill(&wide, 'x', 5000);
	buf_puts(&wide, " y\nclock.source \033[2J\n\nnovalue\n value\ncpu.throttled nan\n");
	environment_add(&e, buf_str(&many));
	assert_int_equal(e.v[0].n, 64);
	environment_release(&e);
	environment_add(&e, "clock.source tsc\ncpu.throttled 1\n");
	environment_add(&e, buf_str(&wide));
	assert_int_equal(e.v[1].n, 2);
	assert_int_equal(environment_drift(&e, &v), 1);
	assert_string_equal(v[0].after, "\\x1b[2J");
	free(v);
	environment_release(&e);
	buf_release(&many);
	buf_release(&wide);
}

static void test_text_round_trip(void **state)
{
	struct environment e = { 0 };
	struct machine m = { 0 };
	struct buf b = BUF_INIT;

	(void)state;
	machine_add(&m, "load", "0.25");
	machine_add(&m, "two words", "no key");
	machine_add(&m, "interrupts", "12 7");
	environment_text(&m, &b);
	assert_string_equal(buf_str(&b), "load 0.25\ninterrupts 12 7\n");
	environment_add(&e, buf_str(&b));
	assert_string_equal(machine_get(&e.v[0], "interrupts"), "12 7");
	environment_release(&e);
	machine_release(&m);
	buf_release(&b);
}

static const struct advice *find(const struct advice *v, size_t n, const char *check)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].check, check))
			return &v[i];
	return NULL;
}

static void test_advice(void **state)
{
	static const char *const facts[][2] = {
		{ "cpu.governor", "powersave" }, { "cpu.no_turbo", "1" }, { "clock.source", "hpet" },
		{ "load", "0.25" }, { "machine.hypervisor", "none" }, { "stat.steal_percent", "12.5" },
	};
	struct advice v[ADVICE_MAX];
	struct machine m = { 0 };
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		machine_add(&m, facts[i][0], facts[i][1]);
	n = environment_advise(&m, v);
	assert_int_equal(n, 6);
	assert_false(find(v, n, "governor")->good);
	assert_string_equal(find(v, n, "governor")->found, "frequency governor powersave");
	assert_non_null(strstr(find(v, n, "governor")->remedy, "cpupower frequency-set -g performance"));
	assert_true(find(v, n, "turbo")->good && !*find(v, n, "turbo")->remedy);
	assert_false(find(v, n, "clock")->good);
	assert_true(find(v, n, "load")->good);
	assert_true(find(v, n, "machine")->good);
	assert_false(find(v, n, "stolen time")->good);
	assert_null(find(v, n, "SMT"));		/* not told: nothing to say */
	machine_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_moved), cmocka_unit_test(test_clock_changed),
		cmocka_unit_test(test_throttled), cmocka_unit_test(test_steal),
		cmocka_unit_test(test_load_and_frequency), cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_text_round_trip), cmocka_unit_test(test_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
