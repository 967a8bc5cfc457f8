/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flat_rows: what the compare and the flat view share: functions in an order
 * that follows the unit in force, and a selection that is the one of all views.
 */
#ifndef KAB_TUI_FLAT_ROWS_H
#define KAB_TUI_FLAT_ROWS_H

#include "tui/view.h"

struct flat_rows {			/* view->state */
	struct figures figures;
	VEC(uint32_t) order;		/* rows of data.flat */
};

/* What a row is ordered by, largest first; negative: leave it out. */
typedef double (*flat_key)(const struct figures *f, const struct flat_diff_row *r);

void flat_rows_refresh(struct tui *t, struct view *v, flat_key key);
void flat_rows_close(struct view *v);
size_t flat_rows_count(const struct tui *t, const struct view *v);
const struct flat_diff_row *flat_rows_at(const struct tui *t, const struct view *v, size_t row);
const struct symbol *flat_rows_symbol(const struct tui *t, const struct view *v, size_t row);
/* The selected function becomes the selection of all views. */
void flat_rows_selected(struct tui *t, struct view *v);
unsigned flat_rows_request(struct tui *t, struct view *v, enum request r);

#endif
