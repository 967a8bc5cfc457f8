// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elfsyms: see elfsyms.h. Files are read with pread through libelf, never
 * mapped, since a file that is cut short while it is mapped ends the reader.
 *
 * Reading goes file -> candidates (both symbol tables, FUNC, GNU_IFUNC and
 * labels in code) -> one candidate per address -> disjoint pieces, which a
 * lookup searches. Sizes are checked against limits before libelf reads what
 * they describe; the file is closed when its table is built.
 */
#include "collectors/elfsyms.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collectors/symrank.h"

#define FILE_BYTES_MAX ((off_t)8 << 30)		/* debug files of browsers reach gigabytes */
#define SYMTAB_BYTES_MAX ((uint64_t)128 << 20)	/* five million symbols */
#define STRTAB_BYTES_MAX ((uint64_t)256 << 20)
#define NOTE_BYTES_MAX ((uint64_t)1 << 20)
#define VDSO_BYTES_MAX ((uint64_t)1 << 20)
#define SEGMENTS_MAX 64				/* executable ones; linkers make one */
#define LABEL_SPAN_MAX ((uint64_t)64 << 10)	/* how far a symbol without a size may reach in its section */

struct segment {		/* an executable PT_LOAD */
	uint64_t offset, filesz, vaddr, memsz;
};

struct candidate {
	uint64_t start, size;	/* vaddr; size 0: unknown */
	uint64_t room;		/* bytes it can have at most: what its section has from there on */
	uint32_t name;		/* offset into names */
	uint32_t rank;
};

struct piece {
	uint64_t start, end;	/* disjoint and ordered */
	uint64_t symbol;	/* where the symbol itself starts, at or before start */
	uint32_t name;
};

struct elfsyms {
	char build_id[BUILD_ID_HEX];
	uint64_t file_size;
	struct segment segments[SEGMENTS_MAX];
	size_t n_segments;
	VEC(struct candidate) candidates;	/* empty once the pieces are made */
	VEC(struct piece) pieces;
	struct buf names;	/* string tables, one behind the other, each closed by a NUL */
};

struct image {			/* an open ELF file */
	Elf *elf;
	int fd;
	uint64_t size;
	uint16_t machine;
};

static void image_close(struct image *im)
{
	if (im->elf)
		elf_end(im->elf);
	if (im->fd >= 0)
		close(im->fd);
	*im = (struct image){ .fd = -1 };
}

/* Takes im->elf as opened by libelf; false, and closed, when it is no program or library. */
static bool image_check(struct image *im)
{
	GElf_Ehdr ehdr;

	if (im->elf && elf_kind(im->elf) == ELF_K_ELF && gelf_getehdr(im->elf, &ehdr) &&
	    (ehdr.e_type == ET_EXEC || ehdr.e_type == ET_DYN)) {
		im->machine = ehdr.e_machine;
		return true;
	}
	image_close(im);
	return false;
}

static bool image_open(struct image *im, const char *path)
{
	struct stat st;

	*im = (struct image){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
	if (im->fd < 0)
		return false;
	if (fstat(im->fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX ||
	    elf_version(EV_CURRENT) == EV_NONE) {
		image_close(im);
		return false;
	}
	im->size = (uint64_t)st.st_size;
	im->elf = elf_begin(im->fd, ELF_C_READ, NULL);
	return image_check(im);
}

/* The GNU build-id among the notes of one chunk. */
static bool note_build_id(Elf_Data *notes, char hex[BUILD_ID_HEX])
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr n;

	while (notes && (next = gelf_getnote(notes, at, &n, &name, &desc)) > at) {
		const unsigned char *bytes = notes->d_buf;

		at = next;
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 || memcmp(bytes + name, "GNU", 4) ||
		    !n.n_descsz || n.n_descsz > (BUILD_ID_HEX - 1) / 2)
			continue;
		for (size_t i = 0; i < n.n_descsz; i++) {
			hex[2 * i] = "0123456789abcdef"[bytes[desc + i] >> 4];
			hex[2 * i + 1] = "0123456789abcdef"[bytes[desc + i] & 15];
		}
		hex[2 * n.n_descsz] = '\0';
		return true;
	}
	return false;
}

