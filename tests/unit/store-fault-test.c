// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session file when things go wrong: every write failing in turn, the writer
 * killed at every write and at any moment, the disk full, a reader all the while.
 */
#include "store-fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

/*
 * A VFS that is SQLite's own but for its writes: the n-th one and all behind it
 * fail, or kill the process before they reach the file. SQLite keeps it by
 * address, hence the only variables of this file that outlive a function.
 */
static struct {
	long left;		/* writes that still succeed; negative: all do */
	int code;		/* what the others return; 0: SIGKILL */
	bool hit;		/* one of the others was met */
	sqlite3_vfs vfs, *base;
	sqlite3_io_methods methods;
	const sqlite3_io_methods *base_methods;
} faulty;

static int next_write(void)
{
	if (faulty.left < 0)
		return SQLITE_OK;
	if (faulty.left > 0) {
		faulty.left--;
		return SQLITE_OK;
	}
	faulty.hit = true;
	if (!faulty.code)
		raise(SIGKILL);
	return faulty.code;
}

static int faulty_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 offset)
{
	int rc = next_write();

	return rc ? rc : faulty.base_methods->xWrite(file, data, n, offset);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
	int rc = next_write();

	return rc == SQLITE_FULL ? SQLITE_IOERR_FSYNC : rc ? rc : faulty.base_methods->xSync(file, flags);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc = next_write();

	return rc ? rc : faulty.base_methods->xTruncate(file, size);
}

/* The methods are patched in place: files of the base VFS stay files of the base VFS. */
static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	int rc = faulty.base->xOpen(faulty.base, name, file, flags, out);

	(void)vfs;
	if (rc == SQLITE_OK && file->pMethods) {
		if (!faulty.base_methods) {
			faulty.base_methods = file->pMethods;
			faulty.methods = *file->pMethods;
			faulty.methods.xWrite = faulty_write;
			faulty.methods.xSync = faulty_sync;
			faulty.methods.xTruncate = faulty_truncate;
		}
		if (file->pMethods == faulty.base_methods)
			file->pMethods = &faulty.methods;
	}
	return rc;
}

static int install_faulty(void **state)
{
	(void)state;
	faulty.left = -1;
	faulty.base = sqlite3_vfs_find(NULL);
	faulty.vfs = *faulty.base;
	faulty.vfs.zName = "faulty";
	faulty.vfs.pNext = NULL;
	faulty.vfs.xOpen = faulty_open;
	return sqlite3_vfs_register(&faulty.vfs, 1);
}

/* --- one scenario, and what must be true after it whatever happened --- */

/* Ids of the recordings that were finished, in memory that a killed child leaves behind. */
struct outcome {
	int64_t finished[2];
	int n;
};

/* Two recordings of 300 samples; stops at the first failure with its code. */
static int scenario(struct fixture *f, struct outcome *o)
{
	struct store *s = NULL;
	int rc = store_open(f->path, STORE_WRITE, &s, &f->err), rc2;

	for (int k = 0; k < 2 && !rc; k++) {
		struct run run = { .kind = RUN_RECORD, .sampled = true, .ops = 1 };
		int64_t thread, symbol, stack = 0;
		char name[32];

		rc = store_run_begin(s, &run, &f->err);
		if (!rc)
			rc = store_thread(s, run.id, 1, 1, "comm", &thread, &f->err);
		for (int i = 0; i < 300 && !rc; i++) {
			struct store_sample v = { .time_ns = (uint64_t)i, .period = 1, .thread = thread };

			snprintf(name, sizeof(name), "function_%d", i);
			rc = store_symbol(s, name, "", NULL, FRAME_KERNEL, &symbol, &f->err);
			if (!rc)
				rc = store_stack_child(s, stack, symbol, &stack, &f->err);
			v.stack = stack;
			if (!rc)
				rc = store_samples(s, run.id, &v, 1, &f->err);
		}
		run.state = RUN_COMPLETE;
		run.samples = 300;
		if (!rc)
			rc = store_run_finish(s, &run, &f->err);
		if (!rc)
			o->finished[o->n++] = run.id;
	}
	rc2 = store_close(s, rc ? NULL : &f->err);
	return rc ? rc : rc2;
}

/*
 * The file opens for both, is sound, and holds what was finished. The rest is incomplete, unless its writer
 * was this very process, which lives on.
 */
