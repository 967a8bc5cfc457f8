/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fs: where kab's files are, and the few file operations that every room needs.
 * Every returned path is the caller's to free.
 */
#ifndef KAB_BASE_FS_H
#define KAB_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* $XDG_CACHE_HOME/kab (or ~/.cache/kab) plus "/sub"; created with its parents, mode 0755. */
char *fs_cache_dir(const char *sub, struct err *err);
/* $XDG_DATA_HOME/kab/NAME (or ~/.local/share/kab/NAME); its folder is created, the file is not. */
char *fs_data_file(const char *name, struct err *err);
/* $XDG_CONFIG_HOME/kab/NAME (or ~/.config/kab/NAME); nothing is created. */
char *fs_config_file(const char *name);

/*
 * Files that come with kab: "patches", "kmod". Installed they are in
 * PREFIX/share/kab, in a source tree (kab run in place) at its top, one or two
 * folders above the program; $KAB_DATA overrides. NULL with a sentence when it is in neither place.
 */
char *fs_shipped(const char *name, struct err *err);
/* Programs that come with kab ("kab-agent"): beside kab, in its build folder, or in PREFIX/libexec/kab. */
char *fs_program(const char *name, struct err *err);

int fs_mkdirs(const char *path, struct err *err);	/* mkdir -p */
int fs_remove(const char *path, struct err *err);	/* rm -rf, never follows a link; absent is fine */
bool fs_exists(const char *path);
/* Writes atomically: a temporary name in the same folder, then rename. */
int fs_write(const char *path, const void *data, size_t len, struct err *err);
int fs_copy(const char *from, const char *to, struct err *err);	/* one file; keeps the mode */
/* FNV-1a, 64 bit, of a file of at most `limit` bytes: tells one text from another where nobody attacks. */
int fs_digest(const char *path, size_t limit, uint64_t *digest, struct err *err);
/* A new private folder under $TMPDIR (or /tmp): "kab-WHAT.XXXXXX". */
char *fs_tmpdir(const char *what, struct err *err);

#endif
