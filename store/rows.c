// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rows: machines, experiments and runs, with the texts that hang on a run. Which
 * field of a struct lies in which column is declared once, in two tables below;
 * inserting, updating and reading all follow them.
 */
#include "store/internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum field_type {
	FIELD_TEXT,		/* char *, owned; NULL when unknown */
	FIELD_REF,		/* int64_t row id; 0 is NULL */
	FIELD_U64,		/* its bits are kept */
	FIELD_UINT,		/* unsigned, or an enumeration, at most `max` */
	FIELD_INT,
	FIELD_BOOL,
	FIELD_REAL,		/* finite */
};

struct field {
	const char *column;
	enum field_type type;
	size_t offset;
	unsigned max;		/* of FIELD_UINT */
};

#define E(member) offsetof(struct experiment, member)
static const struct field experiment_fields[] = {
	{ "state", FIELD_UINT, E(state), EXP_FAILED },
	{ "case_name", FIELD_TEXT, E(case_name), 0 },
	{ "case_yaml", FIELD_TEXT, E(case_yaml), 0 },
	{ "target", FIELD_TEXT, E(target), 0 },
	{ "command", FIELD_TEXT, E(command), 0 },
	{ "workload", FIELD_TEXT, E(workload), 0 },
	{ "note", FIELD_TEXT, E(note), 0 },
	{ "kernel", FIELD_TEXT, E(kernel), 0 },
	{ "kab_version", FIELD_TEXT, E(kab_version), 0 },
	{ "started", FIELD_REAL, E(started), 0 },
	{ "finished", FIELD_REAL, E(finished), 0 },
	{ "seed", FIELD_U64, E(seed), 0 },
	{ "blocks_planned", FIELD_UINT, E(blocks_planned), UINT_MAX },
	{ "exact", FIELD_BOOL, E(exact), 0 },
	{ "event", FIELD_TEXT, E(event), 0 },
	{ "freq_hz", FIELD_U64, E(freq_hz), 0 },
	{ "machine", FIELD_REF, E(machine), 0 },
	{ "group_id", FIELD_REF, E(group), 0 },
	{ "job", FIELD_TEXT, E(job), 0 },
};
#undef E

#define R(member) offsetof(struct run, member)
static const struct field run_fields[] = {
	{ "state", FIELD_UINT, R(state), RUN_FAILED },
	{ "experiment", FIELD_REF, R(experiment), 0 },
	{ "kind", FIELD_UINT, R(kind), RUN_IMPORT },
	{ "variant", FIELD_UINT, R(variant), VARIANT_COUNT - 1 },
	{ "ordinal", FIELD_UINT, R(ordinal), UINT_MAX },
	{ "warmup", FIELD_BOOL, R(warmup), 0 },
	{ "sampled", FIELD_BOOL, R(sampled), 0 },
	{ "label", FIELD_TEXT, R(label), 0 },
	{ "command", FIELD_TEXT, R(command), 0 },
	{ "started", FIELD_REAL, R(started), 0 },
	{ "wall_ns", FIELD_U64, R(wall_ns), 0 },
	{ "user_ns", FIELD_U64, R(user_ns), 0 },
	{ "sys_ns", FIELD_U64, R(sys_ns), 0 },
	{ "ops", FIELD_REAL, R(ops), 0 },
	{ "samples", FIELD_U64, R(samples), 0 },
	{ "lost", FIELD_U64, R(lost), 0 },
	{ "bad_stacks", FIELD_U64, R(bad_stacks), 0 },
	{ "event", FIELD_TEXT, R(event), 0 },
	{ "freq_hz", FIELD_U64, R(freq_hz), 0 },
	{ "exit_status", FIELD_INT, R(exit_status), 0 },
};
#undef R

/* What experiments and runs have in common. */
struct table {
	const char *name;
	const struct field *fields;	/* the first is the state; a new version adds behind the last */
	size_t n;
	size_t n_in[STORE_VERSION];	/* how many of them a file of version 1, 2... has */
	size_t size, id;		/* of the struct; offset of its row id */
	unsigned running, incomplete;	/* states */
	enum store_query add, set;
};

static const struct table experiments = {
	"experiment", experiment_fields, sizeof(experiment_fields) / sizeof(experiment_fields[0]), { 17, 19, 19 },
	sizeof(struct experiment), offsetof(struct experiment, id), EXP_RUNNING, EXP_INCOMPLETE,
	Q_EXPERIMENT_ADD, Q_EXPERIMENT_SET
};
static const struct table runs = {
	"run", run_fields, sizeof(run_fields) / sizeof(run_fields[0]), { 20, 20, 20 },
	sizeof(struct run), offsetof(struct run, id), RUN_RUNNING, RUN_INCOMPLETE, Q_RUN_ADD, Q_RUN_SET
};

