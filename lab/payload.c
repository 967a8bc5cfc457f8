// SPDX-License-Identifier: GPL-2.0-or-later
/* payload: see payload.h. */
#include "lab/payload.h"

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

/* The packed vmlinux, in an image that is in memory, and where it goes. */
struct job {
	const struct lab_opts *o;
	const char *data;
	size_t len;
	int fd;
	const char *work;
};

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return false;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return true;
}

/* Each returns 0, a negative code, or 1 for what could not be unpacked. */

static int unpack_xz(const struct job *j, struct err *err)
{
	const char *const argv[] = { "xz", "-dc", "--single-stream", "--", j->work, NULL };
	const struct proc_opts opts = { .out_fd = j->fd, .stop = j->o->stop, .ctx = j->o->ctx };
	int rc;

	if (!proc_have("xz"))
		return 1;
	rc = fs_write(j->work, j->data, j->len, err);
	if (!rc)
		rc = proc_run(argv, &opts, err);
	unlink(j->work);
	return rc > 0 ? 1 : rc;
}

/* What follows the frame, its size once more, is the kernel's and not zstd's. */
static int unpack_zstd(const struct job *j, struct err *err)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	size_t room = ZSTD_DStreamOutSize(), more = 1, total = 0;
	ZSTD_inBuffer in = { j->data, j->len, 0 };
	char *chunk = mem_alloc(room);
	int rc = 0;

	while (!rc && more) {
		ZSTD_outBuffer out = { chunk, room, 0 };

		more = ZSTD_decompressStream(z, &out, &in);
		total += out.pos;
		if (ZSTD_isError(more) || (more && !out.pos && in.pos == in.size) || total > ELF_MAX)
			rc = 1;
		else if (!write_all(j->fd, chunk, out.pos))
			rc = 1;
		else if (j->o->stop && j->o->stop(j->o->ctx))
			rc = err_add(err, -ECANCELED, "Stopped.");
	}
	free(chunk);
	ZSTD_freeDStream(z);
	return rc;
}

static const struct packing {
	const char *magic;
	size_t len;
	int (*unpack)(const struct job *j, struct err *err);
} packings[] = {
	{ "\xfd" "7zXZ", 6, unpack_xz },
	{ "\x28\xb5\x2f\xfd", 4, unpack_zstd },
};
#define PACKINGS (sizeof(packings) / sizeof(packings[0]))

static const struct packing *packing_of(const struct job *j)
{
	size_t i;

	for (i = 0; i < PACKINGS; i++)
		if (j->len > packings[i].len && !memcmp(j->data, packings[i].magic, packings[i].len))
			return &packings[i];
	return NULL;
}

int payload_unpack(const struct lab_opts *o, const char *image, const char *elf, const char *work,
		   struct err *err)
{
	struct job j = { .o = o, .work = work };
	const struct packing *packing;
	struct buf data = BUF_INIT;
	size_t at;
	int rc = buf_read_file(&data, image, IMAGE_MAX, err);

	if (rc || bzimage_payload(data.data, data.len, &at, &j.len))
		goto out;
	j.data = data.data + at;
	packing = packing_of(&j);
	if (!packing)
		goto out;
	j.fd = open(elf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (j.fd < 0) {
		rc = err_sys(err, errno, "Cannot create %s", elf);
		goto out;
	}
	rc = packing->unpack(&j, err);
	close(j.fd);
	if (rc || !elf_has_pvh(elf))
		unlink(elf);
	if (rc > 0)
		rc = 0;
out:
	buf_release(&data);
	return rc;
}
