// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * status: what the lab has on this machine, as text or JSON, and how to be rid of it.
 */
#include "lab/lab.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "lab/cache.h"
#include "lab/kvm.h"
#include "lab/qemu.h"
#include "lab/release.h"

/* Bytes on disk below a folder. */
static double folder_bytes(const char *dir)
{
	char *roots[] = { (char *)dir, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	double sum = 0;
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info == FTS_F)
			sum += (double)e->fts_statp->st_blocks * 512;
	if (fts)
		fts_close(fts);
	return sum;
}

static int is_release(const struct dirent *e)
{
	return release_valid(e->d_name, strlen(e->d_name));
}

static json_t *kernel_object(const char *dir, const char *release)
{
	char *path = mem_printf("%s/%s", dir, release);
	char *line = release_line(release), *build = cache_headers(dir, release);
	json_t *o = json_pack("{s:s, s:s?, s:s, s:f, s:s?}", "release", release, "line", line, "path", path,
			      "bytes", folder_bytes(path), "headers", build);

	free(build);
	free(line);
	free(path);
	return o;
}

static json_t *kernels_array(const char *dir)
{
	struct dirent **v = NULL;
	int n = scandir(dir, &v, is_release, versionsort), i;
	json_t *list = json_array();

	for (i = 0; i < n; i++) {
		json_array_append_new(list, kernel_object(dir, v[i]->d_name));
		free(v[i]);
	}
	free(v);
	return list;
}

/* The text shows the very object that JSON prints. */
static void print(struct buf *out, const json_t *status)
{
	const json_t *kernels = json_object_get(status, "kernels");
	size_t i;

	buf_printf(out, "qemu     %s\n", json_is_true(json_object_get(status, "qemu"))
		   ? QEMU_PROGRAM : "absent; run `apt-get install qemu-system-x86`");
	buf_printf(out, "kvm      %s%s\n", json_string_value(json_object_get(status, "kvm_reason")),
		   json_is_true(json_object_get(status, "kvm")) ? "" : "; guests run under TCG");
	buf_printf(out, "cache    %s\n", json_string_value(json_object_get(status, "cache")));
	if (!json_array_size(kernels))
		buf_puts(out, "kernel   none; run `kab lab fetch`\n");
	for (i = 0; i < json_array_size(kernels); i++) {
		const json_t *k = json_array_get(kernels, i);
		const char *release = json_string_value(json_object_get(k, "release"));
		const char *headers = json_string_value(json_object_get(k, "headers"));
		const char *line = json_string_value(json_object_get(k, "line"));

		buf_printf(out, "kernel   %s, ", release);
		text_bytes(out, json_real_value(json_object_get(k, "bytes")));
		if (headers)
			buf_printf(out, ", headers in %s\n", headers);
		else
			buf_printf(out, ", no headers; run `kab lab fetch%s%s`\n", line ? " --kernel " : "",
				   line ? line : "");
	}
}

int lab_status(struct buf *out, bool json, struct err *err)
{
	struct buf why = BUF_INIT;
	char *dir = cache_dir(err), *text;
	bool kvm;
	json_t *status;

	if (!dir)
		return -EIO;
	kvm = kvm_usable(&why);
	status = json_pack("{s:b, s:b, s:s, s:s, s:o}", "qemu", proc_have(QEMU_PROGRAM), "kvm", kvm,
			   "kvm_reason", buf_str(&why), "cache", dir, "kernels", kernels_array(dir));
	if (!status) {
		free(dir);
		buf_release(&why);
		return err_add(err, -EINVAL, "The path of the cache is not valid UTF-8; set XDG_CACHE_HOME "
			       "to one that is.");
	}
	if (json) {
		text = json_dumps(status, JSON_INDENT(2));
		buf_puts(out, text);
		buf_putc(out, '\n');
		free(text);
	} else {
		print(out, status);
	}
	json_decref(status);
	buf_release(&why);
	free(dir);
	return 0;
}

int lab_clean(struct err *err)
{
	char *kernels = cache_dir(err), *lab = fs_cache_dir("lab", err);
	int lock = kernels && lab ? cache_lock(kernels, NULL, err) : -EIO;
	int rc = lock < 0 ? lock : fs_remove(kernels, err);

	if (!rc)
		rc = fs_remove(lab, err);
	if (lock >= 0)
		close(lock);
	free(kernels);
	free(lab);
	return rc;
}
