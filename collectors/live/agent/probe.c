// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe: what the running kernel has of some names, as evidence for what can
 * be patched: /proc/kallsyms, ftrace's lists, the livepatches in force, kab's
 * own modules. Reads only; what it means is judged by kab.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collectors/live/agent/session.h"
#include "collectors/live/agent/sysfs.h"

#define SYMBOLS_MAX 256		/* asked for */
#define LIST_MAX 64		/* parts or owners of one */
#define LINE_LIMIT 1024
#define KLP "/sys/kernel/livepatch"

struct probing {
	Kab__ProbeResult *result;
	struct map names;		/* asked for -> place in result->symbols */
	struct map addresses;		/* of functions asked for -> place in at */
	VEC(Kab__ProbedSymbol *) at;
	struct map aliases;		/* other names of those addresses -> place in alias_of */
	VEC(Kab__ProbedSymbol *) alias_of;
};

/* Appends to a repeated string field that protobuf-c frees. */
static void append(char ***list, size_t *n, const char *s)
{
	if (*n == LIST_MAX)
		return;
	*list = mem_realloc(*list, *n + 1, sizeof(**list));
	(*list)[(*n)++] = mem_strdup(s);
}

/* The symbol that `name`, or `name` without what follows its first dot, asks for; NULL: none. */
static Kab__ProbedSymbol *asked(struct probing *p, const char *name, size_t len)
{
	uint32_t i = map_find(&p->names, name, len);

	return i == MAP_NONE ? NULL : p->result->symbols[i];
}

/*
 * The same, also by another name of the function: ftrace knows an address, and lists it by one of its names.
 * A system call has three.
 */
static Kab__ProbedSymbol *asked_function(struct probing *p, const char *name, size_t len)
{
	Kab__ProbedSymbol *s = asked(p, name, len);
	uint32_t i = s ? MAP_NONE : map_find(&p->aliases, name, len);

	return i == MAP_NONE ? s : p->alias_of.v[i];
}

/* --- /proc/kallsyms: "ADDRESS TYPE NAME", and a tab and "[MODULE]" behind a module's --- */

/* Address 0: hidden from us (kernel.kptr_restrict). */
static void note_address(struct probing *p, uint64_t address, Kab__ProbedSymbol *s)
{
	bool added = false;

	if (address)
		map_intern(&p->addresses, &address, sizeof(address), &added);
	if (added)
		vec_push(&p->at, s);
}

static void note_alias(struct probing *p, uint64_t address, const char *name)
{
	uint32_t i = map_find(&p->addresses, &address, sizeof(address));
	bool added = false;

	if (i != MAP_NONE && !asked(p, name, strlen(name)))
		map_intern(&p->aliases, name, strlen(name), &added);
	if (added)
		vec_push(&p->alias_of, p->at.v[i]);
}

static void take_symbol(struct probing *p, uint64_t address, char type, const char *name, bool module)
{
	const char *dot = strchr(name, '.');
	Kab__ProbedSymbol *s = asked(p, name, strlen(name));

	if (s && module) {
		s->in_modules++;
	} else if (s && strchr("tTwW", type)) {
		s->code++;
		note_address(p, address, s);
	} else if (s) {
		s->data++;
	} else if (dot && dot > name && !module && (s = asked(p, name, (size_t)(dot - name)))) {
		append(&s->parts, &s->n_parts, name);
	}
}

static int read_kallsyms(struct probing *p, struct err *err)
{
	char line[LINE_LIMIT], name[LINE_LIMIT], type;
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long address;

	if (!f)
		return err_sys(err, errno, "Cannot read /proc/kallsyms");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %1023s", &address, &type, name) == 3)
			take_symbol(p, address, type, name, strchr(line, '[') != NULL);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %1023s", &address, name) == 2 && !strchr(line, '['))
			note_alias(p, address, name);
	fclose(f);
	return 0;
}

/* --- ftrace --- */

static FILE *open_tracing(const char *file)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[96];
	FILE *f = NULL;

	for (size_t i = 0; !f && i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", roots[i], file);
		f = fopen(path, "re");
	}
	return f;
}

