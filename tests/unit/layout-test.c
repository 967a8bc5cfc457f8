// SPDX-License-Identifier: GPL-2.0-or-later
/* layout: widths, order, what is gathered, what a click hits; known answers, and rules that must hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "profile/layout.h"
#include "profile/stats.h"
#include "tests/unit/folded.h"
#include "tests/unit/near.h"

#define DEEP 100000

static struct diff *diff_of(const char *before, const char *after, double ops_before, double ops_after)
{
	struct profile *p[SIDES] = { folded(before), folded(after) };
	struct diff *d = diff_build((struct diff_side[]){ { p[BEFORE], ops_before, 1e9 },
							  { p[AFTER], ops_after, 1e9 } });

	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
	return d;
}

static const char *name_of(const struct diff *d, const struct cell *c)
{
	return c->node == NODE_NONE ? "~" : diff_symbol(d, c->node)->name;
}

static const struct cell *cell(const struct diff *d, const struct layout *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!strcmp(name_of(d, &l->cells[i]), name))
			return &l->cells[i];
	fail_msg("no cell for %s", name);
	return NULL;
}

static bool has_cell(const struct diff *d, const struct layout *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!strcmp(name_of(d, &l->cells[i]), name))
			return true;
	return false;
}

struct want {
	const char *name;
	unsigned row, x, w, hidden;
};

static void assert_cells(const struct diff *d, const struct layout *l, const struct want *want, size_t n)
{
	size_t i;

	assert_int_equal(l->n, n);
	for (i = 0; i < n; i++) {
		assert_string_equal(name_of(d, &l->cells[i]), want[i].name);
		assert_int_equal(l->cells[i].row, want[i].row);
		assert_int_equal(l->cells[i].x, want[i].x);
		assert_int_equal(l->cells[i].w, want[i].w);
		assert_int_equal(l->cells[i].hidden, want[i].hidden);
	}
}

/*
 * 80 cells are 640 eighths. Before: all and m 1000; a 500 is 320 eighths, b 300
 * is 192, c 195 is 124.8; d and its child (4) are 2.56, gone (1) is 0.64.
 */
static const char before_text[] = "m;a 500\nm;b 300\nm;c 195\nm;d;e 4\nm;gone 1";

static void test_known_answer(void **state)
{
	static const struct want want[] = {
		{ "all", 0, 0, 640, 0 }, { "m", 1, 0, 640, 0 }, { "a", 2, 0, 320, 0 },
		{ "b", 2, 320, 192, 0 }, { "c", 2, 512, 124, 0 }, { "~", 2, 636, 3, 3 },
	};
	int ops;

	(void)state;
	/* Whatever they are divided by: 300/7 of 1000/7 is as wide as 300 of 1000. */
	for (ops = 1; ops < 100; ops++) {
		struct diff *d = diff_of(before_text, before_text, ops, ops);
		struct layout l;

		layout_build(d, &(struct layout_opts){ .width = 80 }, &l);
		assert_cells(d, &l, want, sizeof(want) / sizeof(want[0]));
		assert_int_equal(l.rows, 3);
		assert_int_equal(l.hidden, 3);
		assert_int_equal(l.below, 0);
		assert_near(l.hidden_share, 0.5, 1e-9);
		layout_release(&l);
		assert_null(l.cells);
		diff_free(d);
	}
}

static void test_zoom(void **state)
{
	struct diff *d = diff_of(before_text, before_text, 1, 1);
	struct layout l, inner;

	(void)state;
	layout_build(d, &(struct layout_opts){ .width = 800 }, &l);
	layout_build(d, &(struct layout_opts){ .width = 80, .zoom = cell(d, &l, "d")->node }, &inner);
	assert_cells(d, &inner, (struct want[]){ { "d", 0, 0, 640, 0 }, { "e", 1, 0, 640, 0 } }, 2);
	layout_release(&l);
	layout_release(&inner);
	diff_free(d);
}

/* Siblings go by the larger side, so one that shrank can stand left of wider ones. */
static void test_each_run_is_gathered_in_place(void **state)
{
	/* In the after graph n1 and n2 are narrow and stand left of keep, which was smaller before. */
	struct diff *d = diff_of("n1 500\nn2 400\nkeep 300\nn3 2\nn4 1",
				 "n1 2\nn2 1\nkeep 300\nn3 2\nn4 1", 1, 1);
	static const struct want want[] = {
		{ "all", 0, 0, 640, 0 }, { "~", 1, 0, 6, 2 }, { "keep", 1, 6, 627, 0 }, { "~", 1, 633, 6, 2 },
	};
	struct layout l;

	(void)state;
	layout_build(d, &(struct layout_opts){ .width = 80, .by = WIDTH_AFTER }, &l);
	assert_cells(d, &l, want, sizeof(want) / sizeof(want[0]));
	layout_release(&l);
	diff_free(d);
}

