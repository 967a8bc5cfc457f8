/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobfile: the settings of an experiment as YAML, to be measured again elsewhere or
 * later: `kab run FILE.yaml`. Strict: a key that is not known is an error. The text
 * is also kept with each experiment. What is absent (NULL, 0) has its usual value.
 */
#ifndef KAB_JOBS_JOBFILE_H
#define KAB_JOBS_JOBFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

#define JOB_FILE_VERSION 1
#define JOB_TARGETS 16		/* machines of one experiment */
#define JOB_PARAMS 16

struct job_file {
	unsigned version;		/* of this format, key "kab-job" */
	char *case_name;
	char **targets; unsigned n_targets;
	unsigned blocks, ops, frequency;
	bool exact, no_counters;
	uint64_t seed;
	char *kernel, *kernel_image, *kernel_build;	/* of the lab */
	char *event;
	char *workload;
	char **params; unsigned n_params;	/* "NAME=VALUE" of the case's module */
};

/* `origin` is what a sentence calls it. *f is the caller's. */
int job_file_parse(const char *yaml, size_t len, const char *origin, struct job_file **f, struct err *err);
int job_file_load(const char *path, struct job_file **f, struct err *err);
void job_file_free(struct job_file *f);
/* Appends the text that parses to the same. */
int job_file_text(const struct job_file *f, struct buf *out, struct err *err);

#endif
