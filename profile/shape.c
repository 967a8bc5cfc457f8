// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shape: see shape.h. Pure; compare hands in the blocks of each metric and keeps
 * the sentences, verdict asks only whether a t interval can be trusted on them.
 */
#include "profile/shape.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/mem.h"
#include "base/vec.h"

/* Of each recogniser, over both sides: so few false alarms that five of them together stay below 5 in 100. */
#define ALPHA 0.01
/* Fewer blocks on a side do not show a shape. */
#define OUTLIER_MIN 5
#define MODES_MIN 8
#define TREND_MIN 8		/* of both sides together */
/* More blocks than this are averaged in runs of neighbours before their trend is looked for: it is quadratic. */
#define TREND_MAX 1000

/* --- outliers --- */

/* The place of the value farthest from the mean among those still in. */
static size_t farthest(const double *x, const bool *out, size_t n, double *deviate)
{
	double mean = 0, ss = 0;
	size_t left = 0, i, at = 0;

	for (i = 0; i < n; i++)
		if (!out[i])
			mean += (x[i] - mean) / (double)++left;
	*deviate = -1;
	for (i = 0; i < n; i++) {
		double d = fabs(x[i] - mean);

		if (out[i])
			continue;
		ss += d * d;
		if (d > *deviate) {
			*deviate = d;
			at = i;
		}
	}
	*deviate = ss > 0 ? *deviate / sqrt(ss / (double)(left - 1)) : 0;
	return at;
}

size_t shape_outliers(const double *x, size_t n, double alpha, size_t most, size_t *which)
{
	bool *out = mem_calloc(n, sizeof(*out));
	size_t found = 0, i;

	for (i = 0; i < most && i + 3 <= n; i++) {
		double left = (double)(n - i), deviate, t, limit;

		t = gsl_cdf_tdist_Qinv(alpha / (2 * left), left - 2);
		limit = (left - 1) * t / sqrt((left - 2 + t * t) * left);
		which[i] = farthest(x, out, n, &deviate);
		out[which[i]] = true;
		/* The largest number for which the test fails, not the first that passes: no masking. */
		if (deviate > limit)
			found = i + 1;
	}
	free(out);
	return found;
}

/* --- trend --- */

struct shape_trend shape_trend(const double *x, size_t n)
{
	struct shape_trend r = { NAN, 1, NAN };
	double *slopes, *sorted, s = 0, var, m = (double)n;
	size_t i, j, k = 0;

	if (n < 2)
		return r;
	slopes = mem_calloc(n * (n - 1) / 2, sizeof(*slopes));
	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++) {
			s += (x[j] > x[i]) - (x[j] < x[i]);
			slopes[k++] = (x[j] - x[i]) / (double)(j - i);
		}
	}
	gsl_sort(slopes, 1, k);
	r.slope = gsl_stats_median_from_sorted_data(slopes, 1, k);
	r.tau = s / (double)k;
	var = m * (m - 1) * (2 * m + 5);
	sorted = mem_dup(x, n * sizeof(*x));
	gsl_sort(sorted, 1, n);
	for (i = 0; i < n; i = j) {
		double t;

		for (j = i + 1; j < n && sorted[j] == sorted[i]; j++)
			;
		t = (double)(j - i);
		var -= t * (t - 1) * (2 * t + 5);
	}
	if (var > 0)
		r.p = 2 * gsl_cdf_ugaussian_Q(fmax(fabs(s) - 1, 0) / sqrt(var / 18));
	free(sorted);
	free(slopes);
	return r;
}

/* --- modes --- */

/* The best cut of one set: what it takes away of the sum of squares `ss`, and the lower part's size. */
static double cut(const double *x, size_t n, double *ss, size_t *lower)
{
	size_t least = n / 6 > 2 ? n / 6 : 2, i;
	double *sorted = mem_dup(x, n * sizeof(*x)), mean = gsl_stats_mean(x, 1, n), sum = 0, best = 0;

	gsl_sort(sorted, 1, n);
	*ss = *lower = 0;
	for (i = 0; i < n; i++) {
		double low = (double)i, high = (double)(n - i), between;

		if (i >= least && n - i >= least) {
			between = sum * sum / low + sum * sum / high;
			if (between > best) {
				best = between;
				*lower = i;
			}
		}
		sum += sorted[i] - mean;
		*ss += (sorted[i] - mean) * (sorted[i] - mean);
	}
	free(sorted);
	return best;
}

