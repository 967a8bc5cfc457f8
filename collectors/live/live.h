/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live: kab's end of the stream to kab-agent.
 *
 * The agent is the only program that touches the kernel. It speaks
 * length-prefixed protobuf messages (wire.proto) over one byte stream: a pair
 * of pipes to a child (local), a virtio-serial port (vm), a command (ssh). What the
 * agent sends while a workload runs arrives in a `struct live_sink`, in stream
 * order: a thread before its samples, a stack before the samples that name it.
 *
 * Every length and index of the stream is checked: an agent in a guest is an
 * untrusted peer. Calls block, at most until `stop` says true.
 */
#ifndef KAB_COLLECTORS_LIVE_LIVE_H
#define KAB_COLLECTORS_LIVE_LIVE_H

#include <sys/types.h>

#include "base/buf.h"
#include "profile/experiment.h"
#include "profile/probe.h"

struct err;
struct live;

struct live_sample {
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the target */
	uint64_t period;
	uint32_t pid, tid, cpu;
	uint32_t stack;		/* number given by stack(); LIVE_NO_STACK */
	uint32_t event;		/* index into live_block.events */
};
#define LIVE_NO_STACK UINT32_MAX

struct live_trace {		/* a tracepoint's record, as its format lays it out */
	uint64_t time_ns;
	uint32_t pid, tid, cpu;	/* of the task in which it was met */
	const uint8_t *raw;	/* borrowed for the call; some bytes of padding may follow the last field */
	size_t len;		/* at least 2: the first field is the format's id */
};

struct live_map {		/* an executable mapping, PERF_RECORD_MMAP2 or /proc/PID/maps */
	uint32_t pid;
	uint64_t start, len, pgoff;
	const char *path;	/* borrowed for the call */
	char build_id[41];	/* hex, "" when unknown */
};

/* A module symbol resolves only while the module is loaded: the agent sends kallsyms
 * before the first block and again whenever the set of modules has changed. */
/* Any of these may be NULL. A negative value cancels what is running. */
struct live_sink {
	void *ctx;
	int (*kallsyms)(void *ctx, const char *text, size_t len);	/* the whole of /proc/kallsyms */
	int (*thread)(void *ctx, uint32_t pid, uint32_t tid, const char *comm);	/* also on a change of comm */
	int (*exec)(void *ctx, uint32_t pid);		/* the process' maps are void from here */
	int (*fork)(void *ctx, uint32_t parent, uint32_t child);	/* the child has the parent's maps */
	int (*map)(void *ctx, const struct live_map *m);
	/* Leaf first. The first n_kernel addresses are kernel, the rest user. `damaged`: a part of the
	 * chain was not credible and was cut off there. `truncated`: it reached perf_event_max_stack. */
	int (*stack)(void *ctx, uint32_t number, uint32_t pid, const uint64_t *ips, size_t n, size_t n_kernel,
		     bool damaged, bool truncated);
	int (*samples)(void *ctx, const struct live_sample *v, size_t n);
	/* The layout of the records of one tracepoint, before every block that records it. */
	int (*format)(void *ctx, uint32_t id, const char *system, const char *name, const char *text,
		      size_t len);
	int (*trace)(void *ctx, const struct live_trace *v, size_t n);
	int (*vdso)(void *ctx, const void *elf, size_t len);	/* the image behind maps of "[vdso]", once */
	int (*log)(void *ctx, const char *line);	/* the kernel's at warning or worse, or the agent's */
	/* A few times a second in a block that is drained as it runs. */
	int (*tick)(void *ctx, uint64_t elapsed_ns, uint64_t samples, uint64_t lost);
	bool (*stop)(void *ctx);			/* asked often; true: cancel what is running */
};

/*
 * A local agent: `program` as a child, through sudo when `sudo` (it asks for a
 * password on /dev/tty; workloads run as the present user all the same). `sink`
 * is copied.
 */
int live_spawn(const char *program, bool sudo, const struct live_sink *sink, struct live **out,
	       struct err *err);
/*
 * An agent on another machine: `argv` is a command here (ssh) whose stdin and
 * stdout are the agent's there, started with --silence. `host` is what sentences
 * call that machine. The command gets no terminal; when it ends, the agent is lost.
 */
int live_spawn_over(const char *const *argv, const char *host, const struct live_sink *sink, int timeout_ms,
		    struct live **out, struct err *err);
