// SPDX-License-Identifier: GPL-2.0-or-later
/* buf: see buf.h. */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap;

	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need))
		need = (size_t)-1;
	if (need <= b->cap)
		return;
	cap = b->cap ? b->cap : 64;
	while (cap < need && cap < (size_t)1 << 62)
		cap *= 2;
	b->data = mem_realloc(b->data, cap < need ? need : cap, 1);
	b->cap = cap < need ? need : cap;
	b->data[b->len] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	buf_reserve(b, n);
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_fill(struct buf *b, char c, size_t n)
{
	buf_reserve(b, n);
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	buf_reserve(b, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_detach(struct buf *b)
{
	char *s;

	buf_reserve(b, 0);
	s = b->data;
	*b = (struct buf)BUF_INIT;
	return s;
}

int buf_read_fd(struct buf *b, int fd, size_t limit, struct err *err)
{
	size_t start = b->len;

	for (;;) {
		ssize_t n;

		buf_reserve(b, 65536);
		n = read(fd, b->data + b->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "Reading failed");
		if (n == 0)
			return 0;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
		if (b->len - start > limit)
			return err_add(err, -EFBIG, "The input is longer than the %zu bytes that are read.",
				       limit);
	}
}

int buf_read_file(struct buf *b, const char *path, size_t limit, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return err_sys(err, errno, "Cannot open %s", path);
	rc = buf_read_fd(b, fd, limit, NULL);
	close(fd);
	if (rc == -EFBIG)
		return err_add(err, rc, "%s is longer than the %zu bytes that are read.", path, limit);
	if (rc < 0)
		return err_sys(err, -rc, "Cannot read %s", path);
	return 0;
}
