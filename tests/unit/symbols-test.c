// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbols-test: addresses become names, by tables whose every byte is known,
 * then by this machine's own kernel and this process' own files. What an ELF
 * file may contain, damage included, is in elfsyms-test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/mem.h"
#include "collectors/symbols.h"
#include "tests/unit/tiny-elf.h"

#define BASE 0x7f0000000000u		/* where the tests map their file */
#define TEXT (BASE + TINY_OFFSET)	/* its text then */
#define CORE "[kernel.kallsyms]"

static const char *itself(void *ctx, const char *path, const char *build_id)
{
	(void)ctx, (void)build_id;
	return path;
}

static const char *nothing(void *ctx, const char *path, const char *build_id)
{
	(void)ctx, (void)path, (void)build_id;
	return NULL;
}

static struct resolved kernel_at(struct symboliser *s, uint64_t addr)
{
	struct resolved r;

	symboliser_kernel(s, addr, &r);
	return r;
}

static struct resolved user_at(struct symboliser *s, uint32_t pid, uint64_t addr)
{
	struct resolved r;

	symboliser_user(s, pid, addr, &r);
	return r;
}

static void assert_is(struct resolved r, const char *name, const char *dso, enum frame_kind kind,
		      uint64_t offset)
{
	assert_string_equal(r.name, name);
	assert_string_equal(r.dso, dso);
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.offset, offset);
}

static void assert_core(struct symboliser *s, uint64_t addr, const char *name, uint64_t offset)
{
	assert_is(kernel_at(s, addr), name, CORE, FRAME_KERNEL, offset);
	assert_string_equal(kernel_at(s, addr).build_id, "");
}

static void assert_module(struct symboliser *s, uint64_t addr, const char *name, const char *module,
			  uint64_t offset)
{
	assert_is(kernel_at(s, addr), name, module, FRAME_MODULE, offset);
}

static void assert_nowhere(struct symboliser *s, uint64_t addr)
{
	assert_is(kernel_at(s, addr), "[unknown]", "[unknown]", FRAME_MARK, addr);
}

static void assert_user(struct symboliser *s, uint32_t pid, uint64_t addr, const char *name, const char *dso,
			uint64_t offset)
{
	assert_is(user_at(s, pid, addr), name, dso, FRAME_USER, offset);
}

static void assert_unmapped(struct symboliser *s, uint32_t pid, uint64_t addr)
{
	assert_is(user_at(s, pid, addr), "[unknown]", "[unknown]", FRAME_MARK, addr);
}

static struct symboliser *with_kallsyms(const char *text)
{
	struct symboliser *s = symboliser_new(nothing, NULL);
	struct err err = ERR_INIT;

	assert_int_equal(symboliser_kallsyms(s, text, strlen(text), &err), 0);
	assert_int_equal(err.len, 0);
	return s;
}

/* --- the kernel --- */

static void kernel_extents(void **state)
{
	struct symboliser *s = with_kallsyms(
		"0000000000000000 A fixed_percpu_data\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000000 T startup_64\n"
		"ffffffff81000100 t worker.isra.0\n"
		"ffffffff81000180 t next_worker\n"
		"ffffffff81000200 d table\n"
		"ffffffff81000240 T behind_table\r\n"
		"ffffffff81000280 T _etext\n"
		"ffffffff81900000 T init_function\n");

	(void)state;
	assert_core(s, 0xffffffff81000000, "startup_64", 0);
	assert_core(s, 0xffffffff810000ff, "startup_64", 0xff);
	assert_core(s, 0xffffffff81000100, "worker.isra.0", 0);
	assert_core(s, 0xffffffff810001ff, "next_worker", 0x7f);
	assert_nowhere(s, 0xffffffff81000210);		/* data */
	assert_core(s, 0xffffffff81000250, "behind_table", 0x10);
	assert_nowhere(s, 0xffffffff81000280);		/* behind the text */
	assert_nowhere(s, 0xffffffff81500000);
	assert_core(s, 0xffffffff81900010, "init_function", 0x10);
	assert_nowhere(s, 0xffffffff81902000);		/* nothing follows: two pages at most */
	assert_nowhere(s, 0xffffffff80ffffff);
	assert_nowhere(s, 0);
	assert_nowhere(s, UINT64_MAX);
	symboliser_free(s);
}

