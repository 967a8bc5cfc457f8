/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranks: where the replaced functions stand among all functions of each side, in words. A short table has
 * only the first ones, and mails argue with such places.
 */
#ifndef KAB_REPORT_RANKS_H
#define KAB_REPORT_RANKS_H

struct buf;
struct report_input;

/* One sentence a function, printable ASCII. Nothing where no side was sampled or the case has no functions. */
void ranks(const struct report_input *in, struct buf *out);

#endif
