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
#include <stdint.h>

struct err;

/* How to wait for a transition. NULL in a call below: sleep, say nothing, the usual patience. */
struct module_wait {
	bool (*pause)(void *ctx);	/* between two looks; sleeps about 20 ms. False: give up */
	void (*say)(void *ctx, const char *line);	/* who holds up a transition that lasts */
	void *ctx;
	unsigned patience_s;		/* then the transition is reversed; 0: the usual */
};

/* Added to, not set: a switch may be an unload, a load and a write. */
struct module_took {
	uint64_t call_ns, transition_ns;	/* see ModuleResult in wire.proto */
};

/* Whether the text can be the name of a module: it becomes part of paths in /sys. */
bool module_name_ok(const char *name);
bool module_loaded(const char *name);
bool module_enabled(const char *name);	/* loaded, and routing calls */
/* One of kab's, whoever loaded it: kab_..., with a parameter `variant`. */
bool module_is_kab(const char *name);
/* The value of its `variant`, "" when it cannot be read. */
void module_variant_now(const char *name, char *value, size_t size);

/* finit_module with these parameters, then the transition. On failure nothing is loaded, unless the sentence
 * says so. */
int module_load(const char *name, const void *ko, size_t len, const char *params,
		const struct module_wait *w, struct module_took *t,
		struct err *err);
/* Writes the `variant` parameter: "before" or "after". */
int module_variant(const char *name, const char *variant, struct module_took *t, struct err *err);
/* Disables the livepatch: the running kernel is native again. The module stays loaded. */
int module_disable(const char *name, const struct module_wait *w, struct module_took *t, struct err *err);
/* Disables where that is needed, and unloads. Absent is fine. */
int module_remove(const char *name, const struct module_wait *w, struct module_took *t, struct err *err);

#endif