double shape_split(const struct shape_set *sets, size_t n_sets)
{
	double between = 0, all = 0, ss;
	size_t i, lower;

	for (i = 0; i < n_sets; i++) {
		if (sets[i].n < 2)
			continue;
		between += cut(sets[i].x, sets[i].n, &ss, &lower);
		all += ss;
	}
	return all > 0 ? between / all : 0;
}

/*
 * A flat distribution cut in its middle gives 3/4; the rest is the 99 % point of 8,000 simulated pairs of flat
 * samples of n each, which this meets within 0.005 from n 6 to 160. The normal's is lower everywhere.
 */
double shape_split_limit(size_t n)
{
	return 0.75 + 0.49 / sqrt((double)n);
}

/* --- sentences --- */

static double percent(double part, double whole)
{
	return whole != 0 ? 100 * part / fabs(whole) : 0;
}

static double median(const double *x, size_t n)
{
	double *sorted = mem_dup(x, n * sizeof(*x)), m;

	gsl_sort(sorted, 1, n);
	m = gsl_stats_median_from_sorted_data(sorted, 1, n);
	free(sorted);
	return m;
}

static size_t distinct(const double *x, size_t n)
{
	double *sorted = mem_dup(x, n * sizeof(*x));
	size_t i, k = n > 0;

	gsl_sort(sorted, 1, n);
	for (i = 1; i < n; i++)
		k += sorted[i] != sorted[i - 1];
	free(sorted);
	return k;
}

static unsigned repeats(const struct shape_set sets[2], const char *metric, struct caveats *out)
{
	size_t k[2], s;
	unsigned found = 0;

	for (s = 0; s < 2; s++) {
		k[s] = distinct(sets[s].x, sets[s].n);
		if (sets[s].n < 2 || k[s] != 1)
			continue;
		found |= SHAPE_IDENTICAL;
		caveats_add(out, CAVEAT_IDENTICAL, LEVEL_NOTE, metric,
			     "All %zu blocks %s are equal to the last digit: they have no spread, so the interval is the"
			     " clock's resolution.", sets[s].n, sets[s].name);
	}
	if (found || sets[0].n < 4 || sets[1].n < 4 || (k[0] > sets[0].n / 2 && k[1] > sets[1].n / 2))
		return found;
	caveats_add(out, CAVEAT_TIES, LEVEL_NOTE, metric,
		     "Only %zu different values in %zu blocks before and %zu in %zu after: the clock is coarse beside the"
		     " differences; longer blocks (--ops) resolve more.", k[0], sets[0].n, k[1], sets[1].n);
	return found | SHAPE_TIES;
}

static unsigned outliers(const struct shape_set *set, double resolution, const char *metric, struct caveats *out)
{
	size_t most = set->n / 5 > 0 ? set->n / 5 : 1, i, n, *which;
	unsigned found = 0;
	double centre;

	if (set->n < OUTLIER_MIN)
		return 0;
	which = mem_calloc(most, sizeof(*which));
	centre = median(set->x, set->n);
	n = shape_outliers(set->x, set->n, ALPHA / 2, most, which);
	for (i = 0; i < n; i++) {
		double d = set->x[which[i]] - centre;

		if (fabs(d) <= resolution)
			continue;
		found = SHAPE_OUTLIER;
		if (i < 3)
			caveats_add(out, CAVEAT_OUTLIER, LEVEL_WARN, metric,
				     "Block %u (%s) stands apart: %+.3g %% from the median of its side (Rosner's test,"
				     " 1 %%). It is counted.", set->at[which[i]] + 1, set->name, percent(d, centre));
		else if (i == 3)
			caveats_add(out, CAVEAT_OUTLIER, LEVEL_WARN, metric, "%zu more blocks %s stand apart.", n - i,
				     set->name);
	}
	free(which);
	return found;
}

