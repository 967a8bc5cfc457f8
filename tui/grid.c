// SPDX-License-Identifier: GPL-2.0-or-later
/* grid: how a view that is a table of columns is drawn; see frame.h and table.h. */
#include <stdio.h>

#include "base/text.h"
#include "tui/frame.h"

#define COLUMNS_MAX 16

static void draw_titles(struct tui *t, const struct view *v, const struct span *spans, struct area a)
{
	struct screen *s = &t->screen;
	char place[32];
	size_t i;
	int n;

	for (i = 0; i < v->ops->n_columns; i++) {
		const char *title = v->ops->columns[i].title;
		unsigned w = spans[i].w, len = (unsigned)text_width(title), pad;

		if (!w)
			continue;
		pad = v->ops->columns[i].right && len < w ? w - len : 0;
		screen_text(s, a.y, a.x + spans[i].x, w, tui_ink(t, STYLE_COLUMN), "");
		screen_words(s, a.y, a.x + spans[i].x + pad, w - pad, tui_ink(t, STYLE_COLUMN), title);
	}
	n = snprintf(place, sizeof(place), " %zu/%zu", v->list.n ? v->list.sel + 1 : 0, v->list.n);
	if (v->list.n > v->list.page && (unsigned)n + 8 < a.cols)
		screen_words(s, a.y, a.x + a.cols - (unsigned)n, (unsigned)n, tui_ink(t, STYLE_DIM), place);
}

static void draw_row(struct tui *t, const struct view *v, const struct span *spans, size_t row, struct area a)
{
	struct screen *s = &t->screen;
	bool selected = row == v->list.sel;
	struct buf text = BUF_INIT;
	size_t i;

	if (selected)
		screen_text(s, a.y, a.x, a.cols, palette_selected(tui_ink(t, STYLE_TEXT), s->colours), "");
	for (i = 0; i < v->ops->n_columns; i++) {
		unsigned w = spans[i].w, len, pad;
		enum style style;
		struct ink ink;

		if (!w)
			continue;
		buf_clear(&text);
		style = v->ops->cell(t, v, row, i, &text);
		if (i == v->ops->grep && tui_matches(t, buf_str(&text)))
			style = STYLE_MATCH;
		ink = tui_ink(t, style);
		if (selected && style != STYLE_MATCH)
			ink = palette_selected(ink, s->colours);
		len = (unsigned)text_width(buf_str(&text));
		pad = v->ops->columns[i].right && len < w ? w - len : 0;
		screen_words(s, a.y, a.x + spans[i].x + pad, w - pad, ink, buf_str(&text));
	}
	buf_release(&text);
}

void grid_draw(struct tui *t, struct view *v, struct area a)
{
	struct column columns[COLUMNS_MAX];
	struct span spans[COLUMNS_MAX];
	unsigned used = 0, i;

	if (v->ops->head && a.rows > 8)
		used = v->ops->head(t, v, a);
	a.y += used;
	a.rows -= used;
	for (i = 0; i < v->ops->n_columns; i++) {
		columns[i] = v->ops->columns[i];
		if (v->ops->shown && !v->ops->shown(t, i))
			columns[i].min = 0;
	}
	columns_fit(columns, v->ops->n_columns, a.cols, spans);
	v->list.page = a.rows > 3 ? a.rows - 1 : a.rows;
	list_settle(&v->list);
	if (a.rows > 3) {
		draw_titles(t, v, spans, a);
		a.y++;
		a.rows--;
	}
	v->body = a;
	if (!v->list.n && v->ops->empty)
		frame_wrap(t, a, STYLE_DIM, v->ops->empty);
	for (i = 0; i < a.rows && v->list.top + i < v->list.n; i++)
		draw_row(t, v, spans, v->list.top + i, (struct area){ a.y + i, a.x, 1, a.cols });
}
