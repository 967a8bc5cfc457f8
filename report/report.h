/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: writers. Each takes the comparison and the facts beside it and
 * appends text to a buffer; none opens a file, none computes a figure that
 * compare did not.
 */
#ifndef KAB_REPORT_REPORT_H
#define KAB_REPORT_REPORT_H

#include "base/buf.h"
#include "profile/compare.h"

struct err;

/* What a writer may use. Everything is borrowed; NULL where unknown. */
struct report_input {
	const struct compare *cmp;
	const struct experiment *exp;
	const struct machine *machine;
	const struct case_facts *facts;
	const struct run *runs; size_t n_runs;
	const char *side_title[SIDES];
	enum norm norm;
	enum measure measure;
};

/* --- one profile, in the styles seen on the lists --- */
struct show_input {
	const struct profile *profile;	/* grouped by comm for "flat" */
	const struct run *run;		/* may be NULL */
	double min_share;		/* per cent below which rows are left out (and counted) */
	unsigned max_depth;		/* 0: no limit */
	const char *from;		/* start the tree at this function; NULL: root */
	unsigned indent;		/* blanks in front of each line */
};
struct show_style {
	const char *name, *help;
	bool by_comm;
	int (*write)(const struct show_input *in, struct buf *out, struct err *err);
};
/* "tree": func(12.345% 45/678) nested, share of parent and counts; "flat": per cent, comm, dso, [k] symbol;
 * "oprofile": samples, per cent, symbol; "folded": a;b;c count. Ends with a NULL name. */
extern const struct show_style show_styles[];

/* --- comparisons as text: "table", "tree", "lkp", "benchstat" --- */
struct compare_style {
	const char *name, *help;
	int (*write)(const struct report_input *in, struct buf *out, struct err *err);
};
extern const struct compare_style compare_styles[];

/* --- whole reports: one row a format --- */
struct report_format {
	const char *name, *help, *suffix;
	int (*write)(const struct report_input *in, struct buf *out, struct err *err);
};
extern const struct report_format report_formats[];	/* "mail", "json", "folded", "difffolded", "csv" */

/* A few lines for the end of `kab run`: per metric before, after, difference, interval, n, verdict. */
void report_summary(const struct report_input *in, struct buf *out);
/* Names are escaped; JSON carries unit, n and interval with each figure. */
void report_json(const struct report_input *in, struct buf *out);

#endif