static void survives(struct fixture *f, const struct outcome *o, bool writer_lives)
{
	struct store *s = open_store(f, STORE_WRITE);
	struct run *runs;
	size_t n;

	ok(f, store_close(s, &f->err));
	s = open_store(f, STORE_READ);
	ok(f, store_check(s, &f->err));
	ok(f, store_runs(s, 0, &runs, &n, &f->err));
	assert_true(n >= (size_t)o->n);
	for (size_t i = 0; i < n; i++) {
		bool finished = false;

		for (int k = 0; k < o->n; k++)
			finished |= o->finished[k] == runs[i].id;
		if (finished) {
			struct raw_count c = { 0 };
			struct profile *p;

			assert_int_equal(runs[i].state, RUN_COMPLETE);
			ok(f, store_profile(s, &runs[i].id, 1, NULL, &p, &f->err));
			assert_true(p->samples == 300 && p->n == 301);
			profile_free(p);
			ok(f, store_raw(s, runs[i].id, count_raw, &c, &f->err));
			assert_int_equal(c.n, 300);
		} else {	/* committed, but the call that told so did not come back */
			assert_true(runs[i].state == RUN_INCOMPLETE || runs[i].state == RUN_COMPLETE ||
				    (writer_lives && runs[i].state == RUN_RUNNING));
		}
		run_release(&runs[i]);
	}
	free(runs);
	ok(f, store_close(s, &f->err));
}

static void remove_session(const struct fixture *f)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };

	for (size_t i = 0; i < 4; i++) {
		char *path = mem_printf("%s%s", f->path, ends[i]);

		unlink(path);
		free(path);
	}
}

static void every_write_fails(void **state)
{
	static const struct { int code, rc; const char *words; } kinds[] = {
		{ SQLITE_FULL, -ENOSPC, "no room is left" },
		{ SQLITE_IOERR_WRITE, -EIO, "look at the disk" },
	};
	struct fixture *f = *state;

	for (size_t k = 0; k < 2; k++) {
		int failed = 0, swallowed = 0, rc;

		faulty.hit = true;
		for (long n = 0; faulty.hit; n++) {
			struct outcome o = { 0 };
			const char *words;

			faulty.left = n;
			faulty.hit = false;
			faulty.code = kinds[k].code;
			rc = scenario(f, &o);
			faulty.left = -1;
			failed += rc != 0;
			swallowed += !rc && faulty.hit;	/* the checkpoint on closing: the log keeps it all */
			assert_true(rc || o.n == 2);
			if (rc) {	/* a sync that fails is an I/O error on a full disk too */
				assert_true(rc == kinds[k].rc || rc == -EIO);
				words = rc == kinds[k].rc ? kinds[k].words : "look at the disk";
				assert_non_null(strstr(f->err.text, words));
				assert_non_null(strstr(f->err.text, "what was committed before stays"));
			}
			err_clear(&f->err);
			survives(f, &o, true);
			remove_session(f);
			assert_true(n < 2000);
		}
		print_message("%s: %d writes failed the scenario, %d did not\n", kinds[k].words, failed,
			      swallowed);
		assert_true(failed > 10 && swallowed > 0);
	}
}

