/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initramfs: the guest's whole file system as one cpio archive in memory.
 *
 * It is written here, and not by cpio(1) from a staging folder, so that nothing
 * is ever on disk for a kill -9 to leave behind, and no privilege is needed for
 * the console's device node. The format is the kernel's own
 * (Documentation/driver-api/early-userspace/buffer-format.rst), "newc".
 */
#ifndef KAB_LAB_INITRAMFS_H
#define KAB_LAB_INITRAMFS_H

#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;
struct lab_kernel;

/* One member; `mode` carries the type (S_IFREG ...), `rdev` counts for device nodes only. */
void cpio_add(struct buf *out, const char *name, mode_t mode, dev_t rdev, const void *data, size_t len);
void cpio_end(struct buf *out);

/*
 * Busybox, the agent at /bin/kab-agent, init and the modules of this kernel.
 * Returns a sealed memory file, the caller's to close, that QEMU reads by
 * /proc/self/fd/N; or a negative code.
 */
int initramfs_build(const struct lab_kernel *k, const char *agent, struct err *err);

#endif
