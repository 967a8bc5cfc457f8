// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile: the tree of frames that samples are folded into.
 *
 * Filled by whoever has stacks (store, importers), one frame at a time or a
 * stack at a time, then sealed; diff, compare and the writers read it. Nodes are
 * made after their parents, so a parent's index is always the smaller one:
 * totals need one backward pass and no recursion, however deep the stacks are.
 */
#include "profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* --- symbols --- */

void symtab_release(struct symtab *t)
{
	map_release(&t->keys);
	free(t->symbols);
	memset(t, 0, sizeof(*t));
}

/*
 * The key is KIND DSO NUL NAME; the table's names point into the map's copy of
 * it, which ends in a NUL byte of its own.
 */
uint32_t symtab_intern(struct symtab *t, const char *name, const char *dso, enum frame_kind kind)
{
	size_t dso_len = strlen(dso), name_len = strlen(name), len = 1 + dso_len + 1 + name_len;
	char small[256], *key = len <= sizeof(small) ? small : mem_alloc(len);
	const char *kept;
	uint32_t number;
	bool added;

	key[0] = (char)kind;
	memcpy(key + 1, dso, dso_len + 1);
	memcpy(key + 1 + dso_len + 1, name, name_len);
	number = map_intern(&t->keys, key, len, &added);
	if (key != small)
		free(key);
	if (!added)
		return number;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		t->symbols = mem_realloc(t->symbols, t->cap, sizeof(*t->symbols));
	}
	kept = map_str(&t->keys, number);
	t->symbols[t->n++] = (struct symbol){ kept + 1 + dso_len + 1, kept + 1, kind };
	return number;
}

int symbol_cmp(const struct symbol *a, const struct symbol *b)
{
	int c = strcmp(a->name, b->name);

	c = c ? c : strcmp(a->dso, b->dso);
	return c ? c : (int)a->kind - (int)b->kind;
}

struct symbol alias_apply(const struct alias *aliases, size_t n, struct symbol s)
{
	const struct alias *a;

	for (a = aliases; a < aliases + n; a++)
		if (!strcmp(a->name, s.name) && (!a->dso || !strcmp(a->dso, s.dso)))
			return (struct symbol){ a->to_name, a->to_dso, a->to_kind };
	return s;
}

/* --- the tree --- */

struct profile *profile_new(void)
{
	struct profile *p = mem_alloc(sizeof(*p));

	p->cap = 64;
	p->nodes = mem_calloc(p->cap, sizeof(*p->nodes));
	p->nodes[NODE_ROOT] = (struct node){
		.symbol = symtab_intern(&p->symtab, "all", "", FRAME_MARK),
		.parent = NODE_NONE, .first_child = NODE_NONE, .next_sibling = NODE_NONE,
	};
	p->n = 1;
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	symtab_release(&p->symtab);
	free(p->nodes);
	free(p->index);
	free(p);
}

static uint32_t edge_hash(uint32_t parent, uint32_t symbol)
{
	uint64_t h = ((uint64_t)parent << 32 | symbol) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(h >> 32 ^ h >> 15);
}

/* Where the edge is, or the free place where it belongs. */
static uint32_t *edge_slot(const struct profile *p, uint32_t parent, uint32_t symbol)
{
	uint32_t mask = p->index_size - 1, i;

	for (i = edge_hash(parent, symbol) & mask; p->index[i]; i = (i + 1) & mask) {
		const struct node *n = &p->nodes[p->index[i]];

		if (n->parent == parent && n->symbol == symbol)
			break;
	}
	return &p->index[i];
}

static void index_grow(struct profile *p)
{
	uint32_t i;

	free(p->index);
	p->index_size = p->index_size ? p->index_size * 2 : 128;
	p->index = mem_calloc(p->index_size, sizeof(*p->index));
	for (i = 1; i < p->n; i++)
		*edge_slot(p, p->nodes[i].parent, p->nodes[i].symbol) = i;
}

uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t symbol)
{
	uint32_t newest = p->nodes[parent].first_child, *slot;
	struct node *n;

	assert(!p->sealed && parent < p->n && symbol < p->symtab.n);
	/* Neighbouring samples mostly share their upper frames. */
	if (newest != NODE_NONE && p->nodes[newest].symbol == symbol)
		return newest;
	if (p->n >= p->index_size / 3 * 2)
		index_grow(p);
	slot = edge_slot(p, parent, symbol);
	if (*slot)
		return *slot;
	if (p->n == p->cap) {
		p->cap *= 2;
		p->nodes = mem_realloc(p->nodes, p->cap, sizeof(*p->nodes));
	}
	n = &p->nodes[p->n];
	*n = (struct node){
		.symbol = symbol, .parent = parent, .first_child = NODE_NONE, .next_sibling = newest,
		.depth = p->nodes[parent].depth + 1,
	};
	p->nodes[parent].first_child = (uint32_t)p->n;
	*slot = (uint32_t)p->n;
	return (uint32_t)p->n++;
}

void profile_add(struct profile *p, uint32_t node, double count, double period)
{
	assert(!p->sealed && node < p->n);
	p->nodes[node].self[COUNT] += count;
	p->nodes[node].self[PERIOD] += period;
}

