// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lab without a guest: names of releases, kernel images, cpio archives,
 * modules, consoles, and the finding of kernels in a cache of its own. Booting is
 * tests/vm's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <zstd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "lab/bzimage.h"
#include "lab/cache.h"
#include "lab/console.h"
#include "lab/elf.h"
#include "lab/headers.h"
#include "lab/initramfs.h"
#include "lab/kvm.h"
#include "lab/madt.h"
#include "lab/modules.h"
#include "lab/payload.h"
#include "lab/release.h"

/* --- a folder for each test that wants one, with the cache in it --- */

static int make_place(void **state)
{
	char *dir = fs_tmpdir("lab-test", NULL);

	if (!dir)
		return -1;
	setenv("XDG_CACHE_HOME", dir, 1);
	*state = dir;
	return 0;
}

static int drop_place(void **state)
{
	int rc = fs_remove(*state, NULL);

	free(*state);
	return rc;
}

static void put_file(const char *dir, const char *name, const void *data, size_t len)
{
	char *path = mem_printf("%s/%s", dir, name), *slash = strrchr(path, '/');

	*slash = '\0';
	assert_int_equal(fs_mkdirs(path, NULL), 0);
	*slash = '/';
	assert_int_equal(fs_write(path, data, len, NULL), 0);
	free(path);
}

/* --- names --- */

static void test_release_names(void **state)
{
	(void)state;
	assert_true(release_valid("6.1.0-57-amd64", 14));
	assert_true(release_valid("6.12.117+deb12-amd64", 20));
	assert_false(release_valid("", 0));
	assert_false(release_valid("../6.1", 6));
	assert_false(release_valid("6.1/..", 6));
	assert_false(release_valid("6.1\0x", 5));
	assert_false(release_valid("6.1 x", 5));
	assert_false(release_valid("-6.1", 4));
	assert_true(release_line_valid("6.1"));
	assert_true(release_line_valid("6.12"));
	assert_false(release_line_valid("6"));
	assert_false(release_line_valid("6.1.0"));
	assert_false(release_line_valid("6.1;x"));
	assert_false(release_line_valid("../.."));
	assert_false(release_line_valid(""));
}

