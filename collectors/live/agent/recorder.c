// SPDX-License-Identifier: GPL-2.0-or-later
/* recorder: see recorder.h. */
#include "collectors/live/agent/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collectors/live/agent/record.h"
#include "collectors/live/wire.h"

#define STACKS_LIMIT (64U << 20)	/* bytes of interned stacks; then interning starts afresh */
#define NO_STACK UINT32_MAX

struct batch {
	size_t n;
	uint64_t last_time;
	bool one_period;
	int64_t time[RECORDER_BATCH];
	uint64_t period[RECORDER_BATCH];
	uint32_t pid[RECORDER_BATCH], tid[RECORDER_BATCH], cpu[RECORDER_BATCH], stack[RECORDER_BATCH];
};

struct trace_batch {
	size_t n;
	uint64_t last_time;
	int64_t time[RECORDER_BATCH];
	uint32_t pid[RECORDER_BATCH], tid[RECORDER_BATCH], cpu[RECORDER_BATCH], size[RECORDER_BATCH];
	struct buf raw;
};

/* What makes two equal runs of addresses one stack. Followed by the addresses, without padding. */
struct stack_key {
	uint32_t pid, execs;
	uint32_t n_kernel;
	uint32_t flags;		/* damaged, truncated */
};

void recorder_init(struct recorder *r, struct buf *out, uint32_t first_stack, size_t max_stack)
{
	*r = (struct recorder){ .out = out, .first_stack = first_stack, .max_stack = max_stack, .clocks = 1 };
	r->batch = mem_alloc(sizeof(*r->batch));
	r->batch->one_period = true;
}

uint32_t recorder_release(struct recorder *r)
{
	uint32_t next = r->first_stack + r->stacks.n;

	buf_release(&r->held);
	vec_release(&r->order);
	map_release(&r->stacks);
	map_release(&r->pids);
	map_release(&r->tids);
	vec_release(&r->execs);
	vec_release(&r->comms);
	free(r->batch);
	if (r->trace)
		buf_release(&r->trace->raw);
	free(r->trace);
	memset(r, 0, sizeof(*r));
	return next;
}

static void flush_samples(struct recorder *r)
{
	Kab__Samples m = KAB__SAMPLES__INIT;
	struct batch *b = r->batch;

	if (!b->n)
		return;
	m.n_time_ns = m.n_pid = m.n_tid = m.n_cpu = m.n_stack = b->n;
	m.time_ns = b->time;
	m.n_period = b->one_period ? 1 : b->n;
	m.period = b->period;
	m.pid = b->pid;
	m.tid = b->tid;
	m.cpu = b->cpu;
	m.stack = b->stack;
	wire_event(r->out, KAB__EVENT__BODY_SAMPLES, &m);
	r->samples += b->n;
	b->n = 0;
	b->last_time = 0;
	b->one_period = true;
}

static void flush_trace(struct recorder *r)
{
	Kab__Trace m = KAB__TRACE__INIT;
	struct trace_batch *b = r->trace;

	if (!b || !b->n)
		return;
	m.n_time_ns = m.n_pid = m.n_tid = m.n_cpu = m.n_size = b->n;
	m.time_ns = b->time;
	m.pid = b->pid;
	m.tid = b->tid;
	m.cpu = b->cpu;
	m.size = b->size;
	m.raw.data = (uint8_t *)b->raw.data;
	m.raw.len = b->raw.len;
	wire_event(r->out, KAB__EVENT__BODY_TRACE, &m);
	buf_clear(&b->raw);
	b->n = 0;
	b->last_time = 0;
}

static void flush_batch(struct recorder *r)
{
	flush_samples(r);
	flush_trace(r);
}

static uint32_t *execs_of(struct recorder *r, uint32_t pid)
{
	uint32_t i = map_intern(&r->pids, &pid, sizeof(pid), NULL);

	while (r->execs.n <= i)
		vec_push(&r->execs, 0);
	return &r->execs.v[i];
}

