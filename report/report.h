/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: writers. Each takes the comparison and the facts beside it and
 * appends text to a buffer; none opens a file, none computes a figure that
 * compare did not.
 */
#ifndef KAB_REPORT_REPORT_H
#define KAB_REPORT_REPORT_H

#include "base/buf.h"
#include "profile/across.h"
#include "profile/compare.h"
#include "profile/counted.h"
#include "profile/environment.h"
#include "profile/experiment.h"

struct err;

/*
 * What a writer may use. Everything is borrowed; NULL where unknown, except cmp.
 * Of the machine's facts the mail reads "lab.accel" ("kvm", "tcg", "tcg,icount"),
 * and it lists them all.
 */
struct report_input {
	const struct compare *cmp;
	const struct counted *counted;		/* counters and distributions of the blocks */
	const struct environment *environment;
	const struct experiment *exp;
	const struct machine *machine;
	const struct case_facts *facts;
	const struct run *runs; size_t n_runs;
	const char *side_title[SIDES];
	enum norm norm;
	enum measure measure;
	const struct across *across;	/* the same case on several machines, this one among them; NULL: only here */
};

/* --- one profile, in the styles seen on the lists --- */
struct show_input {
	const struct profile *profile;	/* grouped by comm for "flat"; else that column is left out */
	const struct run *run;		/* may be NULL */
	double min_share;		/* per cent of the profile; rows below are left out and counted */
	unsigned max_depth;		/* "tree": levels shown, the first line is one; 0: no limit */
	size_t max_rows;		/* "flat", "oprofile"; 0: no limit */
	const char *from;		/* "tree" starts at this function, all calls of it taken together */
	unsigned indent;		/* blanks in front of each line */
	unsigned width;			/* cells a line; names that do not fit are cut. 0: no limit */
	bool ascii;			/* everything above 0x7e escaped, for mails */
};
struct show_style {
	const char *name, *help;
	bool by_comm;
	int (*write)(const struct show_input *in, struct buf *out, struct err *err);
};
/* "tree": func(12.345% 45/678) nested, share of parent and counts; "flat": per cent, comm, dso, [k] symbol;
 * "oprofile": samples, per cent, symbol; "folded": a;b;c count, always whole. Ends with a NULL name. */
extern const struct show_style show_styles[];

/* What was counted in one block or recording, its distributions, and `records`, the first of its tracepoints. */
void show_counted(const struct counted *c, const char *records, struct buf *out);

/* --- comparisons as text: "table", "tree", "lkp", "benchstat" --- */
struct compare_style {
	const char *name, *help;
	int (*write)(const struct report_input *in, struct buf *out, struct err *err);
};
extern const struct compare_style compare_styles[];	/* ends with a NULL name */

/* --- whole reports: one row a format; ends with a NULL name --- */
struct report_format {
	const char *name, *help, *suffix;
	int (*write)(const struct report_input *in, struct buf *out, struct err *err);
};
extern const struct report_format report_formats[];	/* "mail", "json", "folded", "difffolded", "csv" */

/* A few lines for the end of `kab run`: per metric before, after, difference, interval, n, verdict. */
void report_summary(const struct report_input *in, struct buf *out);
/* One case on several machines: a sentence and a table a metric; nothing for one machine. */
void report_across(const struct report_input *in, struct buf *out);
/* Names are escaped; JSON carries unit, n and interval with each figure. The keys: docs/json.md. */
void report_json(const struct report_input *in, struct buf *out);

#endif