static int bind_field(sqlite3_stmt *st, int i, const struct field *f, const void *object)
{
	const void *p = (const char *)object + f->offset;
	const int64_t *ref = p;
	double real;

	switch (f->type) {
	case FIELD_TEXT:
		return sqlite3_bind_text(st, i, *(char *const *)p, -1, SQLITE_STATIC);
	case FIELD_REF:
		return *ref ? sqlite3_bind_int64(st, i, *ref) : sqlite3_bind_null(st, i);
	case FIELD_U64:
		return sqlite3_bind_int64(st, i, (int64_t)*(const uint64_t *)p);
	case FIELD_UINT:
		return sqlite3_bind_int64(st, i, *(const unsigned *)p);
	case FIELD_INT:
		return sqlite3_bind_int64(st, i, *(const int *)p);
	case FIELD_BOOL:
		return sqlite3_bind_int64(st, i, *(const bool *)p);
	case FIELD_REAL:
		memcpy(&real, p, sizeof(real));
		return sqlite3_bind_double(st, i, isfinite(real) ? real : 0);
	}
	return SQLITE_MISUSE;
}

static int read_field(struct store *s, sqlite3_stmt *st, int i, const struct field *f, void *object,
		      struct err *err)
{
	void *p = (char *)object + f->offset;
	int64_t v = f->type == FIELD_TEXT || f->type == FIELD_REAL ? 0 : sqlite3_column_int64(st, i);
	double real;
	bool good = true;

	switch (f->type) {
	case FIELD_TEXT:
		*(char **)p = store_text_dup(st, i);
		break;
	case FIELD_REF:
	case FIELD_U64:
		memcpy(p, &v, sizeof(v));
		break;
	case FIELD_UINT:
		good = v >= 0 && v <= f->max;
		*(unsigned *)p = good ? (unsigned)v : 0;
		break;
	case FIELD_INT:
		good = v >= INT_MIN && v <= INT_MAX;
		*(int *)p = good ? (int)v : 0;
		break;
	case FIELD_BOOL:
		good = v == 0 || v == 1;
		*(bool *)p = v != 0;
		break;
	case FIELD_REAL:
		real = sqlite3_column_double(st, i);
		good = isfinite(real);
		memcpy(p, &real, sizeof(real));
		break;
	}
	return good ? 0 : store_damaged(s, err, "the %s in row %lld is out of range", f->column,
					(long long)sqlite3_column_int64(st, 0));
}

/* --- writing --- */

static int next_id(struct store *s, int64_t *id, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_SEQUENCE_NEXT, "UPDATE sequence SET last = last + 1", &st, err);

	if (!rc)
		rc = store_exec(s, st, err);
	if (!rc && sqlite3_changes(s->db) != 1)
		return store_damaged(s, err, "the sequence of its ids is gone");
	if (!rc)
		rc = store_stmt(s, Q_SEQUENCE_LAST, "SELECT last FROM sequence", &st, err);
	if (rc)
		return rc;
	rc = store_row(s, st, err);
	if (rc == 1) {
		*id = sqlite3_column_int64(st, 0);
		store_done(st);
		rc = 0;
	}
	return rc;
}

/* The row that names this process, made when it first begins something. */
static int ensure_writer(struct store *s, struct err *err)
{
	struct store_writer w;
	sqlite3_stmt *st = NULL;
	int rc;

	if (s->writer)
		return 0;
	rc = writer_self(&w, err);
	if (!rc)
		rc = store_stmt(s, Q_WRITER_ADD, "INSERT INTO writer (pid, start, boot) VALUES (?, ?, ?)",
				&st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, w.pid);
	sqlite3_bind_int64(st, 2, (int64_t)w.start);
	sqlite3_bind_text(st, 3, w.boot, -1, SQLITE_STATIC);
	rc = store_exec(s, st, err);
	if (!rc)
		s->writer = sqlite3_last_insert_rowid(s->db);
	return rc;
}

