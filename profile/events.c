// SPDX-License-Identifier: GPL-2.0-or-later
/* events: see events.h. */
#include "profile/events.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define FORMS "SYSTEM:EVENT, SYSTEM:EVENT:FIELD, SYSTEM:EVENT..EVENT, off-cpu, or the event to sample"

/* Copies a name; false when it is none. */
static bool name(char to[EVENT_NAME], const char *from, size_t len)
{
	if (!len || len >= EVENT_NAME)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)from[i]) && from[i] != '_' && from[i] != '-')
			return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* "SYSTEM:EVENT", or "EVENT" where `system` names the one to take. What follows is left in *rest. */
static bool tracepoint(const char *s, size_t len, const char *system, char to_system[EVENT_NAME],
		       char to_event[EVENT_NAME], const char **rest)
{
	const char *colon = memchr(s, ':', len), *end = s + len, *next;

	if (!colon && !system)
		return false;
	if (!colon) {
		strcpy(to_system, system);
		*rest = end;
		return name(to_event, s, len);
	}
	next = memchr(colon + 1, ':', (size_t)(end - colon - 1));
	*rest = next ? next : end;
	return name(to_system, s, (size_t)(colon - s)) &&
	       name(to_event, colon + 1, (size_t)(*rest - colon - 1));
}

/* The two dots of SYSTEM:EVENT..EVENT. */
static const char *dots(const char *s, size_t len)
{
	return memmem(s, len, "..", 2);
}

static bool item(const char *s, size_t len, struct event_item *it)
{
	const char *two = dots(s, len), *rest;

	if (len >= sizeof(it->text))
		return false;
	memcpy(it->text, s, len);
	it->text[len] = '\0';
	if (!strcmp(it->text, "off-cpu")) {
		it->kind = EVENT_OFF_CPU;
		strcpy(it->system[0], "sched");
		strcpy(it->event[0], "sched_switch");
		return true;
	}
	if (two) {
		it->kind = EVENT_BETWEEN;
		return tracepoint(s, (size_t)(two - s), NULL, it->system[0], it->event[0], &rest) &&
		       rest == two &&
		       tracepoint(two + 2, (size_t)(s + len - two - 2), it->system[0], it->system[1],
				  it->event[1], &rest) &&
		       rest == s + len;
	}
	if (!tracepoint(s, len, NULL, it->system[0], it->event[0], &rest))
		return false;
	it->kind = rest == s + len ? EVENT_COUNT : EVENT_FIELD;
	return it->kind == EVENT_COUNT || name(it->field, rest + 1, (size_t)(s + len - rest - 1));
}

int event_list_parse(const char *text, struct event_list *l, struct err *err)
{
	const char *s = text ? text : "", *end;

	memset(l, 0, sizeof(*l));
	for (; *s; s = *end ? end + 1 : end) {
		size_t len = strcspn(s, ",");
		bool traced = memchr(s, ':', len) || (len == 7 && !memcmp(s, "off-cpu", 7));

		end = s + len;
		if (!traced && l->sampled[0])
			return err_add(err, -EINVAL, "--events names two events to sample, %s and %.*s; one "
				       "is sampled at a time.", l->sampled, (int)(len > 60 ? 60 : len), s);
		if (traced && l->n == EVENT_ITEMS)
			return err_add(err, -EINVAL, "--events takes %d tracepoints at most.", EVENT_ITEMS);
		if (traced ? !item(s, len, &l->items[l->n]) : !name(l->sampled, s, len))
			return err_add(err, -EINVAL, "\"%.*s\" is nothing that --events takes: " FORMS ".",
				       (int)(len > 100 ? 100 : len), s);
		l->n += traced;
	}
	return 0;
}

bool event_everywhere(const struct event_item *it)
{
	return it->kind == EVENT_OFF_CPU;
}