static void test_equal_cost_is_equal_width(void **state)
{
	/* After has twice the operations, so same costs have twice the samples. */
	struct diff *d = diff_of("m;hot 500\nm;a 300\nm;b 200", "m;hot 200\nm;a 600\nm;b 400", 100, 200);
	struct layout_opts o = { .width = 77 };
	struct layout before, after;
	double full_before, full_after;

	(void)state;
	o.by = WIDTH_AFTER;
	full_after = layout_value(d, &o);
	o.by = WIDTH_BEFORE;
	full_before = layout_value(d, &o);
	assert_near(full_before, 10, 1e-12);
	assert_near(full_after, 6, 1e-12);
	o.full = full_before;
	layout_build(d, &o, &before);
	o.by = WIDTH_AFTER;
	layout_build(d, &o, &after);
	assert_int_equal(cell(d, &before, "a")->w, cell(d, &after, "a")->w);
	assert_int_equal(cell(d, &before, "b")->w, cell(d, &after, "b")->w);
	assert_int_equal(cell(d, &before, "hot")->w, 308);
	assert_int_equal(cell(d, &after, "hot")->w, 61);
	assert_int_equal(cell(d, &before, "all")->w, 616);
	assert_int_equal(cell(d, &after, "all")->w, 369);
	/* The order is the same in both. */
	assert_true(cell(d, &after, "hot")->x < cell(d, &after, "a")->x);
	assert_true(cell(d, &after, "a")->x < cell(d, &after, "b")->x);
	layout_release(&before);
	layout_release(&after);
	diff_free(d);
}

static void test_frames_without_a_value_are_no_part(void **state)
{
	struct diff *d = diff_of("m;old 50\nm;both 50", "m;new;child 60\nm;both 50", 1, 1);
	struct layout l;

	(void)state;
	layout_build(d, &(struct layout_opts){ .width = 80, .by = WIDTH_BEFORE }, &l);
	assert_true(has_cell(d, &l, "old"));
	assert_false(has_cell(d, &l, "new") || has_cell(d, &l, "child"));
	assert_int_equal(l.hidden, 0);
	layout_release(&l);
	layout_build(d, &(struct layout_opts){ .width = 80, .by = WIDTH_AFTER }, &l);
	assert_true(has_cell(d, &l, "new") && has_cell(d, &l, "child"));
	assert_false(has_cell(d, &l, "old"));
	layout_release(&l);
	/* Both have a place where both count. */
	layout_build(d, &(struct layout_opts){ .width = 80, .by = WIDTH_MAX }, &l);
	assert_true(has_cell(d, &l, "new") && has_cell(d, &l, "child") && has_cell(d, &l, "old"));
	layout_release(&l);
	diff_free(d);
}

static void test_width_by_the_larger_and_by_the_difference(void **state)
{
	/* Cost moved from a to b: the parent did not change, its children did. */
	struct diff *d = diff_of("m;a 30\nm;b 10\nm;c 20", "m;a 10\nm;b 30\nm;c 20", 1, 1);
	struct layout_opts o = { .width = 100 };
	struct layout l;

	(void)state;
	o.by = WIDTH_MAX;
	assert_near(layout_value(d, &o), 30 + 30 + 20, 1e-12);
	layout_build(d, &o, &l);
	assert_int_equal(cell(d, &l, "a")->w, 300);
	assert_int_equal(cell(d, &l, "c")->w, 200);
	layout_release(&l);
	o.by = WIDTH_DELTA;
	assert_near(layout_value(d, &o), 20 + 20, 1e-12);
	layout_build(d, &o, &l);
	assert_int_equal(cell(d, &l, "m")->w, 800);
	assert_int_equal(cell(d, &l, "a")->w, 400);
	assert_int_equal(cell(d, &l, "b")->w, 400);
	assert_false(has_cell(d, &l, "c"));
	layout_release(&l);
	diff_free(d);
}

static void test_rows_are_limited_and_counted(void **state)
{
	struct diff *d = diff_of("a;b;c;d 5\na;b;x 3", "a 1", 1, 1);
	struct layout l;

	(void)state;
	layout_build(d, &(struct layout_opts){ .width = 40, .max_rows = 2 }, &l);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.rows, 2);
	assert_int_equal(l.below, 4);
	assert_int_equal(l.hidden, 0);
	layout_release(&l);
	diff_free(d);
}

