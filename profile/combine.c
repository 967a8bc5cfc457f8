// SPDX-License-Identifier: GPL-2.0-or-later
/* combine: see combine.h. */
#include "profile/combine.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

#define Z95 1.959963984540054	/* of the normal distribution, two-sided */

static bool counts(const struct combine_in *v)
{
	return isfinite(v->value) && isfinite(v->se) && v->se > 0;
}

/* Weights 1 / (se^2 + tau^2): their sum, that of their squares, the mean, and Q, the weighted squares around it. */
struct weighted { double sum, squares, mean, q; };

static struct weighted weigh(const struct combine_in *v, size_t n, double tau2)
{
	struct weighted w = { 0 };
	double total = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double weight = counts(&v[i]) ? 1 / (v[i].se * v[i].se + tau2) : 0;

		w.sum += weight;
		w.squares += weight * weight;
		total += weight ? weight * v[i].value : 0;
	}
	w.mean = total / w.sum;
	for (i = 0; i < n; i++) {
		double d = v[i].value - w.mean;

		w.q += counts(&v[i]) ? d * d / (v[i].se * v[i].se + tau2) : 0;
	}
	return w;
}

struct combined combine(const struct combine_in *v, size_t n)
{
	struct combined c = { .fixed = NAN, .fixed_lo = NAN, .fixed_hi = NAN, .value = NAN, .lo = NAN, .hi = NAN,
			      .tau = NAN, .q = NAN, .q_p = NAN, .i2 = NAN,
			      .method = "random effects over machines (DerSimonian-Laird, Hartung-Knapp interval)" };
	struct weighted w;
	double df, tau2, half;
	size_t i;

	for (i = 0; i < n; i++)
		c.n += counts(&v[i]);
	if (!c.n)
		return c;
	w = weigh(v, n, 0);
	half = Z95 / sqrt(w.sum);
	c.fixed = c.value = w.mean;
	c.fixed_lo = w.mean - half;
	c.fixed_hi = w.mean + half;
	if (c.n < 2)
		return c;
	df = (double)c.n - 1;
	c.q = w.q;
	c.q_p = gsl_cdf_chisq_Q(w.q, df);
	c.i2 = w.q > df ? (w.q - df) / w.q : 0;
	tau2 = w.q > df ? (w.q - df) / (w.sum - w.squares / w.sum) : 0;
	c.tau = sqrt(tau2);
	w = weigh(v, n, tau2);
	half = gsl_cdf_tdist_Pinv(0.975, df) * sqrt(fmax(1, w.q / df) / w.sum);
	c.value = w.mean;
	c.lo = w.mean - half;
	c.hi = w.mean + half;
	return c;
}
