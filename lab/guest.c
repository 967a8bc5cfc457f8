// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest: boots a kernel for the agent, and says what happened when that fails.
 *
 * The guest counts as up when the first byte of the agent arrives on its port;
 * the byte stays there for the reader of the stream.
 */
#include "lab/guest.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "lab/console.h"
#include "lab/initramfs.h"
#include "lab/kvm.h"

#define SHOWN_LINES 12		/* of the console in an error */
#define SHOWN_BYTES 900

struct lab_guest {
	struct qemu qemu;
	struct console *console;
	const struct accel *accel;
};

enum boot { BOOT_UP, BOOT_ENDED, BOOT_HANGS, BOOT_STOPPED };

size_t guest_accels(const struct lab_opts *o, const struct accel *v[3])
{
	size_t n = 0;

	if (o->exact)
		v[n++] = &accel_icount;
	else if (kvm_usable(NULL))
		v[n++] = &accel_kvm;
	if (!o->exact)
		v[n++] = &accel_tcg;
	v[n] = NULL;
	return n;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum boot wait_for_agent(const struct lab_opts *o, struct lab_guest *g, int stream)
{
	double start = now_s(), heard = start;
	uint64_t bytes = 0;

	for (;;) {
		struct pollfd fd = { .fd = stream, .events = POLLIN };
		char byte;
		ssize_t n;

		poll(&fd, 1, 100);
		n = recv(stream, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
		if (n > 0)
			return BOOT_UP;
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || !qemu_alive(&g->qemu))
			return BOOT_ENDED;
		if (o->stop && o->stop(o->ctx))
			return BOOT_STOPPED;
		if (console_bytes(g->console) != bytes) {
			bytes = console_bytes(g->console);
			heard = now_s();
		}
		if (now_s() - heard > g->accel->silent_s)
			return BOOT_HANGS;
		if (o->progress)
			o->progress(o->ctx, "Booting the guest", now_s() - start, 0);
	}
}

/* The end of the console behind the sentence that the boot failed, cut to whole lines that fit. */
static int boot_failed(struct lab_guest *g, const struct lab_kernel *k, enum boot how, struct err *err)
{
	bool panic = console_has(g->console, "Kernel panic"), hangs = how == BOOT_HANGS;
	struct buf tail = BUF_INIT;
	const char *shown;
	int tries;

	/* QEMU is dead by now; the thread may still have its last words to read. */
	for (tries = 0; tries < 100 && !console_ended(g->console); tries++)
		usleep(10000);
	console_tail(g->console, &tail, SHOWN_LINES);
	shown = buf_str(&tail);
	while (strlen(shown) > SHOWN_BYTES)
		shown = strchr(shown, '\n') + 1;
	if (hangs)
		err_add(err, 0, "The guest with kernel %s (%s) has said nothing for %d s and did not reach "
			"its agent.", k->release, g->accel->name, g->accel->silent_s);
	else
		err_add(err, 0, "The guest with kernel %s (%s) %s before its agent spoke.", k->release,
			g->accel->name, panic ? "panicked" : "ended");
	if (*shown)
		err_add(err, 0, "The last lines of its console:\n%s", shown);
	else
		err_add(err, 0, "Its console is empty.");
	err_add(err, 0, "Try `kab lab shell` to look around in it, `kab lab clean` and `kab lab fetch` for a "
		"fresh kernel, or another one with --kernel.");
	buf_release(&tail);
	return hangs ? -ETIMEDOUT : -EIO;
}

/* One attempt; what was started is gone unless it is up. */
static enum boot try_boot(const struct lab_opts *o, const struct lab_kernel *k, struct lab_guest *g,
			  int initramfs, int *fd, int *rc, struct err *err)
{
	const struct qemu_opts q = { .accel = g->accel, .append = "", .port = true, .initramfs = initramfs };
	enum boot how;

	*rc = qemu_start(o, k, &q, &g->qemu, err);
	if (*rc)
		return BOOT_STOPPED;
	*fd = g->qemu.stream;
	g->console = console_new(g->qemu.console, err);
	if (!g->console) {
		*rc = -EAGAIN;
		how = BOOT_STOPPED;
	} else {
		how = wait_for_agent(o, g, *fd);
	}
	if (how == BOOT_UP)
		return how;
	qemu_stop(&g->qemu);
	close(*fd);
	*fd = -1;
	return how;
}

int lab_boot(const struct lab_opts *o, const struct lab_kernel *k, const char *agent, struct lab_guest **out,
	     int *fd, struct err *err)
{
	struct lab_guest *g = mem_alloc(sizeof(*g));
	const struct accel *accels[3];
	size_t n = guest_accels(o, accels), i;
	int initramfs = initramfs_build(k, agent, err), rc = initramfs < 0 ? initramfs : 0;

	*out = NULL;
	*fd = -1;
	for (i = 0; !rc && i < n; i++) {
		enum boot how;

		g->accel = accels[i];
		how = try_boot(o, k, g, initramfs, fd, &rc, err);
		if (how == BOOT_UP)
			break;
		if (!rc && how == BOOT_STOPPED)
			rc = err_add(err, -ECANCELED, "Stopped.");
		/* Not one line of the kernel: that is KVM's fault, and the next way is tried. */
		if (!rc && i + 1 < n && !console_has(g->console, "Linux version"))
			kvm_refuse();
		else if (!rc)
			rc = boot_failed(g, k, how, err);
		console_free(g->console);
		g->console = NULL;
	}
	if (initramfs >= 0)
		close(initramfs);
	if (rc)
		free(g);
	else
		*out = g;
	return rc;
}

void lab_console(struct lab_guest *g, struct buf *out, size_t lines)
{
	console_tail(g->console, out, lines);
}

bool lab_alive(struct lab_guest *g)
{
	return qemu_alive(&g->qemu);
}

const char *lab_accel(const struct lab_guest *g)
{
	return g->accel->name;
}

void lab_stop(struct lab_guest *g)
{
	if (!g)
		return;
	qemu_stop(&g->qemu);
	console_free(g->console);
	free(g);
}
