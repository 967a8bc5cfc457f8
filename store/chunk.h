/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chunk: raw samples packed column by column, then compressed with zstd.
 *
 * Inside the compressed frame lie, without separators, seven columns of n
 * variable-length integers each, in this order: cpu, event, thread, stack,
 * time, period, addr. A number has 7 bits a byte, lowest first, the top bit
 * set on all but its last byte. Signed differences are zigzag coded. Time is the
 * difference to the sample before it on the same CPU, since rings are drained
 * one CPU after the other; period the difference to the sample before it of
 * the same event; the others are plain. The frame carries zstd's checksum.
 *
 * Pure: no I/O, no SQL.
 */
#ifndef KAB_STORE_CHUNK_H
#define KAB_STORE_CHUNK_H

#include <stddef.h>

#include "store/store.h"

struct buf;

#define CHUNK_SAMPLES 65536		/* at most, in one chunk */

/*
 * Appends the chunk of n samples, in the order given; 0 < n <= CHUNK_SAMPLES.
 * -ENOMEM when zstd gets no memory.
 */
int chunk_encode(const struct store_sample *v, size_t n, struct buf *out);
/* Exactly n samples into v, which has room for them; -EUCLEAN for bytes that are no such chunk. */
int chunk_decode(const void *data, size_t len, struct store_sample *v, size_t n);

#endif
