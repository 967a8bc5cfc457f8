/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist: a log-linear histogram of whole numbers, as HdrHistogram lays one out
 * (G. Tene, hdrhistogram.org): each power of two is cut into 128 buckets of one
 * width, so that every value is known to 1 part in 128 (0.8 %) or better, and
 * values below 256 exactly. Buckets are numbered alike in every histogram:
 * merging two, or storing one, needs nothing but numbers and counts. Pure.
 */
#ifndef KAB_PROFILE_HIST_H
#define KAB_PROFILE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIST_BITS 7			/* log2 of the buckets in a power of two */
#define HIST_LAST_BUCKET (((63 - HIST_BITS) << HIST_BITS) + (1 << HIST_BITS) - 1)

/* The bucket of a value. That of a negative one is the complement of the bucket of its complement. */
int32_t hist_bucket(int64_t value);
/* The smallest and the largest value of a bucket. */
int64_t hist_low(int32_t bucket);
int64_t hist_high(int32_t bucket);

struct hist_count { int32_t bucket; uint64_t n; };
struct hist {
	struct hist_count *v;		/* ascending, no count is 0 */
	size_t n, cap;
	uint64_t total;			/* of the counts */
};
void hist_release(struct hist *h);
void hist_add(struct hist *h, int64_t value);
/* False for a bucket that there is not, or when the total would overflow; h is then unchanged. */
bool hist_add_bucket(struct hist *h, int32_t bucket, uint64_t n);
void hist_merge(struct hist *into, const struct hist *from);
/*
 * The value at or below which a share `q` (0 to 1) of the counted lies: the upper
 * end of its bucket. NaN when nothing was counted.
 */
double hist_quantile(const struct hist *h, double q);

/* The quantiles that every view shows. */
#define HIST_QUANTILES 4
extern const struct hist_quantile { const char *name; double q; } hist_quantiles[HIST_QUANTILES];

#endif
