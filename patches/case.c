// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * case: case.yaml checked against a schema and turned into struct patch_case.
 *
 * libcyaml allocates and fills a struct case_file, whose strings and arrays then change owner. The text may
 * come from a session file of somebody else, so its size, the lengths of its strings and lists, and the
 * names that later become paths or are matched with symbols are all checked here. Reads the catalogue,
 * writes nothing.
 */
#include "patches/case.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "patches/yaml.h"

#define TEXT_LIMIT (256U << 10)		/* bytes of a case file; real ones have some thousands */
#define NAME_MAX_LEN 64			/* of a case, module, symbol */
#define LINE_MAX_LEN 4096
#define LIST_MAX 256

/* A figure that is absent from the YAML is a NULL pointer, which a plain double could not say. */
struct yaml_claim {
	char *metric, *unit, *quote;
	double *before, *after;
	enum direction better;
};

struct yaml_frame {
	char *function, *parent;
	double *before_share, *after_share, *before_count, *after_count;
};

struct case_file {
	struct patch_case c;
	struct yaml_claim *claims;
	struct yaml_frame *frames;
	size_t n_claims, n_frames;
};

/* --- schema --- */

#define END CYAML_FIELD_END
#define NAME(key, type, member) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1, NAME_MAX_LEN)
#define MAYBE_NAME(key, type, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 1, NAME_MAX_LEN)
#define LINE(key, type, member) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1, LINE_MAX_LEN)
#define MAYBE_LINE(key, type, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 1, LINE_MAX_LEN)
#define MAYBE_NUMBER(key, type, member) \
	CYAML_FIELD_FLOAT_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, type, member)
#define LIST(key, type, member, count, entry) \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER, type, member, count, entry, 1, LIST_MAX)
#define MAYBE_LIST(key, type, member, count, entry) \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, count, \
				   entry, 0, LIST_MAX)

static const cyaml_schema_value_t line = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, LINE_MAX_LEN),
};

static const cyaml_schema_field_t function_fields[] = {
	NAME("name", struct replaced_function, name),
	NAME("before", struct replaced_function, before),
	NAME("after", struct replaced_function, after),
	END
};
static const cyaml_schema_value_t function = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct replaced_function, function_fields),
};

static const cyaml_strval_t directions[] = {
	{ "lower", LOWER_IS_BETTER },
	{ "higher", HIGHER_IS_BETTER },
};
static const cyaml_schema_field_t claim_fields[] = {
	LINE("metric", struct yaml_claim, metric),
	NAME("unit", struct yaml_claim, unit),
	MAYBE_NUMBER("before", struct yaml_claim, before),
	MAYBE_NUMBER("after", struct yaml_claim, after),
	CYAML_FIELD_ENUM("better", CYAML_FLAG_STRICT, struct yaml_claim, better, directions,
			 CYAML_ARRAY_LEN(directions)),
	MAYBE_LINE("quote", struct yaml_claim, quote),
	END
};
static const cyaml_schema_value_t claim = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_claim, claim_fields),
};

static const cyaml_schema_field_t frame_fields[] = {
	LINE("function", struct yaml_frame, function),
	MAYBE_LINE("parent", struct yaml_frame, parent),
	MAYBE_NUMBER("before_share", struct yaml_frame, before_share),
	MAYBE_NUMBER("after_share", struct yaml_frame, after_share),
	MAYBE_NUMBER("before_count", struct yaml_frame, before_count),
	MAYBE_NUMBER("after_count", struct yaml_frame, after_count),
	END
};
static const cyaml_schema_value_t frame = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_frame, frame_fields),
};

static const cyaml_schema_field_t requirement_fields[] = {
	NAME("symbol", struct requirement, symbol),
	CYAML_FIELD_BOOL("absent", CYAML_FLAG_OPTIONAL, struct requirement, absent),
	LINE("because", struct requirement, because),
	END
};
static const cyaml_schema_value_t requirement = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct requirement, requirement_fields),
};

static const cyaml_schema_value_t symbol = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, NAME_MAX_LEN),
};
static const cyaml_schema_field_t patched_fields[] = {
	NAME("function", struct patched_function, name),
	LIST("callers", struct patched_function, callers, n_callers, &symbol),
	MAYBE_NAME("before", struct patched_function, before),
	MAYBE_NAME("after", struct patched_function, after),
	END
};
static const cyaml_schema_value_t patched = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct patched_function, patched_fields),
};

