// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ingest: what a recording writes while it goes on: threads, symbols, stacks
 * and samples. The ids of what is known are kept in memory, so that a sample
 * costs a hash lookup and no query; folded counts and the raw chunk gather
 * until the next commit, half a second at most, and reach the file together.
 */
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/chunk.h"

/* The primary key of a folded row; all eight-byte members, so that no padding is hashed. */
struct fold_key {
	int64_t run, event, thread, stack;
};

static int64_t known(const struct store_ids *ids, const void *key, size_t len)
{
	uint32_t i = map_find(&ids->keys, key, len);

	return i == MAP_NONE ? -1 : ids->ids.v[i];
}

static void remember(struct store_ids *ids, const void *key, size_t len, int64_t id)
{
	map_intern(&ids->keys, key, len, NULL);
	vec_push(&ids->ids, id);
}

static void forget(struct store_ids *ids)
{
	map_release(&ids->keys);
	vec_release(&ids->ids);
}

void store_forget(struct store *s)
{
	forget(&s->threads);
	forget(&s->symbols);
	forget(&s->stacks);
	map_release(&s->pending.keys);
	vec_release(&s->pending.sums);
	vec_release(&s->pending.raw);
	s->writer = 0;
	store_forest_release(&s->forest);
}

/*
 * Runs `add`, which leaves an equal row alone, and yields the id of the new row;
 * where it was there already, `find` yields it. Both statements are bound.
 */
static int add_or_find(struct store *s, sqlite3_stmt *add, sqlite3_stmt *find, int64_t *id, struct err *err)
{
	int rc = store_exec(s, add, err);

	if (!rc && sqlite3_changes(s->db) == 1) {
		*id = sqlite3_last_insert_rowid(s->db);
		store_done(find);
		return 0;
	}
	if (!rc)
		rc = store_row(s, find, err);
	if (rc == 1) {
		*id = sqlite3_column_int64(find, 0);
		store_done(find);
		return 0;
	}
	store_done(find);
	return rc ? rc : store_damaged(s, err, "an index finds a row that its table does not have");
}

int store_thread(struct store *s, int64_t run, uint32_t pid, uint32_t tid, const char *comm, int64_t *id,
		 struct err *err)
{
	sqlite3_stmt *st[2] = { NULL, NULL };
	int rc, i;

	buf_clear(&s->key);
	buf_add(&s->key, &run, sizeof(run));
	buf_add(&s->key, &pid, sizeof(pid));
	buf_add(&s->key, &tid, sizeof(tid));
	buf_puts(&s->key, comm);
	*id = known(&s->threads, s->key.data, s->key.len);
	if (*id >= 0)
		return 0;
	rc = store_begin(s, err);
	if (!rc)
		rc = store_stmt(
			s, Q_THREAD_ADD,
			"INSERT INTO thread (run, pid, tid, comm) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			&st[0], err);
	if (!rc)
		rc = store_stmt(s, Q_THREAD_FIND,
				"SELECT id FROM thread WHERE run = ? AND pid = ? AND tid = ? AND comm = ?",
				&st[1], err);
	if (rc)
		return rc;
	for (i = 0; i < 2; i++) {
		sqlite3_bind_int64(st[i], 1, run);
		sqlite3_bind_int64(st[i], 2, pid);
		sqlite3_bind_int64(st[i], 3, tid);
		sqlite3_bind_text(st[i], 4, comm, -1, SQLITE_STATIC);
	}
	rc = add_or_find(s, st[0], st[1], id, err);
	if (!rc)
		remember(&s->threads, s->key.data, s->key.len, *id);
	return rc;
}

int store_symbol(struct store *s, const char *name, const char *dso, const char *build_id,
		 enum frame_kind kind, int64_t *id, struct err *err)
{
	sqlite3_stmt *st[2] = { NULL, NULL };
	int rc, i;

