/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * palette: which colours a meaning has, for terminals of 256, 16, 8 and no colours.
 * Blue is less, orange is more; nothing is told by colour alone. Pure data.
 */
#ifndef KAB_TUI_PALETTE_H
#define KAB_TUI_PALETTE_H

#include <stdint.h>

#include "profile/profile.h"

enum { INK_BOLD = 1, INK_REVERSE = 2, INK_UNDERLINE = 4, INK_DIM = 8 };

#define INK_DEFAULT (-1)		/* the terminal's own colour */

struct ink {
	short fg, bg;			/* colour number, or INK_DEFAULT */
	unsigned char attr;		/* INK_ bits */
};

enum style {
	STYLE_TEXT,
	STYLE_DIM,			/* units, rests, what does not matter now */
	STYLE_TITLE,			/* what is looked at */
	STYLE_BAR,			/* first line */
	STYLE_BAR_ON,			/* the view in hand within it */
	STYLE_COLUMN,			/* titles of columns */
	STYLE_LESS, STYLE_MORE,		/* costs less after, costs more after */
	STYLE_KEY,			/* a key in the footer */
	STYLE_MATCH,			/* found by the search */
	STYLE_WARN, STYLE_ERROR,
	STYLES
};

/* `colours` is what the terminal has: 256, 16, 8 or 0. */
struct ink palette_style(enum style s, int colours);
/* The same on the selected row. */
struct ink palette_selected(struct ink ink, int colours);
/* A frame of the flame graph: a tone by the hash of its name, a family by its kind. */
struct ink palette_function(enum frame_kind kind, uint32_t hash, int colours);
/* Frames too narrow to be told apart. */
struct ink palette_rest(int colours);
/* What a frame's colour becomes. */
enum flame_mark { MARK_NONE, MARK_SELECTED, MARK_FOUND, MARK_OTHER /* others were found */ };
struct ink palette_marked(struct ink ink, enum flame_mark mark, int colours);
/* By difference: -1 vanished .. 0 the same .. +1 new. */
struct ink palette_change(double change, int colours);

#endif
