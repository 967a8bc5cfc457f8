// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stats: summaries, Welch's interval and reproducible block orders.
 *
 * Sets of figures per block come from compare; distributions and moments are
 * GSL's. GSL stops the process on arguments outside a function's domain, so
 * every call below is guarded by what is known of its arguments.
 */
#include "profile/stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/mem.h"

struct summary stats_summary(const double *x, size_t n)
{
	struct summary s = { n, NAN, NAN, NAN, NAN, NAN };
	double *sorted;

	if (!n)
		return s;
	sorted = mem_dup(x, n * sizeof(*x));
	gsl_sort(sorted, 1, n);
	s.min = sorted[0];
	s.max = sorted[n - 1];
	s.median = gsl_stats_median_from_sorted_data(sorted, 1, n);
	/* GSL's running mean of equal values is exactly that value, so that their spread is exactly 0. */
	s.mean = gsl_stats_mean(x, 1, n);
	if (n > 1)
		s.sd = gsl_stats_sd_m(x, 1, n, s.mean);
	free(sorted);
	return s;
}

static enum verdict judge(double lo, double hi, enum direction better)
{
	if (lo > 0)
		return better == HIGHER_IS_BETTER ? VERDICT_BETTER : VERDICT_WORSE;
	if (hi < 0)
		return better == HIGHER_IS_BETTER ? VERDICT_WORSE : VERDICT_BETTER;
	return VERDICT_UNDECIDED;
}

/*
 * The half width of the interval is t * se, but never less than the resolution:
 * readings that repeat exactly, or within the clock's own step, do not make the
 * difference known better than that step. p is that of the same widened error,
 * so that p < 0.05 and an interval without 0 always go together. Where both
 * sides repeat exactly Welch's degrees of freedom are 0/0; n + m - 2 stands in,
 * which then moves p only.
 */
static void interval(struct estimate *e, double resolution)
{
	double va = e->before.sd * e->before.sd / (double)e->before.n;
	double vb = e->after.sd * e->after.sd / (double)e->after.n;
	double n_before = (double)e->before.n, n_after = (double)e->after.n;
	double se = sqrt(va + vb), c, t, half, rounding;

	if (!isfinite(se))
		return;
	if (e->sd_zero) {
		e->df = n_before + n_after - 2;
	} else {
		c = va / (va + vb);
		e->df = 1 / (c * c / (n_before - 1) + (1 - c) * (1 - c) / (n_after - 1));
	}
	t = gsl_cdf_tdist_Pinv(0.975, e->df);
	rounding = 4 * DBL_EPSILON * fmax(fabs(e->before.mean), fabs(e->after.mean));
	half = fmax(t * se, fmax(resolution, rounding));
	e->lo = e->diff - half;
	e->hi = e->diff + half;
	e->p = half > 0 ? 2 * gsl_cdf_tdist_Q(fabs(e->diff) / (half / t), e->df) : 1;
}

struct estimate stats_welch(const double *before, size_t n_before, const double *after, size_t n_after,
			    double resolution, enum direction better)
{
	struct estimate e = {
		.before = stats_summary(before, n_before),
		.after = stats_summary(after, n_after),
		.lo = NAN, .hi = NAN, .p = NAN, .df = NAN,
		.method = "Welch t interval over blocks",
	};
	double base = fabs(e.before.mean);

	e.diff = e.after.mean - e.before.mean;
	if (n_before >= 2 && n_after >= 2) {
		e.sd_zero = e.before.sd == 0 && e.after.sd == 0;
		interval(&e, resolution);
		e.verdict = judge(e.lo, e.hi, better);
	}
	e.rel = base > 0 ? e.diff / base : NAN;
	e.rel_lo = base > 0 ? e.lo / base : NAN;
	e.rel_hi = base > 0 ? e.hi / base : NAN;
	return e;
}

const char *verdict_name(enum verdict v, enum direction d)
{
	static const char *const names[][2] = {
		[VERDICT_TOO_FEW] = { "too few blocks", "too few blocks" },
		[VERDICT_UNDECIDED] = { "undecided", "undecided" },
		[VERDICT_NOT_COMPARABLE] = { "not comparable", "not comparable" },
		[VERDICT_BETTER] = { [LOWER_IS_BETTER] = "faster", [HIGHER_IS_BETTER] = "higher" },
		[VERDICT_WORSE] = { [LOWER_IS_BETTER] = "slower", [HIGHER_IS_BETTER] = "lower" },
	};

	return names[v][d];
}

/* --- block orders --- */

/* SplitMix64, which the authors of xoshiro recommend for spreading a seed over the state. */
void rng_seed(struct rng *r, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		r->s[i] = z ^ z >> 31;
	}
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t uneven = -n % n, x;	/* 2^64 mod n: the lowest values that would favour some results */

	do
		x = rng_next(r);
	while (x < uneven);
	return x % n;
}

void stats_block_order(uint64_t seed, size_t pairs, enum variant *out)
{
	struct rng r;
	bool swap;
	size_t i;

	rng_seed(&r, seed);
	/* Pairs that start with before, then those that start with after; an odd one falls by chance. */
	swap = rng_next(&r) >> 63;
	for (i = 0; i < pairs; i++) {
		bool before_first = (i < pairs / 2) != swap;

		out[2 * i] = before_first ? VARIANT_BEFORE : VARIANT_AFTER;
		out[2 * i + 1] = before_first ? VARIANT_AFTER : VARIANT_BEFORE;
	}
	for (i = pairs; i > 1; i--) {
		size_t j = rng_below(&r, i);
		enum variant first = out[2 * j], second = out[2 * j + 1];

		out[2 * j] = out[2 * i - 2];
		out[2 * j + 1] = out[2 * i - 1];
		out[2 * i - 2] = first;
		out[2 * i - 1] = second;
	}
}