/* A hole that is larger than any function belongs to nobody. */
static void kernel_hole(void **state)
{
	struct symboliser *s = with_kallsyms("ffffffff81000010 T before_hole\n"
					     "ffffffff81100000 T behind_hole\n"
					     "ffffffff81110000 t last\n");

	(void)state;
	assert_core(s, 0xffffffff81000810, "before_hole", 0x800);
	assert_nowhere(s, 0xffffffff81080000);
	assert_core(s, 0xffffffff8110fff0, "behind_hole", 0xfff0);
	symboliser_free(s);
}

static void kernel_aliases(void **state)
{
	static const struct {
		const char *winner, *loser;
	} pairs[] = {
		{ "t s", "W weak_and_long" },
		{ "t local", "W weak_global" },
		{ "T g", "t local_and_long" },
		{ "T _one_", "T __two" },
		{ "T longer", "T short" },
		{ "T __x64_sys_getpid", "T __ia32_sys_getpid" },
		{ "T same_a", "T same_b" },
		{ "t code", "D data_global" },
		{ "t under", "T _stext" },
		{ "t __f", "T __irqentry_text_end" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(pairs) / sizeof(*pairs); i++) {
		const char *winner = pairs[i / 2].winner, *loser = pairs[i / 2].loser;
		char *text = mem_printf("ffffffff81000000 %s\nffffffff81000000 %s\n", i % 2 ? winner : loser,
					i % 2 ? loser : winner);
		struct symboliser *s = with_kallsyms(text);

		assert_core(s, 0xffffffff81000004, winner + 2, 4);
		symboliser_free(s);
		free(text);
	}
}

/* Modules follow the image in the file, and are not ordered in themselves. */
static void kernel_modules(void **state)
{
	struct symboliser *s = with_kallsyms(
		"ffffffff81000000 T core_function\n"
		"ffffffffc0002000 t b_second\t[b]\n"
		"ffffffffc0001000 t b_first\t[b]\n"
		"ffffffffc0000f00 t a_only\t[a]\n"
		"ffffffffc0003000 t same_name\t[b]\n"
		"ffffffffc0010000 t same_name\t[c]\n"
		"ffffffffc0020000 t bpf_prog_6deef7357e7b4530_sd\t[bpf]\n"
		"ffffffffc0030000 t ftrace_trampoline\t[__builtin__ftrace]\n");

	(void)state;
	assert_core(s, 0xffffffff81000001, "core_function", 1);
	assert_module(s, 0xffffffffc0000f80, "a_only", "[a]", 0x80);
	assert_module(s, 0xffffffffc0001fff, "b_first", "[b]", 0xfff);
	assert_module(s, 0xffffffffc0002001, "b_second", "[b]", 1);
	assert_module(s, 0xffffffffc0003100, "same_name", "[b]", 0x100);
	assert_module(s, 0xffffffffc0010100, "same_name", "[c]", 0x100);
	assert_nowhere(s, 0xffffffffc0005000);		/* between modules */
	assert_nowhere(s, 0xffffffffbff00000);		/* between the image and the modules */
	assert_module(s, 0xffffffffc0020010, "bpf_prog_6deef7357e7b4530_sd", "[bpf]", 0x10);
	assert_module(s, 0xffffffffc0030010, "ftrace_trampoline", "[__builtin__ftrace]", 0x10);
	symboliser_free(s);
}

static void kernel_restricted(void **state)
{
	static const char zeros[] = "0000000000000000 T _text\n0000000000000000 t helper\t[m]\n";
	struct symboliser *s = symboliser_new(nothing, NULL);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(symboliser_kallsyms(s, zeros, strlen(zeros), &err), -EACCES);
	assert_non_null(strstr(err.text, "kernel.kptr_restrict=0"));
	assert_core(s, 0xffffffff81000000, "[unknown]", 0xffffffff81000000);
	symboliser_map(s, 1, BASE, 0x1000, 0, "/bin/true", "");
	assert_user(s, 1, BASE + 0x10, "[unknown]", "/bin/true", 0x10);
	symboliser_free(s);
}

static void kernel_replaced(void **state)
{
	static const char later[] = "ffffffff81000000 T second\nffffffffc0000000 t loaded\t[m]\n";
	struct symboliser *s = with_kallsyms("ffffffff81000000 T first\n");
	struct resolved old = kernel_at(s, 0xffffffff81000000);
	struct err err = ERR_INIT;

	(void)state;
	assert_nowhere(s, 0xffffffffc0000000);
	assert_int_equal(symboliser_kallsyms(s, later, strlen(later), &err), 0);
	assert_core(s, 0xffffffff81000000, "second", 0);
	assert_module(s, 0xffffffffc0000000, "loaded", "[m]", 0);
	assert_string_equal(old.name, "first");		/* was given out, and stays */
	assert_int_equal(symboliser_kallsyms(s, "", 0, &err), -EINVAL);
	assert_true(err.len > 0);
	assert_core(s, 0xffffffff81000000, "second", 0);
	symboliser_free(s);
}

static void kernel_hostile_text(void **state)
{
	static const char text[] =
		"\n\n \t\nffffffff8100\n"
		"ffffffff81000000\n"
		"ffffffff81000000 T\n"
		"ffffffff81000000 T \n"
		"ffffffff81000000  T two_blanks\n"
		"xyz T not_hex\n"
		"1ffffffff81000000 T too_many_digits\n"
		"ffffffff81000000 T open_bracket\t[mod\n"
		"ffffffff81000000 T no_module\t[]\n"
		"ffffffff81000000 T good\n"
		"ffffffff81000100 \0 nul_type\n"
		"ffffffff81000200 T nul_in\0name\n"
		"ffffffff81000300 T csi\xc2\x9b" "31m\n"
		"ffffffffffffffff T top\n"
		"ffffffff81000400 T no_newline_at_end";
	struct symboliser *s = symboliser_new(nothing, NULL);
	struct buf deep = BUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(symboliser_kallsyms(s, text, sizeof(text) - 1, &err), 0);
	assert_core(s, 0xffffffff81000000, "good", 0);
	assert_core(s, 0xffffffff810002ff, "good", 0x2ff);	/* names with NULs are no names */
	assert_core(s, 0xffffffff81000300, "csi\xc2\x9b" "31m", 0);	/* raw; escaped where it is shown */
	assert_core(s, 0xffffffff81000410, "no_newline_at_end", 0x10);
	assert_core(s, UINT64_MAX, "top", 0);

	buf_puts(&deep, "ffffffff81000000 T ");
	buf_fill(&deep, 'x', 100000);
	buf_puts(&deep, "\nffffffff81000010 T short\n");
	assert_int_equal(symboliser_kallsyms(s, deep.data, deep.len, &err), 0);
	assert_nowhere(s, 0xffffffff81000000);
	assert_core(s, 0xffffffff81000011, "short", 1);
	buf_release(&deep);
	symboliser_free(s);
}

/* Whether /proc/kallsyms, its lines interned with a blank for the tab, has this function at this address. */
static bool has_line(const struct map *lines, uint64_t addr, const struct resolved *r)
{
	struct buf key = BUF_INIT;
	bool found = false;

	for (const char *type = "tTwW"; *type && !found; type++) {
		buf_clear(&key);
		buf_printf(&key, "%016" PRIx64 " %c %s", addr, *type, r->name);
		if (r->kind == FRAME_MODULE)
			buf_printf(&key, " %s", r->dso);
		found = map_find(lines, key.data, key.len) != MAP_NONE;
	}
	buf_release(&key);
	return found;
}

/* Every function of the running kernel: its address gives a name that the file has at that address. */
static void kernel_running(void **state)
{
	struct symboliser *s = symboliser_new(nothing, NULL);
	struct map lines = MAP_INIT;
	struct buf text = BUF_INIT;
	size_t checked = 0;
	char *line, *rest;
	int rc;

	(void)state;
	rc = buf_read_file(&text, "/proc/kallsyms", (size_t)64 << 20, NULL);
	if (!rc)
		rc = symboliser_kallsyms(s, text.data, text.len, NULL);
	for (line = rc ? NULL : strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *tab = strchr(line, '\t');

		if (tab)
			*tab = ' ';
		map_intern_str(&lines, line);
	}
	for (uint32_t i = 0; i < lines.n; i++) {
		uint64_t addr = strtoull(map_str(&lines, i), NULL, 16);
		struct resolved r = kernel_at(s, addr);

		if (!addr || !strchr("tTwW", map_str(&lines, i)[17]) || r.kind == FRAME_MARK)
			continue;	/* FRAME_MARK: only a section mark stands there */
		assert_int_equal(r.offset, 0);
		assert_true(has_line(&lines, addr, &r));
		checked++;
	}
	assert_true(rc || checked > lines.n / 10);
	map_release(&lines);
	buf_release(&text);
	symboliser_free(s);
	if (rc)
		skip();		/* no /proc/kallsyms that shows this user addresses */
}

/* --- processes --- */

static void maps_overlap(void **state)
{
	struct symboliser *s = symboliser_new(nothing, NULL);

	(void)state;
	symboliser_map(s, 7, 0x10000, 0x10000, 0x5000, "/a", "");
	symboliser_map(s, 7, 0x14000, 0x4000, 0, "/b", "");
	assert_user(s, 7, 0x10000, "[unknown]", "/a", 0x5000);
	assert_user(s, 7, 0x13fff, "[unknown]", "/a", 0x8fff);
	assert_user(s, 7, 0x14000, "[unknown]", "/b", 0);
	assert_user(s, 7, 0x17fff, "[unknown]", "/b", 0x3fff);
	assert_user(s, 7, 0x18000, "[unknown]", "/a", 0xd000);
	assert_user(s, 7, 0x1ffff, "[unknown]", "/a", 0x14fff);
	symboliser_map(s, 7, 0x12000, 0x7000, 0, "/c", "");	/* over parts of /a, and all of /b */
	assert_user(s, 7, 0x11fff, "[unknown]", "/a", 0x6fff);
	assert_user(s, 7, 0x14000, "[unknown]", "/c", 0x2000);
	assert_user(s, 7, 0x19000, "[unknown]", "/a", 0xe000);
	assert_unmapped(s, 7, 0x20000);
	assert_unmapped(s, 7, 0xffff);
	assert_unmapped(s, 8, 0x14000);
	symboliser_free(s);
}

static void maps_exec_and_fork(void **state)
{
	struct symboliser *s = symboliser_new(nothing, NULL);

	(void)state;
	symboliser_map(s, 1, 0x1000, 0x1000, 0, "/parent", "");
	symboliser_fork(s, 1, 2);
	symboliser_fork(s, 2, 3);
	assert_user(s, 3, 0x1000, "[unknown]", "/parent", 0);
	symboliser_map(s, 2, 0x1000, 0x800, 0, "/two", "");	/* no business of parent and child */
	assert_user(s, 1, 0x1000, "[unknown]", "/parent", 0);
	assert_user(s, 2, 0x1000, "[unknown]", "/two", 0);
	assert_user(s, 2, 0x1800, "[unknown]", "/parent", 0x800);
	assert_user(s, 3, 0x1000, "[unknown]", "/parent", 0);
	symboliser_exec(s, 3);
	assert_unmapped(s, 3, 0x1000);
	assert_user(s, 1, 0x1000, "[unknown]", "/parent", 0);
	symboliser_fork(s, 1, 1);				/* a thread */
	assert_user(s, 1, 0x1000, "[unknown]", "/parent", 0);
	symboliser_fork(s, 99, 2);				/* of a parent that was never seen */
	assert_unmapped(s, 2, 0x1000);
	symboliser_free(s);
}

/* Against the plain rule: of all mappings of the process that cover the address, the last. */
static void maps_random(void **state)
{
	struct { uint64_t start, len; } all[400];
	struct symboliser *s = symboliser_new(nothing, NULL);
	uint64_t seed = 20240229;
	char path[24];

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		all[i].start = (seed >> 33) % 1000;
		all[i].len = 1 + (seed >> 50) % (i % 10 ? 20 : 200);
		snprintf(path, sizeof(path), "/%zu", i);
		symboliser_map(s, 5, all[i].start, all[i].len, 0, path, "");
		for (uint64_t addr = 0; i % 20 == 19 && addr < 1300; addr++) {
			size_t last = i + 1;

			while (last && addr - all[last - 1].start >= all[last - 1].len)
				last--;
			snprintf(path, sizeof(path), "/%zu", last - 1);
			if (last)
				assert_user(s, 5, addr, "[unknown]", path, addr - all[last - 1].start);
			else
				assert_unmapped(s, 5, addr);
		}
	}
	symboliser_free(s);
}

