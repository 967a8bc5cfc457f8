// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run: one before/after experiment from a case's name to its last stored block.
 *
 * The steps are a table, done in order; whatever step fails or is stopped, the
 * way out is one: the workload ends, the module is unloaded, the guest is gone,
 * the experiment is closed with its state. What was measured stays.
 */
#include "jobs/jobs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/version.h"
#include "jobs/carry.h"
#include "jobs/equal.h"
#include "jobs/fault.h"
#include "jobs/keep.h"
#include "jobs/patch.h"
#include "jobs/stage.h"
#include "jobs/target.h"
#include "profile/events.h"

/* Blocks of the unpatched kernel on either side of the comparison: enough for a mean and its spread. */
#define NATIVE_BLOCKS 2
/* Sampling clocks in a block; see dithered(). */
#define CLOCKS 8

struct job {
	struct store *store;
	const struct job_run_opts *o;
	const struct job_watch *w;
	struct err *err;
	struct patch_case pcase;
	struct case_build build;
	struct target target;
	struct machine machine;
	struct experiment exp;
	struct event_list events;	/* what --events asks for */
	struct job_progress progress;
	char **argv;			/* of the workload on the target, NULL at the end */
	struct stage stage;
	struct buf params;		/* of the module */
	bool loaded;
	bool in_block;			/* the workload runs: a fault of the kernel stops it */
	struct fault fault;
	unsigned planned, done;		/* blocks of every kind */
	unsigned ordinal;
	struct { double v[512]; size_t n; } timed[VARIANT_COUNT];	/* wall per operation so far, ns */
	uint64_t last_samples, last_elapsed;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static bool stopped(void *ctx)
{
	struct job *j = ctx;

	return (j->in_block && j->fault.what[0]) || (j->w->stop && j->w->stop(j->w->ctx));
}

static void say(struct job *j)
{
	if (j->w->progress)
		j->w->progress(j->w->ctx, &j->progress);
}

static void lab_progress(void *ctx, const char *what, double done, double total)
{
	struct job *j = ctx;

	if (total > 0)
		snprintf(j->progress.text, sizeof(j->progress.text), "%.180s: %.0f %%", what, 100 * done / total);
	else
		snprintf(j->progress.text, sizeof(j->progress.text), "%.199s", what);
	say(j);
}

/* --- the estimate shown while it runs --- */

static void estimate_so_far(struct job *j)
{
	const typeof(j->timed[0]) *b = &j->timed[VARIANT_BEFORE], *a = &j->timed[VARIANT_AFTER];
	struct estimate e = stats_welch(b->v, b->n, a->v, a->n, 0, LOWER_IS_BETTER);

	j->progress.before_ns = e.before.mean;
	j->progress.after_ns = e.after.mean;
	j->progress.diff_rel = e.rel;
	j->progress.diff_lo = e.rel_lo;
	j->progress.diff_hi = e.rel_hi;
}

static int on_tick(void *ctx, uint64_t elapsed_ns, uint64_t samples, uint64_t lost)
{
	struct job *j = ctx;

	if (elapsed_ns > j->last_elapsed && samples >= j->last_samples)
		j->progress.samples_per_s = (double)(samples - j->last_samples) * 1e9 / (double)(elapsed_ns - j->last_elapsed);
	j->last_elapsed = elapsed_ns;
	j->last_samples = samples;
	j->progress.samples = samples;
	j->progress.lost = lost;
	say(j);
	return 0;
}

/* --- the steps --- */

static int step_find(struct job *j)
{
	struct lab_opts lab = j->o->lab;
	int rc;

	lab.progress = lab_progress;
	lab.stop = stopped;
	lab.ctx = j;
	rc = j->target.kind->find(&j->target, &lab, j->err);
	if (!rc)
		rc = j->target.kind->can_load(&j->target, j->err);
	if (rc)
		return rc;
	if (case_for_kernel(&j->pcase, j->target.kernel.release))
		return 0;
	return err_add(j->err, -ENOTSUP, "The case %s is not for kernel %s; `kab patch check %s` with the same options says "
		       "why, and --kernel chooses another.", j->o->case_name, j->target.kernel.release, j->o->case_name);
}

static int step_build(struct job *j)
{
	struct lab_opts lab = j->o->lab;

	lab.stop = stopped;
	lab.ctx = j;
	return target_build(&j->target, &j->pcase, &lab, &j->build, j->err);
}

static int step_open(struct job *j)
{
	struct lab_opts lab = j->o->lab;
	int rc;

	lab.exact = j->o->exact;
	lab.progress = lab_progress;
	lab.stop = stopped;
	lab.ctx = j;
	rc = j->target.kind->open(&j->target, &lab, true, j->err);
	if (!rc)
		rc = target_facts(&j->target, &j->machine, j->err);
	if (!rc)
		j->fault.tainted = live_tainted(j->target.live);
	return rc;
}

/* The experiment exists from here on, so that a failure below is kept with its reason. */
static int step_begin(struct job *j)
{
	struct buf yaml = BUF_INIT, command = BUF_INIT;
	struct experiment *e = &j->exp;
	int rc = case_text(j->o->case_name, &yaml, j->err);
	size_t i;

	if (!rc)
		rc = store_machine_add(j->store, &j->machine, j->err);
	if (rc)
		goto out;
	buf_printf(&command, "%s/workload", j->o->case_name);
	for (i = 0; i < j->pcase.n_workload_args; i++) {
		char *arg = stage_expand(&j->stage, j->pcase.workload_args[i]);

		buf_printf(&command, " %s", arg);
		free(arg);
	}
	e->state = EXP_RUNNING;
	e->case_name = mem_strdup(j->o->case_name);
	e->case_yaml = buf_detach(&yaml);
	e->target = mem_strdup(j->o->target);
	e->command = mem_strdup(j->o->command);
	e->job = mem_strdup(j->o->job);
	e->group = j->o->group;
	e->workload = j->o->workload ? mem_strdup(j->o->workload) : buf_detach(&command);
	e->kernel = mem_strdup(j->target.kernel.release);
	e->kab_version = mem_strdup(KAB_VERSION);
	e->started = now();
	e->seed = j->o->seed ? j->o->seed : (uint64_t)(e->started * 1e6);
	e->blocks_planned = j->o->blocks;
	e->exact = j->o->exact;
	e->freq_hz = j->o->freq_hz;
	e->event = j->events.sampled[0] ? mem_strdup(j->events.sampled) : NULL;
	e->machine = j->machine.id;
	rc = store_experiment_begin(j->store, e, j->err);
	j->progress.experiment = e->id;
out:
	buf_release(&yaml);
	buf_release(&command);
	return rc;
}

/* Refuses before anything is loaded what would fail, or measure something else, afterwards. */
static int step_preflight(struct job *j)
{
	struct preflight p = { 0 };
	int rc = job_preflight(j->target.live, &j->pcase, j->build.module, NULL, true, &p, j->err);

	if (!rc)
		rc = preflight_verdict(&p, j->o->case_name, j->o->target, j->err);
	preflight_release(&p);
	return rc;
}

static int step_prepare(struct job *j)
{
	int rc = stage_open(&j->stage, j->build.workload, j->err);

	if (!rc)
		rc = stage_setup(&j->stage, j->err);
	if (!rc)
		j->argv = stage_argv(&j->stage, j->o->workload);
	return rc;
}

/* Busy and total time of all CPUs, in ticks, from the first line of /proc/stat (proc(5)). */
static bool cpu_ticks(const char *stat, double *busy, double *total)
{
	unsigned long long v[8] = { 0 };	/* user nice system idle iowait irq softirq steal */
	size_t i;

	if (sscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		   &v[6], &v[7]) < 5)
		return false;
	for (*total = 0, i = 0; i < 8; i++)
		*total += (double)v[i];
	*busy = *total - (double)v[3] - (double)v[4];
	return true;
}

