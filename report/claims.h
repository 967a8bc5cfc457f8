/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claims: what the patch mail says, beside what was measured.
 */
#ifndef KAB_REPORT_CLAIMS_H
#define KAB_REPORT_CLAIMS_H

#include "report/report.h"

/*
 * The metric that a claim can be held against, or NULL. Claims are of total
 * times as often as of times per operation, so only the relative changes of the
 * two may be compared.
 */
const struct metric *claims_metric(const struct compare *c, const struct claim *claim);
/* The claim's change as a fraction of its before; NaN where the mail gives one side only. */
double claims_change(const struct claim *claim);

/* A table of claims with the measured change; nothing without claims. */
void claims_mail(const struct report_input *in, struct buf *out);

#endif
