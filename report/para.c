// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * para: see para.h. Pure text to text.
 */
#include "report/para.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* What must not stand in column 0. */
static const char *const traps[] = { "---", "diff -", "Index:", "From ", ">From ", "#", "." };

static bool trapped(const char *s)
{
	size_t i;

	for (i = 0; i < sizeof(traps) / sizeof(traps[0]); i++)
		if (!strncmp(s, traps[i], strlen(traps[i])))
			return true;
	return false;
}

/* Starts a line; returns its column. */
static size_t line_start(struct buf *out, unsigned indent, const char *word)
{
	size_t col = indent ? indent : trapped(word);

	buf_fill(out, ' ', col);
	return col;
}

void para(struct buf *out, const struct para_opts *o, const char *text)
{
	size_t limit = MAIL_COLUMNS - (o->shell ? 2 : 0), col;

	text += strspn(text, " ");
	if (!*text)
		return;
	col = line_start(out, o->first, text);
	for (;;) {
		size_t len = strcspn(text, " ");

		if (len > limit - col)		/* stands first on its line */
			len = limit - col;
		buf_add(out, text, len);
		col += len;
		text += len;
		text += strspn(text, " ");
		if (!*text)
			break;
		len = strcspn(text, " ");
		if (col + 1 + len <= limit) {
			buf_putc(out, ' ');
			col++;
		} else {
			buf_puts(out, o->shell ? " \\\n" : "\n");
			col = line_start(out, o->rest, text);
		}
	}
	buf_putc(out, '\n');
}

char *para_ascii(const char *s)
{
	struct buf b = BUF_INIT;
	const char *p;

	for (p = s ? s : ""; *p; p++) {
		if (strchr(" \t\r\n", *p))
			buf_putc(&b, ' ');
		else
			text_escape(&b, p, 1, true);
	}
	return b.len ? buf_detach(&b) : mem_strdup("");
}
