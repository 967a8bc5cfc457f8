/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map: interns byte strings to dense numbers 0, 1, 2, ... in order of arrival.
 *
 * The one hash table of the tree: names, stacks, (pid, address) keys are all
 * byte strings. Keys are copied. Nothing is removed before map_release().
 */
#ifndef KAB_BASE_MAP_H
#define KAB_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_entry {
	const void *key;	/* borrowed from the map; followed by a NUL byte */
	uint32_t len, hash;
};

struct map {
	struct map_entry *entries;	/* by number */
	uint32_t *slots;		/* open addressing, number + 1, 0 is free */
	uint32_t n, cap, nslots;
	struct map_block *blocks;	/* where the keys live */
};

#define MAP_INIT { NULL, NULL, 0, 0, 0, NULL }

void map_release(struct map *m);
/* The number of the key, MAP_NONE when absent. */
uint32_t map_find(const struct map *m, const void *key, size_t len);
/* The number of the key, added when absent; *added (may be NULL) says which. len < 2^31. */
uint32_t map_intern(struct map *m, const void *key, size_t len, bool *added);
uint32_t map_intern_str(struct map *m, const char *s);
/* The key as a C string, borrowed until map_release(). */
const char *map_str(const struct map *m, uint32_t number);
/* The hash in use, for callers that need a stable colour or seed (FNV-1a, 32 bit, finalised). */
uint32_t map_hash(const void *key, size_t len);

#endif