/*
 * A machine that has just booted works on for some seconds: waits until half a
 * second passes with at most 3 % of it busy. One that never comes to rest is
 * measured all the same, and said to be busy.
 */
static int step_settle(struct job *j)
{
	static const char command[] = "head -n1 /proc/stat; sleep 0.5; head -n1 /proc/stat";
	double busy[2], total[2], share = 0;
	struct buf out = BUF_INIT;
	int rc = 0, tries;

	for (tries = 0; !rc && tries < 30; tries++) {
		const char *second;

		if (stopped(j))
			rc = err_add(j->err, -ECANCELED, "Stopped.");
		buf_clear(&out);
		rc = rc ? rc : stage_shell(&j->stage, command, &out, j->err);
		second = rc ? NULL : strchr(buf_str(&out), '\n');
		if (!second || !cpu_ticks(buf_str(&out), &busy[0], &total[0]) ||
		    !cpu_ticks(second + 1, &busy[1], &total[1]) || total[1] <= total[0])
			break;
		share = (busy[1] - busy[0]) / (total[1] - total[0]);
		if (share <= 0.03)
			break;
	}
	if (!rc && share > 0.03)
		j->exp.note = mem_printf("The target's CPUs were %.0f %% busy before the measurement began.", 100 * share);
	buf_release(&out);
	return rc;
}

