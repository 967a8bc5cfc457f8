/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache: where the lab's kernels lie.
 *
 *	~/.cache/kab/kernels/
 *		lock				held while one is fetched or all are removed
 *		line-6.1, line-default		text files: the release that was fetched last
 *		RELEASE/boot/vmlinuz-RELEASE
 *		RELEASE/vmlinux			unpacked from it, when QEMU can start that
 *		RELEASE/lib/modules/RELEASE/
 *		new.XXXXXX/			one that is being unpacked, renamed when complete
 */
#ifndef KAB_LAB_CACHE_H
#define KAB_LAB_CACHE_H

#include "lab/lab.h"

/* The folder "kernels"; the caller frees. NULL with a sentence. */
char *cache_dir(struct err *err);
/* A descriptor that is the lock until it is closed; waits, asking o->stop. */
int cache_lock(const char *dir, const struct lab_opts *o, struct err *err);
/* Path of the note about a line; NULL is the default one. The caller frees. */
char *cache_note(const char *dir, const char *line);
bool cache_has(const char *dir, const char *release);
/* Fills in what the cache and the headers folder have of a release; checks the image. */
int cache_kernel(const char *dir, const char *release, struct lab_kernel *k, struct err *err);
/* The headers folder of a release, NULL when it is not installed; the caller frees. */
char *cache_headers(const char *release);
/* The release in the header of a kernel image; the caller frees. NULL with a sentence. */
char *cache_image_release(const char *path, struct err *err);

#endif