static const cyaml_strval_t variants[] = {
	{ "before", VARIANT_BEFORE },
	{ "after", VARIANT_AFTER },
};
static const cyaml_strval_t equalities[] = {
	{ "bytes", EQUAL_BYTES },
	{ "lines", EQUAL_LINES },
};

static const cyaml_schema_field_t carried_fields[] = {
	LINE("path", struct carried_file, path),
	NAME("package", struct carried_file, package),
	END
};
static const cyaml_schema_value_t carried = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct carried_file, carried_fields),
};

static const cyaml_schema_field_t param_fields[] = {
	NAME("name", struct case_param, name),
	LINE("help", struct case_param, help),
	END
};
static const cyaml_schema_value_t param = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct case_param, param_fields),
};

static const cyaml_schema_field_t workload_fields[] = {
	NAME("source", struct patch_case, workload_source),
	MAYBE_LIST("args", struct patch_case, workload_args, n_workload_args, &line),
	MAYBE_LIST("libs", struct patch_case, workload_libs, n_workload_libs, &line),
	CYAML_FIELD_UINT("ops_per_block", CYAML_FLAG_DEFAULT, struct patch_case, ops_per_block),
	MAYBE_LIST("files", struct patch_case, carried, n_carried, &carried),
	CYAML_FIELD_UINT("lab_ops_per_block", CYAML_FLAG_OPTIONAL, struct patch_case, lab_ops_per_block),
	END
};

static const cyaml_schema_field_t file_fields[] = {
	NAME("name", struct case_file, c.facts.name),
	LINE("title", struct case_file, c.facts.title),
	LINE("date", struct case_file, c.facts.date),
	LINE("author", struct case_file, c.facts.author),
	LINE("message_id", struct case_file, c.facts.message_id),
	LINE("upstream", struct case_file, c.facts.upstream),
	LINE("summary", struct case_file, c.facts.summary),
	NAME("module", struct case_file, c.facts.module),
	LINE("operation", struct case_file, c.facts.operation),
	NAME("style", struct case_file, c.facts.style),
	LIST("files", struct case_file, c.facts.files, c.facts.n_files, &line),
	LIST("kernels", struct case_file, c.facts.kernels, c.facts.n_kernels, &line),
	LIST("functions", struct case_file, c.facts.functions, c.facts.n_functions, &function),
	MAYBE_LIST("claims", struct case_file, claims, n_claims, &claim),
	MAYBE_LIST("profile", struct case_file, frames, n_frames, &frame),
	MAYBE_LIST("notes", struct case_file, c.facts.notes, c.facts.n_notes, &line),
	CYAML_FIELD_MAPPING("workload", CYAML_FLAG_DEFAULT, struct case_file, c, workload_fields),
	MAYBE_LIST("params", struct case_file, c.params, c.n_params, &param),
	MAYBE_LIST("setup", struct case_file, c.setup, c.n_setup, &line),
	LIST("check", struct case_file, c.check, c.n_check, &line),
	CYAML_FIELD_ENUM("equal", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct case_file, c.equal, equalities,
			 CYAML_ARRAY_LEN(equalities)),
	CYAML_FIELD_ENUM("native", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct case_file, c.facts.native, variants,
			 CYAML_ARRAY_LEN(variants)),
	MAYBE_LIST("requires", struct case_file, c.requires, c.n_requires, &requirement),
	MAYBE_LIST("patched", struct case_file, c.patched, c.n_patched, &patched),
	END
};
static const cyaml_schema_value_t file_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct case_file, file_fields),
};

/* --- reading --- */

static int invalid(struct err *err, const char *origin, const char *what)
{
	return err_add(err, -EINVAL, "The case file of %s is not valid: %s; patches/net-procfs/case.yaml is "
		       "an example.", origin, what);
}

