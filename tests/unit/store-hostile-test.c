// SPDX-License-Identifier: GPL-2.0-or-later
/* Session files from elsewhere: whatever is in them, they are read, or refused with one sentence. */
#include "store-fixture.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "profile/stats.h"

/* Changes the file behind kab's back, without its rules. */
static void tamper(const char *path, const char *sql)
{
	sqlite3 *db;
	char *msg = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON", NULL, NULL,
		     NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, &msg) != SQLITE_OK)
		print_error("%s: %s\n", sql, msg);
	assert_null(msg);
	sqlite3_close(db);
}

/* Every way of reading a file. 0, or the code of the first that failed; its sentence is checked. */
static int read_all(struct fixture *f, const char *path)
{
	struct store_profile_opts opts = { .by_comm = true };
	struct raw_count c = { 0 };
	struct experiment *e = NULL;
	struct store_thread_row *t = NULL;
	struct store_metric *m = NULL;
	struct store_hist *h = NULL;
	struct buf text = BUF_INIT;
	struct profile *p = NULL;
	struct machine machine;
	struct store *s = NULL;
	struct run *r = NULL;
	size_t n = 0, n_runs = 0, i;
	int rc;

	err_clear(&f->err);
	rc = store_open(path, STORE_READ, &s, &f->err);
	if (rc)
		goto out;
	rc = store_experiments(s, &e, &n, &f->err);
	for (i = 0; i < n; i++)
		experiment_release(&e[i]);
	free(e);
	rc = rc ? rc : store_machine(s, 1, &machine, &f->err);
	if (!rc)
		machine_release(&machine);
	rc = rc ? rc : store_runs(s, 0, &r, &n_runs, &f->err);
	for (i = 0; i < n_runs && !rc; i++) {
		rc = store_profile(s, &r[i].id, 1, &opts, &p, &f->err);
		profile_free(p);
		p = NULL;
		rc = rc ? rc : store_raw(s, r[i].id, count_raw, &c, &f->err);
		rc = rc ? rc : store_text(s, r[i].id, "output", &text, &f->err);
		rc = rc ? rc : store_threads(s, r[i].id, &t, &n, &f->err);
		for (size_t k = 0; !rc && k < n; k++)
			store_thread_row_release(&t[k]);
		free(t);
		t = NULL;
		rc = rc ? rc : store_hists(s, r[i].id, &h, &n, &f->err);
		for (size_t k = 0; k < n && h; k++)
			store_hist_release(&h[k]);
		free(h);
		h = NULL;
		rc = rc ? rc : store_metrics(s, r[i].id, &m, &n, &f->err);
		for (size_t k = 0; !rc && k < n; k++)
			store_metric_release(&m[k]);
		free(m);
		m = NULL;
	}
	for (i = 0; i < n_runs; i++)
		run_release(&r[i]);
	free(r);
	buf_release(&text);
	assert_int_equal(store_close(s, NULL), 0);
out:
	assert_true(rc <= 0);
	assert_int_equal(rc != 0, f->err.len != 0);
	if (rc) {
		assert_int_equal(f->err.text[f->err.len - 1], '.');
		assert_null(strchr(f->err.text, '\x1b'));
	}
	return rc;
}

static void some_session(struct fixture *f)
{
	struct store *s = open_store(f, STORE_WRITE);
	int64_t id = record(f, s, 300);
	struct hist h = { 0 };

	hist_add(&h, 5);
	hist_add(&h, 7);
	ok(f, store_metric_add(s, id, "m", "u", 1, &f->err));
	ok(f, store_hist_add(s, id, "h", "ns", &h, &f->err));
	hist_release(&h);
	ok(f, store_text_add(s, id, "output", "text", &f->err));
	ok(f, store_close(s, &f->err));
}

