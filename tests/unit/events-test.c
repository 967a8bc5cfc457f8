// SPDX-License-Identifier: GPL-2.0-or-later
/* events: each form that --events takes, and what it does not take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "profile/events.h"

static void test_forms(void **state)
{
	struct event_list l;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(
		event_list_parse("net:net_dev_queue:len,cpu-clock,syscalls:sys_enter_read..sys_exit_read,"
				 "sched:sched_wakeup,irq:irq_handler_entry..sched:sched_waking,off-cpu",
				 &l, &err),
		0);
	assert_string_equal(l.sampled, "cpu-clock");
	assert_int_equal(l.n, 5);
	assert_int_equal(l.items[0].kind, EVENT_FIELD);
	assert_string_equal(l.items[0].system[0], "net");
	assert_string_equal(l.items[0].event[0], "net_dev_queue");
	assert_string_equal(l.items[0].field, "len");
	assert_string_equal(l.items[0].text, "net:net_dev_queue:len");
	assert_int_equal(l.items[1].kind, EVENT_BETWEEN);
	assert_string_equal(l.items[1].system[1], "syscalls");
	assert_string_equal(l.items[1].event[1], "sys_exit_read");
	assert_int_equal(l.items[2].kind, EVENT_COUNT);
	assert_string_equal(l.items[2].event[0], "sched_wakeup");
	assert_string_equal(l.items[3].system[1], "sched");
	assert_string_equal(l.items[3].event[1], "sched_waking");
	assert_int_equal(l.items[4].kind, EVENT_OFF_CPU);
	assert_string_equal(l.items[4].event[0], "sched_switch");
	assert_true(event_everywhere(&l.items[4]) && !event_everywhere(&l.items[3]));
}

static void test_empty(void **state)
{
	struct event_list l;

	(void)state;
	assert_int_equal(event_list_parse(NULL, &l, NULL), 0);
	assert_true(l.n == 0 && !l.sampled[0]);
	assert_int_equal(event_list_parse("", &l, NULL), 0);
	assert_int_equal(event_list_parse("cycles", &l, NULL), 0);
	assert_true(l.n == 0 && !strcmp(l.sampled, "cycles"));
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		":",	      "a:", ":b",	"a:b:",	 "a:b:c:d", "a:b..",	"a:b..c:",     "a:b..c:d:e",
		"a:b:c..d:e", "..", "a/../b:c", "a:b;c", "cycles ", "a:b,,c:d", "net:\033[2J",
	};
	struct event_list l;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = ERR_INIT;

		if (event_list_parse(wrong[i], &l, &err) != -EINVAL)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_non_null(strstr(err.text, "SYSTEM:EVENT"));
	}
}

static void test_two_sampled(void **state)
{
	struct event_list l;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(event_list_parse("cycles,cpu-clock", &l, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cycles and cpu-clock"));
}

static void test_limits(void **state)
{
	struct event_list l;
	char text[EVENT_ITEMS * 4 + 8] = "", *long_name = mem_alloc(EVENT_NAME + 4);

	(void)state;
	for (int i = 0; i < EVENT_ITEMS; i++)
		strcat(text, i ? ",a:b" : "a:b");
	assert_int_equal(event_list_parse(text, &l, NULL), 0);
	assert_int_equal(l.n, EVENT_ITEMS);
	strcat(text, ",a:b");
	assert_int_equal(event_list_parse(text, &l, NULL), -EINVAL);
	memset(long_name, 'x', EVENT_NAME + 2);
	long_name[1] = ':';
	assert_int_equal(event_list_parse(long_name, &l, NULL), -EINVAL);
	free(long_name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms), cmocka_unit_test(test_empty), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_two_sampled), cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
