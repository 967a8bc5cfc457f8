// SPDX-License-Identifier: GPL-2.0-or-later
/* release: see release.h. */
#include "lab/release.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

bool release_valid(const char *s, size_t len)
{
	size_t i;

	if (!len || len > RELEASE_MAX || !isdigit((unsigned char)s[0]))
		return false;
	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && (!s[i] || !strchr(".+~_-", s[i])))
			return false;
	return true;
}

/* Bytes of "NUMBER.NUMBER" at the start of `s`, 0 when it does not start so. */
static size_t line_len(const char *s)
{
	size_t major = strspn(s, "0123456789"), minor;

	if (!major || s[major] != '.')
		return 0;
	minor = strspn(s + major + 1, "0123456789");
	return minor ? major + 1 + minor : 0;
}

bool release_line_valid(const char *line)
{
	size_t n = line_len(line);

	return n && n <= 16 && !line[n];
}

char *release_line(const char *release)
{
	size_t n = line_len(release);

	return n ? mem_printf("%.*s", (int)n, release) : NULL;
}

bool release_on_line(const char *release, const char *line)
{
	size_t n = line_len(release);

	return n && strlen(line) == n && memcmp(release, line, n) == 0;
}

/* The value of a field of the first paragraph, up to the end of its line; NULL when absent. */
static const char *field(const char *show, const char *name, size_t *len)
{
	size_t n = strlen(name);
	const char *p = show, *end;

	for (; *p && *p != '\n'; p = *end ? end + 1 : end) {
		end = strchrnul(p, '\n');
		if ((size_t)(end - p) <= n || memcmp(p, name, n) || p[n] != ':')
			continue;
		p += n + 1;
		while (p < end && *p == ' ')
			p++;
		*len = (size_t)(end - p);
		return p;
	}
	return NULL;
}

char *release_from_depends(const char *show, const char *prefix)
{
	size_t n = strlen(prefix), len;
	const char *p = field(show, "Depends", &len), *end = p ? p + len : NULL;

	/* "a, linux-image-6.1.0-57-amd64 (= 6.1.192-3), b | c" */
	while (p && p < end) {
		size_t word = strcspn(p, " ,|\n");

		if (word > n && !memcmp(p, prefix, n) && release_valid(p + n, word - n))
			return mem_printf("%.*s", (int)(word - n), p + n);
		p += word;
		p += strspn(p, " ,|");
	}
	return NULL;
}

uint64_t release_package_size(const char *show)
{
	size_t len;
	const char *p = field(show, "Size", &len);
	char number[24];
	uint64_t size = 0;

	if (!p || len >= sizeof(number))
		return 0;
	memcpy(number, p, len);
	number[len] = '\0';
	return text_to_u64(number, 0, (uint64_t)1 << 40, &size) ? size : 0;
}
