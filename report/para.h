/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * para: running text for a mail that git may take for a commit message.
 *
 * Lines end at MAIL_COLUMNS. No line starts with what `git am` takes for the
 * end of the message ("---", "diff -", "Index:"), what an mbox takes for the
 * next mail ("From "), or what an editor commit drops ("#"): such a line is
 * indented by one blank.
 */
#ifndef KAB_REPORT_PARA_H
#define KAB_REPORT_PARA_H

#include <stdbool.h>

struct buf;

#define MAIL_COLUMNS 72

struct para_opts {
	unsigned first, rest;	/* blanks in front of the first line, of the others */
	bool shell;		/* a command: broken lines end in a backslash */
};

/* `text` must be printable ASCII (escaped); runs of blanks become one. Words longer than a line are split. */
void para(struct buf *out, const struct para_opts *o, const char *text);

/* Prose from elsewhere as printable ASCII, line ends and tabs as blanks, "" for NULL; the caller frees. */
char *para_ascii(const char *s);

#endif
