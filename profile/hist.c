// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hist: see hist.h. A vector of the buckets met, sorted: distributions fill some
 * hundred of the 7,000 there are.
 */
#include "profile/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define SUB (1 << HIST_BITS)

const struct hist_quantile hist_quantiles[HIST_QUANTILES] = {
	{ "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 },
};

/* Values below 2 * SUB have a bucket each; above, the leading HIST_BITS + 1 bits tell the bucket. */
int32_t hist_bucket(int64_t value)
{
	uint64_t v = (uint64_t)(value < 0 ? ~value : value);
	int shift = v < 2 * SUB ? 0 : 63 - __builtin_clzll(v) - HIST_BITS;
	int32_t bucket = (int32_t)((shift << HIST_BITS) + (int32_t)(v >> shift));

	return value < 0 ? ~bucket : bucket;
}

int64_t hist_low(int32_t bucket)
{
	int shift;

	if (bucket < 0)
		return ~hist_high(~bucket);
	shift = bucket < 2 * SUB ? 0 : (bucket >> HIST_BITS) - 1;
	return (int64_t)(bucket - (shift << HIST_BITS)) << shift;
}

int64_t hist_high(int32_t bucket)
{
	int shift;

	if (bucket < 0)
		return ~hist_low(~bucket);
	shift = bucket < 2 * SUB ? 0 : (bucket >> HIST_BITS) - 1;
	return hist_low(bucket) + (int64_t)((1ULL << shift) - 1);
}

void hist_release(struct hist *h)
{
	vec_release(h);
	h->total = 0;
}

/* Where the bucket is, or would be. */
static size_t place(const struct hist *h, int32_t bucket)
{
	size_t low = 0, high = h->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->v[mid].bucket < bucket)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool hist_add_bucket(struct hist *h, int32_t bucket, uint64_t n)
{
	size_t at;

	if (bucket > HIST_LAST_BUCKET || bucket < ~HIST_LAST_BUCKET || n > UINT64_MAX - h->total)
		return false;
	if (!n)
		return true;
	h->total += n;
	at = place(h, bucket);
	if (at < h->n && h->v[at].bucket == bucket) {
		h->v[at].n += n;
		return true;
	}
	vec_reserve(h, 1);
	memmove(h->v + at + 1, h->v + at, (h->n - at) * sizeof(*h->v));
	h->v[at] = (struct hist_count){ bucket, n };
	h->n++;
	return true;
}

void hist_add(struct hist *h, int64_t value)
{
	hist_add_bucket(h, hist_bucket(value), 1);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	for (size_t i = 0; i < from->n; i++)
		hist_add_bucket(into, from->v[i].bucket, from->v[i].n);
}

double hist_quantile(const struct hist *h, double q)
{
	double rank = ceil(q * (double)h->total);
	uint64_t seen = 0;
	size_t i;

	if (!h->total)
		return NAN;
	for (i = 0; i + 1 < h->n; i++) {
		seen += h->v[i].n;
		if ((double)seen >= rank)
			break;
	}
	return (double)hist_high(h->v[i].bucket);
}
