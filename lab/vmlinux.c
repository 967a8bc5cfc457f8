// SPDX-License-Identifier: GPL-2.0-or-later
/* vmlinux: see vmlinux.h. Debian packs 6.1 with xz, 6.12 with zstd. */
#include "lab/vmlinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "lab/bzimage.h"
#include "lab/elf.h"
#include "lab/lab.h"

#define IMAGE_MAX (256U << 20)
#define ELF_MAX (1U << 30)
#define CHUNK (1U << 20)

/* A job of unpacking; `path` is that of the file behind `fd`. */
struct unpacking {
	const struct lab_opts *o;
	const char *packed;
	size_t len;
	const char *path;
	int fd;
	struct err *err;
};

/* By the program: liblzma would be one more library for this alone. */
static int unpack_xz(const struct unpacking *u)
{
	char *packed = mem_printf("%s.xz", u->path);
	const char *const argv[] = { "xz", "-dc", "--single-stream", "--", packed, NULL };
	const struct proc_opts opts = { .out_fd = u->fd, .stop = u->o->stop, .ctx = u->o->ctx };
	int rc = proc_have("xz") ? fs_write(packed, u->packed, u->len, u->err) : 1;

	if (!rc)
		rc = proc_run(argv, &opts, u->err);
	unlink(packed);
	free(packed);
	return rc;
}

/* The size of what was packed lies behind the frame and is not looked at. */
static int unpack_zstd(const struct unpacking *u)
{
	char *chunk = mem_alloc(CHUNK);
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = { u->packed, u->len, 0 };
	size_t left = 1, sum = 0;
	int rc = 0;

	while (!rc && left) {
		ZSTD_outBuffer out = { chunk, CHUNK, 0 };
		size_t from = in.pos;

		left = zstd ? ZSTD_decompressStream(zstd, &out, &in) : 0;
		sum += out.pos;
		if (!zstd || ZSTD_isError(left) || sum > ELF_MAX || (left && !out.pos && in.pos == from))
			rc = 1;
		else if (write(u->fd, chunk, out.pos) != (ssize_t)out.pos)
			rc = err_sys(u->err, errno, "Cannot write %s", u->path);
	}
	ZSTD_freeDCtx(zstd);
	free(chunk);
	return rc;
}

/* A positive result: it cannot be unpacked. */
static const struct format {
	const char *magic;
	int (*unpack)(const struct unpacking *u);
} formats[] = {
	{ "\xfd" "7zXZ", unpack_xz },
	{ "\x28\xb5\x2f\xfd", unpack_zstd },
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

int vmlinux_unpack(const struct lab_opts *o, const char *image, const char *elf, struct err *err)
{
	struct unpacking u = { .o = o, .path = elf, .fd = -1, .err = err };
	struct buf data = BUF_INIT;
	size_t at, i;
	int rc = buf_read_file(&data, image, IMAGE_MAX, err);

	if (rc || bzimage_payload(data.data, data.len, &at, &u.len))
		goto out;
	u.packed = data.data + at;
	for (i = 0; i < FORMATS; i++)
		if (u.len > strlen(formats[i].magic) &&
		    !memcmp(u.packed, formats[i].magic, strlen(formats[i].magic)))
			break;
	if (i == FORMATS)
		goto out;
	u.fd = open(elf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	rc = u.fd < 0 ? err_sys(err, errno, "Cannot create %s", elf) : formats[i].unpack(&u);
	if (rc >= 0 && (rc > 0 || !elf_has_pvh(elf)))
		rc = unlink(elf) ? err_sys(err, errno, "Cannot remove %s", elf) : 0;
out:
	if (u.fd >= 0)
		close(u.fd);
	buf_release(&data);
	return rc;
}
