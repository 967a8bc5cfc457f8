// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fold: folded samples become a profile.
 *
 * Stacks and symbols are loaded once a session and kept, since rows are only
 * ever added: folding the blocks of an experiment one after the other costs
 * what their own stacks cost. They come in order of id, parents first, and are
 * checked as they come: a parent that is not among those already seen, or a
 * symbol that does not exist, is damage, so neither a cycle nor a dangling
 * index gets any further.
 */
#include "store/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX (8u << 20)	/* of one profile; a damaged file may ask for any number */

void store_forest_release(struct store_forest *f)
{
	vec_release(&f->stack_ids);
	vec_release(&f->symbol_ids);
	vec_release(&f->stacks);
	vec_release(&f->symbols);
	map_release(&f->names);
}

/* The index of an id among n ascending ones, MAP_NONE when absent. Without gaps the id is the index. */
static uint32_t index_of(const int64_t *ids, size_t n, int64_t id)
{
	size_t lo = 0, hi = n;

	if (id >= 0 && (uint64_t)id < n && ids[id] == id)
		return (uint32_t)id;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ids[mid] == id)
			return (uint32_t)mid;
		if (ids[mid] < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return MAP_NONE;
}

static uint32_t name_number(struct store_forest *f, sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return map_intern_str(&f->names, text ? text : "");	/* ends at the first NUL byte */
}

/* The rows behind those already known. */
static sqlite3_stmt *rows_behind(struct store *s, enum store_query q, const char *sql, const int64_t *ids,
				 size_t n, struct err *err)
{
	sqlite3_stmt *st = NULL;

	if (store_stmt(s, q, sql, &st, err))
		return NULL;
	sqlite3_bind_int64(st, 1, n ? ids[n - 1] : -1);
	return st;
}

static int load_symbols(struct store *s, struct err *err)
{
	struct store_forest *f = &s->forest;
	sqlite3_stmt *st = NULL;
	int rc;

	st = rows_behind(s, Q_SYMBOLS_FROM, "SELECT id, name, dso, kind FROM symbol WHERE id > ? ORDER BY id",
			 f->symbol_ids.v, f->symbol_ids.n, err);
	if (!st)
		return -EIO;
	while ((rc = store_row(s, st, err)) == 1) {
		int64_t id = sqlite3_column_int64(st, 0), kind = sqlite3_column_int64(st, 3);

		if (kind < 0 || kind >= FRAME_KINDS || f->symbol_ids.n == MAP_NONE) {
			store_done(st);
			return store_damaged(s, err, "symbol %lld is of an unknown kind", (long long)id);
		}
		vec_push(&f->symbols, (struct store_symbol_row){ name_number(f, st, 1), name_number(f, st, 2),
								 (enum frame_kind)kind });
		vec_push(&f->symbol_ids, id);
	}
	return rc;
}

static int load_stacks(struct store *s, struct err *err)
{
	struct store_forest *f = &s->forest;
	sqlite3_stmt *st = NULL;
	int rc;

	st = rows_behind(s, Q_STACKS_FROM, "SELECT id, parent, symbol FROM stack WHERE id > ? ORDER BY id",
			 f->stack_ids.v, f->stack_ids.n, err);
	if (!st)
		return -EIO;
	while ((rc = store_row(s, st, err)) == 1) {
		int64_t id = sqlite3_column_int64(st, 0);
		uint32_t parent = index_of(f->stack_ids.v, f->stack_ids.n, sqlite3_column_int64(st, 1));
		uint32_t symbol = index_of(f->symbol_ids.v, f->symbol_ids.n, sqlite3_column_int64(st, 2));

		if (id == 0)		/* the root, its own parent */
			parent = 0;
		if ((id && !f->stack_ids.n) || parent == MAP_NONE || symbol == MAP_NONE ||
		    f->stack_ids.n == MAP_NONE) {
			store_done(st);
			return store_damaged(s, err, "stack %lld does not lie behind its parent, or its "
					     "symbol is missing", (long long)id);
		}
		vec_push(&f->stacks, (struct store_stack_row){ parent, symbol });
		vec_push(&f->stack_ids, id);
	}
	return rc;
}

int store_forest_load(struct store *s, struct err *err)
{
	int rc = load_symbols(s, err);

	if (!rc)
		rc = load_stacks(s, err);
	if (!rc && !s->forest.stacks.n)
		rc = store_damaged(s, err, "the root of its stacks is gone");
	return rc;
}

/*
 * One fold in hand. A stack's node is valid for the generation it carries: the
 * comm changes, the generation is counted up, and nothing has to be cleared.
 */
struct fold {
	struct store *s;
	struct profile *p;
	const struct store_profile_opts *opts;
	struct { uint32_t node, generation; } *nodes;	/* by index of stack */
	uint32_t *symbols;				/* by index of symbol: of the profile, or MAP_NONE */
	uint32_t generation;
	VEC(uint32_t) path;
};

