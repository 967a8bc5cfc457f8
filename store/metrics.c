// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * metrics: the figures that hang on a run: what the workload reported, what was
 * counted, and how something is distributed.
 */
#include "store/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A `running` of NaN becomes NULL: the figure is no count. */
static int add(struct store *s, int64_t run, const char *name, const char *unit, double value, double running,
	       struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_begin(s, err);

	if (!rc)
		rc = store_stmt(s, Q_METRIC_ADD,
				"INSERT INTO metric (run, name, unit, value, running) VALUES (?, ?, ?, ?, ?)",
				&st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, unit ? unit : "", -1, SQLITE_STATIC);
	sqlite3_bind_double(st, 4, value);	/* NaN becomes NULL */
	sqlite3_bind_double(st, 5, running);
	return store_exec(s, st, err);
}

int store_metric_add(struct store *s, int64_t run, const char *name, const char *unit, double value,
		     struct err *err)
{
	return add(s, run, name, unit, value, NAN, err);
}

int store_counter_add(struct store *s, int64_t run, const char *name, const char *unit, double value,
		      double running, struct err *err)
{
	return add(s, run, name, unit, value, running, err);
}

static double real_or_nan(sqlite3_stmt *st, int column)
{
	return sqlite3_column_type(st, column) == SQLITE_NULL ? NAN : sqlite3_column_double(st, column);
}

int store_metrics(struct store *s, int64_t run, struct store_metric **v, size_t *n, struct err *err)
{
	VEC(struct store_metric) all = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_METRICS, s->version < 3 ?
			    "SELECT name, unit, value, NULL FROM metric WHERE run = ? ORDER BY id" :
			    "SELECT name, unit, value, running FROM metric WHERE run = ? ORDER BY id", &st, err);

	*v = NULL;
	*n = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	while ((rc = store_row(s, st, err)) == 1)
		vec_push(&all, (struct store_metric){ store_text_dup(st, 0), store_text_dup(st, 1),
						      real_or_nan(st, 2), real_or_nan(st, 3) });
	if (rc) {
		for (size_t i = 0; i < all.n; i++)
			store_metric_release(&all.v[i]);
		vec_release(&all);
		return rc;
	}
	*v = all.v;
	*n = all.n;
	return 0;
}

void store_metric_release(struct store_metric *m)
{
	free(m->name);
	free(m->unit);
	*m = (struct store_metric){ 0 };
}

/* --- histograms --- */

static int add_bucket(struct store *s, int64_t histogram, const struct hist_count *c, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_BUCKET_ADD, "INSERT INTO bucket (histogram, number, count) VALUES (?, ?, ?)",
			    &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, histogram);
	sqlite3_bind_int64(st, 2, c->bucket);
	sqlite3_bind_int64(st, 3, (int64_t)c->n);
	return store_exec(s, st, err);
}

int store_hist_add(struct store *s, int64_t run, const char *name, const char *unit, const struct hist *h,
		   struct err *err)
{
	sqlite3_stmt *st = NULL;
	int64_t id;
	int rc = store_begin(s, err);

	if (!rc)
		rc = store_stmt(s, Q_HIST_ADD, "INSERT INTO histogram (run, name, unit) VALUES (?, ?, ?)",
				&st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, unit ? unit : "", -1, SQLITE_STATIC);
	rc = store_exec(s, st, err);
	id = sqlite3_last_insert_rowid(s->db);
	for (size_t i = 0; !rc && i < h->n; i++)
		rc = add_bucket(s, id, &h->v[i], err);
	return rc;
}

static int read_buckets(struct store *s, int64_t histogram, struct hist *h, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_BUCKETS,
			    "SELECT number, count FROM bucket WHERE histogram = ? ORDER BY number", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, histogram);
	while ((rc = store_row(s, st, err)) == 1) {
		int64_t number = sqlite3_column_int64(st, 0), count = sqlite3_column_int64(st, 1);

		if (number != (int32_t)number || count < 0 ||
		    !hist_add_bucket(h, (int32_t)number, (uint64_t)count)) {
			store_done(st);
			return store_damaged(s, err, "bucket %lld of a histogram cannot hold %lld",
					     (long long)number, (long long)count);
		}
	}
	return rc;
}

int store_hists(struct store *s, int64_t run, struct store_hist **v, size_t *n, struct err *err)
{
	VEC(struct store_hist) all = { 0 };
	VEC(int64_t) ids = { 0 };
	sqlite3_stmt *st = NULL;
	int rc;

	*v = NULL;
	*n = 0;
	if (s->version < 3)
		return 0;
	rc = store_stmt(s, Q_HISTS, "SELECT name, unit, id FROM histogram WHERE run = ? ORDER BY id", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	while ((rc = store_row(s, st, err)) == 1) {
		vec_push(&all,
			 (struct store_hist){ .name = store_text_dup(st, 0), .unit = store_text_dup(st, 1) });
		vec_push(&ids, sqlite3_column_int64(st, 2));
	}
	for (size_t i = 0; !rc && i < all.n; i++)
		rc = read_buckets(s, ids.v[i], &all.v[i].hist, err);
	vec_release(&ids);
	if (rc) {
		for (size_t i = 0; i < all.n; i++)
			store_hist_release(&all.v[i]);
		vec_release(&all);
		return rc;
	}
	*v = all.v;
	*n = all.n;
	return 0;
}

void store_hist_release(struct store_hist *h)
{
	free(h->name);
	free(h->unit);
	hist_release(&h->hist);
	*h = (struct store_hist){ 0 };
}
