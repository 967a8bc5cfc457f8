/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame: what surrounds a view: header, status line, footer; and the drawing of
 * views that are tables. What does not fit a small terminal is left out, the
 * view itself last.
 */
#ifndef KAB_TUI_FRAME_H
#define KAB_TUI_FRAME_H

#include "tui/view.h"

/* Paints everything and shows it. */
void frame_draw(struct tui *t, struct view *v);
/* Paints `text` over several lines, broken at blanks; rows used. */
unsigned frame_wrap(struct tui *t, struct area a, enum style style, const char *text);
/* A sentence in the middle of an empty view. */
void frame_hint(struct tui *t, struct area a, const char *text);
/* Paints the head, titles and rows of a table view; settles its list. */
void grid_draw(struct tui *t, struct view *v, struct area a);

#endif
