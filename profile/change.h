/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change: what became of each function and each stack, per operation, with an
 * interval over blocks and false discoveries kept in check over all of them.
 */
#ifndef KAB_PROFILE_CHANGE_H
#define KAB_PROFILE_CHANGE_H

#include "profile/diff.h"

/* One sampled block. Its profile is part of the folded side that the diff was built of. */
struct change_block {
	const struct profile *profile;
	double ops;
	enum side side;
};

/*
 * `blocks`: where `paired`, the i-th block of before and the i-th of after ran side by side. Fills intervals, p,
 * q and `significant` of every row, where both sides have two blocks.
 */
void change_functions(struct diff *d, enum measure m, const struct change_block *blocks, size_t n, bool paired,
		      struct flat_diff_row *rows, size_t n_rows);

/* Of the total of one stack, difference per operation. */
struct stack_change {
	double lo, hi, p, q;		/* NaN where there are too few blocks */
	bool significant;		/* q <= FDR_RATE */
};
/* One for each node of the diff, in its order; the caller frees. NULL where a side has fewer than two blocks. */
struct stack_change *change_stacks(struct diff *d, enum measure m, const struct change_block *blocks, size_t n,
				   bool paired);

#endif
