// SPDX-License-Identifier: GPL-2.0-or-later
/* verdict: see verdict.h. Pure; compare calls it for each metric, and no view decides anything itself. */
#include "profile/verdict.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/mem.h"
#include "profile/rank.h"
#include "profile/stop.h"

struct verdict_design verdict_design_of(const struct experiment *e)
{
	return (struct verdict_design){ .sequential = e->until > 0 || e->state != EXP_COMPLETE, .margin = e->margin };
}

static struct effect effect_of(const struct estimate *e)
{
	return (struct effect){ e->diff, e->lo, e->hi, e->p, e->method };
}

static void take(struct estimate *e, const struct effect *x)
{
	double base = fabs(e->before.mean);

	e->diff = x->diff;
	e->lo = x->lo;
	e->hi = x->hi;
	e->p = x->p;
	e->method = x->method;
	e->rel = base > 0 ? e->diff / base : NAN;
	e->rel_lo = base > 0 ? e->lo / base : NAN;
	e->rel_hi = base > 0 ? e->hi / base : NAN;
}

static struct effect companion(const double *before, size_t n_before, const double *after, size_t n_after, bool paired)
{
	struct rank_shift r;
	double *d;
	size_t i;

	if (!paired) {
		r = rank_two(before, n_before, after, n_after);
		return (struct effect){ r.shift, r.lo, r.hi, r.p, r.method };
	}
	d = mem_calloc(n_before, sizeof(*d));
	for (i = 0; i < n_before; i++)
		d[i] = after[i] - before[i];
	r = rank_signed(d, n_before);
	free(d);
	return (struct effect){ r.shift, r.lo, r.hi, r.p, r.method };
}

/* The confidence sequence, never narrower than the t interval, whose floor is the clock's resolution. */
static struct effect sequence(const struct estimate *e)
{
	size_t n = e->pairs ? e->pairs : e->before.n < e->after.n ? e->before.n : e->after.n;
	double se = e->diff_sd / sqrt((double)n), m = stop_multiplier(n, 0.05), half = (e->hi - e->lo) / 2;
	struct effect x = { e->diff, NAN, NAN, 1, e->pairs ? "paired t, 95 % confidence sequence over pairs of blocks" :
			    "Welch t, 95 % confidence sequence over blocks" };

	if (!isfinite(m) || !isfinite(half))
		return x;
	if (m * se > half) {
		half = m * se;
		x.p = stop_p(n, fabs(e->diff) / se);
	} else {
		x.p = half > 0 ? stop_p(n, m * fabs(e->diff) / half) : 1;
	}
	x.lo = e->diff - half;
	x.hi = e->diff + half;
	return x;
}

static struct effect widened(const struct estimate *e)
{
	size_t n = e->pairs ? e->pairs : e->before.n < e->after.n ? e->before.n : e->after.n;
	double wide = stop_widening(n), half = wide * (e->hi - e->lo) / 2, t = gsl_cdf_tdist_Pinv(0.975, e->df);
	struct effect x = { e->diff, e->diff - half, e->diff + half, 1, e->pairs ?
			    "paired t interval, widened for the stop rule" : "Welch t interval, widened for the stop rule" };

	if (half > 0)
		x.p = 2 * gsl_cdf_tdist_Q(fabs(e->diff) * t / half, e->df);
	return x;
}

static size_t pairs_needed(const struct estimate *e)
{
	double base = fabs(e->before.mean);

	return base > 0 ? stop_pairs_needed(e->diff_sd / base, e->margin, e->sequential) : 0;
}

struct estimate verdict_judge(const double *before, size_t n_before, const double *after, size_t n_after, bool paired,
			   bool shaky, double resolution, enum direction better, const struct verdict_design *d)
{
	struct estimate e = paired ? stats_paired(before, after, n_before, resolution, better) :
		stats_welch(before, n_before, after, n_after, resolution, better);

	e.margin = d->margin > 0 ? d->margin : VERDICT_MARGIN;
	e.sequential = d->sequential;
	e.nominal = effect_of(&e);
	if (e.verdict == VERDICT_TOO_FEW)
		return e;
	e.other = companion(before, n_before, after, n_after, paired);
	if (d->sequential) {
		struct effect x = sequence(&e);

		e.nominal = widened(&e);
		take(&e, &x);
	} else if (shaky && isfinite(e.other.lo) && isfinite(e.other.hi)) {
		/* Rank intervals know nothing of the clock: never narrower than its step. */
		double half = fmax((e.other.hi - e.other.lo) / 2, resolution), mid = (e.other.hi + e.other.lo) / 2;
		struct effect x = e.other;

		x.lo = mid - half;
		x.hi = mid + half;
		e.by_rank = true;
		e.other = e.nominal;
		take(&e, &x);
	}
	e.pairs_needed = pairs_needed(&e);
	e.verdict = stats_judge(e.lo, e.hi, better);
	if (e.verdict == VERDICT_UNDECIDED && e.rel_lo >= -e.margin && e.rel_hi <= e.margin)
		e.verdict = VERDICT_EQUIVALENT;
	return e;
}

/* --- before against before --- */

static struct noise_floor floor_of(const struct estimate *e)
{
	struct noise_floor f = { .n = e->before.n < e->after.n ? e->before.n : e->after.n, .effect = effect_of(e) };

	f.worst = fmax(fabs(e->rel_lo), fabs(e->rel_hi));
	if (!isfinite(f.worst))
		f = (struct noise_floor){ 0 };
	return f;
}

struct noise_floor noise_floor_paired(const double *before, const double *again, size_t n, double resolution)
{
	struct estimate e = stats_paired(before, again, n, resolution, LOWER_IS_BETTER);

	return floor_of(&e);
}

struct noise_floor noise_floor_split(const double *before, size_t n, double resolution)
{
	double *half[2] = { mem_calloc(n, sizeof(double)), mem_calloc(n, sizeof(double)) };
	struct noise_floor f = { 0 };
	struct estimate e;
	size_t i;

	for (i = 0; i < n; i++)
		half[i % 2][i / 2] = before[i];
	if (n >= 4) {
		e = stats_welch(half[0], (n + 1) / 2, half[1], n / 2, resolution, LOWER_IS_BETTER);
		f = floor_of(&e);
		f.split = true;
	}
	free(half[0]);
	free(half[1]);
	return f;
}
