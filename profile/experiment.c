// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * experiment: names and owners of the plain data in experiment.h.
 *
 * The names are what the session file, the command line and the screen share,
 * so each stands in one table. Everything here frees what others filled in;
 * nothing is read or written.
 */
#include "profile/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const variant_names[VARIANT_COUNT] = {
	[VARIANT_NONE] = "none",
	[VARIANT_NATIVE] = "native",
	[VARIANT_BEFORE] = "before",
	[VARIANT_AFTER] = "after",
};

static const char *const run_state_names[] = {
	[RUN_RUNNING] = "running",
	[RUN_COMPLETE] = "complete",
	[RUN_INCOMPLETE] = "incomplete",
	[RUN_FAILED] = "failed",
};

static const char *const exp_state_names[] = {
	[EXP_RUNNING] = "running",
	[EXP_COMPLETE] = "complete",
	[EXP_CANCELLED] = "cancelled",
	[EXP_INCOMPLETE] = "incomplete",
	[EXP_FAILED] = "failed",
};

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* States come from session files as numbers, so any value may be asked for. */
static const char *name_of(const char *const *names, size_t n, unsigned i)
{
	return i < n ? names[i] : "unknown";
}

const char *variant_name(enum variant v)
{
	return name_of(variant_names, VARIANT_COUNT, v);
}

bool variant_parse(const char *name, enum variant *v)
{
	unsigned i;

	for (i = 0; i < VARIANT_COUNT; i++) {
		if (!strcmp(name, variant_names[i])) {
			*v = (enum variant)i;
			return true;
		}
	}
	return false;
}

const char *run_state_name(enum run_state s)
{
	return name_of(run_state_names, ARRAY_LEN(run_state_names), s);
}

const char *exp_state_name(enum exp_state s)
{
	return name_of(exp_state_names, ARRAY_LEN(exp_state_names), s);
}

void run_release(struct run *r)
{
	free(r->label);
	free(r->command);
	free(r->event);
	memset(r, 0, sizeof(*r));
}

void experiment_release(struct experiment *e)
{
	free(e->case_name);
	free(e->case_yaml);
	free(e->target);
	free(e->command);
	free(e->workload);
	free(e->note);
	free(e->kernel);
	free(e->kab_version);
	free(e->event);
	free(e->job);
	memset(e, 0, sizeof(*e));
}

void machine_release(struct machine *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		free(m->facts[i].key);
		free(m->facts[i].value);
	}
	free(m->facts);
	memset(m, 0, sizeof(*m));
}

void machine_add(struct machine *m, const char *key, const char *value)
{
	m->facts = mem_realloc(m->facts, m->n + 1, sizeof(*m->facts));
	m->facts[m->n++] = (struct fact){ mem_strdup(key), mem_strdup(value) };
}

const char *machine_get(const struct machine *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!strcmp(m->facts[i].key, key))
			return m->facts[i].value;
	return NULL;
}

static void strings_release(char **v, size_t n)
{
	while (n)
		free(v[--n]);
	free(v);
}

void case_facts_release(struct case_facts *c)
{
	size_t i;

	free(c->name);
	free(c->title);
	free(c->date);
	free(c->author);
	free(c->message_id);
	free(c->upstream);
	free(c->summary);
	free(c->module);
	free(c->operation);
	free(c->style);
	strings_release(c->files, c->n_files);
	strings_release(c->kernels, c->n_kernels);
	strings_release(c->notes, c->n_notes);
	for (i = 0; i < c->n_functions; i++) {
		free(c->functions[i].name);
		free(c->functions[i].before);
		free(c->functions[i].after);
	}
	free(c->functions);
	for (i = 0; i < c->n_claims; i++) {
		free(c->claims[i].metric);
		free(c->claims[i].unit);
		free(c->claims[i].quote);
	}
	free(c->claims);
	for (i = 0; i < c->n_frames; i++) {
		free(c->frames[i].function);
		free(c->frames[i].parent);
	}
	free(c->frames);
	memset(c, 0, sizeof(*c));
}