static int step_load(struct job *j)
{
	struct buf ko = BUF_INIT;
	int rc = buf_read_file(&ko, j->build.module, 64 << 20, j->err);

	if (!rc)
		rc = live_module_load(j->target.live, j->pcase.facts.module, ko.data, ko.len, buf_str(&j->params),
				      j->err);
	j->loaded = !rc;
	buf_release(&ko);
	return rc;
}

/*
 * Native is the kernel before the module is loaded, or with its livepatch
 * disabled. `when`: see equal_judge().
 */
static int gate(struct job *j, const char *when)
{
	static const enum variant order[] = { VARIANT_NATIVE, VARIANT_BEFORE, VARIANT_AFTER };
	struct buf *out[VARIANT_COUNT] = { NULL };
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < 3; i++) {
		if (!j->loaded && order[i] != VARIANT_NATIVE)
			rc = step_load(j);
		if (!rc && j->loaded)
			rc = live_module_switch(j->target.live, j->pcase.facts.module, order[i], j->err);
		if (!rc)
			rc = stage_outputs(&j->stage, &out[order[i]], j->err);
	}
	if (!rc)
		rc = equal_judge(&j->pcase, out, when, j->err);
	for (i = 0; i < 3; i++)
		stage_outputs_free(&j->stage, out[order[i]]);
	return rc;
}

static int step_check(struct job *j)
{
	return gate(j, "so nothing was timed: mend the module");
}

static int step_check_again(struct job *j)
{
	return gate(j, "although they were before the timing: what was measured is kept, and proves nothing");
}

/* --- faults of the kernel --- */

static void on_log_line(void *ctx, const char *line)
{
	fault_hear(&((struct job *)ctx)->fault, line);
}

static bool faulted(struct job *j)
{
	return j->target.live && fault_now(&j->fault, live_tainted(j->target.live));
}

/* --- blocks --- */

/* The kernel's log is kept whatever became of the block. */
static int keep_log(struct job *j, const struct run *run)
{
	const struct buf *log = &j->target.ingest.log;

	return log->len ? store_text_add(j->store, run->id, "kernel-log", log->data, j->err) : 0;
}

static int keep_result(struct job *j, struct run *run, const struct live_result *r)
{
	int rc = 0;

	run->wall_ns = r->wall_ns;
	run->user_ns = r->user_ns;
	run->sys_ns = r->sys_ns;
	run->ops = r->ops;
	run->samples = r->samples;
	run->lost = r->lost;
	run->bad_stacks = r->bad_stacks;
	run->exit_status = r->exit_status;
	run->event = r->event[0] ? mem_strdup(r->event) : NULL;
	run->state = r->exit_status || faulted(j) ? RUN_FAILED : RUN_COMPLETE;
	if (r->event[0])
		rc = store_event(j->store, run->id, 0, r->event, ingest_event_unit(r->event), j->err);
	if (!rc)
		rc = keep_figures(j->store, run->id, r, j->o->exact,
				  run->sampled ? j->target.ingest.trace : NULL, j->err);
	if (!rc && r->output.len)
		rc = store_text_add(j->store, run->id, "output", r->output.data, j->err);
	return rc;
}

