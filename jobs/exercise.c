// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exercise: see exercise.h. What must go on while the workload runs is a shell
 * script on the target, since the agent serves one request at a time; whatever
 * a script leaves running, the agent kills.
 */
#include "jobs/exercise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "jobs/equal.h"
#include "jobs/fault.h"
#include "jobs/patch.h"
#include "jobs/stage.h"
#include "jobs/target.h"

#define MODULE_LIMIT (64U << 20)
#define CONSOLE_LINES 60
#define LAST_WORDS_S 120		/* for a guest whose agent was killed to undo things and switch itself off */

/*
 * Arguments of every script: module, its file, how often, whether to pin, and the workload's own.
 *
 * Kernels since 6.3 rewrite every call of cond_resched() for a transition, with interrupts to the other CPUs
 * for each few. An emulated CPU that is busy answers those a tenth of a second later, so a transition beside a
 * busy workload would take minutes: there the workload shares the CPU of the script.
 */
#define BEGIN \
	"module=$1 ko=$2 count=$3 pin=$4; shift 4\n" \
	"if [ $pin = 1 ] && grep -q ' sched_dynamic_klp_enable$' /proc/kallsyms; then\n" \
	"	taskset -p 1 $$ > /dev/null\n" \
	"fi\n" \
	"klp=/sys/kernel/livepatch/$module variant=/sys/module/$module/parameters/variant\n" \
	"out=/tmp/kab-exercise.$$ failed=$out.failed\n" \
	"fail() { echo \"$*\"; exit 1; }\n" \
	"wait_for() {\n" \
	"	n=0\n" \
	"	until eval \"$1\"; do [ $n -lt 1200 ] || fail \"$2\"; sleep 0.05; n=$((n + 1)); done\n" \
	"}\n" \
	"now() { read -r up rest < /proc/uptime; echo \"${up%.*}${up#*.}\"; }\n" \
	"( while \"$@\" > $out 2>&1; do :; done; echo \"$?\" > $failed ) &\n" \
	"sleep 0.3\n" \
	"start=$(now)\n"

/* Prints the hundredths of a second that it took. */
#define END \
	"end=$(now)\n" \
	"[ ! -e $failed ] || fail \"the workload ended with $(cat $failed): $(head -c 300 $out)\"\n" \
	"echo $((end - start))\n"

#define UNLOAD \
	"echo 0 > $klp/enabled || fail 'the livepatch could not be disabled'\n" \
	"wait_for '[ ! -d $klp ]' 'the livepatch did not get out of force'\n" \
	"rmmod $module || fail 'the module could not be removed'\n"

static const char script_switch[] = BEGIN
	"i=0\n"
	"while [ $i -lt $count ]; do\n"
	"	echo before > $variant && echo after > $variant || fail \"switch $i failed\"\n"
	"	i=$((i + 2))\n"
	"done\n"
	"[ $(cat $variant) = after ] || fail 'the variant reads back wrong'\n"
	/* The refusal is said in the kernel's log, not as a warning. */
	"if echo between 2> /dev/null > $variant; then fail 'a variant \"between\" was taken'; fi\n"
	"[ $(cat $variant) = after ] || fail 'a refused variant has changed something'\n" END;

static const char script_unload[] = BEGIN UNLOAD
	"sleep 0.5\n" END;

static const char script_cycles[] = BEGIN
	"i=0\n"
	"while [ $i -lt $count ]; do\n"
	"	insmod $ko || fail \"load $i failed\"\n"
	"	wait_for '[ \"$(cat $klp/transition 2> /dev/null)\" = 0 ]' 'the livepatch did not get into force'\n"
	"	echo after > $variant || fail \"switch $i failed\"\n"
	UNLOAD
	"	i=$((i + 1))\n"
	"done\n" END;

/* $PPID is the agent's worker. */
static const char script_kill_worker[] = BEGIN
	"( while :; do echo before > $variant; echo after > $variant; done ) &\n"
	"sleep 1\n"
	"kill -9 $PPID\n"
	"sleep 60\n";

static const char script_kill_supervisor[] = BEGIN
	"( while :; do echo before > $variant; echo after > $variant; done ) &\n"
	"sleep 1\n"
	"kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)\n"
	"sleep 60\n";

struct exercise {
	const struct exercise_opts *o;
	struct preflight *rows;
	struct patch_case c;
	struct case_build build;
	struct target target;
	struct stage stage;
	struct fault fault;
	struct buf ko;
	char *ko_there;
	struct err *err;
};

static bool stopped(void *ctx)
{
	const struct exercise *x = ctx;

	return x->o->lab.stop && x->o->lab.stop(x->o->lab.ctx);
}

static void heard(void *ctx, const char *line)
{
	fault_hear(&((struct exercise *)ctx)->fault, line);
}

/* --- a target with everything in place --- */

