// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gate: see gate.h. Called by compare for the two sides it is about to subtract;
 * the caveats are printed by every view of the comparison.
 */
#include "profile/gate.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

static const char *const names[2] = { "before", "after" };

static bool is_mark(const struct symbol *s, const char *name)
{
	return s->kind == FRAME_MARK && !strcmp(s->name, name);
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

struct gate_side gate_side_of(const struct run *r, const struct profile *p, const char *kernel)
{
	struct gate_side s = { .mean_period = NAN, .kernel = kernel };
	double truncated = 0, unresolved = 0;
	size_t i;

	if (r) {
		s.event = r->event;
		s.freq_hz = r->freq_hz;
		s.samples = (double)r->samples;
		s.lost = (double)r->lost;
		s.damaged = (double)r->bad_stacks;
		s.wall_ns = (double)r->wall_ns;
	}
	if (!p)
		return s;
	for (i = 1; i < p->n; i++) {
		const struct symbol *symbol = profile_symbol(p, (uint32_t)i);

		if (is_mark(symbol, "[truncated]"))
			truncated += p->nodes[i].total[COUNT];
		if (is_mark(symbol, "[unknown]") || !strcmp(symbol->name, "[unknown]"))
			unresolved += p->nodes[i].self[COUNT];
	}
	s.samples = s.samples > 0 ? s.samples : p->samples;
	s.truncated = share(truncated, p->samples);
	s.unresolved = share(unresolved, p->samples);
	if (p->samples > 0 && p->period > 0)
		s.mean_period = p->period / p->samples;
	return s;
}

/* An event's name without the modifiers that ask for precision alone: they change skid, not what is counted. */
static void base_event(const char *event, struct buf *out)
{
	const char *colon = strrchr(event, ':');
	size_t n = colon && colon[1] && strspn(colon + 1, "pP") == strlen(colon + 1) ? (size_t)(colon - event) :
		strlen(event);

	text_escape(out, event, n > 60 ? 60 : n, true);
}

static void events(const struct gate_side s[2], struct caveats *out)
{
	struct buf name[2] = { BUF_INIT, BUF_INIT };
	int i;

	for (i = 0; i < 2; i++)
		if (s[i].event)
			base_event(s[i].event, &name[i]);
	if (s[0].event && s[1].event && strcmp(buf_str(&name[0]), buf_str(&name[1])))
		caveats_add(out, CAVEAT_EVENT, LEVEL_REFUSE, NULL,
			     "Not comparable: before was sampled by %s, after by %s; record both with the same --events.",
			     buf_str(&name[0]), buf_str(&name[1]));
	else if (s[0].event && s[1].event && strcmp(s[0].event, s[1].event))
		caveats_add(out, CAVEAT_EVENT, LEVEL_NOTE, NULL,
			     "The same event %s was sampled with different precision (:p), so leaf functions may have"
			     " shifted.", buf_str(&name[0]));
	else if (!s[0].event != !s[1].event)
		caveats_add(out, CAVEAT_EVENT, LEVEL_WARN, NULL,
			     "The event of %s is not known; it has to be %s for the difference to mean anything.",
			     names[!s[1].event], buf_str(&name[!s[0].event]));
	buf_release(&name[0]);
	buf_release(&name[1]);
}

static void rates(const struct gate_side s[2], enum measure m, struct caveats *out)
{
	double a = s[0].mean_period, b = s[1].mean_period;
	bool other_rate = s[0].freq_hz != s[1].freq_hz;
	bool other_period = isfinite(a) && isfinite(b) && fabs(a - b) > 0.01 * fmax(a, b);

	if (!other_rate && !(other_period && m == COUNT))
		return;
	if (m == COUNT && (!s[0].freq_hz || !s[1].freq_hz) && !other_period)
		caveats_add(out, CAVEAT_RATE, LEVEL_WARN, NULL,
			     "The sampling rate of a side is not known and its samples carry no period: numbers of samples"
			     " are compared as if both were sampled alike. Shares (--by share) do not need that.");
	else if (m == COUNT)
		caveats_add(out, CAVEAT_RATE, LEVEL_REFUSE, NULL,
			     "Not comparable: before was sampled at %llu Hz, after at %llu Hz, and the samples carry no"
			     " period; record both at one rate (-F).", (unsigned long long)s[0].freq_hz,
			     (unsigned long long)s[1].freq_hz);
	else
		caveats_add(out, CAVEAT_RATE, LEVEL_NOTE, NULL,
			     "The sides were sampled at different rates (%llu and %llu Hz); costs are normalised by the period"
			     " of each sample, numbers of samples are not comparable.",
			     (unsigned long long)s[0].freq_hz, (unsigned long long)s[1].freq_hz);
}

static void kernels(const struct gate_side s[2], struct caveats *out)
{
	struct buf a = BUF_INIT, b = BUF_INIT;

	if (s[0].kernel && s[1].kernel && strcmp(s[0].kernel, s[1].kernel)) {
		text_escape(&a, s[0].kernel, strnlen(s[0].kernel, 60), true);
		text_escape(&b, s[1].kernel, strnlen(s[1].kernel, 60), true);
		caveats_add(out, CAVEAT_KERNEL, LEVEL_WARN, NULL,
			     "The kernels differ: before ran on %s, after on %s. Everything between the two is in the"
			     " difference.", buf_str(&a), buf_str(&b));
	}
	buf_release(&a);
	buf_release(&b);
}

/* A share that is too large on a side, or moved by as much between the sides. */
static void shares(double before, double after, double limit, enum caveat_kind k, const char *what,
		   struct caveats *out)
{
	if (before <= limit && after <= limit && fabs(after - before) <= limit)
		return;
	caveats_add(out, k, LEVEL_WARN, NULL, "%s: %.3g %% before, %.3g %% after.", what, 100 * before, 100 * after);
}

void gate_check(const struct gate_side s[2], enum measure m, struct caveats *out)
{
	double longer = fmax(s[0].wall_ns, s[1].wall_ns), shorter = fmin(s[0].wall_ns, s[1].wall_ns);
	int i;

	for (i = 0; i < 2; i++) {
		if (s[i].samples >= GATE_SAMPLES)
			continue;
		caveats_add(out, CAVEAT_NO_SAMPLES, LEVEL_WARN, NULL,
			     "Only %.0f samples %s: each is worth %.2g %% of that side.", s[i].samples, names[i],
			     s[i].samples > 0 ? 100 / s[i].samples : 100);
	}
	if (s[0].samples > 0 && s[1].samples > 0) {
		events(s, out);
		rates(s, m, out);
		kernels(s, out);
	}
	shares(share(s[0].lost, s[0].samples + s[0].lost), share(s[1].lost, s[1].samples + s[1].lost), GATE_LOST,
	       CAVEAT_LOST, "Samples were lost, most where most was going on; a lower rate (-F) loses fewer", out);
	shares(share(s[0].damaged, s[0].samples), share(s[1].damaged, s[1].samples), GATE_TRUNCATED, CAVEAT_DAMAGED,
	       "Stacks have a damaged part", out);
	shares(s[0].truncated, s[1].truncated, GATE_TRUNCATED, CAVEAT_TRUNCATED,
	       "Stacks were deeper than the kernel records (kernel.perf_event_max_stack), so their roots are cut off", out);
	shares(s[0].unresolved, s[1].unresolved, GATE_UNRESOLVED, CAVEAT_UNRESOLVED,
	       "Samples fell into code without a name", out);
	if (shorter > 0 && longer > GATE_DURATION * shorter)
		caveats_add(out, CAVEAT_DURATION, LEVEL_NOTE, NULL,
			     "One side ran %.3g times as long as the other: rare functions show on the longer one alone.",
			     longer / shorter);
}
