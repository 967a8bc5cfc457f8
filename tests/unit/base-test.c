// SPDX-License-Identifier: GPL-2.0-or-later
/* base: errors, buffers, interning, text for terminals, child programs, files. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "base/vec.h"

/* --- err --- */

static void test_err_appends_sentences(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_add(&err, -EINVAL, "The block count is %d.", 0), -EINVAL);
	assert_int_equal(err_sys(&err, ENOENT, "Cannot open %s", "x"), -ENOENT);
	assert_string_equal(err.text, "The block count is 0. Cannot open x: No such file or directory.");
	assert_int_equal(err.len, strlen(err.text));
	err_clear(&err);
	assert_string_equal(err.text, "");
	assert_int_equal(err_add(NULL, -5, "x"), -5);
	assert_int_equal(err_sys(NULL, 5, "x"), -5);
	err_clear(NULL);
}

static void test_err_is_cut_not_overrun(void **state)
{
	struct err err = ERR_INIT;
	char name[2000];
	int i;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 5; i++) {
		assert_int_equal(err_sys(&err, EACCES, "Cannot open %s", name), -EACCES);
		assert_int_equal(err.len, sizeof(err.text) - 1);
		assert_int_equal(strlen(err.text), err.len);
	}
}

/* --- buf, vec --- */

static void test_buf(void **state)
{
	struct buf b = BUF_INIT;
	char *s;

	(void)state;
	assert_string_equal(buf_str(&b), "");
	buf_clear(&b);
	buf_add(&b, "a\0b", 3);
	buf_putc(&b, 'c');
	buf_fill(&b, '-', 3);
	buf_printf(&b, "%d", 42);
	buf_add(&b, NULL, 0);
	assert_int_equal(b.len, 9);
	assert_memory_equal(b.data, "a\0bc---42", 10);
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	assert_string_equal(buf_str(&b), "");
	s = buf_detach(&b);
	assert_string_equal(s, "");
	assert_null(b.data);
	free(s);
	buf_release(&b);
}

static void test_buf_grows(void **state)
{
	struct buf b = BUF_INIT;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		buf_printf(&b, "%05d,", i);
	assert_int_equal(b.len, 120000);
	assert_memory_equal(b.data + 6 * 12345, "12345,", 6);
	assert_int_equal(strlen(b.data), b.len);
	buf_release(&b);
}

static void test_buf_read_has_a_limit(void **state)
{
	struct buf b = BUF_INIT;
	struct err err = ERR_INIT;
	char *dir = fs_tmpdir("base-test", &err), *path = mem_printf("%s/file", dir);
	char data[1000];

	(void)state;
	memset(data, 'd', sizeof(data));
	assert_int_equal(fs_write(path, data, sizeof(data), &err), 0);
	assert_int_equal(buf_read_file(&b, path, sizeof(data), &err), 0);
	assert_int_equal(b.len, sizeof(data));
	buf_clear(&b);
	assert_int_equal(buf_read_file(&b, path, sizeof(data) - 1, &err), -EFBIG);
	assert_non_null(strstr(err.text, path));
	err_clear(&err);
	assert_int_equal(buf_read_file(&b, dir, 100, &err), -EISDIR);
	assert_int_equal(buf_read_file(&b, "/nonexistent", 100, &err), -ENOENT);
	fs_remove(dir, NULL);
	buf_release(&b);
	free(path);
	free(dir);
}

static void test_vec(void **state)
{
	VEC(int) v = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		vec_push(&v, i);
	*vec_add(&v) += 7;
	assert_int_equal(v.n, 1001);
	assert_int_equal(v.v[999], 999);
	assert_int_equal(v.v[1000], 7);
	vec_release(&v);
	assert_null(v.v);
}

/* --- map --- */

static void test_map(void **state)
{
	struct map m = MAP_INIT;
	char key[32];
	bool added;
	uint32_t i;

	(void)state;
	assert_int_equal(map_find(&m, "x", 1), MAP_NONE);
	for (i = 0; i < 50000; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		assert_int_equal(map_intern(&m, key, strlen(key), &added), i);
		assert_true(added);
	}
	for (i = 0; i < 50000; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		assert_int_equal(map_intern(&m, key, strlen(key), &added), i);
		assert_false(added);
		assert_int_equal(map_find(&m, key, strlen(key)), i);
		assert_string_equal(map_str(&m, i), key);
		assert_int_equal((uintptr_t)m.entries[i].key % 8, 0);
	}
	assert_int_equal(map_find(&m, "key", 3), MAP_NONE);
	map_release(&m);
	assert_int_equal(m.n, 0);
}

