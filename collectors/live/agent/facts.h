/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts: how what the machine says becomes a fact of an answer. Whatever is not
 * there is left out; nothing here says whose machine it is.
 */
#ifndef KAB_AGENT_FACTS_H
#define KAB_AGENT_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct answer;

void fact_add(struct answer *a, const char *key, const char *value);
void fact_printf(struct answer *a, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The first line of a file. */
void fact_file(struct answer *a, const char *key, const char *path);
/* The value of the first line "NAME : VALUE" of a file; false when there is none. */
bool fact_field(const char *path, const char *name, char *value, size_t size);

/* hardware.c: what the machine is made of, and what the kernel was made with. */
void facts_hardware(struct answer *a);
/* moving.c: what may change while it runs, and the part of it that somebody sets. */
void facts_settings(struct answer *a);
void facts_moving(struct answer *a);

#endif