static void test_nothing_to_draw(void **state)
{
	struct diff *empty = diff_of("", "a;b 3", 1, 1);
	struct layout l;

	(void)state;
	layout_build(empty, &(struct layout_opts){ .width = 80 }, &l);
	assert_int_equal(l.n, 0);
	assert_int_equal(l.rows, 0);
	assert_true(l.hidden_share == 0);
	assert_null(layout_at(&l, 0, 0));
	layout_release(&l);
	/* No width at all: every frame is hidden, none is lost. */
	layout_build(empty, &(struct layout_opts){ .by = WIDTH_AFTER }, &l);
	assert_int_equal(l.hidden, 3);
	assert_near(l.hidden_share, 100, 1e-9);
	assert_null(layout_at(&l, 0, 0));
	layout_release(&l);
	/* Unknown operations: a scale of 0, not NaN. */
	empty->ops[AFTER] = 0;
	layout_build(empty, &(struct layout_opts){ .width = 80, .by = WIDTH_AFTER }, &l);
	assert_int_equal(l.n, 0);
	layout_release(&l);
	diff_free(empty);
}

/* The zoomed frame itself can be too narrow beside a much larger graph. */
static void test_a_narrow_graph(void **state)
{
	struct diff *d = diff_of("a;b 1", "a;b 1000", 1, 1);
	struct layout l;

	(void)state;
	layout_build(d, &(struct layout_opts){ .width = 80, .full = 1000 }, &l);
	assert_cells(d, &l, (struct want[]){ { "~", 0, 0, 0, 3 } }, 1);
	assert_int_equal(l.hidden, 3);
	layout_release(&l);
	/* A full value below the frame's own is no licence to leave the screen. */
	layout_build(d, &(struct layout_opts){ .width = 80, .full = 0.01 }, &l);
	assert_int_equal(cell(d, &l, "b")->w, 640);
	layout_release(&l);
	diff_free(d);
}

static void test_at(void **state)
{
	struct diff *d = diff_of(before_text, before_text, 1, 1);
	struct layout l;

	(void)state;
	layout_build(d, &(struct layout_opts){ .width = 80 }, &l);
	assert_string_equal(name_of(d, layout_at(&l, 0, 0)), "all");
	assert_string_equal(name_of(d, layout_at(&l, 0, 639)), "all");
	assert_null(layout_at(&l, 0, 640));
	assert_string_equal(name_of(d, layout_at(&l, 2, 319)), "a");
	assert_string_equal(name_of(d, layout_at(&l, 2, 320)), "b");
	assert_string_equal(name_of(d, layout_at(&l, 2, 511)), "b");
	assert_string_equal(name_of(d, layout_at(&l, 2, 512)), "c");
	assert_int_equal(layout_at(&l, 2, 636)->node, NODE_NONE);
	assert_null(layout_at(&l, 2, 639));
	assert_null(layout_at(&l, 3, 0));
	layout_release(&l);
	diff_free(d);
}

static void test_deep(void **state)
{
	struct profile *p = profile_new();
	uint32_t *stack = mem_calloc(DEEP, sizeof(*stack)), i;
	struct layout l;
	struct diff *d;
	int by;

	(void)state;
	for (i = 0; i < DEEP; i++)
		stack[i] = symtab_intern(&p->symtab, i % 2 ? "f" : "g", "", FRAME_USER);
	profile_add_stack(p, stack, DEEP, 1, 1);
	profile_seal(p);
	d = diff_build((struct diff_side[]){ { p, 1, 1 }, { NULL, 0, 0 } });
	for (by = WIDTH_BEFORE; by <= WIDTH_DELTA; by++) {
		struct layout_opts o = { .width = 80, .by = (enum width_by)by };

		layout_build(d, &o, &l);
		assert_int_equal(l.n, by == WIDTH_AFTER ? 0 : DEEP + 1);
		layout_release(&l);
		o.max_rows = 10;
		layout_build(d, &o, &l);
		assert_int_equal(l.n, by == WIDTH_AFTER ? 0 : 10);
		assert_int_equal(l.below, by == WIDTH_AFTER ? 0 : DEEP + 1 - 10);
		layout_release(&l);
	}
	diff_free(d);
	profile_free(p);
	free(stack);
}

/* A random tree of about 1500 frames; `sign` also makes negative values. */
static struct profile *random_profile(uint64_t seed, bool sign)
{
	struct profile *p = profile_new();
	uint32_t stack[12], names[40];
	struct rng r;
	int i;

	rng_seed(&r, seed);
	for (i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		names[i] = symtab_intern(&p->symtab, name, "", FRAME_KERNEL);
	}
	for (i = 0; i < 400; i++) {
		size_t depth = 1 + rng_below(&r, 12), k;
		double v = (double)rng_below(&r, 1000) / 7 * (rng_below(&r, 20) ? 1 : 50);

		for (k = 0; k < depth; k++)
			stack[k] = names[rng_below(&r, k < 3 ? 3 : 40)];
		profile_add_stack(p, stack, depth, sign && !rng_below(&r, 4) ? -v : v, v * 1000);
	}
	profile_seal(p);
	return p;
}

