// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff: the union of two trees, its values under each normalisation, the flat
 * table. Many inputs are those of public reports against other profile viewers,
 * named at each test.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/diff.h"
#include "tests/unit/folded.h"
#include "tests/unit/near.h"

#define DEEP 100000

/* The diff of two folded texts, of one and two seconds; NULL: an absent side. */
static struct diff *diff_of(const char *before, const char *after, double ops_before, double ops_after)
{
	struct profile *p[SIDES] = { before ? folded(before) : NULL, after ? folded(after) : NULL };
	struct diff *d = diff_build((struct diff_side[]){ { p[BEFORE], ops_before, 1e9 },
							  { p[AFTER], ops_after, 2e9 } });

	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
	return d;
}

/* The node at a path "main;foo"; fails when it is not there. */
static uint32_t at(const struct diff *d, const char *path)
{
	char *copy = mem_strdup(path), *next = copy, *name;
	uint32_t node = NODE_ROOT;

	while ((name = strsep(&next, ";"))) {
		node = d->nodes[node].first_child;
		while (node != NODE_NONE && strcmp(diff_symbol(d, node)->name, name))
			node = d->nodes[node].next_sibling;
		if (node == NODE_NONE)
			fail_msg("no frame %s", path);
	}
	free(copy);
	return node;
}

static double shown(const struct diff *d, uint32_t node, enum side s, enum norm n)
{
	return d->nodes[node].total[s][COUNT] * norm_scale(d, n, s, COUNT);
}

static double change(const struct diff *d, const char *path, enum norm n)
{
	uint32_t node = at(d, path);

	return shown(d, node, AFTER, n) - shown(d, node, BEFORE, n);
}

/* FlameGraph 74: a path that vanished was not drawn, and its parent was red. */
static void test_vanished_path(void **state)
{
	struct diff *d = diff_of("main;foo 1\nmain;foo;bar 4", "main;foo 2", 1, 1);
	uint32_t bar = at(d, "main;foo;bar"), foo = at(d, "main;foo");

	(void)state;
	assert_true(diff_gone(d, bar));
	assert_false(diff_new(d, bar));
	assert_true(d->nodes[bar].total[BEFORE][COUNT] == 4 && d->nodes[bar].total[AFTER][COUNT] == 0);
	assert_true(change(d, "main;foo;bar", NORM_OP) == -4);
	assert_true(d->nodes[foo].total[BEFORE][COUNT] == 5 && d->nodes[foo].total[AFTER][COUNT] == 2);
	assert_true(d->nodes[foo].self[BEFORE][COUNT] == 1 && d->nodes[foo].self[AFTER][COUNT] == 2);
	assert_false(diff_gone(d, foo) || diff_new(d, foo));
	diff_free(d);
}

/* inferno 295: a parent whose children tripled was shown as unchanged. */
static void test_parents_carry_the_inclusive_difference(void **state)
{
	struct diff *d = diff_of("parent;first_child 10\nparent;second_child 10\nparent2 30",
				 "parent;first_child 30\nparent;second_child 30\nparent2 30", 1, 1);
	uint32_t parent = at(d, "parent");

	(void)state;
	assert_true(d->nodes[parent].total[BEFORE][COUNT] == 20);
	assert_true(d->nodes[parent].total[AFTER][COUNT] == 60);
	assert_true(change(d, "parent", NORM_RAW) == 40);
	assert_true(d->nodes[parent].self[AFTER][COUNT] - d->nodes[parent].self[BEFORE][COUNT] == 0);
	assert_true(change(d, "parent2", NORM_RAW) == 0);
	diff_free(d);
}

/* inferno 293: before, after and the factor, not a share of something unsaid. */
static void test_before_and_after_are_both_kept(void **state)
{
	struct diff *d = diff_of("base_only 50\nboth1 25\nboth2 25",
				 "both1 25\nboth2 50\nchanged_only 125", 1, 1);
	uint32_t both2 = at(d, "both2");

	(void)state;
	assert_true(shown(d, both2, AFTER, NORM_RAW) / shown(d, both2, BEFORE, NORM_RAW) == 2);
	assert_true(diff_new(d, at(d, "changed_only")));
	assert_true(diff_gone(d, at(d, "base_only")));
	assert_true(change(d, "both1", NORM_RAW) == 0);
	diff_free(d);
}

