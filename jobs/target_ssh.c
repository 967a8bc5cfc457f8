// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * target_ssh: another machine, reached with the user's own ssh. Nothing is
 * needed there but a POSIX shell, coreutils, and root or sudo without a password.
 *
 * find() asks the host what it is; build() makes the module there when it has its
 * kernel's headers; open() copies the static agent into a private folder, compares
 * its digest, and starts it on ssh's stdin and stdout. A shell there waits for the
 * agent and then removes the folder, however the agent and the connection end.
 *
 * HOST may come from a job file of somebody else, and a user's ssh configuration
 * may hand it to a shell (ProxyCommand %h): only characters that no shell cares
 * about are let through. What goes to the remote shell is one line, quoted.
 */
#include "jobs/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"

#define HOST_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@:[]"
#define HOST_MAX 255
#define SSH_FAILED 255		/* ssh's exit status when the fault is not the command's */
#define START_MS 30000		/* sudo and the loading of a program */
#define ANSWER_LIMIT 4096	/* bytes of an answer to the probe */
/* The last line of what we do not want to read: greetings that startup files print. */
#define MARK "kab-host\n"

/* What the probe may say a host has. */
enum has { HAS_MODULES, HAS_LIVEPATCH, HAS_HEADERS, HAS_MAKE, HAS_GCC, HAS_TAR, HAS_SHA256SUM, HAS_SUDO, HAS_ROOT,
	   HAS_COUNT };
static const char *const has_names[HAS_COUNT] = { "modules", "livepatch", "headers", "make", "gcc", "tar", "sha256sum",
						  "sudo", "root" };

struct ssh_host {
	bool has[HAS_COUNT];
	char *uri;			/* as ssh takes it */
	char *user;			/* "UID:GID,..." of workloads; NULL when that is root */
	char *folder;			/* there, holds the agent; NULL: nothing was copied */
	bool started;			/* a shell there has the folder to remove */
};

/* --- running a command there --- */

static void quote(struct buf *out, const char *word)
{
	buf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *word);
	}
	buf_putc(out, '\'');
}

/* `script` for any login shell: one line without '!', which csh would take for itself. args end with NULL. */
static char *command_of(const char *script, const char *const *args)
{
	struct buf out = BUF_INIT;

	buf_puts(&out, "exec /bin/sh -c ");
	quote(&out, script);
	buf_puts(&out, " kab");
	for (; *args; args++) {
		buf_putc(&out, ' ');
		quote(&out, *args);
	}
	return buf_detach(&out);
}

#define SSH_ARGS 32

/* No password prompt, nobody to answer it; a dead connection is noticed within half a minute. */
static void ssh_argv(const struct target *t, const char *command, const char *argv[SSH_ARGS])
{
	static const char *const fixed[] = {
		"-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10",
		"-o", "ServerAliveCountMax=3", "-o", "LogLevel=ERROR", "-o", "RemoteCommand=none", "-o",
		"ClearAllForwardings=yes", "--",
	};
	const char *config = getenv("KAB_SSH_CONFIG");
	size_t n = 0;

	argv[n++] = "ssh";
	if (config && config[0]) {
		argv[n++] = "-F";
		argv[n++] = config;
	}
	memcpy(argv + n, fixed, sizeof(fixed));
	n += sizeof(fixed) / sizeof(fixed[0]);
	argv[n++] = t->ssh->uri;
	argv[n++] = command;
	argv[n] = NULL;
}

/* Words of the other machine, made part of a sentence. */
static void words(struct buf *out, const struct buf *log)
{
	size_t len = log->len, i;
	char *copy;

	while (len && strchr(" .\r\n", log->data[len - 1]))
		len--;
	if (len > 400)
		len = 400;
	copy = mem_dup(buf_str(log), len + 1);
	for (i = 0; i < len; i++)
		copy[i] = strchr("\r\n", copy[i]) ? ' ' : copy[i];
	text_escape(out, copy, len, false);
	free(copy);
}

static int unreachable(const struct target *t, const struct buf *log, struct err *err)
{
	struct buf said = BUF_INIT;

	words(&said, log);
	err_add(err, -EHOSTUNREACH, "Cannot reach %s: %s. Try `ssh %s true`: it must work without asking anything, so the "
		"host's key must be known, and yours be in an agent.", t->host,
		said.len ? said.data : "ssh does not say why", t->ssh->uri);
	buf_release(&said);
	return -EHOSTUNREACH;
}

