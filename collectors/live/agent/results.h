/* SPDX-License-Identifier: GPL-2.0-or-later */
/* results: what a workload says of itself through $KAB_RESULT_FD (HACKING.md has the lines). Pure. */
#ifndef KAB_AGENT_RESULTS_H
#define KAB_AGENT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULTS_METRICS 32
struct metric { char name[48], unit[16]; double value; };
struct results {
	bool reported;			/* there was a valid `ops` line */
	double ops;			/* 1 when not reported */
	bool has_wall, has_user, has_sys;
	uint64_t wall_ns, user_ns, sys_ns;
	struct metric metrics[RESULTS_METRICS];
	size_t n_metrics;
	unsigned bad_lines;		/* not understood */
};
/* `text` is hostile: what is not understood counts as a bad line, and the rest still holds. */
void results_parse(const char *text, size_t len, struct results *r);

#endif