static void maps_impossible(void **state)
{
	struct symboliser *s = symboliser_new(itself, NULL);
	char *path = mem_alloc(100001);

	(void)state;
	memset(path, 'p', 100000);
	symboliser_map(s, 1, 0x1000, 0, 0, "/empty", "");
	symboliser_map(s, 1, UINT64_MAX - 10, 100, 0, "/wraps", "");
	symboliser_map(s, UINT32_MAX, 0x1000, 0x1000, 0, "/kernel", "");
	assert_unmapped(s, 1, 0x1000);
	assert_unmapped(s, 1, UINT64_MAX - 5);
	assert_unmapped(s, UINT32_MAX, 0x1000);
	symboliser_map(s, 1, 0x1000, 0x1000, UINT64_MAX, path, "");
	assert_user(s, 1, 0x1001, "[unknown]", "[anon]", 0x1001);
	symboliser_map(s, 1, 0x1000, 0x1000, UINT64_MAX, "/none", "../../../../etc/passwd");
	assert_user(s, 1, 0x1001, "[unknown]", "/none", 0);
	free(path);
	symboliser_free(s);
}

static void special_mappings(void **state)
{
	static const struct {
		const char *path, *dso;
	} rows[] = {
		{ "", "[anon]" }, { "//anon", "[anon]" }, { "[heap]", "[anon]" }, { "[stack]", "[anon]" },
		{ "[anon:v8]", "[anon]" }, { "/memfd:jit (deleted)", "[anon]" },
		{ "/dev/zero (deleted)", "[anon]" }, { "/SYSV00000000 (deleted)", "[anon]" },
		{ "[vsyscall]", "[vsyscall]" }, { "[uprobes]", "[uprobes]" },
	};
	struct symboliser *s = symboliser_new(itself, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t at = 0x10000 * (i + 1);

		symboliser_map(s, 1, at, 0x1000, 0x10, rows[i].path, "");
		assert_user(s, 1, at + 1, "[unknown]", rows[i].dso, at + 1);
	}
	symboliser_free(s);
}

