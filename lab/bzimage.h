/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bzimage: what the header of an x86 kernel image says (Documentation/arch/x86/boot.rst).
 * Pure; every offset in the image is checked against what was read.
 */
#ifndef KAB_LAB_BZIMAGE_H
#define KAB_LAB_BZIMAGE_H

#include <stddef.h>

struct err;

#define BZIMAGE_HEAD (64U << 10)	/* bytes from the start that hold all of the setup code */

/* The release it was built as, from its first BZIMAGE_HEAD bytes; the caller frees. NULL with a sentence. */
char *bzimage_release(const void *head, size_t len, const char *path, struct err *err);
/* Where the compressed vmlinux lies in the whole image; -EINVAL when the header does not say. */
int bzimage_payload(const void *image, size_t len, size_t *offset, size_t *size);

#endif
