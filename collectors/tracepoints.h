/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoints: the fields of a tracepoint's records, by the format that the
 * kernel gives for it. The only door to libtraceevent. Records and formats are
 * untrusted: nothing outside a record is read.
 */
#ifndef KAB_COLLECTORS_TRACEPOINTS_H
#define KAB_COLLECTORS_TRACEPOINTS_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct tracepoints;

struct tracepoints *tracepoints_new(void);
void tracepoints_free(struct tracepoints *t);	/* NULL is fine */

/* Takes the text of a `format` file; again is fine. -EINVAL when it cannot be understood. */
int tracepoints_add(struct tracepoints *t, const char *system, const char *name, const char *text, size_t len,
		    struct err *err);
/* The id that the records of a known tracepoint start with; 0 when it is not known. */
uint32_t tracepoints_id(const struct tracepoints *t, const char *system, const char *name);
/* The id of a record of at least 2 bytes. */
uint32_t tracepoints_record_id(const void *record, size_t len);
/* 0 when records of `id` have a numeric field of this name; else -ENOENT with the fields there are. */
int tracepoints_has_number(const struct tracepoints *t, uint32_t id, const char *field, struct err *err);
/* Its value; -EINVAL for a record that is too short, or of another tracepoint. Above INT64_MAX it is that. */
int tracepoints_number(const struct tracepoints *t, const void *record, size_t len, const char *field,
		       int64_t *value);
/* "SYSTEM:EVENT name=value name=value ...", escaped; nothing for a record that makes no sense. */
void tracepoints_print(const struct tracepoints *t, const void *record, size_t len, struct buf *out);

#endif
