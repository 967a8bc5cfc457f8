// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * facts: what this machine is and can measure. Whatever is not there is left
 * out; nothing here says whose machine it is. hardware.c and moving.c hold more.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "collectors/live/agent/facts.h"
#include "collectors/live/agent/ring.h"
#include "collectors/live/agent/session.h"
#include "collectors/live/agent/version.h"

#define CPU_SYS "/sys/devices/system/cpu/"

/* The first line of a file is the fact. */
static const struct { const char *key, *path; } files[] = {
	{ "cpu.possible", CPU_SYS "possible" },
	{ "perf.paranoid", "/proc/sys/kernel/perf_event_paranoid" },
	{ "perf.max_stack", "/proc/sys/kernel/perf_event_max_stack" },
	{ "perf.max_rate", "/proc/sys/kernel/perf_event_max_sample_rate" },
	{ "kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict" },
	{ "kernel.lockdown", "/sys/kernel/security/lockdown" },
	{ "modules.disabled", "/proc/sys/kernel/modules_disabled" },
	{ "modules.sig_enforce", "/sys/module/module/parameters/sig_enforce" },
	{ "ftrace.enabled", "/proc/sys/kernel/ftrace_enabled" },
};

/* Five bytes: the attributes of the variable, then 1 when Secure Boot is on. Absent without EFI. */
#define SECURE_BOOT "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* A line "NAME : VALUE" of a file is the fact. */
static const struct { const char *key, *path, *name; } fields[] = {
	{ "cpu.model", "/proc/cpuinfo", "model name" },
	{ "memory", "/proc/meminfo", "MemTotal" },
};

static const struct { const char *key, *path; } present[] = {
	{ "kernel.modules", "/proc/modules" },
	{ "kernel.livepatch", "/sys/kernel/livepatch" },
};

void fact_add(struct answer *a, const char *key, const char *value)
{
	vec_push(&a->facts, (struct answer_fact){ mem_strdup(key), mem_strdup(value) });
}

void fact_printf(struct answer *a, const char *key, const char *fmt, ...)
{
	char value[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	fact_add(a, key, value);
}

static void chomp(char *line)
{
	size_t n = strlen(line);

	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
}

void fact_file(struct answer *a, const char *key, const char *path)
{
	char line[256];
	FILE *f = fopen(path, "re");

	if (f && fgets(line, sizeof(line), f)) {
		chomp(line);
		fact_add(a, key, line);
	}
	if (f)
		fclose(f);
}

bool fact_field(const char *path, const char *name, char *value, size_t size)
{
	char line[4096], *colon;
	FILE *f = fopen(path, "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || strncmp(line, name, strlen(name)))
			continue;
		chomp(line);
		snprintf(value, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static bool flag(const char *flags, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = flags; (p = strstr(p, name)); p += n)
		if ((p == flags || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

static void add_flags(struct answer *a)
{
	char flags[4096];

	if (!fact_field("/proc/cpuinfo", "flags", flags, sizeof(flags)))
		return;
	fact_add(a, "machine.virtual", flag(flags, "hypervisor") ? "yes" : "no");
	fact_add(a, "cpu.ibt", flag(flags, "ibt") ? "yes" : "no");
}

static void add_secure_boot(struct answer *a)
{
	struct buf value = BUF_INIT;

	if (!buf_read_file(&value, SECURE_BOOT, 64, NULL) && value.len == 5)
		fact_add(a, "kernel.secure_boot", value.data[4] == 1 ? "on" : "off");
	buf_release(&value);
}

static void add_mitigations(struct answer *a)
{
	struct buf line = BUF_INIT;

	if (!buf_read_file(&line, "/proc/cmdline", 65536, NULL))
		fact_add(a, "cpu.mitigations", strstr(buf_str(&line), "mitigations=off") ? "off" : "on");
	buf_release(&line);
}

static void add_perf(struct answer *a)
{
	struct err why = ERR_INIT;
	bool kernel = ring_allowed(false, NULL) == 0, user = kernel || ring_allowed(true, &why) == 0;

	fact_add(a, "perf.event", ring_has_cycles() ? "cycles" : "cpu-clock");
	fact_add(a, "perf.rights", kernel ? "kernel" : user ? "user" : "none");
	if (!user)
		fact_add(a, "perf.why_not", why.text);
}

int serve_facts(struct session *s, const Kab__Request *rq, struct answer *a, struct err *err)
{
	struct utsname u;
	char value[4096];
	size_t i;

	(void)s, (void)err;
	if (rq->facts->moving) {
		facts_moving(a);
		return 0;
	}
	uname(&u);
	fact_add(a, "kernel.release", u.release);
	fact_add(a, "kernel.version", u.version);
	fact_add(a, "machine.arch", u.machine);
	fact_add(a, "agent.version", AGENT_VERSION);
	fact_add(a, "agent.root", geteuid() ? "no" : "yes");
	facts_hardware(a);
	facts_settings(a);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fact_field(fields[i].path, fields[i].name, value, sizeof(value)))
			fact_add(a, fields[i].key, value);
	}
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		fact_file(a, files[i].key, files[i].path);
	for (i = 0; i < sizeof(present) / sizeof(present[0]); i++)
		fact_add(a, present[i].key, access(present[i].path, F_OK) ? "no" : "yes");
	add_flags(a);
	add_secure_boot(a);
	add_mitigations(a);
	add_perf(a);
	return 0;
}