/* --- files --- */

#define ID "abcdef0102030405060708090a0b0c0d0e0f1011"
#define ID_UPPER "ABCDEF0102030405060708090A0B0C0D0E0F1011"
#define OTHER_ID "abcdef0102030405060708090a0b0c0d0e0f1012"

static const unsigned char id_bytes[] = "\xab\xcd\xef\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11";

static const struct tiny_symbol symbols[] = {
	{ "outer", 0x00, 0x100, STB_GLOBAL, STT_FUNC, TINY_TEXT, false },
	{ "exported", 0x200, 0x40, STB_GLOBAL, STT_FUNC, TINY_TEXT, true },
};

struct room {			/* a folder with the one file that can be found */
	char *dir, *file;
	unsigned int asked;
};

static void room_init(struct room *r, const unsigned char *build_id)
{
	struct tiny_elf t = { symbols, sizeof(symbols) / sizeof(*symbols), build_id, 20, false, false };
	struct buf image = BUF_INIT;
	struct err err = ERR_INIT;

	tiny_elf_build(&t, &image);
	r->dir = fs_tmpdir("symbols-test", &err);
	assert_non_null(r->dir);
	r->file = mem_printf("%s/program", r->dir);
	r->asked = 0;
	assert_int_equal(fs_write(r->file, image.data, image.len, &err), 0);
	buf_release(&image);
}

