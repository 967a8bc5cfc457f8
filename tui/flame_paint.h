/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_paint: one cell of a layout on the terminal. With UTF-8 and colours the
 * edges are drawn to an eighth of a cell; without, rounded, with a bar where a
 * frame begins.
 */
#ifndef KAB_TUI_FLAME_PAINT_H
#define KAB_TUI_FLAME_PAINT_H

#include "profile/layout.h"
#include "tui/view.h"

struct flame_pen {
	struct screen *screen;
	struct area area;
	/* the cell painted before, whose right edge may share a column with the next one's left */
	unsigned row, end;		/* end in eighths */
	short colour;
	bool used;
};

/* Cells are painted in the layout's order; `row` counts from the area's top. */
void flame_paint(struct flame_pen *pen, const struct cell *c, unsigned row, struct ink ink,
		 const char *label);

#endif
