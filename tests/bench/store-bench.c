// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * store-bench [SAMPLES [FILE]]: how fast a session file takes samples, how much room
 * they take, how fast they come back. Prints figures, judges none.
 *
 * The load imitates a recording at 4000 Hz on 8 CPUs of a machine that works: 20 000
 * distinct stacks of 12 to 40 frames below 4000 functions, met with Zipf-like
 * frequencies, 10 processes of 4 threads, times with a jitter of some microseconds, rings
 * drained one CPU after the other. A second file with 100 000 distinct stacks,
 * some 300 000 nodes, measures the folding of a large profile. Seconds are of the CPU.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "profile/stats.h"
#include "store/store.h"

#define CPUS 8
#define COMMS 10			/* processes, each with stacks of its own */
#define THREADS 40
#define FUNCTIONS 4000
#define BATCH 800			/* what a drain of the rings brings at once */
#define PERIOD_NS 250000

struct load {
	int64_t *stacks; size_t n_stacks;
	int64_t threads[THREADS];
	uint64_t now[CPUS];
	struct rng rng;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "store-bench: %s\n", err->text);
	exit(1);
}

/* Uniform in (0, 1]. */
static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 1) / 9007199254740992.0;
}

static void make_stacks(struct store *s, int64_t run, struct load *l, size_t n, struct err *err)
{
	int64_t *symbols = mem_calloc(FUNCTIONS, sizeof(*symbols));
	char name[64];
	size_t i;

	for (i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "subsystem_do_something_%zu", i);
		must(store_symbol(s, name, "[kernel.kallsyms]", "", FRAME_KERNEL, &symbols[i], err), err);
	}
	l->stacks = mem_calloc(n, sizeof(*l->stacks));
	l->n_stacks = n;
	for (i = 0; i < n; i++) {
		unsigned depth = 12 + (unsigned)rng_below(&l->rng, 29);
		int64_t stack = 0;

		for (unsigned d = 0; d < depth; d++) {	/* callers are few, leaves are many */
			uint64_t wide = d >= depth - 3 ? FUNCTIONS : d % 4 ? 1 : 2;
			uint64_t f = (d * 97 + rng_below(&l->rng, wide)) % FUNCTIONS;

			must(store_stack_child(s, stack, symbols[f], &stack, err), err);
		}
		l->stacks[i] = stack;
	}
	for (i = 0; i < THREADS; i++) {
		uint32_t pid = 1000 + (uint32_t)(i * COMMS / THREADS);

		snprintf(name, sizeof(name), "worker-%zu", i * COMMS / THREADS);
		must(store_thread(s, run, pid, 1000 + (uint32_t)i, name, &l->threads[i], err), err);
	}
	free(symbols);
}

static void batch(struct load *l, struct store_sample *v)
{
	for (size_t i = 0; i < BATCH; i++) {
		uint32_t cpu = (uint32_t)(i * CPUS / BATCH);
		size_t stack = (size_t)exp(uniform(&l->rng) * log((double)l->n_stacks)) - 1;
		size_t sibling = rng_below(&l->rng, THREADS / COMMS);

		l->now[cpu] += PERIOD_NS + rng_below(&l->rng, 6000) - 3000;
		v[i] = (struct store_sample){
			.time_ns = l->now[cpu], .period = PERIOD_NS, .cpu = cpu, .stack = l->stacks[stack],
			.thread = l->threads[stack % COMMS * (THREADS / COMMS) + sibling],
			.addr = rng_below(&l->rng, 40) * 7,
		};
	}
}

static int count_raw(void *ctx, const struct store_sample *v, size_t n)
{
	(void)v;
	*(uint64_t *)ctx += n;
	return 0;
}

static double size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size;
}

static struct store *start(const char *path, struct run *run, struct load *l, size_t stacks, struct err *err)
{
	struct store *s;
	double t;

