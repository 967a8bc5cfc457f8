/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module: what a built kernel module (.ko) says of itself, read with libelf. */
#ifndef KAB_PATCHES_MODULE_H
#define KAB_PATCHES_MODULE_H

#include <stddef.h>

struct err;

struct module_names { char **v; size_t n; };

struct module_info {
	char *release;			/* the kernel it was built for, of "vermagic"; NULL: it says nothing */
	struct module_names imports;	/* unexported functions it looks up: KAB_IMPORT() */
	struct module_names replaces;	/* functions it routes: KAB_ROUTER() */
	struct module_names undefined;	/* exported symbols it needs */
};

int module_info_read(const char *path, struct module_info *m, struct err *err);
void module_info_release(struct module_info *m);

#endif
