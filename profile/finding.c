// SPDX-License-Identifier: GPL-2.0-or-later
/* finding: a list of sentences and the names of their kinds. Filled by shape, gate and compare. */
#include "profile/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const char *const kinds[FINDINGS] = {
	[FIND_TOO_FEW] = "too few", [FIND_IDENTICAL] = "identical", [FIND_TIES] = "ties",
	[FIND_OUTLIER] = "outlier", [FIND_MODES] = "modes", [FIND_DRIFT] = "drift",
	[FIND_SLOW_FIRST] = "slow first", [FIND_NOISE_FLOOR] = "noise floor", [FIND_AA_DIFFERS] = "a/a differs",
	[FIND_EVENT] = "event", [FIND_RATE] = "rate", [FIND_KERNEL] = "kernel", [FIND_LOST] = "lost",
	[FIND_DAMAGED] = "damaged", [FIND_TRUNCATED] = "truncated", [FIND_UNRESOLVED] = "unresolved",
	[FIND_DURATION] = "duration", [FIND_NO_SAMPLES] = "no samples",
};

const char *finding_name(enum finding_kind k)
{
	return (size_t)k < FINDINGS ? kinds[k] : "unknown";
}

const char *finding_level_name(enum finding_level l)
{
	static const char *const names[] = {
		[LEVEL_NOTE] = "note", [LEVEL_WARN] = "warning", [LEVEL_REFUSE] = "refused",
	};

	return (size_t)l < sizeof(names) / sizeof(names[0]) ? names[l] : "unknown";
}

void findings_release(struct findings *f)
{
	vec_release(f);
}

void findings_add(struct findings *f, enum finding_kind k, enum finding_level l, const char *metric,
		  const char *fmt, ...)
{
	struct finding *x = vec_add(f);
	va_list ap;

	x->kind = k;
	x->level = l;
	x->metric = metric;
	va_start(ap, fmt);
	vsnprintf(x->text, sizeof(x->text), fmt, ap);
	va_end(ap);
}

const struct finding *findings_get(const struct findings *f, enum finding_kind k, const char *metric)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].kind == k && (!metric || (f->v[i].metric && !strcmp(f->v[i].metric, metric))))
			return &f->v[i];
	return NULL;
}

enum finding_level findings_worst(const struct findings *f)
{
	enum finding_level worst = LEVEL_NOTE;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].level > worst)
			worst = f->v[i].level;
	return worst;
}
