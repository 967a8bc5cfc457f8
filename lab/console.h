/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * console: the end of what the guest's serial line and QEMU itself have said.
 *
 * A thread of its own reads the descriptor until it closes: QEMU stops the
 * guest's processor while a console byte cannot be written, and then the wait
 * would be measured. Everything here may be called from any thread.
 */
#ifndef KAB_LAB_CONSOLE_H
#define KAB_LAB_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct console;
struct err;

/* Takes `fd`, also on failure. */
struct console *console_new(int fd, struct err *err);
/* Waits for the end of the thread: the far end has to be closed, or QEMU dead. NULL is fine. */
void console_free(struct console *c);

/* Bytes received so far: a guest that still talks is not hanging. */
uint64_t console_bytes(struct console *c);
/* Whether the far end has closed, which it does when QEMU ends. */
bool console_ended(struct console *c);
/* Whether `text` is among what is kept. */
bool console_has(struct console *c, const char *text);
/* The last lines, at most `lines`, escaped, each ended by a newline. */
void console_tail(struct console *c, struct buf *out, size_t lines);

/* The same from plain bytes; pure, for the tests. */
void console_lines(struct buf *out, const char *text, size_t len, size_t lines);

#endif
