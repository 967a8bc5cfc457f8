/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * near: doubles compared as doubles. cmocka's assert_float_equal casts to float,
 * which has seven digits. Include <cmocka.h> and what it needs first.
 */
#ifndef KAB_TESTS_NEAR_H
#define KAB_TESTS_NEAR_H

#include <math.h>

static inline void near_or_fail(double got, double want, double within, const char *file, int line)
{
	if (fabs(got - want) <= within)
		return;
	print_error("%.17g is not within %g of %.17g\n", got, within, want);
	_fail(file, line);
}

#define assert_near(got, want, within) near_or_fail(got, want, within, __FILE__, __LINE__)

#endif
