// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shell: a guest's serial console on this terminal.
 *
 * kab stays between the two, so that QEMU never owns the terminal and its
 * settings are put back however the guest ends. Keys go to the guest, Ctrl-C
 * too; Ctrl-] ends it from here. Without a terminal the guest's shell reads a
 * script from standard input, ends with it, and only its output is printed.
 */
#include "lab/guest.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "lab/console.h"
#include "lab/initramfs.h"
#include "lab/kvm.h"

#define ESCAPE_KEY 0x1d			/* Ctrl-] */
#define END_KEY 0x04			/* Ctrl-D, the end of a script */
#define READY "kab: shell ready"	/* what lab/init.sh prints before it reads keys, as a line */

struct relay {
	const struct lab_opts *o;
	int console;
	bool tty;		/* stdin is a terminal, now raw */
	bool ready;		/* the guest's shell reads; keys sent earlier would be lost */
	bool input;		/* stdin has not ended */
	struct buf heard;	/* the console's output until it is ready */
};

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return false;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return true;
}

/* What the guest says; false at its end. */
static bool from_guest(struct relay *r)
{
	char chunk[4096], *p = chunk;
	ssize_t n = read(r->console, chunk, sizeof(chunk));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	if (!r->ready) {
		char *line, *end;

		buf_add(&r->heard, chunk, (size_t)n);
		line = strstr(r->heard.data, READY);
		end = line ? strchr(line, '\n') : NULL;
		r->ready = end != NULL;
		if (!r->tty) {
			/* Of the boot, a script's reader sees nothing. */
			p = end ? end + 1 : r->heard.data + r->heard.len;
			n = r->heard.data + r->heard.len - p;
		}
	}
	return write_all(STDOUT_FILENO, p, (size_t)n);
}

/* Keys; false when the user ends the guest. */
static bool to_guest(struct relay *r)
{
	static const char end = END_KEY;
	char chunk[256];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (n < 0)
		return errno == EINTR;
	if (n == 0) {
		r->input = false;
		return write_all(r->console, &end, 1);
	}
	if (r->tty && memchr(chunk, ESCAPE_KEY, (size_t)n))
		return false;
	return write_all(r->console, chunk, (size_t)n);
}

/* Until the guest or the user ends it; silent_s without the shell being there is an end as well. */
static int relay(struct relay *r, int silent_s)
{
	int quiet = 0;

	while (quiet < silent_s * 10 || r->ready) {
		struct pollfd fds[2] = {
			{ .fd = r->console, .events = POLLIN },
			{ .fd = r->ready && r->input ? STDIN_FILENO : -1, .events = POLLIN },
		};

		if (poll(fds, 2, 100) == 0)
			quiet++;
		else
			quiet = 0;
		if (r->o->stop && r->o->stop(r->o->ctx))
			return -ECANCELED;
		if (fds[0].revents && !from_guest(r))
			return 0;
		if (fds[1].revents && !to_guest(r))
			return 0;
	}
	return -ETIMEDOUT;
}

/* What init is to do, and how large this terminal is. */
static void kernel_args(struct buf *append)
{
	struct winsize size;
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const char *term = getenv("TERM");

	buf_puts(append, isatty(STDIN_FILENO) ? "kab.shell" : "kab.script");
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		buf_printf(append, " KAB_ROWS=%u KAB_COLS=%u", size.ws_row, size.ws_col);
	if (term && term[0] && strlen(term) < 40 && !term[strspn(term, letters)])
		buf_printf(append, " TERM=%s", term);
}

static int shell_once(const struct lab_opts *o, const struct lab_kernel *k, struct qemu_opts *q,
		      struct relay *r, struct err *err)
{
	struct termios saved, raw;
	struct qemu qemu;
	int rc = qemu_start(o, k, q, &qemu, err);

	if (rc)
		return rc;
	*r = (struct relay){ .o = o, .console = qemu.console, .input = true };
	r->tty = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &saved);
	if (r->tty) {
		raw = saved;
		cfmakeraw(&raw);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	rc = relay(r, q->accel->silent_s);
	qemu_stop(&qemu);
	if (r->tty)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	close(qemu.console);
	return rc;
}

static int not_up(const struct relay *r, const struct lab_kernel *k, struct err *err)
{
	struct buf tail = BUF_INIT;

	console_lines(&tail, buf_str(&r->heard), r->heard.len, 6);
	err_add(err, -EIO, "The guest with kernel %s ended before its shell was up. The last lines of its "
		"console:\n%s", k->release, buf_str(&tail));
	buf_release(&tail);
	return -EIO;
}

int lab_shell(const struct lab_opts *o, const struct lab_kernel *k, const char *agent, struct err *err)
{
	struct qemu_opts q = { .initramfs = initramfs_build(k, agent, err) };
	struct buf append = BUF_INIT;
	const struct accel *accels[3];
	size_t n = guest_accels(o, accels), i;
	int rc = q.initramfs < 0 ? q.initramfs : 0;
	struct relay r = { 0 };

	kernel_args(&append);
	q.append = buf_str(&append);
	for (i = 0; !rc && i < n; i++) {
		bool spoke;

		q.accel = accels[i];
		rc = shell_once(o, k, &q, &r, err);
		spoke = r.ready || strstr(buf_str(&r.heard), "Linux version");
		if (!spoke && i + 1 < n && (!rc || rc == -ETIMEDOUT)) {
			kvm_refuse();
			rc = 0;
		} else if (rc == -ETIMEDOUT) {
			err_add(err, rc, "The guest with kernel %s (%s) has said nothing for %d s; try "
				"another kernel.", k->release, q.accel->name, q.accel->silent_s);
		} else if (!rc && !r.ready) {
			rc = not_up(&r, k, err);
		} else if (rc == -ECANCELED) {
			err_add(err, rc, "Stopped.");
		}
		buf_release(&r.heard);
		if (rc || spoke)
			break;
	}
	if (q.initramfs >= 0)
		close(q.initramfs);
	buf_release(&append);
	return rc;
}