static int judge(struct job *j, const struct run *run, const struct live_result *r)
{
	if (r->exit_status)
		return err_add(j->err, -EIO, "The workload ended with status %d in block %u (%s): %.200s", r->exit_status,
			       run->ordinal, variant_name(run->variant),
			       r->output.len ? r->output.data : "it printed nothing.");
	return 0;
}

/* Runs the workload once under the variant that the run names, and keeps what came of it. */
static int measure(struct job *j, const struct live_block *spec, struct run *run, struct live_result *r)
{
	int rc = 0, rc2;

	if (!run->ordinal)
		rc = keep_environment(j->store, run->id, "environment-before", j->target.live, j->err);
	if (!rc)
		rc = live_module_switch(j->target.live, j->pcase.facts.module, run->variant, j->err);
	j->in_block = true;
	if (!rc)
		rc = live_run(j->target.live, spec, r, j->err);
	j->in_block = false;
	if (!rc)
		rc = keep_result(j, run, r);
	else
		run->state = faulted(j) ? RUN_FAILED : RUN_INCOMPLETE;
	if (!rc)
		rc = keep_environment(j->store, run->id, "environment", j->target.live, j->err);
	rc2 = keep_log(j, run);
	rc = rc ? rc : rc2;
	rc2 = store_run_finish(j->store, run, rc ? NULL : j->err);
	return rc ? rc : rc2;
}

/* `freq_hz` 0: timed, not sampled. */
static int block(struct job *j, enum variant v, bool warmup, uint64_t freq_hz)
{
	bool sampled = freq_hz > 0;
	struct run run = { .experiment = j->exp.id, .kind = RUN_BLOCK, .state = RUN_RUNNING, .variant = v,
			   .ordinal = j->ordinal++, .warmup = warmup, .sampled = sampled, .freq_hz = freq_hz };
	struct live_block spec = { .argv = (const char *const *)j->argv, .sampled = sampled,
				   .event = j->events.sampled, .freq_hz = freq_hz, .clocks = CLOCKS,
				   .drain_after = j->o->exact,
				   .counted = !sampled && !j->o->no_counters };
	struct live_result r = { 0 };
	int rc;

	j->progress.block = j->done + 1;
	j->progress.variant = v;
	j->progress.warmup = warmup;
	j->last_elapsed = j->last_samples = 0;
	snprintf(j->progress.text, sizeof(j->progress.text), "%s%s%s", variant_name(v), warmup ? ", warm-up" : "",
		 sampled ? ", sampled" : ", timed");
	say(j);
	run.started = now();
	rc = store_run_begin(j->store, &run, j->err);
	if (rc)
		return rc;
	ingest_run(&j->target.ingest, run.id);
	if (sampled && j->target.ingest.trace)
		spec.tracepoints = trace_tracepoints(j->target.ingest.trace, &spec.n_tracepoints);
	rc = measure(j, &spec, &run, &r);
	if (!rc)
		rc = judge(j, &run, &r);
	if (!rc) {
		typeof(&j->timed[0]) t = &j->timed[v];

		j->done++;
		j->progress.fraction = 0.2 + 0.75 * j->done / j->planned;
		j->progress.samples = r.samples;
		j->progress.lost += r.lost;
		if (!warmup && !sampled && r.ops > 0 && t->n < sizeof(t->v) / sizeof(t->v[0]))
			t->v[t->n++] = (double)r.wall_ns / r.ops;
		estimate_so_far(j);
		if (run.event && !j->exp.event)
			j->exp.event = mem_strdup(run.event);
	}
	live_result_release(&r);
	run_release(&run);
	return rc;
}

static int native_blocks(struct job *j, bool warmup)
{
	int rc = warmup ? block(j, VARIANT_NATIVE, true, 0) : 0;
	unsigned i;

	for (i = 0; !rc && i < NATIVE_BLOCKS; i++)
		rc = block(j, VARIANT_NATIVE, false, 0);
	return rc;
}