/*
 * Runs `script` there to its end and takes what it prints behind MARK. Returns its exit status, or negative
 * with a sentence. `in_fd` 0: no input. `log` takes its stderr.
 */
static int remote(const struct target *t, const char *script, const char *const *args, int in_fd,
		  const struct lab_opts *lab, struct buf *out, struct buf *log, struct err *err)
{
	char *command = command_of(script, args), *mark;
	struct proc_opts o = { .in_fd = in_fd, .out = out, .log = log, .stop = lab ? lab->stop : NULL,
			       .ctx = lab ? lab->ctx : NULL };
	const char *argv[SSH_ARGS];
	int rc;

	ssh_argv(t, command, argv);
	rc = proc_run(argv, &o, err);
	free(command);
	if (rc == -ENOENT)
		err_add(err, rc, "Debian: apt-get install openssh-client.");
	if (rc == SSH_FAILED)
		rc = unreachable(t, log, err);
	if (rc)
		return rc;
	mark = out->len ? memmem(out->data, out->len, MARK, strlen(MARK)) : NULL;
	if (!mark)
		return err_add(err, -EPROTO, "%s let ssh in, but ran no command: it has no POSIX shell, or its account is for "
			       "something else.", t->host);
	if (mark != out->data)
		return err_add(err, -EPROTO, "The startup files of the shell on %s print something (%zu bytes) where no "
			       "terminal is, which would damage the agent's stream; make them silent there.", t->host,
			       (size_t)(mark - out->data));
	out->len -= strlen(MARK);
	memmove(out->data, out->data + strlen(MARK), out->len + 1);
	return 0;
}

/* --- finding --- */

static const char *const no_args[] = { NULL };

static const char probe[] =
	"echo kab-host; echo machine $(uname -s) $(uname -m); echo release $(uname -r); "
	"echo user $(id -u):$(id -g)$(for g in $(id -G); do printf ,%s $g; done); "
	"test -e /proc/modules && echo has modules; test -e /sys/kernel/livepatch && echo has livepatch; "
	"test -e /lib/modules/$(uname -r)/build/Makefile && echo has headers; "
	"for p in make gcc tar sha256sum sudo; do command -v $p >/dev/null && echo has $p; done; "
	"if test $(id -u) = 0 || sudo -n true </dev/null >/dev/null 2>&1; then echo has root; fi";

static bool release_ok(const char *s)
{
	return s[0] && strlen(s) <= 64 && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~-")];
}

static void take_answer(struct target *t, const char *key, const char *value, char machine[40])
{
	size_t i;

	if (!strcmp(key, "machine"))
		snprintf(machine, 40, "%s", value);
	else if (!strcmp(key, "release") && release_ok(value) && !t->kernel.release)
		t->kernel.release = mem_strdup(value);
	else if (!strcmp(key, "user") && strncmp(value, "0:", 2) && !value[strspn(value, "0123456789:,")] && !t->ssh->user)
		t->ssh->user = mem_strdup(value);
	else if (!strcmp(key, "has"))
		for (i = 0; i < HAS_COUNT; i++)
			t->ssh->has[i] |= !strcmp(value, has_names[i]);
}

static int take_answers(struct target *t, char *text, struct err *err)
{
	char machine[40] = "", *line, *state = NULL, *value;

	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		value = strchr(line, ' ');
		if (value)
			*value++ = '\0';
		take_answer(t, line, value ? value : "", machine);
	}
	if (!t->kernel.release)
		return err_add(err, -EPROTO, "%s does not say which kernel it runs.", t->host);
	if (!strcmp(machine, "Linux x86_64"))
		return 0;
	return err_add(err, -ENOTSUP, "%s is not an x86-64 Linux machine, and kab-agent was built for one.", t->host);
}

static int check_host(const struct target *t, struct err *err)
{
	const char *h = t->host;

	if (h[0] && h[0] != '-' && strlen(h) <= HOST_MAX && !h[strspn(h, HOST_CHARS)] && !strstr(h, "@-"))
		return 0;
	return err_add(err, -EINVAL, "That is no host for -t ssh:HOST; it is a name of your ssh configuration, HOST, USER@HOST "
		       "or USER@HOST:PORT.");
}