static void room_release(struct room *r)
{
	assert_int_equal(fs_remove(r->dir, NULL), 0);
	free(r->dir);
	free(r->file);
}

static const char *in_room(void *ctx, const char *path, const char *build_id)
{
	struct room *r = ctx;

	(void)build_id;
	r->asked++;
	return strcmp(path, "/opt/program") ? NULL : r->file;
}

static void file_by_build_id(void **state)
{
	struct room r;
	struct symboliser *s = symboliser_new(in_room, &r);

	(void)state;
	room_init(&r, id_bytes);
	symboliser_map(s, 1, BASE, 0x1000, 0, "/opt/program", ID);
	symboliser_map(s, 2, BASE, 0x1000, 0, "/opt/program", OTHER_ID);
	symboliser_map(s, 3, BASE, 0x1000, 0, "/opt/program", "");
	symboliser_map(s, 4, TEXT, 0x1000, TINY_OFFSET, "/opt/program", ID_UPPER);
	symboliser_map(s, 5, BASE, 0x1000, 0, "/opt/absent", ID);
	assert_user(s, 1, TEXT + 0x10, "outer", "/opt/program", 0x10);
	assert_user(s, 1, TEXT + 0x23f, "exported", "/opt/program", 0x3f);
	assert_user(s, 1, TEXT + 0x240, "[unknown]", "/opt/program", TINY_OFFSET + 0x240);
	assert_string_equal(user_at(s, 1, TEXT).build_id, ID);
	assert_user(s, 2, TEXT + 0x10, "[unknown]", "/opt/program", TINY_OFFSET + 0x10);
	assert_string_equal(user_at(s, 2, TEXT + 0x10).build_id, OTHER_ID);
	assert_user(s, 3, TEXT + 0x10, "outer", "/opt/program", 0x10);
	assert_string_equal(user_at(s, 3, TEXT + 0x10).build_id, ID);	/* the file's own */
	assert_user(s, 4, TEXT + 0x10, "outer", "/opt/program", 0x10);
	assert_user(s, 5, TEXT + 0x10, "[unknown]", "/opt/absent", TINY_OFFSET + 0x10);
	assert_int_equal(r.asked, 5);					/* once a file */
	symboliser_free(s);
	room_release(&r);
}

