// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fixture: what the screen tests look at, the same bytes of content every time.
 *
 *	fixture session FILE KIND	writes a session file: plain, empty, hostile
 *	fixture tui FILE [ID]		the workbench, with this program in place of kab
 *	fixture run CASE ... -s FILE	what `kab run` does for the workbench, scripted:
 *					$FIXTURE_RUN is "quick", "slow" or "fail"
 *
 * The figures are made up but shaped like those of net-procfs: nanoseconds per
 * read of each frame, before and after, and blocks that scatter by 0.3 %.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "jobs/jobs.h"
#include "tui/tui.h"

#define OPS 20000.0
#define PERIOD_NS 250000		/* 4000 samples a second */
#define STARTED 1760000000.0
#define PAIRS 6

/* One frame: where it hangs, and what it costs itself per operation on each side. */
struct frame {
	int depth;
	const char *name;
	double before, after;		/* ns */
};

static const struct frame frames[] = {
	{ 0, "_start", 0, 0 },
	{ 1, "main", 60, 60 },
	{ 2, "read", 150, 150 },
	{ 3, "entry_SYSCALL_64_after_hwframe", 90, 90 },
	{ 4, "do_syscall_64", 60, 60 },
	{ 5, "ksys_read", 20, 20 },
	{ 6, "vfs_read", 50, 50 },
	{ 7, "proc_reg_read", 40, 40 },
	{ 8, "seq_read_iter", 180, 180 },
	{ 9, "dev_seq_show", 30, 30 },
	{ 10, "dev_seq_printf_stats", 220, 260 },
	{ 11, "dev_get_stats", 420, 420 },
	{ 12, "loopback_get_stats64", 610, 610 },
	{ 12, "netdev_stats_to_stats64", 55, 55 },
	{ 12, "_find_next_bit", 25, 25 },
	{ 11, "seq_printf", 140, 35 },
	{ 12, "seq_vprintf", 90, 20 },
	{ 13, "vsnprintf", 1500, 310 },
	{ 14, "format_decode", 1250, 140 },
	{ 14, "number", 2300, 0 },
	{ 15, "put_dec", 900, 0 },
	{ 14, "string", 180, 175 },
	{ 11, "seq_put_decimal_ull_width", 0, 1900 },
	{ 12, "num_to_str", 0, 1350 },
	{ 9, "dev_seq_next", 110, 110 },
	{ 9, "__rcu_read_lock", 12, 12 },
	{ 7, "copy_to_user", 240, 240 },
	{ 6, "__fget_light", 45, 45 },
	{ 4, "syscall_exit_to_user_mode", 130, 130 },
	{ 2, "__errno_location", 3, 3 },
};
#define FRAMES (sizeof(frames) / sizeof(frames[0]))

/* Names that try to act on a terminal, to reorder a line, to be too long, to be wide, to be no text. */
static const char *const hostile[] = {
	"\033]0;owned\007\033[2J\033[31mred", "right\xe2\x80\xaeto left", "bytes\xff\xfe\x80",
	"tab\tand\nline",
	"\xe5\x87\xbd\xe6\x95\xb0\xe5\x90\x8d", "zero\xe2\x80\x8bwidth", "e\xcc\x81\xcc\x81\xcc\x81", "",
};
#define HOSTILE (sizeof(hostile) / sizeof(hostile[0]))

static void check(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "fixture: %s\n", err->text);
	exit(1);
}

struct writer {
	struct store *s;
	struct rng rng;
	char long_name[10001];
	struct err err;
};

static const char *frame_name(const struct writer *w, size_t i, bool evil)
{
	if (!evil || i < 6)
		return frames[i].name;
	return i == 6 ? w->long_name : hostile[i % HOSTILE];
}

