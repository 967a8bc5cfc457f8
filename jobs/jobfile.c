// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jobfile: see jobfile.h. One schema reads and writes; libcyaml checks and
 * allocates. A job file says what is run, on which machines: it is looked at by
 * whoever runs one of somebody else's, so it is kept plain.
 */
#include "jobs/jobfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "patches/yaml.h"

#define TEXT_LIMIT (64U << 10)
#define LINE_MAX_LEN 4096

#define END CYAML_FIELD_END
#define OPTIONAL CYAML_FLAG_OPTIONAL
#define LINE(key, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | OPTIONAL, struct job_file, member, 1, LINE_MAX_LEN)
#define NUMBER(key, member) CYAML_FIELD_UINT(key, OPTIONAL, struct job_file, member)
#define LIST(key, member, max) \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | OPTIONAL, struct job_file, member, n_##member, &line, 0, max)

static const cyaml_schema_value_t line = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, LINE_MAX_LEN),
};

/* libcyaml's own bool takes any word that is not "false" for true. */
static const cyaml_strval_t truths[] = { { "false", false }, { "true", true } };

static const cyaml_schema_field_t fields[] = {
	CYAML_FIELD_UINT("kab-job", CYAML_FLAG_DEFAULT, struct job_file, version),
	CYAML_FIELD_STRING_PTR("case", CYAML_FLAG_POINTER, struct job_file, case_name, 1, 64),
	LIST("targets", targets, JOB_TARGETS),
	NUMBER("blocks", blocks),
	NUMBER("ops", ops),
	CYAML_FIELD_ENUM("exact", OPTIONAL | CYAML_FLAG_STRICT, struct job_file, exact, truths, CYAML_ARRAY_LEN(truths)),
	CYAML_FIELD_ENUM("no-counters", OPTIONAL | CYAML_FLAG_STRICT, struct job_file, no_counters, truths,
			 CYAML_ARRAY_LEN(truths)),
	LINE("kernel", kernel),
	LINE("kernel-image", kernel_image),
	LINE("kernel-build", kernel_build),
	LINE("workload", workload),
	LIST("params", params, JOB_PARAMS),
	LINE("event", event),
	NUMBER("frequency", frequency),
	NUMBER("seed", seed),
	END
};
static const cyaml_schema_value_t schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct job_file, fields),
};

static const struct { size_t offset; const char *key; unsigned max; } ranges[] = {
	{ offsetof(struct job_file, blocks), "blocks", 10000 },
	{ offsetof(struct job_file, ops), "ops", 1000000000 },
	{ offsetof(struct job_file, frequency), "frequency", 100000 },
};

static int invalid(const char *origin, const char *what, struct err *err)
{
	return err_add(err, -EINVAL, "The job file %s is not valid: %s; `kab run CASE --write-job FILE` writes one.", origin,
		       what);
}

static int check(const struct job_file *f, const char *origin, struct err *err)
{
	char what[80];
	size_t i;

	if (f->version != JOB_FILE_VERSION)
		return err_add(err, -EPROTONOSUPPORT, "The job file %s is of format %u and this kab knows %u; update kab.",
			       origin, f->version, JOB_FILE_VERSION);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		unsigned value;

		memcpy(&value, (const char *)f + ranges[i].offset, sizeof(value));
		if (value <= ranges[i].max)
			continue;
		snprintf(what, sizeof(what), "\"%s\" is at most %u", ranges[i].key, ranges[i].max);
		return invalid(origin, what, err);
	}
	if (f->seed > INT64_MAX)
		return invalid(origin, "\"seed\" is too large", err);
	return 0;
}

int job_file_parse(const char *yaml, size_t len, const char *origin, struct job_file **f, struct err *err)
{
	struct buf said = BUF_INIT;
	const cyaml_config_t config = yaml_config(&said);
	cyaml_err_t failed;
	int rc;

	*f = NULL;
	if (!len || len > TEXT_LIMIT)
		return invalid(origin, len ? "it is larger than 64 KiB" : "it is empty", err);
	failed = cyaml_load_data((const uint8_t *)yaml, len, &config, &schema, (cyaml_data_t **)f, NULL);
	if (failed || !*f)
		rc = invalid(origin, said.len ? said.data : failed ? cyaml_strerror(failed) : "it is empty", err);
	else
		rc = check(*f, origin, err);
	if (rc) {
		job_file_free(*f);
		*f = NULL;
	}
	buf_release(&said);
	return rc;
}

int job_file_load(const char *path, struct job_file **f, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = buf_read_file(&text, path, TEXT_LIMIT, err);

	*f = NULL;
	if (!rc)
		rc = job_file_parse(buf_str(&text), text.len, path, f, err);
	buf_release(&text);
	return rc;
}

void job_file_free(struct job_file *f)
{
	struct buf said = BUF_INIT;
	const cyaml_config_t config = yaml_config(&said);

	cyaml_free(&config, &schema, f, 0);
	buf_release(&said);
}

int job_file_text(const struct job_file *f, struct buf *out, struct err *err)
{
	struct buf said = BUF_INIT;
	const cyaml_config_t config = yaml_config(&said);
	cyaml_err_t failed;
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	failed = cyaml_save_data(&text, &len, &config, &schema, f, 0);
	if (failed)
		rc = err_add(err, -EIO, "The job cannot be written as YAML: %s.", said.len ? said.data : cyaml_strerror(failed));
	else
		buf_add(out, text, len);
	free(text);
	buf_release(&said);
	return rc;
}
