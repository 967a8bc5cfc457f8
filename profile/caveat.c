// SPDX-License-Identifier: GPL-2.0-or-later
/* caveat: a list of sentences and the names of their kinds. Filled by shape, gate and compare. */
#include "profile/caveat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const char *const kinds[CAVEATS] = {
	[CAVEAT_TOO_FEW] = "too few", [CAVEAT_IDENTICAL] = "identical", [CAVEAT_TIES] = "ties",
	[CAVEAT_OUTLIER] = "outlier", [CAVEAT_MODES] = "modes", [CAVEAT_DRIFT] = "drift",
	[CAVEAT_SLOW_FIRST] = "slow first", [CAVEAT_NOISE_FLOOR] = "noise floor", [CAVEAT_AA_DIFFERS] = "a/a differs",
	[CAVEAT_EVENT] = "event", [CAVEAT_RATE] = "rate", [CAVEAT_KERNEL] = "kernel", [CAVEAT_LOST] = "lost",
	[CAVEAT_DAMAGED] = "damaged", [CAVEAT_TRUNCATED] = "truncated", [CAVEAT_UNRESOLVED] = "unresolved",
	[CAVEAT_DURATION] = "duration", [CAVEAT_NO_SAMPLES] = "no samples",
};

const char *caveat_name(enum caveat_kind k)
{
	return (size_t)k < CAVEATS ? kinds[k] : "unknown";
}

const char *caveat_level_name(enum caveat_level l)
{
	static const char *const names[] = {
		[LEVEL_NOTE] = "note", [LEVEL_WARN] = "warning", [LEVEL_REFUSE] = "refused",
	};

	return (size_t)l < sizeof(names) / sizeof(names[0]) ? names[l] : "unknown";
}

void caveats_release(struct caveats *f)
{
	vec_release(f);
}

void caveats_add(struct caveats *f, enum caveat_kind k, enum caveat_level l, const char *metric,
		  const char *fmt, ...)
{
	struct caveat *x = vec_add(f);
	va_list ap;

	x->kind = k;
	x->level = l;
	x->metric = metric;
	va_start(ap, fmt);
	vsnprintf(x->text, sizeof(x->text), fmt, ap);
	va_end(ap);
}

const struct caveat *caveats_get(const struct caveats *f, enum caveat_kind k, const char *metric)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].kind == k && (!metric || (f->v[i].metric && !strcmp(f->v[i].metric, metric))))
			return &f->v[i];
	return NULL;
}

enum caveat_level caveats_worst(const struct caveats *f)
{
	enum caveat_level worst = LEVEL_NOTE;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].level > worst)
			worst = f->v[i].level;
	return worst;
}