/* The samples of one block: each frame's share of the wall time, the remainder carried on. */
static void add_samples(struct writer *w, struct run *r, enum variant variant, double slow, bool evil)
{
	int64_t path[32] = { 0 }, thread = 0;
	double rest = 0;
	size_t i;

	check(store_event(w->s, r->id, 0, "cpu-clock", "ns", &w->err), &w->err);
	check(store_thread(w->s, r->id, 100, 100, evil ? "\033[1mcomm" : "reader", &thread, &w->err),
	      &w->err);
	for (i = 0; i < FRAMES; i++) {
		const struct frame *f = &frames[i];
		double cost = variant == VARIANT_AFTER ? f->after : f->before;
		bool user = f->depth < 3;
		const char *dso = !user ? "[kernel.kallsyms]" : evil ? "/bin/\033[7mx" : "/usr/bin/reader";
		int64_t symbol = 0, parent = f->depth ? path[f->depth - 1] : 0;

		check(store_symbol(w->s, frame_name(w, i, evil), dso, "", user ? FRAME_USER : FRAME_KERNEL,
				   &symbol, &w->err), &w->err);
		check(store_stack_child(w->s, parent, symbol, &path[f->depth], &w->err), &w->err);
		for (rest += cost * slow * OPS / PERIOD_NS; rest >= 1; rest--) {
			struct store_sample sample = { .time_ns = r->samples * PERIOD_NS, .period = PERIOD_NS,
						       .thread = thread, .stack = path[f->depth] };

			check(store_samples(w->s, r->id, &sample, 1, &w->err), &w->err);
			r->samples++;
		}
	}
}

static void add_block(struct writer *w, const struct experiment *e, unsigned ordinal, enum variant variant,
		      bool warmup, bool evil)
{
	struct run r = { .experiment = e->id, .kind = RUN_BLOCK, .state = RUN_RUNNING, .variant = variant,
			 .ordinal = ordinal, .warmup = warmup, .sampled = true, .started = STARTED + ordinal,
			 .event = (char *)"cpu-clock", .freq_hz = 4000, .command = e->workload };
	double per_op = 0, slow = 1 + ((double)rng_below(&w->rng, 1000) - 500) / 500 * 0.003;
	size_t i;

	check(store_run_begin(w->s, &r, &w->err), &w->err);
	add_samples(w, &r, variant, slow, evil);
	for (i = 0; i < FRAMES; i++)
		per_op += variant == VARIANT_AFTER ? frames[i].after : frames[i].before;
	r.ops = OPS;
	r.wall_ns = (uint64_t)(per_op * slow * OPS);
	r.sys_ns = r.wall_ns / 100 * 96;
	r.user_ns = r.wall_ns / 100 * 4;
	r.lost = ordinal == 3 ? 2 : 0;
	r.state = RUN_COMPLETE;
	check(store_run_finish(w->s, &r, &w->err), &w->err);
}

static void add_experiment(struct writer *w, unsigned pairs, enum exp_state state, bool evil)
{
	enum variant order[2 * PAIRS];
	struct machine m = { 0 };
	struct buf yaml = BUF_INIT;
	struct experiment e = {
		.state = EXP_RUNNING, .case_name = (char *)"net-procfs", .target = (char *)"vm",
		.exact = true, .command = (char *)"kab run net-procfs -t vm --exact",
		.kernel = (char *)"6.1.0-1-amd64",
		.workload = (char *)(evil ? "\033[5mblink" : "reader /proc/net/dev 20000"),
		.started = STARTED, .seed = 7, .blocks_planned = PAIRS,
		.event = (char *)"cpu-clock", .freq_hz = 4000, .kab_version = (char *)"fixture",
	};
	unsigned i;

	if (!case_text("net-procfs", &yaml, NULL))
		e.case_yaml = yaml.data;
	machine_add(&m, "cpu.model", "a made-up processor");
	check(store_machine_add(w->s, &m, &w->err), &w->err);
	e.machine = m.id;
	check(store_experiment_begin(w->s, &e, &w->err), &w->err);
	add_block(w, &e, 0, VARIANT_BEFORE, true, evil);
	add_block(w, &e, 1, VARIANT_NATIVE, false, evil);
	stats_block_order(7, PAIRS, order);
	for (i = 0; i < 2 * pairs; i++)
		add_block(w, &e, 2 + i, order[i], false, evil);
	e.state = state;
	e.finished = STARTED + 60;
	check(store_experiment_finish(w->s, &e, &w->err), &w->err);
	machine_release(&m);
	buf_release(&yaml);
}

static void add_recording(struct writer *w, bool evil)
{
	struct run r = {
		.kind = RUN_RECORD, .state = RUN_RUNNING, .sampled = true, .started = STARTED + 100, .ops = 1,
		.label = (char *)(evil ? "label\033[31m\xe2\x80\xae" : "a recording"),
		.command = (char *)"reader /proc/net/dev 20000", .event = (char *)"cpu-clock",
		.freq_hz = 4000,
	};

	check(store_run_begin(w->s, &r, &w->err), &w->err);
	add_samples(w, &r, VARIANT_BEFORE, 1, evil);
	r.wall_ns = 180000000;
	r.state = RUN_COMPLETE;
	check(store_run_finish(w->s, &r, &w->err), &w->err);
}

