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
 *		RELEASE/usr/			its headers packages, unless the machine has them installed
 *		new.XXXXXX/			what is being unpacked, renamed when complete
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
/*
 * The folder that modules for a release are built in, NULL without; the caller frees. What is installed on
 * the machine goes before what is in the cache.
 */
char *cache_headers(const char *dir, const char *release);
/* A new folder to unpack in; the caller removes and frees. NULL with a sentence. */
char *cache_new(const char *dir, struct err *err);
/* Removes the new folders of those that were killed; only under the lock, which the living hold. */
void cache_sweep(const char *dir);
/* The release in the header of a kernel image; the caller frees. NULL with a sentence. */
char *cache_image_release(const char *path, struct err *err);

#endif
