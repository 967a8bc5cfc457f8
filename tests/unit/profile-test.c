// SPDX-License-Identifier: GPL-2.0-or-later
/* profile: the symbol table, the tree, its totals and order, the flat table, merging, aliases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/folded.h"

#define DEEP 100000

/* The child of `parent` by this name, NODE_NONE when there is none. */
static uint32_t child(const struct profile *p, uint32_t parent, const char *name)
{
	uint32_t c = p->nodes[parent].first_child;

	while (c != NODE_NONE && strcmp(profile_symbol(p, c)->name, name))
		c = p->nodes[c].next_sibling;
	return c;
}

static const struct flat_row *row(const struct profile *p, const struct flat_row *rows, size_t n,
				  const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(p->symtab.symbols[rows[i].symbol].name, name))
			return &rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void test_symbols_are_one_per_name_dso_kind(void **state)
{
	struct symtab t = { 0 };
	char long_name[5000];
	uint32_t a, b;

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	a = symtab_intern(&t, "read", "[kernel.kallsyms]", FRAME_KERNEL);
	assert_int_equal(symtab_intern(&t, "read", "[kernel.kallsyms]", FRAME_KERNEL), a);
	assert_int_not_equal(symtab_intern(&t, "read", "/usr/lib/libc.so.6", FRAME_USER), a);
	assert_int_not_equal(symtab_intern(&t, "read", "[kernel.kallsyms]", FRAME_MODULE), a);
	/* Name and dso do not run into one another. */
	assert_int_not_equal(symtab_intern(&t, "bc", "a", FRAME_USER),
			     symtab_intern(&t, "c", "ab", FRAME_USER));
	assert_int_not_equal(symtab_intern(&t, "", "ab", FRAME_USER),
			     symtab_intern(&t, "ab", "", FRAME_USER));
	b = symtab_intern(&t, long_name, "", FRAME_USER);
	assert_string_equal(t.symbols[b].name, long_name);
	assert_string_equal(t.symbols[b].dso, "");
	assert_string_equal(t.symbols[a].name, "read");
	assert_string_equal(t.symbols[a].dso, "[kernel.kallsyms]");
	assert_int_equal(t.symbols[a].kind, FRAME_KERNEL);
	assert_int_equal(t.n, 8);
	symtab_release(&t);
	assert_int_equal(t.n, 0);
}

/* inferno 338, FlameGraph 192 and 57: templates, semicolons, blanks and brackets are parts of names. */
static void test_names_are_kept_as_they_are(void **state)
{
	static const char *const names[] = {
		"foo::<[u8; 32]>::bar", "exec<void (*)()>(void (*)())", "a;b", "Web Content [1]", "\x1b[2J",
		"\xff\xfe", "",
	};
	struct profile *p = profile_new();
	uint32_t stack[sizeof(names) / sizeof(names[0])], node = NODE_ROOT;
	size_t n = sizeof(names) / sizeof(names[0]), i;

	(void)state;
	for (i = 0; i < n; i++)
		stack[i] = symtab_intern(&p->symtab, names[i], "", FRAME_USER);
	profile_add_stack(p, stack, n, 1, 1);
	profile_seal(p);
	assert_int_equal(p->n, n + 1);
	for (i = 0; i < n; i++) {
		node = child(p, node, names[i]);
		assert_int_not_equal(node, NODE_NONE);
	}
	profile_free(p);
}

static void test_totals_and_depth(void **state)
{
	struct profile *p = folded("main;foo 1\nmain;foo;bar 4\nmain;baz 2.5\nmain;foo;bar 1");
	uint32_t main_ = child(p, NODE_ROOT, "main"), foo = child(p, main_, "foo");
	uint32_t bar = child(p, foo, "bar");

	(void)state;
	assert_int_equal(p->n, 5);
	assert_true(p->samples == 8.5);
	assert_true(p->period == 8.5 * FOLDED_PERIOD);
	assert_int_equal(profile_measure(p), PERIOD);
	assert_true(p->nodes[main_].total[COUNT] == 8.5 && p->nodes[main_].self[COUNT] == 0);
	assert_true(p->nodes[foo].total[COUNT] == 6 && p->nodes[foo].self[COUNT] == 1);
	assert_true(p->nodes[bar].total[COUNT] == 5 && p->nodes[bar].self[COUNT] == 5);
	assert_true(p->nodes[bar].total[PERIOD] == 5 * FOLDED_PERIOD);
	assert_int_equal(p->nodes[bar].depth, 3);
	assert_int_equal(p->nodes[bar].parent, foo);
	assert_int_equal(p->nodes[NODE_ROOT].parent, NODE_NONE);
	assert_string_equal(profile_symbol(p, NODE_ROOT)->name, "all");
	profile_seal(p);	/* a second time changes nothing */
	assert_true(p->samples == 8.5);
	profile_free(p);
}

