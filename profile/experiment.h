/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * experiment: the plain data that every room above speaks of. No I/O.
 *
 * The store fills these from a session file, jobs fills them from an agent,
 * patches fills `struct case_facts` from a case.yaml; report and tui read them.
 */
#ifndef KAB_PROFILE_EXPERIMENT_H
#define KAB_PROFILE_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variant { VARIANT_NONE, VARIANT_NATIVE, VARIANT_BEFORE, VARIANT_AFTER, VARIANT_COUNT };
const char *variant_name(enum variant v);		/* "none", "native", "before", "after" */
bool variant_parse(const char *name, enum variant *v);

enum run_kind { RUN_BLOCK, RUN_RECORD, RUN_IMPORT };
enum run_state { RUN_RUNNING, RUN_COMPLETE, RUN_INCOMPLETE, RUN_FAILED };
const char *run_state_name(enum run_state s);

/* One block as stored, or one recording, or one imported profile. */
struct run {
	int64_t id;
	int64_t experiment;		/* 0: none (a recording or an import) */
	enum run_kind kind;
	enum run_state state;
	enum variant variant;
	unsigned ordinal;		/* position in the experiment, from 0 */
	bool warmup;			/* ran, is shown, counts for nothing */
	bool sampled;			/* the profiler was on */
	char *label;			/* user's or the file's name; NULL */
	char *command;			/* as typed; NULL when unknown */
	double started;			/* unix time, s */
	uint64_t wall_ns, user_ns, sys_ns; /* what the workload itself measured, else the agent */
	double ops;			/* operations done; 1 when the workload counts none */
	uint64_t samples, lost, bad_stacks; /* kept; dropped by ring or agent; stacks with a damaged part */
	char *event;			/* "cpu-clock", "cycles"; NULL when not sampled */
	uint64_t freq_hz;		/* asked for; 0: fixed period */
	int exit_status;		/* of the workload */
};
void run_release(struct run *r);

enum exp_state { EXP_RUNNING, EXP_COMPLETE, EXP_CANCELLED, EXP_INCOMPLETE, EXP_FAILED };
const char *exp_state_name(enum exp_state s);

/* One before/after comparison. Strings are owned, NULL when unknown. */
struct experiment {
	int64_t id;
	enum exp_state state;
	char *case_name;		/* "net-procfs" */
	char *case_yaml;		/* the case file as it was: a session explains itself elsewhere */
	char *target;			/* "vm", "local", "ssh:HOST" */
	char *command;			/* kab's own command line, to re-run it */
	char *workload;			/* the command that was run in a block */
	char *note;			/* why it failed or what to know, one sentence; NULL */
	char *kernel;			/* uname -r of the target */
	char *kab_version;
	double started, finished;	/* unix time, s; finished 0 while running */
	uint64_t seed;			/* of the block order */
	unsigned blocks_planned;	/* per variant */
	bool exact;			/* instruction clock: -icount, one CPU */
	char *event;			/* sampled event */
	uint64_t freq_hz;
	int64_t machine;		/* row of the machine */
	int64_t group;			/* the first experiment of its group: one case on several machines; 0 when
					 * it is that first one, or alone */
	char *job;			/* job file that runs it again, group and all; NULL when unknown */
};
void experiment_release(struct experiment *e);

/* A named fact about the machine: "cpu.model" = "QEMU TCG CPU version 2.5+". Order is kept. */
struct fact { char *key, *value; };
struct machine {
	int64_t id;
	struct fact *facts;
	size_t n;
};
void machine_release(struct machine *m);
void machine_add(struct machine *m, const char *key, const char *value);
const char *machine_get(const struct machine *m, const char *key);	/* NULL when absent */

/* --- what a patch case says of the patch (case.yaml) --- */

enum direction { LOWER_IS_BETTER, HIGHER_IS_BETTER };

struct claim {
	char *metric;			/* "time per read" */
	char *unit;			/* "s", "us/op", "%" */
	double before, after;		/* NaN where the mail gives only one side */
	enum direction better;
	char *quote;			/* where it stands in the mail, our wording */
};

/* One line of a profile printed in the mail. */
struct claimed_frame {
	char *function, *parent;	/* parent NULL in flat tables */
	double before_share, after_share; /* per cent, as printed; NaN when absent */
	double before_count, after_count; /* samples as printed; NaN when absent */
};

/* A function that the module replaces, and the names its bodies carry in a profile. */
struct replaced_function {
	char *name;			/* kernel symbol: "dev_seq_printf_stats" */
	char *before, *after;		/* symbols in the module */
};

struct case_facts {
	char *name;			/* folder name, "net-procfs" */
	char *title, *date, *author, *message_id, *upstream; /* upstream: what became of it, one sentence */
	char *summary;			/* our words, a few sentences */
	char **files;	size_t n_files;
	char **kernels;	size_t n_kernels;	/* lines it applies to: "6.1" */
	char **notes;	size_t n_notes;		/* known differences from native, cautions */
	struct replaced_function *functions; size_t n_functions;
	struct claim *claims;		size_t n_claims;
	struct claimed_frame *frames;	size_t n_frames;
	char *module;			/* kernel module name, "kab_net_procfs" */
	char *operation;		/* what one operation is: "read of /proc/net/dev" */
	enum variant native;		/* the variant whose code the running kernel's own is; VARIANT_NONE: not said */
	char *style;			/* report style of the mail: "tree", "flat", "oprofile" */
};
void case_facts_release(struct case_facts *c);

#endif