/* The frames of a graph, counted straight from totals: one side's graph only. */
static size_t frames_with_value(const struct diff *d, uint32_t node, enum side s)
{
	size_t n = 1;
	uint32_t c;

	if (!(d->nodes[node].total[s][COUNT] > 0))
		return 0;
	for (c = d->nodes[node].first_child; c != NODE_NONE; c = d->nodes[c].next_sibling)
		n += frames_with_value(d, c, s);
	return n;
}

static void assert_rules(const struct layout *l, unsigned width)
{
	size_t i, hidden = 0;

	for (i = 0; i < l->n; i++) {
		const struct cell *c = &l->cells[i], *above = NULL, *left = i ? &l->cells[i - 1] : NULL;
		size_t k;

		assert_true(c->x + c->w <= width * CELL_EIGHTHS);
		assert_true((c->node == NODE_NONE) == (c->hidden > 0));
		if (c->node != NODE_NONE)
			assert_true(c->w >= CELL_EIGHTHS);
		hidden += c->hidden;
		/* Left to right in a row, no overlap. */
		if (left && left->row == c->row)
			assert_true(left->x + left->w <= c->x);
		/* Within the parent, and so is the sum of the widths. */
		for (k = 0; c->row && k < i && !above; k++)
			if (l->cells[k].node == c->parent)
				above = &l->cells[k];
		if (c->row) {
			assert_non_null(above);
			assert_int_equal(above->row, c->row - 1);
			assert_true(c->x >= above->x && c->x + c->w <= above->x + above->w);
		}
		/* Siblings in the diff's order; a run of narrow ones is one cell. */
		if (left && left->row == c->row && left->parent == c->parent) {
			assert_true(left->node != NODE_NONE || c->node != NODE_NONE);
			if (left->node != NODE_NONE && c->node != NODE_NONE)
				assert_true(left->node < c->node);
		}
		if (c->w)
			assert_ptr_equal(layout_at(l, c->row, c->x + c->w - 1), c);
	}
	assert_int_equal(hidden, l->hidden);
	assert_true(l->n == 0 || l->rows == l->cells[l->n - 1].row + 1);
}

static size_t shown(const struct layout *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += l->cells[i].node != NODE_NONE;
	return n;
}

static void test_rules_hold(void **state)
{
	static const unsigned widths[] = { 0, 1, 2, 10, 80, 237, 2000 };
	uint64_t seed;
	size_t w;
	int by;

	(void)state;
	for (seed = 0; seed < 12; seed++) {
		bool sign = seed % 3 == 2;
		struct profile *b = random_profile(seed, sign), *a = random_profile(seed + 100, sign);
		struct diff *d = diff_build((struct diff_side[]){ { b, 3, 1e9 }, { a, 4, 2e9 } });

		for (by = WIDTH_BEFORE; by <= WIDTH_DELTA; by++) {
			size_t all = 0;

			for (w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
				struct layout_opts o = { .width = widths[w], .by = (enum width_by)by };
				struct layout l, cut;

				layout_build(d, &o, &l);
				assert_rules(&l, widths[w]);
				/* Nothing is lost: as many frames at every width and height. */
				assert_int_equal(l.below, 0);
				if (w == 0)
					all = l.hidden;
				assert_int_equal(shown(&l) + l.hidden, all);
				if (by <= WIDTH_AFTER)
					assert_int_equal(all, frames_with_value(d, NODE_ROOT, (enum side)by));
				o.max_rows = 3;
				layout_build(d, &o, &cut);
				assert_rules(&cut, widths[w]);
				assert_true(cut.rows <= 3);
				assert_int_equal(shown(&cut) + cut.hidden + cut.below, all);
				layout_release(&l);
				layout_release(&cut);
			}
		}
		diff_free(d);
		profile_free(b);
		profile_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_answer),
		cmocka_unit_test(test_zoom),
		cmocka_unit_test(test_each_run_is_gathered_in_place),
		cmocka_unit_test(test_equal_cost_is_equal_width),
		cmocka_unit_test(test_frames_without_a_value_are_no_part),
		cmocka_unit_test(test_width_by_the_larger_and_by_the_difference),
		cmocka_unit_test(test_rows_are_limited_and_counted),
		cmocka_unit_test(test_nothing_to_draw),
		cmocka_unit_test(test_a_narrow_graph),
		cmocka_unit_test(test_at),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_rules_hold),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
