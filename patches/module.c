// SPDX-License-Identifier: GPL-2.0-or-later
/* module: see module.h. Names of odd characters or lengths are left out: they could not be a kernel's. */
#include "patches/module.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define NAMES_MAX 200		/* of one kind; an agent looks up 256 at once */
#define NAME_LEN 128

static void add(struct module_names *names, const char *s, size_t len)
{
	if (!len || len > NAME_LEN || names->n == NAMES_MAX ||
	    strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") < len)
		return;
	names->v = mem_realloc(names->v, names->n + 1, sizeof(*names->v));
	names->v[names->n++] = mem_printf("%.*s", (int)len, s);
}

/* One "KEY=VALUE" of .modinfo. */
static void take_entry(struct module_info *m, const char *entry, size_t len)
{
	const char *eq = memchr(entry, '=', len), *value = eq ? eq + 1 : NULL, *blank;
	size_t klen = eq ? (size_t)(eq - entry) : 0, vlen = eq ? len - klen - 1 : 0;

	if (klen == strlen("kab_import") && !memcmp(entry, "kab_import", klen)) {
		add(&m->imports, value, vlen);
	} else if (klen == strlen("kab_replaces") && !memcmp(entry, "kab_replaces", klen)) {
		add(&m->replaces, value, vlen);
	} else if (klen == strlen("vermagic") && !memcmp(entry, "vermagic", klen) && !m->release) {
		blank = memchr(value, ' ', vlen);
		m->release = mem_printf("%.*s", (int)(blank ? (size_t)(blank - value) : vlen), value);
	}
}

/* Entries each end with a NUL; the last may not. */
static void take_modinfo(struct module_info *m, const char *data, size_t size)
{
	size_t at, n;

	for (at = 0; at < size; at += n + 1) {
		n = strnlen(data + at, size - at);
		take_entry(m, data + at, n);
	}
}

static void take_symbols(struct module_info *m, Elf *elf, const Elf64_Shdr *h, const Elf_Data *data)
{
	const Elf64_Sym *syms = data->d_buf;
	size_t i;

	for (i = 0; i < data->d_size / sizeof(*syms); i++) {
		const char *name = syms[i].st_shndx == SHN_UNDEF ? elf_strptr(elf, h->sh_link, syms[i].st_name) : NULL;

		if (name)
			add(&m->undefined, name, strlen(name));
	}
}

static void take_section(struct module_info *m, Elf *elf, Elf_Scn *scn, size_t names)
{
	const Elf64_Shdr *h = elf64_getshdr(scn);
	const char *name = h ? elf_strptr(elf, names, h->sh_name) : NULL;
	const Elf_Data *data = name ? elf_getdata(scn, NULL) : NULL;

	if (!data || !data->d_buf)
		return;
	if (h->sh_type == SHT_SYMTAB)
		take_symbols(m, elf, h, data);
	else if (!strcmp(name, ".modinfo"))
		take_modinfo(m, data->d_buf, data->d_size);
}

int module_info_read(const char *path, struct module_info *m, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	Elf_Scn *scn = NULL;
	size_t names;
	Elf *elf;

	memset(m, 0, sizeof(*m));
	if (fd < 0)
		return err_sys(err, errno, "Cannot read the module %s", path);
	elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		rc = err_add(err, -EINVAL, "%s is not a kernel module; remove it, so that it is built again.", path);
	while (!rc && (scn = elf_nextscn(elf, scn)))
		take_section(m, elf, scn, names);
	elf_end(elf);
	close(fd);
	return rc;
}

static void names_release(struct module_names *names)
{
	while (names->n)
		free(names->v[--names->n]);
	free(names->v);
}

void module_info_release(struct module_info *m)
{
	free(m->release);
	names_release(&m->imports);
	names_release(&m->replaces);
	names_release(&m->undefined);
	memset(m, 0, sizeof(*m));
}
