// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kab doctor: what this machine can measure, and the remedy for each thing it
 * cannot. One table row a check; what only the kernel can tell comes from the
 * agent's facts, since only the agent touches the kernel.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"

enum state { GOOD, LIMITED, MISSING, STATES };
static const char *const state_names[STATES] = { "ok", "limited", "missing" };

struct finding {
	enum state state;
	char what[200];		/* as found */
	char remedy[240];	/* empty when good */
};

static int sysctl_int(const char *path, int absent)
{
	struct buf b = BUF_INIT;
	int v = absent;

	if (!buf_read_file(&b, path, 64, NULL))
		v = atoi(buf_str(&b));
	buf_release(&b);
	return v;
}

#define FOUND(f, st, ...) ((f)->state = (st), snprintf((f)->what, sizeof((f)->what), __VA_ARGS__))
#define REMEDY(f, ...) snprintf((f)->remedy, sizeof((f)->remedy), __VA_ARGS__)

static void check_user(const struct machine *m, struct finding *f)
{
	(void)m;
	FOUND(f, geteuid() ? LIMITED : GOOD, "%s", geteuid() ? "an ordinary user" : "root");
	if (geteuid())
		REMEDY(f, "loading modules on this machine goes through sudo; the lab needs no privilege");
}

static void check_paranoid(const struct machine *m, struct finding *f)
{
	int v = sysctl_int("/proc/sys/kernel/perf_event_paranoid", 2);

	(void)m;
	FOUND(f, geteuid() == 0 || v <= 1 ? GOOD : v == 2 ? LIMITED : MISSING, "kernel.perf_event_paranoid = %d", v);
	if (f->state != GOOD)
		REMEDY(f, "run as root, or sysctl kernel.perf_event_paranoid=1%s", v == 2 ? " (user code only until then)" : "");
}

static void check_kptr(const struct machine *m, struct finding *f)
{
	int v = sysctl_int("/proc/sys/kernel/kptr_restrict", 0);
	bool ok = v == 0 || (v == 1 && geteuid() == 0);

	(void)m;
	FOUND(f, ok ? GOOD : LIMITED, "kernel.kptr_restrict = %d", v);
	if (!ok)
		REMEDY(f, "kernel frames have no names until sysctl kernel.kptr_restrict=0");
}

static void check_pmu(const struct machine *m, struct finding *f)
{
	const char *event = machine_get(m, "perf.event");

	if (!event) {
		FOUND(f, MISSING, "no event could be opened");
		REMEDY(f, "see perf_event_paranoid above; in a container, allow perf_event_open");
	} else if (!strcmp(event, "cpu-clock")) {
		FOUND(f, LIMITED, "no hardware counters; cpu-clock is sampled");
		REMEDY(f, "measure on metal or in a guest with a virtual PMU for cycles and cache figures");
	} else {
		FOUND(f, GOOD, "hardware counters; %.40s is sampled", event);
	}
}

static void check_modules(const struct machine *m, struct finding *f)
{
	bool modules = fs_exists("/proc/modules"), livepatch = fs_exists("/sys/kernel/livepatch");

	(void)m;
	FOUND(f, modules && livepatch ? GOOD : MISSING, "%s, %s", modules ? "modules load" : "the kernel takes no modules",
	      livepatch ? "livepatch is there" : "no livepatch");
	if (f->state != GOOD)
		REMEDY(f, "patches are measured in the lab: kab run CASE -t vm");
}

static void check_headers(const struct machine *m, struct finding *f)
{
	struct utsname u;
	char path[200];

	(void)m;
	if (uname(&u))
		return;
	snprintf(path, sizeof(path), "/lib/modules/%.60s/build", u.release);
	FOUND(f, fs_exists(path) ? GOOD : MISSING, "headers of %.60s %s", u.release, fs_exists(path) ? "installed" : "not installed");
	if (f->state != GOOD)
		REMEDY(f, "needed for -t local only: install linux-headers-%.60s", u.release);
}

static void check_qemu(const struct machine *m, struct finding *f)
{
	bool have = proc_have("qemu-system-x86_64");

	(void)m;
	FOUND(f, have ? GOOD : MISSING, "qemu-system-x86_64 %s", have ? "found" : "not found");
	if (!have)
		REMEDY(f, "apt-get install qemu-system-x86, or your distribution's package of it");
}

static void check_kvm(const struct machine *m, struct finding *f)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC), e = errno;

	(void)m;
	if (fd >= 0) {
		FOUND(f, GOOD, "/dev/kvm works: the lab runs at the machine's speed");
		close(fd);
		return;
	}
	FOUND(f, LIMITED, "/dev/kvm: %s; the lab is emulated (TCG)", strerror(e));
	REMEDY(f, "%s", e == EACCES ? "join the group kvm" : "fine for --exact; for wall time enable virtualisation");
}

