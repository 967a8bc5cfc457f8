/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this room share: the open session, its prepared statements
 * and the two rules every statement follows. Reading: store_row() until it
 * returns 0. Writing: store_begin() first, then store_exec(). Both reset the
 * statement themselves, so that no reader keeps the write-ahead log from being
 * checkpointed. Nothing outside store/ includes this.
 */
#ifndef KAB_STORE_INTERNAL_H
#define KAB_STORE_INTERNAL_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"

#define STORE_COMMIT_NS 500000000ULL	/* age at which a transaction is committed */
#define STORE_LENGTH_MAX (64 << 20)	/* bytes of any one text or blob */

/* One slot of the statement cache each; the SQL stands where it is used. */
enum store_query {
	Q_BEGIN, Q_COMMIT, Q_DATA_VERSION, Q_SEQUENCE_NEXT, Q_SEQUENCE_LAST, Q_WRITER_ADD,
	Q_MACHINES, Q_MACHINE_ADD, Q_FACT_ADD, Q_FACTS,
	Q_EXPERIMENT_ADD, Q_EXPERIMENT_SET, Q_EXPERIMENT_ALL, Q_EXPERIMENT_ONE,
	Q_RUN_ADD, Q_RUN_SET, Q_RUN_ALL, Q_RUN_LOOSE, Q_RUN_ONE, Q_RUN_COUNT,
	Q_METRIC_ADD, Q_METRICS, Q_TEXT_ADD, Q_TEXT, Q_EVENT_ADD,
	Q_THREAD_ADD, Q_THREAD_FIND, Q_THREADS, Q_THREAD_COMM,
	Q_SYMBOL_ADD, Q_SYMBOL_FIND, Q_SYMBOLS_FROM,
	Q_STACK_ADD, Q_STACK_FIND, Q_STACKS_FROM,
	Q_HIST_ADD, Q_BUCKET_ADD, Q_HISTS, Q_BUCKETS,
	Q_SAMPLE_ADD, Q_SAMPLES, Q_CHUNK_ADD, Q_CHUNKS,
	Q_COUNT
};

/* Row ids already known to the writer, so that the hot path runs no query. */
struct store_ids {
	struct map keys;
	VEC(int64_t) ids;	/* by number in `keys` */
};

struct store_sum { double count, period; };

/* Samples not yet in a table. Folded and raw ones are written together: they agree in every commit. */
struct store_pending {
	struct map keys;			/* struct fold_key */
	VEC(struct store_sum) sums;		/* by number in `keys` */
	VEC(struct store_sample) raw;		/* of one run, at most CHUNK_SAMPLES */
	int64_t raw_run;
};

struct store_stack_row { uint32_t parent, symbol; };		/* indices */
struct store_symbol_row { uint32_t name, dso; enum frame_kind kind; };	/* numbers in `names` */

/* Stacks and symbols as met by a reader; rows are only ever added, so they are loaded once. */
struct store_forest {
	VEC(int64_t) stack_ids, symbol_ids;	/* ascending; the index is what the rest speaks of */
	VEC(struct store_stack_row) stacks;
	VEC(struct store_symbol_row) symbols;
	struct map names;
};

struct store {
	sqlite3 *db;
	char *path;
	enum store_mode mode;
	int version;			/* of the file as it is now */
	sqlite3_stmt *stmt[Q_COUNT];
	struct buf key;			/* scratch for the keys of `symbols` and `threads` */
	int64_t writer;			/* row of this process, 0 until something is begun */
	bool in_tx;
	uint64_t dirty_since;		/* monotonic ns of the oldest thing not committed, 0: none */
	uint64_t waiting_since;		/* monotonic ns, for another writer's lock */
	int failed;			/* negative errno that ended all writing; 0 while it works */
	struct err failure;		/* its sentence, repeated by every later call */
	struct store_ids threads, symbols, stacks;
	struct store_pending pending;
	struct store_forest forest;
};

/* --- statement.c --- */

/* The cached statement of slot `q`, prepared from `sql` when first asked for. */
int store_stmt(struct store *s, enum store_query q, const char *sql, sqlite3_stmt **st, struct err *err);
/* 1: there is a row; 0: there was none (or no more), the statement is reset; negative: error, reset. */
int store_row(struct store *s, sqlite3_stmt *st, struct err *err);
/* Resets a statement that is left before its last row. */
void store_done(sqlite3_stmt *st);
/* Runs a writing statement that returns no row. A failure other than a broken constraint ends all writing. */
int store_exec(struct store *s, sqlite3_stmt *st, struct err *err);
/* The sentence for SQLite's last error, while trying to `verb` ("read", "write") the file. */
int store_sql_err(struct store *s, const char *verb, struct err *err);
/* A sentence for content that no kab wrote. */
int store_damaged(struct store *s, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Opens the transaction when none is; refuses in a store opened for reading or after a failure. */
int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);	/* with all that is pending */
/* Ends all writing, for the reason `why`: rolls back to the last commit. */
void store_abort(struct store *s, int code, const struct err *why);
/* Text of a column, the caller's, at most STORE_LENGTH_MAX bytes; NULL for NULL. May hold NUL bytes. */
char *store_text_dup(sqlite3_stmt *st, int column);
/* An unsigned 32-bit column; anything else in it is damage. */
int store_column_u32(struct store *s, sqlite3_stmt *st, int column, const char *what, uint32_t *value,
		     struct err *err);
uint64_t store_clock(void);				/* monotonic ns */

/* --- schema.c --- */

/* Brings an empty database, or one of version `from`, to STORE_VERSION; inside the caller's transaction. */
int schema_migrate(sqlite3 *db, int from);
/* True when tables and indices are exactly those of `version`, and there is nothing beside them. */
int schema_same(sqlite3 *db, int version, bool *same);

/* --- writer.c: tells a writer that is gone --- */

struct store_writer {
	int64_t pid;
	uint64_t start;		/* clock ticks between boot and the start of the process */
	char boot[40];		/* random id of the boot; another machine or boot has another */
};
int writer_self(struct store_writer *w, struct err *err);
bool writer_alive(const struct store_writer *w);

/* --- rows.c --- */

/* Experiments and runs that are marked running: of this process, or of one that is gone. */
int store_mark_own_incomplete(struct store *s, struct err *err);
int store_mark_dead_incomplete(struct store *s, struct err *err);

/* --- ingest.c --- */

int store_flush(struct store *s, struct err *err); /* pending samples to their tables; a no-op for a reader */
void store_forget(struct store *s);			/* drops pending samples and known ids */

/* --- fold.c --- */

/* The rows added since the last call, each checked. */
int store_forest_load(struct store *s, struct err *err);
void store_forest_release(struct store_forest *f);

#endif