static bool made_of(const char *s, const char *allowed)
{
	return s[strspn(s, allowed)] == '\0';
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define C_NAME LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ_" DIGITS

/* The names that become paths, module names, or symbols to match. */
static int check_names(const struct patch_case *c, const char *origin, struct err *err)
{
	static const char *const styles[] = { "tree", "flat", "oprofile" };
	const struct case_facts *f = &c->facts;
	const char *dot = strrchr(c->workload_source, '.');
	size_t i, k;

	if (!made_of(f->name, LOWER DIGITS "-") || f->name[0] == '-')
		return invalid(err, origin, "\"name\" may have a-z, 0-9 and -");
	if (strncmp(f->module, "kab_", 4) || !f->module[4] || !made_of(f->module, LOWER DIGITS "_"))
		return invalid(err, origin, "\"module\" is kab_ and the name of a folder of kmod/");
	if (!made_of(c->workload_source, C_NAME "-.") || c->workload_source[0] == '.' ||
	    !dot || strcmp(dot, ".c"))
		return invalid(err, origin, "\"source\" of the workload is a C file beside the case file");
	if (c->ops_per_block < 1 || c->ops_per_block > 1000000000 || c->lab_ops_per_block > 1000000000)
		return invalid(err, origin, "\"ops_per_block\" is 1 to 1,000,000,000");
	for (i = 0; i < f->n_functions; i++) {
		const struct replaced_function *r = &f->functions[i];

		if (!made_of(r->name, C_NAME ".") || !made_of(r->before, C_NAME) ||
		    !made_of(r->after, C_NAME))
			return invalid(err, origin, "a name in \"functions\" is not a symbol");
	}
	for (i = 0; i < c->n_requires; i++)
		if (!made_of(c->requires[i].symbol, C_NAME "."))
			return invalid(err, origin, "a name in \"requires\" is not a symbol");
	for (i = 0; i < c->n_patched; i++)
		for (k = 0; k <= c->patched[i].n_callers; k++)
			if (!made_of(k ? c->patched[i].callers[k - 1] : c->patched[i].name, C_NAME "."))
				return invalid(err, origin, "a name in \"patched\" is not a symbol");
	for (i = 0; i < c->n_patched; i++)
		if (!made_of(c->patched[i].before ? c->patched[i].before : "", C_NAME) ||
		    !made_of(c->patched[i].after ? c->patched[i].after : "", C_NAME))
			return invalid(err, origin, "a name in \"patched\" is not a symbol");
	for (i = 0; i < c->n_carried; i++) {
		const char *path = c->carried[i].path;

		if ((path[0] != '/' && !made_of(path, C_NAME "-.+")) || path[0] == '.' || path[0] == '-' ||
		    path[strlen(path) - 1] == '/')
			return invalid(err, origin, "\"path\" of a file is absolute, or the name of a program");
		if (!made_of(c->carried[i].package, LOWER DIGITS "-.+"))
			return invalid(err, origin, "\"package\" of a file is the name of a Debian package");
	}
	for (i = 0; i < c->n_params; i++)
		if (!made_of(c->params[i].name, C_NAME))
			return invalid(err, origin, "a name in \"params\" is not one of a module's parameter");
	for (i = 0; i < f->n_kernels; i++)
		if (!made_of(f->kernels[i], DIGITS ".") || !strchr(f->kernels[i], '.'))
			return invalid(err, origin, "\"kernels\" lists lines such as \"6.1\"");
	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (!strcmp(f->style, styles[i]))
			return 0;
	return invalid(err, origin, "\"style\" is tree, flat or oprofile");
}

/* Takes the number from libcyaml's allocation; NaN when absent. Any other value must be finite. */
static double take(double *p, bool *finite)
{
	double v = p ? *p : NAN;

	if (p && !isfinite(v))
		*finite = false;
	free(p);
	return v;
}

/* Moves everything out of `file`, which is freed. False when a figure is not a finite number. */
static bool move_out(struct case_file *file, struct patch_case *c)
{
	struct case_facts *f = &c->facts;
	bool finite = true;
	size_t i;

	*c = file->c;
	f->n_claims = file->n_claims;
	f->claims = mem_calloc(f->n_claims, sizeof(*f->claims));
	for (i = 0; i < f->n_claims; i++) {
		struct yaml_claim *y = &file->claims[i];

		f->claims[i] = (struct claim){
			.metric = y->metric, .unit = y->unit, .quote = y->quote, .better = y->better,
			.before = take(y->before, &finite), .after = take(y->after, &finite),
		};
	}
	f->n_frames = file->n_frames;
	f->frames = mem_calloc(f->n_frames, sizeof(*f->frames));
	for (i = 0; i < f->n_frames; i++) {
		struct yaml_frame *y = &file->frames[i];

		f->frames[i] = (struct claimed_frame){
			.function = y->function, .parent = y->parent,
			.before_share = take(y->before_share, &finite),
			.after_share = take(y->after_share, &finite),
			.before_count = take(y->before_count, &finite),
			.after_count = take(y->after_count, &finite),
		};
	}
	free(file->claims);
	free(file->frames);
	free(file);
	return finite;
}

int case_parse(const char *yaml, size_t len, const char *origin, struct patch_case *c, struct err *err)
{
	struct buf said = BUF_INIT;
	const cyaml_config_t config = yaml_config(&said);
	struct case_file *file = NULL;
	cyaml_err_t failed;
	int rc;

	memset(c, 0, sizeof(*c));
	if (!len || len > TEXT_LIMIT)
		return invalid(err, origin, len ? "it is larger than 256 KiB" : "it is empty");
	failed = cyaml_load_data((const uint8_t *)yaml, len, &config, &file_schema,
				 (cyaml_data_t **)&file, NULL);
	if (failed || !file) {
		if (!said.len)
			buf_puts(&said, failed ? cyaml_strerror(failed) : "it is empty");
		rc = invalid(err, origin, said.data);
	} else {
		rc = move_out(file, c) ? 0 : invalid(err, origin, "a figure is not finite");
		if (!rc)
			rc = check_names(c, origin, err);
		if (rc)
			case_release(c);
	}
	buf_release(&said);
	return rc;
}

static void strings_release(char **v, size_t n)
{
	while (n)
		free(v[--n]);
	free(v);
}

void case_release(struct patch_case *c)
{
	size_t i;

	case_facts_release(&c->facts);
	free(c->dir);
	free(c->kmod_dir);
	free(c->workload_source);
	strings_release(c->workload_args, c->n_workload_args);
	for (i = 0; i < c->n_carried; i++) {
		free(c->carried[i].path);
		free(c->carried[i].package);
	}
	free(c->carried);
	for (i = 0; i < c->n_params; i++) {
		free(c->params[i].name);
		free(c->params[i].help);
	}
	free(c->params);
	strings_release(c->workload_libs, c->n_workload_libs);
	strings_release(c->setup, c->n_setup);
	strings_release(c->check, c->n_check);
	for (i = 0; i < c->n_requires; i++) {
		free(c->requires[i].symbol);
		free(c->requires[i].because);
	}
	free(c->requires);
	for (i = 0; i < c->n_patched; i++) {
		free(c->patched[i].name);
		strings_release(c->patched[i].callers, c->patched[i].n_callers);
		free(c->patched[i].before);
		free(c->patched[i].after);
	}
	free(c->patched);
	memset(c, 0, sizeof(*c));
}

/* --- the catalogue --- */

/* patches/NAME; NULL with a sentence when there is no such case. `name` is the user's and may be anything. */
static char *folder(const char *name, struct err *err)
{
	char *patches = NULL, *dir = NULL, *file = NULL;

	if (name[0] && name[0] != '-' && made_of(name, LOWER DIGITS "-")) {
		patches = fs_shipped("patches", err);
		if (!patches)
			return NULL;
		dir = mem_printf("%s/%s", patches, name);
		file = mem_printf("%s/case.yaml", dir);
	}
	if (!dir || !fs_exists(file)) {
		struct buf shown = BUF_INIT;

		text_escape(&shown, name, strnlen(name, NAME_MAX_LEN), false);
		err_add(err, -ENOENT, "There is no patch case \"%s\"; `kab patch list` shows those there "
			"are.", buf_str(&shown));
		buf_release(&shown);
		free(dir);
		dir = NULL;
	}
	free(patches);
	free(file);
	return dir;
}

static int read_file(const char *dir, struct buf *out, struct err *err)
{
	char *path = mem_printf("%s/case.yaml", dir);
	int rc = buf_read_file(out, path, TEXT_LIMIT, err);

	free(path);
	return rc;
}

int case_text(const char *name, struct buf *out, struct err *err)
{
	char *dir = folder(name, err);
	int rc = dir ? read_file(dir, out, err) : -ENOENT;

	free(dir);
	return rc;
}

int case_load(const char *name, struct patch_case *c, struct err *err)
{
	char *dir = folder(name, err), *kmod = NULL;
	struct buf text = BUF_INIT;
	int rc;

	memset(c, 0, sizeof(*c));
	if (!dir)
		return -ENOENT;
	rc = read_file(dir, &text, err);
	if (!rc)
		rc = case_parse(buf_str(&text), text.len, name, c, err);
	if (!rc && strcmp(c->facts.name, name))
		rc = invalid(err, name, "\"name\" is not the name of its folder");
	if (!rc) {
		kmod = fs_shipped("kmod", err);
		rc = kmod ? 0 : -ENOENT;
	}
	if (!rc) {
		c->kmod_dir = mem_printf("%s/%s", kmod, c->facts.module + strlen("kab_"));
		c->dir = mem_strdup(dir);
	} else {
		case_release(c);
	}
	buf_release(&text);
	free(kmod);
	free(dir);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int case_names(char ***names, size_t *n, struct err *err)
{
	char *patches = fs_shipped("patches", err);
	VEC(char *) found = { 0 };
	struct dirent *e;
	DIR *d;

	*names = NULL;
	*n = 0;
	if (!patches)
		return -ENOENT;
	d = opendir(patches);
	if (!d) {
		int rc = err_sys(err, errno, "Cannot read the catalogue of patch cases %s", patches);

		free(patches);
		return rc;
	}
	while ((e = readdir(d))) {
		char *dir = folder(e->d_name, NULL);

		if (dir)
			vec_push(&found, mem_strdup(e->d_name));
		free(dir);
	}
	closedir(d);
	free(patches);
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), by_name);
	*names = found.v;
	*n = found.n;
	return 0;
}