static const struct { const char *sql; int code; const char *words; } altered[] = {
	/* the two numbers */
	{ "PRAGMA application_id = 1", -EINVAL, "another program" },
	{ "PRAGMA user_version = 99", -EPROTONOSUPPORT, "newer kab (file version 99" },
	{ "PRAGMA user_version = 0", -EUCLEAN, "version 0" },
	{ "PRAGMA user_version = -7", -EUCLEAN, "version -7" },
	/* the schema */
	{ "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM metric; END", -EUCLEAN,
	  "somebody changed them" },
	{ "CREATE VIEW v AS SELECT 1", -EUCLEAN, "somebody changed them" },
	{ "CREATE TABLE zzz (x)", -EUCLEAN, "somebody changed them" },
	{ "CREATE INDEX i ON stack (symbol)", -EUCLEAN, "somebody changed them" },
	{ "CREATE VIRTUAL TABLE x USING fts5(a)", -EUCLEAN, "somebody changed them" },
	{ "ALTER TABLE run ADD COLUMN more TEXT", -EUCLEAN, "somebody changed them" },
	{ "DROP TABLE run_text", -EUCLEAN, "somebody changed them" },
	{ "UPDATE sqlite_schema SET sql = replace(sql, 'parent < id', 'parent > id') WHERE name = 'stack'",
	  -EUCLEAN, "somebody changed them" },
	{ "UPDATE sqlite_schema SET sql = 'CREATE TABLE \x1b[31m stack (' WHERE name = 'stack'", -EUCLEAN,
	  "damaged" },
	{ "DELETE FROM sqlite_schema", -EUCLEAN, "somebody changed them" },
	/* stacks and symbols */
	{ "UPDATE stack SET parent = 3 WHERE id = 2", -EUCLEAN, "stack 2 does not lie behind its parent" },
	{ "UPDATE stack SET parent = 2 WHERE id = 2", -EUCLEAN, "stack 2 does not lie behind its parent" },
	{ "UPDATE stack SET parent = -5 WHERE id = 2", -EUCLEAN, "stack 2 does not lie behind its parent" },
	{ "UPDATE stack SET symbol = 4711 WHERE id = 3", -EUCLEAN, "stack 3 does not" },
	{ "INSERT INTO stack VALUES (-9223372036854775808, 0, 3)", 0, "" },
	{ "INSERT INTO stack VALUES (9223372036854775807, 0, 3)", 0, "" },
	{ "INSERT INTO stack VALUES (9223372036854775807, 9223372036854775807, 1)", -EUCLEAN,
	  "does not lie behind" },
	{ "DELETE FROM stack WHERE id = 0", -EUCLEAN, "stack 1 does not lie behind" },
	{ "DELETE FROM stack", -EUCLEAN, "root of its stacks is gone" },
	{ "DELETE FROM symbol WHERE id = 2", -EUCLEAN, "symbol is missing" },
	{ "UPDATE symbol SET kind = 99 WHERE id = 1", -EUCLEAN, "symbol 1 is of an unknown kind" },
	{ "UPDATE symbol SET kind = -1 WHERE id = 1", -EUCLEAN, "symbol 1 is of an unknown kind" },
	{ "UPDATE symbol SET name = CAST(x'611b5b33316d00ff' AS TEXT) WHERE id = 1", 0, "" },
	/* samples */
	{ "UPDATE sample SET stack = 4711 WHERE stack = 2", -EUCLEAN, "a stack that does not exist" },
	{ "UPDATE sample SET thread = 4711", -EUCLEAN, "a thread that it does not have" },
	{ "UPDATE sample SET count = 9e999 WHERE stack = 2", -EUCLEAN, "no numbers" },
	{ "UPDATE sample SET period = -9e999 WHERE stack = 2", -EUCLEAN, "no numbers" },
	{ "UPDATE sample SET period = 1e308", 0, "" },
	{ "UPDATE sample SET run = 4711", 0, "" },
	/* raw samples */
	{ "UPDATE chunk SET data = zeroblob(100)", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET data = x''", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET data = substr(data, 1, length(data) - 1)", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET data = zeroblob(80000000)", -EFBIG, "64 MiB" },
	{ "UPDATE chunk SET samples = 299", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET samples = 0", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET samples = -1", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET samples = 1099511627776", -EUCLEAN, "cannot be unpacked" },
	{ "UPDATE chunk SET last_ns = 5", -EUCLEAN, "cannot be unpacked" },
	/* rows */
	{ "UPDATE bucket SET number = 9000 WHERE number = 7", -EUCLEAN, "bucket 9000 of a histogram" },
	{ "UPDATE bucket SET number = 4294967303 WHERE number = 7", -EUCLEAN,
	  "bucket 4294967303 of a histogram" },
	{ "UPDATE bucket SET count = -1 WHERE number = 7", -EUCLEAN, "cannot hold -1" },
	{ "UPDATE bucket SET count = 9223372036854775807", 0, "" },
	{ "UPDATE bucket SET histogram = 4711", 0, "" },
	{ "UPDATE metric SET running = -9e999, value = 9e999", 0, "" },
	{ "UPDATE run SET state = 77", -EUCLEAN, "the state in row 1 is out of range" },
	{ "UPDATE run SET variant = -1", -EUCLEAN, "the variant in row 1" },
	{ "UPDATE run SET ordinal = 4294967296", -EUCLEAN, "the ordinal in row 1" },
	{ "UPDATE run SET warmup = 2", -EUCLEAN, "the warmup in row 1" },
	{ "UPDATE run SET exit_status = 4294967296", -EUCLEAN, "the exit_status in row 1" },
	{ "UPDATE run SET started = 9e999", -EUCLEAN, "the started in row 1" },
	{ "UPDATE run SET wall_ns = -1, samples = 9223372036854775807", 0, "" },
	{ "UPDATE run SET label = CAST(x'610062' AS TEXT)", 0, "" },
	{ "UPDATE run SET state = 0; UPDATE writer SET pid = 9223372036854775807, "
	  "boot = printf('%.9999c', 'x')",
	  0, "" },
	{ "UPDATE run SET writer = 4711, state = 0", 0, "" },
	{ "UPDATE thread SET pid = -1", -EUCLEAN, "process number -1 is out of range" },
	{ "DELETE FROM thread", -EUCLEAN, "a thread that it does not have" },
	{ "UPDATE metric SET value = 9e999", 0, "" },
};

static void altered_files(void **state)
{
	struct fixture *f = *state;
	char *copy = mem_printf("%s/copy.kab", f->dir);

	some_session(f);
	for (size_t i = 0; i < sizeof(altered) / sizeof(altered[0]); i++) {
		int rc;

		ok(f, fs_copy(f->path, copy, &f->err));
		tamper(copy, altered[i].sql);
		rc = read_all(f, copy);
		if (rc != altered[i].code || !strstr(f->err.text, altered[i].words))
			print_error("%s: %d: %s\n", altered[i].sql, rc, f->err.text);
		assert_int_equal(rc, altered[i].code);
		assert_non_null(strstr(f->err.text, altered[i].words));
		err_clear(&f->err);
	}
	free(copy);
}

/* A writer refuses what a reader refuses, and has changed nothing by then. */
static void nothing_written(void **state)
{
	static const char *const sql[] = {
		"PRAGMA application_id = 1", "PRAGMA user_version = 99",
		"CREATE TRIGGER t AFTER INSERT ON writer BEGIN DELETE FROM metric; END"
	};
	struct fixture *f = *state;
	char *copy = mem_printf("%s/copy.kab", f->dir);
	struct buf before = BUF_INIT, after = BUF_INIT;
	struct store *s;

	some_session(f);
	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++) {
		ok(f, fs_copy(f->path, copy, &f->err));
		tamper(copy, sql[i]);
		tamper(copy, "PRAGMA journal_mode = DELETE");
		buf_clear(&before);
		buf_clear(&after);
		ok(f, buf_read_file(&before, copy, 1 << 24, &f->err));
		assert_true(store_open(copy, STORE_WRITE, &s, &f->err) < 0);
		assert_null(s);
		err_clear(&f->err);
		ok(f, buf_read_file(&after, copy, 1 << 24, &f->err));
		assert_int_equal(before.len, after.len);
		assert_memory_equal(before.data, after.data, before.len);
	}
	buf_release(&before);
	buf_release(&after);
	free(copy);
}

static void check_finds(void **state)
{
	static const struct { const char *sql, *words; } cases[] = {
		{ "UPDATE stack SET parent = 3 WHERE id = 2", "stack 2 does not lie behind its parent" },
		{ "UPDATE sample SET thread = 4711", "in the table: sample" },
		{ "UPDATE sqlite_schema SET rootpage ="
		  " (SELECT rootpage FROM sqlite_schema WHERE name = 'metric')"
		  " WHERE name = 'run_text'",
		  "integrity check" },
	};
	struct fixture *f = *state;
	char *copy = mem_printf("%s/copy.kab", f->dir);
	struct store *s;

	some_session(f);
	s = open_store(f, STORE_READ);
	ok(f, store_check(s, &f->err));
	ok(f, store_close(s, &f->err));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ok(f, fs_copy(f->path, copy, &f->err));
		tamper(copy, cases[i].sql);
		ok(f, store_open(copy, STORE_READ, &s, &f->err));
		fails(f, -EUCLEAN, cases[i].words, store_check(s, &f->err));
		ok(f, store_close(s, &f->err));
	}
	free(copy);
}