static void test_map_keys_are_bytes(void **state)
{
	struct map m = MAP_INIT;
	char *large = mem_alloc(200000);

	(void)state;
	assert_int_equal(map_intern(&m, "", 0, NULL), 0);
	assert_int_equal(map_intern(&m, "a\0b", 3, NULL), 1);
	assert_int_equal(map_intern(&m, "a\0c", 3, NULL), 2);
	assert_int_equal(map_intern(&m, "a", 1, NULL), 3);
	assert_int_equal(map_intern(&m, "a\0", 2, NULL), 4);
	assert_int_equal(map_intern(&m, large, 200000, NULL), 5);
	assert_int_equal(map_intern_str(&m, "a"), 3);
	assert_int_equal(map_find(&m, NULL, 0), 0);
	assert_int_equal(m.entries[5].len, 200000);
	map_release(&m);
	free(large);
}

/* --- text --- */

static void assert_escaped(const char *s, size_t len, bool ascii, const char *want)
{
	struct buf out = BUF_INIT;

	text_escape(&out, s, len, ascii);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

#define ESCAPED(s, want) assert_escaped(s, sizeof(s) - 1, false, want)
#define ESCAPED_ASCII(s, want) assert_escaped(s, sizeof(s) - 1, true, want)

static void test_escape_controls(void **state)
{
	(void)state;
	ESCAPED("", "");
	ESCAPED("dev_seq_printf_stats.constprop.0", "dev_seq_printf_stats.constprop.0");
	ESCAPED("\x1b]0;owned\x07\x1b[2J", "\\x1b]0;owned\\x07\\x1b[2J");
	ESCAPED("a\nb\tc\rd\be\x7f", "a\\x0ab\\x09c\\x0dd\\x08e\\x7f");
	ESCAPED("a\0b", "a\\x00b");
	ESCAPED("\xc2\x9b" "2J", "\\xc2\\x9b2J");	/* C1 CSI, in UTF-8 */
	ESCAPED("\x9b" "2J", "\\x9b2J");		/* and as a raw byte */
}

static void test_escape_invalid_utf8(void **state)
{
	(void)state;
	ESCAPED("\xff\xfe", "\\xff\\xfe");
	ESCAPED("\xc0\xaf", "\\xc0\\xaf");			/* overlong / */
	ESCAPED("\xed\xa0\x80", "\\xed\\xa0\\x80");		/* a surrogate */
	ESCAPED("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");	/* above U+10FFFF */
	ESCAPED("ok\xe2\x82", "ok\\xe2\\x82");			/* cut in the middle */
	ESCAPED("\xe2\x82" "A", "\\xe2\\x82" "A");
}

static void test_escape_invisible_and_bidi(void **state)
{
	static const char *const marks[] = {
		"\u202e", "\u202a", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c",	/* direction */
		"\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\u180e", "\u034f",	/* nothing to see */
		"\u115f", "\u3164", "\uffa0",						/* blank fillers */
		"\u2028", "\u2029", "\ufe0f", "\ufff9", "\U000e0041", "\U000e0100", "\U0001d173",
	};
	struct buf out = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		buf_clear(&out);
		text_escape(&out, marks[i], strlen(marks[i]), false);
		assert_int_equal(out.len, 4 * strlen(marks[i]));
		assert_memory_equal(out.data, "\\x", 2);
	}
	buf_release(&out);
	ESCAPED("a\u202e" "b", "a\\xe2\\x80\\xaeb");
}

static void test_escape_keeps_text(void **state)
{
	(void)state;
	ESCAPED("naïve Größe", "naïve Größe");
	ESCAPED("\u65e5\u672c", "\u65e5\u672c");
	ESCAPED("\u05d0", "\u05d0");
	ESCAPED_ASCII("Größe \u65e5~", "Gr\\xc3\\xb6\\xc3\\x9fe \\xe6\\x97\\xa5~");
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("main"), 4);
	assert_int_equal(text_width("\u65e5\u672c"), 4);
	assert_int_equal(text_width("e\u0301x"), 2);
	assert_int_equal(text_width("\u00e9"), 1);
	assert_int_equal(text_width("\U0001f525"), 2);
	assert_int_equal(text_width("\xff"), 1);
}

