/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module: kernel modules that hold the two variants of a patch.
 *
 * Most are livepatches: the patched function is replaced from the end of the
 * load's transition on, until the livepatch is disabled. A disabled livepatch
 * cannot be enabled again; it must be unloaded and loaded anew.
 */
#ifndef KAB_AGENT_MODULE_H
#define KAB_AGENT_MODULE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Called between looks at a transition; sleeps about 20 ms. False: give up. NULL below: just sleep. */
struct module_wait {
	bool (*pause)(void *ctx);
	void *ctx;
};

/* Whether the text can be the name of a module: it becomes part of paths in /sys. */
bool module_name_ok(const char *name);
bool module_loaded(const char *name);
bool module_enabled(const char *name);	/* loaded, and routing calls */

/* finit_module, then the transition. On failure nothing is loaded. */
int module_load(const char *name, const void *ko, size_t len, const struct module_wait *w, struct err *err);
/* Writes the `variant` parameter: "before" or "after". */
int module_variant(const char *name, const char *variant, struct err *err);
/* Disables the livepatch: the running kernel is native again. The module stays loaded. */
int module_disable(const char *name, const struct module_wait *w, struct err *err);
/* Disables where that is needed, and unloads. Absent is fine. */
int module_remove(const char *name, const struct module_wait *w, struct err *err);

#endif