/* By program header, as the kernel does; by section in debug files, whose program headers point nowhere. */
static void image_build_id(const struct image *im, char hex[BUILD_ID_HEX])
{
	Elf_Scn *scn = NULL;
	size_t n = 0;

	hex[0] = '\0';
	if (elf_getphdrnum(im->elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(im->elf, (int)i, &ph) || ph.p_type != PT_NOTE || !ph.p_filesz ||
		    ph.p_filesz > NOTE_BYTES_MAX || ph.p_offset > im->size ||
		    ph.p_filesz > im->size - ph.p_offset)
			continue;
		if (note_build_id(elf_getdata_rawchunk(im->elf, (int64_t)ph.p_offset, ph.p_filesz,
						       ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR), hex))
			return;
	}
	while ((scn = elf_nextscn(im->elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE && sh.sh_size <= NOTE_BYTES_MAX &&
		    !(sh.sh_flags & SHF_COMPRESSED) && note_build_id(elf_getdata(scn, NULL), hex))
			return;
	}
}

static void read_segments(struct elfsyms *e, const struct image *im)
{
	size_t n = 0;

	if (elf_getphdrnum(im->elf, &n))
		return;
	for (size_t i = 0; i < n && e->n_segments < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;

		/* objcopy makes debug files whose segments have no bytes: offsets are not the program's. */
		if (!gelf_getphdr(im->elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    !ph.p_filesz || ph.p_vaddr + ph.p_memsz < ph.p_vaddr)
			continue;
		e->segments[e->n_segments++] =
			(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_memsz };
	}
}

static const struct segment *segment_at(const struct elfsyms *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->n_segments; i++)
		if (vaddr - e->segments[i].vaddr < e->segments[i].memsz)
			return &e->segments[i];
	return NULL;
}

/*
 * Bytes of code from the symbol to the end of its section; 0 when it names no
 * code. Types that do: functions, and none, which is hand-written assembly.
 */
static uint64_t code_behind(const struct elfsyms *e, const struct image *im, const GElf_Sym *sym)
{
	const struct segment *seg = segment_at(e, sym->st_value);
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	uint64_t in_segment, in_section;
	GElf_Shdr sh;

	if (!seg || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(im->elf, sym->st_shndx), &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
	    sym->st_value - sh.sh_addr >= sh.sh_size)
		return 0;
	in_segment = seg->vaddr + seg->memsz - sym->st_value;
	in_section = sh.sh_addr + sh.sh_size - sym->st_value;
	return in_segment < in_section ? in_segment : in_section;
}

static uint32_t rank_of(const GElf_Sym *sym)
{
	unsigned int bind = GELF_ST_BIND(sym->st_info);

	return (sym->st_size ? RANK_SIZED : 0) | (bind != STB_WEAK ? RANK_STRONG : 0) |
	       (bind == STB_GLOBAL ? RANK_GLOBAL : 0);
}

static void add_candidates(struct elfsyms *e, const struct image *im, Elf_Data *syms, size_t strings,
			   size_t n_strings)
{
	size_t n = syms->d_size / gelf_fsize(im->elf, ELF_T_SYM, 1, EV_CURRENT);

	for (size_t i = 0; i < n; i++) {
		const char *name;
		uint64_t room;
		GElf_Sym sym;

		if (!gelf_getsym(syms, (int)i, &sym) || sym.st_name >= n_strings)
			continue;
		if (im->machine == EM_ARM)
			sym.st_value &= ~(uint64_t)1;	/* says "Thumb", is no part of the address */
		name = e->names.data + strings + sym.st_name;
		room = code_behind(e, im, &sym);
		if (!room || !name[0] || symrank_is_mark(name))
			continue;
		vec_push(&e->candidates, (struct candidate){
			.start = sym.st_value,
			.size = sym.st_size < room ? sym.st_size : room,
			.room = room,
			.name = (uint32_t)(strings + sym.st_name),
			.rank = rank_of(&sym),
		});
	}
}

/* Reads the first section of this type with its strings; false when there is none that can be read. */
static bool read_table(struct elfsyms *e, const struct image *im, uint32_t type)
{
	Elf_Scn *scn = NULL, *link;
	Elf_Data *syms, *strs;
	GElf_Shdr sh, strsh;
	size_t strings;

	do {
		scn = elf_nextscn(im->elf, scn);
		if (!scn || !gelf_getshdr(scn, &sh))
			return false;
	} while (sh.sh_type != type);
	link = elf_getscn(im->elf, sh.sh_link);
	if (!gelf_getshdr(link, &strsh) || strsh.sh_type != SHT_STRTAB || sh.sh_size > SYMTAB_BYTES_MAX ||
	    strsh.sh_size > STRTAB_BYTES_MAX || ((sh.sh_flags | strsh.sh_flags) & SHF_COMPRESSED))
		return false;
	syms = elf_getdata(scn, NULL);
	strs = elf_getdata(link, NULL);
	if (!syms || !syms->d_buf || syms->d_type != ELF_T_SYM || !strs || !strs->d_buf || !strs->d_size)
		return false;
	strings = e->names.len;
	buf_add(&e->names, strs->d_buf, strs->d_size);
	buf_putc(&e->names, '\0');
	add_candidates(e, im, syms, strings, strs->d_size);
	return true;
}

static int by_start(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* One candidate per address, in order. */
static void choose(struct elfsyms *e)
{
	struct candidate *v = e->candidates.v, *last = NULL;
	const char *names = e->names.data;
	size_t kept = 0;

	if (e->candidates.n)
		qsort(v, e->candidates.n, sizeof(*v), by_start);
	for (size_t i = 0; i < e->candidates.n; i++) {
		if (!last || last->start != v[i].start) {
			last = &v[kept++];
			*last = v[i];
		} else if (symrank_better(v[i].rank, names + v[i].name, last->rank, names + last->name)) {
			*last = v[i];
		}
	}
	e->candidates.n = kept;
}

static void add_piece(struct elfsyms *e, uint64_t start, uint64_t end, const struct candidate *c)
{
	if (start < end)
		vec_push(&e->pieces, (struct piece){ start, end, c->start, c->name });
}

/*
 * Symbols may lie in one another: an address belongs to the one that started
 * last, and behind its end to the one around it again. Sweeps the starts in
 * order with a stack of what is open. A symbol without a size is a label when
 * it lies in a function, and reaches to the next start when not.
 */
static void flatten(struct elfsyms *e)
{
	VEC(const struct candidate *) open = { 0 };
	const struct candidate *top;
	uint64_t at = 0;

	choose(e);
	for (size_t i = 0; i <= e->candidates.n; i++) {
		struct candidate *c = i < e->candidates.n ? &e->candidates.v[i] : NULL;

		for (; open.n; open.n--) {
			top = open.v[open.n - 1];
			if (c && top->start + top->size > c->start)
				break;
			add_piece(e, at, top->start + top->size, top);
			if (top->start + top->size > at)
				at = top->start + top->size;
		}
		if (!c)
			break;
		if (!c->size && !open.n) {
			c->size = c->room;
			if (i + 1 < e->candidates.n && c[1].start - c->start < c->size)
				c->size = c[1].start - c->start;
			if (c->size > LABEL_SPAN_MAX)
				c->size = LABEL_SPAN_MAX;
		}
		if (!c->size)
			continue;
		if (open.n)
			add_piece(e, at, c->start, open.v[open.n - 1]);
		at = c->start;
		vec_push(&open, c);
	}
	vec_release(&open);
	vec_release(&e->candidates);
}

/* DIR/.build-id/xx/yyy.debug, opened if it carries that build-id. */
static bool open_debug_file(struct image *im, const char *dir, const char *build_id)
{
	size_t len = strlen(build_id);
	char own[BUILD_ID_HEX], *path;
	bool ok;

	if (len < 4 || strspn(build_id, "0123456789abcdefABCDEF") != len)
		return false;	/* a peer's word, about to become part of a path */
	path = mem_printf("%s/.build-id/%.2s/%s.debug", dir, build_id, build_id + 2);
	ok = image_open(im, path);
	free(path);
	if (!ok)
		return false;
	image_build_id(im, own);
	if (!strcasecmp(own, build_id))
		return true;
	image_close(im);
	return false;
}

struct elfsyms *elfsyms_open(const char *file, const char *build_id, const char *debug_dir)
{
	struct image im = { .fd = -1 }, debug = { .fd = -1 };
	struct elfsyms *e = mem_alloc(sizeof(*e));
	bool full = false;

	if (file && image_open(&im, file)) {
		image_build_id(&im, e->build_id);
		if (build_id[0] && strcasecmp(build_id, e->build_id)) {
			image_close(&im);
			e->build_id[0] = '\0';
		}
	}
	if (im.elf) {
		e->file_size = im.size;
		read_segments(e, &im);
		full = read_table(e, &im, SHT_SYMTAB);
		read_table(e, &im, SHT_DYNSYM);
		build_id = e->build_id;
	}
	if (!full && open_debug_file(&debug, debug_dir, build_id)) {
		if (!im.elf) {
			e->file_size = debug.size;
			read_segments(e, &debug);
			image_build_id(&debug, e->build_id);
		}
		full = read_table(e, &debug, SHT_SYMTAB);
	}
	if (!im.elf && !full) {
		elfsyms_free(e);
		e = NULL;
	} else {
		flatten(e);
	}
	image_close(&debug);
	image_close(&im);
	return e;
}

/* Bytes of the image at `base`, by its own headers: the kernel made it, so they are believed. */
static uint64_t vdso_size(const char *base)
{
	ElfW(Ehdr) eh;
	uint64_t end;

	memcpy(&eh, base, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return 0;
	end = eh.e_shoff + (uint64_t)eh.e_shnum * eh.e_shentsize;
	for (size_t i = 0; i < eh.e_phnum; i++) {
		ElfW(Phdr) ph;

		memcpy(&ph, base + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && ph.p_offset + ph.p_filesz > end)
			end = ph.p_offset + ph.p_filesz;
	}
	return end;
}

struct elfsyms *elfsyms_open_vdso(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size = base ? vdso_size(base) : 0;
	struct image im = { .fd = -1, .size = size };
	struct elfsyms *e;
	char *copy;

	if (!size || size > VDSO_BYTES_MAX || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	copy = mem_dup(base, size);	/* libelf takes writable memory */
	im.elf = elf_memory(copy, size);
	e = NULL;
	if (image_check(&im)) {
		e = mem_alloc(sizeof(*e));
		e->file_size = size;
		image_build_id(&im, e->build_id);
		read_segments(e, &im);
		read_table(e, &im, SHT_SYMTAB);
		read_table(e, &im, SHT_DYNSYM);
		flatten(e);
		image_close(&im);
	}
	free(copy);
	return e;
}

void elfsyms_free(struct elfsyms *e)
{
	if (!e)
		return;
	vec_release(&e->candidates);
	vec_release(&e->pieces);
	buf_release(&e->names);
	free(e);
}

const char *elfsyms_build_id(const struct elfsyms *e)
{
	return e->build_id;
}

uint64_t elfsyms_file_size(const struct elfsyms *e)
{
	return e->file_size;
}

bool elfsyms_find(const struct elfsyms *e, uint64_t file_offset, const char **name, uint64_t *offset)
{
	const struct segment *seg = NULL;
	size_t low = 0, high = e->pieces.n;
	const struct piece *p;
	uint64_t vaddr;

	for (size_t i = 0; i < e->n_segments && !seg; i++)
		if (file_offset - e->segments[i].offset < e->segments[i].filesz)
			seg = &e->segments[i];
	if (!seg)
		return false;
	vaddr = file_offset - seg->offset + seg->vaddr;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (e->pieces.v[mid].start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	p = &e->pieces.v[low - 1];
	if (vaddr >= p->end)
		return false;
	*name = e->names.data + p->name;
	*offset = vaddr - p->symbol;
	return true;
}
