/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beside: what stands beside the result in every text: counters, distributions,
 * and what moved on the machine meanwhile. As parts.h: printable ASCII.
 */
#ifndef KAB_REPORT_BESIDE_H
#define KAB_REPORT_BESIDE_H

#include "report/report.h"

/* Counters and distributions with their captions; nothing where nothing was counted. `width` 0: no limit. */
void beside_counted(const struct report_input *in, unsigned indent, unsigned width, struct buf *out);
/* Prose: what moved, each with its limit and the reason for it; nothing where nothing did. */
void beside_environment(const struct report_input *in, struct buf *out);

#endif
