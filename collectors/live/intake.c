// SPDX-License-Identifier: GPL-2.0-or-later
/* intake: see intake.h. */
#include "collectors/live/intake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define PATH_LIMIT 4096
#define COMM_LIMIT 64
#define FORMAT_LIMIT (256U << 10)

void intake_release(struct intake *in)
{
	ZSTD_freeDCtx(in->zstd);
	in->zstd = NULL;
	buf_release(&in->kallsyms);
}

static int damaged(const char *what, struct err *err)
{
	return err_add(err, -EPROTO, "The agent sent %s that contradicts itself; the stream is damaged.",
		       what);
}

/* Bytes as a C string in `out`; false when they are too long or hold a NUL. */
static bool text_of(const ProtobufCBinaryData *b, char *out, size_t size)
{
	if (b->len >= size || memchr(b->len ? b->data : (const uint8_t *)"x", '\0', b->len))
		return false;
	if (b->len)
		memcpy(out, b->data, b->len);
	out[b->len] = '\0';
	return true;
}

static int on_log(struct intake *in, const Kab__Event *ev, struct err *err)
{
	struct buf line = BUF_INIT;
	int rc = 0;

	(void)err;
	text_escape(&line, ev->log->line, strlen(ev->log->line), false);
	if (in->sink.log)
		rc = in->sink.log(in->sink.ctx, buf_str(&line));
	buf_release(&line);
	return rc;
}

static int on_tick(struct intake *in, const Kab__Event *ev, struct err *err)
{
	(void)err;
	if (!in->sink.tick)
		return 0;
	return in->sink.tick(in->sink.ctx, ev->tick->elapsed_ns, ev->tick->samples, ev->tick->lost);
}