/* HOST:PORT is for ssh a URI; a bare IPv6 address, with its many colons, is none. */
static char *uri_of(const char *host)
{
	const char *colon = strrchr(host, ':');
	bool port = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] &&
		    (colon == strchr(host, ':') || (colon > host && colon[-1] == ']'));

	return port ? mem_printf("ssh://%s", host) : mem_strdup(host);
}

static int ssh_find(struct target *t, const struct lab_opts *lab, struct err *err)
{
	struct buf out = BUF_INIT, log = BUF_INIT;
	int rc = check_host(t, err);

	if (rc)
		return rc;
	t->ssh = mem_alloc(sizeof(*t->ssh));
	t->ssh->uri = uri_of(t->host);
	rc = remote(t, probe, no_args, 0, lab, &out, &log, err);
	if (rc > 0)
		rc = err_add(err, -EPROTO, "%s did not answer what it is (status %d).", t->host, rc);
	if (!rc && out.len > ANSWER_LIMIT)
		rc = err_add(err, -EPROTO, "%s answered more than was asked.", t->host);
	if (!rc)
		rc = take_answers(t, out.data, err);
	if (!rc && !t->ssh->has[HAS_SHA256SUM])
		rc = err_add(err, -ENOENT, "There is no sha256sum on %s; install coreutils there.", t->host);
	/* Headers of its release here, or --kernel-build, when it has none of its own. */
	if (!rc) {
		t->kernel.build = lab->build ? mem_strdup(lab->build) : mem_printf("/lib/modules/%s/build", t->kernel.release);
		if (!fs_exists(t->kernel.build)) {
			free(t->kernel.build);
			t->kernel.build = NULL;
		}
	}
	buf_release(&out);
	buf_release(&log);
	return rc;
}

/* --- the module --- */

/* --kernel-build is the user's word; else the host's own headers are surely those of its kernel. */
static bool builds_there(const struct target *t, const struct lab_opts *lab)
{
	const bool *has = t->ssh->has;

	return !lab->build && has[HAS_HEADERS] && has[HAS_MAKE] && has[HAS_GCC] && has[HAS_TAR];
}

static int ssh_can_load(struct target *t, struct err *err)
{
	const char *release = t->kernel.release;
	const bool *has = t->ssh->has;

	if (!has[HAS_MODULES])
		return err_add(err, -ENOTSUP, "The kernel of %s (%s) cannot load modules; measure on another machine, or in the "
			       "lab: -t vm.", t->host, release);
	if (!has[HAS_LIVEPATCH])
		return err_add(err, -ENOTSUP, "The kernel of %s (%s) has no livepatch support; measure on another machine, or "
			       "in the lab: -t vm.", t->host, release);
	if (t->kernel.build)
		return 0;
	if (!has[HAS_HEADERS])
		return err_add(err, -ENOENT, "No module can be built for %s: the headers of its kernel are neither there nor "
			       "here. Install linux-headers-%s on either machine, or name a build folder here with "
			       "--kernel-build.", t->host, release);
	if (!has[HAS_MAKE] || !has[HAS_GCC] || !has[HAS_TAR])
		return err_add(err, -ENOENT, "%s has its kernel's headers but not all of make, gcc and tar; install them there, "
			       "or linux-headers-%s here.", t->host, release);
	return 0;
}

static const char make_module[] =
	"d=$(mktemp -d \"${TMPDIR:-/tmp}/kab-build.XXXXXX\") || exit 3; tar -xf - -C \"$d\" && "
	"LC_ALL=C make -s -C \"/lib/modules/$(uname -r)/build\" M=\"$d/$1\" CONFIG_DEBUG_INFO_BTF_MODULES= modules >&2 && "
	"echo kab-host && cat \"$d/$1/$2.ko\"; s=$?; rm -rf \"$d\"; exit $s";

/* A tar of the module's sources, open for reading and without a name; negative with a sentence. */
static int sources_fd(const struct patch_case *c, struct err *err)
{
	char *tmp = fs_tmpdir("sources", err), *dir, *file;
	int fd = -EIO;

	if (!tmp)
		return -EIO;
	dir = mem_printf("%s/kmod", tmp);
	file = mem_printf("%s/kmod.tar", tmp);
	if (!fs_mkdirs(dir, err) && !case_module_sources(c, dir, err)) {
		const char *const argv[] = { "tar", "-cf", file, "-C", dir, ".", NULL };
		int rc = proc_run(argv, NULL, err);

		if (rc > 0)
			err_add(err, -EIO, "tar ended with status %d while packing the module's sources.", rc);
		if (!rc)
			fd = open(file, O_RDONLY | O_CLOEXEC);
		if (!rc && fd < 0)
			fd = err_sys(err, errno, "Cannot read %s", file);
	}
	fs_remove(tmp, NULL);
	free(file);
	free(dir);
	free(tmp);
	return fd;
}

