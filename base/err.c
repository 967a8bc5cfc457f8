// SPDX-License-Identifier: GPL-2.0-or-later
/* err: see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(struct err *err, const char *fmt, va_list ap)
{
	size_t room = sizeof(err->text) - err->len;
	int n;

	if (err->len && room > 1) {
		err->text[err->len++] = ' ';
		room--;
	}
	n = vsnprintf(err->text + err->len, room, fmt, ap);
	if (n > 0)
		err->len += (size_t)n < room ? (size_t)n : room - 1;
	err->text[err->len] = '\0';
}

int err_add(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	append(err, fmt, ap);
	va_end(ap);
	return code;
}

int err_sys(struct err *err, int num, const char *fmt, ...)
{
	va_list ap;
	size_t room;
	int n;

	if (!err)
		return -num;
	va_start(ap, fmt);
	append(err, fmt, ap);
	va_end(ap);
	room = sizeof(err->text) - err->len;
	n = snprintf(err->text + err->len, room, ": %s.", strerror(num));
	if (n > 0)
		err->len += (size_t)n < room ? (size_t)n : room - 1;
	return -num;
}

void err_clear(struct err *err)
{
	if (err) {
		err->len = 0;
		err->text[0] = '\0';
	}
}
