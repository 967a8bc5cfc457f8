// SPDX-License-Identifier: GPL-2.0-or-later
/* flame_paint: see flame_paint.h. */
#include "tui/flame_paint.h"

#define E CELL_EIGHTHS

/* A frame's first column: its left edge. */
static void left_edge(struct flame_pen *p, unsigned y, unsigned x, unsigned eighth, bool neighbour,
		      struct ink ink)
{
	short left = neighbour ? p->colour : INK_DEFAULT;

	/* Two frames of one colour, or an edge on the column's border: a thin dark line parts them. */
	if (neighbour && (eighth == 0 || left == ink.bg))
		screen_words(p->screen, y, x, 1, (struct ink){ 16 % p->screen->colours, ink.bg, 0 }, "▏");
	else
		screen_part(p->screen, y, x, eighth, left, ink.bg);
}

static void paint_fine(struct flame_pen *p, const struct cell *c, unsigned y, bool same_row, struct ink ink,
		       const char *label)
{
	unsigned end = c->x + c->w, first = c->x / E, last = end / E, x0 = p->area.x;
	bool neighbour = same_row && p->end > first * E - (c->x % E == 0 && first);

	/* Within one column there is nothing to see. */
	if (first == last)
		return;
	left_edge(p, y, x0 + first, c->x % E, neighbour, ink);
	if (last > first + 1)
		screen_text(p->screen, y, x0 + first + 1, last - first - 1, ink,
			    last > first + 2 ? label : "");
	if (end % E)
		screen_part(p->screen, y, x0 + last, end % E, ink.bg, INK_DEFAULT);
	p->end = end;
	p->colour = ink.bg;
}

static void paint_rounded(struct flame_pen *p, const struct cell *c, unsigned y, struct ink ink,
			  const char *label)
{
	unsigned x = (c->x + E / 2) / E, end = (c->x + c->w + E / 2) / E;

	if (end <= x)
		return;
	screen_text(p->screen, y, p->area.x + x, end - x, ink, "");
	screen_words(p->screen, y, p->area.x + x, 1, ink, "|");
	if (end - x > 2)
		screen_words(p->screen, y, p->area.x + x + 1, end - x - 1, ink, label);
	/* Without colours a frame ends at the bar behind it; the next frame may paint its own there. */
	if (!p->screen->colours && end < p->area.cols)
		screen_words(p->screen, y, p->area.x + end, 1, palette_style(STYLE_TEXT, 0), "|");
}

void flame_paint(struct flame_pen *p, const struct cell *c, unsigned row, struct ink ink,
		 const char *label)
{
	bool same_row = p->used && p->row == row;

	if (!same_row)
		p->end = 0;
	if (p->screen->utf8 && p->screen->colours)
		paint_fine(p, c, p->area.y + row, same_row, ink, label);
	else
		paint_rounded(p, c, p->area.y + row, ink, label);
	p->row = row;
	p->used = true;
}