static void test_siblings_by_total_then_name(void **state)
{
	static const char *const order[] = { "big", "a", "b", "c", "zero" };
	struct profile *p = folded("c 3\nzero 0\nb 3\nbig;x 5\na 3");
	uint32_t c = p->nodes[NODE_ROOT].first_child;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++, c = p->nodes[c].next_sibling)
		assert_string_equal(profile_symbol(p, c)->name, order[i]);
	assert_int_equal(c, NODE_NONE);
	profile_free(p);
}

/* phlare 846: samples without a stack were dropped, and every share with them was wrong. */
static void test_a_sample_without_stack_is_counted(void **state)
{
	struct profile *p = profile_new();
	uint32_t node;

	(void)state;
	profile_add_stack(p, NULL, 0, 2, 20);
	profile_add_stack(p, NULL, 0, 1, 10);
	profile_seal(p);
	node = child(p, NODE_ROOT, "[no callchain]");
	assert_int_not_equal(node, NODE_NONE);
	assert_true(p->nodes[node].self[COUNT] == 3 && p->nodes[node].self[PERIOD] == 30);
	assert_int_equal(profile_symbol(p, node)->kind, FRAME_MARK);
	assert_true(p->samples == 3);
	profile_free(p);
}

static void test_empty(void **state)
{
	struct profile *p = folded("");
	size_t n = 7;
	struct flat_row *rows = profile_flat(p, COUNT, &n);

	(void)state;
	assert_int_equal(n, 0);
	assert_true(p->samples == 0 && p->period == 0);
	assert_int_equal(profile_measure(p), COUNT);
	free(rows);
	profile_free(p);
}

/* huatuo 723: a line with a negative count was dropped. */
static void test_signed_values_are_kept(void **state)
{
	struct profile *p = folded("a;b 10\na;c -3");
	uint32_t a = child(p, NODE_ROOT, "a");

	(void)state;
	assert_true(p->nodes[a].total[COUNT] == 7);
	assert_true(p->nodes[child(p, a, "c")].self[COUNT] == -3);
	profile_free(p);
}

static void test_flat_counts_recursion_once(void **state)
{
	struct profile *p = folded("main;f 1\nmain;f;f 2\nmain;f;g;f 4\nmain;g 8");
	const struct flat_row *r;
	struct flat_row *rows;
	size_t n;

	(void)state;
	rows = profile_flat(p, COUNT, &n);
	assert_int_equal(n, 3);
	assert_string_equal(p->symtab.symbols[rows[0].symbol].name, "g");
	r = row(p, rows, n, "f");
	assert_true(r->self[COUNT] == 7 && r->total[COUNT] == 7);
	r = row(p, rows, n, "g");
	assert_true(r->self[COUNT] == 8 && r->total[COUNT] == 12);
	assert_true(r->self[PERIOD] == 8 * FOLDED_PERIOD);
	r = row(p, rows, n, "main");
	assert_true(r->self[COUNT] == 0 && r->total[COUNT] == 15);
	free(rows);
	profile_free(p);
}

static void test_flat_order_follows_the_measure(void **state)
{
	struct profile *p = profile_new();
	struct flat_row *rows;
	size_t n;

	(void)state;
	folded_add(p, "often 10", 1);
	folded_add(p, "long 2", 100);
	profile_seal(p);
	rows = profile_flat(p, COUNT, &n);
	assert_string_equal(p->symtab.symbols[rows[0].symbol].name, "often");
	free(rows);
	rows = profile_flat(p, PERIOD, &n);
	assert_string_equal(p->symtab.symbols[rows[0].symbol].name, "long");
	free(rows);
	profile_free(p);
}