/* Over a descriptor that something else owns the far end of (the lab's port); takes `fd`. */
int live_attach(int fd, const struct live_sink *sink, int timeout_ms, struct live **out, struct err *err);
/* Tells the agent to end, unloads what it loaded, reaps the child. */
void live_close(struct live *l);

/* Facts about the machine the agent is on: kernel, cpu, clock source, perf abilities. */
int live_facts(struct live *l, struct machine *m, struct err *err);
/* Those of them that may change while it runs; takes a few milliseconds there. */
int live_moving(struct live *l, struct machine *m, struct err *err);

/* The module: an ELF object sent over the stream, loaded with finit_module and these parameters ("A=1 B=2", ""). */
int live_module_load(struct live *l, const char *name, const void *ko, size_t len, const char *params,
		     struct err *err);
/* VARIANT_NATIVE: the livepatch is disabled (and may be re-enabled by before/after). */
int live_module_switch(struct live *l, const char *name, enum variant v, struct err *err);
int live_module_unload(struct live *l, const char *name, struct err *err);
/* It stays loaded when the agent ends. A later agent switches and unloads it as if it were its own. */
int live_module_keep(struct live *l, const char *name, struct err *err);
/* How long a livepatch transition may last before it is reversed, from now on; 0: the agent's own idea, 60 s. */
void live_patience(struct live *l, unsigned seconds);
/* What the last load, switch or unload took, succeeded or not. */
struct live_took {
	uint64_t call_ns;	/* finit_module, the write of `variant`, delete_module */
	uint64_t transition_ns;	/* until the livepatch was in force, or out of it, for every task; 0: there was none */
};
struct live_took live_took(const struct live *l);
/* /proc/sys/kernel/tainted there, at the last reply; 0 before any. */
uint64_t live_tainted(const struct live *l);

/* What the kernel there has of these names (256 at most), and which modules of kab's are loaded. */
int live_probe(struct live *l, const char *const *symbols, size_t n, struct probe *p, struct err *err);

/*
 * A file put on the target (the workload), mode 0755, gone when the agent ends. All files of one agent lie in a
 * folder of its own, each by the last part of `path_hint`; by a hint "FOLDER/NAME" in a folder of that.
 */
int live_put(struct live *l, const char *path_hint, const void *data, size_t len, char **remote_path,
	     struct err *err);
/* Runs a command there and returns its stdout (1 MiB at most) and exit status. */
int live_capture(struct live *l, const char *const *argv, struct buf *out, int *exit_status, struct err *err);

struct live_tracepoint {
	const char *system, *name;
	bool everywhere;		/* on every CPU, whoever runs there; else in the workload's tasks */
};

struct live_block {
	const char *const *argv;	/* the workload */
	bool sampled;
	const char *event;		/* NULL: cycles where there is a PMU, cpu-clock where not */
	uint64_t freq_hz;
	bool user_only;			/* no right to sample the kernel: exclude_kernel */
	bool drain_after;		/* exact mode: rings are emptied after the block, not during it */
	bool inherit_output;		/* its stdout/stderr go to ours (kab record), else they are kept */
	/* Sampling clocks of different periods that share the frequency, so that none beats with the workload's
	 * loop. 0, 1: one, as events that are no clock always have. */
	unsigned clocks;
	unsigned ring_kib;		/* of ring per CPU; 0: chosen by the agent */
	const struct live_tracepoint *tracepoints; size_t n_tracepoints;	/* of a sampled block */
	bool counted;			/* counters of the whole block, opened before the exec */
};

struct live_metric { char name[48], unit[16]; double value; };
/* A count of the whole block. `running`: share of the time it was counted in, 0 (and value NaN): not
 * supported; under 1 the value is extrapolated. */
struct live_counter { char name[48], unit[16]; double value, running; };

struct live_result {
	uint64_t wall_ns, user_ns, sys_ns;	/* as the workload reports, else as the agent sees it */
	double ops;				/* 1 when not reported */
	bool reported;				/* the workload spoke the KAB_RESULT_FD protocol */
	uint64_t samples, lost, bad_stacks;
	int exit_status;
	char event[64];				/* in force, "" when not sampled */
	struct live_metric metrics[32]; size_t n_metrics;
	struct live_counter counters[32]; size_t n_counters;
	struct buf output;			/* what the workload printed, 64 KiB at most */
};
void live_result_release(struct live_result *r);
int live_run(struct live *l, const struct live_block *b, struct live_result *r, struct err *err);

#endif
