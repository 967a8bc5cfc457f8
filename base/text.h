/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text: names from anywhere made fit for a terminal, and figures made fit to read.
 */
#ifndef KAB_BASE_TEXT_H
#define KAB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Appends `s` so that nothing in it can act on a terminal or reorder a line:
 * the bytes of control characters, DEL, C1, invalid UTF-8, invisible and
 * bidirectional marks are written as \xNN; other UTF-8 is kept. With `ascii`,
 * everything above 0x7e becomes \xNN too.
 */
void text_escape(struct buf *out, const char *s, size_t len, bool ascii);

/* Terminal cells of UTF-8 text: wide characters count 2, combining ones 0, whatever the locale. */
size_t text_width(const char *s);

/*
 * Copies as many whole characters of `s` as fit in `cells` cells into `out`, ends
 * with ~ when something was cut (nothing fits: empty), and pads with blanks to
 * exactly `cells` when `pad`.
 */
void text_fit(struct buf *out, const char *s, size_t cells, bool pad);

/*
 * Nanoseconds in the unit that reads best: "0 ns", "812 ns", "10.52 us", "3.1 ms", "51.83 s".
 * `digits` significant digits. Negative values carry "-", `sign` forces "+".
 * What is not finite reads "n/a" here and in text_count().
 */
void text_ns(struct buf *out, double ns, int digits, bool sign);
/* A count with thousands separated: "1,168"; fractions to `decimals`. */
void text_count(struct buf *out, double value, int decimals);
/* Bytes: "812 B", "4.2 MB" (decimal units). */
void text_bytes(struct buf *out, double bytes);

/* Strict parse of a whole decimal number in [min, max]; false otherwise. */
bool text_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *value);
bool text_to_double(const char *s, double min, double max, double *value);

#endif
