// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile-bench: time and memory of folding, joining and laying out two large
 * synthetic profiles. Prints figures and asserts none: they depend on the machine.
 *
 *	profile-bench [STACKS [random]]	unique stacks a side, 300000 by default
 *
 * Stacks are 8 to 40 frames deep, of 8000 functions. By default each branches
 * off a known one and adds one to three frames, about the 1.6 new frames a
 * stack that FlameGraph's example profile of a kernel has; half of the stacks are
 * common to both sides. With "random" every frame is drawn at random, which no
 * program does: next to nothing is shared, so it is the bound from above.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "profile/compare.h"
#include "profile/layout.h"

#define FUNCTIONS 8000
#define MIN_DEPTH 8
#define MAX_DEPTH 40

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double peak_mb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1000;
}

static void report(const char *what, double since, size_t frames)
{
	printf("%-26s %8.3f s %10zu frames, %8.1f MB at most so far\n", what, now() - since, frames,
	       peak_mb());
}

/* Adds `stacks` new stacks, each parting from a known one. */
static void add_branches(struct profile *p, const uint32_t *names, size_t stacks, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	while (stacks) {
		uint32_t node = (uint32_t)rng_below(&r, p->n);
		size_t more = 1 + rng_below(&r, 3);

		if (p->nodes[node].depth < MIN_DEPTH - 1 || p->nodes[node].depth + more > MAX_DEPTH)
			continue;
		while (more--)
			node = profile_child(p, node, names[rng_below(&r, FUNCTIONS)]);
		stacks -= p->nodes[node].self[COUNT] == 0;
		profile_add(p, node, 1 + (double)rng_below(&r, 9), 250000);
	}
}

static void add_random(struct profile *p, const uint32_t *names, size_t stacks, uint64_t seed)
{
	uint32_t stack[MAX_DEPTH];
	struct rng r;

	rng_seed(&r, seed);
	while (stacks--) {
		size_t depth = MIN_DEPTH + rng_below(&r, MAX_DEPTH - MIN_DEPTH + 1), i;

		for (i = 0; i < depth; i++)
			stack[i] = names[rng_below(&r, FUNCTIONS)];
		profile_add_stack(p, stack, depth, 1, 250000);
	}
}

static struct profile *make(size_t stacks, uint64_t seed, bool random)
{
	struct profile *p = profile_new();
	uint32_t names[FUNCTIONS], i;

	for (i = 0; i < FUNCTIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%u", i);
		names[i] = symtab_intern(&p->symtab, name, "[kernel.kallsyms]", FRAME_KERNEL);
	}
	if (random) {
		add_random(p, names, stacks, seed);
		return p;
	}
	profile_add_stack(p, names, MIN_DEPTH, 1, 250000);
	add_branches(p, names, stacks / 2, 0);
	add_branches(p, names, stacks - stacks / 2, seed);
	return p;
}

int main(int argc, char **argv)
{
	bool random = argc > 2 && !strcmp(argv[2], "random");
	size_t stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000, n;
	struct profile *p[SIDES];
	struct flat_diff_row *rows;
	struct diff *d;
	double start;
	int s, by;

	for (s = 0; s < SIDES; s++) {
		start = now();
		p[s] = make(stacks, (uint64_t)s + 1, random);
		report("fold, generator included", start, p[s]->n);
		start = now();
		profile_seal(p[s]);
		report("seal", start, p[s]->n);
	}
	start = now();
	d = diff_build((struct diff_side[]){ { p[BEFORE], 1000, 1e9 }, { p[AFTER], 1000, 1e9 } });
	report("diff", start, d->n);
	start = now();
	rows = diff_flat(d, PERIOD, &n);
	report("flat", start, n);
	for (by = WIDTH_BEFORE; by <= WIDTH_DELTA; by++) {
		static const char *const names[] = {
			"layout, before", "layout, after", "layout, larger", "layout, difference",
		};
		struct layout_opts o = { .measure = PERIOD, .by = (enum width_by)by, .width = 200 };
		struct layout l;

		start = now();
		layout_build(d, &o, &l);
		report(names[by], start, l.n);
		layout_release(&l);
	}
	free(rows);
	diff_free(d);
	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
	return 0;
}
