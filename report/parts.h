/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts: the sentences and tables that several writers show, so that summary,
 * table and mail word and round one comparison alike.
 *
 * Prose is one line of printable ASCII without a line end, to be wrapped by
 * para(); it is empty when there is nothing to say.
 */
#ifndef KAB_REPORT_PARTS_H
#define KAB_REPORT_PARTS_H

#include "report/report.h"

/* What one operation is, escaped: "read of /proc/net/dev", else "operation"; the caller frees. */
char *parts_operation(const struct report_input *in);
/* The name of a side, escaped: its title, else "before" or "after"; the caller frees. */
char *parts_side(const struct report_input *in, enum side s);
/* The same as it is. Borrowed. */
const char *parts_title(const struct report_input *in, enum side s);
/* The measure asked for, or COUNT where a side was recorded without periods. */
enum measure parts_measure(const struct report_input *in);
/* Whether the intervals of compare's function rows are of what is shown: cost per operation. */
bool parts_has_intervals(const struct report_input *in);
/* An experiment has interleaved blocks; two recordings or imports have none. */
bool parts_is_experiment(const struct report_input *in);

/* Prose: the first metric with effect, interval, n and method, worded no stronger than its verdict. */
void parts_result(const struct report_input *in, struct buf *out);
/* Prose: what before and after are, where they have names of their own. */
void parts_sides(const struct report_input *in, struct buf *out);
/* Prose: what is missing from the measurement: cancelled, failed, blocks left out. */
void parts_state(const struct report_input *in, struct buf *out);
/*
 * What livepatch and switch add to an operation: the side whose code is the kernel's own, less native. NULL
 * when there is no native arm, or no such side. Borrowed from m.
 */
const struct estimate *parts_routing(const struct report_input *in, const struct metric *m);
/* Prose: the means of the native arm, when there was one, and what the routing costs. */
void parts_native(const struct report_input *in, struct buf *out);
/* Prose: samples of each side, their event and rate, losses and damaged stacks. */
void parts_samples(const struct report_input *in, struct buf *out);
/* Prose: what the columns of parts_metrics() are. */
void parts_metrics_caption(const struct report_input *in, struct buf *out);
/* Prose: what parts_functions() shows, with the formula in force. */
void parts_functions_caption(const struct report_input *in, struct buf *out);

struct parts_opts {
	unsigned indent, width;	/* width 0: no limit */
	bool verdict;		/* parts_metrics: a last column in words */
	bool rank;		/* parts_functions: places by self before and after */
	size_t max_rows;	/* parts_functions; 0: no limit. Rows left out are counted in a last line */
};
/* Before, after, change, interval of every metric; nothing without blocks. */
void parts_metrics(const struct report_input *in, const struct parts_opts *o, struct buf *out);
/* Self of each function before and after, what moved most first. The number of rows there are. */
size_t parts_functions(const struct report_input *in, const struct parts_opts *o, struct buf *out);

/* The verdict of one metric: "faster", "undecided", "too few blocks". Static. */
const char *parts_verdict(const struct metric *m);

#endif