static void read_traceable(struct probing *p)
{
	FILE *f = open_tracing("available_filter_functions");
	char line[LINE_LIMIT];
	Kab__ProbedSymbol *s;

	p->result->tracing = f != NULL;
	while (f && fgets(line, sizeof(line), f)) {
		s = strchr(line, '[') ? NULL : asked_function(p, line, strcspn(line, " \n"));
		if (s)
			s->traceable = true;
	}
	if (f)
		fclose(f);
}

/* "NAME (USERS) FLAGS": among the flags, I says that a user changes where the call goes. */
static void read_redirected(struct probing *p)
{
	FILE *f = open_tracing("enabled_functions");
	char line[LINE_LIMIT], *flags;
	Kab__ProbedSymbol *s;

	while (f && fgets(line, sizeof(line), f)) {
		flags = strchr(line, ')');
		s = flags ? asked_function(p, line, strcspn(line, " ")) : NULL;
		if (s && !s->n_owners && memchr(flags, 'I', strcspn(flags, "\t\n")))
			append(&s->owners, &s->n_owners, "ftrace");
	}
	if (f)
		fclose(f);
}

/* --- livepatches: a folder PATCH/vmlinux/FUNCTION,N for each function --- */

static void read_livepatch(struct probing *p, const char *patch)
{
	char path[160];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), KLP "/%.60s/vmlinux", patch);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		Kab__ProbedSymbol *s = asked_function(p, e->d_name, strcspn(e->d_name, ","));

		if (s)
			append(&s->owners, &s->n_owners, patch);
	}
	if (d)
		closedir(d);
}

static void read_livepatches(struct probing *p)
{
	DIR *d = opendir(KLP);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			read_livepatch(p, e->d_name);
	if (d)
		closedir(d);
}

/* --- kab's modules --- */

static void add_module(Kab__ProbeResult *r, const char *name)
{
	Kab__ProbedModule *m = mem_alloc(sizeof(*m));
	char variant[64];

	kab__probed_module__init(m);
	module_variant_now(name, variant, sizeof(variant));
	m->name = mem_strdup(name);
	m->variant = mem_strdup(variant);
	m->enabled = module_enabled(name);
	m->transition = sys_number("kernel/livepatch", name, "transition") == 1;
	r->modules = mem_realloc(r->modules, r->n_modules + 1, sizeof(*r->modules));
	r->modules[r->n_modules++] = m;
}

static void read_modules(Kab__ProbeResult *r)
{
	DIR *d = opendir("/sys/module");
	struct dirent *e;

	while (d && r->n_modules < LIST_MAX && (e = readdir(d)))
		if (module_is_kab(e->d_name))
			add_module(r, e->d_name);
	if (d)
		closedir(d);
}

static void add_asked(struct probing *p, const char *name)
{
	Kab__ProbedSymbol *s;
	bool added;

	map_intern(&p->names, name, strlen(name), &added);
	if (!added)
		return;
	s = mem_alloc(sizeof(*s));
	kab__probed_symbol__init(s);
	s->name = mem_strdup(name);
	p->result->symbols[p->result->n_symbols++] = s;
}

int serve_probe(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	size_t n = rq->probe->n_symbols;
	struct probing p = { .result = mem_alloc(sizeof(*p.result)), .names = MAP_INIT,
			     .addresses = MAP_INIT, .aliases = MAP_INIT };
	int rc = 0;

	(void)s;
	kab__probe_result__init(p.result);
	a->probe = p.result;
	if (n > SYMBOLS_MAX)
		return err_add(err, -E2BIG, "kab asked for %zu symbols at once; kab-agent looks up %d.", n, SYMBOLS_MAX);
	p.result->symbols = mem_calloc(n + 1, sizeof(*p.result->symbols));
	for (size_t i = 0; i < n; i++)
		add_asked(&p, rq->probe->symbols[i]);
	if (n)
		rc = read_kallsyms(&p, err);
	if (n && !rc) {
		read_traceable(&p);
		read_livepatches(&p);
		read_redirected(&p);
	}
	read_modules(p.result);
	map_release(&p.names);
	map_release(&p.addresses);
	map_release(&p.aliases);
	vec_release(&p.at);
	vec_release(&p.alias_of);
	return rc;
}
