// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * show: one profile as the kernel lists know it. Reads a sealed profile and
 * writes text; `kab show` prints it, the mail puts two of them one below the
 * other. Every walk is iterative: stacks may be thousands of frames deep.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/figure.h"
#include "report/folded.h"
#include "report/table.h"

#define STEP 4			/* blanks per level of the tree */
#define MAX_INDENT 400		/* deeper levels stay there and say their depth */
#define NAME_ROOM 24		/* cells that a name keeps, however deep it stands */
#define COLUMN_MAX 32		/* cells of a comm or dso column */

/* The next node of the subtree below `top`, depth first; the children of `node` only with `descend`. */
static uint32_t walk(const struct profile *p, uint32_t node, uint32_t top, bool descend)
{
	if (descend && p->nodes[node].first_child != NODE_NONE)
		return p->nodes[node].first_child;
	while (node != top) {
		if (p->nodes[node].next_sibling != NODE_NONE)
			return p->nodes[node].next_sibling;
		node = p->nodes[node].parent;
	}
	return NODE_NONE;
}

static void escape(const struct show_input *in, const char *s, struct buf *out)
{
	text_escape(out, s, strlen(s), in->ascii);
}

static double share(double part, double whole)
{
	double pct = whole != 0 ? 100 * part / whole : 0;

	return isfinite(pct) ? pct : 0;
}

static void left_out(const struct show_input *in, size_t n, const char *what, struct buf *out)
{
	if (!n)
		return;
	buf_fill(out, ' ', in->indent);
	buf_printf(out, "(%zu %s left out)\n", n, what);
}

static bool nothing(const struct show_input *in, struct buf *out)
{
	if (in->profile->samples != 0 || in->profile->period != 0)
		return false;
	buf_fill(out, ' ', in->indent);
	buf_puts(out, "(no samples)\n");
	return true;
}

/* Counts are what the mails print; period where a file brought no counts. */
static enum measure counted(const struct profile *p)
{
	return p->samples != 0 ? COUNT : PERIOD;
}

/* --- tree --- */

/* All outermost calls of a function as the children of a new root, and what their callers took. */
struct excerpt {
	struct profile *profile;
	double callers[MEASURES];
};

static void graft(const struct profile *p, uint32_t top, struct profile *to, uint32_t *at)
{
	uint32_t n;

	for (n = top; n != NODE_NONE; n = walk(p, n, top, true)) {
		const struct symbol *s = profile_symbol(p, n);
		uint32_t parent = n == top ? NODE_ROOT : at[p->nodes[n].parent];

		at[n] = profile_child(to, parent, symtab_intern(&to->symtab, s->name, s->dso, s->kind));
		profile_add(to, at[n], p->nodes[n].self[COUNT], p->nodes[n].self[PERIOD]);
	}
}

static bool excerpt_build(const struct profile *p, const char *from, struct excerpt *x)
{
	uint32_t *at = mem_calloc(p->n, sizeof(*at)), n;
	bool *caller = mem_calloc(p->n, sizeof(*caller)), descend = true, found = false;

	x->profile = profile_new();
	x->callers[COUNT] = x->callers[PERIOD] = 0;
	for (n = NODE_ROOT; n != NODE_NONE; n = walk(p, n, NODE_ROOT, descend)) {
		descend = n == NODE_ROOT || strcmp(profile_symbol(p, n)->name, from);
		if (descend)
			continue;
		graft(p, n, x->profile, at);
		caller[p->nodes[n].parent] = found = true;
	}
	/* A caller below another caller is part of it already. */
	for (n = NODE_ROOT; n != NODE_NONE; n = walk(p, n, NODE_ROOT, descend)) {
		descend = !caller[n];
		if (descend)
			continue;
		x->callers[COUNT] += p->nodes[n].total[COUNT];
		x->callers[PERIOD] += p->nodes[n].total[PERIOD];
	}
	profile_seal(x->profile);
	free(caller);
	free(at);
	return found;
}

static void tree_line(const struct show_input *in, const struct symbol *s, unsigned level, double part,
		      double whole, struct buf *out)
{
	struct buf name = BUF_INIT, tail = BUF_INIT;
	size_t blanks = in->indent + (size_t)level * STEP, room;

	if (blanks > in->indent + MAX_INDENT) {
		blanks = in->indent + MAX_INDENT;
		buf_printf(&name, "[%u] ", level + 1);
	}
	escape(in, s->name, &name);
	buf_printf(&tail, "(%.3f%% ", share(part, whole));
	figure_samples(&tail, part);
	buf_putc(&tail, '/');
	figure_samples(&tail, whole);
	buf_putc(&tail, ')');
	room = text_width(buf_str(&name));
	if (in->width) {
		size_t keep = room < NAME_ROOM ? room : NAME_ROOM;

		if (blanks + keep + tail.len > in->width)
			blanks = in->width > keep + tail.len ? in->width - keep - tail.len : 0;
		if (blanks < in->indent)
			blanks = in->indent;
		if (blanks + room + tail.len > in->width)
			room = in->width > blanks + tail.len ? in->width - blanks - tail.len : 1;
	}
	buf_fill(out, ' ', blanks);
	text_fit(out, buf_str(&name), room, false);
	buf_printf(out, "%s\n", buf_str(&tail));
	buf_release(&name);
	buf_release(&tail);
}