static unsigned modes(const struct shape_set sets[2], double resolution, const char *metric, struct caveats *out)
{
	size_t fewest = sets[0].n < sets[1].n ? sets[0].n : sets[1].n, lower, i, s;
	double ss, gap[2] = { 0, 0 };

	if (fewest < MODES_MIN || shape_split(sets, 2) <= shape_split_limit(fewest))
		return 0;
	for (s = 0; s < 2; s++) {
		double low = 0, high = 0, *sorted = mem_dup(sets[s].x, sets[s].n * sizeof(*sorted));

		cut(sets[s].x, sets[s].n, &ss, &lower);
		gsl_sort(sorted, 1, sets[s].n);
		for (i = 0; i < sets[s].n; i++)
			*(i < lower ? &low : &high) += sorted[i];
		if (lower)
			gap[s] = high / (double)(sets[s].n - lower) - low / (double)lower;
		free(sorted);
	}
	gap[0] = fmax(gap[0], gap[1]);
	if (gap[0] <= resolution)
		return 0;
	caveats_add(out, CAVEAT_MODES, LEVEL_WARN, metric,
		     "The blocks fall into two modes, %.3g %% apart: the machine was in two states (frequency, placement,"
		     " a neighbour), and a mean describes neither.", percent(gap[0], median(sets[0].x, sets[0].n)));
	return SHAPE_MODES;
}

static size_t thin(double *x, size_t n)
{
	size_t run = (n + TREND_MAX - 1) / TREND_MAX, kept = 0, i;

	for (i = 0; run > 1 && i + run <= n; i += run)
		x[kept++] = gsl_stats_mean(x + i, 1, run);
	return run > 1 ? kept : n;
}

static unsigned drift(const struct shape_set sets[2], double resolution, bool paired, const char *metric,
		      struct caveats *out)
{
	size_t n = sets[0].n + sets[1].n, i[2] = { 0, 0 }, k;
	double centre[2], *rest, whole;
	struct shape_trend t;

	if (n < TREND_MIN || !sets[0].n || !sets[1].n)
		return 0;
	for (k = 0; k < 2; k++)
		centre[k] = median(sets[k].x, sets[k].n);
	rest = mem_calloc(n, sizeof(*rest));
	for (k = 0; k < n; k++) {
		int s = i[1] == sets[1].n || (i[0] < sets[0].n && sets[0].at[i[0]] < sets[1].at[i[1]]) ? 0 : 1;

		rest[k] = sets[s].x[i[s]++] - centre[s];
	}
	n = thin(rest, n);
	t = shape_trend(rest, n);
	free(rest);
	whole = t.slope * (double)(n - 1);
	if (t.p >= ALPHA || fabs(whole) <= resolution)
		return 0;
	caveats_add(out, CAVEAT_DRIFT, paired ? LEVEL_NOTE : LEVEL_WARN, metric,
		     "The blocks drift: from the first to the last by %+.2g %% (Kendall's tau %.2f, p %.2g). %s",
		     percent(whole, centre[0]), t.tau, t.p, paired ?
		     "Differences are taken within pairs, which a slow drift falls out of." :
		     "The blocks are not in pairs, so it is part of the spread.");
	return SHAPE_DRIFT;
}

/* The first block against what the others of its side let one expect of one more, one-sided. */
static unsigned slow_first(const struct shape_set sets[2], double resolution, const char *metric,
			   struct caveats *out)
{
	const struct shape_set *set = sets[0].n && (!sets[1].n || sets[0].at[0] < sets[1].at[0]) ? sets : sets + 1;
	double mean, sd, d, n = (double)set->n;

	if (set->n < OUTLIER_MIN)
		return 0;
	mean = gsl_stats_mean(set->x + 1, 1, set->n - 1);
	sd = gsl_stats_sd_m(set->x + 1, 1, set->n - 1, mean);
	d = set->x[0] - mean;
	if (d <= resolution || d <= gsl_cdf_tdist_Pinv(1 - ALPHA, n - 2) * sd * sqrt(1 + 1 / (n - 1)))
		return 0;
	caveats_add(out, CAVEAT_SLOW_FIRST, LEVEL_WARN, metric,
		     "The first block (%s) took %.3g %% longer than the others of its side: the warm-up was not over. It is"
		     " counted.", set->name, percent(d, mean));
	return SHAPE_SLOW_FIRST;
}

unsigned shape_caveats(const struct shape_set sets[2], double resolution, bool paired, const char *metric,
			struct caveats *out)
{
	unsigned found = repeats(sets, metric, out);
	size_t s;

	/* Two modes explain away what stands apart in one of them. */
	found |= modes(sets, resolution, metric, out);
	for (s = 0; s < 2 && !(found & SHAPE_MODES); s++)
		found |= outliers(&sets[s], resolution, metric, out);
	found |= drift(sets, resolution, paired, metric, out);
	return found | slow_first(sets, resolution, metric, out);
}