/* async-profiler 418, speedscope 386: deep stacks broke recursive code. */
static void test_deep_stack(void **state)
{
	struct profile *p = profile_new(), *copy = profile_new();
	uint32_t *stack = mem_calloc(DEEP, sizeof(*stack)), node, i;
	struct flat_row *rows;
	size_t n;

	(void)state;
	for (i = 0; i < DEEP; i++)
		stack[i] = symtab_intern(&p->symtab, i % 2 ? "odd" : "even", "", FRAME_USER);
	profile_add_stack(p, stack, DEEP, 1, 1);
	profile_merge(copy, p);
	profile_seal(p);
	profile_seal(copy);
	assert_int_equal(p->n, DEEP + 1);
	assert_int_equal(copy->n, DEEP + 1);
	for (node = NODE_ROOT; p->nodes[node].first_child != NODE_NONE;)
		node = p->nodes[node].first_child;
	assert_int_equal(p->nodes[node].depth, DEEP);
	rows = profile_flat(p, COUNT, &n);
	assert_int_equal(n, 2);
	assert_true(rows[0].self[COUNT] == 1 && rows[0].total[COUNT] == 1 && rows[1].total[COUNT] == 1);
	free(rows);
	free(stack);
	profile_free(p);
	profile_free(copy);
}

static void test_wide_tree(void **state)
{
	struct profile *p = profile_new();
	uint32_t i, c, met = 0;
	char name[32];

	(void)state;
	for (i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		c = profile_child(p, NODE_ROOT, symtab_intern(&p->symtab, name, "", FRAME_USER));
		profile_add(p, c, i, i);
	}
	/* Found again, not made twice. */
	for (i = 0; i < 20000; i++)
		assert_int_equal(profile_child(p, NODE_ROOT, i + 1), i + 1);
	profile_seal(p);
	assert_int_equal(p->n, 20001);
	for (c = p->nodes[NODE_ROOT].first_child; c != NODE_NONE; c = p->nodes[c].next_sibling, met++)
		assert_true(p->nodes[c].total[COUNT] == 19999 - met);
	assert_int_equal(met, 20000);
	profile_free(p);
}

static void test_merge_adds_stack_by_stack(void **state)
{
	struct profile *a = folded("m;x 1\nm;y 2"), *b = folded("m;y 3\nm;z;w 4\nn 5"), *sum = profile_new();
	uint32_t m;

	(void)state;
	profile_merge(sum, a);
	profile_merge(sum, b);
	profile_seal(sum);
	assert_true(sum->samples == 15);
	m = child(sum, NODE_ROOT, "m");
	assert_true(sum->nodes[m].total[COUNT] == 10);
	assert_true(sum->nodes[child(sum, m, "x")].self[COUNT] == 1);
	assert_true(sum->nodes[child(sum, m, "y")].self[COUNT] == 5);
	assert_true(sum->nodes[child(sum, child(sum, m, "z"), "w")].self[PERIOD] == 4 * FOLDED_PERIOD);
	assert_string_equal(profile_symbol(sum, m)->dso, "[kernel.kallsyms]");
	profile_free(a);
	profile_free(b);
	profile_free(sum);
}

static void test_alias(void **state)
{
	static const struct alias aliases[] = {
		{ "show_before", "[kab_net]", "dev_seq_printf_stats", "[kernel.kallsyms]", FRAME_KERNEL },
		{ "show_after", NULL, "dev_seq_printf_stats", "[kernel.kallsyms]", FRAME_KERNEL },
	};
	struct symbol s;

	(void)state;
	s = alias_apply(aliases, 2, (struct symbol){ "show_before", "[kab_net]", FRAME_MODULE });
	assert_string_equal(s.name, "dev_seq_printf_stats");
	assert_string_equal(s.dso, "[kernel.kallsyms]");
	assert_int_equal(s.kind, FRAME_KERNEL);
	s = alias_apply(aliases, 2, (struct symbol){ "show_before", "[other]", FRAME_MODULE });
	assert_string_equal(s.name, "show_before");
	assert_string_equal(s.dso, "[other]");
	s = alias_apply(aliases, 2, (struct symbol){ "show_after", "[other]", FRAME_MODULE });
	assert_string_equal(s.name, "dev_seq_printf_stats");
	s = alias_apply(NULL, 0, (struct symbol){ "x", "y", FRAME_USER });
	assert_string_equal(s.name, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_are_one_per_name_dso_kind),
		cmocka_unit_test(test_names_are_kept_as_they_are),
		cmocka_unit_test(test_totals_and_depth),
		cmocka_unit_test(test_siblings_by_total_then_name),
		cmocka_unit_test(test_a_sample_without_stack_is_counted),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_signed_values_are_kept),
		cmocka_unit_test(test_flat_counts_recursion_once),
		cmocka_unit_test(test_flat_order_follows_the_measure),
		cmocka_unit_test(test_deep_stack),
		cmocka_unit_test(test_wide_tree),
		cmocka_unit_test(test_merge_adds_stack_by_stack),
		cmocka_unit_test(test_alias),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
