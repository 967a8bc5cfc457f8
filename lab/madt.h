/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * madt: the table that tells the guest of its processors (ACPI specification,
 * "Multiple APIC Description Table"). Pure.
 *
 * QEMU makes one, in which the processors that could be plugged in are not enabled.
 * Of those, Debian's 6.12 makes possible ones only on a hypervisor that it knows, and
 * TCG is none. So the guest gets a second table, in which all are enabled, and a
 * command line by which the kernel takes that one and starts those that are there.
 */
#ifndef KAB_LAB_MADT_H
#define KAB_LAB_MADT_H

struct buf;

#define MADT_CPUS_MAX 254	/* identifiers are a byte, and 255 means all */

/*
 * Appends the table without its common header, which QEMU adds: processors whose
 * identifiers are their numbers, and the interrupts as they are wired in QEMU's PC.
 */
void madt_build(struct buf *out, unsigned cpus);

#endif
