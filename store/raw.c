// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * raw: the samples of a run with their time, and its threads.
 *
 * Chunks hold samples as they arrived: each CPU in order, one CPU after the
 * other, so that neighbouring chunks overlap in time. They are read in order
 * of their first sample, and a sample is handed on once no later chunk can
 * hold an earlier one.
 */
#include "store/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/chunk.h"

#define OVERLAP_MAX (4u << 20)	/* samples held back at once; a damaged file may overlap in all its chunks */

static int by_time(const void *a, const void *b)
{
	const struct store_sample *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

struct window {
	VEC(struct store_sample) held;
	int (*fn)(void *ctx, const struct store_sample *v, size_t n);
	void *ctx;
};

/* Hands on what lies before `until`. */
static int hand_on(struct window *w, uint64_t until)
{
	size_t n = 0;
	int rc;

	while (n < w->held.n && w->held.v[n].time_ns < until)
		n++;
	rc = n ? w->fn(w->ctx, w->held.v, n) : 0;
	w->held.n -= n;
	if (n && w->held.n)
		memmove(w->held.v, w->held.v + n, w->held.n * sizeof(*w->held.v));
	return rc;
}

/* Decodes the chunk of the current row behind what is held. */
static int take_chunk(struct store *s, sqlite3_stmt *st, struct window *w, struct err *err)
{
	uint64_t first = (uint64_t)sqlite3_column_int64(st, 1), last = (uint64_t)sqlite3_column_int64(st, 2);
	int64_t number = sqlite3_column_int64(st, 0), n = sqlite3_column_int64(st, 3);
	const void *data = sqlite3_column_blob(st, 4);
	int len = sqlite3_column_bytes(st, 4);
	struct store_sample *v;
	bool good = data && n > 0 && n <= CHUNK_SAMPLES;

	if (good && w->held.n + (size_t)n > OVERLAP_MAX)
		return store_damaged(s, err, "more than %u raw samples overlap in time", OVERLAP_MAX);
	if (good) {
		vec_reserve(&w->held, (size_t)n);
		v = w->held.v + w->held.n;
		good = !chunk_decode(data, (size_t)len, v, (size_t)n);
		for (int64_t i = 0; i < n && good; i++)
			good = v[i].time_ns >= first && v[i].time_ns <= last;
	}
	if (!good)
		return store_damaged(s, err, "chunk %lld of its raw samples cannot be unpacked",
				     (long long)number);
	w->held.n += (size_t)n;
	qsort(w->held.v, w->held.n, sizeof(*w->held.v), by_time);
	return 0;
}

int store_raw(struct store *s, int64_t run, int (*fn)(void *ctx, const struct store_sample *v, size_t n),
	      void *ctx, struct err *err)
{
	struct window w = { .fn = fn, .ctx = ctx };
	sqlite3_stmt *st = NULL;
	int rc = store_flush(s, err);

	if (!rc)
		rc = store_stmt(s, Q_CHUNKS,
				"SELECT number, first_ns, last_ns, samples, data FROM chunk WHERE run = ?"
				" ORDER BY first_ns, number",
				&st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	while ((rc = store_row(s, st, err)) == 1) {
		rc = hand_on(&w, (uint64_t)sqlite3_column_int64(st, 1));
		if (!rc)
			rc = take_chunk(s, st, &w, err);
		if (rc)
			break;
	}
	if (rc)
		store_done(st);
	else if (w.held.n)
		rc = fn(ctx, w.held.v, w.held.n);
	vec_release(&w.held);
	return rc;
}

void store_thread_row_release(struct store_thread_row *t)
{
	free(t->comm);
	*t = (struct store_thread_row){ 0 };
}

int store_threads(struct store *s, int64_t run, struct store_thread_row **v, size_t *n, struct err *err)
{
	VEC(struct store_thread_row) all = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = store_flush(s, err);

	*v = NULL;
	*n = 0;
	if (!rc)
		rc = store_stmt(
			s, Q_THREADS,
			"SELECT t.pid, t.tid, t.comm, ifnull(c.n, 0) FROM thread t LEFT JOIN"
			" (SELECT thread, sum(count) AS n FROM sample WHERE run = ?1 GROUP BY thread) c"
			" ON c.thread = t.id WHERE t.run = ?1 ORDER BY 4 DESC, t.id",
			&st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	while ((rc = store_row(s, st, err)) == 1) {
		struct store_thread_row *t = vec_add(&all);

		t->comm = store_text_dup(st, 2);
		t->samples = sqlite3_column_double(st, 3);
		rc = store_column_u32(s, st, 0, "process number", &t->pid, err);
		if (!rc)
			rc = store_column_u32(s, st, 1, "thread number", &t->tid, err);
		if (!rc && (!t->comm || !isfinite(t->samples)))
			rc = store_damaged(s, err, "a thread of run %lld has no name or no count",
					   (long long)run);
		if (rc)
			break;
	}
	if (rc) {
		store_done(st);
		for (size_t i = 0; i < all.n; i++)
			store_thread_row_release(&all.v[i]);
		vec_release(&all);
		return rc;
	}
	*v = all.v;
	*n = all.n;
	return 0;
}
