/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err: one message for the person in front of the screen.
 *
 * A function that can fail returns 0 (or a useful non-negative value) and on
 * failure a negative errno value; it takes `struct err *err` last and appends
 * whole sentences: what failed, on what, the kernel's own reason, what to do.
 * The message is untouched on success. `err` may be NULL where the caller does
 * not want the text.
 */
#ifndef KAB_BASE_ERR_H
#define KAB_BASE_ERR_H

#include <stddef.h>

struct err {
	size_t len;		/* bytes in text, without the NUL */
	char text[1500];	/* sentences, one blank between two */
};

#define ERR_INIT { 0, "" }

/*
 * Appends a sentence and returns `code` unchanged, so that a caller can write
 * `return err_add(err, -EINVAL, "...")`. Over-long text is cut at the end.
 */
int err_add(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with ": REASON." for the errno value `num` behind it; returns -num. */
int err_sys(struct err *err, int num, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void err_clear(struct err *err);

#endif
