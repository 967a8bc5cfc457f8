// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record: any command, profiled once into the session file, on any target.
 */
#include "jobs/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "jobs/keep.h"
#include "jobs/target.h"
#include "profile/events.h"

struct recording {
	const struct job_watch *w;
	struct job_progress progress;
	uint64_t last_samples, last_elapsed;
};

static bool stopped(void *ctx)
{
	struct recording *r = ctx;

	return r->w->stop && r->w->stop(r->w->ctx);
}

static int on_tick(void *ctx, uint64_t elapsed_ns, uint64_t samples, uint64_t lost)
{
	struct recording *r = ctx;

	if (elapsed_ns > r->last_elapsed && samples >= r->last_samples)
		r->progress.samples_per_s = (double)(samples - r->last_samples) * 1e9 /
			(double)(elapsed_ns - r->last_elapsed);
	r->last_elapsed = elapsed_ns;
	r->last_samples = samples;
	r->progress.samples = samples;
	r->progress.lost = lost;
	if (r->w->progress)
		r->w->progress(r->w->ctx, &r->progress);
	return 0;
}

/* What kernel.perf_event_paranoid leaves to an ordinary user (Debian adds level 3: nothing). */
static int user_only(bool *only, struct err *err)
{
	struct buf text = BUF_INIT;
	int level = 2;

	*only = false;
	if (geteuid() == 0)
		return 0;
	if (!buf_read_file(&text, "/proc/sys/kernel/perf_event_paranoid", 64, NULL))
		level = atoi(buf_str(&text));
	buf_release(&text);
	*only = level >= 2;
	if (level >= 3)
		return err_add(err, -EACCES, "kernel.perf_event_paranoid is %d, so an ordinary user may not profile; "
			       "run kab as root, or `sysctl kernel.perf_event_paranoid=1`.", level);
	return 0;
}

/* A program of this machine is carried to a target that is another one. */
static int argv_there(struct target *t, const struct job_record_opts *o, const char ***argv, char **program,
		      struct err *err)
{
	size_t n;

	for (n = 0; o->argv[n]; n++)
		;
	*argv = mem_calloc(n + 1, sizeof(**argv));
	memcpy(*argv, o->argv, n * sizeof(**argv));
	if (t->kind->carries == CARRY_NONE || !strchr(o->argv[0], '/') || !fs_exists(o->argv[0]) ||
	    (t->kind->carries == CARRY_RELATIVE && o->argv[0][0] == '/'))
		return 0;
	if (target_put(t, o->argv[0], program, err))
		return -EIO;
	(*argv)[0] = *program;
	return 0;
}

static char *joined(const char *const *argv)
{
	struct buf b = BUF_INIT;

	for (; *argv; argv++)
		buf_printf(&b, "%s%s", b.len ? " " : "", *argv);
	return buf_detach(&b);
}

static int keep(struct store *s, struct target *t, struct run *run, const struct live_result *r,
		const struct err *note, struct err *err)
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
	run->event = mem_strdup(r->event);
	run->state = RUN_COMPLETE;
	if (r->event[0])
		rc = store_event(s, run->id, 0, r->event, ingest_event_unit(r->event), err);
	if (!rc)
		rc = keep_figures(s, run->id, r, false, t->ingest.trace, err);
	if (!rc && t->ingest.log.len)
		rc = store_text_add(s, run->id, "kernel-log", t->ingest.log.data, err);
	if (!rc && note->len)
		rc = store_text_add(s, run->id, "note", note->text, err);
	return rc;
}

int job_record(struct store *s, const struct job_record_opts *o, const struct job_watch *w, int64_t *run_id,
	       int *exit_status, struct err *note, struct err *err)
{
	struct recording rec = { .w = w, .progress = { .phase = JOB_BLOCK, .block = 1, .blocks = 1 } };
	struct run run = { .kind = RUN_RECORD, .state = RUN_RUNNING, .sampled = true, .freq_hz = o->freq_hz };
	struct live_block spec = { .sampled = true, .freq_hz = o->freq_hz, .inherit_output = true };
	struct event_list events;
	struct live_result r = { 0 };
	struct target t = { 0 };
	const char **argv = NULL;
	char *program = NULL;
	struct timespec ts;
	struct lab_opts lab = o->lab;
	int rc, rc2;

	lab.stop = stopped;
	lab.ctx = &rec;
	*run_id = 0;
	rc = event_list_parse(o->event, &events, err);
	if (!rc)
		rc = target_init(&t, o->target, s, err);
	if (!rc)
		t.ingest.trace = trace_new(&events);
	spec.event = events.sampled;
	t.ingest.tick = on_tick;
	t.ingest.stop = stopped;
	t.ingest.ctx = &rec;
	if (!rc && !t.kind->gives_root) {
		rc = user_only(&spec.user_only, err);
		if (!rc && !proc_have(o->argv[0]))
			rc = err_add(err, -ENOENT, "There is no program \"%.200s\" in PATH.", o->argv[0]);
	}
	spec.inherit_output = !t.kind || t.kind->shows_output;
	t.keep_agent = o->keep_agent;
	if (!rc)
		rc = t.kind->find(&t, &lab, err);
	if (!rc)
		rc = t.kind->open(&t, &lab, false, err);
	if (!rc)
		rc = argv_there(&t, o, &argv, &program, err);
	if (rc)
		goto out;

	clock_gettime(CLOCK_REALTIME, &ts);
	run.started = (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
	run.label = mem_strdup(o->label);
	run.command = joined(o->argv);
	rc = store_run_begin(s, &run, err);
	if (rc)
		goto out;
	*run_id = run.id;
	ingest_run(&t.ingest, run.id);
	spec.argv = argv;
	if (t.ingest.trace)
		spec.tracepoints = trace_tracepoints(t.ingest.trace, &spec.n_tracepoints);
	rc = live_run(t.live, &spec, &r, err);
	if (!rc) {
		if (spec.user_only)
			err_add(note, 0, "Kernel code is left out, since kernel.perf_event_paranoid keeps it from an ordinary "
				"user; run kab as root, or `sysctl kernel.perf_event_paranoid=1`.");
		else if (t.ingest.no_kernel.len)
			err_add(note, 0, "%s", t.ingest.no_kernel.text);
		rc = keep(s, &t, &run, &r, note, err);
		*exit_status = r.exit_status;
		if (!spec.inherit_output && r.output.len)
			rc = rc ? rc : store_text_add(s, run.id, "output", r.output.data, err);
	} else {
		run.state = RUN_INCOMPLETE;
		run.samples = rec.progress.samples;
		target_last_words(&t, err);
	}
	rc2 = store_run_finish(s, &run, rc ? NULL : err);
	rc = rc ? rc : rc2;
out:
	live_result_release(&r);
	run_release(&run);
	target_release(&t);
	free(argv);
	free(program);
	return rc;
}
