// SPDX-License-Identifier: GPL-2.0-or-later
/* maps: see maps.h. Per process an array of disjoint mappings ordered by address. */
#include "collectors/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PID_LIMIT (4u << 20)		/* PID_MAX_LIMIT; the kernel's own maps carry pid -1 */
#define MAPPINGS_MAX 65536u		/* vm.max_map_count is 65530 */

struct mapset {
	unsigned int refs;		/* processes that share it */
	VEC(struct mapping) maps;	/* by address, disjoint */
};

static void put(struct mapset *set)
{
	if (!set || --set->refs)
		return;
	vec_release(&set->maps);
	free(set);
}

void maps_release(struct maps *m)
{
	for (size_t i = 0; i < m->sets.n; i++)
		put(m->sets.v[i]);
	vec_release(&m->sets);
	map_release(&m->pids);
}

/* Where the set of a process hangs; NULL for a pid that cannot be. */
static struct mapset **place_of(struct maps *m, uint32_t pid)
{
	uint32_t i;

	if (pid >= PID_LIMIT)
		return NULL;
	i = map_intern(&m->pids, &pid, sizeof(pid), NULL);
	if (i == m->sets.n)
		vec_push(&m->sets, NULL);
	return &m->sets.v[i];
}

/* A set of the process' own, made or copied when there is none. */
static struct mapset *own(struct mapset **place)
{
	struct mapset *old = *place, *set;

	if (old && old->refs == 1)
		return old;
	set = mem_alloc(sizeof(*set));
	set->refs = 1;
	if (old) {
		vec_reserve(&set->maps, old->maps.n);
		memcpy(set->maps.v, old->maps.v, old->maps.n * sizeof(*old->maps.v));
		set->maps.n = old->maps.n;
		put(old);
	}
	*place = set;
	return set;
}

void maps_exec(struct maps *m, uint32_t pid)
{
	struct mapset **place = place_of(m, pid);

	if (!place)
		return;
	put(*place);
	*place = NULL;
}

void maps_fork(struct maps *m, uint32_t parent, uint32_t child)
{
	struct mapset **from = place_of(m, parent), **to, *set;

	if (!from || parent == child)	/* a new thread of the same process */
		return;
	set = *from;
	to = place_of(m, child);	/* moves *from */
	if (!to)
		return;
	if (set)
		set->refs++;
	put(*to);
	*to = set;
}

/* The first mapping that ends behind `addr`. */
static size_t first_behind(const struct mapset *set, uint64_t addr)
{
	size_t low = 0, high = set->maps.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (set->maps.v[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void maps_add(struct maps *m, uint32_t pid, const struct mapping *what)
{
	struct mapset **place = place_of(m, pid), *set;
	struct mapping pieces[3];	/* what remains left of it, itself, what remains right */
	size_t n = 0, from, to;

	if (!place || what->end <= what->start)
		return;
	set = own(place);
	if (set->maps.n >= MAPPINGS_MAX)
		return;
	from = to = first_behind(set, what->start);
	while (to < set->maps.n && set->maps.v[to].start < what->end)
		to++;
	if (from < to && set->maps.v[from].start < what->start) {
		pieces[n] = set->maps.v[from];
		pieces[n++].end = what->start;
	}
	pieces[n++] = *what;
	if (from < to && set->maps.v[to - 1].end > what->end) {
		pieces[n] = set->maps.v[to - 1];
		pieces[n].pgoff += what->end - pieces[n].start;
		pieces[n++].start = what->end;
	}
	vec_reserve(&set->maps, n);
	memmove(set->maps.v + from + n, set->maps.v + to, (set->maps.n - to) * sizeof(*set->maps.v));
	memcpy(set->maps.v + from, pieces, n * sizeof(*pieces));
	set->maps.n += n - (to - from);
}

const struct mapping *maps_find(const struct maps *m, uint32_t pid, uint64_t addr)
{
	uint32_t number = map_find(&m->pids, &pid, sizeof(pid));
	const struct mapset *set;
	size_t i;

	if (number == MAP_NONE || !m->sets.v[number])
		return NULL;
	set = m->sets.v[number];
	i = first_behind(set, addr);
	return i < set->maps.n && set->maps.v[i].start <= addr ? &set->maps.v[i] : NULL;
}
