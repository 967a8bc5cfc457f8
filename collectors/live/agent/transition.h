/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transition: the time in which the kernel moves its tasks, one by one, into a
 * livepatch or out of it. A task that sleeps in a replaced function stays
 * behind; one that never leaves it holds the transition up for ever.
 */
#ifndef KAB_AGENT_TRANSITION_H
#define KAB_AGENT_TRANSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "collectors/live/agent/module.h"

struct err;

/* Between two looks at the kernel; false: give up. */
bool transition_pause(const struct module_wait *w);
unsigned transition_patience(const struct module_wait *w);
uint64_t transition_now(void);	/* ns, CLOCK_MONOTONIC */

/*
 * Waits until livepatch `name` is in force for every task (`in`), or for none and gone. One that lasts is said
 * to w->say with the tasks that hold it up; after the patience it is reversed, and -ETIMEDOUT names them.
 */
int transition_wait(const char *name, bool in, const struct module_wait *w, struct module_took *t, struct err *err);

/* Tasks that hold up the transition at hand, at most `max` lines "PID (COMM): FUNCTION < CALLER < ...". */
void transition_holders(bool in, size_t max, struct buf *out);

#endif