static void test_release_line(void **state)
{
	static const struct { const char *release, *line; } cases[] = {
		{ "6.1.0-57-amd64", "6.1" }, { "6.12.117+deb12-amd64", "6.12" }, { "7.0-rc1", "7.0" },
		{ "vanilla", NULL }, { "6", NULL }, { "6.", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *line = release_line(cases[i].release);

		if (cases[i].line)
			assert_string_equal(line, cases[i].line);
		else
			assert_null(line);
		free(line);
	}
	assert_true(release_on_line("6.12.117+deb12-amd64", "6.12"));
	assert_false(release_on_line("6.12.117+deb12-amd64", "6.1"));
	assert_false(release_on_line("6.1.0-57-amd64", "6.12"));
}

static const char show[] =
	"Package: linux-image-amd64\n"
	"Version: 6.1.192-3\n"
	"Pre-Depends: linux-image-0.0-wrong\n"
	"Depends: initramfs-tools | dracut, linux-image-6.1.0-57-amd64 (= 6.1.192-3)\n"
	"Size: 1476\n"
	"\n"
	"Package: linux-image-amd64\n"
	"Depends: linux-image-5.10.0-1-amd64\n"
	"Size: 9\n";

static void test_release_from_package(void **state)
{
	char *release = release_from_depends(show, "linux-image-");

	(void)state;
	assert_string_equal(release, "6.1.0-57-amd64");
	free(release);
	assert_int_equal(release_package_size(show), 1476);
	assert_null(release_from_depends("", "linux-image-"));
	assert_null(release_from_depends("Package: x\n\nDepends: linux-image-6.1.0-1\n", "linux-image-"));
	assert_null(release_from_depends("Depends: linux-image-../../etc\n", "linux-image-"));
	assert_null(release_from_depends("Depends: linux-image-", "linux-image-"));
	assert_int_equal(release_package_size("Size: lots\n"), 0);
	assert_int_equal(release_package_size("Size: 99999999999999999999999999\n"), 0);
}

/* --- kernel images --- */

static void put16(unsigned char *p, unsigned v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

static void put32(unsigned char *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

#define IMAGE_LEN 4096

/* Two sectors of setup code behind the boot sector; the version at 0x300, the payload at 0x610. */
static void make_image(unsigned char image[IMAGE_LEN], const char *version)
{
	memset(image, 0, IMAGE_LEN);
	image[0x1f1] = 2;
	memcpy(image + 0x202, "HdrS", 4);
	put16(image + 0x206, 0x20f);
	put16(image + 0x20e, 0x100);
	put32(image + 0x248, 0x10);
	put32(image + 0x24c, 100);
	memcpy(image + 0x300, version, strlen(version));
}

static void test_image_release(void **state)
{
	unsigned char image[IMAGE_LEN];
	struct err err = ERR_INIT;
	size_t at, len;
	char *release;

	(void)state;
	make_image(image, "6.1.0-57-amd64 (someone@somewhere) #1 SMP");
	release = bzimage_release(image, sizeof(image), "vmlinuz", &err);
	assert_string_equal(release, "6.1.0-57-amd64");
	assert_string_equal(err.text, "");
	free(release);
	assert_int_equal(bzimage_payload(image, sizeof(image), &at, &len), 0);
	assert_int_equal(at, 3 * 512 + 0x10);
	assert_int_equal(len, 100);
}

static void test_image_hostile(void **state)
{
	unsigned char image[IMAGE_LEN];
	struct err err = ERR_INIT;
	size_t at, len, n;

	(void)state;
	/* Cut anywhere before the end of the version's text, it never names a release. */
	make_image(image, "6.1.0-57-amd64");
	for (n = 0; n <= 0x300; n++) {
		unsigned char *copy = mem_dup(image, n ? n : 1);

		assert_null(bzimage_release(copy, n, "x", NULL));
		free(copy);
	}
	put16(image + 0x20e, 0xffff);
	assert_null(bzimage_release(image, sizeof(image), "x", &err));
	assert_non_null(strstr(err.text, "names no release"));
	err_clear(&err);
	make_image(image, "../../etc/passwd");
	assert_null(bzimage_release(image, sizeof(image), "x", NULL));
	/* No end within the file. */
	make_image(image, "6.1");
	memset(image + 0x303, 'a', IMAGE_LEN - 0x303);
	assert_null(bzimage_release(image, sizeof(image), "x", NULL));
	put32(image + 0x24c, 0xffffffff);
	assert_int_equal(bzimage_payload(image, sizeof(image), &at, &len), -EINVAL);
	put32(image + 0x248, 0xfffffff0);
	put32(image + 0x24c, 0x20);
	assert_int_equal(bzimage_payload(image, sizeof(image), &at, &len), -EINVAL);
	assert_null(bzimage_release("not a kernel", 12, "notes.txt", &err));
	assert_non_null(strstr(err.text, "notes.txt is not an x86 kernel image"));
}

/* --- processors --- */

static void test_madt(void **state)
{
	static const unsigned char three[] = {
		0x00, 0x00, 0xe0, 0xfe, 1, 0, 0, 0,
		0, 8, 0, 0, 1, 0, 0, 0,
		0, 8, 1, 1, 1, 0, 0, 0,
		0, 8, 2, 2, 1, 0, 0, 0,
		1, 12, 0, 0, 0x00, 0x00, 0xc0, 0xfe, 0, 0, 0, 0,
		2, 10, 0, 0, 2, 0, 0, 0, 0, 0,
		2, 10, 0, 5, 5, 0, 0, 0, 0x0d, 0,
		2, 10, 0, 9, 9, 0, 0, 0, 0x0d, 0,
		2, 10, 0, 10, 10, 0, 0, 0, 0x0d, 0,
		2, 10, 0, 11, 11, 0, 0, 0, 0x0d, 0,
		4, 6, 0xff, 0, 0, 1,
	};
	struct buf table = BUF_INIT;

	(void)state;
	madt_build(&table, 3);
	assert_int_equal(table.len, sizeof(three));
	assert_memory_equal(table.data, three, sizeof(three));
	/* Identifier 255 is everybody's. */
	buf_clear(&table);
	madt_build(&table, 1000);
	assert_int_equal(table.len, sizeof(three) + (MADT_CPUS_MAX - 3) * 8);
	buf_release(&table);
}

/* --- headers --- */

static void test_headers_makefile(void **state)
{
	static const struct { const char *old, *new; } cases[] = {
		{ "include /usr/src/linux-headers-6.1.0-57-common/Makefile\n",
		  "include ../linux-headers-6.1.0-57-common/Makefile\n" },
		{ "a /usr/src/b /usr/src/", "a ../b ../" },
		{ "include ../c/Makefile", "include ../c/Makefile" },
		{ "", "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = headers_makefile(cases[i].old);

		assert_string_equal(text, cases[i].new);
		free(text);
	}
}

/* --- cpio --- */

static void test_cpio_bytes(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	cpio_add(&out, "ab", S_IFREG | 0644, 0, "xyz", 3);
	/* Header 110 + name 3 = 113, padded to 116; data 3, padded to 120. */
	assert_int_equal(out.len, 120);
	assert_memory_equal(out.data, "07070100000001000081A40000000000000000000000010000000000000003", 62);
	assert_memory_equal(out.data + 62, "000000000000000000000000000000000000000300000000", 48);
	assert_memory_equal(out.data + 110, "ab\0\0\0\0xyz\0", 10);
	cpio_add(&out, "dev/console", S_IFCHR | 0600, makedev(5, 1), NULL, 0);
	assert_memory_equal(out.data + 120 + 78, "0000000500000001", 16);
	cpio_end(&out);
	assert_int_equal(out.len % 4, 0);
	assert_non_null(memmem(out.data, out.len, "TRAILER!!!", 11));
	buf_release(&out);
}

static void test_cpio_is_read_by_cpio(void **state)
{
	struct buf out = BUF_INIT, text = BUF_INIT;
	char path[] = "/tmp/kab-lab-test.XXXXXX";
	const char *const argv[] = { "cpio", "--quiet", "-itF", path, NULL };
	const struct proc_opts opts = { .out = &text };
	int fd;

	(void)state;
	if (!proc_have("cpio"))
		skip();
	cpio_add(&out, "bin", S_IFDIR | 0755, 0, NULL, 0);
	cpio_add(&out, "bin/sh", S_IFLNK | 0777, 0, "busybox", 7);
	cpio_add(&out, "bin/busybox", S_IFREG | 0755, 0, "12345", 5);
	cpio_end(&out);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, out.data, out.len), out.len);
	close(fd);
	assert_int_equal(proc_run(argv, &opts, NULL), 0);
	unlink(path);
	assert_string_equal(text.data, "bin\nbin/sh\nbin/busybox\n");
	buf_release(&out);
	buf_release(&text);
}

/* --- the vmlinux in an image --- */

/* An ELF file of one note, from "Xen"; type 18 is the PVH entry. */
static void make_vmlinux(struct buf *elf, uint32_t type)
{
	struct { Elf64_Nhdr head; char name[4]; uint64_t entry; } note = {
		{ .n_namesz = 4, .n_descsz = 8, .n_type = type }, "Xen", 0x1000000,
	};
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1, .e_phoff = sizeof(eh),
	};
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_offset = sizeof(eh) + sizeof(ph), .p_filesz = sizeof(note),
			  .p_align = 4 };

	buf_add(elf, &eh, sizeof(eh));
	buf_add(elf, &ph, sizeof(ph));
	buf_add(elf, &note, sizeof(note));
}

