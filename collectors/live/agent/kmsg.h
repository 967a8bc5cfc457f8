/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg: what the kernel logs from now on, line by line. Without the right to read it there are no lines. */
#ifndef KAB_AGENT_KMSG_H
#define KAB_AGENT_KMSG_H

#include <stddef.h>

struct kmsg {
	int fd;			/* -1: may not be read here */
};
#define KMSG_WARNING 4

void kmsg_open(struct kmsg *k);
void kmsg_close(struct kmsg *k);
/* Every line the kernel itself wrote since the last call; `level` 0 (emergency) to 7 (debug). */
void kmsg_read(struct kmsg *k, void (*line)(void *ctx, int level, const char *text), void *ctx);

#endif