/* A chain as deep as anybody may send is folded without recursion. */
static void deep_stack(void **state)
{
	struct fixture *f = *state;
	struct profile *p;
	struct store *s;
	int64_t id = 1;

	some_session(f);
	tamper(f->path,
	       "WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
	       " INSERT INTO stack SELECT i, i - 1, 1 FROM n;"
	       " UPDATE sample SET stack = 200000 WHERE stack = 2");
	s = open_store(f, STORE_READ);
	ok(f, store_profile(s, &id, 1, NULL, &p, &f->err));
	assert_true(p->n > 199990 && p->samples == 300);
	profile_free(p);
	ok(f, store_close(s, &f->err));
}

static void no_sqlite(void **state)
{
	static const char text[] =
		"This is not a database, but it is longer than the hundred bytes that a header of one "
		"takes, so that SQLite looks at it.";
	struct fixture *f = *state;
	struct store *s;

	ok(f, fs_write(f->path, text, sizeof(text), &f->err));
	fails(f, -EINVAL, "not a session file of kab", store_open(f->path, STORE_READ, &s, &f->err));
	fails(f, -EINVAL, "not a session file of kab", store_open(f->path, STORE_WRITE, &s, &f->err));
	ok(f, fs_write(f->path, "x", 1, &f->err));
	fails(f, -EINVAL, "not a session file of kab", store_open(f->path, STORE_READ, &s, &f->err));
	ok(f, fs_write(f->path, "", 0, &f->err));
	fails(f, -EINVAL, "is empty", store_open(f->path, STORE_READ, &s, &f->err));
	s = open_store(f, STORE_WRITE);			/* an empty file is as good as none */
	ok(f, store_close(s, &f->err));
	fs_remove(f->path, NULL);
	tamper(f->path, "CREATE TABLE t (x)");
	fails(f, -EINVAL, "another program", store_open(f->path, STORE_WRITE, &s, &f->err));
}

