/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keymap: views.def and requests.def as enums and tables, and the way from a key to a request.
 */
#ifndef KAB_TUI_KEYMAP_H
#define KAB_TUI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>

enum view_id {
#define VIEW(id, name, what, needs) VIEW_##id,
#include "tui/views.def"
#undef VIEW
	VIEW_COUNT
};

enum request {
#define REQ(id, keys, where, needs, label, help) REQ_##id,
#include "tui/requests.def"
#undef REQ
	REQ_COUNT,
	REQ_NONE = REQ_COUNT
};

/* What must be there before a request makes sense. */
enum need {
	NEEDS_NOTHING,
	NEEDS_ROW,			/* a selected row */
	NEEDS_CASE,			/* a selected case that can be read */
	NEEDS_PROFILE,			/* samples: of a comparison or of one profile */
	NEEDS_EVIDENCE,			/* a comparison */
	NEEDS_JOB,			/* a measurement in hand */
	NEEDS
};

struct view_row {
	const char *name, *what;
	enum need needs;
};
struct request_row {
	const char *keys, *label, *help;
	unsigned where;			/* bit 1 << view_id */
	enum need needs;
};

extern const struct view_row view_rows[VIEW_COUNT];
extern const struct request_row request_rows[REQ_COUNT];

/* The code of a key's name, as in requests.def; K_NONE when unknown. `*len`: bytes of the name. */
int key_parse(const char *name, size_t *len);
bool request_has_key(enum request r, int key);
/* The request that `key` stands for in this view, REQ_NONE when for none. */
enum request keymap_find(enum view_id view, int key);

#endif