static int begin(struct exercise *x)
{
	int rc = target_init(&x->target, x->o->target, NULL, x->err);

	if (rc)
		return rc;
	x->fault = (struct fault){ 0 };
	x->target.ingest.stop = stopped;
	x->target.ingest.heard = heard;
	x->target.ingest.ctx = x;
	x->stage = (struct stage){ .t = &x->target, .c = &x->c, .ops = case_ops(&x->c, x->o->target) };
	rc = x->target.kind->find(&x->target, &x->o->lab, x->err);
	if (!rc)
		rc = x->target.kind->can_load(&x->target, x->err);
	if (!rc && !x->build.module)
		rc = target_build(&x->target, &x->c, &x->o->lab, &x->build, x->err);
	if (!rc)
		rc = x->target.kind->open(&x->target, &x->o->lab, true, x->err);
	return rc;
}

static int put(struct exercise *x)
{
	int rc = stage_open(&x->stage, x->build.workload, x->err);

	if (!rc)
		rc = target_put(&x->target, x->build.module, &x->ko_there, x->err);
	return rc ? rc : stage_setup(&x->stage, x->err);
}

static void end(struct exercise *x)
{
	stage_release(&x->stage);
	target_release(&x->target);
	free(x->ko_there);
	x->ko_there = NULL;
}

static int load(struct exercise *x)
{
	return live_module_load(x->target.live, x->c.facts.module, x->ko.data, x->ko.len, "", x->err);
}

/* --- proofs: 0 and a sentence in `said`, or negative and the reason in x->err --- */

/* Runs a script; *seconds is what it took on the target. `transition`: it waits for a livepatch's. */
static int script(struct exercise *x, const char *text, unsigned count, bool transition, double *seconds)
{
	struct buf out = BUF_INIT;
	char number[16], **workload = stage_argv(&x->stage, NULL);
	size_t n = 0, i;
	const char **argv;
	int status = 0, rc;

	for (i = 0; workload[i]; i++)
		;
	argv = mem_calloc(i + 9, sizeof(*argv));
	snprintf(number, sizeof(number), "%u", count);
	argv[n++] = "/bin/sh";
	argv[n++] = "-c";
	argv[n++] = text;
	argv[n++] = "kab";
	argv[n++] = x->c.facts.module;
	argv[n++] = x->ko_there;
	argv[n++] = number;
	argv[n++] = transition && x->target.guest && strcmp(lab_accel(x->target.guest), "kvm") ? "1" : "0";
	for (i = 0; workload[i]; i++)
		argv[n++] = workload[i];
	rc = live_capture(x->target.live, argv, &out, &status, x->err);
	if (!rc && status)
		rc = err_add(x->err, -EIO, "%.300s", out.len ? out.data : "The script ended and said nothing.");
	*seconds = rc ? 0 : atof(buf_str(&out)) / 100;
	buf_release(&out);
	stage_argv_free(workload);
	free(argv);
	return rc;
}

static int prove_equal(struct exercise *x, struct buf *said)
{
	static const enum variant order[] = { VARIANT_NATIVE, VARIANT_BEFORE, VARIANT_AFTER };
	struct buf *out[VARIANT_COUNT] = { NULL };
	struct live_took took = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < 3; i++) {
		if (order[i] == VARIANT_BEFORE) {
			rc = load(x);
			took = live_took(x->target.live);
		}
		if (!rc && order[i] != VARIANT_NATIVE)
			rc = live_module_switch(x->target.live, x->c.facts.module, order[i], x->err);
		if (!rc)
			rc = stage_outputs(&x->stage, &out[order[i]], x->err);
	}
	if (!rc)
		rc = equal_judge(&x->c, out, "so nothing of this module should be measured", x->err);
	for (i = 0; i < 3; i++)
		stage_outputs_free(&x->stage, out[order[i]]);
	buf_printf(said, "loaded (in force after %.1f s); native, before and after print the same (%zu %s)",
		   (double)(took.call_ns + took.transition_ns) / 1e9, x->c.n_check, x->c.n_check == 1 ? "command" : "commands");
	return rc;
}

static int prove_switches(struct exercise *x, struct buf *said)
{
	double seconds;
	int rc = script(x, script_switch, x->o->switches, false, &seconds);

	buf_printf(said, "%u in %.1f s while the workload ran, and a word that is no variant was refused",
		   x->o->switches, seconds);
	return rc;
}

static int prove_unload(struct exercise *x, struct buf *said)
{
	double seconds;
	int rc = script(x, script_unload, 0, true, &seconds);

	buf_printf(said, "in %.1f s while the workload ran, which went on", seconds);
	return rc;
}

static int prove_cycles(struct exercise *x, struct buf *said)
{
	double seconds;
	int rc = script(x, script_cycles, x->o->cycles, true, &seconds);

	buf_printf(said, "loaded, switched and unloaded %u times in %.1f s while the workload ran", x->o->cycles, seconds);
	return rc;
}

/* --- the agent is killed: guests only --- */

