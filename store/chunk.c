// SPDX-License-Identifier: GPL-2.0-or-later
/* chunk: see chunk.h. */
#include "store/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/mem.h"

#define VARINT_MAX 10			/* bytes of a 64-bit number */
#define COLUMNS 7
#define PREDICTORS 1024			/* a power of two; CPUs beyond share one, which only costs bytes */
#define LEVEL 3

static unsigned char *put(unsigned char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

/* Small numbers for small differences of either sign; wraps as unsigned arithmetic does. */
static uint64_t zigzag(uint64_t d)
{
	return d << 1 ^ (0 - (d >> 63));
}

static uint64_t unzigzag(uint64_t z)
{
	return z >> 1 ^ (0 - (z & 1));
}

struct predictors { uint64_t time[PREDICTORS], period[PREDICTORS]; };

int chunk_encode(const struct store_sample *v, size_t n, struct buf *out)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	struct buf plain = BUF_INIT;
	struct predictors *last;
	unsigned char *p;
	uint64_t *of;
	size_t i, room, size;

	if (!zstd)
		return -ENOMEM;
	last = mem_alloc(sizeof(*last));
	buf_reserve(&plain, n * COLUMNS * VARINT_MAX);
	p = (unsigned char *)plain.data;
	for (i = 0; i < n; i++)
		p = put(p, v[i].cpu);
	for (i = 0; i < n; i++)
		p = put(p, v[i].event);
	for (i = 0; i < n; i++)
		p = put(p, (uint64_t)v[i].thread);
	for (i = 0; i < n; i++)
		p = put(p, (uint64_t)v[i].stack);
	for (i = 0; i < n; i++) {
		of = &last->time[v[i].cpu % PREDICTORS];
		p = put(p, zigzag(v[i].time_ns - *of));
		*of = v[i].time_ns;
	}
	for (i = 0; i < n; i++) {
		of = &last->period[v[i].event % PREDICTORS];
		p = put(p, zigzag(v[i].period - *of));
		*of = v[i].period;
	}
	for (i = 0; i < n; i++)
		p = put(p, v[i].addr);
	plain.len = (size_t)(p - (unsigned char *)plain.data);

	room = ZSTD_compressBound(plain.len);
	buf_reserve(out, room);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	size = ZSTD_compress2(zstd, out->data + out->len, room, plain.data, plain.len);
	if (!ZSTD_isError(size))	/* the room is enough: only memory can be short */
		out->len += size;
	ZSTD_freeCCtx(zstd);
	buf_release(&plain);
	free(last);
	return ZSTD_isError(size) ? -ENOMEM : 0;
}

struct reader { const unsigned char *p, *end; bool bad; };

static uint64_t get(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && r->p < r->end; shift += 7) {
		unsigned char c = *r->p++;

		if (shift == 63 && c > 1)
			break;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

static uint32_t get32(struct reader *r)
{
	uint64_t v = get(r);

	if (v > UINT32_MAX)
		r->bad = true;
	return (uint32_t)v;
}

static void columns(struct reader *r, struct predictors *last, struct store_sample *v, size_t n)
{
	uint64_t *of;
	size_t i;

	for (i = 0; i < n; i++)
		v[i].cpu = get32(r);
	for (i = 0; i < n; i++)
		v[i].event = get32(r);
	for (i = 0; i < n; i++)
		v[i].thread = (int64_t)get(r);
	for (i = 0; i < n; i++)
		v[i].stack = (int64_t)get(r);
	for (i = 0; i < n; i++) {
		of = &last->time[v[i].cpu % PREDICTORS];
		v[i].time_ns = *of += unzigzag(get(r));
	}
	for (i = 0; i < n; i++) {
		of = &last->period[v[i].event % PREDICTORS];
		v[i].period = *of += unzigzag(get(r));
	}
	for (i = 0; i < n; i++)
		v[i].addr = get(r);
}

int chunk_decode(const void *data, size_t len, struct store_sample *v, size_t n)
{
	unsigned long long size;
	struct predictors *last;
	struct reader r = { 0 };
	unsigned char *plain;

	if (!n || n > CHUNK_SAMPLES)
		return -EUCLEAN;
	size = ZSTD_getFrameContentSize(data, len);	/* unknown and error are huge numbers */
	if (size < n * COLUMNS || size > n * COLUMNS * VARINT_MAX)
		return -EUCLEAN;
	plain = mem_alloc(size);
	if (ZSTD_decompress(plain, size, data, len) == size) {
		last = mem_alloc(sizeof(*last));
		r.p = plain;
		r.end = plain + size;
		columns(&r, last, v, n);
		free(last);
	}
	free(plain);
	return !r.p || r.bad || r.p != r.end ? -EUCLEAN : 0;
}
