/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events: what --events asks for. Pure.
 *
 *	cpu-clock			the sampled event (at most one; a name without a colon)
 *	SYSTEM:EVENT			how often it happens, per operation
 *	SYSTEM:EVENT:FIELD		and how its numeric field is distributed
 *	SYSTEM:EVENT..[SYSTEM:]EVENT	and how the time from the first to the second is, thread by thread
 *	off-cpu				how long its threads were off the CPU, by sched:sched_switch
 */
#ifndef KAB_PROFILE_EVENTS_H
#define KAB_PROFILE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define EVENT_NAME 64			/* bytes of a system, event or field, with the NUL */
#define EVENT_ITEMS 32

enum event_kind { EVENT_COUNT, EVENT_FIELD, EVENT_BETWEEN, EVENT_OFF_CPU };

struct event_item {
	enum event_kind kind;
	char system[2][EVENT_NAME];	/* [1] of EVENT_BETWEEN only */
	char event[2][EVENT_NAME];
	char field[EVENT_NAME];		/* EVENT_FIELD only */
	char text[5 * EVENT_NAME];	/* as it is called in tables: what was written */
};

struct event_list {
	char sampled[EVENT_NAME];	/* "": whatever the machine has */
	struct event_item items[EVENT_ITEMS];
	size_t n;
};

/* NULL and "" are the empty list. -EINVAL with the sentence that says which item and what it could be. */
int event_list_parse(const char *text, struct event_list *l, struct err *err);
/* Whether the item needs the tracepoint on every CPU: a switch to a thread happens in another one. */
bool event_everywhere(const struct event_item *item);

#endif
