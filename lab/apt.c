// SPDX-License-Identifier: GPL-2.0-or-later
/* apt: see apt.h. */
#include "lab/apt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "lab/console.h"
#include "lab/release.h"

#define MAX_ARGS 16

int apt_present(struct err *err)
{
	static const char *const programs[] = { "apt-get", "apt-cache", "dpkg-deb", "tar", NULL };
	const char *const *p;

	for (p = programs; *p; p++)
		if (!proc_have(*p))
			return err_add(err, -ENOENT, "The lab takes its kernels from Debian's packages, and "
				       "there is no %s here. On another distribution give a kernel of your "
				       "own: --kernel-image /boot/vmlinuz-RELEASE --kernel-build "
				       "/lib/modules/RELEASE/build.", *p);
	return 0;
}

static bool show(const char *package, struct buf *out)
{
	const char *const argv[] = { "apt-cache", "show", "--no-all-versions", package, NULL };
	const struct proc_opts opts = { .out = out };

	return proc_run(argv, &opts, NULL) == 0 && out->len;
}

char *apt_depends(const char *package, const char *prefix)
{
	struct buf text = BUF_INIT;
	char *release = show(package, &text) ? release_from_depends(text.data, prefix) : NULL;

	buf_release(&text);
	return release;
}

uint64_t apt_size(const char *package)
{
	struct buf text = BUF_INIT;
	uint64_t size = show(package, &text) ? release_package_size(text.data) : 0;

	buf_release(&text);
	return size;
}

bool apt_root(void)
{
	static const char *const argv[] = { "sudo", "-n", "true", NULL };

	return geteuid() == 0 || (proc_have("sudo") && proc_run(argv, NULL, NULL) == 0);
}

/* The last line that starts with "E:" or, failing that, "W:", escaped; "no reason given" without either. */
static void reason(struct buf *out, const struct buf *log)
{
	const char *p = buf_str(log), *error = NULL, *warning = NULL, *s;
	size_t n;

	for (; *p; p = *strchrnul(p, '\n') ? strchrnul(p, '\n') + 1 : "") {
		if (!strncmp(p, "E: ", 3))
			error = p + 3;
		else if (!strncmp(p, "W: ", 3))
			warning = p + 3;
	}
	s = error ? error : warning ? warning : "no reason given";
	n = strcspn(s, "\n");
	text_escape(out, s, n < 300 ? n : 300, false);
}

/* Runs apt-get as root; `what` completes "Cannot ...". */
static int as_root(const struct lab_opts *o, const char *const *apt, const char *what, struct err *err)
{
	const char *argv[MAX_ARGS] = { "sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive" };
	struct buf log = BUF_INIT, why = BUF_INIT;
	const struct proc_opts opts = { .log = &log, .stop = o->stop, .ctx = o->ctx };
	size_t n = 4;
	int rc;

	if (!apt_root())
		return err_add(err, -EPERM, "Cannot %s without root; run kab as root or with a sudo that "
			       "asks for no password, or run `sudo %s %s` yourself.", what, apt[0], apt[1]);
	for (; *apt && n + 1 < MAX_ARGS; apt++)
		argv[n++] = *apt;
	argv[n] = NULL;
	rc = proc_run(geteuid() ? argv : argv + 2, &opts, err);
	if (rc > 0) {
		reason(&why, &log);
		rc = err_add(err, -EIO, "Cannot %s: %s.", what, buf_str(&why));
	}
	buf_release(&why);
	buf_release(&log);
	return rc;
}

int apt_update(const struct lab_opts *o, struct err *err)
{
	/* Without Error-Mode a machine without network "succeeds" and leaves the lists as they were. */
	static const char *const argv[] = { "apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any",
					    NULL };

	if (o->progress)
		o->progress(o->ctx, "Updating the package lists", 0, 0);
	return as_root(o, argv, "update the package lists", err);
}

/* The download's progress is the growth of its file, looked at whenever proc_run asks whether to stop. */
struct watch {
	const struct lab_opts *o;
	const char *dir;
	double total;
	char what[RELEASE_MAX + 64];
};

static double bytes_in(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	double sum = 0;
	struct stat st;

	while (d && (e = readdir(d)))
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			sum += (double)st.st_size;
	if (d)
		closedir(d);
	return sum;
}

static bool watch_stop(void *ctx)
{
	struct watch *w = ctx;

	if (w->o->progress)
		w->o->progress(w->o->ctx, w->what, bytes_in(w->dir), w->total);
	return w->o->stop && w->o->stop(w->o->ctx);
}

int apt_download(const struct lab_opts *o, const char *package, const char *dir, struct err *err)
{
	/* The sandbox user could not write into our folder, and apt warns about that. */
	const char *const argv[] = { "apt-get", "download", "-q", "-o", "APT::Sandbox::User=", package,
				     NULL };
	struct buf log = BUF_INIT, why = BUF_INIT;
	struct watch w = { .o = o, .dir = dir, .total = (double)apt_size(package) };
	const struct proc_opts opts = { .dir = dir, .log = &log, .stop = watch_stop, .ctx = &w };
	int rc;

	snprintf(w.what, sizeof(w.what), "Downloading %s", package);
	rc = proc_run(argv, &opts, err);
	if (rc > 0) {
		reason(&why, &log);
		rc = err_add(err, -EIO, "Cannot download %s: %s. Check the network and the free space, run "
			     "`apt-get update`, or give a kernel of your own with --kernel-image and "
			     "--kernel-build.", package, buf_str(&why));
	}
	buf_release(&why);
	buf_release(&log);
	return rc;
}

/* The package that the download has put there; the caller frees. */
static char *find_deb(const char *dir, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char *path = NULL;

	while (d && !path && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n > 4 && !strcmp(e->d_name + n - 4, ".deb"))
			path = mem_printf("%s/%s", dir, e->d_name);
	}
	if (d)
		closedir(d);
	if (!path)
		err_add(err, -ENOENT, "`apt-get download` left no package in %s; run it again.", dir);
	return path;
}

int apt_unpack(const struct lab_opts *o, const char *from, const char *to, const char *const *members,
	       struct err *err)
{
	/* A pipe needs a shell; what it joins arrives as arguments and is never read as shell text. */
	static const char script[] = "deb=$1; shift; dpkg-deb --fsys-tarfile \"$deb\" | tar -x \"$@\"";
	char *deb = find_deb(from, err);
	const char *argv[32] = { "bash", "-o", "pipefail", "-c", script, "bash", deb, "-C", to,
				 "--no-same-owner", "--transform=s,^\\./usr/,./,", "--wildcards", "--" };
	struct buf log = BUF_INIT, last = BUF_INIT;
	const struct proc_opts opts = { .log = &log, .stop = o->stop, .ctx = o->ctx };
	size_t n = 0;
	int rc;

	if (!deb)
		return -ENOENT;
	while (argv[n])
		n++;
	while (*members && n + 1 < sizeof(argv) / sizeof(argv[0]))
		argv[n++] = *members++;
	rc = proc_run(argv, &opts, err);
	if (rc > 0) {
		console_lines(&last, buf_str(&log), log.len, 1);
		rc = err_add(err, -EIO, "Cannot unpack %s into %s; is the disk full? The last word of tar: "
			     "%s", deb, to, buf_str(&last));
	}
	buf_release(&last);
	buf_release(&log);
	free(deb);
	return rc;
}
