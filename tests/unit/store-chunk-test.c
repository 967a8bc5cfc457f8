// SPDX-License-Identifier: GPL-2.0-or-later
/* The raw sample codec: what goes in comes out, and nothing else is taken for a chunk. */
#include "store-fixture.h"

#include <zstd.h>

#include "base/buf.h"
#include "profile/stats.h"
#include "store/chunk.h"

static struct store_sample extreme(size_t i)
{
	static const uint64_t edge[] = {
		0, 1, 127, 128, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, 1ULL << 42
	};

	return (struct store_sample){
		.time_ns = edge[i % 8], .period = edge[i / 8 % 8], .addr = edge[(i + 3) % 8],
		.thread = (int64_t)edge[(i + 5) % 8], .stack = (int64_t)edge[(i + 6) % 8],
		.cpu = (uint32_t)edge[(i + 1) % 8], .event = (uint32_t)edge[(i + 2) % 8],
	};
}

static void round_trip(void **state)
{
	static const size_t sizes[] = { 1, 2, 64, 200 };
	struct store_sample v[200], back[200];
	struct buf out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		v[i] = extreme(i);
	for (size_t k = 0; k < 4; k++) {
		buf_clear(&out);
		assert_int_equal(chunk_encode(v, sizes[k], &out), 0);
		memset(back, 0x55, sizeof(back));
		assert_int_equal(chunk_decode(out.data, out.len, back, sizes[k]), 0);
		for (size_t i = 0; i < sizes[k]; i++) {
			assert_int_equal(back[i].time_ns, v[i].time_ns);
			assert_int_equal(back[i].period, v[i].period);
			assert_int_equal(back[i].addr, v[i].addr);
			assert_int_equal(back[i].thread, v[i].thread);
			assert_int_equal(back[i].stack, v[i].stack);
			assert_int_equal(back[i].cpu, v[i].cpu);
			assert_int_equal(back[i].event, v[i].event);
		}
	}
	buf_release(&out);
}

/* A full chunk of a recording at 4000 Hz on 8 CPUs, with jitter, takes less than 8 bytes a sample. */
static void size(void **state)
{
	struct store_sample *v = mem_calloc(CHUNK_SAMPLES, sizeof(*v));
	struct store_sample *back = mem_calloc(CHUNK_SAMPLES, sizeof(*v));
	struct buf out = BUF_INIT;
	uint64_t now[8] = { 0 };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (size_t i = 0; i < CHUNK_SAMPLES; i++) {
		unsigned cpu = (unsigned)(i / 100 % 8);

		now[cpu] += 247000 + rng_below(&rng, 6000);
		v[i] = (struct store_sample){
			.time_ns = now[cpu], .period = 250000, .addr = rng_below(&rng, 40) * 7, .cpu = cpu,
			.thread = 1 + (int64_t)rng_below(&rng, 8),
			.stack = 1 + (int64_t)(rng_below(&rng, 64) * rng_below(&rng, 64)),
		};
	}
	assert_int_equal(chunk_encode(v, CHUNK_SAMPLES, &out), 0);
	assert_true(out.len < 8 * CHUNK_SAMPLES);
	assert_int_equal(chunk_decode(out.data, out.len, back, CHUNK_SAMPLES), 0);
	assert_int_equal(back[CHUNK_SAMPLES - 1].time_ns, v[CHUNK_SAMPLES - 1].time_ns);
	free(v);
	free(back);
	buf_release(&out);
}

static void damaged(void **state)
{
	struct store_sample v[64] = { 0 }, back[64] = { 0 };
	struct buf out = BUF_INIT, bad = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		v[i] = extreme(i);
	assert_int_equal(chunk_encode(v, 64, &out), 0);
	assert_int_equal(chunk_decode(out.data, out.len, back, 63), -EUCLEAN);	/* bytes are left over */
	assert_int_equal(chunk_decode(out.data, out.len, back, 0), -EUCLEAN);
	assert_int_equal(chunk_decode(out.data, out.len, back, CHUNK_SAMPLES + 1), -EUCLEAN);
	for (i = 0; i < out.len; i++)
		assert_int_equal(chunk_decode(out.data, i, back, 64), -EUCLEAN);
	for (i = 0; i < out.len; i++) {		/* the checksum sees what the format does not */
		buf_clear(&bad);
		buf_add(&bad, out.data, out.len);
		bad.data[i] ^= 0x10;
		assert_true(chunk_decode(bad.data, bad.len, back, 64) == -EUCLEAN ||
			    !memcmp(v, back, sizeof(v)));
	}
	buf_release(&bad);
	buf_release(&out);
}

/* A proper frame around `len` plain bytes, taken for one sample. */
static int one_from(const void *plain, size_t len)
{
	struct store_sample back;
	char packed[1024];
	size_t n = ZSTD_compress(packed, sizeof(packed), plain, len, 1);

	assert_false(ZSTD_isError(n));
	return chunk_decode(packed, n, &back, 1);
}

static void wrong_columns(void **state)
{
	unsigned char plain[100] = { 0 };

	(void)state;
	assert_int_equal(one_from(plain, 7), 0);
	assert_int_equal(one_from(plain, 8), -EUCLEAN);
	assert_int_equal(one_from(plain, 6), -EUCLEAN);
	memset(plain, 0xff, sizeof(plain));		/* no number ever ends */
	assert_int_equal(one_from(plain, 70), -EUCLEAN);
	memset(plain, 0, sizeof(plain));
	memset(plain, 0x80, 4);
	plain[4] = 0x10;				/* a CPU of 2^32 */
	assert_int_equal(one_from(plain, 11), -EUCLEAN);
	plain[4] = 0x0f;
	assert_int_equal(one_from(plain, 11), 0);
	memset(plain, 0, sizeof(plain));
	memset(plain + 2, 0xff, 9);
	plain[11] = 0x02;				/* a thread of more than 64 bits */
	assert_int_equal(one_from(plain, 16), -EUCLEAN);
	plain[11] = 0x01;
	assert_int_equal(one_from(plain, 16), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(size),
		cmocka_unit_test(damaged),
		cmocka_unit_test(wrong_columns),
	};

	return cmocka_run_group_tests_name("store-chunk", tests, NULL, NULL);
}
