/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: columns fitted to a width, and a selection that scrolls. Pure.
 */
#ifndef KAB_TUI_TABLE_H
#define KAB_TUI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct column {
	const char *title;
	unsigned min, max;		/* cells; grows to max where there is room; min 0: not shown */
	unsigned rank;			/* 0 stays longest when there is no room */
	bool right;			/* figures */
};

struct span {
	unsigned x, w;			/* w 0: left out */
};

#define COLUMN_GAP 2

/* Columns with the highest rank go first until the rest fits; the last one standing gets what there is. */
void columns_fit(const struct column *c, size_t n, unsigned width, struct span *out);

/* A selected row and the first one on the screen, among n. */
struct list {
	size_t n, sel, top;
	size_t page;			/* rows on the screen */
};

/* After n, sel or page changed: sel exists and is on the screen. */
void list_settle(struct list *l);
/* Moves by `by` rows, stopping at the ends. */
void list_move(struct list *l, long by);

#endif
