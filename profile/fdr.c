// SPDX-License-Identifier: GPL-2.0-or-later
/* fdr: see fdr.h. Pure; compare adjusts the p values of all functions and of all stacks with it. */
#include "profile/fdr.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>

#include "base/mem.h"

void fdr_adjust(const double *p, size_t n, double *q)
{
	double *tests = mem_calloc(n, sizeof(*tests)), least = 1;
	size_t *at = mem_calloc(n, sizeof(*at)), *order = mem_calloc(n, sizeof(*order)), m = 0, i;

	for (i = 0; i < n; i++) {
		q[i] = NAN;
		if (!isnan(p[i])) {
			at[m] = i;
			tests[m++] = p[i];
		}
	}
	gsl_sort_index(order, tests, 1, m);
	for (i = m; i-- > 0;) {
		least = fmin(least, tests[order[i]] * (double)m / (double)(i + 1));
		q[at[order[i]]] = least;
	}
	free(order);
	free(at);
	free(tests);
}
