/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-fixture: what the tests of the session file share: a folder of their own,
 * and a small recording whose figures are known. Included by test programs only.
 */
#ifndef KAB_TESTS_STORE_FIXTURE_H
#define KAB_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/store.h"

struct fixture {
	char *dir, *path;
	struct err err;
};

static inline int fixture_setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));

	f->dir = fs_tmpdir("store-test", &f->err);
	if (!f->dir)
		return -1;
	f->path = mem_printf("%s/session.kab", f->dir);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	fs_remove(f->dir, NULL);
	free(f->dir);
	free(f->path);
	free(f);
	return 0;
}

/* Prints the sentence when a call that should do fails. */
#define ok(f, call) \
	do { \
		int rc_ = (call); \
		if (rc_) \
			print_error("%s: %d: %s\n", #call, rc_, (f)->err.text); \
		assert_int_equal(rc_, 0); \
		assert_int_equal((f)->err.len, 0); \
	} while (0)

/* The call fails with this code and says this. */
#define fails(f, code, words, call) \
	do { \
		int rc_ = (call); \
		if (rc_ != (code) || !strstr((f)->err.text, words)) \
			print_error("%s: %d: %s\n", #call, rc_, (f)->err.text); \
		assert_int_equal(rc_, code); \
		assert_non_null(strstr((f)->err.text, words)); \
		assert_int_equal((f)->err.text[(f)->err.len - 1], '.'); \
		err_clear(&(f)->err); \
	} while (0)

static inline struct store *open_store(struct fixture *f, enum store_mode mode)
{
	struct store *s = NULL;

	ok(f, store_open(f->path, mode, &s, &f->err));
	return s;
}

/* A stack of kernel functions given by name, root first; NULL ends. */
static inline int64_t stack_of(struct fixture *f, struct store *s, ...)
{
	int64_t stack = 0, symbol;
	const char *name;
	va_list ap;

	va_start(ap, s);
	while ((name = va_arg(ap, const char *))) {
		ok(f, store_symbol(s, name, "[kernel.kallsyms]", NULL, FRAME_KERNEL, &symbol, &f->err));
		ok(f, store_stack_child(s, stack, symbol, &stack, &f->err));
	}
	va_end(ap);
	return stack;
}

/*
 * A finished recording of n samples, a millisecond apart: of three in a row one
 * is in entry;read;copy, one in entry;read, one has no callchain.
 */
static inline int64_t record(struct fixture *f, struct store *s, size_t n)
{
	struct run run = {
		.kind = RUN_RECORD, .sampled = true, .ops = 1, .event = (char *)"cpu-clock", .freq_hz = 1000
	};
	int64_t thread, stacks[3] = { 0 };

	ok(f, store_run_begin(s, &run, &f->err));
	ok(f, store_event(s, run.id, 0, "cpu-clock", "ns", &f->err));
	ok(f, store_thread(s, run.id, 7, 8, "reader", &thread, &f->err));
	stacks[0] = stack_of(f, s, "entry", "read", "copy", NULL);
	stacks[1] = stack_of(f, s, "entry", "read", NULL);
	for (size_t i = 0; i < n; i++) {
		struct store_sample v = {
			.time_ns = i * 1000000, .period = 1000000, .addr = i % 64, .cpu = i & 1,
			.thread = thread, .stack = stacks[i % 3],
		};

		ok(f, store_samples(s, run.id, &v, 1, &f->err));
	}
	run.state = RUN_COMPLETE;
	run.samples = n;
	ok(f, store_run_finish(s, &run, &f->err));
	return run.id;
}

/* The child of this name, NODE_NONE when there is none. */
static inline uint32_t child_named(const struct profile *p, uint32_t parent, const char *name)
{
	uint32_t c = p->nodes[parent].first_child;

	while (c != NODE_NONE && strcmp(profile_symbol(p, c)->name, name))
		c = p->nodes[c].next_sibling;
	return c;
}

struct raw_count { uint64_t n, last, out_of_order; };

static inline int count_raw(void *ctx, const struct store_sample *v, size_t n)
{
	struct raw_count *c = ctx;

	for (size_t i = 0; i < n; i++) {
		c->out_of_order += v[i].time_ns < c->last;
		c->last = v[i].time_ns;
	}
	c->n += n;
	return 0;
}

#endif
