// SPDX-License-Identifier: GPL-2.0-or-later
/* probe: see probe.h. */
#include "profile/probe.h"

#include <stdlib.h>
#include <string.h>

static void strings_release(char **v, size_t n)
{
	while (n)
		free(v[--n]);
	free(v);
}

void probe_release(struct probe *p)
{
	size_t i;

	for (i = 0; i < p->n_symbols; i++) {
		free(p->symbols[i].name);
		strings_release(p->symbols[i].parts, p->symbols[i].n_parts);
		strings_release(p->symbols[i].owners, p->symbols[i].n_owners);
	}
	for (i = 0; i < p->n_modules; i++) {
		free(p->modules[i].name);
		free(p->modules[i].variant);
	}
	free(p->symbols);
	free(p->modules);
	memset(p, 0, sizeof(*p));
}

const struct probed_symbol *probe_symbol(const struct probe *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_symbols; i++)
		if (!strcmp(p->symbols[i].name, name))
			return &p->symbols[i];
	return NULL;
}

const struct probed_module *probe_module(const struct probe *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_modules; i++)
		if (!strcmp(p->modules[i].name, name))
			return &p->modules[i];
	return NULL;
}
