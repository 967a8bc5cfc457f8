// SPDX-License-Identifier: GPL-2.0-or-later
/* rank: see rank.h. Pure; verdict asks it for the companion of every t interval. */
#include "profile/rank.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/mem.h"

/* More pairwise figures than this are not sorted: 32 MB, thousands of blocks. Then there is no companion. */
#define MOST_FIGURES 4000000

/* Twice the mid-rank of each value, by absolute value when `magnitude`: whole numbers even with ties. */
static void double_ranks(const double *x, size_t n, bool magnitude, unsigned *rank)
{
	double *v = mem_calloc(n, sizeof(*v));
	size_t *order = mem_calloc(n, sizeof(*order)), i, j, k;

	for (i = 0; i < n; i++)
		v[i] = magnitude ? fabs(x[i]) : x[i];
	gsl_sort_index(order, v, 1, n);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && v[order[j]] == v[order[i]]; j++)
			;
		for (k = i; k < j; k++)
			rank[order[k]] = (unsigned)(i + j + 1);
	}
	free(order);
	free(v);
}

/*
 * Of all ways to choose `choose` of the n ranks (SIZE_MAX: any number), the shares whose sum is at most, and
 * at least, `sum`. ways[c][t] counts choices of c ranks with sum t; doubles hold the counts to 15 digits.
 */
static void tails(const unsigned *rank, size_t n, size_t choose, unsigned sum, double *below, double *above)
{
	bool any = choose == SIZE_MAX;
	size_t rows = any ? 1 : choose + 1, width = 1, i, c, t;
	double *ways, all = 0;

	for (i = 0; i < n; i++)
		width += rank[i];
	ways = mem_calloc(rows * width, sizeof(*ways));
	ways[0] = 1;
	for (i = 0; i < n; i++) {
		for (c = rows; c-- > (any ? 0 : 1);) {
			double *to = ways + c * width, *from = any ? to : to - width;

			for (t = width; t-- > rank[i];)
				to[t] += from[t - rank[i]];
		}
	}
	*below = *above = 0;
	for (t = 0; t < width; t++) {
		double w = ways[(rows - 1) * width + t];

		all += w;
		*below += t <= sum ? w : 0;
		*above += t >= sum ? w : 0;
	}
	*below /= all;
	*above /= all;
	free(ways);
}

/* The largest k for which as few as k of the ordered figures on either end leave at least 95 % between; 0: none. */
static size_t cut_signed(size_t n)
{
	double *ways, all = ldexp(1, (int)n), sum = 0;
	size_t most = n * (n + 1) / 2, i, t;

	if (n > RANK_EXACT) {
		double m = (double)n, z = gsl_cdf_ugaussian_Pinv(0.975);

		return (size_t)(m * (m + 1) / 4 - z * sqrt(m * (m + 1) * (2 * m + 1) / 24));
	}
	ways = mem_calloc(most + 1, sizeof(*ways));
	ways[0] = 1;
	for (i = 1; i <= n; i++)
		for (t = most + 1; t-- > i;)
			ways[t] += ways[t - i];
	for (t = 0; t <= most && (sum + ways[t]) / all <= 0.025; t++)
		sum += ways[t];
	free(ways);
	return t;
}

static size_t cut_two(size_t n, size_t m)
{
	double *ways, all = 0, sum = 0;
	size_t width = n * m + 1, i, c, t;

	if (n + m > RANK_EXACT) {
		double a = (double)n, b = (double)m, z = gsl_cdf_ugaussian_Pinv(0.975);

		return (size_t)(a * b / 2 - z * sqrt(a * b * (a + b + 1) / 12));
	}
	/* U of n among n + m without ties: each of the n passes 0..m of the others; counted by largest part. */
	ways = mem_calloc((n + 1) * width, sizeof(*ways));
	ways[0] = 1;
	for (i = 1; i <= n + m; i++)
		for (c = i < n ? i : n; c > 0; c--)
			for (t = i - c; t < width; t++)
				ways[c * width + t] += ways[(c - 1) * width + t - (i - c)];
	for (t = 0; t < width; t++)
		all += ways[n * width + t];
	for (t = 0; t < width && (sum + ways[n * width + t]) / all <= 0.025; t++)
		sum += ways[n * width + t];
	free(ways);
	return t;
}

