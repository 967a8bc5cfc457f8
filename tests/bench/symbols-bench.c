// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbols-bench: how long it takes to read this kernel's symbol table, and how
 * many addresses a second become names: ones seen before, and ones that are new,
 * of the kernel and of this process. Prints a line each; best of five.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "collectors/symbols.h"

#define ROUNDS 5
#define LOOKUPS 2000000
#define SELF 1				/* the pid this process is mapped as */
#define REPEATED 1000			/* distinct addresses of a profile that repeats itself */

struct range {
	uint64_t start, end;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *itself(void *ctx, const char *path, const char *build_id)
{
	(void)ctx, (void)build_id;
	return path;
}

/* LOOKUPS addresses picked from `distinct` ones of the range; seconds taken. */
static double lookups(struct symboliser *s, const struct range *r, uint64_t distinct, bool kernel,
		      uint64_t *named)
{
	uint64_t seed = 42, step = (r->end - r->start) / distinct;
	double start = now();

	if (!step)
		step = 1;
	*named = 0;
	for (int i = 0; i < LOOKUPS; i++) {
		struct resolved out;
		uint64_t addr;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		addr = r->start + (seed >> 33) % distinct * step % (r->end - r->start);
		if (kernel)
			symboliser_kernel(s, addr, &out);
		else
			symboliser_user(s, SELF, addr, &out);
		*named += out.name[0] != '[';
	}
	return now() - start;
}

static void report(struct symboliser *s, const char *what, const struct range *r, uint64_t distinct,
		   bool kernel)
{
	uint64_t named = 0;
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double t = lookups(s, r, distinct, kernel, &named);

		if (!i || t < best)
			best = t;
	}
	printf("%-28s %6.1f M/s   %5.1f %% with a name\n", what, LOOKUPS / best / 1e6,
	       100.0 * (double)named / LOOKUPS);
}

/* The text of the kernel image: _stext to _etext. */
static bool kernel_range(const struct buf *kallsyms, struct range *r)
{
	const char *from = strstr(buf_str(kallsyms), " T _stext\n");
	const char *to = strstr(buf_str(kallsyms), " T _etext\n");

	if (!from || !to || from - kallsyms->data < 16 || to - kallsyms->data < 16)
		return false;
	r->start = strtoull(from - 16, NULL, 16);
	r->end = strtoull(to - 16, NULL, 16);
	return r->end > r->start;
}

/* Maps this process; the range is that of the C library. */
static bool map_self(struct symboliser *s, struct range *r)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4400], path[4200], perms[8];
	uint64_t start, end, pgoff;

	r->end = 0;
	while (f && fgets(line, sizeof(line), f)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4199[^\n]", &start, &end,
			   perms, &pgoff, path) < 4 || !strchr(perms, 'x'))
			continue;
		symboliser_map(s, SELF, start, end - start, pgoff, path, "");
		if (strstr(path, "/libc."))
			*r = (struct range){ start, end };
	}
	if (f)
		fclose(f);
	return r->end;
}

int main(void)
{
	struct symboliser *s = symboliser_new(itself, NULL);
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct range range;
	double best = 0;
	int rc = 0;

	rc = buf_read_file(&text, "/proc/kallsyms", (size_t)64 << 20, &err);
	for (int i = 0; !rc && i < ROUNDS; i++) {
		double start = now();

		rc = symboliser_kallsyms(s, text.data, text.len, &err);
		if (!i || now() - start < best)
			best = now() - start;
	}
	if (rc)
		printf("kernel: %s\n", err.text);
	else
		printf("%-28s %6.1f ms   %.1f MB of text\n", "read kallsyms", best * 1e3,
		       (double)text.len / 1e6);
	if (!rc && kernel_range(&text, &range)) {
		report(s, "kernel, repeated addresses", &range, REPEATED, true);
		report(s, "kernel, new addresses", &range, range.end - range.start, true);
	}
	if (map_self(s, &range)) {
		struct resolved r;
		double start = now();

		symboliser_user(s, SELF, range.start, &r);
		printf("%-28s %6.1f ms   %s\n", "read a file's symbols", (now() - start) * 1e3, r.dso);
		report(s, "user, repeated addresses", &range, REPEATED, false);
		report(s, "user, new addresses", &range, range.end - range.start, false);
	}
	buf_release(&text);
	symboliser_free(s);
	return 0;
}
