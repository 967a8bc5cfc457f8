// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schema: the tables of a session file, and the proof that a file has these and
 * no others. A file from elsewhere may carry triggers, views or altered tables
 * that would run with our statements; its schema is therefore compared, text
 * for text, with one freshly made in memory before any table is touched.
 *
 * Enumerations are stored by number: a value may be added behind the last one,
 * none may move.
 */
#include "store/internal.h"

#include <string.h>

_Static_assert(VARIANT_NONE == 0 && VARIANT_NATIVE == 1 && VARIANT_BEFORE == 2 && VARIANT_AFTER == 3,
	       "variants are stored by number");
_Static_assert(RUN_BLOCK == 0 && RUN_RECORD == 1 && RUN_IMPORT == 2, "kinds of run are stored by number");
_Static_assert(RUN_RUNNING == 0 && RUN_COMPLETE == 1 && RUN_INCOMPLETE == 2 && RUN_FAILED == 3,
	       "states of a run are stored by number");
_Static_assert(EXP_RUNNING == 0 && EXP_COMPLETE == 1 && EXP_CANCELLED == 2 && EXP_INCOMPLETE == 3 &&
	       EXP_FAILED == 4,
	       "states of an experiment are stored by number");
_Static_assert(FRAME_KERNEL == 0 && FRAME_MODULE == 1 && FRAME_USER == 2 && FRAME_MARK == 3,
	       "kinds of frame are stored by number");

/*
 * What turns version i into i + 1. Never edited once released.
 *
 * The root of all stacks is row 0, its own parent; every other row lies behind
 * its parent, so that one pass in order of id meets parents first. Counts and
 * periods are REAL because imported profiles carry fractions; whole numbers
 * are stored as integers all the same. Unsigned 64-bit values keep their bits.
 * An event needs no row to be sampled: the row only names it.
 */
