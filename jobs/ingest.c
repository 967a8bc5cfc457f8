// SPDX-License-Identifier: GPL-2.0-or-later
/* ingest: see ingest.h. Called from within live_run(), in stream order. */
#include "jobs/ingest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The agent numbers stacks densely; more than this many in one session is not credible. */
#define MAX_STACKS (16U << 20)
#define BATCH 1024

struct ingest_thread {
	uint32_t pid, tid;
	char comm[64];
	int64_t row;		/* in the store, of `run`; 0: not written yet */
	int64_t run;
};

struct ingest_stack {
	int64_t row;		/* 0: none */
	uint64_t leaf;		/* offset of the leaf address into its symbol */
};

void ingest_init(struct ingest *in, struct store *s, const char *(*find)(void *ctx, const char *path, const char *id),
		 void *find_ctx, struct err *err)
{
	memset(in, 0, sizeof(*in));
	in->store = s;
	in->symbols = symboliser_new(find, find_ctx);
	in->err = err;
}

void ingest_release(struct ingest *in)
{
	symboliser_free(in->symbols);
	trace_free(in->trace);
	map_release(&in->comms);
	free(in->threads);
	free(in->stacks);
	buf_release(&in->log);
}

const char *ingest_event_unit(const char *event)
{
	return !strcmp(event, "cpu-clock") || !strcmp(event, "task-clock") ? "ns" : "events";
}

void ingest_run(struct ingest *in, int64_t run)
{
	in->run = run;
	buf_clear(&in->log);
	if (in->trace)
		trace_begin(in->trace);
}

static int on_kallsyms(void *ctx, const char *text, size_t len)
{
	struct ingest *in = ctx;

	/* Without them user frames still resolve and kernel frames read [unknown]. */
	err_clear(&in->no_kernel);
	symboliser_kallsyms(in->symbols, text, len, &in->no_kernel);
	return 0;
}

static struct ingest_thread *thread_of(struct ingest *in, uint32_t pid, uint32_t tid)
{
	uint32_t key[2] = { pid, tid }, i;
	bool added;

	i = map_intern(&in->comms, key, sizeof(key), &added);
	if (added) {
		if (in->n_threads == in->cap_threads) {
			in->cap_threads = in->cap_threads ? in->cap_threads * 2 : 16;
			in->threads = mem_realloc(in->threads, in->cap_threads, sizeof(*in->threads));
		}
		in->threads[in->n_threads++] = (struct ingest_thread){ .pid = pid, .tid = tid };
	}
	return &in->threads[i];
}

static int on_thread(void *ctx, uint32_t pid, uint32_t tid, const char *comm)
{
	struct ingest *in = ctx;
	struct ingest_thread *t = thread_of(in, pid, tid);

	if (in->trace)
		trace_thread(in->trace, tid);
	if (strncmp(t->comm, comm, sizeof(t->comm) - 1)) {
		size_t n = strnlen(comm, sizeof(t->comm) - 1);

		memcpy(t->comm, comm, n);
		t->comm[n] = '\0';
		t->row = 0;
	}
	return 0;
}

static int on_exec(void *ctx, uint32_t pid)
{
	symboliser_exec(((struct ingest *)ctx)->symbols, pid);
	return 0;
}

static int on_fork(void *ctx, uint32_t parent, uint32_t child)
{
	symboliser_fork(((struct ingest *)ctx)->symbols, parent, child);
	return 0;
}

static int on_map(void *ctx, const struct live_map *m)
{
	symboliser_map(((struct ingest *)ctx)->symbols, m->pid, m->start, m->len, m->pgoff, m->path, m->build_id);
	return 0;
}

/* One frame further from the root; *stack moves on. */
static int push(struct ingest *in, const struct resolved *r, int64_t *stack)
{
	int64_t symbol, child;
	int rc = store_symbol(in->store, r->name, r->dso, r->build_id, r->kind, &symbol, in->err);

	if (!rc)
		rc = store_stack_child(in->store, *stack, symbol, &child, in->err);
	if (!rc)
		*stack = child;
	return rc;
}