static void assert_fit(const char *s, size_t cells, bool pad, const char *want)
{
	struct buf out = BUF_INIT;

	text_fit(&out, s, cells, pad);
	assert_string_equal(buf_str(&out), want);
	assert_true(text_width(buf_str(&out)) <= cells);
	if (pad)
		assert_int_equal(text_width(buf_str(&out)), cells);
	buf_release(&out);
}

static void test_fit(void **state)
{
	(void)state;
	assert_fit("main", 4, false, "main");
	assert_fit("main", 6, true, "main  ");
	assert_fit("main", 3, false, "ma~");
	assert_fit("main", 1, true, "~");
	assert_fit("main", 0, true, "");
	assert_fit("", 2, true, "  ");
	assert_fit("\u65e5\u672c", 4, true, "\u65e5\u672c");
	assert_fit("\u65e5\u672c", 3, true, "\u65e5~");
	assert_fit("\u65e5\u672c", 2, true, "~ ");	/* half a character is none */
	assert_fit("e\u0301e\u0301e\u0301", 2, true, "e\u0301~");
	assert_fit("\u0301", 0, true, "");
}

static void test_fit_any_bytes_in_any_width(void **state)
{
	static const char s[] = "\u65e5\xff" "e\u0301\U0001f525" "ab\xe2\x82";
	struct buf out = BUF_INIT;
	size_t cells;

	(void)state;
	for (cells = 0; cells < 14; cells++) {
		buf_clear(&out);
		text_fit(&out, s, cells, true);
		assert_int_equal(text_width(buf_str(&out)), cells);
	}
	buf_release(&out);
}