static void from_figures(double *v, size_t k, size_t cut, struct rank_shift *r)
{
	gsl_sort(v, 1, k);
	r->shift = gsl_stats_median_from_sorted_data(v, 1, k);
	if (cut && cut <= k / 2) {
		r->lo = v[cut - 1];
		r->hi = v[k - cut];
	}
}

static double both(double below, double above)
{
	return fmin(1, 2 * fmin(below, above));
}

static double p_signed(const double *d, size_t n)
{
	double *nonzero = mem_calloc(n, sizeof(*nonzero)), below, above, p, mean = 0, var = 0;
	unsigned *rank = mem_calloc(n, sizeof(*rank)), sum = 0;
	size_t kept = 0, i;

	for (i = 0; i < n; i++)
		if (d[i] != 0)
			nonzero[kept++] = d[i];
	double_ranks(nonzero, kept, true, rank);
	for (i = 0; i < kept; i++) {
		sum += nonzero[i] > 0 ? rank[i] : 0;
		mean += rank[i] / 2.;
		var += (double)rank[i] * rank[i] / 4;
	}
	if (!kept) {
		p = 1;
	} else if (kept <= RANK_EXACT) {
		tails(rank, kept, SIZE_MAX, sum, &below, &above);
		p = both(below, above);
	} else {
		p = 2 * gsl_cdf_ugaussian_Q(fmax(fabs(sum - mean) - 1, 0) / sqrt(var));
	}
	free(rank);
	free(nonzero);
	return p;
}

struct rank_shift rank_signed(const double *d, size_t n)
{
	struct rank_shift r = { NAN, NAN, NAN, NAN,
				"Wilcoxon signed-rank test, Hodges-Lehmann interval over pairs" };
	size_t i, j, k = 0;
	double *means;

	if (!n || n * (n + 1) / 2 > MOST_FIGURES)
		return r;
	means = mem_calloc(n * (n + 1) / 2, sizeof(*means));
	for (i = 0; i < n; i++)
		for (j = i; j < n; j++)
			means[k++] = d[i] + (d[j] - d[i]) / 2;
	from_figures(means, k, cut_signed(n), &r);
	r.p = p_signed(d, n);
	free(means);
	return r;
}

static double p_two(const double *x, size_t n, const double *y, size_t m)
{
	double *all = mem_calloc(n + m, sizeof(*all)), below, above, p, mean, var = 0, centre;
	unsigned *rank = mem_calloc(n + m, sizeof(*rank)), sum = 0;
	size_t i;

	for (i = 0; i < n + m; i++)
		all[i] = i < n ? x[i] : y[i - n];
	double_ranks(all, n + m, false, rank);
	for (i = 0; i < n; i++)
		sum += rank[i];
	if (n + m <= RANK_EXACT) {
		tails(rank, n + m, n, sum, &below, &above);
		p = both(below, above);
	} else {
		centre = (double)(n + m + 1);
		mean = (double)n * centre;
		for (i = 0; i < n + m; i++)
			var += (rank[i] - centre) * (rank[i] - centre);
		var *= (double)n * (double)m / ((double)(n + m) * (double)(n + m - 1));
		p = var > 0 ? 2 * gsl_cdf_ugaussian_Q(fmax(fabs(sum - mean) - 1, 0) / sqrt(var)) : 1;
	}
	free(rank);
	free(all);
	return p;
}

struct rank_shift rank_two(const double *x, size_t n, const double *y, size_t m)
{
	struct rank_shift r = { NAN, NAN, NAN, NAN,
				"Mann-Whitney test, Hodges-Lehmann interval over blocks" };
	double *diffs;
	size_t i, j, k = 0;

	if (!n || !m || n > MOST_FIGURES / m)
		return r;
	diffs = mem_calloc(n * m, sizeof(*diffs));
	for (i = 0; i < n; i++)
		for (j = 0; j < m; j++)
			diffs[k++] = y[j] - x[i];
	from_figures(diffs, k, cut_two(n, m), &r);
	r.p = p_two(x, n, y, m);
	free(diffs);
	return r;
}