/* Puts an image around the packed bytes, unpacks it, and says whether a vmlinux came out. */
static bool unpacks(const char *dir, const void *packed, size_t len, const struct buf *expected)
{
	char *image = mem_printf("%s/vmlinuz", dir), *elf = mem_printf("%s/vmlinux", dir);
	char *work = mem_printf("%s/work", dir);
	unsigned char bytes[IMAGE_LEN];
	struct lab_opts o = { 0 };
	struct buf got = BUF_INIT;
	bool out;

	make_image(bytes, "9.9.1-lab-test ");
	assert_true(len < IMAGE_LEN - 0x610);
	put32(bytes + 0x24c, (uint32_t)len);
	memcpy(bytes + 0x610, packed, len);
	put_file(dir, "vmlinuz", bytes, sizeof(bytes));
	assert_int_equal(payload_unpack(&o, image, elf, work, NULL), 0);
	assert_false(fs_exists(work));
	out = fs_exists(elf);
	if (out) {
		assert_int_equal(buf_read_file(&got, elf, 1U << 20, NULL), 0);
		assert_int_equal(got.len, expected->len);
		assert_memory_equal(got.data, expected->data, got.len);
		unlink(elf);
	}
	buf_release(&got);
	free(work);
	free(elf);
	free(image);
	return out;
}