static void check_lab(const struct machine *m, struct finding *f)
{
	struct lab_opts o = { 0 };
	struct lab_kernel k = { 0 };

	(void)m;
	if (lab_kernel_find(&o, &k, NULL)) {
		FOUND(f, MISSING, "no kernel in the lab's cache");
		REMEDY(f, "kab lab fetch");
	} else {
		FOUND(f, k.build ? GOOD : LIMITED, "kernel %.60s in the cache%s", k.release, k.build ? "" : ", without its headers");
		if (!k.build)
			REMEDY(f, "kab lab fetch");
	}
	lab_kernel_release(&k);
}

static void check_tools(const struct machine *m, struct finding *f)
{
	bool cc = proc_have("gcc") || proc_have("cc"), make = proc_have("make");

	(void)m;
	FOUND(f, cc && make ? GOOD : MISSING, "gcc %s, make %s", cc ? "found" : "not found", make ? "found" : "not found");
	if (f->state != GOOD)
		REMEDY(f, "apt-get install gcc make (modules and workloads are compiled here)");
}

static void check_terminal(const struct machine *m, struct finding *f)
{
	struct winsize w = { 0 };
	const char *term = getenv("TERM");

	(void)m;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_col) {
		FOUND(f, LIMITED, "stdout is not a terminal");
		REMEDY(f, "the workbench needs one; every command works without");
		return;
	}
	FOUND(f, w.ws_col >= 80 && w.ws_row >= 24 ? GOOD : LIMITED, "%ux%u, TERM=%.40s", w.ws_col, w.ws_row, term ? term : "");
	if (f->state != GOOD)
		REMEDY(f, "the workbench is at ease from 80x24");
}

static const struct check {
	const char *name;
	void (*run)(const struct machine *m, struct finding *f);
} checks[] = {
	{ "user", check_user }, { "perf", check_paranoid }, { "kernel symbols", check_kptr },
	{ "counters", check_pmu }, { "modules", check_modules }, { "headers", check_headers },
	{ "compiler", check_tools }, { "qemu", check_qemu }, { "kvm", check_kvm }, { "lab kernel", check_lab },
	{ "terminal", check_terminal },
};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))

/* What the agent can tell without privilege; nothing when it cannot be started, with the reason. */
static void agent_facts(struct machine *m, struct err *err)
{
	struct live_sink sink = { 0 };
	struct live *l = NULL;
	char *program = fs_program("kab-agent", err);

	if (program && !live_spawn(program, false, &sink, &l, err) && !live_facts(l, m, err))
		live_moving(l, m, err);
	live_close(l);
	free(program);
}

static void tell(const char *check, const struct finding *f, json_t *all, struct buf *out)
{
	json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s}", "check", check, "state",
					     state_names[f->state], "found", f->what, "remedy", f->remedy));
	buf_printf(out, "%-8s %-15s %s%s%s\n", state_names[f->state], check, f->what,
		   f->remedy[0] ? " -> " : "", f->remedy);
}

/* What would make a measurement on this machine unsteady, or not comparable. */
static void advise(const struct machine *m, json_t *all, struct buf *out)
{
	struct advice v[ADVICE_MAX];
	size_t n = environment_advise(m, v), i;

	for (i = 0; i < n; i++) {
		struct finding f = { .state = v[i].good ? GOOD : LIMITED };

		snprintf(f.what, sizeof(f.what), "%s", v[i].found);
		snprintf(f.remedy, sizeof(f.remedy), "%s", v[i].remedy);
		tell(v[i].check, &f, all, out);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp argp = { NULL, parse, NULL,
	"Say what this machine can measure, and the remedy for each thing it cannot.", common_children, NULL, NULL };

static int run(int argc, char **argv, struct err *err)
{
	struct common common = { 0 };
	struct machine m = { 0 };
	struct err why = ERR_INIT;
	struct buf out = BUF_INIT;
	json_t *all = json_array();
	size_t i;
	int rc;

	cli_parse(&argp, "doctor", argc, argv, &common);
	agent_facts(&m, &why);
	for (i = 0; i < CHECKS; i++) {
		struct finding f = { 0 };

		checks[i].run(&m, &f);
		tell(checks[i].name, &f, all, &out);
	}
	advise(&m, all, &out);
	if (why.len)
		buf_printf(&out, "%-8s %-15s %s\n", state_names[MISSING], "agent", why.text);
	if (common.json) {
		char *s = json_dumps(all, JSON_INDENT(1));

		buf_clear(&out);
		buf_printf(&out, "%s\n", s ? s : "[]");
		free(s);
	}
	json_decref(all);
	machine_release(&m);
	rc = print_out(&out, err);
	buf_release(&out);
	return rc;
}

const struct command cmd_doctor = { "doctor", "", "what this machine can measure, and the remedy for what it cannot", &argp, run };
