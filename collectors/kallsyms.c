// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms: reads the text of /proc/kallsyms, which may come from a machine
 * that is not trusted, into an array ordered by address.
 *
 * A line is "ADDRESS TYPE NAME", and "<tab>[MODULE]" behind it for a module;
 * "[bpf]" and "[__builtin__ftrace]" are modules like the others. The text gives
 * no sizes: a function ends where the next symbol of its module starts, data
 * symbols included, so a data symbol takes its place in the array but names
 * nothing. What is found here goes to symbols.c.
 */
#include "collectors/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "collectors/symrank.h"

#define TEXT_MAX ((size_t)64 << 20)	/* a kernel with every symbol and many modules has 15 MB */
#define MODULES_MAX (1u << 23)		/* the width of ksym.module */
#define PAGE 4096u
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

/*
 * No function is larger (the largest of an x86-64 distribution kernel has 21 kB).
 * A larger step to the next symbol is a hole in the text: init sections, the
 * alignment of the entry code, the way from the image to the modules.
 */
#define FUNCTION_MAX (128u << 10)

/* Marks of the linker script: typed as code, but it is the code behind them, if any, that runs. */
static const char *const section_marks[] = {
	"_text", "_stext", "_etext", "_sinittext", "_einittext", "_end",
};
static const char *const section_mark_ends[] = { "_text_start", "_text_end" };	/* behind a leading _ */

struct line {
	uint64_t addr;
	char type;
	char *name, *name_end;
	const char *module;	/* with its brackets; NULL: none */
	size_t module_len;
};

/* Splits the line in [p, end); false when it is not one of kallsyms. */
static bool split(struct line *l, char *p, char *end)
{
	static const signed char digit[256] = {
		['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8,
		['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
		['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};
	char *first = p;

	for (l->addr = 0; p < end && digit[(unsigned char)*p]; p++)
		l->addr = l->addr << 4 | (uint64_t)(digit[(unsigned char)*p] - 1);
	if (p == first || p - first > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p + 3;
	for (p = l->name; p < end && (unsigned char)*p > ' '; p++)
		;
	l->name_end = p;
	if (p == l->name || p - l->name > SYMBOL_NAME_MAX)
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	l->module = NULL;
	l->module_len = (size_t)(end - p);
	if (p == end)
		return true;
	l->module = p;
	return l->module_len > 2 && l->module_len < 256 && p[0] == '[' && end[-1] == ']';
}

static bool is_section_mark(const char *name, size_t len)
{
	if (name[0] != '_')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(section_marks); i++)
		if (!strcmp(name, section_marks[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(section_mark_ends); i++) {
		size_t n = strlen(section_mark_ends[i]);

		if (len > n && !memcmp(name + len - n, section_mark_ends[i], n))
			return true;
	}
	return false;
}

static unsigned int rank_of(char type)
{
	if (type == 'w' || type == 'W')
		return 0;
	return type == 'T' ? RANK_STRONG | RANK_GLOBAL : RANK_STRONG;
}

/* Of two symbols at one address: code before data, then perf's order. */
static bool better(const struct kallsyms *k, const struct ksym *a, const struct ksym *b)
{
	if (a->code != b->code)
		return a->code;
	return symrank_better(a->rank, k->text + a->name, b->rank, k->text + b->name);
}

static int by_start(const void *pa, const void *pb)
{
	const struct ksym *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

static void order(struct kallsyms *k, bool sorted)
{
	size_t kept = 0;

	if (!sorted)
		qsort(k->syms.v, k->syms.n, sizeof(*k->syms.v), by_start);
	for (size_t i = 0; i < k->syms.n; i++) {
		struct ksym *s = &k->syms.v[i], *last = kept ? &k->syms.v[kept - 1] : NULL;

		if (!last || last->start != s->start)
			k->syms.v[kept++] = *s;
		else if (better(k, s, last))
			*last = *s;
	}
	k->syms.n = kept;
}

int kallsyms_parse(struct kallsyms *k, const char *text, size_t len, struct err *err)
{
	uint32_t module = 0, zeros = 0, functions = 0;
	const char *last_module = NULL;
	size_t last_len = 0;
	bool sorted = true;
	char *p, *end, *next;

	if (len > TEXT_MAX)
		return err_add(err, -EFBIG, "The kernel's symbol table has %zu bytes, more than any has, and "
			       "was not read; kernel addresses stay without names until it is the "
			       "text of /proc/kallsyms.", len);
	k->text = mem_alloc(len + 1);
	if (len)
		memcpy(k->text, text, len);
	map_intern_str(&k->modules, KALLSYMS_CORE);
	vec_reserve(&k->syms, len / 40 + 1);	/* the usual length of a line */
	for (p = k->text, end = p + len; p < end; p = next) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		struct line l;
		bool code;

		next = nl ? nl + 1 : end;
		if (!split(&l, p, nl ? nl : end) || strchr("aAU", l.type))
			continue;	/* absolute values (per-CPU offsets) are no addresses */
		*l.name_end = '\0';
		code = strchr("tTwW", l.type) && !symrank_is_mark(l.name);
		if (!l.addr) {
			zeros += code;
			continue;
		}
		if (!l.module) {
			module = 0;
		} else if (!last_module || l.module_len != last_len ||
			   memcmp(l.module, last_module, last_len)) {
			module = map_intern(&k->modules, l.module, l.module_len, NULL);
			if (module >= MODULES_MAX)
				continue;
		}
		last_module = l.module;
		last_len = l.module_len;
		functions += code;
		if (k->syms.n && k->syms.v[k->syms.n - 1].start > l.addr)
			sorted = false;
		vec_push(&k->syms, (struct ksym){
			.start = l.addr,
			.name = (uint32_t)(l.name - k->text),
			.module = module,
			.code = code && !is_section_mark(l.name, (size_t)(l.name_end - l.name)),
			.rank = rank_of(l.type),
		});
	}
	if (!functions) {
		kallsyms_release(k);
		if (zeros)
			return err_add(err, -EACCES, "Every address in /proc/kallsyms is zero, so kernel "
				       "addresses stay without names; run as root after "
				       "sysctl kernel.kptr_restrict=0.");
		return err_add(err, -EINVAL, "The text taken for /proc/kallsyms names no function, so kernel "
			       "addresses stay without names; read it again from a kernel that has one "
			       "(CONFIG_KALLSYMS=y).");
	}
	order(k, sorted);
	return 0;
}

void kallsyms_release(struct kallsyms *k)
{
	vec_release(&k->syms);
	map_release(&k->modules);
	free(k->text);
	k->text = NULL;
}

/* Bytes that belong to symbol `i`: to the next one, or where that is far, to the end of the page after. */
static uint64_t extent(const struct kallsyms *k, size_t i)
{
	const struct ksym *s = &k->syms.v[i], *next = s + 1;
	bool last = i + 1 == k->syms.n;
	uint64_t tail = 2 * PAGE - s->start % PAGE;

	if (last)
		return tail;
	if (next->module == s->module && next->start - s->start <= FUNCTION_MAX)
		return next->start - s->start;
	return next->start - s->start < tail ? next->start - s->start : tail;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_hit *hit)
{
	size_t low = 0, high = k->syms.n;	/* low becomes the first symbol behind addr */
	const struct ksym *s;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->syms.v[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	s = &k->syms.v[low - 1];
	if (!s->code || addr - s->start >= extent(k, low - 1))
		return false;
	*hit = (struct kallsyms_hit){ k->text + s->name, map_str(&k->modules, s->module), !s->module, low - 1,
				      addr - s->start };
	return true;
}
