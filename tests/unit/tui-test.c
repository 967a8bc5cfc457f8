// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pure parts of the workbench: columns, selections, the key map made from the
 * tables, figures and colours. What needs a terminal is in tests/screen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "tui/figures.h"
#include "tui/keymap.h"
#include "tui/palette.h"
#include "tui/screen.h"
#include "tui/table.h"

static const struct column columns[] = {
	{ "a", 10, 12, 1, true }, { "b", 5, 5, 2, true }, { "name", 20, 100, 0, false },
};

static void columns_grow_in_order(void **state)
{
	struct span s[3];

	(void)state;
	columns_fit(columns, 3, 60, s);
	assert_int_equal(s[0].x, 0);
	assert_int_equal(s[0].w, 12);
	assert_int_equal(s[1].x, 14);
	assert_int_equal(s[1].w, 5);
	assert_int_equal(s[2].x, 21);
	assert_int_equal(s[2].w, 39);
}

static void columns_leave_by_rank(void **state)
{
	struct span s[3];

	(void)state;
	columns_fit(columns, 3, 38, s);		/* 10 + 5 + 20 and two gaps are 39 */
	assert_int_equal(s[1].w, 0);
	assert_int_equal(s[0].w, 12);
	assert_int_equal(s[2].x, 14);
	assert_int_equal(s[2].w, 24);
	columns_fit(columns, 3, 7, s);
	assert_int_equal(s[0].w + s[1].w, 0);
	assert_int_equal(s[2].x, 0);
	assert_int_equal(s[2].w, 7);
	columns_fit(columns, 3, 0, s);
	assert_int_equal(s[2].w, 0);
}

static void columns_without_minimum_are_not_shown(void **state)
{
	const struct column some[] = { { "a", 0, 12, 0, true }, { "b", 5, 5, 1, true } };
	struct span s[2];

	(void)state;
	columns_fit(some, 2, 80, s);
	assert_int_equal(s[0].w, 0);
	assert_int_equal(s[1].x, 0);
	assert_int_equal(s[1].w, 5);
}

static void list_stays_within(void **state)
{
	struct list l = { .n = 100, .page = 10 };

	(void)state;
	list_move(&l, 10);
	assert_int_equal(l.sel, 10);
	assert_int_equal(l.top, 1);
	list_move(&l, -3);
	assert_int_equal(l.top, 1);
	list_move(&l, 1000);
	assert_int_equal(l.sel, 99);
	assert_int_equal(l.top, 90);
	list_move(&l, -1000);
	assert_int_equal(l.sel, 0);
	assert_int_equal(l.top, 0);
	l.sel = 50;
	l.n = 5;
	list_settle(&l);
	assert_int_equal(l.sel, 4);
	assert_int_equal(l.top, 0);
	l.n = 0;
	list_move(&l, 1);
	assert_int_equal(l.sel, 0);
	l = (struct list){ .n = 3 };		/* no room for a row */
	list_move(&l, 2);
	assert_int_equal(l.sel, 2);
	assert_int_equal(l.top, 2);
}

static void every_key_has_a_name_that_is_known(void **state)
{
	int r;

	(void)state;
	for (r = 0; r < REQ_COUNT; r++) {
		const char *p = request_rows[r].keys;

		assert_true(*p);
		assert_true(request_rows[r].where);
		while (*p) {
			size_t len;

			if (key_parse(p, &len) == K_NONE)
				fail_msg("unknown key in \"%s\"", request_rows[r].keys);
			p += len + strspn(p + len, " ");
		}
	}
}

/* A row that no key reaches in any of its views would stand in the help for nothing. */
static void every_request_can_be_reached(void **state)
{
	int r, v, key;

	(void)state;
	for (r = 0; r < REQ_COUNT; r++) {
		for (v = 0; v < VIEW_COUNT; v++) {
			bool reached = false;

			if (!(request_rows[r].where & 1u << v))
				continue;
			for (key = 1; key < 0x80; key++)
				reached |= keymap_find((enum view_id)v, key) == (enum request)r;
			for (key = K_UP; key < K_OTHER; key++)
				reached |= keymap_find((enum view_id)v, key) == (enum request)r;
			if (!reached)
				fail_msg("no key reaches \"%s\" in %s", request_rows[r].help, view_rows[v].name);
		}
	}
}

static void keys_mean_what_the_view_says(void **state)
{
	(void)state;
	assert_int_equal(keymap_find(VIEW_FLAME, K_ENTER), REQ_ZOOM);
	assert_int_equal(keymap_find(VIEW_TREE, K_ENTER), REQ_TOGGLE);
	assert_int_equal(keymap_find(VIEW_CASES, K_DOWN), REQ_DOWN);
	assert_int_equal(keymap_find(VIEW_FLAME, 'j'), REQ_CALLEE);
	assert_int_equal(keymap_find(VIEW_CASES, 6), REQ_PAGE_DOWN);
	assert_int_equal(keymap_find(VIEW_CASES, '~'), REQ_NONE);
	assert_int_equal(keymap_find(VIEW_CASES, K_OTHER), REQ_NONE);
}

/* all -> f: 1,360,000 ns of 100 operations before, 680,000 after; g only after. */
static struct diff *example(void)
{
	struct profile *p[SIDES] = { profile_new(), profile_new() };
	struct diff_side sides[SIDES];
	struct diff *d;
	uint32_t f, g;
	int s;

