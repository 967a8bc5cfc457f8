/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memfile: a file without a name, for QEMU to read by /proc/self/fd/N.
 */
#ifndef KAB_LAB_MEMFILE_H
#define KAB_LAB_MEMFILE_H

struct buf;
struct err;

/* The descriptor of one with these bytes, sealed, the caller's to close; `what` completes "Cannot write". */
int memfile(const char *what, const struct buf *data, struct err *err);

#endif