static void test_payload(void **state)
{
	struct buf pvh = BUF_INIT, other = BUF_INIT;
	char packed[1024];
	size_t n;

	make_vmlinux(&pvh, 18);
	make_vmlinux(&other, 6);
	/* As the kernel's build leaves it: the size of the vmlinux behind the frame. */
	n = ZSTD_compress(packed, sizeof(packed) - 4, pvh.data, pvh.len, 3);
	assert_false(ZSTD_isError(n));
	memset(packed + n, 0, 4);
	packed[n] = (char)pvh.len;
	assert_true(unpacks(*state, packed, n + 4, &pvh));
	/* Cut, damaged, of no known packing, not for QEMU: the image has to do. */
	assert_false(unpacks(*state, packed, n / 2, &pvh));
	packed[0] ^= 1;
	assert_false(unpacks(*state, packed, n + 4, &pvh));
	n = ZSTD_compress(packed, sizeof(packed), other.data, other.len, 3);
	assert_false(unpacks(*state, packed, n, &other));
	buf_release(&pvh);
	buf_release(&other);
}

static void test_payload_xz(void **state)
{
	struct buf pvh = BUF_INIT, packed = BUF_INIT;
	char *path = mem_printf("%s/raw", (const char *)*state);
	const char *const argv[] = { "xz", "-c", "--check=crc32", path, NULL };
	const struct proc_opts opts = { .out = &packed };

	if (!proc_have("xz"))
		skip();
	make_vmlinux(&pvh, 18);
	put_file(*state, "raw", pvh.data, pvh.len);
	assert_int_equal(proc_run(argv, &opts, NULL), 0);
	buf_add(&packed, "\xb8\0\0\0", 4);
	assert_true(unpacks(*state, packed.data, packed.len, &pvh));
	assert_false(unpacks(*state, packed.data, packed.len / 2, &pvh));
	buf_release(&pvh);
	buf_release(&packed);
	free(path);
}

/* --- modules --- */

static void test_module_names(void **state)
{
	char name[16];

	(void)state;
	assert_true(module_name("kernel/drivers/char/virtio-rng.ko.xz", name, sizeof(name)));
	assert_string_equal(name, "virtio_rng");
	assert_true(module_name("veth.ko", name, sizeof(name)));
	assert_string_equal(name, "veth");
	assert_true(module_name("a/llc.ko.zst", name, sizeof(name)));
	assert_false(module_name("modules.builtin", name, sizeof(name)));
	assert_false(module_name(".ko", name, sizeof(name)));
	assert_false(module_name("a_name_that_is_too_long.ko", name, sizeof(name)));
}

/* The smallest ELF object with a .modinfo section of these bytes. */
static void make_ko(struct buf *ko, const void *modinfo, size_t len)
{
	static const char names[] = "\0.modinfo\0.shstrtab";
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(eh),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
		.e_shoff = sizeof(eh),
	};
	Elf64_Shdr sh[3] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = sizeof(eh) + sizeof(sh),
			.sh_size = len, .sh_addralign = 1 },
		[2] = { .sh_name = 10, .sh_type = SHT_STRTAB, .sh_offset = sizeof(eh) + sizeof(sh) + len,
			.sh_size = sizeof(names), .sh_addralign = 1 },
	};

	buf_add(ko, &eh, sizeof(eh));
	buf_add(ko, sh, sizeof(sh));
	buf_add(ko, modinfo, len);
	buf_add(ko, names, sizeof(names));
}

static int collect(void *ctx, const char *depends, size_t len, struct err *err)
{
	struct buf *out = ctx;

	(void)err;
	buf_printf(out, "[%.*s]", (int)len, depends);
	return 0;
}

static void depends_of(const char *modinfo, size_t len, const char *expected)
{
	struct buf ko = BUF_INIT, got = BUF_INIT;

	make_ko(&ko, modinfo, len);
	assert_int_equal(elf_module_depends(ko.data, ko.len, "m", collect, &got, NULL), 0);
	assert_string_equal(buf_str(&got), expected);
	buf_release(&ko);
	buf_release(&got);
}

