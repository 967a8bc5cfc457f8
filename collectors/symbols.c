// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbols: see symbols.h. Joins the kernel's table (kallsyms.c), the mappings of
 * processes (maps.c) and the tables of files (elfsyms.c), which are read when the
 * first address falls into them. Every string that leaves is interned here, so it
 * stays when a table is replaced. What is resolved goes to the ingest of samples.
 *
 * Stacks repeat: a direct-mapped cache of answers stands before the searches. An
 * answer carries the epoch of the tables it came from, so a change of the tables
 * makes it void without touching the cache.
 */
#include "collectors/symbols.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collectors/elfsyms.h"
#include "collectors/kallsyms.h"
#include "collectors/maps.h"
#include "collectors/symrank.h"

#define UNKNOWN "[unknown]"
#define VDSO "[vdso]"
#define DELETED " (deleted)"
#define HITS 4096		/* 300 kB; power of two */

enum backing {
	BACK_FILE,		/* path names a file */
	BACK_DELETED,		/* ... gone when it was reported: its build-id alone tells what has it now */
	BACK_VDSO,
	BACK_NONE,		/* memory without a file */
};

struct file {
	const char *path, *build_id;	/* as reported, " (deleted)" cut off; interned */
	enum backing backing;
	bool tried;
	struct elfsyms *elf;		/* NULL once tried: no table */
};

struct hit {
	uint64_t addr, space;		/* pid, or KERNEL_SPACE */
	uint64_t epoch;			/* 0: empty */
	struct resolved what;
};

#define KERNEL_SPACE ((uint64_t)1 << 32)	/* no pid */

struct symboliser {
	const char *(*find)(void *ctx, const char *path, const char *build_id);
	void *ctx;
	struct map strings;		/* all names that were given out */
	struct kallsyms kallsyms;
	const char **kernel_names;	/* per symbol of kallsyms, interned; NULL before it was asked for */
	struct maps maps;
	struct map file_keys;		/* path NUL build-id -> files */
	VEC(struct file) files;
	uint64_t kernel_epoch, user_epoch;	/* from 1 */
	struct hit hits[HITS];
};

/* How the kernel names mappings that no file stands behind. */
static const struct {
	const char *prefix;
	enum backing backing;
} special_paths[] = {
	{ "[vdso]", BACK_VDSO },
	{ "[", BACK_NONE },		/* [heap], [stack], [anon:NAME], [vsyscall], [uprobes] */
	{ "//", BACK_NONE },		/* //anon; //toolong, //enomem: the kernel could not tell */
	{ "/dev/zero", BACK_NONE },
	{ "/anon_hugepage", BACK_NONE },
	{ "/memfd:", BACK_NONE },
	{ "/SYSV", BACK_NONE },
};

/* Of those, the ones whose name says more than "[anon]". */
static const char *const kept_names[] = { "[vdso]", "[vsyscall]", "[uprobes]" };

struct symboliser *symboliser_new(const char *(*find)(void *ctx, const char *path, const char *build_id),
				  void *ctx)
{
	struct symboliser *s = mem_alloc(sizeof(*s));

	s->find = find;
	s->ctx = ctx;
	s->strings = s->file_keys = (struct map)MAP_INIT;
	s->kallsyms = (struct kallsyms)KALLSYMS_INIT;
	s->maps = (struct maps)MAPS_INIT;
	s->kernel_epoch = s->user_epoch = 1;
	return s;
}

void symboliser_free(struct symboliser *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.n; i++)
		elfsyms_free(s->files.v[i].elf);
	vec_release(&s->files);
	map_release(&s->file_keys);
	maps_release(&s->maps);
	kallsyms_release(&s->kallsyms);
	free(s->kernel_names);
	map_release(&s->strings);
	free(s);
}

static const char *keep_bytes(struct symboliser *s, const char *p, size_t len)
{
	return map_str(&s->strings, map_intern(&s->strings, p, len, NULL));
}

static const char *keep(struct symboliser *s, const char *str)
{
	return keep_bytes(s, str, strnlen(str, SYMBOL_NAME_MAX));
}

int symboliser_kallsyms(struct symboliser *s, const char *text, size_t len, struct err *err)
{
	struct kallsyms fresh = KALLSYMS_INIT;
	int rc = kallsyms_parse(&fresh, text, len, err);

	if (rc)
		return rc;
	kallsyms_release(&s->kallsyms);
	s->kallsyms = fresh;
	free(s->kernel_names);
	s->kernel_names = mem_calloc(fresh.syms.n, sizeof(*s->kernel_names));
	s->kernel_epoch++;
	return 0;
}

void symboliser_exec(struct symboliser *s, uint32_t pid)
{
	maps_exec(&s->maps, pid);
	s->user_epoch++;
}

void symboliser_fork(struct symboliser *s, uint32_t parent, uint32_t child)
{
	maps_fork(&s->maps, parent, child);
	s->user_epoch++;
}

static enum backing backing_of(const char *path)
{
	if (!path[0])
		return BACK_NONE;
	for (size_t i = 0; i < sizeof(special_paths) / sizeof(*special_paths); i++)
		if (!strncmp(path, special_paths[i].prefix, strlen(special_paths[i].prefix)))
			return special_paths[i].backing;
	return BACK_FILE;
}

static const char *anonymous_name(const char *path)
{
	for (size_t i = 0; i < sizeof(kept_names) / sizeof(*kept_names); i++)
		if (!strcmp(path, kept_names[i]))
			return kept_names[i];
	return "[anon]";
}

