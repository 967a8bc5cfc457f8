// SPDX-License-Identifier: GPL-2.0-or-later
/* text: see text.h. */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unictype.h>
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

/* Controls, and marks that reorder, hide or join what stands beside them on a line. */
static bool unsafe(ucs4_t c)
{
	return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Cf |
						UC_CATEGORY_MASK_Zl | UC_CATEGORY_MASK_Zp) ||
	       uc_is_property_default_ignorable_code_point(c);
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
	size_t room = cut ? cells - 1 : cells;

	if (!cells)
		return;
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
	if (cut) {
		buf_putc(out, '~');
		used++;
	}
	if (pad && used < cells)
		buf_fill(out, ' ', cells - used);
}

void text_ns(struct buf *out, double ns, int digits, bool sign)
{
	static const struct { int exponent; double size; const char *name; } units[] = {
		{ 9, 1e9, "s" }, { 6, 1e6, "ms" }, { 3, 1e3, "us" }, { 0, 1, "ns" },
	};
	char rounded[64];
	int exponent, decimals;
	size_t u = 0;

	if (!isfinite(ns)) {
		buf_puts(out, "n/a");
		return;
	}
	/* Rounded first: 999.96 ns in four digits is 1.000 us, not 1000.0 ns. */
	snprintf(rounded, sizeof(rounded), "%.*e", digits > 1 ? digits - 1 : 0, ns);
	exponent = atoi(strchr(rounded, 'e') + 1);
	while (u < 3 && exponent < units[u].exponent)
		u++;
	decimals = ns == 0 ? 0 : digits - 1 - (exponent - units[u].exponent);
	decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
	buf_printf(out, "%s%.*f %s", ns < 0 ? "-" : sign ? "+" : "", decimals, fabs(ns) / units[u].size,
		   units[u].name);
}

void text_count(struct buf *out, double value, int decimals)
{
	char digits[400];
	int n = snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	const char *dot, *p = digits;

	if (!isfinite(value)) {
		buf_puts(out, "n/a");
		return;
	}
	if (n < 0 || n >= (int)sizeof(digits)) {
		buf_printf(out, "%g", value);
		return;
	}
	if (*p == '-') {
		p++;
		if (p[strspn(p, "0.")])	/* what rounds to nothing has no sign */
			buf_putc(out, '-');
	}
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

	/* 999.5 would be printed as 1000. */
	while (u < 4 && bytes >= 999.5) {
		bytes /= 1000;
		u++;
	}
	buf_printf(out, "%.*f %s", u && bytes < 99.95 ? 1 : 0, bytes, units[u]);
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

	/* strtod(3) also takes blanks, hexadecimal, "inf" and "nan". */
	if (!s || !*s || s[strspn(s, "0123456789+-.eE")])
		return false;
	errno = 0;
	v = strtod(s, &end);
	if (errno || *end || !isfinite(v) || v < min || v > max)
		return false;
	*value = v;
	return true;
}