static void file_without_build_id(void **state)
{
	struct room r;
	struct symboliser *s = symboliser_new(in_room, &r);

	(void)state;
	room_init(&r, NULL);
	symboliser_map(s, 1, BASE, 0x1000, 0, "/opt/program", ID);	/* not provably the same */
	symboliser_map(s, 2, BASE, 0x1000, 0, "/opt/program", "");
	assert_user(s, 1, TEXT, "[unknown]", "/opt/program", TINY_OFFSET);
	assert_user(s, 2, TEXT, "outer", "/opt/program", 0);
	assert_string_equal(user_at(s, 2, TEXT).build_id, "");
	symboliser_free(s);
	room_release(&r);
}

static void file_deleted(void **state)
{
	struct room r;
	struct symboliser *s = symboliser_new(in_room, &r);

	(void)state;
	room_init(&r, id_bytes);
	symboliser_map(s, 1, BASE, 0x1000, 0, "/opt/program (deleted)", "");	/* another may be there */
	symboliser_map(s, 2, BASE, 0x1000, 0, "/opt/program (deleted)", ID);
	symboliser_map(s, 3, BASE, 0x1000, 0, "/opt/program (deleted)", OTHER_ID);
	assert_user(s, 1, TEXT + 4, "[unknown]", "/opt/program", TINY_OFFSET + 4);
	assert_user(s, 2, TEXT + 4, "outer", "/opt/program", 4);
	assert_user(s, 3, TEXT + 4, "[unknown]", "/opt/program", TINY_OFFSET + 4);
	symboliser_free(s);
	room_release(&r);
}

