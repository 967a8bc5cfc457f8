/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu: one QEMU process, started with everything it needs handed over as open
 * descriptors, so that no file or socket has a name that could be left behind.
 */
#ifndef KAB_LAB_QEMU_H
#define KAB_LAB_QEMU_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct lab_kernel;
struct lab_opts;

#define QEMU_PROGRAM "qemu-system-x86_64"

struct qemu {
	pid_t pid;		/* 0 when there is none, or none any more */
	int console;		/* serial line both ways, and what QEMU prints; the caller's to close */
	int stream;		/* the port kab.agent; -1 without */
};

/* The three ways to run a guest's processor. */
struct accel {
	const char *name;	/* as lab_accel() gives it */
	const char *args;	/* of -accel */
	const char *icount;	/* of -icount, NULL: none */
	int silent_s;		/* seconds without a console byte that mean that it hangs */
};
extern const struct accel accel_kvm, accel_tcg, accel_icount;

struct qemu_opts {
	const struct accel *accel;
	const char *append;	/* more for the kernel's command line, "" for none */
	bool port;		/* a port for the agent */
	int initramfs;		/* descriptor; borrowed */
};

/*
 * Starts it, in a process group of its own: Ctrl-C on the terminal is kab's to
 * handle. However kab ends, the kernel then kills QEMU; more exactly, when the
 * calling thread ends, so this is called from one that outlives the guest.
 */
int qemu_start(const struct lab_opts *o, const struct lab_kernel *k, const struct qemu_opts *q,
	       struct qemu *out, struct err *err);
/* Whether it still runs; reaps it when not. */
bool qemu_alive(struct qemu *q);
/* SIGTERM, and SIGKILL after a second. Closes nothing. */
void qemu_stop(struct qemu *q);

#endif