	dso = dso ? dso : "";
	build_id = build_id ? build_id : "";
	buf_clear(&s->key);
	buf_putc(&s->key, (char)kind);
	buf_add(&s->key, name, strlen(name) + 1);
	buf_add(&s->key, dso, strlen(dso) + 1);
	buf_puts(&s->key, build_id);
	*id = known(&s->symbols, s->key.data, s->key.len);
	if (*id >= 0)
		return 0;
	rc = store_begin(s, err);
	if (!rc)
		rc = store_stmt(s, Q_SYMBOL_ADD,
				"INSERT INTO symbol (name, dso, build_id, kind) VALUES (?, ?, ?, ?)"
				" ON CONFLICT DO NOTHING",
				&st[0], err);
	if (!rc)
		rc = store_stmt(
			s, Q_SYMBOL_FIND,
			"SELECT id FROM symbol WHERE name = ? AND dso = ? AND build_id = ? AND kind = ?",
			&st[1], err);
	if (rc)
		return rc;
	for (i = 0; i < 2; i++) {
		sqlite3_bind_text(st[i], 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_text(st[i], 2, dso, -1, SQLITE_STATIC);
		sqlite3_bind_text(st[i], 3, build_id, -1, SQLITE_STATIC);
		sqlite3_bind_int64(st[i], 4, kind);
	}
	rc = add_or_find(s, st[0], st[1], id, err);
	if (!rc)
		remember(&s->symbols, s->key.data, s->key.len, *id);
	return rc;
}

int store_stack_child(struct store *s, int64_t parent, int64_t symbol, int64_t *id, struct err *err)
{
	int64_t key[2] = { parent, symbol };
	sqlite3_stmt *st[2] = { NULL, NULL };
	int rc, i;

	*id = known(&s->stacks, key, sizeof(key));
	if (*id >= 0)
		return 0;
	rc = store_begin(s, err);
	if (!rc)
		rc = store_stmt(s, Q_STACK_ADD,
				"INSERT INTO stack (parent, symbol) VALUES (?, ?) ON CONFLICT DO NOTHING",
				&st[0], err);
	if (!rc)
		rc = store_stmt(s, Q_STACK_FIND, "SELECT id FROM stack WHERE parent = ? AND symbol = ?",
				&st[1], err);
	if (rc)
		return rc;
	for (i = 0; i < 2; i++) {
		sqlite3_bind_int64(st[i], 1, parent);
		sqlite3_bind_int64(st[i], 2, symbol);
	}
	rc = add_or_find(s, st[0], st[1], id, err);
	if (!rc)
		remember(&s->stacks, key, sizeof(key), *id);
	return rc;
}

int store_event(struct store *s, int64_t run, uint32_t index, const char *name, const char *unit,
		struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_begin(s, err);

	if (!rc)
		rc = store_stmt(s, Q_EVENT_ADD,
				"INSERT INTO event (run, position, name, unit) VALUES (?, ?, ?, ?)", &st,
				err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_int64(st, 2, index);
	sqlite3_bind_text(st, 3, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 4, unit ? unit : "", -1, SQLITE_STATIC);
	return store_exec(s, st, err);
}

/* --- samples --- */

static int by_key(const void *a, const void *b, void *keys)
{
	const struct map_entry *e = keys;
	const struct fold_key *x = e[*(const uint32_t *)a].key, *y = e[*(const uint32_t *)b].key;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* In the order of the table, so that neighbours fall on the same page. */
static int write_folded(struct store *s, struct err *err)
{
	struct store_pending *p = &s->pending;
	uint32_t n = p->keys.n, *order = mem_calloc(n, sizeof(*order));
	sqlite3_stmt *st = NULL;
	int rc;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_key, p->keys.entries);
	rc = store_stmt(s, Q_SAMPLE_ADD, "INSERT INTO sample (run, event, thread, stack, count, period)"
			" VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
			" count = count + excluded.count, period = period + excluded.period", &st, err);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct fold_key *k = p->keys.entries[order[i]].key;
		const struct store_sum *sum = &p->sums.v[order[i]];

		sqlite3_bind_int64(st, 1, k->run);
		sqlite3_bind_int64(st, 2, k->event);
		sqlite3_bind_int64(st, 3, k->thread);
		sqlite3_bind_int64(st, 4, k->stack);
		sqlite3_bind_double(st, 5, sum->count);
		sqlite3_bind_double(st, 6, sum->period);
		rc = store_exec(s, st, err);
	}
	free(order);
	map_release(&p->keys);
	p->sums.n = 0;
	return rc;
}

/* Also counts the samples in the run's row, so that a run that is never finished shows them. */
static int write_chunk(struct store *s, struct err *err)
{
	struct store_pending *p = &s->pending;
	uint64_t first = UINT64_MAX, last = 0;
	struct buf data = BUF_INIT;
	sqlite3_stmt *st = NULL;
	int rc;

	for (size_t i = 0; i < p->raw.n; i++) {
		if (p->raw.v[i].time_ns < first)
			first = p->raw.v[i].time_ns;
		if (p->raw.v[i].time_ns > last)
			last = p->raw.v[i].time_ns;
	}
	rc = chunk_encode(p->raw.v, p->raw.n, &data);
	if (rc)
		err_add(err, rc,
			"Cannot write the session file %s: out of memory; what was committed before stays.",
			s->path);
	else
		rc = store_stmt(
			s, Q_CHUNK_ADD,
			"INSERT INTO chunk (run, number, first_ns, last_ns, samples, data) VALUES (?1,"
			" (SELECT ifnull(max(number), 0) + 1 FROM chunk WHERE run = ?1), ?2, ?3, ?4, ?5)",
			&st, err);
	if (!rc) {
		sqlite3_bind_int64(st, 1, p->raw_run);
		sqlite3_bind_int64(st, 2, (int64_t)first);
		sqlite3_bind_int64(st, 3, (int64_t)last);
		sqlite3_bind_int64(st, 4, (int64_t)p->raw.n);
		sqlite3_bind_blob64(st, 5, data.data, data.len, SQLITE_STATIC);
		rc = store_exec(s, st, err);
	}
	if (!rc)
		rc = store_stmt(s, Q_RUN_COUNT, "UPDATE run SET samples = samples + ? WHERE id = ?", &st,
				err);
	if (!rc) {
		sqlite3_bind_int64(st, 1, (int64_t)p->raw.n);
		sqlite3_bind_int64(st, 2, p->raw_run);
		rc = store_exec(s, st, err);
	}
	buf_release(&data);
	p->raw.n = 0;
	return rc;
}

/* The chunk alone, or all that is pending. After a failure neither half may stay in the transaction. */
static int write_pending(struct store *s, bool all, struct err *err)
{
	struct err local = ERR_INIT;
	int rc = store_begin(s, err);

	if (rc)
		return rc;
	if (s->pending.raw.n)
		rc = write_chunk(s, &local);
	if (!rc && all)
		rc = write_folded(s, &local);
	if (rc && !s->failed)
		store_abort(s, rc, &local);
	return rc ? err_add(err, rc, "%s", local.text) : 0;
}

int store_flush(struct store *s, struct err *err)
{
	return s->pending.keys.n ? write_pending(s, true, err) : 0;
}

int store_samples(struct store *s, int64_t run, const struct store_sample *v, size_t n, struct err *err)
{
	struct store_pending *p = &s->pending;
	int rc;

	if (s->failed || s->mode != STORE_WRITE)
		return store_begin(s, err);	/* for its sentence */
	for (size_t i = 0; i < n; i++) {
		struct fold_key key = { run, v[i].event, v[i].thread, v[i].stack };
		bool added;
		uint32_t k;

		if (p->raw.n == CHUNK_SAMPLES || (p->raw.n && p->raw_run != run)) {
			rc = write_pending(s, false, err);
			if (rc)
				return rc;
		}
		if (!s->dirty_since)
			s->dirty_since = store_clock();
		k = map_intern(&p->keys, &key, sizeof(key), &added);
		if (added)
			vec_push(&p->sums, (struct store_sum){ 0, 0 });
		p->sums.v[k].count++;
		p->sums.v[k].period += (double)v[i].period;
		p->raw_run = run;
		vec_push(&p->raw, v[i]);
	}
	return store_tick(s, err);
}

int store_tick(struct store *s, struct err *err)
{
	if (s->failed)
		return err_add(err, s->failed, "%s", s->failure.text);
	if (!s->dirty_since || store_clock() - s->dirty_since < STORE_COMMIT_NS)
		return 0;
	return store_commit(s, err);
}
