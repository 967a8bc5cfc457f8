/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * csv: a comparison as comma-separated values.
 */
#ifndef KAB_REPORT_CSV_H
#define KAB_REPORT_CSV_H

#include "report/report.h"

int csv_write(const struct report_input *in, struct buf *out, struct err *err);

#endif