static int show_tree(const struct show_input *in, struct buf *out, struct err *err)
{
	const struct profile *p = in->profile;
	enum measure m = counted(p);
	double whole = p->nodes[NODE_ROOT].total[m];
	struct excerpt x = { 0 };
	size_t small = 0, deep = 0;
	uint32_t n;
	bool descend = true;

	if (nothing(in, out))
		return 0;
	if (in->from) {
		if (!excerpt_build(p, in->from, &x)) {
			struct buf name = BUF_INIT;

			profile_free(x.profile);
			text_escape(&name, in->from, strlen(in->from), false);
			err_add(err, -ENOENT, "No stack has %s in it; the flat style lists what there is.",
				buf_str(&name));
			buf_release(&name);
			return -ENOENT;
		}
		p = x.profile;
	}
	for (n = walk(p, NODE_ROOT, NODE_ROOT, true); n != NODE_NONE; n = walk(p, n, NODE_ROOT, descend)) {
		const struct node *node = &p->nodes[n];
		double above = in->from && node->depth == 1 ? x.callers[m] : p->nodes[node->parent].total[m];

		descend = false;
		if (in->max_depth && node->depth > in->max_depth) {
			deep++;
			continue;
		}
		if (share(fabs(node->total[m]), fabs(whole)) < in->min_share) {
			small++;
			continue;
		}
		tree_line(in, profile_symbol(p, n), node->depth - 1, node->total[m], above, out);
		descend = true;
	}
	if (small) {
		buf_fill(out, ' ', in->indent);
		buf_printf(out, "(%zu %s below %g%% of all samples left out)\n", small,
			   small == 1 ? "branch" : "branches", in->min_share);
	}
	left_out(in, deep, deep == 1 ? "deeper branch" : "deeper branches", out);
	profile_free(x.profile);
	return 0;
}

/* --- flat --- */

struct flat_entry {
	const struct symbol *comm;	/* NULL: none */
	const struct symbol *symbol;
	double self;
};

static int by_self(const void *a, const void *b)
{
	const struct flat_entry *x = a, *y = b;
	int c;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	c = strcmp(x->symbol->name, y->symbol->name);
	c = c ? c : strcmp(x->symbol->dso, y->symbol->dso);
	if (c || !x->comm || !y->comm)
		return c ? c : !!x->comm - !!y->comm;
	return strcmp(x->comm->name, y->comm->name);
}

/* A mark in first place is a comm, but for those the profile makes itself, which stand in brackets. */
static const struct symbol *comm_of(const struct profile *p, uint32_t first)
{
	const struct symbol *s = profile_symbol(p, first);

	return s->kind == FRAME_MARK && s->name[0] != '[' ? s : NULL;
}

/* Self per (comm, symbol), largest first; the caller frees. */
static struct flat_entry *flat_entries(const struct profile *p, enum measure m, size_t *count, bool *has_comm)
{
	VEC(struct flat_entry) rows = { 0 };
	struct map keys = MAP_INIT;
	const struct symbol *comm = NULL;
	uint32_t n;

	*has_comm = false;
	for (n = walk(p, NODE_ROOT, NODE_ROOT, true); n != NODE_NONE; n = walk(p, n, NODE_ROOT, true)) {
		const struct node *node = &p->nodes[n];
		const void *key[2];
		uint32_t i;
		bool added;

		if (node->depth == 1) {
			comm = comm_of(p, n);
			*has_comm |= comm != NULL;
		}
		if (node->self[m] == 0)
			continue;
		key[0] = comm;
		key[1] = profile_symbol(p, n);
		i = map_intern(&keys, key, sizeof(key), &added);
		if (added)
			vec_push(&rows, (struct flat_entry){ comm, key[1], 0 });
		rows.v[i].self += node->self[m];
	}
	map_release(&keys);
	if (rows.n)
		qsort(rows.v, rows.n, sizeof(*rows.v), by_self);
	*count = rows.n;
	return rows.v;
}

static void column(const struct show_input *in, const char *s, struct table *t)
{
	struct buf text = BUF_INIT, cut = BUF_INIT;

	escape(in, s, &text);
	text_fit(&cut, buf_str(&text), in->width ? COLUMN_MAX / 2 + 2 : COLUMN_MAX, false);
	table_take(t, &cut);
	buf_release(&text);
}

static const char *dso_short(const struct symbol *s)
{
	const char *slash = s->kind == FRAME_USER ? strrchr(s->dso, '/') : NULL;

	if (!*s->dso)
		return "[unknown]";
	return slash && slash[1] ? slash + 1 : s->dso;
}