/* profiles-drilldown 332: when one function gets cheaper, the others do not get dearer. */
static void test_per_operation_truth(void **state)
{
	struct diff *d = diff_of("m;hot 500\nm;a 300\nm;b 200", "m;hot 100\nm;a 300\nm;b 200", 700, 700);

	(void)state;
	assert_true(change(d, "m;a", NORM_OP) == 0);
	assert_true(change(d, "m;b", NORM_OP) == 0);
	assert_near(change(d, "m;hot", NORM_OP), -400. / 700, 1e-12);
	/* As shares of the whole they do, which is why that is not what is shown first. */
	assert_near(change(d, "m;a", NORM_SHARE), 50 - 30, 1e-9);
	diff_free(d);

	/* Twice the operations in the after blocks: still no change of a. */
	d = diff_of("m;hot 500\nm;a 300\nm;b 200", "m;hot 200\nm;a 600\nm;b 400", 100, 200);
	assert_true(change(d, "m;a", NORM_OP) == 0);
	assert_true(change(d, "m;b", NORM_OP) == 0);
	assert_near(change(d, "m;hot", NORM_OP), -4, 1e-12);
	diff_free(d);
}

/* parca 4578: scaling in integers lost small frames. */
static void test_fractions_are_kept(void **state)
{
	struct diff *d = diff_of("a;x 1\na;y 1\na;z 98", "a;x 1\na;z 49", 100, 50);

	(void)state;
	assert_near(shown(d, at(d, "a;y"), BEFORE, NORM_OP), 0.01, 1e-15);
	assert_near(shown(d, at(d, "a;x"), BEFORE, NORM_OP), 0.01, 1e-15);
	assert_near(shown(d, at(d, "a;x"), AFTER, NORM_OP), 0.02, 1e-15);
	assert_true(change(d, "a;z", NORM_OP) == 0);
	assert_false(diff_new(d, at(d, "a;x")));
	diff_free(d);
}

static void assert_all_finite(const struct diff *d)
{
	enum norm n;
	size_t i;
	int m, s;

	for (n = 0; n < NORMS; n++) {
		for (m = 0; m < MEASURES; m++) {
			for (s = 0; s < SIDES; s++) {
				double scale = norm_scale(d, n, (enum side)s, (enum measure)m);

				for (i = 0; i < d->n; i++)
					assert_true(isfinite(d->nodes[i].total[s][m] * scale));
			}
		}
	}
}

/* pyroscope 537, kibana 138498: an empty baseline gave NaN, or a division by zero. */
static void test_empty_baseline(void **state)
{
	static const char *const empty[] = { NULL, "", "m;zero 0" };
	size_t i, n;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct diff *d = diff_of(empty[i], "m;a 3\nm;b 2", 0, 10);
		struct flat_diff_row *rows = diff_flat(d, COUNT, &n);

		assert_all_finite(d);
		assert_true(diff_new(d, at(d, "m;a")) && diff_new(d, at(d, "m")) && diff_new(d, NODE_ROOT));
		assert_true(norm_scale(d, NORM_SHARE, BEFORE, COUNT) == 0);
		assert_true(norm_scale(d, NORM_OP, BEFORE, COUNT) == 0);
		assert_string_equal(d->symtab.symbols[rows[0].symbol].name, "a");
		assert_int_equal(rows[0].rank[BEFORE], 0);
		assert_int_equal(rows[0].rank[AFTER], 1);
		free(rows);
		diff_free(d);
	}
}

static void test_both_sides_empty(void **state)
{
	struct diff *d = diff_of(NULL, NULL, 0, 0);
	size_t n;
	struct flat_diff_row *rows = diff_flat(d, COUNT, &n);

	(void)state;
	assert_int_equal(d->n, 1);
	assert_int_equal(n, 0);
	assert_all_finite(d);
	assert_false(diff_gone(d, NODE_ROOT) || diff_new(d, NODE_ROOT));
	free(rows);
	diff_free(d);
}

/* async-profiler 418, speedscope 386: deep stacks broke recursive code. */
static void test_deep_stacks(void **state)
{
	struct profile *p[SIDES];
	uint32_t *stack = mem_calloc(DEEP, sizeof(*stack)), i;
	struct flat_diff_row *rows;
	struct diff *d;
	size_t n;
	int s;

	(void)state;
	for (s = 0; s < SIDES; s++) {
		p[s] = profile_new();
		for (i = 0; i < DEEP; i++)
			stack[i] = symtab_intern(&p[s]->symtab, i % 3 ? "f" : "g", "", FRAME_USER);
		profile_add_stack(p[s], stack, (size_t)(DEEP - 10 * s), 1 + s, 1);
		profile_seal(p[s]);
	}
	d = diff_build((struct diff_side[]){ { p[BEFORE], 1, 1 }, { p[AFTER], 1, 1 } });
	assert_int_equal(d->n, DEEP + 1);
	assert_int_equal(d->nodes[NODE_ROOT].frames, DEEP + 1);
	assert_int_equal(d->nodes[DEEP].depth, DEEP);
	assert_true(diff_gone(d, DEEP));
	rows = diff_flat(d, COUNT, &n);
	assert_int_equal(n, 2);
	free(rows);
	diff_free(d);
	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
	free(stack);
}

