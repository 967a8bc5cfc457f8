/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * carry: programs and data of this machine for a workload on the target.
 *
 * A guest has no C library, and another machine may have another one, so a
 * program takes its dynamic loader and its libraries along. Below the folder
 * that the target keeps for us stand
 *
 *	NAME		a data file or a static program as it is; else a script that starts
 *	run/NAME	the loader, under the program's name since that is what the kernel calls the process, with
 *	lib/...		its libraries and
 *	lib/NAME	the program itself
 *
 * so whoever runs FOLDER/NAME need not know. All of it is remembered for symbols.
 */
#ifndef KAB_JOBS_CARRY_H
#define KAB_JOBS_CARRY_H

#include "patches/case.h"

struct target;

/*
 * Puts the case's workload there, built at the path `workload`, and all files of the case; *remote is how it is
 * called there and the caller's. -ENOENT with the package to install when one is not on this machine.
 */
int carry(struct target *t, const struct patch_case *c, const char *workload, char **remote, struct err *err);

#endif
