/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf: a growing run of bytes, always followed by a NUL that is not counted.
 * The bytes may contain NULs; `data` is never NULL after the first append.
 */
#ifndef KAB_BASE_BUF_H
#define KAB_BASE_BUF_H

#include <stddef.h>

struct err;

struct buf {
	char *data;
	size_t len, cap;
};

#define BUF_INIT { NULL, 0, 0 }

void buf_release(struct buf *b);
void buf_clear(struct buf *b);			/* keeps the memory */
void buf_reserve(struct buf *b, size_t more);	/* room for `more` bytes behind len */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t n);	/* n times c */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *buf_str(const struct buf *b);	/* "" when empty; borrowed from b */
char *buf_detach(struct buf *b);		/* the caller frees; b is empty afterwards */

/* Reads `fd` to its end, at most `limit` bytes: over that -EFBIG, and b keeps what was read. */
int buf_read_fd(struct buf *b, int fd, size_t limit, struct err *err);
/* Reads a whole file, at most `limit` bytes. */
int buf_read_file(struct buf *b, const char *path, size_t limit, struct err *err);

#endif
