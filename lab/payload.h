/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload: the vmlinux inside a kernel image, unpacked for QEMU to start at once.
 *
 * Under TCG an image takes about seven seconds to unpack itself, at every boot.
 */
#ifndef KAB_LAB_PAYLOAD_H
#define KAB_LAB_PAYLOAD_H

struct err;
struct lab_opts;

/*
 * Writes the vmlinux of `image` to the new file `elf`. A kernel whose packing is not
 * known, or that QEMU could not start so, is no error: then there is no such file, and the
 * image has to do. `work` is the name of a temporary file beside it.
 */
int payload_unpack(const struct lab_opts *o, const char *image, const char *elf, const char *work,
		   struct err *err);

#endif
