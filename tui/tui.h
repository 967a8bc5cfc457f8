/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui: the workbench. The only room that includes <curses.h>.
 */
#ifndef KAB_TUI_TUI_H
#define KAB_TUI_TUI_H

struct err;

struct tui_opts {
	const char *session;		/* path of the session file; made when absent */
	const char *kab;		/* path of this program, to start jobs with */
	const char *start;		/* view and id to open first: "e3", "r5"; NULL: the cases */
};
/* Runs until the user quits; restores the terminal on every way out, signals included. */
int tui_run(const struct tui_opts *o, struct err *err);

#endif
