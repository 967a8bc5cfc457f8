// SPDX-License-Identifier: GPL-2.0-or-later
/* text: see text.h. */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistr.h>
#include <uniwidth.h>

#include "base/buf.h"

/* One UTF-8 sequence: its length and code point; 0 when invalid. */
static size_t decode(const char *s, size_t len, ucs4_t *cp)
{
	int n = u8_mbtoucr(cp, (const uint8_t *)s, len);

	return n > 0 ? (size_t)n : 0;
}

static size_t cell_width(ucs4_t c)
{
	int w = uc_width(c, "UTF-8");

	return w > 0 ? (size_t)w : 0;
}

struct range { uint32_t first, last; };

static bool in_ranges(ucs4_t c, const struct range *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (c >= r[i].first && c <= r[i].last)
			return true;
	return false;
}

/* Marks that reorder, hide or join what stands beside them on a line. */
static bool unsafe(ucs4_t c)
{
	static const struct range marks[] = {
		{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x061c, 0x061c },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};

	return in_ranges(c, marks, sizeof(marks) / sizeof(marks[0]));
}

void text_escape(struct buf *out, const char *s, size_t len, bool ascii)
{
	while (len) {
		ucs4_t cp = 0;
		size_t n = decode(s, len, &cp), i;

		if (n && !unsafe(cp) && (!ascii || cp < 0x7f)) {
			buf_add(out, s, n);
		} else {
			n = n ? n : 1;
			for (i = 0; i < n; i++)
				buf_printf(out, "\\x%02x", (unsigned char)s[i]);
		}
		s += n;
		len -= n;
	}
}

size_t text_width(const char *s)
{
	size_t len = strlen(s), width = 0;

	while (len) {
		ucs4_t cp = 0;
		size_t n = decode(s, len, &cp);

		width += n ? cell_width(cp) : 1;
		n = n ? n : 1;
		s += n;
		len -= n;
	}
	return width;
}

void text_fit(struct buf *out, const char *s, size_t cells, bool pad)
{
	size_t len = strlen(s), width = text_width(s), used = 0;
	bool cut = width > cells;
	size_t room = cut && cells ? cells - 1 : cells;

	while (len) {
		ucs4_t cp = 0;
		size_t n = decode(s, len, &cp);
		size_t w = n ? cell_width(cp) : 1;

		n = n ? n : 1;
		if (used + w > room)
			break;
		buf_add(out, s, n);
		used += w;
		s += n;
		len -= n;
	}
	if (cut && cells) {
		buf_putc(out, '~');
		used++;
	}
	if (pad && used < cells)
		buf_fill(out, ' ', cells - used);
}

void text_ns(struct buf *out, double ns, int digits, bool sign)
{
	static const struct { double size; const char *name; } units[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" },
	};
	double mag = fabs(ns);
	size_t u = 0;
	int whole, decimals;

	while (u < 3 && mag < units[u].size)
		u++;
	mag /= units[u].size;
	whole = mag >= 1 ? (int)floor(log10(mag)) + 1 : 1;
	decimals = digits > whole ? digits - whole : 0;
	if (mag == 0)
		decimals = 0;
	buf_printf(out, "%s%.*f %s", ns < 0 ? "-" : sign ? "+" : "", decimals, mag, units[u].name);
}

void text_count(struct buf *out, double value, int decimals)
{
	char digits[400];
	int n = snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	const char *dot, *p = digits;

	if (n < 0 || n >= (int)sizeof(digits) || !isfinite(value)) {
		buf_puts(out, digits);
		return;
	}
	if (*p == '-')
		buf_putc(out, *p++);
	dot = strchrnul(p, '.');
	for (; p < dot; p++) {
		buf_putc(out, *p);
		if ((dot - p - 1) % 3 == 0 && p + 1 < dot)
			buf_putc(out, ',');
	}
	buf_puts(out, dot);
}

void text_bytes(struct buf *out, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t u = 0;

	while (u < 4 && bytes >= 1000) {
		bytes /= 1000;
		u++;
	}
	buf_printf(out, "%.*f %s", u && bytes < 100 ? 1 : 0, bytes, units[u]);
}

bool text_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end || v < min || v > max)
		return false;
	*value = v;
	return true;
}

bool text_to_double(const char *s, double min, double max, double *value)
{
	double v;
	char *end;

	if (!s || !*s)
		return false;
	errno = 0;
	v = strtod(s, &end);
	if (errno || *end || !isfinite(v) || v < min || v > max)
		return false;
	*value = v;
	return true;
}
