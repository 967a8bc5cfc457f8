// SPDX-License-Identifier: GPL-2.0-or-later
/* initramfs: see initramfs.h. */
#include "lab/initramfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "base/err.h"
#include "lab/busybox.h"
#include "lab/elf.h"
#include "lab/lab.h"
#include "lab/memfile.h"
#include "lab/modules.h"

#define PROGRAM_MAX (64U << 20)		/* bytes of busybox, of the agent */

/* lab/init.sh, made an object by the linker (see the Makefile). */
extern const char _binary_lab_init_sh_start[], _binary_lab_init_sh_end[];

static void pad4(struct buf *out)
{
	buf_fill(out, '\0', (4 - out->len % 4) % 4);
}

void cpio_add(struct buf *out, const char *name, mode_t mode, dev_t rdev, const void *data, size_t len)
{
	/* Inode numbers only tell hard links apart; two links each keep the kernel from looking for any. */
	unsigned long ino = out->len / 4 + 1;

	buf_printf(out, "070701%08lX%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X", ino, (unsigned)mode,
		   0, 0, S_ISDIR(mode) ? 2 : 1, 0, len, 0, 0, major(rdev), minor(rdev), strlen(name) + 1, 0);
	buf_add(out, name, strlen(name) + 1);
	pad4(out);
	buf_add(out, data, len);
	pad4(out);
}

void cpio_end(struct buf *out)
{
	cpio_add(out, "TRAILER!!!", 0, 0, NULL, 0);
}

static void add_dir(struct buf *out, const char *name)
{
	cpio_add(out, name, S_IFDIR | 0755, 0, NULL, 0);
}

static int add_program(struct buf *out, const char *name, const char *path, const char *remedy,
		       struct err *err)
{
	struct buf data = BUF_INIT;
	bool is_static;
	int rc = elf_is_static(path, &is_static, err);

	if (!rc && !is_static)
		rc = err_add(err, -EINVAL, "%s needs shared libraries, which the guest does not "
			     "have; %s.", path, remedy);
	if (!rc)
		rc = buf_read_file(&data, path, PROGRAM_MAX, err);
	if (!rc)
		cpio_add(out, name, S_IFREG | 0755, 0, data.data, data.len);
	buf_release(&data);
	return rc;
}

static int add_busybox(struct buf *out, struct err *err)
{
	char *path = busybox_find(err);
	int rc = -ENOENT;

	if (path)
		rc = add_program(out, "bin/busybox", path, "run `apt-get install busybox-static`", err);
	free(path);
	return rc;
}

/* One line of modules.dep: all that the module needs, also indirectly, what is to be loaded first last. */
static void add_depends(struct buf *dep, const struct modules *m, size_t module)
{
	bool *needed = mem_calloc(module + 1, sizeof(*needed));
	size_t i, j;

	buf_printf(dep, "%s.ko:", m->list.v[module].name);
	needed[module] = true;
	/* What a module needs stands before it in the list. */
	for (i = module + 1; i-- > 0;) {
		if (!needed[i])
			continue;
		if (i < module)
			buf_printf(dep, " %s.ko", m->list.v[i].name);
		for (j = 0; j < i; j++)
			needed[j] |= module_needs(&m->list.v[i], m->list.v[j].name);
	}
	buf_putc(dep, '\n');
	free(needed);
}

/* The modules as files, the list that init loads, and the table that modprobe reads. */
static void add_modules(struct buf *out, const struct modules *m, const char *release)
{
	struct buf boot = BUF_INIT, dep = BUF_INIT;
	char *dir = mem_printf("lib/modules/%s", release), *path;
	size_t i;

	add_dir(out, dir);
	for (i = 0; i < m->list.n; i++) {
		const struct module *mod = &m->list.v[i];

		path = mem_printf("%s/%s.ko", dir, mod->name);
		cpio_add(out, path, S_IFREG | 0644, 0, mod->ko.data, mod->ko.len);
		free(path);
		if (mod->at_boot)
			buf_printf(&boot, "%s\n", mod->name);
		add_depends(&dep, m, i);
	}
	path = mem_printf("%s/modules.dep", dir);
	cpio_add(out, path, S_IFREG | 0644, 0, dep.data, dep.len);
	cpio_add(out, "etc/modules", S_IFREG | 0644, 0, boot.data, boot.len);
	free(path);
	free(dir);
	buf_release(&dep);
	buf_release(&boot);
}

int initramfs_build(const struct lab_kernel *k, const char *agent, struct err *err)
{
	static const char *const dirs[] = { "bin", "dev", "etc", "lib", "lib/modules" };
	struct buf out = BUF_INIT;
	struct modules m = { 0 };
	size_t i;
	int rc;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		add_dir(&out, dirs[i]);
	cpio_add(&out, "dev/console", S_IFCHR | 0600, makedev(5, 1), NULL, 0);
	cpio_add(&out, "bin/sh", S_IFLNK | 0777, 0, "busybox", strlen("busybox"));
	cpio_add(&out, "init", S_IFREG | 0755, 0, _binary_lab_init_sh_start,
		 (size_t)(_binary_lab_init_sh_end - _binary_lab_init_sh_start));
	rc = add_busybox(&out, err);
	if (!rc)
		rc = add_program(&out, "bin/kab-agent", agent, "build it with `make`", err);
	if (!rc)
		rc = modules_load(k->modules, &m, err);
	if (!rc) {
		add_modules(&out, &m, k->release);
		cpio_end(&out);
		rc = memfile("the guest's initramfs", &out, err);
	}
	modules_release(&m);
	buf_release(&out);
	return rc;
}
