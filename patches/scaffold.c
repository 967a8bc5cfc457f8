// SPDX-License-Identifier: GPL-2.0-or-later
/* scaffold: see scaffold.h. Writes below the catalogue only. */
#include "patches/scaffold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#define NAME_LEN 40			/* of a case; its module's name stays within the kernel's limit */
#define TEMPLATE_LIMIT (64U << 10)

static const struct {
	const char *from;		/* below the catalogue's parent */
	bool in_kmod;
	const char *to;			/* "@" stands for the folder's name */
} files[] = {
	{ "patches/template/case.yaml.in", false, "case.yaml" },
	{ "patches/template/workload.c.in", false, "workload.c" },
	{ "kmod/template/Kbuild.in", true, "Kbuild" },
	{ "kmod/template/module.c.in", true, "@.c" },
};

struct words {
	const char *name;
	char *folder, date[16];
};

void scaffold_release(struct scaffold *s)
{
	free(s->case_dir);
	free(s->kmod_dir);
	memset(s, 0, sizeof(*s));
}

/* Copies the template with @NAME@, @FOLDER@ and @DATE@ filled in. */
static void fill(const struct words *w, const char *text, struct buf *out)
{
	const struct { const char *mark, *value; } marks[] = {
		{ "@NAME@", w->name }, { "@FOLDER@", w->folder }, { "@DATE@", w->date },
	};
	const size_t n = sizeof(marks) / sizeof(marks[0]);
	size_t i;

	while (*text) {
		for (i = 0; i < n && strncmp(text, marks[i].mark, strlen(marks[i].mark)); i++)
			;
		if (i < n)
			buf_puts(out, marks[i].value);
		else
			buf_putc(out, *text);
		text += i < n ? strlen(marks[i].mark) : 1;
	}
}

static char *shipped(const char *path, struct err *err)
{
	size_t top = strcspn(path, "/");
	char *name = mem_printf("%.*s", (int)top, path), *dir = fs_shipped(name, err), *full = NULL;

	if (dir)
		full = mem_printf("%s%s", dir, path + top);
	free(dir);
	free(name);
	return full;
}

static int write_file(const struct words *w, size_t i, const char *dir, struct err *err)
{
	char *from = shipped(files[i].from, err), *to;
	struct buf template = BUF_INIT, text = BUF_INIT;
	int rc = from ? buf_read_file(&template, from, TEMPLATE_LIMIT, err) : -ENOENT;

	to = files[i].to[0] == '@' ? mem_printf("%s/%s%s", dir, w->folder, files[i].to + 1) :
	     mem_printf("%s/%s", dir, files[i].to);
	if (!rc) {
		fill(w, buf_str(&template), &text);
		rc = fs_write(to, buf_str(&text), text.len, err);
	}
	buf_release(&template);
	buf_release(&text);
	free(from);
	free(to);
	return rc;
}

static int check_name(const char *name, struct err *err)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (n && n <= NAME_LEN && !name[n] && name[0] >= 'a' && name[0] <= 'z' && strcmp(name, "template"))
		return 0;
	return err_add(err, -EINVAL, "A case's name has a-z, 0-9 and -, begins with a letter, has %d characters at most, and "
		       "is not \"template\".", NAME_LEN);
}

static int make(const struct words *w, const struct scaffold *s, struct err *err)
{
	int rc = fs_mkdirs(s->case_dir, err);
	size_t i;

	if (!rc)
		rc = fs_mkdirs(s->kmod_dir, err);
	for (i = 0; !rc && i < sizeof(files) / sizeof(files[0]); i++)
		rc = write_file(w, i, files[i].in_kmod ? s->kmod_dir : s->case_dir, err);
	if (!rc)
		return 0;
	fs_remove(s->case_dir, NULL);
	fs_remove(s->kmod_dir, NULL);
	return err_add(err, rc, "To keep cases elsewhere, copy patches/ and kmod/ to a folder of yours and set KAB_DATA to "
		       "it.");
}

int scaffold_case(const char *name, struct scaffold *s, struct err *err)
{
	struct words w = { .name = name };
	time_t now = time(NULL);
	struct tm tm;
	char *patches, *kmod, *p;
	int rc = check_name(name, err);

	memset(s, 0, sizeof(*s));
	if (rc)
		return rc;
	patches = fs_shipped("patches", err);
	kmod = patches ? fs_shipped("kmod", err) : NULL;
	w.folder = mem_strdup(name);
	for (p = w.folder; (p = strchr(p, '-'));)
		*p = '_';
	gmtime_r(&now, &tm);
	strftime(w.date, sizeof(w.date), "%Y-%m-%d", &tm);
	if (!kmod) {
		rc = -ENOENT;
	} else {
		s->case_dir = mem_printf("%s/%s", patches, name);
		s->kmod_dir = mem_printf("%s/%s", kmod, w.folder);
		if (fs_exists(s->case_dir) || fs_exists(s->kmod_dir))
			rc = err_add(err, -EEXIST, "%s is there already; choose another name, or remove it.",
				     fs_exists(s->case_dir) ? s->case_dir : s->kmod_dir);
		else
			rc = make(&w, s, err);
	}
	if (rc)
		scaffold_release(s);
	free(w.folder);
	free(patches);
	free(kmod);
	return rc;
}
