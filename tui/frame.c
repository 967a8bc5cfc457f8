// SPDX-License-Identifier: GPL-2.0-or-later
/* frame: see frame.h. */
#include "tui/frame.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/run.h"

/* From this size on there is room for ... */
#define ROWS_BAR 3
#define ROWS_STATUS 2
#define ROWS_FOOTER 5
#define ROWS_TITLE 8
#define ROWS_FORMULA 14
#define SMALL_COLS 40

/* --- header --- */

static void draw_session(struct tui *t, unsigned x)
{
	struct screen *s = &t->screen;
	struct buf path = BUF_INIT;
	unsigned w;

	tui_name(t, &path, t->opts->session);
	w = (unsigned)text_width(buf_str(&path));
	if (w + x + 3 <= s->cols)
		screen_words(s, 0, s->cols - w - 1, w, tui_ink(t, STYLE_BAR), buf_str(&path));
	buf_release(&path);
}

/* All names where they fit, else the numbers, else the view in hand only. */
static void draw_bar(struct tui *t)
{
	struct screen *s = &t->screen;
	unsigned x, i, all = 5;
	bool names, numbers;

	for (i = 0; i < VIEW_COUNT; i++)
		all += (unsigned)strlen(view_rows[i].name) + 4;
	names = all <= s->cols;
	numbers = 5 + 3 * VIEW_COUNT + 12 <= s->cols;
	screen_text(s, 0, 0, s->cols, tui_ink(t, STYLE_BAR), "");
	x = screen_words(s, 0, 0, s->cols, tui_ink(t, STYLE_BAR), s->cols < 16 ? "" : " kab ");
	for (i = 0; i < VIEW_COUNT; i++) {
		bool here = i == (unsigned)t->current;
		char tab[64];

		if (!here && !names && !numbers)
			continue;
		snprintf(tab, sizeof(tab), here || names ? " %u %s " : " %u ", i + 1, view_rows[i].name);
		x += screen_words(s, 0, x, s->cols > x ? s->cols - x : 0,
				  tui_ink(t, here ? STYLE_BAR_ON : STYLE_BAR), tab);
	}
	draw_session(t, x);
}

static bool shows_profile(enum view_id id)
{
	return view_rows[id].needs == NEEDS_PROFILE || view_rows[id].needs == NEEDS_EVIDENCE;
}

static void draw_title(struct tui *t, unsigned y)
{
	struct buf raw = BUF_INIT, text = BUF_INIT;

	if (shows_profile(t->current) && t->data.id[0]) {
		data_title(&t->data, &raw);
		tui_name(t, &text, buf_str(&raw));
		screen_words(&t->screen, y, 1, t->screen.cols - 1, tui_ink(t, STYLE_TITLE), buf_str(&text));
	} else {
		screen_words(&t->screen, y, 1, t->screen.cols - 1, tui_ink(t, STYLE_DIM),
			     view_rows[t->current].what);
	}
	buf_release(&raw);
	buf_release(&text);
}

static void draw_formula(struct tui *t, unsigned y)
{
	struct figures f;
	struct buf raw = BUF_INIT, text = BUF_INIT;

	tui_figures(t, &f);
	buf_printf(&raw, "%s: %s", f.unit, f.formula);
	tui_name(t, &text, buf_str(&raw));
	screen_words(&t->screen, y, 1, t->screen.cols - 1, tui_ink(t, STYLE_DIM), buf_str(&text));
	buf_release(&raw);
	buf_release(&text);
}

/* --- footer --- */

/* Writes "key label" and returns the cells it took; with `paint` false only counts. */
static unsigned footer_item(struct tui *t, unsigned y, unsigned x, const struct request_row *r, bool paint)
{
	struct screen *s = &t->screen;
	unsigned klen = (unsigned)strcspn(r->keys, " "), llen = (unsigned)strlen(r->label);
	char key[16];

	if (paint) {
		snprintf(key, sizeof(key), "%.*s", (int)klen, r->keys);
		screen_words(s, y, x, klen, tui_ink(t, STYLE_KEY), key);
		screen_words(s, y, x + klen + 1, llen, tui_ink(t, STYLE_DIM), r->label);
	}
	return klen + 1 + llen + 2;
}

static bool in_footer(const struct tui *t, const struct request_row *r)
{
	return *r->label && r->where & 1u << t->current && tui_needs_met(t, r->needs);
}

static void draw_footer(struct tui *t, unsigned y)
{
	static const enum request always[] = { REQ_SHOW_HELP, REQ_BACK };
	unsigned x = 1, room = t->screen.cols, i;

	/* How to get help and how to leave are kept whatever else is dropped. */
	for (i = 0; i < 2; i++)
		if (in_footer(t, &request_rows[always[i]]))
			room -= room > 14 ? footer_item(t, y, 0, &request_rows[always[i]], false) : 0;
	for (i = 0; i < REQ_COUNT; i++) {
		const struct request_row *r = &request_rows[i];
		unsigned w;

		if (!in_footer(t, r) || i == REQ_SHOW_HELP || i == REQ_BACK)
			continue;
		w = footer_item(t, y, 0, r, false);
		if (x + w - 2 > room)
			break;
		x += footer_item(t, y, x, r, true);
	}
	for (i = 0; i < 2; i++)
		if (in_footer(t, &request_rows[always[i]]))
			x += footer_item(t, y, x, &request_rows[always[i]], true);
}

/* --- status --- */

