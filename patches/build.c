// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * build: the module and the workload of a case, compiled once and kept in the cache.
 *
 * A product is CACHE/build/KEY/FILE. The key names the case, the kernel's release and a digest of all that
 * goes in: the sources, the compiler, its options, and the kernel's configuration and symbol versions. It is
 * made from a copy in a temporary folder and then put in place with a rename, so the source tree stays
 * clean, the cache holds only whole files, and two builders at once are safe: they make the same file, and
 * either may win.
 */
#include "patches/case.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "patches/module.h"

#define SOURCE_LIMIT (4U << 20)		/* bytes of one source file */
#define LIBRARY_LIMIT (16U << 20)	/* bytes of a library */
#define VERSIONS_LIMIT (64U << 20)	/* bytes of Module.symvers; the distribution's has 3 MB */

/* Without pahole the kernel's own build would fail to add type information, which nothing here reads. */
static const char no_btf[] = "CONFIG_DEBUG_INFO_BTF_MODULES=";
static const char module_remedy[] = "If a header or tool is missing: `kab lab clean` and `kab lab fetch` bring the "
	"lab's again; for another kernel install its headers package with what it depends on.";
/* The profiler walks a program's stack by its frame pointers. */
static const char *const workload_options[] = { "-std=gnu11", "-O2", "-fno-omit-frame-pointer" };
#define WORKLOAD_OPTIONS (sizeof(workload_options) / sizeof(workload_options[0]))

/*
 * The libraries a workload may be linked with. A workload that has none is static. One that has is not, since
 * distributions have no static archive of some: what it needs is then carried to the target with it.
 */
static const struct library {
	const char *name;		/* in case.yaml */
	const char *file;		/* as gcc finds it */
	const char *option;
	const char *package;		/* Debian's */
} libraries[] = {
	{ "mnl", "libmnl.so", "-lmnl", "libmnl-dev" },
};
#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

struct builder {
	const struct patch_case *c;
	const char *release, *kernel_build;
	bool (*stop)(void *ctx);
	void *ctx;
	char *compiler;			/* first line of gcc --version */
	struct err *err;
};

/* --- digest: FNV-1a, 64 bit. The cache is the user's own; it need not withstand forgery --- */

#define FNV_START 0xcbf29ce484222325u

static void digest_add(uint64_t *d, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		*d = (*d ^ *p++) * 0x100000001b3u;
}

static void digest_str(uint64_t *d, const char *s)
{
	digest_add(d, s, strlen(s) + 1);
}

static int digest_file(uint64_t *d, const char *path, size_t limit, struct err *err)
{
	struct buf data = BUF_INIT;
	int rc = buf_read_file(&data, path, limit, err);

	if (!rc) {
		digest_add(d, &data.len, sizeof(data.len));
		digest_add(d, buf_str(&data), data.len);
	}
	buf_release(&data);
	return rc;
}

/* --- the module's sources: the files of kmod/ and kmod/FOLDER that a build reads --- */

static int is_source(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && (!strcmp(e->d_name, "Kbuild") || !strcmp(e->d_name, "Makefile") ||
				       (dot && (!strcmp(dot, ".c") || !strcmp(dot, ".h"))));
}

/* Adds the sources in `from` to `digest`, or copies them to `to`: the one of the two that is not NULL. */
static int sources(const char *from, uint64_t *digest, const char *to, struct err *err)
{
	struct dirent **names;
	int n = scandir(from, &names, is_source, alphasort), i, rc = 0;

	if (n < 0)
		return err_sys(err, errno, "Cannot read the module's sources in %s", from);
	for (i = 0; i < n; i++) {
		char *path = mem_printf("%s/%s", from, names[i]->d_name);

		if (!rc && digest) {
			digest_str(digest, names[i]->d_name);
			rc = digest_file(digest, path, SOURCE_LIMIT, err);
		} else if (!rc) {
			char *copy = mem_printf("%s/%s", to, names[i]->d_name);

			rc = fs_copy(path, copy, err);
			free(copy);
		}
		free(path);
		free(names[i]);
	}
	free(names);
	return rc;
}

/* kmod/ above kmod/FOLDER. */
static char *shared_dir(const struct patch_case *c)
{
	return mem_printf("%.*s", (int)(strrchr(c->kmod_dir, '/') - c->kmod_dir), c->kmod_dir);
}

/* --- running a compiler --- */

