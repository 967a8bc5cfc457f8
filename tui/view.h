/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: what a view is, and the context that all of them work on.
 *
 * The model (data.h), the selection (here) and the drawing (NAME_view.c) are
 * kept apart. A view is a table of operations; what it must remember between
 * two calls is in view->state, made by its open() and freed by its close().
 */
#ifndef KAB_TUI_VIEW_H
#define KAB_TUI_VIEW_H

#include "base/buf.h"
#include "base/vec.h"
#include "tui/data.h"
#include "tui/keymap.h"
#include "tui/screen.h"
#include "tui/table.h"
#include "tui/tui.h"

struct child;
struct tui;
struct view;

/* What a request did, as bits; the loop in tui.c acts on them. */
enum {
	REACT_NONE	 = 0,
	REACT_DRAW	 = 1,		/* the screen is to be painted again */
	REACT_RELOAD	 = 2,		/* rows are to be made anew before that */
	REACT_UNHANDLED	 = 4,		/* not mine: somebody else's turn */
	REACT_QUIT	 = 8,
};

struct view_ops {
	/* A view either is a table ... */
	const struct column *columns; size_t n_columns;
	size_t grep;			/* the column that a search looks at */
	bool (*shown)(const struct tui *t, size_t column);	/* NULL: all columns are */
	size_t (*rows)(const struct tui *t, const struct view *v);
	/* Appends the escaped text of one field; the style to write it in. */
	enum style (*cell)(const struct tui *t, const struct view *v, size_t row, size_t column,
			   struct buf *out);
	unsigned (*head)(struct tui *t, struct view *v, struct area a);	/* lines above the table; rows used */
	/* ... or paints and searches itself. */
	void (*draw)(struct tui *t, struct view *v, struct area a);
	unsigned (*find)(struct tui *t, struct view *v, int direction);	/* as tui_find_node() */
	unsigned (*click)(struct tui *t, struct view *v, unsigned y, unsigned x);

	/*
	 * Any of these may be NULL. But for refresh and close, none is called while what the
	 * view needs (views.def) is not there. refresh: data or options changed; it also makes
	 * the state when there is none.
	 */
	void (*refresh)(struct tui *t, struct view *v);
	void (*close)(struct view *v);			/* frees the state */
	unsigned (*request)(struct tui *t, struct view *v, enum request r);
	void (*selected)(struct tui *t, struct view *v);	/* another row of the table was selected */
	/* The status line, of the selection. */
	void (*info)(const struct tui *t, const struct view *v, struct buf *out);
	const char *empty;		/* what to say when there are no rows */
};

struct view {
	const struct view_ops *ops;
	void *state;
	struct list list;		/* of table views */
	struct area body;		/* where the rows or the drawing were put last */
	unsigned generation;		/* of tui, when refreshed last */
};

enum option {
#define OPTION(id, name, values, request, help) OPTION_##id,
#include "tui/options.def"
#undef OPTION
	OPTIONS
};

struct prompt {
	enum { PROMPT_NONE, PROMPT_SEARCH, PROMPT_CONFIRM } kind;
	char text[256];			/* what was typed, or the question */
	unsigned (*yes)(struct tui *t);	/* of PROMPT_CONFIRM */
};

struct tui {
	const struct tui_opts *opts;	/* borrowed */
	struct screen screen;
	struct data data;
	struct child *child;		/* the measurement in hand or the one that ended last; NULL */
	struct view views[VIEW_COUNT];
	enum view_id current, came_from;	/* came_from: whose keys the help shows */
	VEC(enum view_id) back;		/* where `q` leads */
	unsigned option[OPTIONS];
	unsigned generation;		/* steps when data or options change */

	/* One selection, one zoom and one search for all views of a comparison. */
	uint32_t node;			/* of data.diff */
	bool chosen;			/* the user moved it; else views start where it suits them */
	VEC(uint32_t) zoom;		/* the last one fills the width; empty: the root */
	char search[256];		/* "" when there is none */

	struct prompt prompt;
	char message[1600];		/* "" when there is none; gone with the next key */
	enum style message_style;
};

#define VIEW(id, name, what, needs) extern const struct view_ops name##_ops;
#include "tui/views.def"
#undef VIEW

/* --- for the views: tui.c, context.c --- */

/* Opens a view; `q` leads back. Loads the newest comparison when the view needs one and there is none. */
unsigned tui_show(struct tui *t, enum view_id id);
void tui_say(struct tui *t, enum style style, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void tui_ask(struct tui *t, unsigned (*yes)(struct tui *t), const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
unsigned tui_reload(struct tui *t);	/* the lists, from the session file and the catalogue */
/* Loads what `id` ("e3", "r12", "p5") names and shows it: experiments as comparisons, the rest as trees. */
unsigned tui_open_id(struct tui *t, const char *id);
bool tui_needs_met(const struct tui *t, enum need need);
uint32_t tui_zoom(const struct tui *t);
/* Selects the dearest frame of this symbol (of data.diff); false when no frame has it. */
bool tui_select_symbol(struct tui *t, uint32_t symbol);
/* Per cent of all that one side spent. */
double tui_share(const struct tui *t, uint32_t node, enum side s);
/*
 * Selects the next frame whose name matches the search, and says how much was found.
 * direction: -1 backwards, 1 forwards, 0 forwards with the selected one itself.
 */
void tui_find_node(struct tui *t, int direction);
bool tui_matches(const struct tui *t, const char *name);	/* the search, on raw names */
/* The name of a symbol, escaped; an empty one is named too. */
void tui_symbol(const struct tui *t, struct buf *out, const struct symbol *sym);
/* "name  where" of a frame. */
void tui_put_frame(const struct tui *t, uint32_t node, struct buf *out);
/* Escaped for this terminal. */
void tui_name(const struct tui *t, struct buf *out, const char *name);
struct ink tui_ink(const struct tui *t, enum style style);
enum style tui_verdict_style(enum verdict v);

/* In the unit in force, of what is loaded (tui_needs_met(t, NEEDS_PROFILE)). */
void tui_figures(const struct tui *t, struct figures *f);

#endif
