/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt: what the lab asks of Debian's package tools. Nothing is installed: a kernel
 * would rebuild the machine's initramfs and boot loader, and the headers of some
 * kernels depend on their kernel.
 */
#ifndef KAB_LAB_APT_H
#define KAB_LAB_APT_H

#include <stdint.h>

#include "lab/lab.h"

/* -ENOENT with what a user of another distribution can do. */
int apt_present(struct err *err);
/* What the package's candidate depends on behind `prefix`; the caller frees. NULL: unknown package. */
char *apt_depends(const char *package, const char *prefix);
uint64_t apt_size(const char *package);		/* bytes to download, 0 when unknown */
/* Needs root, or a sudo that asks nothing: else -EPERM with a sentence. */
int apt_update(const struct lab_opts *o, struct err *err);
/* Whether that can work at all. */
bool apt_root(void);
/* Downloads a package's file into `dir`, with progress. */
int apt_download(const struct lab_opts *o, const char *package, const char *dir, struct err *err);
/*
 * Unpacks members, named by patterns of which each must match, of the package in `from`;
 * what newer packages have in ./usr goes to the place that older ones have it in.
 */
int apt_unpack(const struct lab_opts *o, const char *from, const char *to, const char *const *members,
	       struct err *err);

#endif