static int show_flat(const struct show_input *in, struct buf *out, struct err *err)
{
	static const struct table_col with_comm[] = {
		{ NULL, TABLE_RIGHT }, { NULL, 0 }, { NULL, 0 }, { NULL, TABLE_FLEX },
	}, without[] = {
		{ NULL, TABLE_RIGHT }, { NULL, 0 }, { NULL, TABLE_FLEX },
	};
	const struct profile *p = in->profile;
	enum measure m = p->period != 0 ? PERIOD : COUNT;
	double whole = p->nodes[NODE_ROOT].total[m];
	struct flat_entry *rows;
	size_t n, i;
	struct table t;
	bool comm;

	(void)err;
	if (nothing(in, out))
		return 0;
	rows = flat_entries(p, m, &n, &comm);
	if (comm)
		table_init(&t, with_comm, sizeof(with_comm) / sizeof(with_comm[0]));
	else
		table_init(&t, without, sizeof(without) / sizeof(without[0]));
	for (i = 0; i < n && !(in->max_rows && i == in->max_rows); i++) {
		double pct = share(rows[i].self, whole);
		struct buf name = BUF_INIT;

		if (pct < in->min_share)
			break;
		table_cell(&t, "%9.2f%%", pct);
		if (comm)
			column(in, rows[i].comm ? rows[i].comm->name : "", &t);
		column(in, dso_short(rows[i].symbol), &t);
		buf_puts(&name, rows[i].symbol->kind == FRAME_KERNEL || rows[i].symbol->kind == FRAME_MODULE ?
				"[k] " : "[.] ");
		escape(in, rows[i].symbol->name, &name);
		table_take(&t, &name);
	}
	table_write(&t, in->indent, in->width, out);
	table_release(&t);
	left_out(in, n - i, n - i == 1 ? "smaller row" : "smaller rows", out);
	free(rows);
	return 0;
}

/* --- oprofile --- */

static int show_oprofile(const struct show_input *in, struct buf *out, struct err *err)
{
	const struct profile *p = in->profile;
	enum measure m = counted(p);
	double whole = p->nodes[NODE_ROOT].total[m];
	struct flat_row *rows;
	size_t n, i;

	(void)err;
	if (nothing(in, out))
		return 0;
	rows = profile_flat(p, m, &n);
	while (n && rows[n - 1].self[m] == 0)	/* only ever callers */
		n--;
	if (in->run && in->run->event) {
		buf_fill(out, ' ', in->indent);
		buf_puts(out, "Counted ");
		escape(in, in->run->event, out);
		buf_puts(out, " events");
		if (in->run->freq_hz)
			buf_printf(out, " (%llu samples a second asked for)",
				   (unsigned long long)in->run->freq_hz);
		buf_putc(out, '\n');
	}
	buf_fill(out, ' ', in->indent);
	buf_puts(out, "samples  %        symbol name\n");
	for (i = 0; i < n && !(in->max_rows && i == in->max_rows); i++) {
		double pct = share(rows[i].self[m], whole);
		struct buf line = BUF_INIT;

		if (pct < in->min_share)
			break;
		buf_fill(&line, ' ', in->indent);
		figure_samples(&line, rows[i].self[m]);
		while (line.len < in->indent + 8)
			buf_putc(&line, ' ');
		buf_printf(&line, "  %-7.4f ", pct);
		escape(in, p->symtab.symbols[rows[i].symbol].name, &line);
		text_fit(out, buf_str(&line), in->width ? in->width : SIZE_MAX, false);
		buf_putc(out, '\n');
		buf_release(&line);
	}
	left_out(in, n - i, n - i == 1 ? "smaller row" : "smaller rows", out);
	free(rows);
	return 0;
}

/* --- folded --- */

static int show_folded(const struct show_input *in, struct buf *out, struct err *err)
{
	const struct profile *p = in->profile;
	enum measure m = counted(p);
	struct folded_path path = { 0 };
	uint32_t n;

	(void)err;
	for (n = walk(p, NODE_ROOT, NODE_ROOT, true); n != NODE_NONE; n = walk(p, n, NODE_ROOT, true)) {
		const struct node *node = &p->nodes[n];

		folded_path_at(&path, node->depth - 1, profile_symbol(p, n)->name, in->ascii);
		if (node->self[m] == 0)
			continue;
		buf_fill(out, ' ', in->indent);
		buf_add(out, path.text.data, path.text.len);
		buf_putc(out, ' ');
		figure_exact(out, node->self[m]);
		buf_putc(out, '\n');
	}
	folded_path_release(&path);
	return 0;
}

const struct show_style show_styles[] = {
	{ "tree", "call tree: function(share of caller samples/samples of caller)", false, show_tree },
	{ "flat", "self cost: per cent, command, object, function, as in perf report", true, show_flat },
	{ "oprofile", "self cost: samples, per cent, function, as in opreport", false, show_oprofile },
	{ "folded", "one line a stack, for flame graph tools", false, show_folded },
	{ NULL, NULL, false, NULL },
};
