/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout: a diff, a zoom and a width become flame cells. Pure: no terminal here.
 *
 * Positions are in eighths of a terminal cell, so that a painter with block
 * characters can draw edges finer than a cell and one without rounds them.
 */
#ifndef KAB_PROFILE_LAYOUT_H
#define KAB_PROFILE_LAYOUT_H

#include "profile/diff.h"

#define CELL_EIGHTHS 8

/*
 * What a frame's width stands for: its total on one side, or the sum over its
 * subtree of the larger self, or of the absolute difference of self. Summed, so
 * that children never outgrow their parent.
 */
enum width_by { WIDTH_BEFORE, WIDTH_AFTER, WIDTH_MAX, WIDTH_DELTA };

struct layout_opts {
	uint32_t zoom;			/* node that fills the width */
	enum norm norm;
	enum measure measure;
	enum width_by by;
	unsigned width;			/* terminal cells */
	unsigned max_rows;		/* 0: no limit */
	double full;			/* the value that fills `width`; 0: the zoomed node's own. Two graphs
					 * drawn one above the other pass the larger of the two, so that equal
					 * cost is equal width in both. */
};

struct cell {
	uint32_t node;			/* NODE_NONE: `hidden` frames too narrow for a cell of their own */
	uint32_t parent;		/* node above it */
	unsigned row;			/* 0 is the zoomed node */
	unsigned x, w;			/* eighths; w >= CELL_EIGHTHS, in gathered cells any, 0 too */
	unsigned hidden;		/* frames gathered here, with all below them */
};

struct layout {
	struct cell *cells;		/* row by row, left to right */
	size_t n;
	unsigned rows;			/* in use */
	size_t hidden;			/* frames below one cell, in all */
	size_t below;			/* frames below the last row that max_rows allows */
	double hidden_share;		/* per cent of the zoomed node's value */
};

/*
 * Children stand side by side in the diff's own order, in both graphs alike.
 * Iterative: any depth. Frames without a value (a new frame in the before graph)
 * are not part of the graph; all others are shown, hidden or below. `out` is
 * overwritten; layout_release() frees it.
 */
void layout_build(const struct diff *d, const struct layout_opts *opts, struct layout *out);
/* The zoomed node's value, for opts->full; width, rows and full are not looked at. */
double layout_value(const struct diff *d, const struct layout_opts *opts);
void layout_release(struct layout *l);
/* The cell at (row, column in eighths), or NULL. */
const struct cell *layout_at(const struct layout *l, unsigned row, unsigned x);

#endif
