/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scaffold: the files of a new patch case, from the templates that come with
 * kab (patches/template, kmod/template). As made, the case builds, loads and
 * passes its checks: both variants are one and the same harmless function.
 */
#ifndef KAB_PATCHES_SCAFFOLD_H
#define KAB_PATCHES_SCAFFOLD_H

struct err;

struct scaffold {
	char *case_dir, *kmod_dir;
};
void scaffold_release(struct scaffold *s);
/* -EEXIST when there is such a case or module; on failure nothing is left. */
int scaffold_case(const char *name, struct scaffold *s, struct err *err);

#endif
