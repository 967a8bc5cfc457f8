// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * progress: one line of JSON a step, written by a job and read by the
 * workbench that started it. Both directions come from one table of fields, so
 * that they cannot drift apart. The reader trusts nothing: the line comes
 * through a pipe.
 */
#include "jobs/jobs.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const phase_names[] = {
	[JOB_BUILD] = "build", [JOB_FETCH] = "fetch", [JOB_BOOT] = "boot", [JOB_LOAD] = "load",
	[JOB_CHECK] = "check", [JOB_BLOCK] = "block", [JOB_STORE] = "store", [JOB_DONE] = "done",
	[JOB_FAILED] = "failed",
};
#define PHASES (sizeof(phase_names) / sizeof(phase_names[0]))

const char *job_phase_name(enum job_phase p)
{
	return (size_t)p < PHASES ? phase_names[p] : "?";
}

enum field_type { F_REAL, F_U64, F_I64, F_UINT };

static const struct field {
	const char *key;
	enum field_type type;
	size_t offset;
} fields[] = {
#define FIELD(type, name) { #name, type, offsetof(struct job_progress, name) }
	FIELD(F_REAL, fraction),
	FIELD(F_I64, experiment),
	FIELD(F_UINT, block),
	FIELD(F_UINT, blocks),
	FIELD(F_REAL, samples_per_s),
	FIELD(F_U64, samples),
	FIELD(F_U64, lost),
	FIELD(F_REAL, before_ns),
	FIELD(F_REAL, after_ns),
	FIELD(F_REAL, diff_rel),
	FIELD(F_REAL, diff_lo),
	FIELD(F_REAL, diff_hi),
	FIELD(F_UINT, pairs),
	FIELD(F_UINT, more),
	FIELD(F_REAL, until),
	FIELD(F_REAL, time_left),
#undef FIELD
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* JSON has no NaN: an unknown figure is null. */
static json_t *field_get(const struct job_progress *p, const struct field *f)
{
	const void *at = (const char *)p + f->offset;

	switch (f->type) {
	case F_REAL:
		return isfinite(*(const double *)at) ? json_real(*(const double *)at) : json_null();
	case F_U64:
		return json_integer((json_int_t)*(const uint64_t *)at);
	case F_I64:
		return json_integer((json_int_t)*(const int64_t *)at);
	case F_UINT:
		return json_integer(*(const unsigned *)at);
	}
	return NULL;
}

static bool field_set(struct job_progress *p, const struct field *f, const json_t *v)
{
	void *at = (char *)p + f->offset;
	json_int_t n = json_integer_value(v);

	if (f->type == F_REAL) {
		*(double *)at = json_is_number(v) ? json_number_value(v) : NAN;
		return json_is_number(v) || json_is_null(v);
	}
	if (!json_is_integer(v) || (f->type != F_I64 && n < 0) || (f->type == F_UINT && n > UINT32_MAX))
		return false;
	if (f->type == F_UINT)
		*(unsigned *)at = (unsigned)n;
	else
		*(int64_t *)at = n;
	return true;
}

void job_progress_json(const struct job_progress *p, struct buf *out)
{
	json_t *o = json_object();
	struct buf text = BUF_INIT;
	char *s;
	size_t i;

	/* Text may carry a peer's words: jansson takes valid UTF-8 only. */
	text_escape(&text, p->text, strlen(p->text), true);
	json_object_set_new(o, "phase", json_string(job_phase_name(p->phase)));
	json_object_set_new(o, "text", json_string(buf_str(&text)));
	json_object_set_new(o, "variant", json_string(variant_name(p->variant)));
	json_object_set_new(o, "warmup", json_boolean(p->warmup));
	for (i = 0; i < FIELDS; i++)
		json_object_set_new(o, fields[i].key, field_get(p, &fields[i]));
	s = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	if (s)
		buf_puts(out, s);
	free(s);
	json_decref(o);
	buf_release(&text);
}

int job_progress_parse(const char *line, size_t len, struct job_progress *p)
{
	json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const char *phase = json_string_value(json_object_get(o, "phase"));
	const char *text = json_string_value(json_object_get(o, "text"));
	const char *variant = json_string_value(json_object_get(o, "variant"));
	size_t i, n;
	int rc = -EINVAL;

	memset(p, 0, sizeof(*p));
	if (!phase || !text || !variant || !variant_parse(variant, &p->variant))
		goto out;
	for (n = 0; n < PHASES && strcmp(phase_names[n], phase); n++)
		;
	if (n == PHASES)
		goto out;
	p->phase = (enum job_phase)n;
	snprintf(p->text, sizeof(p->text), "%s", text);
	p->warmup = json_is_true(json_object_get(o, "warmup"));
	for (i = 0; i < FIELDS; i++)
		if (!field_set(p, &fields[i], json_object_get(o, fields[i].key)))
			goto out;
	rc = 0;
out:
	json_decref(o);
	return rc;
}
