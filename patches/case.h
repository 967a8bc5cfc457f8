/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * case: the catalogue of patch cases, and the building of their parts.
 *
 * patches/NAME/case.yaml is read with libcyaml against a schema; its facts are
 * `struct case_facts`, what kab needs to run it is here.
 */
#ifndef KAB_PATCHES_CASE_H
#define KAB_PATCHES_CASE_H

#include <stdbool.h>

#include "profile/experiment.h"
#include "profile/profile.h"

struct err;
struct buf;

/* The patch applies only where the kernel has this symbol, or has it not. */
struct requirement { char *symbol, *because; bool absent; };

/* A function that the patch changes and the module cannot replace: it replaces one of the callers, nearest first. */
struct patched_function {
	char *name;
	char **callers; size_t n_callers;
	char *before, *after;		/* functions of the module that are its bodies; NULL: inside the caller's */
};

/* How the outputs of `check` must agree: to the byte, or as sets of lines, for attributes whose order may differ. */
enum equality { EQUAL_BYTES, EQUAL_LINES };

/* A program or data file of this machine that the workload needs on the target; a program's shared libraries
 * go with it. */
struct carried_file {
	char *path;			/* absolute, or the name of a program that is looked for in PATH */
	char *package;			/* of Debian, which has it */
};

struct case_param {
	char *name, *help;
};

struct patch_case {
	struct case_facts facts;
	char *dir;			/* patches/NAME, NULL when parsed from text */
	char *kmod_dir;			/* kmod/MODULE_FOLDER */
	char *workload_source;		/* file in dir, compiled for the target: statically, unless it has libs */
	char **workload_args; size_t n_workload_args;	/* "{ops}" becomes the operations of a block */
	char **workload_libs; size_t n_workload_libs;	/* linked to it; build.c knows those there are */
	unsigned ops_per_block;		/* default: a block of a few tenths of a second */
	unsigned lab_ops_per_block;	/* the same on the lab; 0: no different */
	struct carried_file *carried; size_t n_carried;
	struct case_param *params; size_t n_params;	/* parameters of the module that a run may set */
	/* Commands for sh -c on the target, see case_expand(): run once before anything; and those whose output
	 * must be equal under native, before and after. */
	char **setup;	size_t n_setup;
	char **check;	size_t n_check;
	enum equality equal;
	struct requirement *requires;	size_t n_requires;
	struct patched_function *patched; size_t n_patched;
};

void case_release(struct patch_case *c);
/* From a folder name in the catalogue (checked: no slash); or from the text stored in a session file. */
int case_load(const char *name, struct patch_case *c, struct err *err);
int case_parse(const char *yaml, size_t len, const char *origin, struct patch_case *c, struct err *err);
/* Names in the catalogue, sorted; the caller frees. */
int case_names(char ***names, size_t *n, struct err *err);
/* Text of the case file, as stored with an experiment. */
int case_text(const char *name, struct buf *out, struct err *err);
/* Whether the release ("6.1.0-57-amd64") is of a kernel line that the case is for. */
bool case_for_kernel(const struct patch_case *c, const char *release);
/* Operations of a block on `target` when the user did not say how many. */
unsigned case_ops(const struct patch_case *c, const char *target);
/*
 * An argument or command with {ops}, {workload} (the path of the case's program on the target) and {dir} (its
 * folder) replaced; the latter two stay as they are while `workload` is NULL. The caller frees.
 */
char *case_expand(const char *text, unsigned ops, const char *workload);
/* Renames for profiles: both bodies stand under the function they are of. Borrowed from c; free the array. */
struct alias *case_aliases(const struct patch_case *c, size_t *n);
/* "NAME=VALUE" strings, NULL at the end (NULL: none), checked and appended as the parameters of the module. */
int case_params(const struct patch_case *c, const char *const *given, struct buf *out, struct err *err);

/* --- building --- */

struct case_build {
	char *module;			/* path of the .ko */
	char *workload;			/* path of the static program */
};
void case_build_release(struct case_build *b);
/*
 * Builds module (against `kernel_build`, a headers folder) and workload in the cache, keyed by a digest of
 * the sources, the release and the compiler; a second call with nothing changed costs nothing. On failure
 * the sentence carries the compiler's first error. `kernel_build` NULL: workload only.
 */
int case_build(const struct patch_case *c, const char *release, const char *kernel_build,
	       bool (*stop)(void *ctx), void *ctx, struct case_build *b, struct err *err);

/* For a module that is built on another machine: its sources, laid out in the folder `to` as here in kmod/,
 * and the sentence of a build that failed there in `dir`. */
int case_module_sources(const struct patch_case *c, const char *to, struct err *err);
int case_build_failed(const struct patch_case *c, const char *log, const char *dir, struct err *err);

#endif