void profile_add_stack(struct profile *p, const uint32_t *symbols, size_t n, double count, double period)
{
	uint32_t node = NODE_ROOT;
	size_t i;

	if (!n)
		node = profile_child(p, node, symtab_intern(&p->symtab, "[no callchain]", "", FRAME_MARK));
	for (i = 0; i < n; i++)
		node = profile_child(p, node, symbols[i]);
	profile_add(p, node, count, period);
}

void profile_merge(struct profile *into, const struct profile *from)
{
	uint32_t *symbols = mem_calloc(from->symtab.n, sizeof(*symbols));
	uint32_t *nodes = mem_calloc(from->n, sizeof(*nodes)), i;

	for (i = 0; i < from->symtab.n; i++) {
		const struct symbol *s = &from->symtab.symbols[i];

		symbols[i] = symtab_intern(&into->symtab, s->name, s->dso, s->kind);
	}
	nodes[NODE_ROOT] = NODE_ROOT;
	for (i = 0; i < from->n; i++) {
		const struct node *n = &from->nodes[i];

		if (i != NODE_ROOT)
			nodes[i] = profile_child(into, nodes[n->parent], symbols[n->symbol]);
		profile_add(into, nodes[i], n->self[COUNT], n->self[PERIOD]);
	}
	free(symbols);
	free(nodes);
}

/* What siblings are ordered by, beside their names. */
struct sibling {
	double total;
	uint32_t node;
};

static int sibling_cmp(const void *va, const void *vb, void *profile)
{
	const struct sibling *a = va, *b = vb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return symbol_cmp(profile_symbol(profile, a->node), profile_symbol(profile, b->node));
}

void profile_seal(struct profile *p)
{
	VEC(struct sibling) row = { 0 };
	enum measure by;
	uint32_t i, c;
	size_t k;

	if (p->sealed)
		return;
	for (i = (uint32_t)p->n; i-- > 0;) {
		struct node *n = &p->nodes[i];
		int m;

		for (m = 0; m < MEASURES; m++) {
			n->total[m] += n->self[m];
			if (i != NODE_ROOT)
				p->nodes[n->parent].total[m] += n->total[m];
		}
	}
	p->samples = p->nodes[NODE_ROOT].total[COUNT];
	p->period = p->nodes[NODE_ROOT].total[PERIOD];
	by = profile_measure(p);
	for (i = 0; i < p->n; i++) {
		row.n = 0;
		for (c = p->nodes[i].first_child; c != NODE_NONE; c = p->nodes[c].next_sibling)
			vec_push(&row, (struct sibling){ p->nodes[c].total[by], c });
		if (row.n < 2)
			continue;
		qsort_r(row.v, row.n, sizeof(*row.v), sibling_cmp, p);
		p->nodes[i].first_child = row.v[0].node;
		for (k = 0; k < row.n; k++)
			p->nodes[row.v[k].node].next_sibling = k + 1 < row.n ? row.v[k + 1].node : NODE_NONE;
	}
	vec_release(&row);
	free(p->index);
	p->index = NULL;
	p->index_size = 0;
	p->sealed = true;
}

enum measure profile_measure(const struct profile *p)
{
	return p->period != 0 ? PERIOD : COUNT;
}

const struct symbol *profile_symbol(const struct profile *p, uint32_t node)
{
	return &p->symtab.symbols[p->nodes[node].symbol];
}

/* --- flat --- */

struct flat_order {
	const struct symtab *symtab;
	enum measure by;
};

static int flat_cmp(const void *va, const void *vb, void *ctx)
{
	const struct flat_row *a = va, *b = vb;
	const struct flat_order *o = ctx;

	if (a->self[o->by] != b->self[o->by])
		return a->self[o->by] > b->self[o->by] ? -1 : 1;
	return symbol_cmp(&o->symtab->symbols[a->symbol], &o->symtab->symbols[b->symbol]);
}

struct flat_row *profile_flat(const struct profile *p, enum measure by, size_t *n)
{
	struct flat_row *rows = mem_calloc(p->symtab.n, sizeof(*rows));
	uint32_t *open = mem_calloc(p->symtab.n, sizeof(*open));	/* frames of a symbol on the path */
	bool *met = mem_calloc(p->symtab.n, sizeof(*met));
	uint32_t i = p->nodes[NODE_ROOT].first_child;
	size_t s, kept = 0;
	int m;

	while (i != NODE_NONE && i != NODE_ROOT) {
		const struct node *node = &p->nodes[i];
		struct flat_row *r = &rows[node->symbol];

		met[node->symbol] = true;
		for (m = 0; m < MEASURES; m++) {
			r->self[m] += node->self[m];
			if (!open[node->symbol])
				r->total[m] += node->total[m];
		}
		open[node->symbol]++;
		if (node->first_child != NODE_NONE) {
			i = node->first_child;
			continue;
		}
		/* Up to the nearest ancestor that has a sibling to go on with. */
		for (; i != NODE_ROOT; i = p->nodes[i].parent) {
			open[p->nodes[i].symbol]--;
			if (p->nodes[i].next_sibling != NODE_NONE) {
				i = p->nodes[i].next_sibling;
				break;
			}
		}
	}
	for (s = 0; s < p->symtab.n; s++) {
		if (!met[s])
			continue;
		rows[kept] = rows[s];
		rows[kept++].symbol = (uint32_t)s;
	}
	qsort_r(rows, kept, sizeof(*rows), flat_cmp, &(struct flat_order){ &p->symtab, by });
	free(open);
	free(met);
	*n = kept;
	return rows;
}