/* Depth first, parents before children, a subtree in one stretch, every total the sum below it. */
static void test_shape(void **state)
{
	struct diff *d = diff_of("a;x 5\na;y 1\nb;x 3\nb 1", "b;x;q 9\nc 2\na;y 4", 1, 1);
	uint32_t i, c;

	(void)state;
	assert_int_equal(d->n, 8);
	for (i = 0; i < d->n; i++) {
		const struct diff_node *n = &d->nodes[i];
		uint32_t frames = 1;
		double total = n->self[AFTER][COUNT];

		for (c = n->first_child; c != NODE_NONE; c = d->nodes[c].next_sibling) {
			assert_int_equal(c, i + frames);
			assert_int_equal(d->nodes[c].parent, i);
			assert_int_equal(d->nodes[c].depth, n->depth + 1);
			frames += d->nodes[c].frames;
			total += d->nodes[c].total[AFTER][COUNT];
		}
		assert_int_equal(n->frames, frames);
		assert_true(n->total[AFTER][COUNT] == total);
	}
	diff_free(d);
}

static void test_siblings_by_the_larger_side_per_operation(void **state)
{
	/* Per operation: x 5 -> 0, y 1 -> 4, z and w 3 -> 3; raw, the after side would come first. */
	struct diff *d = diff_of("x 5\ny 1\nz 3\nw 3", "y 40\nz 30\nw 30", 1, 10);
	static const char *const order[] = { "x", "y", "w", "z" };
	uint32_t c = d->nodes[NODE_ROOT].first_child;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++, c = d->nodes[c].next_sibling)
		assert_string_equal(diff_symbol(d, c)->name, order[i]);
	diff_free(d);
}

static void test_same_name_elsewhere_is_another_frame(void **state)
{
	struct profile *p[SIDES] = { profile_new(), profile_new() };
	static const char *const dso[SIDES] = { "[a]", "[b]" };
	struct diff *d;
	int s;

	(void)state;
	for (s = 0; s < SIDES; s++) {
		uint32_t f = symtab_intern(&p[s]->symtab, "f", dso[s], FRAME_MODULE);

		profile_add_stack(p[s], &f, 1, 1, 1);
		profile_seal(p[s]);
	}
	d = diff_build((struct diff_side[]){ { p[BEFORE], 1, 1 }, { p[AFTER], 1, 1 } });
	assert_int_equal(d->n, 3);
	assert_true(diff_gone(d, 1) && diff_new(d, 2));
	diff_free(d);
	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
}

static void test_scales(void **state)
{
	struct diff *d = diff_of("a 10", "a 40", 5, 10);

	(void)state;
	assert_near(norm_scale(d, NORM_OP, BEFORE, COUNT), 0.2, 1e-15);
	assert_near(norm_scale(d, NORM_OP, AFTER, PERIOD), 0.1, 1e-15);
	assert_near(norm_scale(d, NORM_TIME, BEFORE, COUNT), 1, 1e-15);
	assert_near(norm_scale(d, NORM_TIME, AFTER, COUNT), 0.5, 1e-15);
	assert_near(norm_scale(d, NORM_SHARE, BEFORE, COUNT), 10, 1e-12);
	assert_near(norm_scale(d, NORM_SHARE, AFTER, PERIOD) * 40 * FOLDED_PERIOD, 100, 1e-12);
	assert_near(norm_scale(d, NORM_RAW, AFTER, PERIOD), 1, 0);
	diff_free(d);
}

static void test_names_of_norms(void **state)
{
	enum norm n;
	int i;

	(void)state;
	for (i = 0; i < NORMS; i++) {
		assert_true(norm_parse(norm_name((enum norm)i), &n));
		assert_int_equal(n, i);
	}
	assert_false(norm_parse("", &n));
	assert_false(norm_parse("ops", &n));
}

static void test_formula(void **state)
{
	struct diff *d = diff_of("a 1", "a 1", 1, 1);
	char formula[160], unit[32];

	(void)state;
	diff_set_event(d, "cpu-clock");
	norm_formula(d, NORM_OP, PERIOD, "read of /proc/net/dev", formula, unit);
	assert_string_equal(formula, "period / operations = ns of cpu-clock per read of /proc/net/dev");
	assert_string_equal(unit, "ns/op");
	norm_formula(d, NORM_TIME, PERIOD, NULL, formula, unit);
	assert_string_equal(unit, "ns/s");
	norm_formula(d, NORM_SHARE, COUNT, NULL, formula, unit);
	assert_string_equal(unit, "%");
	norm_formula(d, NORM_RAW, COUNT, NULL, formula, unit);
	assert_string_equal(unit, "samples");
	diff_set_event(d, "cycles");
	norm_formula(d, NORM_OP, PERIOD, NULL, formula, unit);
	assert_string_equal(formula, "period / operations = cycles per operation");
	assert_string_equal(unit, "cycles/op");
	diff_free(d);
}