static uint32_t file_number(struct symboliser *s, const char *path, const char *build_id)
{
	size_t len = strlen(path), suffix = strlen(DELETED);
	struct buf key = BUF_INIT;
	struct file f = { .backing = backing_of(path) };
	uint32_t number;
	bool added;

	buf_add(&key, path, len + 1);
	buf_puts(&key, build_id);
	number = map_intern(&s->file_keys, key.data, key.len, &added);
	buf_release(&key);
	if (!added)
		return number;
	if (f.backing == BACK_NONE || f.backing == BACK_VDSO) {
		path = anonymous_name(path);
		len = strlen(path);
	} else if (len > suffix && !strcmp(path + len - suffix, DELETED)) {
		f.backing = BACK_DELETED;
		len -= suffix;
	}
	f.path = keep_bytes(s, path, len);
	f.build_id = keep(s, build_id);
	vec_push(&s->files, f);
	return number;
}

void symboliser_map(struct symboliser *s, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		    const char *path, const char *build_id)
{
	struct mapping m = { .start = start, .pgoff = pgoff };

	if (__builtin_add_overflow(start, len, &m.end))
		return;
	if (strlen(path) >= PATH_MAX)	/* no path of a kernel */
		path = "";
	m.file = file_number(s, path, build_id);
	maps_add(&s->maps, pid, &m);
	s->user_epoch++;
}

/* Reads the file's table on first use; NULL when it has none that can be trusted. */
static struct elfsyms *table_of(struct symboliser *s, struct file *f)
{
	const char *path;

	if (f->tried)
		return f->elf;
	f->tried = true;
	if (f->backing == BACK_NONE)
		return NULL;
	if (f->backing == BACK_VDSO) {
		path = s->find(s->ctx, VDSO, "");
		if (path && !strcmp(path, VDSO))
			f->elf = elfsyms_open_vdso();
		if (f->elf && f->build_id[0] && strcasecmp(f->build_id, elfsyms_build_id(f->elf))) {
			elfsyms_free(f->elf);
			f->elf = NULL;
		}
		return f->elf;
	}
	path = f->backing == BACK_DELETED && !f->build_id[0] ? NULL : s->find(s->ctx, f->path, f->build_id);
	f->elf = elfsyms_open(path, f->build_id, ELFSYMS_DEBUG_DIR);
	if (f->elf && !f->build_id[0])
		f->build_id = keep(s, elfsyms_build_id(f->elf));
	return f->elf;
}

/* Ours is the vdso of that process too, unless that has one of another size: a 32-bit program. */
static bool vdso_fits(const struct elfsyms *elf, const struct mapping *m)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (elfsyms_file_size(elf) + page - 1) / page * page == m->end - m->start;
}

static void resolve_user(struct symboliser *s, uint32_t pid, uint64_t addr, struct resolved *out)
{
	const struct mapping *m = maps_find(&s->maps, pid, addr);
	struct elfsyms *elf;
	const char *name;
	struct file *f;
	uint64_t at;

	*out = (struct resolved){ UNKNOWN, UNKNOWN, "", FRAME_MARK, addr };
	if (!m)
		return;
	f = &s->files.v[m->file];
	elf = table_of(s, f);
	at = addr - m->start;
	if (f->backing == BACK_FILE || f->backing == BACK_DELETED)
		at += m->pgoff;
	if (f->backing == BACK_NONE)
		at = addr;
	*out = (struct resolved){ UNKNOWN, f->path, f->build_id, FRAME_USER, at };
	if (!elf || (f->backing == BACK_VDSO && !vdso_fits(elf, m)))
		return;
	if (elfsyms_find(elf, at, &name, &out->offset))
		out->name = keep(s, name);
}

static void resolve_kernel(struct symboliser *s, uint64_t addr, struct resolved *out)
{
	struct kallsyms_hit hit;
	const char **name;

	if (!s->kallsyms.syms.n) {	/* without a table the kernel's side of a stack is still told apart */
		*out = (struct resolved){ UNKNOWN, KALLSYMS_CORE, "", FRAME_KERNEL, addr };
		return;
	}
	if (!kallsyms_find(&s->kallsyms, addr, &hit)) {
		*out = (struct resolved){ UNKNOWN, UNKNOWN, "", FRAME_MARK, addr };
		return;
	}
	name = &s->kernel_names[hit.number];
	if (!*name)
		*name = keep(s, hit.name);
	*out = (struct resolved){ *name, KALLSYMS_CORE, "", FRAME_KERNEL, hit.offset };
	if (!hit.core) {
		out->dso = keep(s, hit.module);
		out->kind = FRAME_MODULE;
	}
}

/* The cached answer's place; *known when it holds the answer. */
static struct hit *hit_at(struct symboliser *s, uint64_t space, uint64_t addr, uint64_t epoch, bool *known)
{
	uint64_t h = (addr ^ space * 0x9e3779b97f4a7c15ULL) * 0x9e3779b97f4a7c15ULL;
	struct hit *hit = &s->hits[h >> 40 & (HITS - 1)];

	*known = hit->addr == addr && hit->space == space && hit->epoch == epoch;
	if (!*known) {
		hit->addr = addr;
		hit->space = space;
		hit->epoch = epoch;
	}
	return hit;
}

void symboliser_kernel(struct symboliser *s, uint64_t addr, struct resolved *out)
{
	bool known;
	struct hit *hit = hit_at(s, KERNEL_SPACE, addr, s->kernel_epoch, &known);

	if (!known)
		resolve_kernel(s, addr, &hit->what);
	*out = hit->what;
}

void symboliser_user(struct symboliser *s, uint32_t pid, uint64_t addr, struct resolved *out)
{
	bool known;
	struct hit *hit = hit_at(s, pid, addr, s->user_epoch, &known);

	if (!known)
		resolve_user(s, pid, addr, &hit->what);
	*out = hit->what;
}
