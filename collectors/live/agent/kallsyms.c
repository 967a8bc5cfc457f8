// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms: what turns addresses into names, sent while it is true. A module's
 * symbols are gone once it is unloaded, so the kernel's table goes out before
 * the first sampled block and again whenever the set of modules has changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <zstd.h>

#include "base/mem.h"
#include "collectors/live/agent/session.h"

#define LEVEL 1			/* the guest's clock is dear, the stream is not */
#define LINE_LIMIT 1024

/* Name and address of every module; the rest of a line (use counts) changes all the time. */
static void list_modules(struct buf *out)
{
	char line[LINE_LIMIT], name[64], address[32];
	FILE *f = fopen("/proc/modules", "re");

	buf_puts(out, "modules\n");	/* never empty, so that no modules differ from never sent */
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %*s %*s %*s %*s %31s", name, address) == 2)
			buf_printf(out, "%s %s\n", name, address);
	}
	if (f)
		fclose(f);
}

static int send_part(struct session *s, const void *data, size_t len, bool last)
{
	Kab__Kallsyms m = KAB__KALLSYMS__INIT;

	m.zstd.data = (uint8_t *)data;
	m.zstd.len = len;
	m.last = last;
	wire_event(&s->out, KAB__EVENT__BODY_KALLSYMS, &m);
	return session_send(s);
}

static int compress(struct session *s, FILE *f, ZSTD_CCtx *z, struct err *err)
{
	size_t in_size = ZSTD_CStreamInSize(), out_size = ZSTD_CStreamOutSize(), left;
	char *in_buf = mem_alloc(in_size), *out_buf = mem_alloc(out_size);
	bool last = false;
	int rc = 0;

	while (!last && !rc) {
		ZSTD_inBuffer in = { in_buf, fread(in_buf, 1, in_size, f), 0 };

		last = in.size < in_size;
		do {
			ZSTD_outBuffer out = { out_buf, out_size, 0 };

			left = ZSTD_compressStream2(z, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
			if (ZSTD_isError(left))
				rc = err_add(err, -EIO, "Compressing /proc/kallsyms failed: %s.",
					     ZSTD_getErrorName(left));
			else if (out.pos || (last && !left))
				rc = send_part(s, out_buf, out.pos, last && !left);
		} while (!rc && (last ? left > 0 : in.pos < in.size));
	}
	free(in_buf);
	free(out_buf);
	return rc;
}

static int send_kallsyms(struct session *s, struct err *err)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	ZSTD_CCtx *z;
	int rc;

	if (!f) {
		session_log(s, "Kernel addresses cannot be named: /proc/kallsyms cannot be read here.");
		return 0;
	}
	z = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL);
	rc = compress(s, f, z, err);
	ZSTD_freeCCtx(z);
	fclose(f);
	return rc;
}

/* The image as it is mapped here: every process has the same one. */
static void send_vdso(struct session *s)
{
	const char *elf = (const char *)getauxval(AT_SYSINFO_EHDR);
	Kab__Vdso m = KAB__VDSO__INIT;
	uint64_t start, end;
	char line[LINE_LIMIT];
	FILE *f = elf ? fopen("/proc/self/maps", "re") : NULL;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || start != (uintptr_t)elf ||
		    end - start > WIRE_CHUNK)
			continue;
		m.elf.data = (uint8_t *)elf;
		m.elf.len = end - start;
		wire_event(&s->out, KAB__EVENT__BODY_VDSO, &m);
	}
	if (f)
		fclose(f);
	s->vdso_sent = true;
}

int send_symbols(struct session *s, struct err *err)
{
	struct buf now = BUF_INIT;
	int rc = 0;

	if (!s->vdso_sent)
		send_vdso(s);
	list_modules(&now);
	if (strcmp(buf_str(&now), buf_str(&s->kernel_modules))) {
		rc = send_kallsyms(s, err);
		buf_release(&s->kernel_modules);
		s->kernel_modules = now;
	} else {
		buf_release(&now);
	}
	return rc;
}
