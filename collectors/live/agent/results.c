// SPDX-License-Identifier: GPL-2.0-or-later
/* results: see results.h. */
#include "collectors/live/agent/results.h"

#include <string.h>

#include "base/text.h"

static bool take_metric(char *args, struct results *r)
{
	char *name = strtok_r(args, " ", &args);
	char *unit = strtok_r(NULL, " ", &args);
	char *value = strtok_r(NULL, " ", &args);
	struct metric *m = &r->metrics[r->n_metrics];

	if (r->n_metrics == RESULTS_METRICS || !value || strlen(name) >= sizeof(m->name) ||
	    strlen(unit) >= sizeof(m->unit) || !text_to_double(value, -1e300, 1e300, &m->value))
		return false;
	strcpy(m->name, name);
	strcpy(m->unit, unit);
	r->n_metrics++;
	return true;
}

static bool take_line(char *line, struct results *r)
{
	char *args = strchr(line, ' ');
	double ops;

	if (!args)
		return false;
	*args++ = '\0';
	if (!strcmp(line, "ops")) {
		if (!text_to_double(args, 0, 1e18, &ops) || ops <= 0)
			return false;
		r->ops = ops;
		return r->reported = true;
	}
	if (!strcmp(line, "wall_ns"))
		return r->has_wall = text_to_u64(args, 0, INT64_MAX, &r->wall_ns);
	if (!strcmp(line, "user_ns"))
		return r->has_user = text_to_u64(args, 0, INT64_MAX, &r->user_ns);
	if (!strcmp(line, "sys_ns"))
		return r->has_sys = text_to_u64(args, 0, INT64_MAX, &r->sys_ns);
	if (!strcmp(line, "metric"))
		return take_metric(args, r);
	return false;
}

void results_parse(const char *text, size_t len, struct results *r)
{
	const char *end = text + len, *nl;
	char line[256];

	memset(r, 0, sizeof(*r));
	r->ops = 1;
	for (; text < end; text = nl + 1) {
		nl = memchr(text, '\n', (size_t)(end - text));
		if (!nl)
			nl = end;
		if (nl == text)
			continue;
		if ((size_t)(nl - text) >= sizeof(line) || memchr(text, '\0', (size_t)(nl - text))) {
			r->bad_lines++;
			continue;
		}
		memcpy(line, text, (size_t)(nl - text));
		line[nl - text] = '\0';
		r->bad_lines += !take_line(line, r);
	}
}
