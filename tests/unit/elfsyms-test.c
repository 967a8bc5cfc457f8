// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elfsyms-test: what counts as a function of an ELF file, which file of two is
 * believed, and that damaged files cost names and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "collectors/elfsyms.h"
#include "tests/unit/tiny-elf.h"

static const unsigned char id_bytes[] = "\xab\xcd\xef\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf\x10\x11";
#define ID "abcdef0102030405060708090a0b0c0d0e0f1011"
#define NO_DEBUG "/nonexistent"

static const struct tiny_symbol symbols[] = {
	{ "outer", 0x00, 0x100, STB_GLOBAL, STT_FUNC, TINY_TEXT, false },
	{ "$x", 0x20, 0, STB_LOCAL, STT_NOTYPE, TINY_TEXT, false },
	{ "inner", 0x40, 0x20, STB_LOCAL, STT_FUNC, TINY_TEXT, false },
	{ "label_in_outer", 0x80, 0, STB_LOCAL, STT_NOTYPE, TINY_TEXT, false },
	{ "weak_alias", 0x100, 0x40, STB_WEAK, STT_FUNC, TINY_TEXT, true },
	{ "local_alias", 0x100, 0x40, STB_LOCAL, STT_FUNC, TINY_TEXT, false },
	{ "__strong", 0x100, 0x40, STB_GLOBAL, STT_FUNC, TINY_TEXT, false },
	{ "unsized_alias", 0x100, 0, STB_GLOBAL, STT_FUNC, TINY_TEXT, false },
	{ "asm_entry", 0x180, 0, STB_GLOBAL, STT_NOTYPE, TINY_TEXT, false },
	{ "ifunc", 0x1a0, 0x10, STB_GLOBAL, STT_GNU_IFUNC, TINY_TEXT, false },
	{ "object", 0x1c0, 0x10, STB_GLOBAL, STT_OBJECT, TINY_TEXT, false },
	{ "exported", 0x200, 0x40, STB_GLOBAL, STT_FUNC, TINY_TEXT, true },
	{ "left", 0x280, 0x40, STB_LOCAL, STT_FUNC, TINY_TEXT, false },
	{ "right.isra.0", 0x2a0, 0x40, STB_LOCAL, STT_FUNC, TINY_TEXT, false },	/* reaches out of left */
	{ "undefined", 0x300, 0x10, STB_GLOBAL, STT_FUNC, SHN_UNDEF, false },
	{ "absolute", 0x300, 0x10, STB_GLOBAL, STT_NOTYPE, SHN_ABS, false },
	{ "data_label", 0x300, 0x10, STB_GLOBAL, STT_NOTYPE, TINY_DATA, false },
	{ "asm_last", 0x380, 0, STB_GLOBAL, STT_FUNC, TINY_INIT, false },	/* ends at 0x390 */
	{ "last", 0x3f0, 0xffffffff, STB_GLOBAL, STT_FUNC, TINY_TEXT, false },
	{ "outside", 0x500, 0x10, STB_GLOBAL, STT_FUNC, TINY_TEXT, false },
};

static const struct tiny_elf whole = {
	.symbols = symbols, .n = sizeof(symbols) / sizeof(*symbols), .build_id = id_bytes, .build_id_len = 20,
};

