/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols: addresses of one target become (name, dso, build-id, offset).
 *
 * The kernel and its modules by the target's own kallsyms; user code by ELF
 * symbol tables (libelf), and only by a file whose build-id is the one that was
 * mapped: a file of this machine is never put on addresses of another.
 */
#ifndef KAB_COLLECTORS_SYMBOLS_H
#define KAB_COLLECTORS_SYMBOLS_H

#include "profile/profile.h"

struct err;
struct symboliser;

/* The strings stay until symboliser_free(), also when tables are replaced; raw bytes from outside. */
struct resolved {
	const char *name;	/* as in the table: .isra.0 kept, C++ mangled; "[unknown]" */
	const char *dso;	/* "[kernel.kallsyms]", "[module]", a path (" (deleted)" cut off), "[vdso]",
				 * "[anon]", "[unknown]" */
	const char *build_id;	/* hex: of the mapping, else of the file that was read; "" when unknown */
	enum frame_kind kind;	/* FRAME_MARK: not even the dso is known */
	uint64_t offset;	/* from the symbol's start, else from the file's, else the address */
};

/*
 * `find` maps a path of the target to a file readable here, or NULL (ctx is its
 * first argument; the result is borrowed until the next call). It is asked once
 * a file, at the first address in it. Local: identity. `build_id` is "" when the
 * target did not report one: then the file returned is believed to be the one
 * that was mapped, so a finder for another machine answers only for files that
 * it put there itself. For "[vdso]" it returns "[vdso]" where the target is the
 * kernel we run on.
 */
struct symboliser *symboliser_new(const char *(*find)(void *ctx, const char *path, const char *build_id),
				  void *ctx);
void symboliser_free(struct symboliser *s);

/*
 * Text of /proc/kallsyms. All-zero addresses (kptr_restrict) are -EACCES with a
 * sentence that names the sysctl; user frames still resolve then. Replaces the
 * earlier table; on failure that one stays. Duplicate addresses: perf's
 * preference (not weak, global, fewer underscores, longer).
 */
int symboliser_kallsyms(struct symboliser *s, const char *text, size_t len, struct err *err);
void symboliser_exec(struct symboliser *s, uint32_t pid);
void symboliser_fork(struct symboliser *s, uint32_t parent, uint32_t child);
void symboliser_map(struct symboliser *s, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		    const char *path, const char *build_id);
void symboliser_kernel(struct symboliser *s, uint64_t addr, struct resolved *out);
void symboliser_user(struct symboliser *s, uint32_t pid, uint64_t addr, struct resolved *out);

#endif