/* A closed stdout is the reader's wish, as with any program in a pipe. */
static int on_output(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const ProtobufCBinaryData *b = &ev->output->bytes;
	int fd = ev->output->fd == 2 ? STDERR_FILENO : STDOUT_FILENO;

	(void)err;
	for (size_t at = 0; in->print && at < b->len;) {
		ssize_t n = write(fd, b->data + at, b->len - at);

		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int inflate(struct intake *in, const ProtobufCBinaryData *b, struct err *err)
{
	ZSTD_inBuffer from = { b->data, b->len, 0 };
	size_t rc, step = ZSTD_DStreamOutSize();

	while (from.pos < from.size) {
		ZSTD_outBuffer to = { NULL, step, 0 };

		buf_reserve(&in->kallsyms, step);
		to.dst = in->kallsyms.data + in->kallsyms.len;
		rc = ZSTD_decompressStream(in->zstd, &to, &from);
		if (ZSTD_isError(rc))
			return damaged("a kernel symbol table", err);
		in->kallsyms.len += to.pos;
		in->kallsyms.data[in->kallsyms.len] = '\0';
		if (in->kallsyms.len > WIRE_BLOB_MAX)
			return damaged("a kernel symbol table (of over 64 MiB)", err);
	}
	return 0;
}

static int on_kallsyms(struct intake *in, const Kab__Event *ev, struct err *err)
{
	int rc;

	if (!in->zstd)
		in->zstd = ZSTD_createDCtx();
	rc = inflate(in, &ev->kallsyms->zstd, err);
	if (!rc && !ev->kallsyms->last)
		return 0;
	if (!rc && in->sink.kallsyms)
		rc = in->sink.kallsyms(in->sink.ctx, buf_str(&in->kallsyms), in->kallsyms.len);
	intake_release(in);
	return rc;
}

static int on_vdso(struct intake *in, const Kab__Event *ev, struct err *err)
{
	(void)err;
	return in->sink.vdso ? in->sink.vdso(in->sink.ctx, ev->vdso->elf.data, ev->vdso->elf.len) : 0;
}

static int on_thread(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const Kab__Thread *t = ev->thread;
	char comm[COMM_LIMIT];

	if (!text_of(&t->comm, comm, sizeof(comm)))
		return damaged("a thread's name", err);
	return in->sink.thread ? in->sink.thread(in->sink.ctx, t->pid, t->tid, comm) : 0;
}

static int on_exec(struct intake *in, const Kab__Event *ev, struct err *err)
{
	(void)err;
	return in->sink.exec ? in->sink.exec(in->sink.ctx, ev->exec->pid) : 0;
}

static int on_fork(struct intake *in, const Kab__Event *ev, struct err *err)
{
	(void)err;
	return in->sink.fork ? in->sink.fork(in->sink.ctx, ev->fork->parent, ev->fork->child) : 0;
}

static int on_map(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const Kab__Map *m = ev->map;
	struct live_map map = { .pid = m->pid, .start = m->start, .len = m->len, .pgoff = m->pgoff };
	char path[PATH_LIMIT];

	if (!text_of(&m->path, path, sizeof(path)) || m->build_id.len > 20 || m->start + m->len < m->start)
		return damaged("a mapping", err);
	map.path = path;
	for (size_t i = 0; i < m->build_id.len; i++)
		snprintf(map.build_id + 2 * i, 3, "%02x", m->build_id.data[i]);
	return in->sink.map ? in->sink.map(in->sink.ctx, &map) : 0;
}

static int on_stack(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const Kab__Stack *s = ev->stack;
	uint64_t *ips, ip = 0;
	int rc = 0;

	if (s->number != in->n_stacks || s->number == LIVE_NO_STACK || !s->n_ips || s->n_kernel > s->n_ips)
		return damaged("a stack", err);
	in->n_stacks++;
	if (!in->sink.stack)
		return 0;
	ips = mem_calloc(s->n_ips, sizeof(*ips));
	for (size_t i = 0; i < s->n_ips; i++)
		ips[i] = ip += (uint64_t)s->ips[i];
	rc = in->sink.stack(in->sink.ctx, s->number, s->pid, ips, s->n_ips, s->n_kernel, s->damaged,
			    s->truncated);
	free(ips);
	return rc;
}

static int on_samples(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const Kab__Samples *s = ev->samples;
	size_t i, n = s->n_time_ns;
	struct live_sample *v;
	uint64_t time = 0;
	int rc;

	if (!n || s->n_pid != n || s->n_tid != n || s->n_cpu != n || s->n_stack != n ||
	    (s->n_period != n && s->n_period != 1) || s->event)
		return damaged("a batch of samples", err);
	v = mem_calloc(n, sizeof(*v));
	for (i = 0; i < n; i++) {
		time += (uint64_t)s->time_ns[i];
		v[i] = (struct live_sample){
			.time_ns = time, .period = s->period[s->n_period == 1 ? 0 : i], .pid = s->pid[i],
			.tid = s->tid[i], .cpu = s->cpu[i], .stack = s->stack[i], .event = s->event,
		};
		if (v[i].stack >= in->n_stacks && v[i].stack != LIVE_NO_STACK)
			break;
	}
	if (i < n)
		rc = damaged("a sample", err);
	else
		rc = in->sink.samples ? in->sink.samples(in->sink.ctx, v, n) : 0;
	free(v);
	return rc;
}

static int on_format(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const Kab__Format *f = ev->format;
	struct buf text = BUF_INIT;
	int rc;

	if (!f->text.len || f->text.len > FORMAT_LIMIT || memchr(f->text.data, '\0', f->text.len))
		return damaged("the format of a tracepoint", err);
	if (!in->sink.format)
		return 0;
	buf_add(&text, f->text.data, f->text.len);	/* for the NUL behind it */
	rc = in->sink.format(in->sink.ctx, f->id, f->system, f->name, buf_str(&text), text.len);
	buf_release(&text);
	return rc;
}

/* The columns as rows; false when a record lies outside `raw`, or bytes are left over. */
static bool trace_rows(const Kab__Trace *t, struct live_trace *v)
{
	uint64_t time = 0;
	size_t at = 0;

	for (size_t i = 0; i < t->n_time_ns; i++) {
		if (t->size[i] < sizeof(uint16_t) || t->size[i] > t->raw.len - at)
			return false;
		time += (uint64_t)t->time_ns[i];
		v[i] = (struct live_trace){ .time_ns = time,
					    .pid = t->pid[i],
					    .tid = t->tid[i],
					    .cpu = t->cpu[i],
					    .raw = t->raw.data + at,
					    .len = t->size[i] };
		at += t->size[i];
	}
	return at == t->raw.len;
}

static int on_trace(struct intake *in, const Kab__Event *ev, struct err *err)
{
	const Kab__Trace *t = ev->trace;
	size_t n = t->n_time_ns;
	struct live_trace *v;
	int rc;

	if (!n || t->n_pid != n || t->n_tid != n || t->n_cpu != n || t->n_size != n)
		return damaged("a batch of tracepoint records", err);
	v = mem_calloc(n, sizeof(*v));
	if (!trace_rows(t, v))
		rc = damaged("a tracepoint record", err);
	else
		rc = in->sink.trace ? in->sink.trace(in->sink.ctx, v, n) : 0;
	free(v);
	return rc;
}

int intake_event(struct intake *in, const Kab__Event *ev, struct err *err)
{
	static const struct {
		Kab__Event__BodyCase body;
		int (*take)(struct intake *in, const Kab__Event *ev, struct err *err);
	} events[] = {
		{ KAB__EVENT__BODY_LOG, on_log },
		{ KAB__EVENT__BODY_TICK, on_tick },
		{ KAB__EVENT__BODY_OUTPUT, on_output },
		{ KAB__EVENT__BODY_KALLSYMS, on_kallsyms },
		{ KAB__EVENT__BODY_VDSO, on_vdso },
		{ KAB__EVENT__BODY_THREAD, on_thread },
		{ KAB__EVENT__BODY_EXEC, on_exec },
		{ KAB__EVENT__BODY_FORK, on_fork },
		{ KAB__EVENT__BODY_MAP, on_map },
		{ KAB__EVENT__BODY_STACK, on_stack },
		{ KAB__EVENT__BODY_SAMPLES, on_samples },
		{ KAB__EVENT__BODY_FORMAT, on_format },
		{ KAB__EVENT__BODY_TRACE, on_trace },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i].body == ev->body_case)
			return events[i].take(in, ev, err);
	}
	return damaged("an event out of place", err);
}
