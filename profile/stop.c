// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stop: see stop.h. Pure arithmetic; jobs asks after each pair, verdict uses the
 * same multiplier for the final interval, so that what was shown while it ran
 * and what is reported are one thing.
 */
#include "profile/stop.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "profile/stats.h"

/*
 * With x = t^2/(n-1) and g = 1 + n STOP_EFFECT_SD^2 the mixture's likelihood ratio is
 *
 *	L(t) = g^(-1/2) * ((1 + x) / (1 + x/g))^(n/2)
 *
 * and L(t) = 1/alpha solved for x is (q - 1)/(1 - q/g) with q = (sqrt(g)/alpha)^(2/n).
 */
static double growth(size_t n)
{
	return 1 + (double)n * STOP_EFFECT_SD * STOP_EFFECT_SD;
}

double stop_multiplier(size_t n, double alpha)
{
	double g = growth(n), q;

	if (n < 2)
		return INFINITY;
	q = pow(sqrt(g) / alpha, 2 / (double)n);
	return q < g ? sqrt((double)(n - 1) * (q - 1) / (1 - q / g)) : INFINITY;
}

double stop_p(size_t n, double t)
{
	double g = growth(n), x = t * t / (double)(n - 1), gain;

	if (n < 2 || isnan(t))
		return 1;
	gain = isinf(x) ? log(g) : log1p(x) - log1p(x / g);
	return fmin(1, exp(log(g) / 2 - (double)n / 2 * gain));
}

double stop_widening(size_t n)
{
	return 1 + 2 / (double)n;
}

static double half_width(double sd, size_t n, bool sequential)
{
	double t = sequential ? stop_multiplier(n, 0.05) : gsl_cdf_tdist_Pinv(0.975, (double)(n - 1));

	return t * sd / sqrt((double)n);
}

size_t stop_pairs_needed(double sd, double half, bool sequential)
{
	size_t lo = 2, hi = 2;

	if (!(sd >= 0) || !(half > 0) || !isfinite(sd))
		return 0;
	/* The half width falls with n: double until it is small enough, then halve the gap. */
	while (half_width(sd, hi, sequential) > half) {
		if (hi > 10 * STOP_MAX_PAIRS)
			return 0;
		lo = hi;
		hi *= 2;
	}
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (half_width(sd, mid, sequential) > half)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

struct stop_state stop_look(const double *before, const double *after, size_t pairs, double until)
{
	struct stop_state s = { .pairs = pairs, .rel = NAN, .rel_lo = NAN, .rel_hi = NAN, .half = INFINITY };
	struct estimate e = stats_paired(before, after, pairs, 0, LOWER_IS_BETTER);
	double base = fabs(e.before.mean), sd;
	size_t need;

	if (pairs < 2 || !(base > 0) || !isfinite(e.diff_sd))
		return s;
	sd = e.diff_sd / base;
	s.rel = e.rel;
	s.half = half_width(sd, pairs, true);
	if (isfinite(s.half)) {
		s.rel_lo = s.rel - s.half;
		s.rel_hi = s.rel + s.half;
	}
	s.done = pairs >= STOP_MIN_PAIRS && s.half <= until;
	need = stop_pairs_needed(sd, until, true);
	need = need && need < STOP_MIN_PAIRS ? STOP_MIN_PAIRS : need;
	s.known = need > 0;
	if (!s.done && need)
		s.more = need > pairs ? need - pairs : 1;
	return s;
}