static int on_stack(void *ctx, uint32_t number, uint32_t pid, const uint64_t *ips, size_t n, size_t n_kernel,
		    bool damaged, bool truncated)
{
	static const struct resolved cut = { "[truncated]", "", "", FRAME_MARK, 0 };
	struct ingest *in = ctx;
	struct resolved r = { 0 };
	int64_t stack = 0;
	int rc = 0;
	size_t i;

	(void)damaged;		/* counted by the agent; the credible part is kept */
	if (number >= MAX_STACKS || number != in->n_stacks)
		return err_add(in->err, -EPROTO, "The agent numbered a stack %u where %zu was next; its stream is damaged.",
			       number, in->n_stacks);
	if (truncated)
		rc = push(in, &cut, &stack);
	for (i = n; !rc && i-- > 0;) {
		/* All but the interrupted addresses (the first of each part) are return addresses: one byte
		 * back lies within the call, which matters where a call ends its function. */
		uint64_t addr = ips[i] - (i && i != n_kernel);

		if (i < n_kernel)
			symboliser_kernel(in->symbols, addr, &r);
		else
			symboliser_user(in->symbols, pid, addr, &r);
		in->frames++;
		in->unresolved += !strcmp(r.name, "[unknown]");
		rc = push(in, &r, &stack);
	}
	if (rc)
		return rc;
	if (in->n_stacks == in->cap_stacks) {
		in->cap_stacks = in->cap_stacks ? in->cap_stacks * 2 : 256;
		in->stacks = mem_realloc(in->stacks, in->cap_stacks, sizeof(*in->stacks));
	}
	in->stacks[in->n_stacks++] = (struct ingest_stack){ stack, n ? r.offset : 0 };
	return 0;
}

static int thread_row(struct ingest *in, uint32_t pid, uint32_t tid, int64_t *row)
{
	struct ingest_thread *t = thread_of(in, pid, tid);
	int rc = 0;

	if (!t->row || t->run != in->run) {
		rc = store_thread(in->store, in->run, pid, tid, t->comm, &t->row, in->err);
		t->run = in->run;
	}
	*row = t->row;
	return rc;
}

static int on_samples(void *ctx, const struct live_sample *v, size_t n)
{
	struct ingest *in = ctx;
	struct store_sample batch[BATCH];
	size_t used = 0, i;
	int rc = 0;

	if (!in->run)
		return 0;
	for (i = 0; !rc && i < n; i++) {
		struct store_sample *s = &batch[used];

		if (v[i].stack != LIVE_NO_STACK && v[i].stack >= in->n_stacks)
			return err_add(in->err, -EPROTO, "The agent sent a sample of stack %u, which it never sent; "
				       "its stream is damaged.", v[i].stack);
		*s = (struct store_sample){ .time_ns = v[i].time_ns, .period = v[i].period, .cpu = v[i].cpu,
					    .event = v[i].event };
		if (v[i].stack != LIVE_NO_STACK) {
			s->stack = in->stacks[v[i].stack].row;
			s->addr = in->stacks[v[i].stack].leaf;
		}
		rc = thread_row(in, v[i].pid, v[i].tid, &s->thread);
		if (!rc && ++used == BATCH) {
			rc = store_samples(in->store, in->run, batch, used, in->err);
			used = 0;
		}
	}
	if (!rc && used)
		rc = store_samples(in->store, in->run, batch, used, in->err);
	return rc ? rc : store_tick(in->store, in->err);
}

static int on_format(void *ctx, uint32_t id, const char *system, const char *name, const char *text,
		     size_t len)
{
	struct ingest *in = ctx;

	(void)id;		/* stands in the text, too */
	return in->trace ? trace_format(in->trace, system, name, text, len, in->err) : 0;
}

static int on_trace(void *ctx, const struct live_trace *v, size_t n)
{
	struct ingest *in = ctx;

	for (size_t i = 0; in->trace && i < n; i++)
		trace_record(in->trace, &v[i]);
	return store_tick(in->store, in->err);
}

static int on_log(void *ctx, const char *line)
{
	struct ingest *in = ctx;

	if (in->log.len < 64 << 10) {
		buf_puts(&in->log, line);
		buf_putc(&in->log, '\n');
	}
	if (in->heard)
		in->heard(in->ctx, line);
	return 0;
}

static int on_tick(void *ctx, uint64_t elapsed_ns, uint64_t samples, uint64_t lost)
{
	struct ingest *in = ctx;
	int rc = store_tick(in->store, in->err);

	return !rc && in->tick ? in->tick(in->ctx, elapsed_ns, samples, lost) : rc;
}

static bool on_stop(void *ctx)
{
	struct ingest *in = ctx;

	return in->stop && in->stop(in->ctx);
}

struct live_sink ingest_sink(struct ingest *in)
{
	return (struct live_sink){
		.ctx = in, .kallsyms = on_kallsyms, .thread = on_thread, .exec = on_exec, .fork = on_fork,
		.map = on_map, .stack = on_stack, .samples = on_samples, .format = on_format,
		.trace = on_trace, .log = on_log, .tick = on_tick, .stop = on_stop,
	};
}
