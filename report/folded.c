// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * folded: stacks as lines, for flame graph tools. "folded" holds both sides,
 * each below a frame with its name, in raw samples; "difffolded" is FlameGraph's
 * two-column form of the union, in the norm in force, fractions kept.
 */
#include "report/folded.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/figure.h"
#include "report/parts.h"

/* ';' separates frames, so within a name it is written as an escape. */
static void add_frame(struct buf *path, const char *name, bool ascii)
{
	for (;;) {
		size_t len = strcspn(name, ";");

		text_escape(path, name, len, ascii);
		if (!name[len])
			return;
		buf_puts(path, "\\x3b");
		name += len + 1;
	}
}

void folded_path_release(struct folded_path *p)
{
	buf_release(&p->text);
	vec_release(&p->ends);
}

void folded_path_at(struct folded_path *p, size_t depth, const char *name, bool ascii)
{
	p->ends.n = depth;
	p->text.len = depth ? p->ends.v[depth - 1] : 0;
	if (depth)
		buf_putc(&p->text, ';');
	add_frame(&p->text, name, ascii);
	vec_push(&p->ends, p->text.len);
}

static int no_profiles(struct err *err)
{
	return err_add(err, -ENODATA,
		       "There are no samples to fold: no block of this comparison was sampled. Run it again "
		       "without switching the profiler off.");
}

int folded_write(const struct report_input *in, struct buf *out, struct err *err)
{
	const struct diff *d = in->cmp->diff;
	struct folded_path path = { 0 };
	enum side s;
	uint32_t n;

	if (!d)
		return no_profiles(err);
	for (s = BEFORE; s < SIDES; s++) {
		const char *title = parts_title(in, s);
		enum measure m = d->nodes[NODE_ROOT].total[s][COUNT] != 0 ? COUNT : PERIOD;

		for (n = NODE_ROOT; n < d->n; n++) {
			folded_path_at(&path, d->nodes[n].depth,
				       n == NODE_ROOT ? title : diff_symbol(d, n)->name, false);
			if (d->nodes[n].self[s][m] == 0)
				continue;
			buf_add(out, path.text.data, path.text.len);
			buf_putc(out, ' ');
			figure_exact(out, d->nodes[n].self[s][m]);
			buf_putc(out, '\n');
		}
	}
	folded_path_release(&path);
	return 0;
}

/* flamegraph.pl reads decimals but no exponents. */
static void decimal(struct buf *out, double v)
{
	buf_printf(out, " %.9f", v);
	while (out->data[out->len - 1] == '0')
		out->len--;
	if (out->data[out->len - 1] == '.')
		out->len--;
	out->data[out->len] = '\0';
}

int difffolded_write(const struct report_input *in, struct buf *out, struct err *err)
{
	const struct diff *d = in->cmp->diff;
	struct folded_path path = { 0 };
	enum measure m = parts_measure(in);
	double f[SIDES];
	uint32_t n;

	if (!d)
		return no_profiles(err);
	f[BEFORE] = norm_scale(d, in->norm, BEFORE, m);
	f[AFTER] = norm_scale(d, in->norm, AFTER, m);
	for (n = 1; n < d->n; n++) {
		const struct diff_node *node = &d->nodes[n];

		folded_path_at(&path, node->depth - 1, diff_symbol(d, n)->name, false);
		if (node->self[BEFORE][m] == 0 && node->self[AFTER][m] == 0)
			continue;
		buf_add(out, path.text.data, path.text.len);
		decimal(out, node->self[BEFORE][m] * f[BEFORE]);
		decimal(out, node->self[AFTER][m] * f[AFTER]);
		buf_putc(out, '\n');
	}
	folded_path_release(&path);
	return 0;
}
