/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table: columns of text, aligned by terminal cells.
 *
 *	static const struct table_col cols[] = { { "function", TABLE_FLEX }, { "self", TABLE_RIGHT } };
 *	struct table t;
 *
 *	table_init(&t, cols, 2);
 *	table_cell(&t, "%s", name);	// row by row, left to right
 *	table_cell(&t, "%.1f", self);
 *	table_write(&t, 4, 72, out);
 *	table_release(&t);
 */
#ifndef KAB_REPORT_TABLE_H
#define KAB_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct buf;

enum table_flag {
	TABLE_RIGHT = 1,	/* flush right, as figures are */
	TABLE_FLEX = 2,		/* gives way when the line would be too long: cut with ~ */
	TABLE_TIGHT = 4,	/* one blank in front instead of two */
};

struct table_col {
	const char *head;	/* borrowed; a row of heads is written unless all are NULL */
	unsigned flags;
};

struct table {
	const struct table_col *cols;	/* borrowed */
	size_t n_cols;
	VEC(char *) cells;		/* row after row */
};

void table_init(struct table *t, const struct table_col *cols, size_t n);
void table_release(struct table *t);
/* The next cell. Text from elsewhere must be escaped already. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next cell from a buffer, which is empty afterwards. */
void table_take(struct table *t, struct buf *cell);
/*
 * Writes all rows, `indent` blanks in front, no blanks at line ends, at most
 * `width` cells a line (0: no limit) as long as the columns that do not give
 * way leave room for one cell of those that do.
 */
void table_write(const struct table *t, unsigned indent, unsigned width, struct buf *out);

#endif
