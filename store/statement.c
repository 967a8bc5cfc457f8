// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * statement: prepared statements, the one open transaction, and SQLite's error
 * codes turned into sentences. All other files of this room run their SQL
 * through here.
 */
#include "store/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

uint64_t store_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* --- sentences --- */

static const struct {
	int code;		/* primary result code */
	int num;		/* errno value it is returned as */
	const char *reason;	/* NULL: SQLite's own words */
	const char *remedy;
} failures[] = {
	{ SQLITE_FULL, ENOSPC, "no room is left on its device",
	  "what was committed before stays; make room there, or name a file elsewhere with -s" },
	{ SQLITE_BUSY, EBUSY, "another kab has been writing to it for too long",
	  "wait until that is done, or name another file with -s" },
	{ SQLITE_LOCKED, EBUSY, "another kab has been writing to it for too long",
	  "wait until that is done, or name another file with -s" },
	{ SQLITE_NOTADB, EINVAL, "it is not a session file of kab", "name another one with -s" },
	{ SQLITE_CORRUPT, EUCLEAN, NULL,
	  "the file is damaged: take a copy of it from before, or save what can be read with sqlite3's "
	  ".recover" },
	{ SQLITE_FORMAT, EUCLEAN, NULL, "the file is damaged: take a copy of it from before" },
	{ SQLITE_READONLY, EACCES, "it is write-protected",
	  "change its permissions, or name another file with -s" },
	{ SQLITE_PERM, EACCES, "permission is denied",
	  "change its permissions, or name another file with -s" },
	{ SQLITE_AUTH, EACCES, "permission is denied",
	  "change its permissions, or name another file with -s" },
	{ SQLITE_CANTOPEN, EACCES, "it, or the -wal and -shm files beside it, cannot be opened",
	  "check the permissions of the file and of its folder" },
	{ SQLITE_IOERR, EIO, NULL, "what was committed before stays; look at the disk and the kernel log" },
	{ SQLITE_TOOBIG, EFBIG, "a text in it is longer than 64 MiB", "the file is not one that kab wrote" },
	{ SQLITE_CONSTRAINT, EINVAL, NULL,
	  "the file is damaged, or this is a mistake in kab: please report it" },
	{ SQLITE_NOMEM, ENOMEM, "out of memory", "what was committed before stays" },
};

int store_sql_err(struct store *s, const char *verb, struct err *err)
{
	int ext = sqlite3_extended_errcode(s->db), sys = sqlite3_system_errno(s->db);
	const char *remedy = "this may be a mistake in kab: please report it", *reason = NULL;
	struct buf words = BUF_INIT;
	int num = EIO;

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		if (failures[i].code != (ext & 0xff))
			continue;
		num = failures[i].num;
		reason = failures[i].reason;
		remedy = failures[i].remedy;
	}
	if ((ext & 0xff) == SQLITE_IOERR && sys == ENOSPC) {	/* of the -shm file */
		num = ENOSPC;
		reason = failures[0].reason;
		remedy = failures[0].remedy;
	}
	if (!reason) {		/* may quote the file: it does not reach a terminal as it is */
		const char *msg = (ext & 0xff) == SQLITE_IOERR && sys ? strerror(sys) : sqlite3_errmsg(s->db);

		text_escape(&words, msg, strnlen(msg, 300), false);
		reason = buf_str(&words);
	}
	err_add(err, -num, "Cannot %s the session file %s: %s; %s.", verb, s->path, reason, remedy);
	buf_release(&words);
	return -num;
}

int store_damaged(struct store *s, struct err *err, const char *fmt, ...)
{
	char what[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_add(err, -EUCLEAN, "The session file %s is damaged: %s; take a copy of it from before.",
		       s->path, what);
}

/* --- statements --- */

int store_stmt(struct store *s, enum store_query q, const char *sql, sqlite3_stmt **st, struct err *err)
{
	if (!s->stmt[q] &&
	    sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[q], NULL) != SQLITE_OK)
		return store_sql_err(s, "read", err);
	*st = s->stmt[q];
	return 0;
}

void store_done(sqlite3_stmt *st)
{
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);	/* what was bound is the caller's and may be gone */
}

int store_row(struct store *s, sqlite3_stmt *st, struct err *err)
{
	int step = sqlite3_step(st), rc = 0;

	if (step == SQLITE_ROW)
		return 1;
	if (step != SQLITE_DONE)
		rc = store_sql_err(s, "read", err);
	store_done(st);
	return rc;
}

int store_exec(struct store *s, sqlite3_stmt *st, struct err *err)
{
	struct err local = ERR_INIT;
	int step = sqlite3_step(st), rc = 0;

	if (step != SQLITE_DONE)
		rc = store_sql_err(s, "write", &local);
	store_done(st);
	if (rc && (step & 0xff) != SQLITE_CONSTRAINT)
		store_abort(s, rc, &local);
	return rc ? err_add(err, rc, "%s", local.text) : 0;
}

char *store_text_dup(sqlite3_stmt *st, int column)
{
	const unsigned char *text = sqlite3_column_text(st, column);
	size_t n = (size_t)sqlite3_column_bytes(st, column);
	char *copy;

	if (!text)
		return NULL;
	copy = mem_alloc(n + 1);
	memcpy(copy, text, n);
	return copy;
}

int store_column_u32(struct store *s, sqlite3_stmt *st, int column, const char *what, uint32_t *value,
		     struct err *err)
{
	int64_t v = sqlite3_column_int64(st, column);

	if (v < 0 || v > UINT32_MAX)
		return store_damaged(s, err, "the %s %lld is out of range", what, (long long)v);
	*value = (uint32_t)v;
	return 0;
}

/* --- the transaction --- */

void store_abort(struct store *s, int code, const struct err *why)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	s->in_tx = false;
	s->dirty_since = 0;
	s->failed = code;
	s->failure = *why;
	store_forget(s);
}

int store_begin(struct store *s, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc;

	if (s->failed)
		return err_add(err, s->failed, "%s", s->failure.text);
	if (s->mode != STORE_WRITE)
		return err_add(err, -EROFS, "The session file %s is open for reading only.", s->path);
	if (!s->dirty_since)
		s->dirty_since = store_clock();
	if (s->in_tx)
		return 0;
	rc = store_stmt(s, Q_BEGIN, "BEGIN IMMEDIATE", &st, err);
	if (rc)
		return rc;
	rc = sqlite3_step(st);
	if (rc != SQLITE_DONE)
		rc = store_sql_err(s, "write", err);	/* nothing is lost yet: the caller may try again */
	else
		rc = 0;
	store_done(st);
	s->in_tx = !rc;
	return rc;
}

int store_commit(struct store *s, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = store_flush(s, err);

	if (rc || !s->in_tx)
		return rc;
	rc = store_stmt(s, Q_COMMIT, "COMMIT", &st, err);
	if (!rc)
		rc = store_exec(s, st, err);
	if (rc)
		return rc;
	s->in_tx = false;
	s->dirty_since = 0;
	return 0;
}