/*
 * A fixed sampling period beats with a loop of nearly constant length: each
 * block would then sample the same few places of the loop, all blocks would
 * agree, and all be wrong. So a block is sampled by several clocks of different
 * periods, and the frequency differs from pair to pair, within 10 % of the one
 * asked for; the intervals over blocks hold what is left.
 */
static uint64_t dithered(uint64_t freq_hz, struct rng *rng)
{
	uint64_t spread = freq_hz / 5;

	return spread ? freq_hz - spread / 2 + rng_below(rng, spread + 1) : freq_hz;
}

/* Before and after in the pair's order, timed (0) or at one sampling frequency. */
static int pair(struct job *j, const enum variant order[2], bool warmup, uint64_t freq_hz)
{
	int rc = block(j, order[0], warmup, freq_hz);

	return rc ? rc : block(j, order[1], warmup, freq_hz);
}

/*
 * Sampling costs time, so each pair is run twice: timed without the profiler,
 * then sampled. Native stands on both ends, so that drift falls on it as on the
 * middle; between, before and after alternate in balanced random order.
 */
static int step_blocks(struct job *j)
{
	static const enum variant warm[2] = { VARIANT_BEFORE, VARIANT_AFTER };
	enum variant *order = mem_calloc(2 * (size_t)j->o->blocks, sizeof(*order));
	struct rng rng;
	unsigned i;
	int rc;

	j->planned = 4 * j->o->blocks + 2 * NATIVE_BLOCKS + 3;
	j->progress.blocks = j->planned;
	stats_block_order(j->exp.seed, j->o->blocks, order);
	rng_seed(&rng, ~j->exp.seed);
	rc = native_blocks(j, true);
	if (!rc)
		rc = pair(j, warm, true, j->o->freq_hz);
	for (i = 0; !rc && i < 2 * j->o->blocks; i += 2) {
		rc = pair(j, order + i, false, 0);
		if (!rc)
			rc = pair(j, order + i, false, dithered(j->o->freq_hz, &rng));
	}
	if (!rc)
		rc = native_blocks(j, false);
	free(order);
	return rc;
}

static int step_unload(struct job *j)
{
	j->loaded = false;
	return live_module_unload(j->target.live, j->pcase.facts.module, j->err);
}

