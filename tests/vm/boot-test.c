// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * boot-test AGENT PANIC-AGENT: guests that come up, and the ways in which they do not. Needs
 * QEMU, busybox and a kernel in the cache (`kab lab fetch`); under TCG a boot takes
 * four seconds or more. Run by tests/vm/run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "lab/busybox.h"
#include "lab/lab.h"

struct setup {
	struct lab_kernel kernel;
	const char *agent, *panic_agent;
};

static size_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_agent_speaks(void **state)
{
	const struct setup *s = *state;
	struct lab_opts o = { 0 };
	struct buf lines = BUF_INIT;
	struct err err = ERR_INIT;
	struct lab_guest *g;
	size_t before = open_files();
	int fd, rc = lab_boot(&o, &s->kernel, s->agent, &g, &fd, &err);
	struct pollfd p;

	if (rc)
		fail_msg("%s", err.text);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_true(lab_alive(g));
	assert_true(!strcmp(lab_accel(g), "tcg") || !strcmp(lab_accel(g), "kvm"));
	lab_console(g, &lines, 200);
	assert_non_null(strstr(lines.data, "kab: agent on /dev/vport"));
	assert_null(strchr(lines.data, '\r'));
	lab_stop(g);
	close(fd);
	buf_release(&lines);
	assert_int_equal(open_files(), before);
}

/* busybox, called by the agent's name, has no such applet and ends: so does the guest. */
static void test_agent_ends(void **state)
{
	const struct setup *s = *state;
	char *busybox = busybox_find(NULL);
	struct lab_opts o = { 0 };
	struct err err = ERR_INIT;
	size_t before = open_files();
	struct lab_guest *g;
	int fd;

	assert_int_equal(lab_boot(&o, &s->kernel, busybox, &g, &fd, &err), -EIO);
	assert_null(g);
	assert_non_null(strstr(err.text, "ended before its agent spoke"));
	assert_non_null(strstr(err.text, "kab: the agent ended with status 127"));
	assert_non_null(strstr(err.text, "`kab lab shell`"));
	assert_int_equal(open_files(), before);
	free(busybox);
}

static void test_kernel_panics(void **state)
{
	const struct setup *s = *state;
	struct lab_opts o = { 0 };
	struct err err = ERR_INIT;
	struct lab_guest *g;
	int fd;

	assert_int_equal(lab_boot(&o, &s->kernel, s->panic_agent, &g, &fd, &err), -EIO);
	assert_non_null(strstr(err.text, "panicked before its agent spoke"));
	assert_non_null(strstr(err.text, "The last lines of its console:\n"));
}

static bool stop_at_once(void *ctx)
{
	unsigned *asked = ctx;

	return ++*asked > 3;
}

static void test_boot_is_stopped(void **state)
{
	const struct setup *s = *state;
	unsigned asked = 0;
	struct lab_opts o = { .stop = stop_at_once, .ctx = &asked };
	struct err err = ERR_INIT;
	size_t before = open_files();
	struct lab_guest *g;
	int fd;

	assert_int_equal(lab_boot(&o, &s->kernel, s->agent, &g, &fd, &err), -ECANCELED);
	assert_null(g);
	assert_int_equal(fd, -1);
	assert_int_equal(open_files(), before);
}

int main(int argc, char **argv)
{
	struct lab_opts o = { 0 };
	struct err err = ERR_INIT;
	struct setup s = { .agent = argc > 2 ? argv[1] : NULL, .panic_agent = argc > 2 ? argv[2] : NULL };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_agent_speaks, &s),
		cmocka_unit_test_prestate(test_agent_ends, &s),
		cmocka_unit_test_prestate(test_kernel_panics, &s),
		cmocka_unit_test_prestate(test_boot_is_stopped, &s),
	};
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: boot-test AGENT PANIC-AGENT\n");
		return 2;
	}
	if (lab_kernel_find(&o, &s.kernel, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	lab_kernel_release(&s.kernel);
	return rc;
}