/* Bytes of `text` that go on a line of `cells`: up to a blank where there is one. */
static size_t line_bytes(const char *text, unsigned cells)
{
	struct buf fit = BUF_INIT;
	size_t len, n;

	if (text_width(text) <= cells)
		return strlen(text);
	text_fit(&fit, text, cells + 1, false);
	len = fit.len ? fit.len - 1 : 0;	/* without the ~ */
	buf_release(&fit);
	for (n = len; n && text[n] != ' '; n--)
		;
	return n ? n : len ? len : 1;
}

static unsigned wrap(struct tui *t, struct area a, enum style style, const char *text, bool paint)
{
	unsigned row = 0;

	while (*text && row < a.rows && a.cols) {
		/* The last line takes the rest and shows that it was cut. */
		size_t n = row + 1 < a.rows ? line_bytes(text, a.cols) : strlen(text);
		struct buf line = BUF_INIT;

		buf_add(&line, text, n);
		if (paint)
			screen_text(&t->screen, a.y + row, a.x, a.cols, tui_ink(t, style), buf_str(&line));
		buf_release(&line);
		text += n;
		text += strspn(text, " ");
		row++;
	}
	return row;
}

unsigned frame_wrap(struct tui *t, struct area a, enum style style, const char *text)
{
	return wrap(t, a, style, text, true);
}

void frame_hint(struct tui *t, struct area a, const char *text)
{
	struct area middle = { a.y + a.rows / 3, a.x, a.rows - a.rows / 3, a.cols };

	frame_wrap(t, middle, STYLE_DIM, text);
}

/* What the status line says now, escaped; the style of it. */
static enum style status_text(struct tui *t, const struct view *v, struct buf *out)
{
	if (t->prompt.kind == PROMPT_CONFIRM) {
		tui_name(t, out, t->prompt.text);
		buf_puts(out, " (y/n)");
		return STYLE_WARN;
	}
	if (t->message[0]) {
		tui_name(t, out, t->message);
		return t->message_style;
	}
	if (run_going(t) && t->current != VIEW_RUN) {
		run_line(t, out);
		return STYLE_TITLE;
	}
	if (t->screen.cols < SMALL_COLS || t->screen.rows < ROWS_TITLE) {
		buf_printf(out, "%ux%u: small", t->screen.cols, t->screen.rows);
		return STYLE_DIM;
	}
	if (v->ops->info && tui_needs_met(t, view_rows[t->current].needs))
		v->ops->info(t, v, out);
	return STYLE_TEXT;
}

/* Draws upwards from `bottom` (exclusive); rows used. */
static unsigned draw_status(struct tui *t, const struct view *v, unsigned bottom)
{
	struct screen *s = &t->screen;
	struct buf text = BUF_INIT;
	struct area a = { .x = s->cols >= SMALL_COLS, .rows = bottom / 2 };
	enum style style;

	if (t->prompt.kind == PROMPT_SEARCH) {
		unsigned x;

		buf_puts(&text, "/");
		tui_name(t, &text, t->prompt.text);
		x = screen_words(s, bottom - 1, 0, s->cols, tui_ink(t, STYLE_TITLE), buf_str(&text));
		screen_cursor(s, (int)bottom - 1, (int)x);
		buf_release(&text);
		return 1;
	}
	style = status_text(t, v, &text);
	a.rows = a.rows ? a.rows : 1;
	a.cols = s->cols - a.x;
	if (style == STYLE_TEXT || style == STYLE_TITLE || style == STYLE_DIM)
		a.rows = 1;
	a.rows = wrap(t, a, style, buf_str(&text), false);
	a.y = bottom - a.rows;
	wrap(t, a, style, buf_str(&text), true);
	buf_release(&text);
	return a.rows ? a.rows : 1;
}

/* --- all --- */

/* Why the view in hand has nothing to show. */
static const char *lacks(const struct tui *t)
{
	if (!t->data.id[0])
		return "Nothing to show yet: measure a case with r in view 1, or open an experiment in "
		       "view 2.";
	if (view_rows[t->current].needs == NEEDS_EVIDENCE)
		return "One profile has nothing to be compared with: open an experiment in view 2.";
	return "There are no samples of complete blocks here.";
}

static void draw_view(struct tui *t, struct view *v, struct area a)
{
	v->body = a;
	if (!tui_needs_met(t, view_rows[t->current].needs))
		frame_hint(t, a, lacks(t));
	else if (v->ops->draw)
		v->ops->draw(t, v, a);
	else
		grid_draw(t, v, a);
}

void frame_draw(struct tui *t, struct view *v)
{
	struct screen *s = &t->screen;
	struct area a = { .x = s->cols >= SMALL_COLS, .cols = s->cols };
	unsigned bottom = s->rows;
	bool asked = t->prompt.kind != PROMPT_NONE;

	screen_begin(s);
	screen_cursor(s, -1, 0);
	if (s->rows >= ROWS_BAR) {
		draw_bar(t);
		a.y++;
	}
	if (s->rows >= ROWS_TITLE)
		draw_title(t, a.y++);
	if (s->rows >= ROWS_FORMULA && shows_profile(t->current) && tui_needs_met(t, NEEDS_PROFILE))
		draw_formula(t, a.y++);
	if (s->rows >= ROWS_FOOTER)
		draw_footer(t, --bottom);
	if (s->rows >= ROWS_STATUS || asked || t->message[0])
		bottom -= draw_status(t, v, bottom);
	a.cols -= 2 * a.x;
	a.rows = bottom > a.y ? bottom - a.y : 0;
	if (a.rows && a.cols)
		draw_view(t, v, a);
	if (t->prompt.kind == PROMPT_SEARCH)
		draw_status(t, v, s->rows >= ROWS_FOOTER ? s->rows - 1 : s->rows);
	screen_flush(s);
}
