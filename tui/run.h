/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run: the measurement that runs beside the screen (`kab run` as a child), for
 * the loop and for the view of it.
 */
#ifndef KAB_TUI_RUN_H
#define KAB_TUI_RUN_H

#include "tui/view.h"

/* Starts `kab run CASE -t vm --exact`; one at a time. */
unsigned run_start(struct tui *t, const char *case_name);
unsigned run_ask_cancel(struct tui *t);
bool run_going(const struct tui *t);
/* Takes what the child wrote; opens the comparison when it is done. */
unsigned run_read(struct tui *t);
/* One line: where the measurement is. */
void run_line(const struct tui *t, struct buf *out);

#endif
