// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * open: opens, checks and closes a session file.
 *
 * Order matters here: the connection is hardened first, then the file is
 * recognised by its two header numbers, then its schema is compared with ours,
 * and only then is anything written to it, be it a journal mode. What cannot
 * be opened is named in one sentence each, before SQLite sees the path where
 * the kernel can say it better.
 */
#include "store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define BUSY_NS 10000000000ULL	/* how long a writer waits for another */
#define BUSY_POLL_NS 1000000

/* The folder of the path, the caller's. */
static char *folder_of(const char *path)
{
	char *dir = mem_strdup(path), *slash = strrchr(dir, '/');

	if (slash && slash != dir)
		*slash = '\0';
	else if (slash)
		slash[1] = '\0';
	else {
		free(dir);
		dir = mem_strdup(".");
	}
	return dir;
}

/* Says what the kernel knows about the path and the right to it. */
static int look_at(const char *path, enum store_mode mode, struct err *err)
{
	bool write = mode == STORE_WRITE;
	struct stat st = { 0 };
	char *dir;
	int rc = 0;

	if (!path[0])
		return err_add(err, -EINVAL, "The name of the session file is empty; name one with -s FILE.");
	if (stat(path, &st) && errno != ENOENT)
		return err_add(err, -errno, "Cannot open the session file %s: %s; name another with -s FILE.",
			       path, strerror(errno));
	if (!st.st_mode && !write)
		return err_add(
			err, -ENOENT,
			"There is no session file %s yet; kab run and kab record make one, "
			"-s FILE names another.",
			path);
	if (S_ISDIR(st.st_mode))
		return err_add(err, -EISDIR, "%s is a folder; name a file in it with -s FILE.", path);
	if (st.st_mode && !S_ISREG(st.st_mode))
		return err_add(err, -EINVAL, "%s is not a regular file; name one with -s FILE.", path);
	if (st.st_mode && faccessat(AT_FDCWD, path, write ? R_OK | W_OK : R_OK, AT_EACCESS))
		return err_add(
			err, -errno,
			"Cannot %s the session file %s: %s; change its permissions, or name another with "
			"-s FILE.",
			write ? "write" : "read", path, strerror(errno));
	if (!st.st_size && !write)
		return err_add(err, -EINVAL,
			       "The session file %s is empty; kab run and kab record write into it.", path);
	if (!write)
		return 0;
	dir = folder_of(path);		/* the write-ahead log is made beside the file */
	if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS))
		rc = err_add(
			err, -errno,
			"Cannot write the session file %s in the folder %s: %s; make that folder writable, "
			"or name a file elsewhere with -s FILE.",
			path, dir, strerror(errno));
	free(dir);
	return rc;
}

/* As a URI, so that no path is taken for one, nor for ":memory:". The caller's. */
static char *uri_of(const char *path, bool immutable)
{
	static const char hex[] = "0123456789ABCDEF";
	struct buf uri = BUF_INIT;

	buf_puts(&uri, path[0] == '/' ? "file:" : "file:./");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (strchr("%?#", c) || c < ' ' || c > '~') {
			buf_putc(&uri, '%');
			buf_putc(&uri, hex[c >> 4]);
			buf_putc(&uri, hex[c & 15]);
		} else {
			buf_putc(&uri, (char)c);
		}
	}
	if (immutable)
		buf_puts(&uri, "?immutable=1");
	return buf_detach(&uri);
}

/*
 * SQLite's own handler waits up to 100 ms between two tries and seldom meets the gap between two
 * transactions of a busy recorder: of two that never paused, one waited for the other up to 4.6 s,
 * and 1.1 s with tries every millisecond.
 */
