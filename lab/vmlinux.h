/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlinux: the kernel out of its image. QEMU starts it at once, while under TCG an
 * image needs three (zstd) to seven (xz) seconds to unpack itself, at every boot.
 */
#ifndef KAB_LAB_VMLINUX_H
#define KAB_LAB_VMLINUX_H

struct err;
struct lab_opts;

/*
 * Unpacks `image` to `elf`. Not every kernel can be unpacked and started so, and then
 * there is no `elf` and the image has to do: what fails is the disk, or being stopped.
 */
int vmlinux_unpack(const struct lab_opts *o, const char *image, const char *elf, struct err *err);

#endif