/* What a guest's console says last. */
static void last_words(struct exercise *x, struct buf *out)
{
	const struct timespec pause = { 0, 100000000 };
	int i;

	for (i = 0; i < LAST_WORDS_S * 10 && lab_alive(x->target.guest) && !stopped(x); i++)
		nanosleep(&pause, NULL);
	lab_console(x->target.guest, out, CONSOLE_LINES);
}

static int killed(struct exercise *x, const char *text, struct buf *said)
{
	struct buf console = BUF_INIT;
	char *line, *save = NULL;
	double seconds;
	int rc = live_module_switch(x->target.live, x->c.facts.module, VARIANT_AFTER, x->err);

	if (rc)
		return rc;
	/* Its stream ends, which is no error of ours. */
	if (!script(x, text, 0, false, &seconds))
		return err_add(x->err, -EIO, "The agent was to be killed, and answered.");
	err_clear(x->err);
	last_words(x, &console);
	if (!strstr(buf_str(&console), "kab: modules left: none"))
		rc = err_add(x->err, -EIO, "After its end the guest did not say that no module was left; its console:\n%s",
			     buf_str(&console));
	for (line = console.len ? strtok_r(console.data, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		fault_hear(&x->fault, line);
	buf_puts(said, "in the middle of switching: the module was gone when the guest ended");
	buf_release(&console);
	return rc;
}

static int prove_worker_killed(struct exercise *x, struct buf *said)
{
	return killed(x, script_kill_worker, said);
}

static int prove_supervisor_killed(struct exercise *x, struct buf *said)
{
	int rc;

	end(x);
	rc = begin(x);
	if (!rc)
		x->fault.tainted = live_tainted(x->target.live);
	if (!rc)
		rc = put(x);
	if (!rc)
		rc = load(x);
	return rc ? rc : killed(x, script_kill_supervisor, said);
}

static const struct proof {
	const char *what;
	int (*run)(struct exercise *x, struct buf *said);
	bool in_guest;			/* takes a guest, which it ends */
} proofs[] = {
	{ "equivalence", prove_equal, false },
	{ "switches", prove_switches, false },
	{ "unload", prove_unload, false },
	{ "cycles", prove_cycles, false },
	{ "worker killed", prove_worker_killed, true },
	{ "agent killed", prove_supervisor_killed, true },
};

/* One row: the proof itself, and that the kernel has nothing to say to it. */
static bool prove(struct exercise *x, const struct proof *p)
{
	struct buf said = BUF_INIT;
	int rc;

	if (x->o->lab.progress)
		x->o->lab.progress(x->o->lab.ctx, p->what, 0, 0);
	rc = p->run(x, &said);
	if (x->target.live && fault_now(&x->fault, live_tainted(x->target.live))) {
		preflight_add(x->rows, CHECK_FAIL, p->what, "the kernel reported a fault: %s", x->fault.what);
	} else if (rc) {
		preflight_add(x->rows, CHECK_FAIL, p->what, "%s", x->err->text);
	} else {
		preflight_add(x->rows, CHECK_OK, p->what, "%s; no warning of the kernel's", buf_str(&said));
		buf_release(&said);
		return true;
	}
	/* A failed proof is a row; being stopped ends it all. */
	if (rc != -ECANCELED)
		err_clear(x->err);
	buf_release(&said);
	return false;
}

static int exercise(struct exercise *x)
{
	bool guest = x->target.kind->passing;
	struct preflight p = { 0 };
	size_t i;
	int rc = job_preflight(x->target.live, &x->c, x->build.module, NULL, true, &p, x->err);

	if (!rc)
		rc = preflight_verdict(&p, x->o->case_name, x->o->target, x->err);
	preflight_release(&p);
	if (!rc)
		rc = buf_read_file(&x->ko, x->build.module, MODULE_LIMIT, x->err);
	if (!rc)
		rc = put(x);
	if (rc)
		return rc;
	x->fault.tainted = live_tainted(x->target.live);
	for (i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++) {
		if (proofs[i].in_guest && !guest)
			preflight_add(x->rows, CHECK_NOTE, proofs[i].what, "not tried but in a guest (-t vm)");
		else if (!prove(x, &proofs[i]))
			break;
	}
	return stopped(x) ? err_add(x->err, -ECANCELED, "Stopped.") : 0;
}

int job_exercise(const struct exercise_opts *o, struct preflight *rows, struct err *err)
{
	struct exercise x = { .o = o, .rows = rows, .err = err };
	int rc = case_load(o->case_name, &x.c, err);

	if (!rc)
		rc = begin(&x);
	if (!rc && !x.target.kind->gives_root && geteuid())
		rc = err_add(err, -EPERM, "The workload has to load and unload modules while it runs: run this as root, or in "
			     "the lab (-t vm).");
	if (!rc)
		rc = exercise(&x);
	end(&x);
	buf_release(&x.ko);
	case_build_release(&x.build);
	case_release(&x.c);
	return rc;
}
