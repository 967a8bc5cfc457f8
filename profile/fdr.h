/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdr: p values of many functions at once. Of twenty functions that did not
 * change one has p < 0.05; what is called changed here keeps the expected share
 * of false ones among them below FDR_RATE (Y. Benjamini, Y. Hochberg, J. R.
 * Statist. Soc. B 57, 1995; it holds for the positively related costs of one
 * profile too: Benjamini, Yekutieli, Ann. Statist. 29, 2001).
 */
#ifndef KAB_PROFILE_FDR_H
#define KAB_PROFILE_FDR_H

#include <stddef.h>

#define FDR_RATE 0.05

/*
 * q[i]: the smallest rate at which test i is still called changed. A p that is
 * no number is no test: its q is NaN and it does not count among the tests.
 */
void fdr_adjust(const double *p, size_t n, double *q);

#endif
