/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsyms: the functions of one ELF file by file offset. Internal to symbols.c,
 * and the only place that meets libelf.
 *
 * A file that cannot be read, is damaged, or is another one than was mapped has
 * no table: its addresses then stay without names, which is no failure of what
 * the user asked for, so nothing here takes a struct err.
 */
#ifndef KAB_COLLECTORS_ELFSYMS_H
#define KAB_COLLECTORS_ELFSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFSYMS_DEBUG_DIR "/usr/lib/debug"
#define BUILD_ID_HEX 41		/* 20 bytes in hex and NUL: what perf events carry at most */

struct elfsyms;

/*
 * Reads `file` (NULL: there is none). With a `build_id` it is used only if its
 * own is the same, without one the caller answers for it. Where it has no full
 * symbol table, or could not be used, DEBUG_DIR/.build-id/xx/yyy.debug helps if
 * its build-id is the same. NULL when neither can be used.
 */
struct elfsyms *elfsyms_open(const char *file, const char *build_id, const char *debug_dir);
/* This process' own vdso; NULL where the kernel gives none. */
struct elfsyms *elfsyms_open_vdso(void);
void elfsyms_free(struct elfsyms *e);

const char *elfsyms_build_id(const struct elfsyms *e);	/* "" when it has none; borrowed from e */
uint64_t elfsyms_file_size(const struct elfsyms *e);	/* bytes of the file, or of the vdso's image */
/* *name is borrowed from e; *offset counts from the symbol's start. */
bool elfsyms_find(const struct elfsyms *e, uint64_t file_offset, const char **name, uint64_t *offset);

#endif
