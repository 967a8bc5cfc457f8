// SPDX-License-Identifier: GPL-2.0-or-later
/* gate: what is refused, what is normalised, what is only said; and that compare obeys. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/compare.h"
#include "profile/gate.h"
#include "tests/unit/folded.h"
#include "tests/unit/near.h"

static struct gate_side side(void)
{
	return (struct gate_side){ .event = "cpu-clock", .freq_hz = 4000, .mean_period = 250000, .kernel = "6.1.0",
				   .samples = 5000, .wall_ns = 2e9 };
}

/* The one caveat of two sides that differ as the test made them. */
static void expect(const struct gate_side *b, const struct gate_side *a, enum measure m, enum caveat_kind k,
		   enum caveat_level level, const char *part)
{
	const struct gate_side s[2] = { *b, *a };
	struct caveats c = { 0 };

	gate_check(s, m, &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.v[0].kind, k);
	assert_int_equal(c.v[0].level, level);
	assert_int_equal(caveats_worst(&c), level);
	if (!strstr(c.v[0].text, part))
		fail_msg("\"%s\" is not in \"%s\"", part, c.v[0].text);
	caveats_release(&c);
}

static void test_alike(void **state)
{
	const struct gate_side s[2] = { side(), side() };
	struct caveats c = { 0 };

	(void)state;
	gate_check(s, PERIOD, &c);
	gate_check(s, COUNT, &c);
	assert_int_equal(c.n, 0);
}

static void test_events(void **state)
{
	struct gate_side b = side(), a = side();

	(void)state;
	a.event = "cycles";
	expect(&b, &a, PERIOD, CAVEAT_EVENT, LEVEL_REFUSE, "before was sampled by cpu-clock, after by cycles");
	a.event = "cpu-clock:u";
	expect(&b, &a, PERIOD, CAVEAT_EVENT, LEVEL_REFUSE, "cpu-clock:u");
	/* perf diff compares these two without a word. */
	a.event = "cpu-clock:ppp";
	expect(&b, &a, PERIOD, CAVEAT_EVENT, LEVEL_NOTE, "different precision");
	a.event = NULL;
	expect(&b, &a, PERIOD, CAVEAT_EVENT, LEVEL_WARN, "The event of after is not known");
	a.event = "cyc\033[31mles";
	expect(&b, &a, PERIOD, CAVEAT_EVENT, LEVEL_REFUSE, "cyc\\x1b[31mles");
}

static void test_rates(void **state)
{
	struct gate_side b = side(), a = side();

	(void)state;
	a.freq_hz = 997;
	a.mean_period = 1e9 / 997;
	expect(&b, &a, PERIOD, CAVEAT_RATE, LEVEL_NOTE, "4000 and 997 Hz");
	expect(&b, &a, COUNT, CAVEAT_RATE, LEVEL_REFUSE, "Not comparable");
	a.freq_hz = 0;
	a.mean_period = b.mean_period = NAN;
	expect(&b, &a, COUNT, CAVEAT_RATE, LEVEL_WARN, "not known");
}

static void test_what_is_said(void **state)
{
	struct gate_side b = side(), a = side();

	(void)state;
	a.kernel = "6.12.0";
	expect(&b, &a, PERIOD, CAVEAT_KERNEL, LEVEL_WARN, "before ran on 6.1.0, after on 6.12.0");
	a = side();
	a.lost = 500;
	expect(&b, &a, PERIOD, CAVEAT_LOST, LEVEL_WARN, "0 % before, 9.09 % after");
	a = side();
	a.damaged = 400;
	expect(&b, &a, PERIOD, CAVEAT_DAMAGED, LEVEL_WARN, "8 % after");
	a = side();
	a.truncated = 0.2;
	expect(&b, &a, PERIOD, CAVEAT_TRUNCATED, LEVEL_WARN, "20 % after");
	a = side();
	a.unresolved = 0.3;
	expect(&b, &a, PERIOD, CAVEAT_UNRESOLVED, LEVEL_WARN, "30 % after");
	a = side();
	a.wall_ns = 1e8;
	expect(&b, &a, PERIOD, CAVEAT_DURATION, LEVEL_NOTE, "20 times");
	a = side();
	a.samples = 70;
	expect(&b, &a, PERIOD, CAVEAT_NO_SAMPLES, LEVEL_WARN, "Only 70 samples after");
}

static void test_side_of(void **state)
{
	struct run r = { .event = (char[]){ "cycles" }, .freq_hz = 99, .samples = 40, .lost = 2, .bad_stacks = 1,
			 .wall_ns = 5 };
	struct profile *p = profile_new();
	struct gate_side s;
	uint32_t unknown = symtab_intern(&p->symtab, "[unknown]", "", FRAME_MARK);
	uint32_t cut = symtab_intern(&p->symtab, "[truncated]", "", FRAME_MARK);
	uint32_t f = symtab_intern(&p->symtab, "f", "", FRAME_KERNEL);

	(void)state;
	profile_add_stack(p, (uint32_t[]){ f, unknown }, 2, 10, 100);
	profile_add_stack(p, (uint32_t[]){ cut, f }, 2, 20, 200);
	profile_add_stack(p, (uint32_t[]){ f }, 1, 10, 100);
	profile_seal(p);
	s = gate_side_of(&r, p, "6.1");
	assert_string_equal(s.event, "cycles");
	assert_true(s.samples == 40 && s.lost == 2 && s.damaged == 1 && s.freq_hz == 99);
	assert_near(s.unresolved, 0.25, 1e-12);
	assert_near(s.truncated, 0.5, 1e-12);
	assert_near(s.mean_period, 10, 1e-12);
	s = gate_side_of(NULL, NULL, NULL);
	assert_true(!s.event && s.samples == 0 && isnan(s.mean_period));
	profile_free(p);
}

/* Two recordings of different events are refused: both sides stay to be looked at, no difference is made. */
static void test_compare_refuses(void **state)
{
	struct run b = { .kind = RUN_RECORD, .wall_ns = 1, .ops = 1, .event = (char[]){ "cpu-clock" } };
	struct run a = { .kind = RUN_RECORD, .wall_ns = 1, .ops = 1, .event = (char[]){ "cycles" } };
	struct profile *p = folded("m;f 600"), *q = folded("m;f 500");
	struct compare *c = compare_pair(&b, p, "6.1", &a, q, "6.1");

	(void)state;
	assert_true(c->refused);
	assert_null(c->diff);
	assert_int_equal(c->n_flat, 0);
	assert_true(c->side[BEFORE]->samples == 600 && c->side[AFTER]->samples == 500);
	assert_non_null(caveats_get(&c->caveats, CAVEAT_EVENT, NULL));
	compare_free(c);
	a.event = b.event;
	c = compare_pair(&b, p, "6.1", &a, q, "6.12");
	assert_false(c->refused);
	assert_non_null(c->diff);
	assert_non_null(caveats_get(&c->caveats, CAVEAT_KERNEL, NULL));
	compare_free(c);
	profile_free(p);
	profile_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_what_is_said),
		cmocka_unit_test(test_side_of),
		cmocka_unit_test(test_compare_refuses),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
