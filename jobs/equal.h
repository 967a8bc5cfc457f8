/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * equal: the equivalence gate. What the check commands of a case print must be
 * the same under native, before and after; else what is measured is not one
 * piece of work done in two ways.
 */
#ifndef KAB_JOBS_EQUAL_H
#define KAB_JOBS_EQUAL_H

#include "base/buf.h"
#include "patches/case.h"

struct err;

/*
 * out[variant]: the outputs of c->check, in order, of native, before and after. They are sorted by line where
 * the case compares lines. -EBADMSG names command, line and both texts; `when` ends the sentence and says
 * what the difference means.
 */
int equal_judge(const struct patch_case *c, struct buf *const out[VARIANT_COUNT], const char *when, struct err *err);

#endif
