// SPDX-License-Identifier: GPL-2.0-or-later
/* plan: see plan.h. Pure but for allocation; run.c asks it between blocks, and stores what it says at the end. */
#include "jobs/plan.h"

#include <limits.h>
#include <math.h>

#include "base/buf.h"
#include "profile/stats.h"

/* Pairs whose order is drawn together: within them as many start with before as with after. */
#define CHUNK 8
/* Beyond the first `blocks` pairs of an open-ended experiment, one in so many is sampled too. */
#define THIN 4

void plan_init(struct plan *p, const struct plan_opts *o)
{
	*p = (struct plan){ .o = *o };
	p->look.half = INFINITY;
}

void plan_release(struct plan *p)
{
	int v;

	for (v = 0; v < VARIANT_COUNT; v++)
		vec_release(&p->values[v]);
}

/* The order of pair i: of the whole experiment where its length is known, else of the chunk it is in. */
static void order_of(const struct plan *p, size_t i, enum variant pair[2])
{
	size_t n = p->o.until > 0 ? CHUNK : p->o.blocks, chunk = i / n;
	enum variant *order = mem_calloc(2 * n, sizeof(*order));

	stats_block_order(p->o.seed + chunk, n, order);
	pair[0] = order[2 * (i % n)];
	pair[1] = order[2 * (i % n) + 1];
	free(order);
}

bool plan_next(struct plan *p, double now, struct plan_pair *out)
{
	if (!p->pairs) {
		p->began = now;
	} else {
		p->longest = fmax(p->longest, now - p->last);
		/* One more pair has to fit. */
		p->out_of_time = p->o.time_limit > 0 && now - p->began + p->longest > p->o.time_limit;
	}
	p->last = now;
	if (p->out_of_time || (p->o.until > 0 ? p->look.done || p->pairs >= STOP_MAX_PAIRS :
			       p->pairs >= p->o.blocks))
		return false;
	order_of(p, p->pairs, out->sampled);
	/* AGAIN beside before, on the outer side, so that before stays beside after. */
	if (out->sampled[0] == VARIANT_BEFORE) {
		out->timed[0] = VARIANT_AGAIN;
		out->timed[1] = VARIANT_BEFORE;
		out->timed[2] = VARIANT_AFTER;
	} else {
		out->timed[0] = VARIANT_AFTER;
		out->timed[1] = VARIANT_BEFORE;
		out->timed[2] = VARIANT_AGAIN;
	}
	out->sample = p->pairs < p->o.blocks || p->pairs % THIN == 0;
	p->pairs++;
	return true;
}

void plan_add(struct plan *p, enum variant v, double per_op)
{
	const typeof(p->values[0]) *b = &p->values[VARIANT_BEFORE], *a = &p->values[VARIANT_AFTER];

	vec_push(&p->values[v], per_op);
	if (v != VARIANT_AGAIN && b->n == a->n)
		p->look = stop_look(b->v, a->v, b->n, p->o.until > 0 ? p->o.until : 1);
}

size_t plan_pairs(const struct plan *p)
{
	size_t all = p->o.until <= 0 ? p->o.blocks : p->look.known ? p->look.pairs + p->look.more : p->pairs;
	double fit = p->o.time_limit > 0 && p->longest > 0 ? p->o.time_limit / p->longest : INFINITY;

	return (double)all > fit ? (size_t)fmax(fit, (double)p->pairs) : all;
}

double plan_time_left(const struct plan *p, double now)
{
	size_t all = p->o.until > 0 ? p->look.pairs + p->look.more : p->o.blocks, done = p->look.pairs;
	double spent = now - p->began, left = NAN, limit;

	if (done && (p->o.until <= 0 || p->look.known))
		left = spent / (double)done * (double)(all - done);
	limit = p->o.time_limit > 0 ? fmax(p->o.time_limit - spent, 0) : NAN;
	return p->pairs ? fmin(left, limit) : NAN;
}

double plan_fraction(const struct plan *p, double now)
{
	double left = plan_time_left(p, now), spent = now - p->began;

	return isfinite(left) && spent > 0 ? spent / (spent + left) : 0;
}

void plan_end(const struct plan *p, struct buf *out)
{
	double each = p->pairs ? (p->last - p->began) / (double)p->pairs : 0;

	if (p->o.until <= 0) {
		if (p->out_of_time)
			buf_printf(out, "The time limit of %.0f s ended it after %zu of %u pairs.", p->o.time_limit,
				   p->pairs, p->o.blocks);
		return;
	}
	if (p->look.done)
		return;
	buf_printf(out, "It did not reach +-%.3g %% ", 100 * p->o.until);
	if (p->out_of_time)
		buf_printf(out, "within the time limit of %.0f s: ", p->o.time_limit);
	else
		buf_printf(out, "in %zu pairs, the most there are: ", p->pairs);
	if (isfinite(p->look.half))
		buf_printf(out, "after %zu pairs the interval is +-%.3g %%", p->look.pairs, 100 * p->look.half);
	else
		buf_printf(out, "%zu pairs are too few for an interval", p->look.pairs);
	if (p->look.known)
		buf_printf(out, ", and with this spread it takes about %zu pairs, %.3g s.", p->look.pairs + p->look.more,
			   each * (double)(p->look.pairs + p->look.more));
	else
		buf_puts(out, ", and with this spread no reasonable number of pairs will do: let the machine come to rest,"
			 " or measure with --exact.");
}

unsigned plan_ops(unsigned usual, double per_op, const double *edge, double *share)
{
	double cost = fmax(stats_summary(edge, PLAN_PROBES).median, 0), want = ceil(cost / PLAN_EDGE_SHARE / per_op);
	unsigned ops = (unsigned)fmin(fmax(want, usual), fmin((double)PLAN_MOST_OPS * usual, UINT_MAX));

	*share = cost / (per_op * ops);
	return ops;
}
