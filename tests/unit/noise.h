/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise: block after block as machines give them, around 1, from a fixed seed;
 * and blocks that a guest has given (tests/data/lab-blocks.csv). For simulations
 * in tests and benches.
 */
#ifndef KAB_TESTS_NOISE_H
#define KAB_TESTS_NOISE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/stats.h"

enum noise_kind {
	NOISE_NORMAL,
	NOISE_SKEWED,			/* a floor, and delays above it: exponential */
	NOISE_DRIFT,			/* normal, and a rise by eight sds over 100 blocks */
	NOISE_MODES,			/* two states, ten sds apart, three blocks in ten in the slow one */
	NOISE_LAB,			/* recorded blocks, drawn with replacement, neighbours together */
	NOISES
};

static const char *const noise_names[NOISES] = { "normal", "skewed", "drifting", "two modes", "lab blocks" };

/* Recorded pairs of the same code side by side, each divided by the mean of all. */
struct noise_lab {
	double (*pair)[2];
	size_t n;
	double sd;			/* of the difference in a pair */
};

struct noise {
	enum noise_kind kind;
	double sd;
	struct rng rng;
	unsigned at;			/* blocks so far */
	const struct noise_lab *lab;
	double second;			/* of a recorded pair, to come; NaN */
	bool in_order;			/* recorded blocks one after the other from `start` on, round and round */
	size_t start;
};

static inline struct noise noise_new(enum noise_kind kind, double sd, uint64_t seed)
{
	struct noise n = { .kind = kind, .sd = sd, .second = NAN };

	rng_seed(&n.rng, seed);
	return n;
}

static inline double noise_uniform(struct noise *n)
{
	return ((double)(rng_next(&n->rng) >> 11) + 0.5) * 0x1p-53;
}

static inline double noise_normal(struct noise *n)
{
	return sqrt(-2 * log(noise_uniform(n))) * cos(2 * 3.14159265358979323846 * noise_uniform(n));
}

static inline double noise_next(struct noise *n)
{
	unsigned at = n->at++;

	switch (n->kind) {
	case NOISE_SKEWED:
		return 1 + n->sd * (-log(noise_uniform(n)) - 1);
	case NOISE_DRIFT:
		return 1 + n->sd * (noise_normal(n) + 0.08 * at);
	case NOISE_MODES:
		return 1 + n->sd * (noise_normal(n) + 10 * ((noise_uniform(n) < 0.3) - 0.3));
	case NOISE_LAB:
		if (n->in_order) {
			size_t i = (n->start + at) % (2 * n->lab->n);

			return n->lab->pair[i / 2][i % 2];
		}
		if (isnan(n->second)) {
			size_t i = rng_below(&n->rng, n->lab->n);
			unsigned swap = rng_below(&n->rng, 2);

			n->second = n->lab->pair[i][!swap];
			return n->lab->pair[i][swap];
		} else {
			double v = n->second;

			n->second = NAN;
			return v;
		}
	default:
		return 1 + n->sd * noise_normal(n);
	}
}

/* false when the file is not at hand. Lines "FIRST,SECOND" of ns an operation; others are skipped. */
static inline bool noise_lab_load(struct noise_lab *lab, const char *path)
{
	FILE *f = fopen(path, "r");
	double a, b, sum = 0, ss = 0;
	char line[200];
	size_t i;

	*lab = (struct noise_lab){ 0 };
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lf,%lf", &a, &b) != 2)
			continue;
		lab->pair = mem_realloc(lab->pair, lab->n + 1, sizeof(*lab->pair));
		lab->pair[lab->n][0] = a;
		lab->pair[lab->n++][1] = b;
		sum += a + b;
	}
	if (f)
		fclose(f);
	for (i = 0; i < lab->n; i++) {
		lab->pair[i][0] *= 2 * (double)lab->n / sum;
		lab->pair[i][1] *= 2 * (double)lab->n / sum;
		ss += (lab->pair[i][0] - lab->pair[i][1]) * (lab->pair[i][0] - lab->pair[i][1]);
	}
	lab->sd = lab->n ? sqrt(ss / (double)lab->n) : 0;
	return lab->n >= 10;
}

#endif