/* Maps this process into `s` as pid 1, the way an agent reads /proc/PID/maps; false without /proc. */
static bool map_self(struct symboliser *s, uint64_t vdso[2])
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4400], path[4200], perms[8];
	uint64_t start, end, pgoff;

	vdso[0] = vdso[1] = 0;
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4199[^\n]", &start, &end,
			   perms, &pgoff, path) < 4 || !strchr(perms, 'x'))
			continue;
		symboliser_map(s, 1, start, end - start, pgoff, path, "");
		if (!strcmp(path, "[vdso]")) {
			vdso[0] = start;
			vdso[1] = end;
		}
	}
	fclose(f);
	return true;
}

static void own_process(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)own_process, vdso[2];
	uint64_t lib = (uint64_t)(uintptr_t)gnu_get_libc_version;
	struct symboliser *s = symboliser_new(itself, NULL);
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	bool have = n > 0 && map_self(s, vdso);
	struct resolved r;
	Dl_info info;

	(void)state;
	if (have) {
		exe[n] = '\0';
		assert_user(s, 1, here, "own_process", exe, 0);
		assert_user(s, 1, here + 1, "own_process", exe, 1);
		assert_int_not_equal(dladdr(gnu_get_libc_version, &info), 0);
		r = user_at(s, 1, lib + 2);
		assert_non_null(strstr(r.name, "gnu_get_libc_version"));	/* or an alias */
		assert_int_equal(r.offset, lib + 2 - (uint64_t)(uintptr_t)info.dli_saddr);
		assert_non_null(strstr(r.dso, "/libc"));
	}
	symboliser_free(s);
	if (!have)
		skip();		/* no /proc */
}

/* How many of the vdso's bytes lie in its clock function. */
static size_t vdso_clock(struct symboliser *s, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (; from < to; from++) {
		struct resolved r = user_at(s, 1, from);

		assert_string_equal(r.dso, "[vdso]");
		assert_int_equal(r.kind, FRAME_USER);
		n += strstr(r.name, "clock_gettime") != NULL;
	}
	return n;
}

static void own_vdso(void **state)
{
	struct symboliser *local = symboliser_new(itself, NULL), *remote = symboliser_new(nothing, NULL);
	uint64_t vdso[2];
	bool have = map_self(local, vdso) && map_self(remote, vdso) && vdso[0];

	(void)state;
	if (have) {
		assert_true(vdso_clock(local, vdso[0], vdso[1]) > 0);
		assert_int_equal(vdso_clock(remote, vdso[0], vdso[1]), 0);
		/* Of another size it is not ours: that of a 32-bit program. */
		symboliser_exec(local, 1);
		symboliser_map(local, 1, vdso[0], vdso[1] - vdso[0] + 0x1000, 0, "[vdso]", "");
		assert_int_equal(vdso_clock(local, vdso[0], vdso[1]), 0);
	}
	symboliser_free(local);
	symboliser_free(remote);
	if (!have)
		skip();		/* no vdso in this process */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_extents),
		cmocka_unit_test(kernel_hole),
		cmocka_unit_test(kernel_aliases),
		cmocka_unit_test(kernel_modules),
		cmocka_unit_test(kernel_restricted),
		cmocka_unit_test(kernel_replaced),
		cmocka_unit_test(kernel_hostile_text),
		cmocka_unit_test(kernel_running),
		cmocka_unit_test(maps_overlap),
		cmocka_unit_test(maps_exec_and_fork),
		cmocka_unit_test(maps_random),
		cmocka_unit_test(maps_impossible),
		cmocka_unit_test(special_mappings),
		cmocka_unit_test(file_by_build_id),
		cmocka_unit_test(file_without_build_id),
		cmocka_unit_test(file_deleted),
		cmocka_unit_test(own_process),
		cmocka_unit_test(own_vdso),
	};

	return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
