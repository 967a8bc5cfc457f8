/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * release: the names Debian and the kernel give to a kernel. Pure text.
 *
 *	line	"6.1"				what a user asks for
 *	release	"6.1.0-57-amd64"		what uname -r says, and part of every package name
 *	meta	"linux-image-6.12-amd64"	the package that depends on the current release of a line
 */
#ifndef KAB_LAB_RELEASE_H
#define KAB_LAB_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELEASE_MAX 128		/* bytes, without the NUL; the kernel's own limit is 64 */

/* Releases become parts of paths and of package names: letters, digits and .+~_- only, a digit first. */
bool release_valid(const char *s, size_t len);
/* "6.1", "6.12": two numbers and nothing else. */
bool release_line_valid(const char *line);
/* The line of a release; the caller frees. NULL when it has none. */
char *release_line(const char *release);
/* Whether the release is one of that line: "6.12.1" is not of "6.1". */
bool release_on_line(const char *release, const char *line);

/*
 * From what `apt-cache show` prints, of its first package: the release behind `prefix`
 * ("linux-image-") in Depends, or NULL; the caller frees.
 */
char *release_from_depends(const char *show, const char *prefix);
/* The Size field, bytes to download; 0 when there is none. */
uint64_t release_package_size(const char *show);

#endif
