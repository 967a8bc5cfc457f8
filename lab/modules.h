/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules: the few kernel modules a guest needs, found in a lib/modules/RELEASE
 * folder, unpacked into memory and put in the order they have to be loaded in.
 */
#ifndef KAB_LAB_MODULES_H
#define KAB_LAB_MODULES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"

struct err;

struct module {
	char *name;		/* as lsmod has it: "virtio_pci" */
	char *depends;		/* names of what it needs itself, "a b ": each followed by a blank */
	struct buf ko;
	bool at_boot;		/* loaded by the guest's init; the others wait for a modprobe */
};

struct modules { VEC(struct module) list; };	/* what is needed comes before what needs it */

/*
 * What every guest wants of the folder. Something that is built into the kernel, or
 * optional and absent, is left out. `dir` NULL: nothing is loaded, all is built in.
 */
int modules_load(const char *dir, struct modules *m, struct err *err);
void modules_release(struct modules *m);
/* Whether the module itself needs the one of this name. */
bool module_needs(const struct module *m, const char *name);

/* "drivers/char/virtio-console.ko.xz" -> "virtio_console"; false for what is no module. */
bool module_name(const char *path, char *name, size_t size);

#endif