static const struct step {
	enum job_phase phase;
	double fraction;		/* of the whole job, when the step begins */
	const char *text;
	int (*run)(struct job *j);
} steps[] = {
	{ JOB_FETCH, 0.00, "finding the kernel", step_find },
	{ JOB_BUILD, 0.04, "building the module and the workload", step_build },
	{ JOB_BOOT,  0.08, "starting the target", step_open },
	{ JOB_STORE, 0.14, "opening the experiment", step_begin },
	{ JOB_CHECK, 0.14, "looking whether the kernel can take the module", step_preflight },
	{ JOB_LOAD,  0.15, "preparing the workload", step_prepare },
	{ JOB_LOAD,  0.15, "waiting until the target is at rest", step_settle },
	{ JOB_CHECK, 0.16, "comparing the output of native, before and after", step_check },
	{ JOB_BLOCK, 0.20, "measuring", step_blocks },
	{ JOB_CHECK, 0.95, "comparing the output of native, before and after again", step_check_again },
	{ JOB_LOAD,  0.98, "unloading the module", step_unload },
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/*
 * A fault says more than whatever else went wrong because of it. The kernel's own
 * code is put back at once; that may fail in a kernel that is broken.
 */
static int stop_for_fault(struct job *j)
{
	bool back = !j->loaded || !live_module_unload(j->target.live, j->pcase.facts.module, NULL);

	j->loaded = j->loaded && !back;
	err_clear(j->err);
	err_add(j->err, 0, "The kernel reported a fault (%s)", j->fault.what);
	if (j->ordinal)
		err_add(j->err, 0, "in or before block %u (%s), so the run was stopped; its log is kept with the block.",
			j->ordinal - 1, variant_name(j->progress.variant));
	else
		err_add(j->err, 0, "before anything was timed, so the run was stopped.");
	return err_add(j->err, -EIO, "The module %s.", back ? "is unloaded: the kernel's own code runs" :
		       "could not be unloaded: restart that machine");
}

/* Closes the experiment with what is known of its end. */
static int finish(struct job *j, int rc)
{
	int rc2;

	if (!j->exp.id)
		return rc;
	j->exp.finished = now();
	j->exp.state = !rc ? EXP_COMPLETE : rc == -ECANCELED ? EXP_CANCELLED : EXP_FAILED;
	if (rc && rc != -ECANCELED && j->err) {
		free(j->exp.note);
		j->exp.note = mem_strdup(j->err->text);
	}
	rc2 = store_experiment_finish(j->store, &j->exp, rc ? NULL : j->err);
	return rc ? rc : rc2;
}

/* What is known without looking at the target. */
static int begin(struct job *j, struct store *s, const struct job_run_opts *o, const struct job_watch *w, struct err *err)
{
	int rc;

	*j = (struct job){ .store = s, .o = o, .w = w, .err = err };
	j->progress.before_ns = j->progress.after_ns = NAN;
	j->progress.diff_rel = j->progress.diff_lo = j->progress.diff_hi = NAN;
	rc = case_load(o->case_name, &j->pcase, err);
	if (!rc)
		rc = case_params(&j->pcase, o->params, &j->params, err);
	if (!rc)
		rc = event_list_parse(o->event, &j->events, err);
	if (!rc)
		rc = target_init(&j->target, o->target, s, err);
	if (!rc)
		j->target.ingest.trace = trace_new(&j->events);
	if (!rc && o->exact && strcmp(o->target, "vm"))
		rc = err_add(err, -EINVAL, "--exact counts instructions in the lab's guest and is for -t vm only.");
	if (!rc && o->blocks < 1)
		rc = err_add(err, -EINVAL, "An experiment needs at least 1 block of each variant.");
	j->stage = (struct stage){ .t = &j->target, .c = &j->pcase, .ops = o->ops ? o->ops : case_ops(&j->pcase, o->target) };
	j->target.ingest.tick = on_tick;
	j->target.ingest.stop = stopped;
	j->target.ingest.heard = on_log_line;
	j->target.ingest.ctx = j;
	j->target.keep_agent = o->keep_agent;
	return rc;
}

static void end(struct job *j)
{
	target_release(&j->target);
	case_build_release(&j->build);
	case_release(&j->pcase);
	machine_release(&j->machine);
	experiment_release(&j->exp);
	stage_argv_free(j->argv);
	stage_release(&j->stage);
	buf_release(&j->params);
	free(j);
}

int job_run_check(const struct job_run_opts *o, const struct job_watch *w, struct err *err)
{
	struct job *j = mem_alloc(sizeof(*j));
	int rc = begin(j, NULL, o, w, err);

	if (!rc)
		rc = step_find(j);
	end(j);
	return rc;
}

int job_run(struct store *s, const struct job_run_opts *o, const struct job_watch *w, int64_t *experiment, struct err *err)
{
	struct job *j = mem_alloc(sizeof(*j));
	size_t i;
	int rc;

	*experiment = 0;
	rc = begin(j, s, o, w, err);
	for (i = 0; !rc && i < STEPS; i++) {
		j->progress.phase = steps[i].phase;
		j->progress.fraction = steps[i].fraction;
		snprintf(j->progress.text, sizeof(j->progress.text), "%.199s", steps[i].text);
		say(j);
		rc = stopped(j) ? err_add(err, -ECANCELED, "Stopped.") : steps[i].run(j);
		if (faulted(j))
			rc = stop_for_fault(j);
		*experiment = j->exp.id;
	}
	if (rc && rc != -ECANCELED && j->target.kind)
		target_last_words(&j->target, err);
	rc = finish(j, rc);
	j->progress.phase = rc ? JOB_FAILED : JOB_DONE;
	j->progress.fraction = 1;
	snprintf(j->progress.text, sizeof(j->progress.text), "%.199s",
		 !rc ? "done" : rc == -ECANCELED ? "stopped; what was measured is kept" : err ? err->text : "failed");
	say(j);

	end(j);
	return rc;
}
