/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tiny-elf: an ELF image built in memory, for tests that need to know every
 * byte of one: an executable segment whose offset is not its address, a
 * build-id note, .symtab and .dynsym.
 */
#ifndef KAB_TESTS_TINY_ELF_H
#define KAB_TESTS_TINY_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

#define TINY_OFFSET 0x200u		/* of the text in the file */
#define TINY_VADDR 0x203200u		/* of the text by its program header */
#define TINY_SIZE 0x400u		/* bytes of text */

/* TINY_INIT is a piece of code of its own inside the text: 0x10 bytes at 0x380. */
enum {
	TINY_NULL, TINY_TEXT, TINY_INIT, TINY_DATA, TINY_SYMTAB, TINY_STRTAB, TINY_DYNSYM, TINY_DYNSTR,
	TINY_SECTIONS
};

struct tiny_symbol {
	const char *name;
	unsigned int at, size;		/* `at` counts from TINY_VADDR */
	unsigned char bind, type;
	unsigned short section;
	bool dynamic;			/* in .dynsym, else in .symtab */
};

struct tiny_elf {
	const struct tiny_symbol *symbols;
	size_t n;
	const unsigned char *build_id;	/* NULL: none */
	size_t build_id_len;		/* at most 20 */
	bool no_symtab;			/* stripped: the symbols meant for .symtab are left out */
	bool no_bytes;			/* like objcopy --only-keep-debug: segments of no bytes */
};

static inline Elf64_Shdr tiny_section(struct buf *image, uint32_t type, const struct buf *bytes,
				      uint32_t link)
{
	Elf64_Shdr sh = { .sh_type = type, .sh_offset = image->len, .sh_size = bytes->len, .sh_link = link };

	buf_add(image, bytes->data, bytes->len);
	buf_fill(image, '\0', -image->len & 7);
	return sh;
}

static inline void tiny_table(const struct tiny_elf *t, bool dynamic, struct buf *syms, struct buf *strs)
{
	Elf64_Sym none = { 0 };

	buf_add(syms, &none, sizeof(none));
	buf_putc(strs, '\0');
	for (size_t i = 0; i < t->n; i++) {
		const struct tiny_symbol *s = &t->symbols[i];
		Elf64_Sym sym = {
			.st_name = (Elf64_Word)strs->len, .st_info = ELF64_ST_INFO(s->bind, s->type),
			.st_shndx = s->section, .st_value = TINY_VADDR + s->at, .st_size = s->size,
		};

		if (s->dynamic != dynamic)
			continue;
		buf_add(syms, &sym, sizeof(sym));
		buf_add(strs, s->name, strlen(s->name) + 1);
	}
}

/* Appends the image to an empty `out`. */
static inline void tiny_elf_build(const struct tiny_elf *t, struct buf *out)
{
	size_t note_len = t->build_id ? sizeof(Elf64_Nhdr) + 4 + ((t->build_id_len + 3) & ~(size_t)3) : 0;
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = TINY_SECTIONS,
	};
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TINY_OFFSET, .p_vaddr = TINY_VADDR,
		  .p_filesz = t->no_bytes ? 0 : TINY_SIZE, .p_memsz = TINY_SIZE, .p_align = 0x1000 },
		{ .p_type = PT_NOTE, .p_flags = PF_R, .p_offset = sizeof(eh) + sizeof(ph),
		  .p_filesz = note_len, .p_memsz = note_len, .p_align = 4 },
	};
	Elf64_Nhdr note = { 4, (Elf64_Word)t->build_id_len, NT_GNU_BUILD_ID };
	Elf64_Shdr sh[TINY_SECTIONS] = {
		[TINY_TEXT] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = TINY_VADDR, .sh_offset = TINY_OFFSET, .sh_size = TINY_SIZE },
		[TINY_INIT] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = TINY_VADDR + 0x380, .sh_offset = TINY_OFFSET + 0x380,
				.sh_size = 0x10 },
		[TINY_DATA] = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
				.sh_addr = TINY_VADDR + 0x1000, .sh_size = 0x1000 },
	};

	buf_add(out, &eh, sizeof(eh));
	buf_add(out, ph, sizeof(ph));
	if (t->build_id) {
		buf_add(out, &note, sizeof(note));
		buf_add(out, "GNU", 4);
		buf_add(out, t->build_id, t->build_id_len);
	}
	buf_fill(out, '\0', TINY_OFFSET + TINY_SIZE - out->len);
	for (int dynamic = t->no_symtab; dynamic < 2; dynamic++) {
		struct buf syms = BUF_INIT, strs = BUF_INIT;
		uint32_t i = dynamic ? TINY_DYNSYM : TINY_SYMTAB;

		tiny_table(t, dynamic, &syms, &strs);
		sh[i] = tiny_section(out, dynamic ? SHT_DYNSYM : SHT_SYMTAB, &syms, i + 1);
		sh[i].sh_entsize = sizeof(Elf64_Sym);
		sh[i + 1] = tiny_section(out, SHT_STRTAB, &strs, 0);
		buf_release(&syms);
		buf_release(&strs);
	}
	eh.e_shoff = out->len;
	memcpy(out->data, &eh, sizeof(eh));
	buf_add(out, sh, sizeof(sh));
}

#endif
