/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beside: what the blocks of an experiment left beside times and samples, loaded into an evidence. */
#ifndef KAB_JOBS_BESIDE_H
#define KAB_JOBS_BESIDE_H

struct err;
struct evidence;
struct store;

/* Two recordings: what was counted in each, one block a side. */
int beside_load_pair(struct store *s, struct evidence *e, struct err *err);
/* Fills counted and environment from the runs; past a limit of the environment cmp gives no verdict. */
int beside_load(struct store *s, struct evidence *e, struct err *err);

#endif
