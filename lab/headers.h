/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * headers: what modules for a kernel of the lab are built against.
 */
#ifndef KAB_LAB_HEADERS_H
#define KAB_LAB_HEADERS_H

struct err;
struct lab_opts;

/* Brings the headers of a release, whose kernel is in the cache `dir`, for cache_headers() to find. */
int headers_fetch(const struct lab_opts *o, const char *dir, const char *release, struct err *err);

/*
 * The text of a headers folder's Makefile, with other headers folders named relative to it instead of below
 * /usr/src. The caller frees.
 */
char *headers_makefile(const char *text);

#endif