static void killed_at_every_write(void **state)
{
	struct fixture *f = *state;
	struct outcome *o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1, killed = 0;

	assert_true(o != MAP_FAILED);
	for (long n = 0; status; n++) {
		pid_t pid;

		memset(o, 0, sizeof(*o));
		pid = fork();
		if (!pid) {
			faulty.left = n;
			faulty.code = 0;
			_exit(scenario(f, o) ? 1 : 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(!status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
		killed += status != 0;
		survives(f, o, false);
		remove_session(f);
		assert_true(n < 2000);
	}
	assert_true(killed > 30);
	munmap(o, sizeof(*o));
}

/* --- a writer that goes on, and is killed --- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct progress { volatile uint64_t given, run; };

/* Gives a sample about every 100 us until killed. */
static void write_for_ever(struct fixture *f, struct progress *pr)
{
	struct run run = { .kind = RUN_RECORD, .sampled = true, .ops = 1 };
	struct store_sample v = { .period = 1 };
	struct store *s;
	int rc = store_open(f->path, STORE_WRITE, &s, &f->err);

	if (!rc)
		rc = store_run_begin(s, &run, &f->err);
	if (!rc)
		rc = store_thread(s, run.id, 1, 1, "comm", &v.thread, &f->err);
	pr->run = (uint64_t)run.id;
	while (!rc) {
		v.time_ns++;
		rc = store_samples(s, run.id, &v, 1, &f->err);
		pr->given++;
		usleep(100);
	}
	fprintf(stderr, "%s\n", f->err.text);
	_exit(1);
}

/*
 * Reads the file beside the writer, then kills the writer: its last second may be
 * gone, what it gave before is there, and the run is incomplete for a reader
 * (who writes nothing) as for the next writer.
 */
static void killed_while_read(void **state)
{
	struct fixture *f = *state;
	struct progress *pr =
		mmap(NULL, sizeof(*pr), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct { double at; uint64_t given; } seen[1000];
	uint64_t samples = 0, grown = 0, due = 0;
	struct raw_count c = { 0 };
	int64_t version, id;
	double start, killed;
	struct profile *p;
	struct store *s;
	struct run run;
	size_t n = 0;
	pid_t pid;

	assert_true(pr != MAP_FAILED);
	pid = fork();
	if (!pid)
		write_for_ever(f, pr);
	while (!pr->run)
		usleep(1000);
	id = (int64_t)pr->run;
	s = open_store(f, STORE_READ);
	version = store_data_version(s);
	for (start = now(); now() - start < 2.3 && n < 1000; usleep(10000)) {
		seen[n].at = now();
		seen[n++].given = pr->given;
		if (store_data_version(s) == version)
			continue;
		version = store_data_version(s);
		ok(f, store_profile(s, &id, 1, NULL, &p, &f->err));
		grown += p->samples > (double)samples;
		samples = (uint64_t)p->samples;
		profile_free(p);
		ok(f, store_run(s, id, &run, &f->err));
		assert_int_equal(run.state, RUN_RUNNING);
		ok(f, store_check(s, &f->err));
	}
	assert_true(grown >= 2);		/* a commit about every half second */
	killed = now();
	kill(pid, SIGKILL);
	while (n && seen[n - 1].at > killed - 1)
		n--;
	due = n ? seen[n - 1].given : 0;
	assert_true(due > 0);
	ok(f, store_run(s, id, &run, &f->err));	/* not yet reaped: a zombie is no writer */
	for (int i = 0; i < 100 && run.state == RUN_RUNNING; i++) {
		usleep(10000);
		ok(f, store_run(s, id, &run, &f->err));
	}
	assert_int_equal(run.state, RUN_INCOMPLETE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	ok(f, store_profile(s, &id, 1, NULL, &p, &f->err));
	assert_true(p->samples >= (double)due);
	ok(f, store_raw(s, id, count_raw, &c, &f->err));
	assert_true((double)c.n == p->samples && !c.out_of_order);	/* folded and raw agree */
	ok(f, store_run(s, id, &run, &f->err));
	assert_int_equal(run.samples, c.n);
	profile_free(p);
	ok(f, store_close(s, &f->err));

	s = open_store(f, STORE_WRITE);
	ok(f, store_check(s, &f->err));
	ok(f, store_run(s, id, &run, &f->err));
	assert_int_equal(run.state, RUN_INCOMPLETE);
	ok(f, store_close(s, &f->err));
	munmap(pr, sizeof(*pr));
}

/* --- a real device that is full --- */

static void full_device(void **state)
{
	struct fixture *f = *state;
	struct outcome o = { 0 };
	struct store *s;
	int rc = 0;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", f->dir, "tmpfs", 0, "size=1200k")) {
		print_message("full_device: mounting a tmpfs needs root\n");
		skip();
	}
	ok(f, scenario(f, &o));
	s = open_store(f, STORE_WRITE);
	for (int64_t stack = 0; !rc; )		/* a few pages a run, until it is enough */
		for (int i = 0; i < 500 && !rc; i++) {
			char name[32];
			int64_t symbol;

			snprintf(name, sizeof(name), "f%d_%lld", i, (long long)stack);
			rc = store_symbol(s, name, "a long name of a file to fill the device with", NULL,
					  FRAME_USER, &symbol, &f->err);
			if (!rc)
				rc = store_stack_child(s, stack, symbol, &stack, &f->err);
			if (!rc && i == 499)
				rc = store_metric_add(s, o.finished[0], "x", "", 1, &f->err);
			if (!rc && i == 499) {
				struct run again = { .kind = RUN_RECORD };

				rc = store_run_begin(s, &again, &f->err);
			}
		}
	assert_int_equal(rc, -ENOSPC);
	assert_non_null(
		strstr(f->err.text,
		       "no room is left on its device; what was committed before stays; make room there"));
	err_clear(&f->err);
	fails(f, -ENOSPC, "no room is left", store_metric_add(s, o.finished[0], "x", "", 1, &f->err));
	fails(f, -ENOSPC, "no room is left", store_close(s, &f->err));
	assert_int_equal(mount("tmpfs", f->dir, "tmpfs", MS_REMOUNT, "size=16m"), 0);
	survives(f, &o, true);
	assert_int_equal(umount(f->dir), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_write_fails), TEST(killed_at_every_write), TEST(killed_while_read),
		TEST(full_device),
	};

	return cmocka_run_group_tests_name("store-fault", tests, install_faulty, NULL);
}
