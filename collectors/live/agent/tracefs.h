/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs: the ids and formats of tracepoints. Where it is not mounted it is
 * opened without being mounted anywhere, so that nothing is left to undo.
 */
#ifndef KAB_AGENT_TRACEFS_H
#define KAB_AGENT_TRACEFS_H

#include <stdint.h>

struct buf;
struct err;

/* The tracepoint's id and its format text. -ENOENT with where the names are, -EACCES with who may. */
int tracefs_event(const char *system, const char *name, uint32_t *id, struct buf *format, struct err *err);

#endif
