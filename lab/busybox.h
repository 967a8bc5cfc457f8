/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * busybox: the guest's programs, one static file. Installed where possible; the
 * package busybox-static excludes busybox, which a machine may need for itself,
 * and then a copy is unpacked into the cache.
 */
#ifndef KAB_LAB_BUSYBOX_H
#define KAB_LAB_BUSYBOX_H

struct err;
struct lab_opts;

/* Path of a static busybox; the caller frees. NULL with a sentence. */
char *busybox_find(struct err *err);
/* Puts one into the cache when there is none. */
int busybox_fetch(const struct lab_opts *o, struct err *err);

#endif
