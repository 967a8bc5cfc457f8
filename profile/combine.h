/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * combine: the same quantity measured on several machines, as one figure. Pure.
 *
 * Two questions, two answers. What the effect was on these machines, taken
 * together: the mean weighted by the inverse variances (fixed effect). What it is
 * on machines like these, which differ from one another by more than the noise of
 * each: random effects after R. DerSimonian and N. Laird (Controlled Clinical
 * Trials 7, 1986, 177-188). Their normal interval is too narrow for a handful of
 * machines; this one is J. Hartung's and G. Knapp's (Statistics in Medicine 20,
 * 2001, 1771-1782), Student's t on n - 1, in the form that machines which happen to
 * agree do not make narrower (C. Roever, G. Knapp and T. Friede, BMC Medical
 * Research Methodology 15, 2015, 99). It covers 95 % for machines of like noise, and
 * about 92 % for four whose noise differs eightfold (tests/unit/combine-test.c).
 */
#ifndef KAB_PROFILE_COMBINE_H
#define KAB_PROFILE_COMBINE_H

#include <stddef.h>

struct combine_in {
	double value;
	double se;			/* standard error of value; what is not finite and above 0 is left out */
};

struct combined {
	size_t n;			/* machines that count */
	double fixed, fixed_lo, fixed_hi;	/* of these machines, 95 % */
	double value, lo, hi;		/* of machines like these, 95 %; lo and hi NaN below 2 machines */
	double tau;			/* standard deviation between machines, beside their noise */
	double q, q_p;			/* Cochran's Q, and its p by chi-squared on n - 1 */
	double i2;			/* share of the spread that is between machines, 0 to 1 */
	const char *method;		/* static */
};
/* All NaN and n 0 when nothing counts. */
struct combined combine(const struct combine_in *v, size_t n);

#endif