/* Cut anywhere: a sentence or what is still there. */
static void truncated(void **state)
{
	struct fixture *f = *state;
	char *copy = mem_printf("%s/copy.kab", f->dir);
	struct buf whole = BUF_INIT;
	int refused = 0;

	some_session(f);
	ok(f, buf_read_file(&whole, f->path, 1 << 24, &f->err));
	for (size_t len = 1; len < whole.len; len += len < 600 ? 7 : 2048) {
		ok(f, fs_write(copy, whole.data, len, &f->err));
		refused += read_all(f, copy) != 0;
		err_clear(&f->err);
	}
	assert_true(refused > 40);
	buf_release(&whole);
	free(copy);
}

/* Bytes changed at random, whole runs of them too; the sanitizers watch. */
static void flipped(void **state)
{
	struct fixture *f = *state;
	char *copy = mem_printf("%s/copy.kab", f->dir);
	struct buf whole = BUF_INIT, bad = BUF_INIT;
	struct rng rng;
	int refused = 0;

	some_session(f);
	ok(f, buf_read_file(&whole, f->path, 1 << 24, &f->err));
	rng_seed(&rng, 1);
	for (int round = 0; round < 400; round++) {
		buf_clear(&bad);
		buf_add(&bad, whole.data, whole.len);
		for (uint64_t k = 1 + rng_below(&rng, 20); k; k--) {
			size_t at = rng_below(&rng, bad.len), n = 1 + rng_below(&rng, 8);

			for (; n && at < bad.len; n--)
				bad.data[at++] = (char)rng_next(&rng);
		}
		ok(f, fs_write(copy, bad.data, bad.len, &f->err));
		refused += read_all(f, copy) != 0;
		err_clear(&f->err);
	}
	assert_true(refused > 100);
	buf_release(&whole);
	buf_release(&bad);
	free(copy);
}