/* A file in memory that has a path; its descriptor. */
static int memory_file(const struct buf *image, char path[64])
{
	int fd = memfd_create("elfsyms-test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	assert_int_equal(pwrite(fd, image->data, image->len, 0), image->len);
	return fd;
}

static struct elfsyms *open_image(const struct tiny_elf *t, const char *build_id, const char *debug_dir)
{
	struct buf image = BUF_INIT;
	struct elfsyms *e;
	char path[64];
	int fd;

	tiny_elf_build(t, &image);
	fd = memory_file(&image, path);
	e = elfsyms_open(path, build_id, debug_dir);
	close(fd);
	buf_release(&image);
	return e;
}

/* `at` counts from the start of the text; name NULL: nothing there. */
static void assert_at(const struct elfsyms *e, uint64_t at, const char *name, uint64_t offset)
{
	const char *found;
	uint64_t found_offset;

	if (!elfsyms_find(e, TINY_OFFSET + at, &found, &found_offset)) {
		assert_null(name);
		return;
	}
	assert_non_null(name);
	assert_string_equal(found, name);
	assert_int_equal(found_offset, offset);
}

static void which_symbols(void **state)
{
	static const struct {
		uint64_t at;
		const char *name;
		uint64_t offset;
	} rows[] = {
		{ 0x00, "outer", 0 }, { 0x3f, "outer", 0x3f }, { 0x40, "inner", 0 }, { 0x5f, "inner", 0x1f },
		{ 0x60, "outer", 0x60 }, { 0x80, "outer", 0x80 }, { 0xff, "outer", 0xff },
		{ 0x100, "__strong", 0 }, { 0x13f, "__strong", 0x3f }, { 0x140, NULL, 0 },
		{ 0x180, "asm_entry", 0 }, { 0x19f, "asm_entry", 0x1f }, { 0x1a0, "ifunc", 0 },
		{ 0x1af, "ifunc", 0xf }, { 0x1b0, NULL, 0 }, { 0x1c0, NULL, 0 },
		{ 0x200, "exported", 0 }, { 0x240, NULL, 0 },
		{ 0x29f, "left", 0x1f }, { 0x2a0, "right.isra.0", 0 }, { 0x2df, "right.isra.0", 0x3f },
		{ 0x2e0, NULL, 0 }, { 0x300, NULL, 0 }, { 0x38f, "asm_last", 0xf },
		{ 0x390, NULL, 0 }, { 0x3ef, NULL, 0 }, { 0x3ff, "last", 0xf },
		{ 0x400, NULL, 0 }, { 0x500, NULL, 0 }, { UINT64_MAX, NULL, 0 },
		{ -(uint64_t)TINY_OFFSET, NULL, 0 },
		{ TINY_VADDR - TINY_OFFSET, NULL, 0 },	/* the address, taken for an offset */
	};
	struct elfsyms *e = open_image(&whole, ID, NO_DEBUG);

	(void)state;
	assert_non_null(e);
	assert_string_equal(elfsyms_build_id(e), ID);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_at(e, rows[i].at, rows[i].name, rows[i].offset);
	elfsyms_free(e);
}

static void build_ids(void **state)
{
	struct tiny_elf without = whole, shorter = whole;
	struct elfsyms *e;

	(void)state;
	without.build_id = NULL;
	shorter.build_id_len = 8;
	assert_null(open_image(&whole, "abcdef", NO_DEBUG));
	assert_null(open_image(&whole, ID "00", NO_DEBUG));
	assert_null(open_image(&without, ID, NO_DEBUG));
	assert_null(open_image(&shorter, ID, NO_DEBUG));
	e = open_image(&shorter, "abcdef0102030405", NO_DEBUG);
	assert_at(e, 0, "outer", 0);
	elfsyms_free(e);
	e = open_image(&without, "", NO_DEBUG);
	assert_at(e, 0, "outer", 0);
	assert_string_equal(elfsyms_build_id(e), "");
	elfsyms_free(e);
}

static void write_debug_file(const char *dir, const struct tiny_elf *t)
{
	char *path = mem_printf("%s/.build-id/ab/%s.debug", dir, ID + 2);
	char *folder = mem_printf("%s/.build-id/ab", dir);
	struct buf image = BUF_INIT;

	tiny_elf_build(t, &image);
	assert_int_equal(fs_mkdirs(folder, NULL), 0);
	assert_int_equal(fs_write(path, image.data, image.len, NULL), 0);
	buf_release(&image);
	free(folder);
	free(path);
}

static void debug_files(void **state)
{
	char *dir = fs_tmpdir("elfsyms-test", NULL);
	struct tiny_elf stripped = whole, debug = whole, foreign = whole;
	struct elfsyms *e;

	(void)state;
	assert_non_null(dir);
	stripped.no_symtab = true;
	debug.no_bytes = true;
	foreign.build_id = (const unsigned char *)"another build entire";

	e = open_image(&stripped, ID, dir);		/* nothing there yet */
	assert_at(e, 0x200, "exported", 0);
	assert_at(e, 0x10, NULL, 0);
	assert_at(e, 0x100, "weak_alias", 0);
	elfsyms_free(e);

	write_debug_file(dir, &debug);
	e = open_image(&stripped, "", dir);		/* by the program's own build-id */
	assert_at(e, 0x200, "exported", 0);
	assert_at(e, 0x10, "outer", 0x10);
	assert_at(e, 0x100, "__strong", 0);
	elfsyms_free(e);
	e = open_image(&foreign, ID, dir);		/* the program there is another, its offsets too */
	assert_at(e, 0x10, NULL, 0);
	elfsyms_free(e);

	write_debug_file(dir, &whole);			/* one that kept the program headers */
	e = elfsyms_open(NULL, ID, dir);
	assert_string_equal(elfsyms_build_id(e), ID);
	assert_at(e, 0x10, "outer", 0x10);
	elfsyms_free(e);

	write_debug_file(dir, &foreign);		/* under the right name, but another */
	e = open_image(&stripped, ID, dir);
	assert_at(e, 0x10, NULL, 0);
	elfsyms_free(e);
	assert_null(elfsyms_open(NULL, ID, dir));
	assert_null(elfsyms_open(NULL, "", dir));
	assert_null(elfsyms_open(NULL, "../../../../../../etc/passwd", dir));
	assert_int_equal(fs_remove(dir, NULL), 0);
	free(dir);
}

static void not_elf_files(void **state)
{
	char *dir = fs_tmpdir("elfsyms-test", NULL);
	char *fifo = mem_printf("%s/fifo", dir), *text = mem_printf("%s/text", dir);

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(fs_write(text, "#!/bin/sh\n", 10, NULL), 0);
	assert_null(elfsyms_open(fifo, "", NO_DEBUG));		/* and does not wait for a writer */
	assert_null(elfsyms_open(text, "", NO_DEBUG));
	assert_null(elfsyms_open(dir, "", NO_DEBUG));
	assert_null(elfsyms_open("/dev/zero", "", NO_DEBUG));
	assert_null(elfsyms_open("/nonexistent", "", NO_DEBUG));
	assert_int_equal(fs_remove(dir, NULL), 0);
	free(fifo);
	free(text);
	free(dir);
}

/* Looks at every 16th byte of the text; what is found must be a string. Counts what has a name. */
static size_t probe(const char *path, uint64_t from, uint64_t to)
{
	struct elfsyms *e = elfsyms_open(path, "", NO_DEBUG);
	size_t named = 0;
	const char *name;
	uint64_t offset;

	if (!e)
		return 0;
	for (; from < to; from += 16)
		if (elfsyms_find(e, from, &name, &offset))
			named += strlen(name) > 0;
	elfsyms_free(e);
	return named;
}

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % limit;
}

