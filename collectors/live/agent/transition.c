// SPDX-License-Identifier: GPL-2.0-or-later
/* transition: see transition.h. */
#include "collectors/live/agent/transition.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "collectors/live/agent/sysfs.h"

#define PATIENCE_S 60		/* the kernel pushes sleeping programs after 15 s; what is left then seldom moves */
#define STALL_S 5		/* an idle machine takes 2 s; from here on the tasks are named */
#define REVERSE_S 60		/* for the way back */
#define STACK_FRAMES 6
#define KLP "kernel/livepatch"

uint64_t transition_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

unsigned transition_patience(const struct module_wait *w)
{
	return w && w->patience_s ? w->patience_s : PATIENCE_S;
}

bool transition_pause(const struct module_wait *w)
{
	const struct timespec tick = { 0, 20000000 };

	if (w && w->pause)
		return w->pause(w->ctx);
	nanosleep(&tick, NULL);
	return true;
}

/* --- who holds it up --- */

/* The line of a file below /proc/PID/task/TID, NULL when it is not there. */
static const char *task_line(const char *task, const char *file, char *line, size_t size)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%.60s/%s", task, file);
	f = fopen(path, "re");
	if (f && !fgets(line, (int)size, f)) {
		fclose(f);
		f = NULL;
	}
	if (!f)
		return NULL;
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* "[<0>] msleep+0x2d/0x40" a line becomes "msleep < caller < ...". */
static void add_stack(const char *task, struct buf *out)
{
	char path[96], line[256], name[128];
	size_t frames = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%.60s/stack", task);
	f = fopen(path, "re");
	while (f && frames < STACK_FRAMES && fgets(line, sizeof(line), f))
		if (sscanf(line, "[<%*x>] %127[^+ \n]", name) == 1)
			buf_printf(out, "%s%s", frames++ ? " < " : "", name);
	if (!frames)
		buf_puts(out, "its kernel stack cannot be read");
	if (f)
		fclose(f);
}

static void add_task(const char *task, const char *tid, bool in, size_t *left, struct buf *out)
{
	char line[64];

	/* patch_state: -1 no transition, 0 not in the livepatch, 1 in it. */
	if (!task_line(task, "patch_state", line, sizeof(line)) || atoi(line) != (in ? 0 : 1))
		return;
	(*left)--;
	buf_printf(out, "%.12s (%s): ", tid, task_line(task, "comm", line, sizeof(line)) ? line : "?");
	add_stack(task, out);
	buf_putc(out, '\n');
}

void transition_holders(bool in, size_t max, struct buf *out)
{
	DIR *proc = opendir("/proc"), *tasks;
	struct dirent *p, *t;
	char path[64];

	while (proc && max && (p = readdir(proc))) {
		if (!isdigit((unsigned char)p->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.12s/task", p->d_name);
		tasks = opendir(path);
		while (tasks && max && (t = readdir(tasks))) {
			if (!isdigit((unsigned char)t->d_name[0]))
				continue;
			snprintf(path, sizeof(path), "/proc/%.12s/task/%.12s", p->d_name, t->d_name);
			add_task(path, t->d_name, in, &max, out);
		}
		if (tasks)
			closedir(tasks);
	}
	if (proc)
		closedir(proc);
}

/* --- waiting --- */

static bool over(const char *name, bool in)
{
	return in ? sys_number(KLP, name, "transition") != 1 : !sys_exists(KLP, name, "");
}

static void say_holders(const char *name, bool in, unsigned seconds, const struct module_wait *w)
{
	struct buf held = BUF_INIT;
	char line[400], *p, *save = NULL;

	if (!w || !w->say)
		return;
	transition_holders(in, 8, &held);
	snprintf(line, sizeof(line), "The livepatch %s has been in transition for %u s, %s", name, seconds,
		 held.len ? "held up by:" : "by no task of /proc: an idle CPU has not been through it.");
	w->say(w->ctx, line);
	for (p = held.len ? strtok_r(held.data, "\n", &save) : NULL; p; p = strtok_r(NULL, "\n", &save)) {
		snprintf(line, sizeof(line), "  %.390s", p);
		w->say(w->ctx, line);
	}
	buf_release(&held);
}

/* Sends the tasks that have moved back to where they came from. Nobody cancels this. */
static bool reverse(const char *name, bool in)
{
	uint64_t until = transition_now() + REVERSE_S * 1000000000ull;

	if (sys_write(KLP, name, "enabled", in ? "0" : "1"))
		return false;
	while (!over(name, !in)) {
		if (transition_now() > until)
			return false;
		transition_pause(NULL);
	}
	return true;
}

static int stalled(const char *name, bool in, unsigned seconds, struct err *err)
{
	struct buf held = BUF_INIT;
	bool back;

	transition_holders(in, 3, &held);
	back = reverse(name, in);
	while (held.len && held.data[held.len - 1] == '\n')
		held.data[--held.len] = '\0';
	for (char *p = held.data; p && (p = strchr(p, '\n'));)
		*p = ';';
	err_add(err, 0, "The livepatch %s was still on its way %s after %u s and was %s.", name, in ? "in" : "out", seconds,
		!back ? "to be reversed, which did not come to an end either: it stays as it is" :
		in ? "reversed: the kernel's own code runs" : "reversed: it is in force again");
	err_add(err, 0, "Held up by %s.", held.len ? held.data : "no task of /proc");
	err_add(err, 0, "End or wake these tasks, or allow more time (--patience).");
	buf_release(&held);
	return -ETIMEDOUT;
}

int transition_wait(const char *name, bool in, const struct module_wait *w, struct module_took *t, struct err *err)
{
	uint64_t began = transition_now();
	unsigned patience = transition_patience(w), say_at = STALL_S, seconds;
	int rc = 0;

	while (!rc && !over(name, in)) {
		seconds = (unsigned)((transition_now() - began) / 1000000000);
		if (seconds >= patience) {
			rc = stalled(name, in, seconds, err);
		} else if (seconds >= say_at) {
			say_holders(name, in, seconds, w);
			say_at *= 2;
		} else if (!transition_pause(w)) {
			rc = err_add(err, -ECANCELED, "%s the livepatch %s was cancelled.", in ? "Loading" : "Disabling", name);
		}
	}
	if (t)
		t->transition_ns += transition_now() - began;
	return rc;
}