static int wait_for_lock(void *ctx, int tries)
{
	struct timespec pause = { 0, BUSY_POLL_NS };
	struct store *s = ctx;

	if (!tries)
		s->waiting_since = store_clock();
	if (store_clock() - s->waiting_since > BUSY_NS)
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

/* One connection, hardened as sqlite.org/security.html asks for files of unknown origin. */
static int connect_to(struct store *s, bool immutable, struct err *err)
{
	static const struct { int what, value; } config[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
	};
	static const struct { int what, value; } limits[] = {
		{ SQLITE_LIMIT_LENGTH, STORE_LENGTH_MAX },
		{ SQLITE_LIMIT_SQL_LENGTH, 100000 },
		{ SQLITE_LIMIT_COLUMN, 100 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 50 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 5 },
		{ SQLITE_LIMIT_VDBE_OP, 25000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 8 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 10 },
	};
	int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	char *uri = uri_of(s->path, immutable);
	size_t i;
	int rc;

	flags |= s->mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	rc = sqlite3_open_v2(uri, &s->db, flags, NULL);
	free(uri);
	if (!s->db)
		return err_add(err, -ENOMEM, "Out of memory while opening the session file %s.", s->path);
	for (i = 0; i < sizeof(config) / sizeof(config[0]) && rc == SQLITE_OK; i++)
		rc = sqlite3_db_config(s->db, config[i].what, config[i].value, NULL);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(s->db, limits[i].what, limits[i].value);
	if (rc == SQLITE_OK)
		rc = sqlite3_busy_handler(s->db, wait_for_lock, s);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(
			s->db,
			"PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
			NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_sql_err(s, "open", err);
}

/* The first column of the first row; these few run once, so they are not kept. */
static int ask(struct store *s, const char *sql, int64_t *value)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);

	*value = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/*
 * A file in WAL mode needs its -shm file, which a read-only place does not
 * let us make. It can then be read as one that nobody changes, unless a log
 * with changes not yet in it lies beside.
 */
static int reopen_immutable(struct store *s, struct err *err)
{
	char *wal = mem_printf("%s-wal", s->path);
	struct stat st;
	bool pending = !stat(wal, &st) && st.st_size > 0;

	free(wal);
	if (pending)
		return err_add(
			err, -EROFS,
			"Cannot read the session file %s here: changes in %s-wal are not in it yet and the "
			"place is read-only; copy both files to a folder you may write to.",
			s->path, s->path);
	sqlite3_close(s->db);
	s->db = NULL;
	return connect_to(s, true, err);
}

/* In one transaction: another process may be creating the file at this moment. */
static int read_header(struct store *s, int64_t *app, int64_t *version, int64_t *pages)
{
	int rc = sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = ask(s, "PRAGMA application_id", app);
	if (rc == SQLITE_OK)
		rc = ask(s, "PRAGMA user_version", version);
	if (rc == SQLITE_OK)
		rc = ask(s, "PRAGMA page_count", pages);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	return rc;	/* on failure the connection is closed or its transaction fails again: no rollback */
}

/* Recognises the file by application_id and user_version. */
static int recognise(struct store *s, int64_t *version, bool *empty, struct err *err)
{
	int64_t app = 0, pages = 0;
	int rc = read_header(s, &app, version, &pages);
	int primary = rc & 0xff;

	if (s->mode == STORE_READ && (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY)) {
		rc = reopen_immutable(s, err);
		if (rc)
			return rc;
		rc = read_header(s, &app, version, &pages);
	}
	if (rc != SQLITE_OK)
		return store_sql_err(s, "open", err);
	*empty = !app && !*version && !pages;
	if (*empty && s->mode == STORE_WRITE)
		return 0;
	if (app != STORE_APPLICATION_ID)
		return err_add(err, -EINVAL,
			       "%s is an SQLite database of another program, not a session file of kab; name "
			       "another file with -s FILE.",
			       s->path);
	if (*version > STORE_VERSION)
		return err_add(err, -EPROTONOSUPPORT,
			       "The session file %s was written by a newer kab (file version %lld, this "
			       "kab knows up to %d); update kab.",
			       s->path, (long long)*version, STORE_VERSION);
	if (*version < 1)
		return store_damaged(s, err, "its version %lld is none that a kab has written",
				     (long long)*version);
	return 0;
}

static int verify_schema(struct store *s, int version, struct err *err)
{
	bool same;

	if (schema_same(s->db, version, &same) != SQLITE_OK)
		return store_sql_err(s, "read", err);
	if (!same)
		return err_add(err, -EUCLEAN,
			       "The tables of the session file %s are not those that kab makes, so it is not "
			       "read: somebody changed them; take a copy of the file from before.",
			       s->path);
	return 0;
}

/* Empty or older files become STORE_VERSION, in one transaction; another process may be doing the same. */
static int upgrade(struct store *s, struct err *err)
{
	char numbers[120];
	int64_t version;
	int rc = sqlite3_exec(s->db, "PRAGMA auto_vacuum = NONE; PRAGMA encoding = 'UTF-8'; BEGIN IMMEDIATE",
			      NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = ask(s, "PRAGMA user_version", &version);
	if (rc == SQLITE_OK && version < STORE_VERSION) {
		sqlite3_snprintf(sizeof(numbers), numbers,
				 "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID,
				 STORE_VERSION);
		rc = schema_migrate(s->db, (int)version);
		if (rc == SQLITE_OK)
			rc = sqlite3_exec(s->db, numbers, NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return 0;
	rc = store_sql_err(s, "create", err);
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/*
 * The log makes one writer and many readers possible. NORMAL syncs it at
 * checkpoints only: a killed writer loses nothing that was committed, a power
 * cut may lose the last commits but never damages the file. 64 MiB of cache hold
 * the pages that the folded rows of a run fall on.
 */
static int prepare_writing(struct store *s, struct err *err)
{
	int rc, tries = 0;

	do	/* the step to WAL needs the file for itself, and SQLite does not wait for that */
		rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	while ((rc & 0xff) == SQLITE_BUSY && wait_for_lock(s, tries++));
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db,
				  "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864;"
				  "PRAGMA cache_size = -65536", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return store_sql_err(s, "write", err);
	if (sqlite3_db_readonly(s->db, "main"))
		return err_add(
			err, -EACCES,
			"The session file %s is write-protected; change its permissions, or name another "
			"with -s FILE.",
			s->path);
	return store_mark_dead_incomplete(s, err);
}

static void release(struct store *s)
{
	for (int i = 0; i < Q_COUNT; i++)
		sqlite3_finalize(s->stmt[i]);
	sqlite3_close(s->db);
	store_forget(s);
	store_forest_release(&s->forest);
	buf_release(&s->key);
	free(s->path);
	free(s);
}

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err)
{
	struct store *s;
	int64_t version = 0;
	bool empty = false;
	int rc;

	*out = NULL;
	rc = look_at(path, mode, err);
	if (rc)
		return rc;
	s = mem_alloc(sizeof(*s));
	s->path = mem_strdup(path);
	s->mode = mode;
	rc = connect_to(s, false, err);
	if (!rc)
		rc = recognise(s, &version, &empty, err);
	if (!rc && !empty)
		rc = verify_schema(s, (int)version, err);
	if (!rc && mode == STORE_WRITE && version < STORE_VERSION)
		rc = upgrade(s, err);
	s->version = mode == STORE_WRITE ? STORE_VERSION : (int)version;
	if (!rc && mode == STORE_WRITE)
		rc = prepare_writing(s, err);
	if (rc) {
		release(s);
		return rc;
	}
	*out = s;
	return 0;
}

int store_close(struct store *s, struct err *err)
{
	int rc = 0;

	if (!s)
		return 0;
	if (s->mode == STORE_WRITE && !s->failed) {
		rc = store_mark_own_incomplete(s, err);
		if (!rc)
			rc = store_commit(s, err);
		if (!rc)	/* a full disk or a reader in the way leaves the log, and the log is good */
			sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	} else if (s->failed) {
		rc = err_add(err, s->failed, "%s", s->failure.text);
	}
	release(s);
	return rc;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

int store_check(struct store *s, struct err *err)
{
	static const struct { const char *sql, *what; } checks[] = {
		{ "PRAGMA integrity_check(1)", "the integrity check says" },
		{ "PRAGMA foreign_key_check", "a row is missing that another refers to, in the table" },
	};
	struct buf words = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !rc; i++) {
		sqlite3_stmt *st = NULL;
		const char *text;

		if (sqlite3_prepare_v2(s->db, checks[i].sql, -1, &st, NULL) != SQLITE_OK)
			rc = store_sql_err(s, "check", err);
		else if (sqlite3_step(st) == SQLITE_ROW) {
			text = (const char *)sqlite3_column_text(st, 0);
			buf_clear(&words);
			text_escape(&words, text ? text : "", text ? strnlen(text, 200) : 0, false);
			if (strcmp(buf_str(&words), "ok"))
				rc = store_damaged(s, err, "%s: %s", checks[i].what, buf_str(&words));
		} else if (sqlite3_errcode(s->db) != SQLITE_DONE && sqlite3_errcode(s->db) != SQLITE_OK) {
			rc = store_sql_err(s, "check", err);
		}
		sqlite3_finalize(st);
	}
	buf_release(&words);
	if (!rc)	/* a reader's integrity check passes over CHECK constraints */
		rc = store_forest_load(s, err);
	return rc;
}

int64_t store_data_version(struct store *s)
{
	sqlite3_stmt *st = NULL;
	int64_t version = 0;

	if (store_stmt(s, Q_DATA_VERSION, "PRAGMA data_version", &st, NULL) || store_row(s, st, NULL) != 1)
		return 0;
	version = sqlite3_column_int64(st, 0);
	store_done(st);
	return version;
}
