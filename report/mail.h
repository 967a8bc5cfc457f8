/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mail: the report that can be posted to a kernel list.
 */
#ifndef KAB_REPORT_MAIL_H
#define KAB_REPORT_MAIL_H

#include "report/report.h"

int mail_write(const struct report_input *in, struct buf *out, struct err *err);

#endif
