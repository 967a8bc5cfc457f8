/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lab: the embedded target. A distribution kernel in QEMU, an initramfs with
 * busybox and the agent, a virtio-serial port for the stream.
 *
 * Nothing on the machine changes: kernels and their headers are downloaded and
 * unpacked into the cache, never installed.
 */
#ifndef KAB_LAB_LAB_H
#define KAB_LAB_LAB_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct lab_guest;

struct lab_opts {
	const char *line;		/* "6.1", "6.12"; NULL: the distribution's current one */
	const char *image;		/* --kernel-image FILE: a bzImage of the user's; with it: */
	const char *build;		/* --kernel-build DIR: its headers or build folder */
	bool exact;			/* one CPU, -icount shift=0,sleep=off, TCG */
	unsigned cpus, max_cpus;	/* 0: 2 and 64; exact: 1 and 64 */
	unsigned memory_mb;		/* 0: 1024 */
	/* progress of long steps: `done` of `total` bytes or steps, total 0 when unknown */
	void (*progress)(void *ctx, const char *what, double done, double total);
	bool (*stop)(void *ctx);	/* asked often */
	void *ctx;
};

struct lab_kernel {
	char *line;			/* "6.1" */
	char *release;			/* "6.1.0-57-amd64" */
	char *image;			/* path of vmlinuz */
	char *elf;			/* its vmlinux, which starts sooner; NULL: boot `image` */
	char *modules;			/* .../lib/modules/RELEASE, NULL when virtio is built in */
	char *build;			/* folder for module builds; NULL without headers */
};
void lab_kernel_release(struct lab_kernel *k);

/* The kernel in the cache for this line; -ENOENT with the remedy (`kab lab fetch`) when it is not there. */
int lab_kernel_find(const struct lab_opts *o, struct lab_kernel *k, struct err *err);
/* Resolves the meta package, downloads and unpacks kernel and headers. Idempotent, safe to interrupt. */
int lab_fetch(const struct lab_opts *o, struct lab_kernel *k, struct err *err);

/* 0 when modules can be built for it; else -ENOENT, and the sentence says what to do. */
int lab_need_build(const struct lab_kernel *k, struct err *err);

/* Boots; `agent` is the host path of kab-agent. Returns when the guest's agent has sent its first byte, or
 * with an error that carries the last console lines and what to try. `*fd` is the stream (the caller's, for
 * live_attach). The guest ends with the thread that called this, however that ends. */
int lab_boot(const struct lab_opts *o, const struct lab_kernel *k, const char *agent, struct lab_guest **g,
	     int *fd, struct err *err);
/* Last lines of the guest console, escaped, newest last. */
void lab_console(struct lab_guest *g, struct buf *out, size_t lines);
/* Whether the guest is still alive; false also after a panic. */
bool lab_alive(struct lab_guest *g);
const char *lab_accel(const struct lab_guest *g);	/* "kvm", "tcg", "tcg,icount" */
/* Ends QEMU (polite, then SIGKILL) and removes the temporary files. NULL is fine. */
void lab_stop(struct lab_guest *g);

/* An interactive busybox shell in a guest, on this terminal. */
int lab_shell(const struct lab_opts *o, const struct lab_kernel *k, const char *agent, struct err *err);
/* `kab lab status`: one line each for qemu, kvm, kernels in cache, headers, sizes. */
int lab_status(struct buf *out, bool json, struct err *err);
int lab_clean(struct err *err);

#endif
