/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vec: a growing array of any type.
 *
 *	VEC(struct run) runs = { 0 };
 *	vec_push(&runs, r);		// may move runs.v
 *	for (size_t i = 0; i < runs.n; i++) use(&runs.v[i]);
 *	vec_release(&runs);		// frees the array, not what its elements own
 */
#ifndef KAB_BASE_VEC_H
#define KAB_BASE_VEC_H

#include <stdlib.h>

#include "base/mem.h"

#define VEC(type) struct { type *v; size_t n, cap; }

#define vec_reserve(vec, more) \
	do { \
		size_t need_ = (vec)->n + (more); \
		if (need_ > (vec)->cap) { \
			size_t cap_ = (vec)->cap ? (vec)->cap : 8; \
			while (cap_ < need_) \
				cap_ *= 2; \
			(vec)->v = mem_realloc((vec)->v, cap_, sizeof(*(vec)->v)); \
			(vec)->cap = cap_; \
		} \
	} while (0)

#define vec_push(vec, ...) \
	do { \
		vec_reserve(vec, 1); \
		(vec)->v[(vec)->n++] = (__VA_ARGS__); \
	} while (0)

/* Appends one zeroed element and yields a pointer to it, valid until the next append. */
#define vec_add(vec) \
	({ \
		vec_reserve(vec, 1); \
		__builtin_memset(&(vec)->v[(vec)->n], 0, sizeof(*(vec)->v)); \
		&(vec)->v[(vec)->n++]; \
	})

#define vec_release(vec) \
	do { \
		free((vec)->v); \
		(vec)->v = NULL; \
		(vec)->n = (vec)->cap = 0; \
	} while (0)

#endif