static const char *const migrations[STORE_VERSION] = {
	"CREATE TABLE sequence (last INTEGER NOT NULL) STRICT;"
	"INSERT INTO sequence VALUES (0);"

	"CREATE TABLE writer ("
	" id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL"
	") STRICT;"

	"CREATE TABLE machine (id INTEGER PRIMARY KEY, facts INTEGER NOT NULL) STRICT;"
	"CREATE TABLE fact ("
	" machine INTEGER NOT NULL REFERENCES machine (id), position INTEGER NOT NULL,"
	" key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (machine, position)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE experiment ("
	" id INTEGER PRIMARY KEY, writer INTEGER NOT NULL REFERENCES writer (id), state INTEGER NOT NULL,"
	" case_name TEXT, case_yaml TEXT, target TEXT, command TEXT, workload TEXT, note TEXT, kernel TEXT,"
	" kab_version TEXT, started REAL NOT NULL, finished REAL NOT NULL, seed INTEGER NOT NULL,"
	" blocks_planned INTEGER NOT NULL, exact INTEGER NOT NULL, event TEXT, freq_hz INTEGER NOT NULL,"
	" machine INTEGER REFERENCES machine (id)"
	") STRICT;"

	"CREATE TABLE run ("
	" id INTEGER PRIMARY KEY, writer INTEGER NOT NULL REFERENCES writer (id),"
	" experiment INTEGER REFERENCES experiment (id), kind INTEGER NOT NULL, state INTEGER NOT NULL,"
	" variant INTEGER NOT NULL, ordinal INTEGER NOT NULL, warmup INTEGER NOT NULL,"
	" sampled INTEGER NOT NULL, label TEXT, command TEXT, started REAL NOT NULL,"
	" wall_ns INTEGER NOT NULL, user_ns INTEGER NOT NULL, sys_ns INTEGER NOT NULL,"
	" ops REAL NOT NULL, samples INTEGER NOT NULL, lost INTEGER NOT NULL,"
	" bad_stacks INTEGER NOT NULL, event TEXT, freq_hz INTEGER NOT NULL, exit_status INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX run_by_experiment ON run (experiment, ordinal);"

	"CREATE TABLE metric ("
	" id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id),"
	" name TEXT NOT NULL, unit TEXT NOT NULL, value REAL"
	") STRICT;"
	"CREATE INDEX metric_by_run ON metric (run);"

	"CREATE TABLE run_text ("
	" id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id),"
	" kind TEXT NOT NULL, text TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX run_text_by_run ON run_text (run, kind);"

	"CREATE TABLE event ("
	" run INTEGER NOT NULL REFERENCES run (id), position INTEGER NOT NULL,"
	" name TEXT NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (run, position)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE thread ("
	" id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id), pid INTEGER NOT NULL,"
	" tid INTEGER NOT NULL, comm TEXT NOT NULL, UNIQUE (run, pid, tid, comm)"
	") STRICT;"

	"CREATE TABLE symbol ("
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL, dso TEXT NOT NULL, build_id TEXT NOT NULL,"
	" kind INTEGER NOT NULL, UNIQUE (name, dso, build_id, kind)"
	") STRICT;"
	"INSERT INTO symbol VALUES (0, 'all', '', '', 3);"

	"CREATE TABLE stack ("
	" id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES stack (id),"
	" symbol INTEGER NOT NULL REFERENCES symbol (id), UNIQUE (parent, symbol),"
	" CHECK (parent < id OR id = 0)"
	") STRICT;"
	"INSERT INTO stack VALUES (0, 0, 0);"

	"CREATE TABLE sample ("
	" run INTEGER NOT NULL REFERENCES run (id), event INTEGER NOT NULL,"
	" thread INTEGER NOT NULL REFERENCES thread (id), stack INTEGER NOT NULL REFERENCES stack (id),"
	" count REAL NOT NULL, period REAL NOT NULL, PRIMARY KEY (run, event, thread, stack)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE chunk ("
	" run INTEGER NOT NULL REFERENCES run (id), number INTEGER NOT NULL, first_ns INTEGER NOT NULL,"
	" last_ns INTEGER NOT NULL, samples INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, number)"
	") STRICT;",

	/* 2: one case on several machines; the settings as a job file. */
	"ALTER TABLE experiment ADD COLUMN group_id INTEGER REFERENCES experiment (id);"
	"ALTER TABLE experiment ADD COLUMN job TEXT;",

	/* 3: counters with the share of the time they were counted in; histograms (profile/hist.h) */
	"ALTER TABLE metric ADD COLUMN running REAL;"

	"CREATE TABLE histogram ("
	" id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id),"
	" name TEXT NOT NULL, unit TEXT NOT NULL, UNIQUE (run, name)"
	") STRICT;"

	"CREATE TABLE bucket ("
	" histogram INTEGER NOT NULL REFERENCES histogram (id), number INTEGER NOT NULL,"
	" count INTEGER NOT NULL, PRIMARY KEY (histogram, number)"
	") STRICT, WITHOUT ROWID;",
};

int schema_migrate(sqlite3 *db, int from)
{
	int rc = SQLITE_OK;

	for (int i = from; i < STORE_VERSION && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(db, migrations[i], NULL, NULL, NULL);
	return rc;
}

/* Both NULL, or the same bytes. */
static bool same_column(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
	const void *x = sqlite3_column_blob(a, column), *y = sqlite3_column_blob(b, column);
	int n = sqlite3_column_bytes(a, column);

	if (sqlite3_column_type(a, column) != sqlite3_column_type(b, column) ||
	    n != sqlite3_column_bytes(b, column))
		return false;
	return n == 0 || (x && y && !memcmp(x, y, (size_t)n));
}

int schema_same(sqlite3 *db, int version, bool *same)
{
	static const char list[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
	sqlite3_stmt *a = NULL, *b = NULL;
	sqlite3 *ours = NULL;
	int rc, ra, rb, i;

	*same = false;
	rc = sqlite3_open_v2(":memory:", &ours, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	for (i = 0; i < version && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(ours, migrations[i], NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(ours, list, -1, &a, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, list, -1, &b, NULL);
	while (rc == SQLITE_OK) {
		ra = sqlite3_step(a);
		rb = sqlite3_step(b);
		if (ra == SQLITE_DONE && rb == SQLITE_DONE)
			*same = true;
		if (rb != SQLITE_ROW && rb != SQLITE_DONE)
			rc = rb;
		if (ra != SQLITE_ROW || rb != SQLITE_ROW)
			break;
		for (i = 0; i < 4 && same_column(a, b, i); i++)
			;
		if (i < 4)
			break;
	}
	sqlite3_finalize(a);
	sqlite3_finalize(b);
	sqlite3_close(ours);
	return rc;
}