static void wrong_places(void **state)
{
	struct fixture *f = *state;
	char *absent = mem_printf("%s/no/where.kab", f->dir);
	struct store *s;

	fails(f, -ENOENT, "There is no session file", store_open(f->path, STORE_READ, &s, &f->err));
	fails(f, -EISDIR, "is a folder", store_open(f->dir, STORE_READ, &s, &f->err));
	fails(f, -EISDIR, "is a folder", store_open(f->dir, STORE_WRITE, &s, &f->err));
	fails(f, -ENOENT, "make that folder", store_open(absent, STORE_WRITE, &s, &f->err));
	fails(f, -EINVAL, "not a regular file", store_open("/dev/null", STORE_WRITE, &s, &f->err));
	fails(f, -EINVAL, "is empty", store_open("", STORE_READ, &s, &f->err));
	some_session(f);
	free(absent);
	absent = mem_printf("%s/below", f->path);
	fails(f, -ENOTDIR, "Cannot open", store_open(absent, STORE_READ, &s, &f->err));
	free(absent);
}

/* --- rights: root has them all, so an ordinary user tries in a process of its own --- */

static int as_nobody(int (*try)(struct fixture *f), struct fixture *f)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!geteuid() && (setgid(65534) || setuid(65534)))
			_exit(99);
		_exit(try(f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

/* 0 when opening fails with this code and these words. */
static int refused(struct fixture *f, enum store_mode mode, int code, const char *words)
{
	struct store *s;
	int rc = store_open(f->path, mode, &s, &f->err);

	if (rc == code && strstr(f->err.text, words))
		return 0;
	fprintf(stderr, "%d: %s\n", rc, f->err.text);
	return 1;
}

static int try_protected(struct fixture *f)
{
	return refused(f, STORE_READ, -EACCES, "Cannot read");
}

static int try_reading(struct fixture *f)
{
	return read_all(f, f->path) ? 2 : 0;
}

static int try_read_only_file(struct fixture *f)
{
	return refused(f, STORE_WRITE, -EACCES, "Cannot write");
}

static int try_read_only_place(struct fixture *f)
{
	int rc = refused(f, STORE_WRITE, -EACCES, "Cannot write");

	err_clear(&f->err);
	return rc ? rc : try_reading(f);
}

static int try_pending_log(struct fixture *f)
{
	return refused(f, STORE_READ, -EROFS, "copy both files");
}

static void rights(void **state)
{
	struct fixture *f = *state;

	some_session(f);
	assert_int_equal(chmod(f->dir, 0777), 0);
	assert_int_equal(chmod(f->path, 0), 0);
	assert_int_equal(as_nobody(try_protected, f), 0);
	assert_int_equal(chmod(f->path, 0444), 0);
	assert_int_equal(as_nobody(try_read_only_file, f), 0);
	assert_int_equal(as_nobody(try_reading, f), 0);
	for (size_t i = 0; i < 2; i++) {	/* what a reader left: without them, no index can be made */
		char *beside = mem_printf("%s%s", f->path, i ? "-shm" : "-wal");

		ok(f, fs_remove(beside, &f->err));
		free(beside);
	}
	assert_int_equal(chmod(f->dir, 0555), 0);
	assert_int_equal(as_nobody(try_read_only_place, f), 0);
	assert_int_equal(chmod(f->dir, 0755), 0);
}

/* A log that is not yet in the file cannot be read where its index cannot be made: not silently left out. */
static void pending_log(void **state)
{
	struct fixture *f = *state;
	char *main_copy = mem_printf("%s/c", f->dir), *wal = mem_printf("%s-wal", f->path), *wal_copy;
	struct store *s = open_store(f, STORE_WRITE);

	record(f, s, 300);
	wal_copy = mem_printf("%s-wal", main_copy);
	ok(f, fs_copy(f->path, main_copy, &f->err));
	ok(f, fs_copy(wal, wal_copy, &f->err));
	ok(f, store_close(s, &f->err));
	free(f->path);
	f->path = main_copy;
	assert_int_equal(chmod(f->dir, 0555), 0);
	assert_int_equal(as_nobody(try_pending_log, f), 0);
	assert_int_equal(chmod(f->dir, 0755), 0);
	assert_int_equal(read_all(f, f->path), 0);	/* where it may be made, it is all there */
	free(wal);
	free(wal_copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* A file of version 1 is read as it is, and gets the new columns when it is written to. */
static void older_version(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct experiment e = { .case_name = (char *)"net-procfs", .target = (char *)"vm", .started = 1,
				.job = (char *)"case: net-procfs\n" }, back;
	int64_t run = record(f, s, 30);
	struct store_metric *m;
	struct store_hist *h;
	size_t n;
	int version;

	ok(f, store_metric_add(s, run, "m", "u", 1, &f->err));
	ok(f, store_experiment_begin(s, &e, &f->err));
	ok(f, store_experiment_finish(s, &e, &f->err));
	ok(f, store_close(s, &f->err));
	tamper(f->path, "DROP TABLE bucket; DROP TABLE histogram; ALTER TABLE metric DROP COLUMN running;"
	       "ALTER TABLE experiment DROP COLUMN job; ALTER TABLE experiment DROP COLUMN group_id;"
	       "PRAGMA user_version = 1");
	for (version = 1; version <= 2; version++) {
		struct profile *p;

		s = open_store(f, version == 1 ? STORE_READ : STORE_WRITE);
		ok(f, store_experiment(s, e.id, &back, &f->err));
		assert_string_equal(back.target, "vm");
		assert_null(back.job);
		assert_int_equal(back.group, 0);
		experiment_release(&back);
		ok(f, store_profile(s, &run, 1, &(struct store_profile_opts){ 0 }, &p, &f->err));
		profile_free(p);
		ok(f, store_metrics(s, run, &m, &n, &f->err));
		assert_true(n == 1 && m[0].value == 1 && isnan(m[0].running));
		store_metric_release(&m[0]);
		free(m);
		ok(f, store_hists(s, run, &h, &n, &f->err));
		assert_int_equal(n, 0);
		free(h);
		if (version == 2)
			ok(f, store_experiment_finish(s, &e, &f->err));
		ok(f, store_close(s, &f->err));
	}
	s = open_store(f, STORE_READ);
	ok(f, store_experiment(s, e.id, &back, &f->err));
	assert_string_equal(back.job, e.job);
	experiment_release(&back);
	ok(f, store_close(s, &f->err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(altered_files), TEST(nothing_written), TEST(check_finds), TEST(deep_stack),
		TEST(no_sqlite), TEST(truncated), TEST(flipped), TEST(wrong_places),
		TEST(rights), TEST(pending_log), TEST(older_version),
	};

	return cmocka_run_group_tests_name("store-hostile", tests, NULL, NULL);
}
