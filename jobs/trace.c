// SPDX-License-Identifier: GPL-2.0-or-later
/* trace: see trace.h. */
#include "jobs/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "collectors/tracepoints.h"
#include "profile/hist.h"
#include "store/store.h"

#define LINES_LIMIT 8192	/* bytes of records kept as text, of each block */

/* One tracepoint that some item is about. */
struct point {
	uint32_t id;		/* 0 until its format is known */
	uint64_t met;		/* in this block */
	char *format;
	size_t format_len;
	bool stored;
};

struct pending { uint64_t time_ns; bool open; };

struct item {
	size_t point[2];	/* [1]: of EVENT_BETWEEN, else the same */
	struct hist hist;
	double total;		/* of what is in hist, exact */
	VEC(struct pending) since;	/* by number in trace.tids: when the thread met the first event */
};

struct trace {
	struct event_list list;
	struct tracepoints *formats;
	struct live_tracepoint points_asked[2 * EVENT_ITEMS];
	struct point points[2 * EVENT_ITEMS];
	size_t n_points;
	struct item items[EVENT_ITEMS];
	struct map tids;	/* of records */
	struct map own;		/* of the workload */
	struct buf lines;
};

static size_t point_of(struct trace *t, const char *system, const char *name, bool everywhere)
{
	size_t i;

	for (i = 0; i < t->n_points; i++) {
		const struct live_tracepoint *p = &t->points_asked[i];

		if (strcmp(p->system, system) || strcmp(p->name, name))
			continue;
		t->points_asked[i].everywhere |= everywhere;
		return i;
	}
	t->points_asked[t->n_points++] = (struct live_tracepoint){ system, name, everywhere };
	return i;
}

struct trace *trace_new(const struct event_list *list)
{
	struct trace *t;
	size_t i;

	if (!list->n)
		return NULL;
	t = mem_alloc(sizeof(*t));
	t->list = *list;
	t->formats = tracepoints_new();
	for (i = 0; i < t->list.n; i++) {
		const struct event_item *it = &t->list.items[i];
		bool two = it->kind == EVENT_BETWEEN, everywhere = event_everywhere(it);

		t->items[i].point[0] = point_of(t, it->system[0], it->event[0], everywhere);
		t->items[i].point[1] = two ? point_of(t, it->system[1], it->event[1], everywhere)
					   : t->items[i].point[0];
	}
	return t;
}

void trace_free(struct trace *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->list.n; i++) {
		hist_release(&t->items[i].hist);
		vec_release(&t->items[i].since);
	}
	for (i = 0; i < t->n_points; i++)
		free(t->points[i].format);
	tracepoints_free(t->formats);
	map_release(&t->tids);
	map_release(&t->own);
	buf_release(&t->lines);
	free(t);
}

const struct live_tracepoint *trace_tracepoints(const struct trace *t, size_t *n)
{
	*n = t->n_points;
	return t->points_asked;
}

void trace_begin(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->n_points; i++)
		t->points[i].met = 0;
	for (i = 0; i < t->list.n; i++) {
		hist_release(&t->items[i].hist);
		vec_release(&t->items[i].since);
		t->items[i].total = 0;
	}
	map_release(&t->tids);
	buf_clear(&t->lines);
}

static int check_fields(const struct trace *t, size_t point, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->list.n; i++)
		if (t->list.items[i].kind == EVENT_FIELD && t->items[i].point[0] == point)
			rc = tracepoints_has_number(t->formats, t->points[point].id, t->list.items[i].field,
						    err);
	return rc;
}

int trace_format(struct trace *t, const char *system, const char *name, const char *text, size_t len,
		 struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->n_points; i++) {
		struct point *p = &t->points[i];

		if (p->id || strcmp(t->points_asked[i].system, system) ||
		    strcmp(t->points_asked[i].name, name))
			continue;
		rc = tracepoints_add(t->formats, system, name, text, len, err);
		if (rc)
			break;
		p->id = tracepoints_id(t->formats, system, name);
		p->format = mem_alloc(len + 1);
		memcpy(p->format, text, len);
		rc = check_fields(t, i, err);
	}
	return rc;
}

void trace_thread(struct trace *t, uint32_t tid)
{
	map_intern(&t->own, &tid, sizeof(tid), NULL);
}

static struct pending *pending_of(struct trace *t, struct item *m, uint32_t tid)
{
	uint32_t i = map_intern(&t->tids, &tid, sizeof(tid), NULL);

	while (m->since.n <= i)
		vec_push(&m->since, (struct pending){ 0 });
	return &m->since.v[i];
}

static void add(struct item *m, int64_t value)
{
	hist_add(&m->hist, value);
	m->total += (double)value;
}

/* Ends what the thread had open, when it had. */
static void span_end(struct trace *t, struct item *m, uint32_t tid, uint64_t now)
{
	struct pending *p = pending_of(t, m, tid);

	if (p->open && now >= p->time_ns)
		add(m, (int64_t)(now - p->time_ns));
	p->open = false;
}

static void span_begin(struct trace *t, struct item *m, uint32_t tid, uint64_t now)
{
	*pending_of(t, m, tid) = (struct pending){ now, true };
}