/* The id and the writer are bound first, the fields behind them. */
static int add_row(struct store *s, const struct table *t, void *object, struct err *err)
{
	struct buf sql = BUF_INIT;
	sqlite3_stmt *st = NULL;
	int64_t id = 0;
	size_t i;
	int rc = store_begin(s, err);

	if (!rc)
		rc = ensure_writer(s, err);
	if (!rc)
		rc = next_id(s, &id, err);
	if (rc)
		return rc;
	buf_printf(&sql, "INSERT INTO %s (id, writer", t->name);
	for (i = 0; i < t->n; i++)
		buf_printf(&sql, ", %s", t->fields[i].column);
	buf_puts(&sql, ") VALUES (?, ?");
	for (i = 0; i < t->n; i++)
		buf_puts(&sql, ", ?");
	buf_puts(&sql, ")");
	rc = store_stmt(s, t->add, sql.data, &st, err);
	buf_release(&sql);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_int64(st, 2, s->writer);
	for (i = 0; i < t->n; i++)
		bind_field(st, (int)i + 3, &t->fields[i], object);
	rc = store_exec(s, st, err);
	if (!rc)
		rc = store_commit(s, err);
	if (!rc)
		memcpy((char *)object + t->id, &id, sizeof(id));
	return rc;
}

static int set_row(struct store *s, const struct table *t, const void *object, struct err *err)
{
	struct buf sql = BUF_INIT;
	sqlite3_stmt *st = NULL;
	int64_t id;
	size_t i;
	int rc = store_begin(s, err);

	if (!rc)
		rc = store_flush(s, err);	/* before the row: it counts the samples of a run in hand */
	if (rc)
		return rc;
	memcpy(&id, (const char *)object + t->id, sizeof(id));
	buf_printf(&sql, "UPDATE %s SET ", t->name);
	for (i = 0; i < t->n; i++)
		buf_printf(&sql, "%s%s = ?%zu", i ? ", " : "", t->fields[i].column, i + 2);
	buf_puts(&sql, " WHERE id = ?1");
	rc = store_stmt(s, t->set, sql.data, &st, err);
	buf_release(&sql);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	for (i = 0; i < t->n; i++)
		bind_field(st, (int)i + 2, &t->fields[i], object);
	rc = store_exec(s, st, err);
	if (!rc && sqlite3_changes(s->db) != 1)
		rc = err_add(err, -ENOENT, "The %s %lld to finish is not in the session file %s.", t->name,
			     (long long)id, s->path);
	return rc ? rc : store_commit(s, err);
}

int store_experiment_begin(struct store *s, struct experiment *e, struct err *err)
{
	e->state = EXP_RUNNING;
	return add_row(s, &experiments, e, err);
}

int store_experiment_finish(struct store *s, const struct experiment *e, struct err *err)
{
	return set_row(s, &experiments, e, err);
}

int store_run_begin(struct store *s, struct run *r, struct err *err)
{
	r->state = RUN_RUNNING;
	return add_row(s, &runs, r, err);
}

int store_run_finish(struct store *s, const struct run *r, struct err *err)
{
	return set_row(s, &runs, r, err);
}

/* Whatever `writer` left running becomes incomplete. */
static int mark_incomplete(struct store *s, int64_t writer, struct err *err)
{
	static const struct table *const both[] = { &experiments, &runs };
	int rc = store_begin(s, err);

	for (size_t i = 0; i < 2 && !rc; i++) {
		sqlite3_stmt *st = NULL;
		char *sql = mem_printf("UPDATE %s SET state = %u WHERE state = %u AND writer = ?",
				       both[i]->name, both[i]->incomplete, both[i]->running);

		if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
			rc = store_sql_err(s, "write", err);
		if (!rc) {
			sqlite3_bind_int64(st, 1, writer);
			rc = store_exec(s, st, err);
		}
		sqlite3_finalize(st);
		free(sql);
	}
	return rc;
}

int store_mark_own_incomplete(struct store *s, struct err *err)
{
	return s->writer ? mark_incomplete(s, s->writer, err) : 0;
}

/* From three columns; a text that is no boot id matches no boot. */
static struct store_writer writer_from(sqlite3_stmt *st, int column)
{
	struct store_writer w = { .pid = sqlite3_column_int64(st, column),
				  .start = (uint64_t)sqlite3_column_int64(st, column + 1) };
	const char *boot = (const char *)sqlite3_column_text(st, column + 2);

	if (boot && strlen(boot) < sizeof(w.boot))
		strcpy(w.boot, boot);
	return w;
}

