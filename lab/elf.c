// SPDX-License-Identifier: GPL-2.0-or-later
/* elf: see elf.h. */
#include "lab/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

#define NOTE_PVH_ENTRY 18	/* XEN_ELFNOTE_PHYS32_ENTRY */

/* An open ELF file; elf NULL when it is none. */
struct file {
	int fd;
	Elf *elf;
};

static struct file file_open(const char *path)
{
	struct file f = { .fd = open(path, O_RDONLY | O_CLOEXEC), .elf = NULL };

	if (f.fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		f.elf = elf_begin(f.fd, ELF_C_READ_MMAP, NULL);
	if (f.elf && elf_kind(f.elf) != ELF_K_ELF) {
		elf_end(f.elf);
		f.elf = NULL;
	}
	return f;
}

static void file_close(struct file *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
}

int elf_is_static(const char *path, bool *is_static, struct err *err)
{
	struct file f = file_open(path);
	size_t n = 0, i;
	GElf_Phdr ph;
	int rc = 0;

	if (f.fd < 0)
		rc = err_sys(err, errno, "Cannot open %s", path);
	else if (!f.elf || elf_getphdrnum(f.elf, &n) || !n)
		rc = err_add(err, -EINVAL, "%s is not a program.", path);
	*is_static = !rc;
	for (i = 0; !rc && i < n; i++)
		if (gelf_getphdr(f.elf, (int)i, &ph) && ph.p_type == PT_INTERP)
			*is_static = false;
	file_close(&f);
	return rc;
}

static bool note_has_pvh(Elf_Data *notes)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr nh;

	while ((next = gelf_getnote(notes, at, &nh, &name, &desc)) > 0) {
		if (nh.n_type == NOTE_PVH_ENTRY && nh.n_namesz == sizeof("Xen") &&
		    !memcmp((char *)notes->d_buf + name, "Xen", sizeof("Xen")))
			return true;
		at = next;
	}
	return false;
}

bool elf_has_pvh(const char *path)
{
	struct file f = file_open(path);
	bool found = false;
	size_t n = 0, i;
	GElf_Phdr ph;

	if (f.elf && !elf_getphdrnum(f.elf, &n))
		for (i = 0; !found && i < n; i++) {
			Elf_Data *notes;

			if (!gelf_getphdr(f.elf, (int)i, &ph) || ph.p_type != PT_NOTE)
				continue;
			notes = elf_getdata_rawchunk(f.elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_NHDR);
			found = notes && note_has_pvh(notes);
		}
	file_close(&f);
	return found;
}

/* The value of the first "depends=" among the NUL-ended strings of .modinfo; NULL when there is none. */
static const char *modinfo_depends(const char *p, size_t len, size_t *value_len)
{
	static const char key[] = "depends=";

	while (len) {
		const char *end = memchr(p, '\0', len);
		size_t n = end ? (size_t)(end - p) : len;

		if (n >= sizeof(key) - 1 && !memcmp(p, key, sizeof(key) - 1)) {
			*value_len = n - (sizeof(key) - 1);
			return p + sizeof(key) - 1;
		}
		p += n + (end != NULL);
		len -= n + (end != NULL);
	}
	return NULL;
}

/* The section of that name; NULL when there is none, or when it lies outside of the file. */
static Elf_Data *section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *s;

		if (gelf_getshdr(scn, &sh) && (s = elf_strptr(elf, names, sh.sh_name)) && !strcmp(s, name))
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

int elf_module_depends(void *ko, size_t len, const char *name,
		       int (*each)(void *ctx, const char *depends, size_t len, struct err *err), void *ctx,
		       struct err *err)
{
	const char *list = NULL;
	size_t left = 0;
	Elf_Data *info;
	Elf *elf = NULL;
	int rc = 0;

	if (elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_memory(ko, len);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !(info = section(elf, ".modinfo")) || !info->d_buf) {
		rc = err_add(err, -EINVAL, "The kernel module %s is damaged; run `kab lab clean`, then "
			     "`kab lab fetch`.", name);
		goto out;
	}
	list = modinfo_depends(info->d_buf, info->d_size, &left);
	while (!rc && left) {
		const char *comma = memchr(list, ',', left);
		size_t n = comma ? (size_t)(comma - list) : left;

		if (n)
			rc = each(ctx, list, n, err);
		list += n + (comma != NULL);
		left -= n + (comma != NULL);
	}
out:
	if (elf)
		elf_end(elf);
	return rc;
}