static bool is_own(const struct trace *t, int64_t tid)
{
	uint32_t key = (uint32_t)tid;

	return map_find(&t->own, &key, sizeof(key)) != MAP_NONE;
}

static void on_field(struct trace *t, size_t i, const struct live_trace *r, uint32_t id)
{
	int64_t value;

	if (id == t->points[t->items[i].point[0]].id &&
	    !tracepoints_number(t->formats, r->raw, r->len, t->list.items[i].field, &value))
		add(&t->items[i], value);
}

/* An event that is both first and second ends one span and begins the next. */
static void on_between(struct trace *t, size_t i, const struct live_trace *r, uint32_t id)
{
	struct item *m = &t->items[i];

	if (id == t->points[m->point[1]].id)
		span_end(t, m, r->tid, r->time_ns);
	if (id == t->points[m->point[0]].id)
		span_begin(t, m, r->tid, r->time_ns);
}

static void on_switch(struct trace *t, size_t i, const struct live_trace *r, uint32_t id)
{
	struct item *m = &t->items[i];
	int64_t prev, next;

	if (id != t->points[m->point[0]].id ||
	    tracepoints_number(t->formats, r->raw, r->len, "prev_pid", &prev) ||
	    tracepoints_number(t->formats, r->raw, r->len, "next_pid", &next))
		return;
	if (is_own(t, next))
		span_end(t, m, (uint32_t)next, r->time_ns);
	if (is_own(t, prev))
		span_begin(t, m, (uint32_t)prev, r->time_ns);
}

static void keep_line(struct trace *t, const struct live_trace *r)
{
	if (t->lines.len > LINES_LIMIT)
		return;
	buf_printf(&t->lines, "%llu.%09llu %u [%u] ", (unsigned long long)(r->time_ns / 1000000000),
		   (unsigned long long)(r->time_ns % 1000000000), r->tid, r->cpu);
	tracepoints_print(t->formats, r->raw, r->len, &t->lines);
	buf_putc(&t->lines, '\n');
}

void trace_record(struct trace *t, const struct live_trace *r)
{
	static void (*const take[])(struct trace *t, size_t i, const struct live_trace *r, uint32_t id) = {
		[EVENT_COUNT] = NULL,
		[EVENT_FIELD] = on_field,
		[EVENT_BETWEEN] = on_between,
		[EVENT_OFF_CPU] = on_switch,
	};
	uint32_t id = tracepoints_record_id(r->raw, r->len);
	bool own = is_own(t, r->tid);
	size_t i;

	/* One recorded on every CPU comes from other tasks too: then only a switch to ours concerns us. */
	for (i = 0; i < t->n_points; i++)
		if (t->points[i].id == id)
			t->points[i].met += own || !t->points_asked[i].everywhere;
	for (i = 0; i < t->list.n; i++) {
		enum event_kind kind = t->list.items[i].kind;
		size_t point = t->items[i].point[0];

		if (take[kind] && (kind == EVENT_OFF_CPU || own || !t->points_asked[point].everywhere))
			take[kind](t, i, r, id);
	}
	if (own)
		keep_line(t, r);
}

static int keep_formats(struct trace *t, struct store *s, int64_t run, struct err *err)
{
	int rc = 0;
	size_t i;

	for (i = 0; !rc && i < t->n_points; i++) {
		char kind[160];

		if (!t->points[i].format || t->points[i].stored)
			continue;
		snprintf(kind, sizeof(kind), "format:%.60s:%.60s", t->points_asked[i].system,
			 t->points_asked[i].name);
		rc = store_text_add(s, run, kind, t->points[i].format, err);
		t->points[i].stored = !rc;
	}
	return rc;
}

static int keep_counts(struct trace *t, struct store *s, int64_t run, struct err *err)
{
	char name[2 * EVENT_NAME];
	int rc = 0;
	size_t i;

	for (i = 0; !rc && i < t->n_points; i++) {
		snprintf(name, sizeof(name), "%s:%s", t->points_asked[i].system, t->points_asked[i].name);
		rc = store_counter_add(s, run, name, "events", (double)t->points[i].met, 1, err);
	}
	for (i = 0; !rc && i < t->list.n; i++)
		if (t->list.items[i].kind >= EVENT_BETWEEN)
			rc = store_counter_add(s, run, t->list.items[i].text, "ns", t->items[i].total, 1,
					       err);
	return rc;
}

int trace_keep(struct trace *t, struct store *s, int64_t run, struct err *err)
{
	int rc = keep_formats(t, s, run, err);
	size_t i;

	if (!rc)
		rc = keep_counts(t, s, run, err);
	for (i = 0; !rc && i < t->list.n; i++) {
		const struct event_item *it = &t->list.items[i];

		if (it->kind != EVENT_COUNT && t->items[i].hist.total)
			rc = store_hist_add(s, run, it->text, it->kind == EVENT_FIELD ? "" : "ns",
					    &t->items[i].hist, err);
	}
	if (!rc && t->lines.len)
		rc = store_text_add(s, run, "trace", buf_str(&t->lines), err);
	return rc;
}