static void test_module_depends(void **state)
{
	static const char two[] = "license=GPL\0depends=virtio,virtio_ring\0name=x";
	static const char none[] = "license=GPL\0depends=\0";
	static const char unended[] = "depends=stp";
	struct err err = ERR_INIT;
	struct buf ko = BUF_INIT;
	size_t n;

	(void)state;
	depends_of(two, sizeof(two), "[virtio][virtio_ring]");
	depends_of(none, sizeof(none), "");
	depends_of(unended, sizeof(unended) - 1, "[stp]");
	depends_of("", 1, "");
	/* Cut short, it is an error or has no dependencies, and no byte beyond it is read. */
	make_ko(&ko, two, sizeof(two));
	for (n = 0; n < ko.len; n++) {
		char *copy = mem_dup(ko.data, n ? n : 1);
		struct buf got = BUF_INIT;

		elf_module_depends(copy, n, "m", collect, &got, NULL);
		buf_release(&got);
		free(copy);
	}
	assert_int_equal(elf_module_depends("no elf", 6, "m", collect, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "kernel module m is damaged"));
	buf_release(&ko);
}

/* --- folders of modules and kernels --- */

static void put_module(const char *dir, const char *name, const char *depends)
{
	struct buf ko = BUF_INIT, info = BUF_INIT;

	buf_printf(&info, "depends=%s", depends);
	make_ko(&ko, info.data, info.len + 1);
	put_file(dir, name, ko.data, ko.len);
	buf_release(&ko);
	buf_release(&info);
}

static size_t module_index(const struct modules *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->list.n && strcmp(m->list.v[i].name, name); i++)
		;
	return i;
}

static void test_modules_in_order(void **state)
{
	const char *dir = *state;
	struct modules m;

	put_file(dir, "modules.builtin", "kernel/virtio/virtio.ko\n", 24);
	put_module(dir, "kernel/virtio-pci.ko", "virtio,modern_dev");
	put_module(dir, "kernel/modern_dev.ko", "");
	put_module(dir, "kernel/virtio_console.ko", "virtio");
	put_module(dir, "kernel/bridge.ko", "stp,llc");
	put_module(dir, "kernel/stp.ko", "llc");
	put_module(dir, "kernel/llc.ko", "");
	put_module(dir, "kernel/unwanted.ko", "");
	assert_int_equal(modules_load(dir, &m, NULL), 0);
	assert_int_equal(m.list.n, 6);
	assert_int_equal(module_index(&m, "unwanted"), 6);
	assert_true(module_index(&m, "modern_dev") < module_index(&m, "virtio_pci"));
	assert_true(module_index(&m, "llc") < module_index(&m, "stp"));
	assert_true(module_index(&m, "stp") < module_index(&m, "bridge"));
	assert_true(m.list.v[module_index(&m, "modern_dev")].at_boot);
	assert_false(m.list.v[module_index(&m, "llc")].at_boot);
	assert_true(module_needs(&m.list.v[module_index(&m, "bridge")], "llc"));
	assert_false(module_needs(&m.list.v[module_index(&m, "bridge")], "ll"));
	modules_release(&m);
	/* Without a folder all is taken for built in. */
	assert_int_equal(modules_load(NULL, &m, NULL), 0);
	assert_int_equal(m.list.n, 0);
}