/* What was built there is kept in the cache, by case, release and host; it is built anew each time. */
static int keep_module(const struct target *t, const struct patch_case *c, const struct buf *ko, char **path,
		       struct err *err)
{
	char *cache = fs_cache_dir("build", err), *dir;
	int rc;

	if (!cache)
		return -EIO;
	dir = mem_printf("%s/%s-module-%s-on-%s", cache, c->facts.name, t->kernel.release, t->host);
	*path = mem_printf("%s/%s.ko", dir, c->facts.module);
	rc = fs_mkdirs(dir, err);
	if (!rc)
		rc = fs_write(*path, buf_str(ko), ko->len, err);
	free(dir);
	free(cache);
	return rc;
}

static int ssh_build(struct target *t, const struct patch_case *c, const struct lab_opts *lab, struct case_build *b,
		     struct err *err)
{
	const char *const args[] = { strrchr(c->kmod_dir, '/') + 1, c->facts.module, NULL };
	struct buf ko = BUF_INIT, log = BUF_INIT;
	int rc, fd;

	if (!builds_there(t, lab))
		return case_build(c, t->kernel.release, t->kernel.build, lab->stop, lab->ctx, b, err);
	rc = case_build(c, t->kernel.release, NULL, lab->stop, lab->ctx, b, err);
	if (rc)
		return rc;
	fd = sources_fd(c, err);
	rc = fd < 0 ? fd : remote(t, make_module, args, fd, lab, &ko, &log, err);
	if (rc > 0)
		rc = case_build_failed(c, buf_str(&log), "/tmp", err);
	if (!rc)
		rc = keep_module(t, c, &ko, &b->module, err);
	if (fd >= 0)
		close(fd);
	if (rc)
		case_build_release(b);
	buf_release(&ko);
	buf_release(&log);
	return rc;
}

/* --- the agent --- */

/* A folder in which programs may run: a /tmp that is mounted noexec is common. */
static const char take_agent[] =
	"umask 077; for p in \"${TMPDIR:-/tmp}\" /var/tmp \"$HOME\"; do d=$(mktemp -d \"$p/kab.XXXXXX\") || continue; "
	"echo : >\"$d/kab-agent\"; chmod 700 \"$d/kab-agent\"; \"$d/kab-agent\" && break; rm -rf \"$d\"; d=; done; "
	"test -n \"$d\" || exit 3; cat >\"$d/kab-agent\"; echo kab-host; echo \"$d\"; sha256sum <\"$d/kab-agent\"";

/* Waits for the agent, whatever becomes of the connection, and cleans up behind it. */
static const char run_agent[] = "trap \"\" HUP INT; d=$1; shift; \"$@\"; s=$?; rm -rf \"$d\"; exit $s";
static const char run_kept[] = "shift; exec \"$@\"";
static const char remove_folder[] = "rm -rf \"$1\"; echo kab-host";

#define DIGEST_LEN 64

static int digest_here(const char *path, char digest[DIGEST_LEN + 1], struct err *err)
{
	const char *const argv[] = { "sha256sum", "--", path, NULL };
	struct buf out = BUF_INIT;
	const struct proc_opts o = { .out = &out };
	int rc = proc_run(argv, &o, err);

	if (!rc && strspn(buf_str(&out), "0123456789abcdef") == DIGEST_LEN)
		snprintf(digest, DIGEST_LEN + 1, "%s", out.data);
	else if (rc >= 0)
		rc = err_add(err, -EIO, "sha256sum has no digest of %s; run make.", path);
	buf_release(&out);
	return rc;
}

/* The folder is a path without anything that needs thought; it will stand in commands and sentences. */
static bool folder_ok(const char *s)
{
	return s[0] == '/' && strlen(s) < 200 &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-")];
}

