// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * palette: see palette.h. The 256-colour numbers are those of the xterm cube,
 * chosen to be read on dark and on light backgrounds; the small palettes use
 * the eight ANSI colours.
 */
#include "tui/palette.h"

#include <math.h>

#define D INK_DEFAULT

struct style_row {
	struct ink many, few, none;	/* 256 colours; 8 or 16; none */
};

static const struct style_row styles[STYLES] = {
	[STYLE_TEXT]	= { { D, D, 0 },		{ D, D, 0 },		{ D, D, 0 } },
	[STYLE_DIM]	= { { 244, D, 0 },		{ D, D, 0 },		{ D, D, 0 } },
	[STYLE_TITLE]	= { { D, D, INK_BOLD },		{ D, D, INK_BOLD },	{ D, D, INK_BOLD } },
	[STYLE_BAR]	= { { 250, 236, 0 },		{ 7, 4, 0 },		{ D, D, INK_REVERSE } },
	[STYLE_BAR_ON]	= { { 231, 24, INK_BOLD },	{ 7, 0, INK_BOLD },	{ D, D, INK_BOLD } },
	[STYLE_COLUMN]	= { { 244, D, INK_UNDERLINE },	{ D, D, INK_UNDERLINE }, { D, D, INK_UNDERLINE } },
	[STYLE_LESS]	= { { 33, D, 0 },		{ 6, D, 0 },		{ D, D, 0 } },
	[STYLE_MORE]	= { { 172, D, 0 },		{ 3, D, 0 },		{ D, D, 0 } },
	[STYLE_KEY]	= { { D, D, INK_BOLD },		{ D, D, INK_BOLD },	{ D, D, INK_BOLD } },
	[STYLE_MATCH]	= { { 16, 220, 0 },	{ 0, 3, 0 },	{ D, D, INK_BOLD | INK_UNDERLINE } },
	[STYLE_WARN]	= { { 172, D, 0 },		{ 3, D, 0 },		{ D, D, INK_BOLD } },
	[STYLE_ERROR]	= { { 231, 130, INK_BOLD }, { 0, 3, 0 },	{ D, D, INK_BOLD | INK_REVERSE } },
};

struct ink palette_style(enum style s, int colours)
{
	return colours >= 256 ? styles[s].many : colours >= 8 ? styles[s].few : styles[s].none;
}

struct ink palette_selected(struct ink ink, int colours)
{
	if (colours < 256)
		return (struct ink){ D, D, INK_REVERSE };
	/* The figures keep their colour in a lighter tone; the rest is white on blue. */
	ink.fg = ink.fg == 33 ? 117 : ink.fg == 172 ? 215 : 231;
	ink.bg = 24;
	return ink;
}

#define TONES 10

static const short tones[FRAME_KINDS][TONES] = {
	[FRAME_KERNEL]	= { 180, 137, 179, 173, 222, 144, 216, 143, 215, 186 },
	[FRAME_MODULE]	= { 74, 110, 67, 117, 68, 109, 73, 111, 116, 75 },
	[FRAME_USER]	= { 145, 152, 188, 146, 182, 151, 139, 187, 103, 189 },
	[FRAME_MARK]	= { 248, 248, 248, 248, 248, 248, 248, 248, 248, 248 },
};
static const short few_tones[FRAME_KINDS] = {
	[FRAME_KERNEL] = 3, [FRAME_MODULE] = 6, [FRAME_USER] = 5, [FRAME_MARK] = 7,
};

struct ink palette_function(enum frame_kind kind, uint32_t hash, int colours)
{
	if (colours >= 256)
		return (struct ink){ 16, tones[kind][hash % TONES], 0 };
	if (colours >= 8)
		return (struct ink){ 0, few_tones[kind], 0 };
	return (struct ink){ D, D, 0 };
}

struct ink palette_rest(int colours)
{
	return colours >= 256 ? (struct ink){ 250, 240, 0 } : colours >= 8 ? (struct ink){ 0, 7, 0 } :
		(struct ink){ D, D, INK_DIM };
}

struct ink palette_marked(struct ink ink, enum flame_mark mark, int colours)
{
	switch (mark) {
	case MARK_SELECTED:
		return colours >= 256 ? (struct ink){ 231, 25, INK_BOLD } :
			colours >= 8 ? (struct ink){ 7, 4, INK_BOLD } : (struct ink){ D, D, INK_REVERSE };
	case MARK_FOUND:
		return palette_style(STYLE_MATCH, colours);
	case MARK_OTHER:
		return colours >= 256 ? (struct ink){ 248, 238, 0 } :
			colours >= 8 ? (struct ink){ 0, 7, 0 } : ink;
	default:
		return ink;
	}
}

struct ink palette_change(double change, int colours)
{
	static const short less[] = { 153, 111, 75, 33 }, more[] = { 223, 215, 214, 208 };
	double size = fabs(change);
	unsigned step = size < 0.05 ? 0 : size < 0.2 ? 1 : size < 0.5 ? 2 : 3;

	if (colours < 8)
		return (struct ink){ D, D, 0 };
	if (size < 0.005)
		return (struct ink){ colours >= 256 ? 16 : 0, colours >= 256 ? 250 : 7, 0 };
	if (colours < 256)
		return (struct ink){ 0, change < 0 ? 6 : 3, 0 };
	return (struct ink){ 16, change < 0 ? less[step] : more[step], 0 };
}