/* Says who a thread is, unless that is known. */
static void thread(struct recorder *r, uint32_t pid, uint32_t tid, const char *text)
{
	Kab__Thread m = KAB__THREAD__INIT;
	bool added;
	uint32_t i = map_intern(&r->tids, &tid, sizeof(tid), &added);
	struct comm *c;

	if (added)
		vec_add(&r->comms);
	c = &r->comms.v[i];
	if (!added && !strncmp(c->text, text, sizeof(c->text) - 1))
		return;
	flush_batch(r);
	strncpy(c->text, text, sizeof(c->text) - 1);
	m.pid = pid;
	m.tid = tid;
	m.comm.data = (uint8_t *)c->text;
	m.comm.len = strlen(c->text);
	wire_event(r->out, KAB__EVENT__BODY_THREAD, &m);
}

static const char *comm_of(const struct recorder *r, uint32_t tid)
{
	uint32_t i = map_find(&r->tids, &tid, sizeof(tid));

	return i == MAP_NONE ? "" : r->comms.v[i].text;
}

static void on_exec(struct recorder *r, const struct record *rec)
{
	Kab__Exec m = KAB__EXEC__INIT;

	flush_batch(r);
	(*execs_of(r, rec->pid))++;
	m.pid = rec->pid;
	wire_event(r->out, KAB__EVENT__BODY_EXEC, &m);
	thread(r, rec->pid, rec->tid, rec->text);
}

static void on_fork(struct recorder *r, const struct record *rec)
{
	char text[sizeof(struct comm)];		/* a copy: thread() may move the comms */
	Kab__Fork m = KAB__FORK__INIT;

	memcpy(text, comm_of(r, rec->ptid), strlen(comm_of(r, rec->ptid)) + 1);
	if (rec->pid != rec->ppid) {
		flush_batch(r);
		(*execs_of(r, rec->pid))++;	/* the number may have been another process' */
		m.parent = rec->ppid;
		m.child = rec->pid;
		wire_event(r->out, KAB__EVENT__BODY_FORK, &m);
	}
	thread(r, rec->pid, rec->tid, text);
}

static void on_map(struct recorder *r, const struct record *rec)
{
	Kab__Map m = KAB__MAP__INIT;

	flush_batch(r);
	m.pid = rec->pid;
	m.start = rec->start;
	m.len = rec->len;
	m.pgoff = rec->pgoff;
	m.path.data = (uint8_t *)rec->text;
	m.path.len = strlen(rec->text);
	m.build_id.data = (uint8_t *)rec->build_id;
	m.build_id.len = rec->build_id_len;
	wire_event(r->out, KAB__EVENT__BODY_MAP, &m);
}

static void send_stack(struct recorder *r, uint32_t number, uint32_t pid, const struct chain *c)
{
	Kab__Stack m = KAB__STACK__INIT;
	int64_t *diff = mem_calloc(c->n, sizeof(*diff));
	uint64_t last = 0;

	for (size_t i = 0; i < c->n; i++) {
		diff[i] = (int64_t)(c->ips[i] - last);
		last = c->ips[i];
	}
	m.number = number;
	m.pid = pid;
	m.n_kernel = (uint32_t)c->n_kernel;
	m.damaged = c->damaged;
	m.truncated = c->truncated;
	m.n_ips = c->n;
	m.ips = diff;
	wire_event(r->out, KAB__EVENT__BODY_STACK, &m);
	free(diff);
}

static uint32_t intern(struct recorder *r, const struct record *rec)
{
	size_t room = sizeof(struct stack_key) + (rec->n_ips + 1) * sizeof(uint64_t), size;
	struct stack_key *key = mem_alloc(room);
	struct chain c;
	uint32_t i;
	bool added;

	record_chain(rec, r->max_stack, (uint64_t *)(key + 1), &c);
	r->damaged += c.damaged;
	if (!c.n) {
		free(key);
		return NO_STACK;
	}
	key->pid = rec->pid;
	key->execs = *execs_of(r, rec->pid);
	key->n_kernel = (uint32_t)c.n_kernel;
	key->flags = c.damaged | c.truncated << 1;
	size = sizeof(*key) + c.n * sizeof(uint64_t);
	if (r->stack_bytes + size > STACKS_LIMIT) {
		r->first_stack += r->stacks.n;
		map_release(&r->stacks);
		r->stack_bytes = 0;
	}
	i = map_intern(&r->stacks, key, size, &added);
	if (added) {
		r->stack_bytes += size;
		send_stack(r, r->first_stack + i, rec->pid, &c);
	}
	free(key);
	return r->first_stack + i;
}