int store_mark_dead_incomplete(struct store *s, struct err *err)
{
	static const char sql[] =
		"SELECT id, pid, start, boot FROM writer WHERE id IN (SELECT writer FROM run WHERE state = 0"
		" UNION SELECT writer FROM experiment WHERE state = 0)";
	VEC(int64_t) dead = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = 0, step;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return store_sql_err(s, "read", err);
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		struct store_writer w = writer_from(st, 1);

		if (!writer_alive(&w))
			vec_push(&dead, sqlite3_column_int64(st, 0));
	}
	if (step != SQLITE_DONE)
		rc = store_sql_err(s, "read", err);
	sqlite3_finalize(st);
	for (size_t i = 0; i < dead.n && !rc; i++)
		rc = mark_incomplete(s, dead.v[i], err);
	vec_release(&dead);
	return rc ? rc : store_commit(s, err);
}

/* --- reading --- */

/* "SELECT id, fields, writer FROM table"; `rest` follows. */
static int select_rows(struct store *s, const struct table *t, enum store_query q, const char *rest,
		       sqlite3_stmt **st, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	buf_puts(&sql, "SELECT t.id");
	for (size_t i = 0; i < t->n; i++)	/* of an older file: NULL, which is 0 and no text */
		buf_printf(&sql, ", %s%s", i < t->n_in[s->version - 1] ? "t." : "NULL AS ", t->fields[i].column);
	buf_printf(&sql, ", w.pid, w.start, w.boot FROM %s t LEFT JOIN writer w ON w.id = t.writer %s",
		   t->name, rest);
	rc = store_stmt(s, q, sql.data, st, err);
	buf_release(&sql);
	return rc;
}

/* `object` is all zero before; after an error its owner still releases it. */
static int read_row(struct store *s, sqlite3_stmt *st, const struct table *t, void *object, struct err *err)
{
	unsigned *state = (unsigned *)((char *)object + t->fields[0].offset);
	int64_t id = sqlite3_column_int64(st, 0);
	int rc = 0;

	memcpy((char *)object + t->id, &id, sizeof(id));
	for (size_t i = 0; i < t->n && !rc; i++)
		rc = read_field(s, st, (int)i + 1, &t->fields[i], object, err);
	if (!rc && *state == t->running) {
		struct store_writer w = writer_from(st, (int)t->n + 1);

		if (!writer_alive(&w))
			*state = t->incomplete;
	}
	return rc;
}

/* The one row that the bound statement finds. */
static int read_one(struct store *s, sqlite3_stmt *st, const struct table *t, int64_t id, void *object,
		    struct err *err)
{
	int rc = store_row(s, st, err);

	memset(object, 0, t->size);
	if (rc == 1) {
		rc = read_row(s, st, t, object, err);
		store_done(st);
		return rc;
	}
	if (rc)
		return rc;
	return err_add(err, -ENOENT, "There is no %s %lld in the session file %s; kab list shows what there "
		       "is.", t->name, (long long)id, s->path);
}

int store_experiments(struct store *s, struct experiment **v, size_t *n, struct err *err)
{
	VEC(struct experiment) all = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = select_rows(s, &experiments, Q_EXPERIMENT_ALL, "ORDER BY t.id DESC", &st, err);

	*v = NULL;
	*n = 0;
	if (rc)
		return rc;
	while ((rc = store_row(s, st, err)) == 1) {
		rc = read_row(s, st, &experiments, vec_add(&all), err);
		if (rc)
			break;
	}
	if (rc) {
		store_done(st);
		for (size_t i = 0; i < all.n; i++)
			experiment_release(&all.v[i]);
		vec_release(&all);
		return rc;
	}
	*v = all.v;
	*n = all.n;
	return 0;
}

int store_experiment(struct store *s, int64_t id, struct experiment *e, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = select_rows(s, &experiments, Q_EXPERIMENT_ONE, "WHERE t.id = ?", &st, err);

	memset(e, 0, sizeof(*e));
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	rc = read_one(s, st, &experiments, id, e, err);
	if (rc)
		experiment_release(e);
	return rc;
}

int store_runs(struct store *s, int64_t experiment, struct run **v, size_t *n, struct err *err)
{
	VEC(struct run) all = { 0 };
	sqlite3_stmt *st = NULL;
	int rc;

	*v = NULL;
	*n = 0;
	if (experiment)
		rc = select_rows(s, &runs, Q_RUN_ALL, "WHERE t.experiment = ? ORDER BY t.ordinal, t.id", &st,
				 err);
	else
		rc = select_rows(s, &runs, Q_RUN_LOOSE, "WHERE t.experiment IS NULL ORDER BY t.id DESC", &st,
				 err);
	if (rc)
		return rc;
	if (experiment)
		sqlite3_bind_int64(st, 1, experiment);
	while ((rc = store_row(s, st, err)) == 1) {
		rc = read_row(s, st, &runs, vec_add(&all), err);
		if (rc)
			break;
	}
	if (rc) {
		store_done(st);
		for (size_t i = 0; i < all.n; i++)
			run_release(&all.v[i]);
		vec_release(&all);
		return rc;
	}
	*v = all.v;
	*n = all.n;
	return 0;
}

