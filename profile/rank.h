/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank: differences told from the order of the values alone, for blocks whose
 * outliers or modes make a mean and a t interval a poor description.
 *
 * The estimate is that of J. L. Hodges and E. L. Lehmann (Ann. Math. Statist. 34, 1963); interval and p
 * come from the rank tests it belongs to. p is exact up to RANK_EXACT values, ties included, as the share of all
 * arrangements of these very ranks; beyond, the normal approximation.
 */
#ifndef KAB_PROFILE_RANK_H
#define KAB_PROFILE_RANK_H

#include <stddef.h>

#define RANK_EXACT 50

struct rank_shift {
	double shift;			/* Hodges-Lehmann */
	double lo, hi;			/* 95 % or a little more; NaN where so few values have none */
	double p;			/* two-sided */
	const char *method;		/* static */
};

/* Wilcoxon's signed-rank test of differences; the median of their pairwise means. */
struct rank_shift rank_signed(const double *d, size_t n);
/* The test of Mann, Whitney and Wilcoxon of y against x; the median of all differences y - x. */
struct rank_shift rank_two(const double *x, size_t n, const double *y, size_t m);

#endif