static int copy_agent(struct target *t, const struct lab_opts *lab, struct err *err)
{
	struct buf out = BUF_INIT, log = BUF_INIT;
	char digest[DIGEST_LEN + 1] = "", *there;
	int rc = digest_here(t->agent, digest, err), fd = -1;

	if (!rc) {
		fd = open(t->agent, O_RDONLY | O_CLOEXEC);
		rc = fd < 0 ? err_sys(err, errno, "Cannot read %s", t->agent) : 0;
	}
	if (!rc)
		rc = remote(t, take_agent, no_args, fd, lab, &out, &log, err);
	if (fd >= 0)
		close(fd);
	if (rc > 0)
		rc = err_add(err, -EIO, "There is no folder on %s in which a program may be put and run: tried $TMPDIR or /tmp, "
			     "/var/tmp and the home folder (noexec, or full).", t->host);
	there = rc ? NULL : strchr(buf_str(&out), '\n');
	if (there) {
		*there++ = '\0';
		if (folder_ok(out.data))
			t->ssh->folder = mem_strdup(out.data);
	}
	if (!rc && (!t->ssh->folder || strncmp(there, digest, DIGEST_LEN)))
		rc = err_add(err, -EIO, "kab-agent did not arrive whole on %s (the digest differs); is its disk full?", t->host);
	buf_release(&out);
	buf_release(&log);
	return rc;
}

static int ssh_open(struct target *t, const struct lab_opts *lab, bool as_root, struct err *err)
{
	const char *words_of[16], *argv[SSH_ARGS];
	char *tmpdir, *agent, *user, *command;
	size_t n = 0;
	int rc;

	(void)as_root;		/* sampling a whole machine takes root there too */
	if (!t->ssh->has[HAS_ROOT])
		return err_add(err, -EPERM, "kab-agent needs root on %s, and %s. Connect as root (-t ssh:root@HOST), or let your "
			       "user there use sudo without a password (a line \"USER ALL=(root) NOPASSWD: ALL\" in "
			       "/etc/sudoers.d/kab).", t->host,
			       t->ssh->has[HAS_SUDO] ? "sudo there asks for a password" : "there is no sudo there");
	rc = copy_agent(t, lab, err);
	if (rc)
		return rc;
	tmpdir = mem_printf("TMPDIR=%s", t->ssh->folder);
	agent = mem_printf("%s/kab-agent", t->ssh->folder);
	user = t->ssh->user ? mem_printf("--user=%s", t->ssh->user) : NULL;
	words_of[n++] = t->ssh->folder;
	if (user) {
		words_of[n++] = "sudo";
		words_of[n++] = "-n";
		words_of[n++] = "--";
	}
	words_of[n++] = "env";
	words_of[n++] = tmpdir;
	words_of[n++] = agent;
	words_of[n++] = "--stdio";
	words_of[n++] = "--silence=60";
	if (user)
		words_of[n++] = user;
	words_of[n] = NULL;
	command = command_of(t->keep_agent ? run_kept : run_agent, words_of);
	ssh_argv(t, command, argv);
	rc = live_spawn_over(argv, t->host, &t->sink, START_MS, &t->live, err);
	t->ssh->started = !rc;
	free(command);
	free(tmpdir);
	free(agent);
	free(user);
	return rc;
}

static void ssh_close(struct target *t)
{
	struct buf out = BUF_INIT, log = BUF_INIT;

	if (!t->ssh)
		return;
	if (t->ssh->folder && !t->ssh->started && !t->keep_agent) {
		const char *const args[] = { t->ssh->folder, NULL };

		remote(t, remove_folder, args, 0, NULL, &out, &log, NULL);
	}
	buf_release(&out);
	buf_release(&log);
	free(t->ssh->uri);
	free(t->ssh->user);
	free(t->ssh->folder);
	free(t->ssh);
}

/* --- symbols --- */

/* Files that we put there, by path; others only by a build-id, which the symboliser then compares. */
static const char *ssh_file(void *ctx, const char *path, const char *build_id)
{
	struct target *t = ctx;
	size_t i;

	for (i = 0; i < t->n_files; i++)
		if (!strcmp(t->files[i].remote, path))
			return t->files[i].local;
	return build_id[0] ? path : NULL;
}

const struct target_kind target_ssh = {
	.name = "ssh:", .gives_root = true, .shows_output = true, .carries = CARRY_RELATIVE, .file = ssh_file,
	.find = ssh_find, .open = ssh_open, .can_load = ssh_can_load, .build = ssh_build, .close = ssh_close,
};
