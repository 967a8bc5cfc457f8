// SPDX-License-Identifier: GPL-2.0-or-later
/* map: see map.h. Open addressing with linear probing, at most 3/4 full. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_BYTES 65536

struct map_block {
	struct map_block *next;
	size_t used, size;
	char bytes[];
};

/* FNV-1a (isthe.com/chongo/tech/comp/fnv) over 8-byte words where there are any,
 * then the 32-bit finaliser of MurmurHash3, since the low bits choose the slot. */
uint32_t map_hash(const void *key, size_t len)
{
	const unsigned char *p = key;
	uint64_t h = 0xcbf29ce484222325ULL, word;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0x100000001b3ULL;
		h ^= h >> 29;
	}
	for (; len; len--, p++)
		h = (h ^ *p) * 0x100000001b3ULL;
	h ^= h >> 32;
	h = (h ^ (h >> 16)) * 0x85ebca6bU;
	h = (h ^ (uint32_t)h >> 13) * 0xc2b2ae35U;
	return (uint32_t)(h ^ (uint32_t)h >> 16);
}

void map_release(struct map *m)
{
	struct map_block *b = m->blocks, *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	free(m->entries);
	free(m->slots);
	*m = (struct map)MAP_INIT;
}

static uint32_t *slot_of(const struct map *m, const void *key, size_t len, uint32_t hash)
{
	uint32_t mask = m->nslots - 1, i = hash & mask;

	for (;; i = (i + 1) & mask) {
		const struct map_entry *e;

		if (!m->slots[i])
			return &m->slots[i];
		e = &m->entries[m->slots[i] - 1];
		if (e->hash == hash && e->len == len && (!len || !memcmp(e->key, key, len)))
			return &m->slots[i];
	}
}

uint32_t map_find(const struct map *m, const void *key, size_t len)
{
	return m->nslots ? *slot_of(m, key, len, map_hash(key, len)) - 1 : MAP_NONE;
}

static void grow(struct map *m)
{
	uint32_t n = m->nslots ? m->nslots * 2 : 64, i, j;

	free(m->slots);
	m->slots = mem_calloc(n, sizeof(*m->slots));
	m->nslots = n;
	for (i = 0; i < m->n; i++) {
		for (j = m->entries[i].hash & (n - 1); m->slots[j]; j = (j + 1) & (n - 1))
			;
		m->slots[j] = i + 1;
	}
}

static const void *keep(struct map *m, const void *key, size_t len)
{
	struct map_block *b = m->blocks;
	size_t need = (len + 1 + 7) & ~(size_t)7;	/* keys stay 8-byte aligned */
	char *p;

	if (!b || b->size - b->used < need) {
		size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;

		b = mem_alloc(sizeof(*b) + size);
		b->size = size;
		b->next = m->blocks;
		m->blocks = b;
	}
	p = b->bytes + b->used;
	if (len)
		memcpy(p, key, len);
	p[len] = '\0';
	b->used += need;
	return p;
}

uint32_t map_intern(struct map *m, const void *key, size_t len, bool *added)
{
	uint32_t hash = map_hash(key, len), *slot;

	if ((uint64_t)m->n * 4 >= (uint64_t)m->nslots * 3)
		grow(m);
	slot = slot_of(m, key, len, hash);
	if (added)
		*added = !*slot;
	if (*slot)
		return *slot - 1;
	if (m->n == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 64;
		m->entries = mem_realloc(m->entries, m->cap, sizeof(*m->entries));
	}
	m->entries[m->n] = (struct map_entry){ keep(m, key, len), (uint32_t)len, hash };
	*slot = ++m->n;
	return m->n - 1;
}

uint32_t map_intern_str(struct map *m, const char *s)
{
	return map_intern(m, s, strlen(s), NULL);
}

const char *map_str(const struct map *m, uint32_t number)
{
	return m->entries[number].key;
}