static int make_session(const char *path, const char *kind)
{
	struct writer *w = mem_alloc(sizeof(*w));
	bool evil = !strcmp(kind, "hostile");

	rng_seed(&w->rng, 1);
	memset(w->long_name, 'L', sizeof(w->long_name) - 1);
	check(store_open(path, STORE_WRITE, &w->s, &w->err), &w->err);
	if (strcmp(kind, "empty")) {
		add_recording(w, evil);
		add_experiment(w, 1, EXP_CANCELLED, evil);
		add_experiment(w, PAIRS, EXP_COMPLETE, evil);
	}
	check(store_close(w->s, &w->err), &w->err);
	free(w);
	return 0;
}

/* --- the scripted job --- */

static volatile sig_atomic_t interrupted;	/* set by a handler, which gets no argument */

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void say(const struct job_progress *p)
{
	struct buf line = BUF_INIT;

	job_progress_json(p, &line);
	printf("%s\n", buf_str(&line));
	fflush(stdout);
	buf_release(&line);
}

static int run(int argc, char **argv)
{
	const char *how = getenv("FIXTURE_RUN"), *session = NULL;
	bool slow = how && !strcmp(how, "slow");
	struct job_progress p = {
		.phase = JOB_BOOT, .text = "booting the guest", .before_ns = NAN, .after_ns = NAN,
		.diff_rel = NAN, .diff_lo = NAN, .diff_hi = NAN,
	};
	struct writer *w;
	int i;

	for (i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-s"))
			session = argv[i + 1];
	signal(SIGINT, on_interrupt);
	say(&p);
	printf("a line that is no progress \033[31m\n");
	if (how && !strcmp(how, "fail")) {
		fprintf(stderr, "first line\nkab: The guest did not boot; try more memory.\n");
		return 1;
	}
	p.phase = JOB_BLOCK;
	p.blocks = 12;
	p.samples_per_s = 3998;
	for (i = 1; i <= (slow ? 600 : 12) && !interrupted; i++) {
		p.block = slow ? 5 : (unsigned)i;
		p.variant = i & 1 ? VARIANT_BEFORE : VARIANT_AFTER;
		p.fraction = p.block / 12.0;
		p.samples += 800;
		snprintf(p.text, sizeof(p.text), "block %u of 12: %s", p.block, variant_name(p.variant));
		if (i > 3) {
			p.before_ns = 8750;
			p.after_ns = 6400;
			p.diff_rel = -0.268;
			p.diff_lo = -0.268 - 0.2 / i;
			p.diff_hi = -0.268 + 0.2 / i;
		}
		say(&p);
		usleep(slow ? 100000 : 20000);
	}
	w = mem_alloc(sizeof(*w));
	rng_seed(&w->rng, 2);
	check(store_open(session ? session : "", STORE_WRITE, &w->s, &w->err), &w->err);
	add_experiment(w, interrupted ? 2 : PAIRS, interrupted ? EXP_CANCELLED : EXP_COMPLETE, false);
	{
		struct experiment *v = NULL;
		size_t n = 0;

		check(store_experiments(w->s, &v, &n, &w->err), &w->err);
		p.experiment = n ? v[0].id : 0;
		for (i = 0; i < (int)n; i++)
			experiment_release(&v[i]);
		free(v);
	}
	check(store_close(w->s, &w->err), &w->err);
	free(w);
	p.phase = interrupted ? JOB_FAILED : JOB_DONE;
	snprintf(p.text, sizeof(p.text), "%s", interrupted ? "stopped" : "done");
	p.fraction = 1;
	say(&p);
	return interrupted ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;

	if (argc >= 4 && !strcmp(argv[1], "session"))
		return make_session(argv[2], argv[3]);
	if (argc >= 3 && !strcmp(argv[1], "tui")) {
		struct tui_opts o = { argv[2], argv[0], argc > 3 ? argv[3] : NULL };

		check(tui_run(&o, &err), &err);
		return 0;
	}
	if (argc >= 3 && !strcmp(argv[1], "run"))
		return run(argc - 1, argv + 1);
	fprintf(stderr, "usage: fixture session FILE plain|empty|hostile, fixture tui FILE [ID], "
		"fixture run CASE -s FILE\n");
	return 2;
}