/* The first line that states an error, else the last that states anything; without the name of our folder. */
static void first_error(const char *log, const char *dir, struct buf *out)
{
	static const char *const signs[] = { "error:", "ERROR:", "cannot find", "not found", "*** " };
	const char *found = NULL, *last = "it printed nothing", *p, *end, *at;
	struct buf line = BUF_INIT;
	size_t len, i;

	for (p = log; !found && *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, '\n');
		len = (size_t)(end - p);
		if (len)
			last = p;
		for (i = 0; !found && i < sizeof(signs) / sizeof(signs[0]); i++)
			if (memmem(p, len, signs[i], strlen(signs[i])))
				found = p;
	}
	p = found ? found : last;
	buf_add(&line, p, strcspn(p, "\n"));
	at = strstr(line.data, dir);
	if (at) {
		const char *rest = at + strlen(dir) + (at[strlen(dir)] == '/');

		text_escape(out, line.data, (size_t)(at - line.data), false);
		text_escape(out, rest, strnlen(rest, 400), false);
	} else {
		text_escape(out, line.data, line.len < 400 ? line.len : 400, false);
	}
	buf_release(&line);
}

static int does_not_build(const struct patch_case *c, const char *what, const char *log, const char *dir,
			  const char *remedy, struct err *err)
{
	struct buf line = BUF_INIT;

	first_error(log, dir, &line);
	err_add(err, -EIO, "%s of the case %s does not build: %s. %s", what, c->facts.name, buf_str(&line), remedy);
	buf_release(&line);
	return -EIO;
}

int case_build_failed(const struct patch_case *c, const char *log, const char *dir, struct err *err)
{
	return does_not_build(c, "The module", log, dir, module_remedy, err);
}

/* Runs a build; `what` is built in `dir`. */
static int compile(struct builder *b, const char *const *argv, const char *what, const char *dir,
		   const char *remedy)
{
	struct buf log = BUF_INIT;
	struct proc_opts o = { .log = &log, .stop = b->stop, .ctx = b->ctx };
	int rc = proc_run(argv, &o, b->err);

	if (rc > 0)
		rc = does_not_build(b->c, what, buf_str(&log), dir, remedy, b->err);
	buf_release(&log);
	return rc;
}

