/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs: the small files /sys/DIR/NAME/FILE of modules and livepatches. `name` has passed module_name_ok(). */
#ifndef KAB_AGENT_SYSFS_H
#define KAB_AGENT_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

bool sys_exists(const char *dir, const char *name, const char *file);
int sys_write(const char *dir, const char *name, const char *file, const char *text);	/* 0 or -errno */
int sys_number(const char *dir, const char *name, const char *file);			/* or -errno */
/* The first line, without its end; "" when it cannot be read. */
void sys_line(const char *dir, const char *name, const char *file, char *line, size_t size);

#endif