static uint32_t symbol_of(struct fold *f, uint32_t index)
{
	const struct store_symbol_row *row = &f->s->forest.symbols.v[index];
	const struct map *names = &f->s->forest.names;
	struct symbol sym = { map_str(names, row->name), map_str(names, row->dso), row->kind };

	if (f->symbols[index] == MAP_NONE) {
		sym = alias_apply(f->opts->aliases, f->opts->n_aliases, sym);
		f->symbols[index] = symtab_intern(&f->p->symtab, sym.name, sym.dso, sym.kind);
	}
	return f->symbols[index];
}

/* The children of `base` start anew. */
static void start_below(struct fold *f, uint32_t base)
{
	f->generation++;
	f->nodes[0].node = base;
	f->nodes[0].generation = f->generation;
}

static int node_of(struct fold *f, uint32_t stack, uint32_t *node, struct err *err)
{
	const struct store_stack_row *stacks = f->s->forest.stacks.v;

	for (f->path.n = 0; f->nodes[stack].generation != f->generation; stack = stacks[stack].parent)
		vec_push(&f->path, stack);
	*node = f->nodes[stack].node;
	while (f->path.n) {
		stack = f->path.v[--f->path.n];
		if (f->p->n >= NODES_MAX)
			return err_add(err, -E2BIG, "The profile has more than %u nodes, which no recording "
				       "of kab has; the session file %s may be damaged.", NODES_MAX,
				       f->s->path);
		*node = profile_child(f->p, *node, symbol_of(f, stacks[stack].symbol));
		f->nodes[stack].node = *node;
		f->nodes[stack].generation = f->generation;
	}
	return 0;
}

static uint32_t mark_below(struct fold *f, uint32_t parent, const char *name)
{
	return profile_child(f->p, parent, symtab_intern(&f->p->symtab, name, "", FRAME_MARK));
}

/* Makes the comm of `thread` the first level. */
static int enter_thread(struct fold *f, int64_t run, int64_t thread, struct err *err)
{
	const char *comm;
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(f->s, Q_THREAD_COMM, "SELECT comm FROM thread WHERE id = ? AND run = ?", &st,
			    err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, thread);
	sqlite3_bind_int64(st, 2, run);
	rc = store_row(f->s, st, err);
	if (rc < 0)
		return rc;
	if (!rc)
		return store_damaged(f->s, err, "run %lld has samples of a thread that it does not have",
				     (long long)run);
	comm = (const char *)sqlite3_column_text(st, 0);
	start_below(f, mark_below(f, NODE_ROOT, comm ? comm : ""));
	store_done(st);
	return 0;
}

static int fold_run(struct fold *f, int64_t run, struct err *err)
{
	const struct store_forest *forest = &f->s->forest;
	int64_t in_hand = -1;
	sqlite3_stmt *st = NULL;
	int rc = store_stmt(f->s, Q_SAMPLES, "SELECT thread, stack, count, period FROM sample"
			    " WHERE run = ? AND event = ? ORDER BY thread, stack", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_int64(st, 2, f->opts->event);
	while ((rc = store_row(f->s, st, err)) == 1) {
		int64_t thread = sqlite3_column_int64(st, 0);
		uint32_t stack = index_of(forest->stack_ids.v, forest->stack_ids.n,
					  sqlite3_column_int64(st, 1));
		double count = sqlite3_column_double(st, 2), period = sqlite3_column_double(st, 3);
		uint32_t node = NODE_NONE;

		rc = 0;
		if (stack == MAP_NONE)
			rc = store_damaged(f->s, err, "run %lld has samples of a stack that does not exist",
					   (long long)run);
		else if (!isfinite(count) || !isfinite(period))
			rc = store_damaged(f->s, err, "run %lld has counts that are no numbers",
					   (long long)run);
		else if (f->opts->by_comm && (in_hand < 0 || thread != in_hand))
			rc = enter_thread(f, run, thread, err);
		in_hand = thread;
		if (!rc)
			rc = node_of(f, stack, &node, err);
		if (rc)
			break;
		if (stack == 0)
			node = mark_below(f, node, "[no callchain]");
		profile_add(f->p, node, count, period);
	}
	if (rc)
		store_done(st);
	return rc;
}

int store_profile(struct store *s, const int64_t *ids, size_t n_ids, const struct store_profile_opts *opts,
		  struct profile **out, struct err *err)
{
	static const struct store_profile_opts none = { 0 };
	struct fold f = { .s = s, .opts = opts ? opts : &none };
	int rc = store_flush(s, err);

	*out = NULL;
	if (!rc)
		rc = store_forest_load(s, err);
	if (rc)
		return rc;
	f.p = profile_new();
	f.nodes = mem_calloc(s->forest.stacks.n, sizeof(*f.nodes));
	f.symbols = mem_calloc(s->forest.symbols.n, sizeof(*f.symbols));
	memset(f.symbols, 0xff, s->forest.symbols.n * sizeof(*f.symbols));	/* MAP_NONE */
	start_below(&f, NODE_ROOT);
	for (size_t i = 0; i < n_ids && !rc; i++)
		rc = fold_run(&f, ids[i], err);
	free(f.nodes);
	free(f.symbols);
	vec_release(&f.path);
	if (rc) {
		profile_free(f.p);
		return rc;
	}
	profile_seal(f.p);
	*out = f.p;
	return 0;
}