bool case_for_kernel(const struct patch_case *c, const char *release)
{
	size_t i, n;

	for (i = 0; i < c->facts.n_kernels; i++) {
		n = strlen(c->facts.kernels[i]);
		if (!strncmp(release, c->facts.kernels[i], n) && (!release[n] || strchr(".-", release[n])))
			return true;
	}
	return false;
}

unsigned case_ops(const struct patch_case *c, const char *target)
{
	return c->lab_ops_per_block && !strcmp(target, "vm") ? c->lab_ops_per_block : c->ops_per_block;
}

char *case_expand(const char *text, unsigned ops, const char *workload)
{
	struct buf out = BUF_INIT;
	char number[16];
	const struct { const char *word, *value; size_t len; } words[] = {
		{ "{ops}", number, (size_t)snprintf(number, sizeof(number), "%u", ops) },
		{ "{workload}", workload, workload ? strlen(workload) : 0 },
		{ "{dir}", workload, workload && strrchr(workload, '/') ? (size_t)(strrchr(workload, '/') - workload) : 0 },
	};
	const size_t n = sizeof(words) / sizeof(words[0]);
	size_t i;

	while (*text) {
		for (i = 0; i < n && (!words[i].value || strncmp(text, words[i].word, strlen(words[i].word))); i++)
			;
		if (i < n) {
			buf_add(&out, words[i].value, words[i].len);
			text += strlen(words[i].word);
		} else {
			buf_putc(&out, *text++);
		}
	}
	return buf_detach(&out);
}

/* The body's own name is unique, so the module's need not be compared. */
static struct alias alias_of(const char *body, const char *to)
{
	return (struct alias){ .name = body, .to_name = to, .to_dso = "[kernel.kallsyms]",
			       .to_kind = FRAME_KERNEL };
}

struct alias *case_aliases(const struct patch_case *c, size_t *n)
{
	const struct case_facts *f = &c->facts;
	struct alias *aliases = mem_calloc(2 * (f->n_functions + c->n_patched), sizeof(*aliases));
	size_t i;

	*n = 0;
	for (i = 0; i < f->n_functions; i++) {
		aliases[(*n)++] = alias_of(f->functions[i].before, f->functions[i].name);
		aliases[(*n)++] = alias_of(f->functions[i].after, f->functions[i].name);
	}
	for (i = 0; i < c->n_patched; i++) {
		if (c->patched[i].before)
			aliases[(*n)++] = alias_of(c->patched[i].before, c->patched[i].name);
		if (c->patched[i].after)
			aliases[(*n)++] = alias_of(c->patched[i].after, c->patched[i].name);
	}
	return aliases;
}