	for (s = 0; s < SIDES; s++) {
		f = symtab_intern(&p[s]->symtab, "f", "", FRAME_KERNEL);
		g = symtab_intern(&p[s]->symtab, "g", "", FRAME_KERNEL);
		profile_add_stack(p[s], &f, 1, s == BEFORE ? 8 : 4, s == BEFORE ? 1360000 : 680000);
		if (s == AFTER)
			profile_add_stack(p[s], &g, 1, 2, 340000);
		profile_seal(p[s]);
		sides[s] = (struct diff_side){ p[s], 100, 1e9 };
	}
	d = diff_build(sides);
	diff_set_event(d, "cpu-clock");
	profile_free(p[BEFORE]);
	profile_free(p[AFTER]);
	return d;
}

static void assert_put(const struct figures *f, double value, bool sign, const char *expected)
{
	struct buf b = BUF_INIT;

	figures_put(f, value, sign, &b);
	assert_string_equal(buf_str(&b), expected);
	buf_release(&b);
}

static void figures_have_one_unit(void **state)
{
	struct diff *d = example();
	const struct diff_node *f_node = &d->nodes[d->nodes[0].first_child];
	struct figures f;

	(void)state;
	figures_init(&f, d, NORM_OP, PERIOD, "read");
	assert_string_equal(f.unit, "us/op");
	assert_string_equal(f.formula, "period / operations = ns of cpu-clock per read");
	assert_put(&f, figures_side(&f, d->nodes[0].total, BEFORE), false, "13.600");
	assert_put(&f, figures_diff(&f, f_node->total), true, "-6.800");
	assert_put(&f, 0.4, true, "0.000");
	assert_put(&f, -0.4, true, "0.000");
	assert_put(&f, 1234567890, true, "+1,234,567.890");
	figures_init(&f, d, NORM_RAW, COUNT, NULL);
	assert_string_equal(f.unit, "samples");
	assert_put(&f, figures_side(&f, d->nodes[0].total, AFTER), false, "6");
	figures_init(&f, d, NORM_SHARE, PERIOD, NULL);
	assert_put(&f, figures_side(&f, f_node->total, AFTER), false, "66.67");
	diff_free(d);
}

static void figures_of_an_empty_side(void **state)
{
	struct diff_side none[SIDES] = { 0 };
	struct diff *d = diff_build(none);
	struct buf b = BUF_INIT;
	struct figures f;

	(void)state;
	figures_init(&f, d, NORM_OP, PERIOD, NULL);
	assert_put(&f, figures_side(&f, d->nodes[0].total, BEFORE), false, "0.00000");
	figures_put_side(&f, d->nodes[0].total, BEFORE, &b);
	assert_string_equal(buf_str(&b), "-");
	buf_release(&b);
	diff_free(d);
}

static void relative_change(void **state)
{
	static const struct { double before, after; const char *text; } cases[] = {
		{ 100, 80, "-20.0 %" }, { 100, 100, "+0.0 %" }, { 100, 99.99, "+0.0 %" }, { 0, 5, "new" }, { 5, 0, "gone" },
		{ 0, 0, "" }, { 1, 40, "x40.0" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = BUF_INIT;

		figures_put_relative(cases[i].before, cases[i].after, &b);
		assert_string_equal(buf_str(&b), cases[i].text);
		buf_release(&b);
	}
}

static void no_colours_means_none(void **state)
{
	int s, m;

	(void)state;
	for (s = 0; s < STYLES; s++) {
		struct ink ink = palette_style((enum style)s, 0);

		assert_int_equal(ink.fg, INK_DEFAULT);
		assert_int_equal(ink.bg, INK_DEFAULT);
		assert_true(palette_style((enum style)s, 8).fg < 8);
		assert_true(palette_style((enum style)s, 8).bg < 8);
	}
	for (m = MARK_NONE; m <= MARK_OTHER; m++) {
		struct ink ink = palette_marked(palette_function(FRAME_USER, 7, 0), (enum flame_mark)m, 0);

		assert_int_equal(ink.bg, INK_DEFAULT);
		assert_true(palette_marked(palette_function(FRAME_USER, 7, 8), (enum flame_mark)m, 8).bg < 8);
	}
}

static void colours_say_the_direction(void **state)
{
	(void)state;
	assert_int_not_equal(palette_change(-0.3, 256).bg, palette_change(0.3, 256).bg);
	assert_int_equal(palette_change(0, 256).bg, palette_change(0.001, 256).bg);
	assert_int_not_equal(palette_change(-1, 8).bg, palette_change(1, 8).bg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_grow_in_order),
		cmocka_unit_test(columns_leave_by_rank),
		cmocka_unit_test(columns_without_minimum_are_not_shown),
		cmocka_unit_test(list_stays_within),
		cmocka_unit_test(every_key_has_a_name_that_is_known),
		cmocka_unit_test(every_request_can_be_reached),
		cmocka_unit_test(keys_mean_what_the_view_says),
		cmocka_unit_test(figures_have_one_unit),
		cmocka_unit_test(figures_of_an_empty_side),
		cmocka_unit_test(relative_change),
		cmocka_unit_test(no_colours_means_none),
		cmocka_unit_test(colours_say_the_direction),
	};

	return cmocka_run_group_tests_name("tui", tests, NULL, NULL);
}