/* Which compiler there is; missing tools are named here, before anything is made. */
static int find_compiler(struct builder *b)
{
	const char *const argv[] = { "gcc", "--version", NULL };
	const char *tool = !proc_have("gcc") ? "gcc" : b->kernel_build && !proc_have("make") ? "make" : NULL;
	struct buf out = BUF_INIT;
	struct proc_opts o = { .out = &out, .stop = b->stop, .ctx = b->ctx };
	int rc;

	if (tool)
		return err_add(b->err, -ENOENT, "The program %s is missing, so the case %s cannot be built; "
			       "install it (Debian: apt-get install gcc make libc6-dev).",
			       tool, b->c->facts.name);
	rc = proc_run(argv, &o, b->err);
	if (!rc)
		b->compiler = mem_printf("%.*s", (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
	else if (rc > 0)
		rc = err_add(b->err, -EIO, "gcc --version ended with status %d; mend or reinstall gcc.", rc);
	buf_release(&out);
	return rc;
}

/* --- the module --- */

static int check_release(struct builder *b, const char *module)
{
	struct module_info info = { 0 };
	int rc = module_info_read(module, &info, b->err);
	const char *made = info.release;

	if (!rc && (!made || strcmp(made, b->release))) {
		struct buf shown = BUF_INIT;

		buf_puts(&shown, made ? "" : "no kernel");
		text_escape(&shown, made ? made : "", made ? strlen(made) : 0, false);
		rc = err_add(b->err, -EINVAL, "The module built in %s is for %s, but the target runs %s and "
			     "would refuse it; install that kernel's headers, or name its build folder with "
			     "--kernel-build.", b->kernel_build, buf_str(&shown), b->release);
		buf_release(&shown);
	}
	module_info_release(&info);
	return rc;
}

/* Builds in the folder `tmp`, from copies of kmod/ and kmod/FOLDER. */
static int make_module(struct builder *b, const char *tmp, char **made)
{
	const char *folder = strrchr(b->c->kmod_dir, '/') + 1;
	char *dir = mem_printf("%s/%s", tmp, folder);
	char *m = mem_printf("M=%s", dir);
	/* A make above us must not hand down its flags; messages in English, for first_error(). */
	const char *const argv[] = { "env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKELEVEL", "LC_ALL=C",
				     "make", "-s", "-C", b->kernel_build, m, no_btf, "modules", NULL };
	int rc = case_module_sources(b->c, tmp, b->err);

	*made = mem_printf("%s/%s.ko", dir, b->c->facts.module);
	if (!rc)
		rc = compile(b, argv, "The module", tmp, module_remedy);
	if (!rc && !fs_exists(*made))
		rc = err_add(b->err, -ENOENT, "The Kbuild file of %s made no %s.ko; its obj-m must name it.",
			     b->c->kmod_dir, b->c->facts.module);
	if (!rc)
		rc = check_release(b, *made);
	free(m);
	free(dir);
	return rc;
}

int case_module_sources(const struct patch_case *c, const char *to, struct err *err)
{
	char *shared = shared_dir(c), *dir = mem_printf("%s/%s", to, strrchr(c->kmod_dir, '/') + 1);
	int rc = sources(shared, NULL, to, err);

	if (!rc)
		rc = fs_mkdirs(dir, err);
	if (!rc)
		rc = sources(c->kmod_dir, NULL, dir, err);
	free(dir);
	free(shared);
	return rc;
}

static int module_digest(struct builder *b, uint64_t *d)
{
	static const char *const of_kernel[] = { "include/generated/autoconf.h", "Module.symvers" };
	char *shared = shared_dir(b->c);
	int rc = 0;
	size_t i;

	digest_str(d, b->release);
	digest_str(d, b->kernel_build);
	digest_str(d, b->compiler);
	digest_str(d, no_btf);
	/* A release built again keeps its name, but not always its layout of structures. */
	for (i = 0; !rc && i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++) {
		char *path = mem_printf("%s/%s", b->kernel_build, of_kernel[i]);

		if (fs_exists(path))
			rc = digest_file(d, path, VERSIONS_LIMIT, b->err);
		free(path);
	}
	if (!rc)
		rc = sources(shared, d, NULL, b->err);
	if (!rc)
		rc = sources(b->c->kmod_dir, d, NULL, b->err);
	free(shared);
	return rc;
}

static int check_kernel(struct builder *b)
{
	char *makefile = mem_printf("%s/Makefile", b->kernel_build);
	int rc = 0;

	if (!b->release || !b->release[0] || strchr(b->release, '/') || strlen(b->release) > 64)
		rc = err_add(b->err, -EINVAL, "The target's kernel release is not a name, so no module can "
			     "be built for it; name the kernel with --kernel.");
	else if (!fs_exists(makefile))
		rc = err_add(b->err, -ENOENT, "The headers of kernel %s are not in %s; run `kab lab fetch` "
			     "for the lab's, install linux-headers-%s for this machine's, or name a build "
			     "folder with --kernel-build.", b->release, b->kernel_build, b->release);
	free(makefile);
	return rc;
}

/* --- the workload --- */

/* Where the library is; NULL with a sentence when gcc finds none. The caller frees. */
static char *find_library(struct builder *b, const struct library *lib)
{
	char *question = mem_printf("-print-file-name=%s", lib->file);
	const char *const argv[] = { "gcc", question, NULL };
	struct buf out = BUF_INIT;
	struct proc_opts o = { .out = &out, .stop = b->stop, .ctx = b->ctx };
	char *path = NULL;
	int rc = proc_run(argv, &o, b->err);

	/* What it does not find, it gives back as it was asked. */
	if (!rc && buf_str(&out)[0] == '/')
		path = mem_printf("%.*s", (int)strcspn(out.data, "\n"), out.data);
	else if (rc >= 0)
		err_add(b->err, -ENOENT, "The library %s is missing, so the workload of the case %s cannot be "
			"built; install it (Debian: apt-get install %s).", lib->file, b->c->facts.name,
			lib->package);
	buf_release(&out);
	free(question);
	return path;
}

/* The case's libraries in libs[LIBRARIES]; each must be one that the table has, and be named once. */
static int find_libraries(struct builder *b, const struct library *libs[], size_t *n)
{
	size_t i, j, k;

	for (*n = i = 0; i < b->c->n_workload_libs; i++) {
		const char *name = b->c->workload_libs[i];

		for (j = 0; j < LIBRARIES && strcmp(libraries[j].name, name); j++)
			;
		for (k = 0; k < *n && libs[k] != &libraries[j]; k++)
			;
		if (j == LIBRARIES || k < *n) {
			struct buf shown = BUF_INIT;

			text_escape(&shown, name, strnlen(name, 64), false);
			err_add(b->err, -EINVAL, "The workload of the case %s asks for the library \"%s\", which %s; "
				"mend \"libs\" in its case.yaml.", b->c->facts.name, buf_str(&shown),
				k < *n ? "it has named already" : "kab does not know");
			buf_release(&shown);
			return -EINVAL;
		}
		libs[(*n)++] = &libraries[j];
	}
	return 0;
}

static int make_workload(struct builder *b, const char *tmp, char **made)
{
	char *source = mem_printf("%s/%s", b->c->dir, b->c->workload_source);
	const char *argv[3 + WORKLOAD_OPTIONS + 4 + LIBRARIES + 1] = { "env", "LC_ALL=C", "gcc" };
	const struct library *libs[LIBRARIES];
	size_t n_libs, n = 3, i;
	int rc = find_libraries(b, libs, &n_libs);

	*made = mem_printf("%s/workload", tmp);
	for (i = 0; i < WORKLOAD_OPTIONS; i++)
		argv[n++] = workload_options[i];
	if (!n_libs)
		argv[n++] = "-static";
	argv[n++] = "-o";
	argv[n++] = *made;
	argv[n++] = source;
	for (i = 0; i < n_libs; i++)
		argv[n++] = libs[i]->option;
	if (!rc)
		rc = compile(b, argv, "The workload", b->c->dir, "If the C library is missing, install it "
			     "(Debian: apt-get install libc6-dev).");
	free(source);
	return rc;
}

static int workload_digest(struct builder *b, uint64_t *d)
{
	char *source = mem_printf("%s/%s", b->c->dir, b->c->workload_source);
	const struct library *libs[LIBRARIES];
	size_t n_libs, i;
	int rc = find_libraries(b, libs, &n_libs);

	digest_str(d, b->compiler);
	for (i = 0; i < WORKLOAD_OPTIONS; i++)
		digest_str(d, workload_options[i]);
	for (i = 0; !rc && i < n_libs; i++) {
		char *path = find_library(b, libs[i]);

		digest_str(d, libs[i]->option);
		rc = path ? digest_file(d, path, LIBRARY_LIMIT, b->err) : -ENOENT;
		free(path);
	}
	if (!rc)
		rc = digest_file(d, source, SOURCE_LIMIT, b->err);
	free(source);
	return rc;
}

/* --- both --- */

/*
 * The path of CACHE/build/CASE-WHAT-DIGEST/FILE, which is made when it is not there. *path is the caller's,
 * NULL on failure. `make` gives the path of what it built in the temporary folder, also when it failed.
 */
static int cached(struct builder *b, const char *what, const char *file,
		  int (*digest)(struct builder *, uint64_t *),
		  int (*make)(struct builder *, const char *, char **), char **path)
{
	char *cache = fs_cache_dir("build", b->err), *dir = NULL, *tmp = NULL, *made = NULL;
	uint64_t d = FNV_START;
	int rc = cache ? digest(b, &d) : -EIO;

	if (rc)
		goto out;
	dir = mem_printf("%s/%s-%s-%016" PRIx64, cache, b->c->facts.name, what, d);
	*path = mem_printf("%s/%s", dir, file);
	if (fs_exists(*path))
		goto out;
	tmp = fs_tmpdir("build", b->err);
	rc = tmp ? make(b, tmp, &made) : -EIO;
	if (!rc)
		rc = fs_mkdirs(dir, b->err);
	if (!rc)
		rc = fs_copy(made, *path, b->err);
	if (tmp)
		fs_remove(tmp, NULL);
	if (rc) {
		free(*path);
		*path = NULL;
	}
out:
	free(made);
	free(tmp);
	free(dir);
	free(cache);
	return rc;
}

void case_build_release(struct case_build *b)
{
	free(b->module);
	free(b->workload);
	memset(b, 0, sizeof(*b));
}

int case_build(const struct patch_case *c, const char *release, const char *kernel_build,
	       bool (*stop)(void *ctx), void *ctx, struct case_build *out, struct err *err)
{
	struct builder b = { c, release, kernel_build, stop, ctx, NULL, err };
	char *what, *file;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!c->dir || !c->kmod_dir)
		return err_add(err, -EINVAL, "The case %s comes from a session file, which holds no sources; "
			       "build it from the catalogue.", c->facts.name);
	rc = kernel_build ? check_kernel(&b) : 0;
	if (!rc)
		rc = find_compiler(&b);
	if (!rc)
		rc = cached(&b, "workload", "workload", workload_digest, make_workload, &out->workload);
	if (!rc && kernel_build) {
		what = mem_printf("module-%s", release);
		file = mem_printf("%s.ko", c->facts.module);
		rc = cached(&b, what, file, module_digest, make_module, &out->module);
		free(what);
		free(file);
	}
	free(b.compiler);
	if (rc)
		case_build_release(out);
	return rc;
}
