/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf: three questions to ELF files that the lab has, answered with libelf.
 */
#ifndef KAB_LAB_ELF_H
#define KAB_LAB_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Whether a program needs no loader and no libraries: only such run in the guest. -EINVAL for no ELF file. */
int elf_is_static(const char *path, bool *is_static, struct err *err);
/* Whether QEMU can start this vmlinux itself, by the note that names its PVH entry. */
bool elf_has_pvh(const char *path);
/*
 * Calls `each` with every module that the kernel module in memory names as needed
 * (its "depends=" in .modinfo); stops at the first non-zero result and returns it.
 */
int elf_module_depends(void *ko, size_t len, const char *name,
		       int (*each)(void *ctx, const char *depends, size_t len, struct err *err), void *ctx,
		       struct err *err);

#endif