static void assert_ns(double ns, int digits, bool sign, const char *want)
{
	struct buf out = BUF_INIT;

	text_ns(&out, ns, digits, sign);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

static void test_ns(void **state)
{
	(void)state;
	assert_ns(0, 4, false, "0 ns");
	assert_ns(812, 3, false, "812 ns");
	assert_ns(10520, 4, false, "10.52 us");
	assert_ns(3.1e6, 2, false, "3.1 ms");
	assert_ns(51.828e9, 4, false, "51.83 s");
	assert_ns(-10520, 3, false, "-10.5 us");
	assert_ns(10520, 3, true, "+10.5 us");
	assert_ns(0.01234, 3, false, "0.0123 ns");
	assert_ns(0.5, 2, true, "+0.50 ns");
	assert_ns(1234e9, 3, false, "1234 s");
	/* Rounding carries into the next digit and the next unit. */
	assert_ns(999.96, 4, false, "1.000 us");
	assert_ns(999.6, 3, false, "1.00 us");
	assert_ns(9996, 3, false, "10.0 us");
	assert_ns(999999999.9, 3, false, "1.00 s");
	assert_ns(1000, 3, false, "1.00 us");
	assert_ns(999, 3, false, "999 ns");
	assert_ns(NAN, 3, true, "n/a");
	assert_ns(INFINITY, 3, false, "n/a");
}

static void assert_count(double value, int decimals, const char *want)
{
	struct buf out = BUF_INIT;

	text_count(&out, value, decimals);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

static void test_count(void **state)
{
	(void)state;
	assert_count(0, 0, "0");
	assert_count(999, 0, "999");
	assert_count(1168, 0, "1,168");
	assert_count(1234567.891, 2, "1,234,567.89");
	assert_count(-1168, 0, "-1,168");
	assert_count(-123456, 0, "-123,456");
	assert_count(999.9996, 3, "1,000.000");
	assert_count(-0.4, 0, "0");
	assert_count(-0.04, 2, "-0.04");
	assert_count(NAN, 2, "n/a");
	assert_count(-INFINITY, 0, "n/a");
}

static void assert_bytes(double bytes, const char *want)
{
	struct buf out = BUF_INIT;

	text_bytes(&out, bytes);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

static void test_bytes(void **state)
{
	(void)state;
	assert_bytes(0, "0 B");
	assert_bytes(812, "812 B");
	assert_bytes(999, "999 B");
	assert_bytes(1000, "1.0 kB");
	assert_bytes(4.2e6, "4.2 MB");
	assert_bytes(999.7e3, "1.0 MB");
	assert_bytes(99.97e3, "100 kB");
	assert_bytes(123.4e9, "123 GB");
	assert_bytes(5e15, "5000 TB");
}

static void test_numbers_are_strict(void **state)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "+1", "-1", "0x10", "1k", "1.5", "18446744073709551616", "NaN", NULL,
	};
	static const char *const bad_doubles[] = {
		"", " 1.5", "1.5 ", "0x1p3", "inf", "nan", "1e999", "1,5", "1.5x", "-", "e5", NULL,
	};
	uint64_t u = 7;
	double d = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(text_to_u64(bad[i], 0, UINT64_MAX, &u));
	assert_false(text_to_u64("5", 6, 10, &u));
	assert_false(text_to_u64("11", 6, 10, &u));
	assert_int_equal(u, 7);
	assert_true(text_to_u64("10", 6, 10, &u));
	assert_int_equal(u, 10);
	assert_true(text_to_u64("18446744073709551615", 0, UINT64_MAX, &u));
	assert_true(u == UINT64_MAX);
	for (i = 0; i < sizeof(bad_doubles) / sizeof(bad_doubles[0]); i++)
		assert_false(text_to_double(bad_doubles[i], -1e9, 1e9, &d));
	assert_false(text_to_double("2", 0, 1, &d));
	assert_true(d == 7);
	assert_true(text_to_double("-2.5e1", -100, 100, &d));
	assert_true(d == -25);
}

/* --- proc --- */

struct clock_stop {
	struct timespec until;
	unsigned asked;
};

static struct clock_stop stop_in(double seconds)
{
	struct clock_stop c = { .asked = 0 };

	clock_gettime(CLOCK_MONOTONIC, &c.until);
	c.until.tv_nsec += (long)(seconds * 1e9);
	c.until.tv_sec += c.until.tv_nsec / 1000000000;
	c.until.tv_nsec %= 1000000000;
	return c;
}

static bool clock_says_stop(void *ctx)
{
	struct clock_stop *c = ctx;
	struct timespec now;

	c->asked++;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec != c->until.tv_sec ? now.tv_sec > c->until.tv_sec : now.tv_nsec >= c->until.tv_nsec;
}

/* Whether a process that runs exists: a zombie that waits for init does not count. */
static bool alive(int pid)
{
	char *path = mem_printf("/proc/%d/stat", pid);
	struct buf b = BUF_INIT;
	bool yes = buf_read_file(&b, path, 4096, NULL) == 0 && !strstr(buf_str(&b), ") Z ");

	buf_release(&b);
	free(path);
	return yes;
}

/* It was sent SIGKILL; it has five seconds to be gone. */
static void assert_dies(int pid)
{
	int tries;

	for (tries = 0; tries < 500 && alive(pid); tries++)
		usleep(10000);
	assert_false(alive(pid));
}

#define SH(script) ((const char *const[]){ "sh", "-c", script, NULL })

static void test_proc_exit_codes(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(proc_run(SH("exit 0"), NULL, &err), 0);
	assert_int_equal(proc_run(SH("exit 7"), NULL, &err), 7);
	assert_int_equal(proc_run(SH("exit 255"), NULL, &err), 255);
	assert_int_equal(proc_run(SH("kill -TERM $$"), NULL, &err), 128 + SIGTERM);
	assert_string_equal(err.text, "");
}

static void test_proc_missing_program(void **state)
{
	const char *const argv[] = { "kab-no-such-program", NULL };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(proc_run(argv, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "kab-no-such-program"));
	assert_non_null(strstr(err.text, "install"));
	err_clear(&err);
	assert_int_equal(proc_run((const char *const[]){ "/etc/passwd", NULL }, NULL, &err), -EACCES);
	err_clear(&err);
	assert_int_equal(proc_run(SH("exit 0"), &(struct proc_opts){ .dir = "/nonexistent" }, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent"));
}

static void test_proc_output(void **state)
{
	struct buf out = BUF_INIT, log = BUF_INIT;
	struct proc_opts o = { .out = &out, .log = &log };

	(void)state;
	assert_int_equal(proc_run(SH("echo to out; echo to err >&2; cat"), &o, NULL), 0);
	assert_string_equal(buf_str(&out), "to out\n");
	assert_string_equal(buf_str(&log), "to err\n");
	buf_clear(&log);
	assert_int_equal(proc_run(SH("echo one; echo two >&2"), &(struct proc_opts){ .log = &log }, NULL), 0);
	assert_non_null(strstr(buf_str(&log), "one\n"));
	assert_non_null(strstr(buf_str(&log), "two\n"));
	buf_clear(&out);
	assert_int_equal(proc_run(SH("pwd"), &(struct proc_opts){ .out = &out, .dir = "/usr" }, NULL), 0);
	assert_string_equal(buf_str(&out), "/usr\n");
	buf_release(&out);
	buf_release(&log);
}

static void test_proc_out_fd(void **state)
{
	FILE *f = tmpfile();
	char line[16];

	(void)state;
	assert_non_null(f);
	assert_int_equal(proc_run(SH("echo here"), &(struct proc_opts){ .out_fd = fileno(f) }, NULL), 0);
	rewind(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_string_equal(line, "here\n");
	fclose(f);
}

static void test_proc_long_output(void **state)
{
	struct buf out = BUF_INIT, log = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	/* More than any pipe holds, whole and in order. */
	assert_int_equal(proc_run((const char *const[]){ "seq", "1", "500000", NULL },
				  &(struct proc_opts){ .out = &out }, NULL), 0);
	assert_int_equal(out.len, 3388895);
	assert_string_equal(out.data + out.len - 7, "500000\n");
	/* The log keeps its end. */
	assert_int_equal(proc_run((const char *const[]){ "seq", "1", "500000", NULL },
				  &(struct proc_opts){ .log = &log }, NULL), 0);
	assert_int_equal(log.len, 64 << 10);
	assert_string_equal(log.data + log.len - 7, "500000\n");
	/* What never ends is stopped. */
	buf_clear(&out);
	assert_int_equal(proc_run((const char *const[]){ "yes", NULL },
				  &(struct proc_opts){ .out = &out }, &err), -EFBIG);
	assert_true(out.len <= 64 << 20);
	buf_release(&out);
	buf_release(&log);
}

static void test_proc_stop(void **state)
{
	struct clock_stop stop = stop_in(0.3);
	struct buf out = BUF_INIT;
	struct proc_opts o = { .out = &out, .stop = clock_says_stop, .ctx = &stop };
	struct err err = ERR_INIT;
	int child;

	(void)state;
	assert_int_equal(proc_run(SH("sleep 300 & echo $!; wait"), &o, &err), -ECANCELED);
	assert_in_range(stop.asked, 1, 50);
	child = atoi(buf_str(&out));
	assert_true(child > 1);
	assert_dies(child);
	/* Also when it has closed its outputs. */
	stop = stop_in(0.1);
	o.out = NULL;
	assert_int_equal(proc_run(SH("exec >&- 2>&-; sleep 300"), &o, &err), -ECANCELED);
	buf_release(&out);
}

static void test_proc_leaves_nothing_behind(void **state)
{
	struct clock_stop stop = stop_in(20);
	struct buf out = BUF_INIT;
	struct proc_opts o = { .out = &out, .stop = clock_says_stop, .ctx = &stop };
	int child;

	(void)state;
	/* A child in the background that holds the pipe: neither waited for nor left. */
	assert_int_equal(proc_run(SH("sleep 300 & echo $!; exit 3"), &o, NULL), 3);
	child = atoi(buf_str(&out));
	assert_true(child > 1);
	assert_dies(child);
	/* One that has left the group is its own master, but is not waited for either. */
	buf_clear(&out);
	assert_int_equal(proc_run(SH("setsid sh -c 'echo $$; exec sleep 300' & sleep 0.3; exit 4"), &o, NULL),
			 4);
	child = atoi(buf_str(&out));
	assert_true(child > 1);
	kill(child, SIGKILL);
	buf_release(&out);
}

static void test_proc_signals_are_default_in_the_child(void **state)
{
	struct buf out = BUF_INIT;
	struct proc_opts o = { .out = &out };
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);

	(void)state;
	assert_int_equal(proc_run(SH("grep SigIgn /proc/self/status"), &o, NULL), 0);
	signal(SIGPIPE, before);
	assert_int_equal(strtoull(buf_str(&out) + strlen("SigIgn:"), NULL, 16) & 1ULL << (SIGPIPE - 1), 0);
	buf_release(&out);
}

static void test_proc_leaks_no_descriptor(void **state)
{
	struct buf out = BUF_INIT;
	int before = dup(0), after, foreign = 0;
	char *line, *next;

	(void)state;
	close(before);
	proc_run(SH("exit 0"), NULL, NULL);
	proc_run((const char *const[]){ "kab-no-such-program", NULL }, NULL, NULL);
	assert_int_equal(proc_run((const char *const[]){ "ls", "/proc/self/fd", NULL },
				  &(struct proc_opts){ .out = &out }, NULL), 0);
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
	/* What the program has is what we were started with, and the folder it reads. */
	for (next = out.data; (line = strsep(&next, "\n")) && *line;)
		foreign += fcntl(atoi(line), F_GETFD) != 0;
	assert_int_equal(foreign, 1);
	buf_release(&out);
}

static void test_proc_have(void **state)
{
	(void)state;
	assert_true(proc_have("sh"));
	assert_true(proc_have("/bin/sh"));
	assert_false(proc_have("kab-no-such-program"));
	assert_false(proc_have("/etc/passwd"));
	assert_false(proc_have(""));
	assert_false(proc_have("/usr"));
}

/* --- fs --- */

/* A folder for the test in hand; removed, with all in it, by fs_teardown. */
static int fs_setup(void **state)
{
	*state = fs_tmpdir("base-test", NULL);
	return *state ? 0 : -1;
}

static int fs_teardown(void **state)
{
	int rc = fs_remove(*state, NULL);

	free(*state);
	return rc;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void test_fs_write_and_copy(void **state)
{
	char *a = mem_printf("%s/a", (char *)*state), *b = mem_printf("%s/b", (char *)*state);
	char *absent = mem_printf("%s/no/such/folder", (char *)*state);
	struct buf data = BUF_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(fs_write(a, "one\0two", 7, &err), 0);
	assert_int_equal(fs_write(a, "three", 5, &err), 0);
	assert_int_equal(chmod(a, 0751), 0);
	assert_int_equal(fs_copy(a, b, &err), 0);
	assert_int_equal(mode_of(b), 0751);
	assert_int_equal(buf_read_file(&data, b, 100, &err), 0);
	assert_string_equal(buf_str(&data), "three");
	assert_int_equal(fs_write(b, NULL, 0, &err), 0);
	buf_clear(&data);
	assert_int_equal(buf_read_file(&data, b, 100, &err), 0);
	assert_int_equal(data.len, 0);
	assert_string_equal(err.text, "");
	assert_int_equal(fs_write(absent, "x", 1, &err), -ENOENT);
	assert_int_equal(fs_copy(absent, b, &err), -ENOENT);
	assert_non_null(strstr(err.text, absent));
	buf_release(&data);
	free(a);
	free(b);
	free(absent);
}

static void test_fs_mkdirs(void **state)
{
	char *deep = mem_printf("%s/x/y//z/", (char *)*state), *file = mem_printf("%s/file", (char *)*state);
	char *below = mem_printf("%s/file/below", (char *)*state);
	struct err err = ERR_INIT;

	assert_int_equal(fs_mkdirs(deep, &err), 0);
	assert_int_equal(fs_mkdirs(deep, &err), 0);
	assert_true(fs_exists(deep));
	assert_int_equal(fs_mkdirs("/", &err), 0);
	assert_string_equal(err.text, "");
	assert_int_equal(fs_write(file, "", 0, &err), 0);
	assert_int_equal(fs_mkdirs(file, &err), -ENOTDIR);
	assert_int_equal(fs_mkdirs(below, &err), -ENOTDIR);
	assert_int_equal(fs_mkdirs("", &err), -ENOENT);
	free(deep);
	free(file);
	free(below);
}

static void test_fs_remove_follows_no_link(void **state)
{
	char *dir = *state, *kept = mem_printf("%s/kept", dir), *inside = mem_printf("%s/kept/file", dir);
	char *gone = mem_printf("%s/gone", dir), *link = mem_printf("%s/gone/link", dir);
	char *direct = mem_printf("%s/direct", dir), *slash = mem_printf("%s/direct//", dir);

	assert_int_equal(fs_mkdirs(kept, NULL), 0);
	assert_int_equal(fs_mkdirs(gone, NULL), 0);
	assert_int_equal(fs_write(inside, "x", 1, NULL), 0);
	assert_int_equal(symlink(kept, link), 0);
	assert_int_equal(symlink(kept, direct), 0);
	assert_int_equal(fs_remove(gone, NULL), 0);
	assert_false(fs_exists(gone));
	assert_int_equal(fs_remove(slash, NULL), 0);
	assert_false(fs_exists(direct));
	assert_true(fs_exists(inside));
	assert_int_equal(fs_remove(gone, NULL), 0);
	free(kept);
	free(inside);
	free(gone);
	free(link);
	free(direct);
	free(slash);
}

static void test_fs_tmpdir_is_private(void **state)
{
	assert_int_equal(mode_of(*state), 0700);
}

static void assert_path(char *path, const char *dir, const char *rest)
{
	char *want = mem_printf("%s%s", dir, rest);

	assert_non_null(path);
	assert_string_equal(path, want);
	free(want);
	free(path);
}

static void test_fs_places(void **state)
{
	static const char *const vars[] = { "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME" };
	char *saved[4], *home = *state;
	int i;

	for (i = 0; i < 4; i++) {
		saved[i] = mem_strdup(getenv(vars[i]));
		unsetenv(vars[i]);
	}
	setenv("HOME", home, 1);
	assert_path(fs_cache_dir("lab/6.1", NULL), home, "/.cache/kab/lab/6.1");
	assert_path(fs_cache_dir(NULL, NULL), home, "/.cache/kab");
	assert_path(fs_data_file("session.kab", NULL), home, "/.local/share/kab/session.kab");
	assert_path(fs_config_file("config"), home, "/.config/kab/config");
	setenv("XDG_CACHE_HOME", "relative", 1);	/* the specification says to ignore it */
	assert_path(fs_cache_dir(NULL, NULL), home, "/.cache/kab");
	setenv("XDG_DATA_HOME", home, 1);
	assert_path(fs_data_file("session.kab", NULL), home, "/kab/session.kab");
	for (i = 0; i < 4; i++) {
		if (saved[i])
			setenv(vars[i], saved[i], 1);
		else
			unsetenv(vars[i]);
		free(saved[i]);
	}
}

static void test_fs_shipped(void **state)
{
	struct err err = ERR_INIT;
	char *path, *inside;

	assert_null(fs_shipped("no-such-folder", &err));
	assert_non_null(strstr(err.text, "KAB_DATA"));
	setenv("KAB_DATA", *state, 1);
	assert_path(fs_shipped("patches", NULL), *state, "/patches");
	unsetenv("KAB_DATA");
	/* Run from the build folder, which has object folders of the same names. */
	path = fs_shipped("base", NULL);
	if (!path)
		skip();
	inside = mem_printf("%s/fs.h", path);
	assert_true(fs_exists(inside));
	free(inside);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_err_appends_sentences),
		cmocka_unit_test(test_err_is_cut_not_overrun),
		cmocka_unit_test(test_buf),
		cmocka_unit_test(test_buf_grows),
		cmocka_unit_test(test_buf_read_has_a_limit),
		cmocka_unit_test(test_vec),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_map_keys_are_bytes),
		cmocka_unit_test(test_escape_controls),
		cmocka_unit_test(test_escape_invalid_utf8),
		cmocka_unit_test(test_escape_invisible_and_bidi),
		cmocka_unit_test(test_escape_keeps_text),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_fit_any_bytes_in_any_width),
		cmocka_unit_test(test_ns),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_numbers_are_strict),
		cmocka_unit_test(test_proc_exit_codes),
		cmocka_unit_test(test_proc_missing_program),
		cmocka_unit_test(test_proc_output),
		cmocka_unit_test(test_proc_out_fd),
		cmocka_unit_test(test_proc_long_output),
		cmocka_unit_test(test_proc_stop),
		cmocka_unit_test(test_proc_leaves_nothing_behind),
		cmocka_unit_test(test_proc_signals_are_default_in_the_child),
		cmocka_unit_test(test_proc_leaks_no_descriptor),
		cmocka_unit_test(test_proc_have),
		cmocka_unit_test_setup_teardown(test_fs_write_and_copy, fs_setup, fs_teardown),
		cmocka_unit_test_setup_teardown(test_fs_mkdirs, fs_setup, fs_teardown),
		cmocka_unit_test_setup_teardown(test_fs_remove_follows_no_link, fs_setup, fs_teardown),
		cmocka_unit_test_setup_teardown(test_fs_tmpdir_is_private, fs_setup, fs_teardown),
		cmocka_unit_test_setup_teardown(test_fs_places, fs_setup, fs_teardown),
		cmocka_unit_test_setup_teardown(test_fs_shipped, fs_setup, fs_teardown),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
