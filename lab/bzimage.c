// SPDX-License-Identifier: GPL-2.0-or-later
/* bzimage: see bzimage.h. */
#include "lab/bzimage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/release.h"

/* Offsets of the setup header's fields, and the number its length fields are counted from. */
enum {
	SETUP_SECTS = 0x1f1,
	MAGIC = 0x202,
	PROTOCOL = 0x206,
	KERNEL_VERSION = 0x20e,		/* counted from 0x200 */
	PAYLOAD_OFFSET = 0x248,		/* counted from the end of the setup code; protocol 2.08 on */
	PAYLOAD_LENGTH = 0x24c,
	HEADER_END = 0x250,
	SECTOR = 512,
};

static uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static bool is_bzimage(const uint8_t *p, size_t len)
{
	return len >= HEADER_END && !memcmp(p + MAGIC, "HdrS", 4);
}

char *bzimage_release(const void *head, size_t len, const char *path, struct err *err)
{
	const uint8_t *p = head;
	size_t at, n;

	if (!is_bzimage(p, len)) {
		err_add(err, -EINVAL, "%s is not an x86 kernel image (bzImage); name the vmlinuz or the "
			"arch/x86/boot/bzImage of the kernel.", path);
		return NULL;
	}
	at = le16(p + KERNEL_VERSION) + 0x200U;
	n = 0;
	if (at > 0x200 && at < len)
		while (at + n < len && n <= RELEASE_MAX && p[at + n] > ' ')
			n++;
	if (!n || at + n == len || !release_valid((const char *)p + at, n)) {
		err_add(err, -EINVAL, "The header of the kernel image %s names no release; the file is "
			"damaged, or it is not a Linux kernel.", path);
		return NULL;
	}
	return mem_printf("%.*s", (int)n, (const char *)p + at);
}

int bzimage_payload(const void *image, size_t len, size_t *offset, size_t *size)
{
	const uint8_t *p = image;
	uint64_t start, n;

	if (!is_bzimage(p, len) || le16(p + PROTOCOL) < 0x208)
		return -EINVAL;
	/* A zero here means four, for the oldest images. */
	start = ((p[SETUP_SECTS] ? p[SETUP_SECTS] : 4) + 1U) * (uint64_t)SECTOR + le32(p + PAYLOAD_OFFSET);
	n = le32(p + PAYLOAD_LENGTH);
	if (!n || start + n > len)
		return -EINVAL;
	*offset = start;
	*size = n;
	return 0;
}