	*run = (struct run){ .kind = RUN_RECORD, .sampled = true, .ops = 1 };
	*l = (struct load){ 0 };
	rng_seed(&l->rng, 1);
	must(store_open(path, STORE_WRITE, &s, err), err);
	must(store_run_begin(s, run, err), err);
	must(store_event(s, run->id, 0, "cpu-clock", "ns", err), err);
	t = seconds();
	make_stacks(s, run->id, l, stacks, err);
	printf("%zu stacks interned in %.2f s\n", stacks, seconds() - t);
	return s;
}

static void finish(struct store *s, struct run *run, struct err *err)
{
	run->state = RUN_COMPLETE;
	must(store_run_finish(s, run, err), err);
	must(store_close(s, err), err);
}

static void ingest(const char *path, size_t samples, struct err *err)
{
	struct store_sample *v = mem_calloc(BATCH, sizeof(*v));
	double t, busy = 0, worst = 0;
	struct store *s;
	struct load l;
	struct run run;
	uint64_t n = 0;

	s = start(path, &run, &l, 20000, err);
	for (; run.samples < samples; run.samples += BATCH) {
		batch(&l, v);
		t = seconds();
		must(store_samples(s, run.id, v, BATCH, err), err);
		t = seconds() - t;
		busy += t;
		worst = t > worst ? t : worst;
	}
	t = seconds();
	finish(s, &run, err);
	busy += seconds() - t;
	printf("ingest: %" PRIu64 " samples in %.2f s, %.2f million a second, longest call %.0f ms\n",
	       run.samples, busy, (double)run.samples / busy / 1e6, worst * 1e3);
	must(store_open(path, STORE_READ, &s, err), err);
	t = seconds();
	must(store_raw(s, run.id, count_raw, &n, err), err);
	printf("raw: %" PRIu64 " samples read in time order in %.2f s\n", n, seconds() - t);
	must(store_close(s, err), err);
	printf("file: %.0f bytes, %.2f a sample, stacks, symbols and folded rows included\n", size_of(path),
	       size_of(path) / (double)run.samples);
	free(l.stacks);
	free(v);
}

static void fold(const char *path, bool by_comm, struct err *err)
{
	struct store_profile_opts opts = { .by_comm = by_comm };
	struct profile *p;
	struct store *s;
	double t, again;
	int64_t id = 1;

	must(store_open(path, STORE_READ, &s, err), err);
	t = seconds();
	must(store_profile(s, &id, 1, &opts, &p, err), err);
	t = seconds() - t;
	printf("profile%s: %.0f samples, %zu nodes in %.2f s", by_comm ? " by comm" : "", p->samples, p->n,
	       t);
	profile_free(p);
	again = seconds();
	must(store_profile(s, &id, 1, &opts, &p, err), err);
	printf(", again %.2f s\n", seconds() - again);
	profile_free(p);
	must(store_close(s, err), err);
}

/* Each of the stacks once. */
static void large(const char *path, size_t stacks, struct err *err)
{
	struct store *s;
	struct load l;
	struct run run;

	s = start(path, &run, &l, stacks, err);
	for (size_t i = 0; i < l.n_stacks; i++) {
		struct store_sample v = {
			.time_ns = i, .period = 1, .stack = l.stacks[i], .thread = l.threads[i % THREADS]
		};

		must(store_samples(s, run.id, &v, 1, err), err);
	}
	finish(s, &run, err);
	free(l.stacks);
	fold(path, false, err);
	fold(path, true, err);
}

int main(int argc, char **argv)
{
	size_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
	char dir[] = "/tmp/kab-store-bench.XXXXXX", path[64];
	struct err err = ERR_INIT;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/a.kab", dir);
	ingest(argc > 2 ? argv[2] : path, samples, &err);
	fold(argc > 2 ? argv[2] : path, false, &err);
	if (argc <= 2)
		unlink(path);
	large(path, 100000, &err);
	unlink(path);
	rmdir(dir);
	return 0;
}