static void test_formula_of_hostile_names(void **state)
{
	struct diff *d = diff_of("a 1", "a 1", 1, 1);
	char formula[160], unit[32], name[400];
	size_t i;

	(void)state;
	for (i = 0; i + 3 < sizeof(name); i += 3)
		memcpy(name + i, "\xe2\x82\xac", 3);	/* euro signs: a cut must not split one */
	name[i] = '\0';
	diff_set_event(d, name);
	norm_formula(d, NORM_OP, PERIOD, name, formula, unit);
	assert_in_range(strlen(formula), 150, 159);
	assert_in_range(strlen(unit), 25, 31);
	assert_memory_equal(formula + strlen(formula) - 3, "\xe2\x82\xac", 3);
	assert_memory_equal(unit + strlen(unit) - 3, "\xe2\x82\xac", 3);
	diff_set_event(d, "\x1b]0;owned\x07");
	norm_formula(d, NORM_RAW, PERIOD, "\x1b[2J", formula, unit);
	assert_null(strchr(formula, '\x1b'));
	assert_null(strchr(unit, '\x1b'));
	diff_free(d);
}

static void test_measure(void **state)
{
	struct profile *with = folded("a 1"), *without = profile_new();
	struct diff *d;

	(void)state;
	folded_add(without, "a 1", 0);
	profile_seal(without);
	d = diff_build((struct diff_side[]){ { with, 1, 1 }, { with, 1, 1 } });
	assert_int_equal(diff_measure(d), PERIOD);
	diff_free(d);
	d = diff_build((struct diff_side[]){ { with, 1, 1 }, { without, 1, 1 } });
	assert_int_equal(diff_measure(d), COUNT);
	diff_free(d);
	d = diff_build((struct diff_side[]){ { NULL, 1, 1 }, { with, 1, 1 } });
	assert_int_equal(diff_measure(d), PERIOD);
	diff_free(d);
	profile_free(with);
	profile_free(without);
}

static void test_flat(void **state)
{
	struct diff *d = diff_of("m;f 10\nm;f;f 2\nm;g 6\nm;gone 1", "m;f 3\nm;g;f 1\nm;g 6\nm;new 2", 1, 1);
	static const struct {
		const char *name;
		double self[SIDES], total[SIDES];
		unsigned rank[SIDES];
	} want[] = {
		{ "f", { 12, 4 }, { 12, 4 }, { 1, 2 } },
		{ "new", { 0, 2 }, { 0, 2 }, { 0, 3 } },
		{ "gone", { 1, 0 }, { 1, 0 }, { 3, 0 } },
		{ "g", { 6, 6 }, { 6, 7 }, { 2, 1 } },
		{ "m", { 0, 0 }, { 19, 12 }, { 4, 4 } },
	};
	struct flat_diff_row *rows;
	size_t n, i;
	int s;

	(void)state;
	rows = diff_flat(d, COUNT, &n);
	assert_int_equal(n, 5);
	for (i = 0; i < n; i++) {
		/* new and gone differ by 2 and 1, g and m by 0: those two by name. */
		assert_string_equal(d->symtab.symbols[rows[i].symbol].name, want[i].name);
		for (s = 0; s < SIDES; s++) {
			assert_true(rows[i].self[s][COUNT] == want[i].self[s]);
			assert_true(rows[i].total[s][COUNT] == want[i].total[s]);
			assert_int_equal(rows[i].rank[s], want[i].rank[s]);
		}
		assert_false(rows[i].has_interval);
	}
	free(rows);
	diff_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vanished_path),
		cmocka_unit_test(test_parents_carry_the_inclusive_difference),
		cmocka_unit_test(test_before_and_after_are_both_kept),
		cmocka_unit_test(test_per_operation_truth),
		cmocka_unit_test(test_fractions_are_kept),
		cmocka_unit_test(test_empty_baseline),
		cmocka_unit_test(test_both_sides_empty),
		cmocka_unit_test(test_deep_stacks),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_siblings_by_the_larger_side_per_operation),
		cmocka_unit_test(test_same_name_elsewhere_is_another_frame),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_names_of_norms),
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_formula_of_hostile_names),
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_flat),
	};

	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