static void cut_short(void **state)
{
	struct buf image = BUF_INIT;
	size_t named = 0;
	char path[64];
	int fd;

	(void)state;
	tiny_elf_build(&whole, &image);
	fd = memory_file(&image, path);
	assert_int_equal(probe(path, 0, image.len), 35);
	for (size_t len = image.len; len--; ) {
		assert_int_equal(ftruncate(fd, (off_t)len), 0);
		named += probe(path, 0, image.len);
	}
	assert_int_equal(named, 0);	/* the section headers come last: every cut loses them */
	close(fd);
	buf_release(&image);
}

static void flipped_bytes(void **state)
{
	struct buf image = BUF_INIT;
	uint64_t seed = 1987;
	char path[64], *bytes;
	size_t named = 0;
	int fd;

	(void)state;
	tiny_elf_build(&whole, &image);
	fd = memory_file(&image, path);
	bytes = mem_dup(image.data, image.len);
	for (int round = 0; round < 20000; round++) {
		unsigned int flips = 1 + random_below(&seed, 8);

		memcpy(bytes, image.data, image.len);
		while (flips--) {
			uint32_t at = random_below(&seed, (uint32_t)image.len - TINY_SIZE);

			/* The text itself is not read, so it is left out. */
			bytes[at < TINY_OFFSET ? at : at + TINY_SIZE] = (char)random_below(&seed, 256);
		}
		assert_int_equal(pwrite(fd, bytes, image.len, 0), image.len);
		named += probe(path, 0, image.len);
	}
	assert_true(named > 20000);	/* most rounds still find something: the fuzz reaches the tables */
	free(bytes);
	close(fd);
	buf_release(&image);
}

/* The same with a real program, this one: damage where its headers are. */
static void flipped_headers(void **state)
{
	struct buf image = BUF_INIT;
	uint64_t seed = 2024;
	Elf64_Ehdr eh;
	char path[64];
	int fd;

	(void)state;
	if (buf_read_file(&image, "/proc/self/exe", (size_t)256 << 20, NULL) || image.len < sizeof(eh) ||
	    image.data[EI_CLASS] != ELFCLASS64) {
		buf_release(&image);
		skip();		/* no /proc, or a 32-bit program */
	}
	memcpy(&eh, image.data, sizeof(eh));
	assert_true(eh.e_shoff + eh.e_shnum * sizeof(Elf64_Shdr) <= image.len);
	fd = memory_file(&image, path);
	assert_true(probe(path, 0, image.len) > 0);
	for (int round = 0; round < 1000; round++) {
		uint64_t at = round % 2 ? random_below(&seed, 64 + eh.e_phnum * 56) :
			      eh.e_shoff + random_below(&seed, eh.e_shnum * (uint32_t)sizeof(Elf64_Shdr));
		char byte = (char)random_below(&seed, 256);

		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		probe(path, random_below(&seed, 16), 0x4000);
		assert_int_equal(pwrite(fd, image.data + at, 1, (off_t)at), 1);
	}
	assert_true(probe(path, 0, image.len) > 0);
	close(fd);
	buf_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_symbols),
		cmocka_unit_test(build_ids),
		cmocka_unit_test(debug_files),
		cmocka_unit_test(not_elf_files),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(flipped_bytes),
		cmocka_unit_test(flipped_headers),
	};

	return cmocka_run_group_tests_name("elfsyms", tests, NULL, NULL);
}
