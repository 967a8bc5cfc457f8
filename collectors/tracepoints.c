// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracepoints: see tracepoints.h. The library takes the format apart; values are
 * taken out of a record here, since its own readers trust the record's length.
 */
#include "collectors/tracepoints.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define STRING_LIMIT 200	/* bytes of one string shown */

struct tracepoints {
	struct tep_handle *tep;
};

struct tracepoints *tracepoints_new(void)
{
	struct tracepoints *t = mem_alloc(sizeof(*t));

	/* Words of its own would go to stderr, over the progress bar. */
	tep_set_loglevel(TEP_LOG_NONE);
	t->tep = tep_alloc();
	/* Targets are x86-64, as the machine kab runs on. */
	if (t->tep) {
		tep_set_long_size(t->tep, sizeof(long));
		tep_set_file_bigendian(t->tep, TEP_LITTLE_ENDIAN);
		tep_set_local_bigendian(t->tep, TEP_LITTLE_ENDIAN);
	}
	return t;
}

void tracepoints_free(struct tracepoints *t)
{
	if (!t)
		return;
	tep_free(t->tep);
	free(t);
}

uint32_t tracepoints_id(const struct tracepoints *t, const char *system, const char *name)
{
	struct tep_event *e = t->tep ? tep_find_event_by_name(t->tep, system, name) : NULL;

	return e ? (uint32_t)e->id : 0;
}

int tracepoints_add(struct tracepoints *t, const char *system, const char *name, const char *text, size_t len,
		    struct err *err)
{
	struct tep_event *e = NULL;

	if (!t->tep)
		return err_add(err, -ENOMEM, "Out of memory for the formats of tracepoints.");
	if (tracepoints_id(t, system, name))
		return 0;
	/* A print format that the library does not know is no harm: the fields stand before it. */
	tep_parse_format(t->tep, &e, text, len, system);
	if (!tracepoints_id(t, system, name))
		return err_add(err, -EINVAL, "The format of the tracepoint %.60s:%.60s cannot be understood.",
			       system, name);
	return 0;
}

uint32_t tracepoints_record_id(const void *record, size_t len)
{
	uint16_t id = 0;

	if (len >= sizeof(id))
		memcpy(&id, record, sizeof(id));
	return id;
}

static struct tep_event *event_of(const struct tracepoints *t, uint32_t id)
{
	return t->tep && id ? tep_find_event(t->tep, (int)id) : NULL;
}

static bool is_number(const struct tep_format_field *f)
{
	return !(f->flags &
		 (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_RELATIVE)) &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) && f->offset >= 0;
}

static bool inside(const struct tep_format_field *f, size_t len)
{
	return f->offset >= 0 && f->size >= 0 && (size_t)f->offset + (size_t)f->size <= len;
}

/* Little endian, sign extended where the field has a sign. */
static uint64_t bits_of(const struct tep_format_field *f, const void *record)
{
	unsigned spare = 64 - 8 * (unsigned)f->size;
	uint64_t v = 0;

	memcpy(&v, (const char *)record + f->offset, (size_t)f->size);
	if (f->flags & TEP_FIELD_IS_SIGNED)
		return (uint64_t)((int64_t)(v << spare) >> spare);
	return v;
}

int tracepoints_has_number(const struct tracepoints *t, uint32_t id, const char *field, struct err *err)
{
	struct tep_event *e = event_of(t, id);
	struct tep_format_field *f = e ? tep_find_any_field(e, field) : NULL;
	struct buf names = BUF_INIT;

	if (f && is_number(f))
		return 0;
	for (f = e ? e->format.fields : NULL; f; f = f->next)
		if (is_number(f))
			buf_printf(&names, "%s%s", names.len ? ", " : "", f->name);
	err_add(err, -ENOENT, "The tracepoint %s has no numeric field \"%.60s\"; it has %.400s.",
		e ? e->name : "", field, names.len ? buf_str(&names) : "none");
	buf_release(&names);
	return -ENOENT;
}

int tracepoints_number(const struct tracepoints *t, const void *record, size_t len, const char *field,
		       int64_t *value)
{
	struct tep_event *e = event_of(t, tracepoints_record_id(record, len));
	struct tep_format_field *f = e ? tep_find_any_field(e, field) : NULL;
	uint64_t bits;

	if (!f || !is_number(f) || !inside(f, len))
		return -EINVAL;
	bits = bits_of(f, record);
	*value = f->flags & TEP_FIELD_IS_SIGNED || bits <= INT64_MAX ? (int64_t)bits : INT64_MAX;
	return 0;
}

/* Where the bytes of a string are: in place, or where a packed u32 says: its length over its offset. */
static const char *string_of(const struct tep_format_field *f, const char *record, size_t len, size_t *size)
{
	uint32_t packed;
	size_t at = (size_t)f->offset;

	*size = (size_t)f->size;
	if (f->flags & TEP_FIELD_IS_DYNAMIC) {
		if (f->size != sizeof(packed))
			return NULL;
		memcpy(&packed, record + f->offset, sizeof(packed));
		at = packed & 0xffff;
		*size = packed >> 16;
		if (f->flags & TEP_FIELD_IS_RELATIVE)
			at += (size_t)f->offset + (size_t)f->size;
	}
	if (at > len || *size > len - at)
		return NULL;
	*size = strnlen(record + at, *size < STRING_LIMIT ? *size : STRING_LIMIT);
	return record + at;
}

static void print_field(const struct tep_format_field *f, const char *record, size_t len, struct buf *out)
{
	const char *s;
	size_t size;

	buf_putc(out, ' ');
	text_escape(out, f->name, strlen(f->name), false);
	buf_putc(out, '=');
	if (!inside(f, len)) {
		buf_putc(out, '?');
	} else if (is_number(f)) {
		buf_printf(out, f->flags & TEP_FIELD_IS_POINTER ? "0x%" PRIx64 :
			   f->flags & TEP_FIELD_IS_SIGNED ? "%" PRId64 : "%" PRIu64, bits_of(f, record));
	} else if (f->flags & TEP_FIELD_IS_STRING && (s = string_of(f, record, len, &size))) {
		text_escape(out, s, size, false);
	} else {
		buf_puts(out, "...");
	}
}

void tracepoints_print(const struct tracepoints *t, const void *record, size_t len, struct buf *out)
{
	struct tep_event *e = event_of(t, tracepoints_record_id(record, len));
	const struct tep_format_field *f;

	if (!e)
		return;
	text_escape(out, e->system, strlen(e->system), false);
	buf_putc(out, ':');
	text_escape(out, e->name, strlen(e->name), false);
	for (f = e->format.fields; f; f = f->next)
		print_field(f, record, len, out);
}
