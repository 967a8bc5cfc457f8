// SPDX-License-Identifier: GPL-2.0-or-later
/* record: see record.h. */
#include "collectors/live/agent/record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* The trailer of everything that is not a sample (attr.sample_id_all). */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
};

struct sample_head {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t period;
	uint64_t nr;		/* of the chain that follows */
};

struct map_head {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint8_t id[24];		/* maj, min, ino, generation; or build_id_size, 3 reserved, build_id[20] */
	uint32_t prot, flags;
};

struct comm_head { struct perf_event_header header; uint32_t pid, tid; };
struct task_head { struct perf_event_header header; uint32_t pid, ppid, tid, ptid; uint64_t time; };
struct lost_head { struct perf_event_header header; uint64_t id, lost; };
struct lost_samples_head { struct perf_event_header header; uint64_t lost; };

/* No code is mapped below this: vm.mmap_min_addr is 64 KiB as a rule, one page at least. */
#define LOWEST_CODE 4096U
#define IS_MARK(ip) ((ip) >= (uint64_t)PERF_CONTEXT_MAX)

uint64_t record_time(const void *data, size_t size)
{
	const struct perf_event_header *h = data;

	if (size < sizeof(*h) || size % 8)
		return 0;
	if (h->type == PERF_RECORD_SAMPLE)
		return size >= sizeof(struct sample_head) ? ((const struct sample_head *)data)->time : 0;
	if (size < sizeof(*h) + sizeof(struct trailer))
		return 0;
	return ((const struct trailer *)((const char *)data + size - sizeof(struct trailer)))->time;
}

/* What follows the chain: the length and the bytes of a tracepoint's record, whose first field is its id. */
static int decode_raw(const char *p, size_t size, struct record *r)
{
	uint32_t len;

	if (size < sizeof(len))
		return -EINVAL;
	memcpy(&len, p, sizeof(len));
	if (len < sizeof(uint16_t) || len > size - sizeof(len))
		return -EINVAL;
	r->kind = RECORD_TRACE;
	r->raw = (const uint8_t *)p + sizeof(len);
	r->raw_len = len;
	return 0;
}

static int decode_sample(const void *data, size_t size, struct record *r)
{
	const struct sample_head *s = data;
	size_t rest;

	if (size < sizeof(*s) || s->nr > (size - sizeof(*s)) / sizeof(uint64_t))
		return -EINVAL;
	r->kind = RECORD_SAMPLE;
	r->time_ns = s->time;
	r->pid = s->pid;
	r->tid = s->tid;
	r->cpu = s->cpu;
	r->ip = s->ip;
	r->period = s->period;
	r->ips = (const uint64_t *)(s + 1);
	r->n_ips = s->nr;
	r->kernel_mode = (s->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	rest = size - sizeof(*s) - s->nr * sizeof(uint64_t);
	return rest ? decode_raw((const char *)(r->ips + s->nr), rest, r) : 0;
}

/* Text from `p` to the trailer; it must end there. */
static int text_at(const char *p, const char *end, struct record *r)
{
	if (p >= end || !memchr(p, '\0', (size_t)(end - p)))
		return -EINVAL;
	r->text = p;
	return 0;
}

static int decode_map(const struct map_head *m, const char *end, struct record *r)
{
	if ((const char *)(m + 1) > end)
		return -EINVAL;
	r->kind = RECORD_MAP;
	r->pid = m->pid;
	r->tid = m->tid;
	r->start = m->start;
	r->len = m->len;
	r->pgoff = m->pgoff;
	if (m->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID && m->id[0] && m->id[0] <= 20) {
		r->build_id = m->id + 4;
		r->build_id_len = m->id[0];
	}
	return text_at((const char *)(m + 1), end, r);
}

static int decode_comm(const struct comm_head *c, const char *end, struct record *r)
{
	if ((const char *)(c + 1) > end)
		return -EINVAL;
	r->kind = c->header.misc & PERF_RECORD_MISC_COMM_EXEC ? RECORD_EXEC : RECORD_COMM;
	r->pid = c->pid;
	r->tid = c->tid;
	return text_at((const char *)(c + 1), end, r);
}

static int decode_fork(const struct task_head *t, const char *end, struct record *r)
{
	if ((const char *)(t + 1) > end)
		return -EINVAL;
	r->kind = RECORD_FORK;
	r->pid = t->pid;
	r->tid = t->tid;
	r->ppid = t->ppid;
	r->ptid = t->ptid;
	return 0;
}

int record_decode(const void *data, size_t size, struct record *r)
{
	const struct perf_event_header *h = data;
	const struct trailer *t;
	const char *end;

	memset(r, 0, sizeof(*r));
	if (size < sizeof(*h) || h->size != size || size % 8)
		return -EINVAL;
	if (h->type == PERF_RECORD_SAMPLE)
		return decode_sample(data, size, r);
	if (size < sizeof(*h) + sizeof(*t))
		return -EINVAL;
	end = (const char *)data + size - sizeof(*t);
	t = (const struct trailer *)end;
	r->pid = t->pid;
	r->tid = t->tid;
	r->time_ns = t->time;
	r->cpu = t->cpu;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return decode_map(data, end, r);
	case PERF_RECORD_COMM:
		return decode_comm(data, end, r);
	case PERF_RECORD_FORK:
		return decode_fork(data, end, r);
	case PERF_RECORD_LOST:
		if ((const char *)data + sizeof(struct lost_head) > end)
			return -EINVAL;
		r->kind = RECORD_LOST;
		r->lost = ((const struct lost_head *)data)->lost;
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		if ((const char *)data + sizeof(struct lost_samples_head) > end)
			return -EINVAL;
		r->kind = RECORD_LOST_SAMPLES;
		r->lost = ((const struct lost_samples_head *)data)->lost;
		return 0;
	}
	return 0;
}

static bool credible(uint64_t ip, bool kernel)
{
	return kernel ? ip >> 63 : ip >= LOWEST_CODE && !(ip >> 63);
}

void record_chain(const struct record *s, size_t max_stack, uint64_t *room, struct chain *c)
{
	bool kernel = s->kernel_mode;
	size_t i, taken = 0;

	memset(c, 0, sizeof(*c));
	c->ips = room;
	for (i = 0; i < s->n_ips; i++) {
		uint64_t ip = s->ips[i];

		if (ip == (uint64_t)PERF_CONTEXT_KERNEL && !c->n) {
			kernel = true;
			continue;
		}
		/* User follows kernel once; a second mark is a value off somebody's stack. */
		if (ip == (uint64_t)PERF_CONTEXT_USER && (kernel || !c->n)) {
			kernel = false;
			continue;
		}
		taken++;
		if (!kernel && !ip && i + 1 == s->n_ips)
			break;			/* the outermost frame of a thread returns to 0 */
		if (IS_MARK(ip) || !credible(ip, kernel)) {
			c->damaged = true;
			break;
		}
		room[c->n++] = ip;
		c->n_kernel += kernel;
	}
	c->truncated = !c->damaged && max_stack && taken >= max_stack;
	if (!c->n && credible(s->ip, s->kernel_mode)) {
		room[c->n++] = s->ip;
		c->n_kernel = s->kernel_mode;
	}
}