static void on_sample(struct recorder *r, const struct record *rec)
{
	struct batch *b = r->batch;
	uint32_t stack = intern(r, rec);
	size_t i;

	if (map_find(&r->tids, &rec->tid, sizeof(rec->tid)) == MAP_NONE)
		thread(r, rec->pid, rec->tid, comm_of(r, rec->pid));
	i = b->n++;
	b->time[i] = (int64_t)(rec->time_ns - b->last_time);
	b->last_time = rec->time_ns;
	b->period[i] = rec->period / r->clocks;
	b->one_period = b->one_period && b->period[i] == b->period[0];
	b->pid[i] = rec->pid;
	b->tid[i] = rec->tid;
	b->cpu[i] = rec->cpu;
	b->stack[i] = stack;
	if (b->n == RECORDER_BATCH)
		flush_samples(r);
}

static void on_trace(struct recorder *r, const struct record *rec)
{
	struct trace_batch *b = r->trace ? r->trace : (r->trace = mem_alloc(sizeof(*b)));
	size_t i = b->n++;

	b->time[i] = (int64_t)(rec->time_ns - b->last_time);
	b->last_time = rec->time_ns;
	b->pid[i] = rec->pid;
	b->tid[i] = rec->tid;
	b->cpu[i] = rec->cpu;
	b->size[i] = (uint32_t)rec->raw_len;
	buf_add(&b->raw, rec->raw, rec->raw_len);
	if (b->n == RECORDER_BATCH || b->raw.len > RECORDER_RAW)
		flush_trace(r);
}

static void dispatch(struct recorder *r, const void *data, size_t size)
{
	struct record rec;

	if (record_decode(data, size, &rec)) {
		r->dropped++;
		return;
	}
	switch (rec.kind) {
	case RECORD_SAMPLE:
		on_sample(r, &rec);
		break;
	case RECORD_TRACE:
		on_trace(r, &rec);
		break;
	case RECORD_COMM:
		thread(r, rec.pid, rec.tid, rec.text);
		break;
	case RECORD_EXEC:
		on_exec(r, &rec);
		break;
	case RECORD_FORK:
		on_fork(r, &rec);
		break;
	case RECORD_MAP:
		on_map(r, &rec);
		break;
	case RECORD_LOST:
		r->lost += rec.lost;
		break;
	case RECORD_LOST_SAMPLES:
		r->lost_samples += rec.lost;
		break;
	case RECORD_OTHER:
		break;
	}
}

void recorder_start(struct recorder *r, pid_t pid, const char *program)
{
	const char *slash = strrchr(program, '/');

	thread(r, (uint32_t)pid, (uint32_t)pid, slash ? slash + 1 : program);
}

void recorder_take(void *recorder, const void *record, size_t size)
{
	struct recorder *r = recorder;
	size_t padded = (size + 7) & ~(size_t)7;

	vec_push(&r->order, (struct held){ record_time(record, size), r->held.len, size });
	buf_add(&r->held, record, size);
	buf_fill(&r->held, '\0', padded - size);
}

static int by_time(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void recorder_flush(struct recorder *r, uint64_t horizon_ns)
{
	struct buf rest = BUF_INIT;
	size_t i, kept = 0;

	if (r->order.n)
		qsort(r->order.v, r->order.n, sizeof(r->order.v[0]), by_time);
	for (i = 0; i < r->order.n && r->order.v[i].time <= horizon_ns; i++)
		dispatch(r, r->held.data + r->order.v[i].at, r->order.v[i].size);
	for (; i < r->order.n; i++) {
		struct held h = r->order.v[i];

		r->order.v[kept++] = (struct held){ h.time, rest.len, h.size };
		buf_add(&rest, r->held.data + h.at, h.size);
		buf_fill(&rest, '\0', -h.size & 7);
	}
	r->order.n = kept;
	buf_release(&r->held);
	r->held = rest;
	flush_batch(r);
}