int store_run(struct store *s, int64_t id, struct run *r, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = select_rows(s, &runs, Q_RUN_ONE, "WHERE t.id = ?", &st, err);

	memset(r, 0, sizeof(*r));
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	rc = read_one(s, st, &runs, id, r, err);
	if (rc)
		run_release(r);
	return rc;
}

/* --- machines --- */

int store_machine(struct store *s, int64_t id, struct machine *m, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_FACTS, "SELECT key, value FROM fact WHERE machine = ? ORDER BY position",
			    &st, err);

	memset(m, 0, sizeof(*m));
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	while ((rc = store_row(s, st, err)) == 1) {
		char *key = store_text_dup(st, 0), *value = store_text_dup(st, 1);

		if (key && value)
			machine_add(m, key, value);
		free(key);
		free(value);
	}
	m->id = id;
	if (rc)
		machine_release(m);
	return rc;
}

static bool same_facts(const struct machine *a, const struct machine *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->facts[i].key, b->facts[i].key) || strcmp(a->facts[i].value, b->facts[i].value))
			return false;
	return true;
}

/* The row with these very facts; 0 when there is none. */
static int find_machine(struct store *s, const struct machine *m, int64_t *id, struct err *err)
{
	VEC(int64_t) ids = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_MACHINES, "SELECT id FROM machine WHERE facts = ? ORDER BY id", &st, err);

	*id = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)m->n);
	while ((rc = store_row(s, st, err)) == 1)
		vec_push(&ids, sqlite3_column_int64(st, 0));
	for (size_t i = 0; i < ids.n && !rc && !*id; i++) {
		struct machine other;

		rc = store_machine(s, ids.v[i], &other, err);
		if (!rc && same_facts(m, &other))
			*id = ids.v[i];
		if (!rc)
			machine_release(&other);
	}
	vec_release(&ids);
	return rc;
}

int store_machine_add(struct store *s, struct machine *m, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int64_t id;
	int rc = store_begin(s, err);

	if (!rc)
		rc = find_machine(s, m, &id, err);
	if (rc)
		return rc;
	if (id) {
		m->id = id;
		return 0;
	}
	rc = store_stmt(s, Q_MACHINE_ADD, "INSERT INTO machine (facts) VALUES (?)", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)m->n);
	rc = store_exec(s, st, err);
	id = sqlite3_last_insert_rowid(s->db);
	for (size_t i = 0; i < m->n && !rc; i++) {
		rc = store_stmt(s, Q_FACT_ADD,
				"INSERT INTO fact (machine, position, key, value) VALUES (?, ?, ?, ?)", &st,
				err);
		if (rc)
			break;
		sqlite3_bind_int64(st, 1, id);
		sqlite3_bind_int64(st, 2, (int64_t)i);
		sqlite3_bind_text(st, 3, m->facts[i].key, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 4, m->facts[i].value, -1, SQLITE_STATIC);
		rc = store_exec(s, st, err);
	}
	if (!rc)
		m->id = id;
	return rc;
}

/* --- what hangs on a run --- */

int store_text_add(struct store *s, int64_t run, const char *kind, const char *text, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_begin(s, err);

	if (!rc)
		rc = store_stmt(s, Q_TEXT_ADD, "INSERT INTO run_text (run, kind, text) VALUES (?, ?, ?)", &st,
				err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_text(st, 2, kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, text ? text : "", -1, SQLITE_STATIC);
	return store_exec(s, st, err);
}

int store_text(struct store *s, int64_t run, const char *kind, struct buf *out, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(s, Q_TEXT, "SELECT text FROM run_text WHERE run = ? AND kind = ? ORDER BY id",
			    &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_text(st, 2, kind, -1, SQLITE_STATIC);
	while ((rc = store_row(s, st, err)) == 1) {
		const void *text = sqlite3_column_text(st, 0);

		buf_add(out, text, text ? (size_t)sqlite3_column_bytes(st, 0) : 0);
	}
	return rc;
}