static void test_modules_missing(void **state)
{
	const char *dir = *state;
	struct err err = ERR_INIT;
	struct modules m;

	put_file(dir, "modules.builtin", "", 0);
	put_module(dir, "virtio_pci.ko", "virtio");
	assert_int_equal(modules_load(dir, &m, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no module virtio,"));
	err_clear(&err);
	/* A circle ends; one of the two comes first. */
	put_module(dir, "virtio_console.ko", "virtio_pci");
	put_module(dir, "virtio_pci.ko", "virtio_console");
	assert_int_equal(modules_load(dir, &m, &err), 0);
	assert_int_equal(m.list.n, 2);
	modules_release(&m);
	put_file(dir, "virtio_pci.ko", "nonsense", 8);
	assert_int_equal(modules_load(dir, &m, &err), -EINVAL);
	assert_non_null(strstr(err.text, "virtio_pci is damaged"));
}

static void test_kernel_absent(void **state)
{
	struct lab_opts o = { 0 };
	struct err err = ERR_INIT;
	struct lab_kernel k;

	(void)state;
	assert_int_equal(lab_kernel_find(&o, &k, &err), -ENOENT);
	assert_non_null(strstr(err.text, "`kab lab fetch`"));
	err_clear(&err);
	o.line = "6.12";
	assert_int_equal(lab_kernel_find(&o, &k, &err), -ENOENT);
	assert_non_null(strstr(err.text, "`kab lab fetch --kernel 6.12`"));
	err_clear(&err);
	o.line = "../../etc";
	assert_int_equal(lab_kernel_find(&o, &k, &err), -EINVAL);
	assert_non_null(strstr(err.text, "as in 6.1 or 6.12"));
	err_clear(&err);
	assert_int_equal(lab_fetch(&o, &k, &err), -EINVAL);
}

static void test_kernel_found(void **state)
{
	unsigned char image[IMAGE_LEN];
	struct lab_opts o = { .line = "9.9" };
	struct err err = ERR_INIT;
	struct lab_kernel k;
	char *dir = cache_dir(NULL);

	(void)state;
	make_image(image, "9.9.1-lab-test ");
	put_file(dir, "line-9.9", "9.9.1-lab-test", 14);
	/* A note alone is not a kernel. */
	assert_int_equal(lab_kernel_find(&o, &k, NULL), -ENOENT);
	put_file(dir, "9.9.1-lab-test/boot/vmlinuz-9.9.1-lab-test", image, sizeof(image));
	assert_int_equal(lab_kernel_find(&o, &k, &err), 0);
	assert_string_equal(k.release, "9.9.1-lab-test");
	assert_string_equal(k.line, "9.9");
	assert_null(k.elf);
	assert_null(k.modules);
	assert_null(k.build);
	assert_int_equal(lab_need_build(&k, &err), -ENOENT);
	assert_non_null(strstr(err.text, "`kab lab fetch --kernel 9.9`"));
	err_clear(&err);
	lab_kernel_release(&k);
	/* The default line is another note. */
	o.line = NULL;
	assert_int_equal(lab_kernel_find(&o, &k, NULL), -ENOENT);
	put_file(dir, "line-default", "9.9.1-lab-test", 14);
	assert_int_equal(lab_kernel_find(&o, &k, NULL), 0);
	lab_kernel_release(&k);
	/* An image that is not what its name says. */
	put_file(dir, "9.9.1-lab-test/boot/vmlinuz-9.9.1-lab-test", image, 100);
	assert_int_equal(lab_kernel_find(&o, &k, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is damaged"));
	/* A note that leads out of the cache. */
	put_file(dir, "line-default", "../../etc", 9);
	assert_int_equal(lab_kernel_find(&o, &k, NULL), -ENOENT);
	free(dir);
}

/*
 * An apt of the test's own: apt-cache knows the packages in $1, apt-get downloads them. The three packages
 * of a release refer to one another as Debian's do.
 */
static const char fake_apt[] =
	"set -e; cd \"$1\"; r=9.9.1-lab-test c=9.9.1-common\n"
	"mkdir -p bin debs\n"
	"pack() { mkdir -p $1/DEBIAN; printf 'Package: %s\\nVersion: 1\\nArchitecture: all\\n"
	"Maintainer: t <t@example.org>\\nDescription: t\\n' $1 > $1/DEBIAN/control\n"
	"	dpkg-deb -b $1 debs/$1.deb; }\n"
	"h=linux-headers-$r/usr/src/linux-headers-$r\n"
	"mkdir -p $h/include/config linux-headers-$r/usr/share/doc; : > $h/include/config/auto.conf\n"
	"echo include /usr/src/linux-headers-$c/Makefile > $h/Makefile\n"
	"ln -s ../../lib/linux-kbuild-9.9/scripts $h/scripts\n"
	"mkdir -p linux-headers-$c/usr/src/linux-headers-$c\n"
	"mkdir -p linux-kbuild-9.9/usr/lib/linux-kbuild-9.9/scripts\n"
	"printf 'all:\\n\\t@cat scripts/word\\n' > linux-headers-$c/usr/src/linux-headers-$c/Makefile\n"
	"echo built > linux-kbuild-9.9/usr/lib/linux-kbuild-9.9/scripts/word\n"
	"pack linux-headers-$r; pack linux-headers-$c; pack linux-kbuild-9.9\n"
	"echo '#!/bin/sh\n[ $3 != linux-headers-'$r' ] || "
	"echo Depends: linux-headers-'$c' \\(= 1\\), linux-kbuild-9.9' > bin/apt-cache\n"
	"echo '#!/bin/sh\nfor p; do :; done; cp '\"$1\"'/debs/$p.deb .' > bin/apt-get\n"
	"chmod +x bin/*\n";

static void test_headers_are_unpacked(void **state)
{
	const char *const fake[] = { "sh", "-c", fake_apt, "sh", *state, NULL };
	char *dir = cache_dir(NULL), *before = mem_strdup(getenv("PATH")), *found;
	char *path = mem_printf("%s/bin:%s", (const char *)*state, before);
	struct lab_opts o = { 0 };
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;

	if (!proc_have("dpkg-deb") || !proc_have("make")) {
		print_message("skipped: no dpkg-deb or no make\n");
		skip();
	}
	assert_int_equal(proc_run(fake, NULL, NULL), 0);
	setenv("PATH", path, 1);
	assert_int_equal(headers_fetch(&o, dir, "9.9.2-absent", &err), -ENOENT);
	assert_non_null(strstr(err.text, "have no linux-headers-9.9.2-absent"));
	err_clear(&err);
	put_file(dir, "9.9.1-lab-test/boot/x", "", 0);
	/* What a headers folder without its Makefile has left is replaced. */
	put_file(dir, "9.9.1-lab-test/usr/src/stale", "", 0);
	if (headers_fetch(&o, dir, "9.9.1-lab-test", &err))
		fail_msg("%s", err.text);
	found = cache_headers(dir, "9.9.1-lab-test");
	assert_non_null(found);
	assert_non_null(strstr(found, "/9.9.1-lab-test/usr/src/linux-headers-9.9.1-lab-test"));
	/* A build finds its way from there into the other two packages. */
	assert_int_equal(proc_run((const char *const[]){ "make", "-sC", found, NULL },
				  &(struct proc_opts){ .out = &out }, NULL), 0);
	assert_string_equal(out.data, "built\n");
	free(found);
	found = mem_printf("%s/9.9.1-lab-test/usr/src/stale", dir);
	assert_false(fs_exists(found));
	free(found);
	/* A download that fails leaves what is there, and nothing else. */
	found = mem_printf("%s/debs/linux-kbuild-9.9.deb", (const char *)*state);
	assert_int_equal(unlink(found), 0);
	assert_int_equal(headers_fetch(&o, dir, "9.9.1-lab-test", &err), -EIO);
	assert_non_null(strstr(err.text, "Cannot download linux-kbuild-9.9"));
	free(found);
	found = cache_headers(dir, "9.9.1-lab-test");
	assert_non_null(found);
	buf_clear(&out);
	assert_int_equal(proc_run((const char *const[]){ "ls", dir, NULL },
				  &(struct proc_opts){ .out = &out }, NULL), 0);
	assert_string_equal(out.data, "9.9.1-lab-test\n");
	setenv("PATH", before, 1);
	buf_release(&out);
	free(found);
	free(path);
	free(before);
	free(dir);
}

static void test_kernel_of_the_user(void **state)
{
	const char *dir = *state;
	unsigned char image[IMAGE_LEN];
	char *path = mem_printf("%s/vmlinuz", dir);
	struct lab_opts o = { .image = path, .build = dir };
	struct err err = ERR_INIT;
	struct lab_kernel k;

	assert_int_equal(lab_kernel_find(&o, &k, &err), -EINVAL);
	assert_non_null(strstr(err.text, "No such file"));
	err_clear(&err);
	make_image(image, "9.9.2-mine #1");
	put_file(dir, "vmlinuz", image, sizeof(image));
	assert_int_equal(lab_kernel_find(&o, &k, &err), -ENOENT);
	assert_non_null(strstr(err.text, "not a folder that modules can be built in"));
	err_clear(&err);
	put_file(dir, "include/config/auto.conf", "", 0);
	assert_int_equal(lab_kernel_find(&o, &k, &err), 0);
	assert_string_equal(k.release, "9.9.2-mine");
	assert_string_equal(k.build, dir);
	lab_kernel_release(&k);
	free(path);
}

static void test_status_and_clean(void **state)
{
	unsigned char image[IMAGE_LEN];
	char *dir = cache_dir(NULL);
	struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(lab_status(&out, false, NULL), 0);
	assert_non_null(strstr(out.data, "none; run `kab lab fetch`"));
	buf_clear(&out);
	make_image(image, "9.9.1-lab-test ");
	put_file(dir, "9.9.1-lab-test/boot/vmlinuz-9.9.1-lab-test", image, sizeof(image));
	assert_int_equal(lab_status(&out, false, NULL), 0);
	assert_non_null(strstr(out.data, "kernel   9.9.1-lab-test, "));
	assert_non_null(strstr(out.data, "no headers; run `kab lab fetch --kernel 9.9`"));
	buf_clear(&out);
	assert_int_equal(lab_status(&out, true, NULL), 0);
	assert_non_null(strstr(out.data, "\"release\": \"9.9.1-lab-test\""));
	assert_int_equal(lab_clean(NULL), 0);
	assert_false(fs_exists(dir));
	assert_int_equal(lab_clean(NULL), 0);
	buf_release(&out);
	free(dir);
}

static void test_initramfs_wants_static(void **state)
{
	struct lab_kernel k = { .release = (char *)"9.9.1-lab-test" };
	struct err err = ERR_INIT;
	char *path = mem_printf("%s/agent", (const char *)*state);
	bool is_static = true;

	/* This program has a loader. */
	assert_int_equal(elf_is_static("/proc/self/exe", &is_static, NULL), 0);
	assert_false(is_static);
	put_file(*state, "agent", "#!/bin/sh\n", 10);
	assert_int_equal(elf_is_static(path, &is_static, &err), -EINVAL);
	assert_int_equal(initramfs_build(&k, "/nonexistent/kab-agent", &err) < 0, 1);
	err_clear(&err);
	assert_int_equal(initramfs_build(&k, path, &err) < 0, 1);
	assert_true(err.len > 0);
	free(path);
}

static void test_kvm_is_refused_until_reboot(void **state)
{
	struct buf why = BUF_INIT;

	(void)state;
	if (!kvm_usable(NULL))
		skip();
	kvm_refuse();
	assert_false(kvm_usable(&why));
	assert_non_null(strstr(why.data, "a guest did not start with it"));
	buf_release(&why);
}

/* --- consoles --- */

static void lines_are(const char *text, size_t lines, const char *expected)
{
	struct buf out = BUF_INIT;

	console_lines(&out, text, strlen(text), lines);
	assert_string_equal(buf_str(&out), expected);
	buf_release(&out);
}

static void test_console_lines(void **state)
{
	(void)state;
	lines_are("", 3, "");
	lines_are("a", 3, "a\n");
	lines_are("a\r\nb\r\nc\r\n", 2, "b\nc\n");
	lines_are("a\nb\nc", 2, "b\nc\n");
	lines_are("a\nb\n", 9, "a\nb\n");
	lines_are("a\n\n", 1, "\n");
	lines_are("a\n", 0, "");
	lines_are("\033[2Jx\n", 1, "\\x1b[2Jx\n");
}

static void test_console_of_a_socket(void **state)
{
	struct buf out = BUF_INIT, text = BUF_INIT;
	struct console *c;
	int fd[2], i;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	c = console_new(fd[0], NULL);
	assert_non_null(c);
	/* More than is kept, so that the start is gone and the end is not. */
	for (i = 0; i < 40000; i++)
		buf_printf(&text, "line %d\n", i);
	for (size_t done = 0; done < text.len;) {
		ssize_t n = write(fd[1], text.data + done, text.len - done);

		assert_true(n > 0);
		done += (size_t)n;
	}
	while (console_bytes(c) < text.len)
		usleep(1000);
	assert_false(console_ended(c));
	console_tail(c, &out, 2);
	assert_string_equal(out.data, "line 39998\nline 39999\n");
	assert_true(console_has(c, "line 39990\n"));
	assert_false(console_has(c, "line 17\n"));
	close(fd[1]);
	while (!console_ended(c))
		usleep(1000);
	console_free(c);
	buf_release(&out);
	buf_release(&text);
}

#define in_place(f) cmocka_unit_test_setup_teardown(f, make_place, drop_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release_names),
		cmocka_unit_test(test_release_line),
		cmocka_unit_test(test_release_from_package),
		cmocka_unit_test(test_image_release),
		cmocka_unit_test(test_image_hostile),
		cmocka_unit_test(test_madt),
		cmocka_unit_test(test_headers_makefile),
		cmocka_unit_test(test_cpio_bytes),
		cmocka_unit_test(test_cpio_is_read_by_cpio),
		cmocka_unit_test(test_module_names),
		cmocka_unit_test(test_module_depends),
		cmocka_unit_test(test_console_lines),
		cmocka_unit_test(test_console_of_a_socket),
		in_place(test_payload),
		in_place(test_payload_xz),
		in_place(test_modules_in_order),
		in_place(test_modules_missing),
		in_place(test_kernel_absent),
		in_place(test_kernel_found),
		in_place(test_headers_are_unpacked),
		in_place(test_kernel_of_the_user),
		in_place(test_status_and_clean),
		in_place(test_initramfs_wants_static),
		in_place(test_kvm_is_refused_until_reboot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
