/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen: the terminal. The one file that meets <curses.h>, whose macros (clear,
 * move, timeout) would otherwise rename the functions of the views.
 *
 * Text given to it is already escaped (text_escape); it clips to the cells it is
 * given and never wraps, so a view cannot disturb another view's part.
 */
#ifndef KAB_TUI_SCREEN_H
#define KAB_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/palette.h"

struct err;

/* Keys beyond Unicode; a plain key is its code point. */
enum {
	K_NONE = 0,
	K_TAB = 9, K_ENTER = 10, K_ESCAPE = 27, K_SPACE = 32,
	K_UP = 0x110000, K_DOWN, K_LEFT, K_RIGHT, K_PAGE_UP, K_PAGE_DOWN, K_HOME, K_END,
	K_BACKSPACE, K_BACKTAB, K_CLICK, K_WHEEL_UP, K_WHEEL_DOWN, K_OTHER,
};

struct press {
	int key;			/* K_ or a code point; K_NONE: nothing more to read */
	unsigned y, x;			/* of K_CLICK and the wheel */
};

/* What a poll loop must know of the signals that arrived. */
enum { SIGNAL_RESIZE = 1, SIGNAL_STOP = 2, SIGNAL_INTERRUPT = 4, SIGNAL_END = 8 };

struct screen {
	unsigned rows, cols;
	int colours;			/* 256, 16, 8; 0: none, or NO_COLOR */
	bool utf8;			/* what the locale can show */
	int signal_fd;			/* readable when a signal waits; see screen_signals() */
	int end_signal;			/* that asked for the end */
	void *handle;			/* curses' SCREEN */
};

/* A part of the screen that belongs to somebody. */
struct area {
	unsigned y, x, rows, cols;
};

/*
 * Takes the terminal; needs setlocale() to be done. `farewell` is printed behind a restored terminal
 * should the program die of a fault; borrowed until screen_close().
 */
int screen_open(struct screen *s, const char *farewell, struct err *err);
void screen_close(struct screen *s);

struct press screen_press(struct screen *s);	/* never waits */
unsigned screen_signals(struct screen *s);	/* reads all that wait; SIGNAL_ bits */
void screen_resized(struct screen *s);		/* takes over the terminal's new size */
void screen_suspend(struct screen *s);		/* gives the terminal back, stops; when continued, takes it */
void screen_unblock_signals(void);		/* in a child before exec: signals work there as everywhere */

void screen_begin(struct screen *s);		/* an empty frame */
void screen_repaint(struct screen *s);		/* what the terminal shows is no longer trusted */
void screen_flush(struct screen *s);		/* shows the frame */
void screen_cursor(struct screen *s, int y, int x);	/* y < 0 hides it */

/* Writes `text` into exactly `cells` cells, cut with ~, filled with blanks; clipped at the screen's edge. */
void screen_text(struct screen *s, unsigned y, unsigned x, unsigned cells, struct ink ink, const char *text);
/* The same, and says how many cells the text took; no filling. */
unsigned screen_words(struct screen *s, unsigned y, unsigned x, unsigned cells, struct ink ink,
		      const char *text);
/* One cell of two colours, the left one `eighths` (0..8) wide; for UTF-8 terminals with colours. */
void screen_part(struct screen *s, unsigned y, unsigned x, unsigned eighths, short left, short right);

#endif
