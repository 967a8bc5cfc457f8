// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * context: what every view asks of `struct tui` (view.h): messages, names and
 * figures fit for this terminal, the one selection and the one search.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/run.h"

void tui_say(struct tui *t, enum style style, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
	t->message_style = style;
}

void tui_ask(struct tui *t, unsigned (*yes)(struct tui *t), const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->prompt.text, sizeof(t->prompt.text), fmt, ap);
	va_end(ap);
	t->prompt.kind = PROMPT_CONFIRM;
	t->prompt.yes = yes;
}

void tui_name(const struct tui *t, struct buf *out, const char *name)
{
	/* No screen is this wide; what lies beyond is not worth the work on every frame. */
	text_escape(out, name, strnlen(name, 2000), !t->screen.utf8);
}

void tui_symbol(const struct tui *t, struct buf *out, const struct symbol *sym)
{
	tui_name(t, out, sym->name[0] ? sym->name : "[no name]");
}

void tui_put_frame(const struct tui *t, uint32_t node, struct buf *out)
{
	const struct symbol *sym = diff_symbol(t->data.diff, node);

	tui_symbol(t, out, sym);
	buf_puts(out, "  ");
	tui_name(t, out, sym->dso);
	if (t->data.single)
		return;
	if (diff_gone(t->data.diff, node))
		buf_puts(out, "  only before");
	else if (diff_new(t->data.diff, node))
		buf_puts(out, "  only after");
}

enum style tui_verdict_style(enum verdict v)
{
	return v == VERDICT_BETTER ? STYLE_LESS : v == VERDICT_WORSE ? STYLE_MORE : STYLE_DIM;
}

struct ink tui_ink(const struct tui *t, enum style style)
{
	return palette_style(style, t->screen.colours);
}

bool tui_matches(const struct tui *t, const char *name)
{
	return t->search[0] && strcasestr(name, t->search);
}

uint32_t tui_zoom(const struct tui *t)
{
	return t->zoom.n ? t->zoom.v[t->zoom.n - 1] : NODE_ROOT;
}

bool tui_select_symbol(struct tui *t, uint32_t symbol)
{
	const struct diff *d = t->data.diff;
	enum measure m = (enum measure)(t->option[OPTION_MEASURE] == 0 ? PERIOD : COUNT);
	uint32_t i, best = NODE_NONE;
	double most = -1;

	for (i = 0; d && i < d->n; i++) {
		double cost = d->nodes[i].total[BEFORE][m] + d->nodes[i].total[AFTER][m];

		if (d->nodes[i].symbol == symbol && cost > most) {
			most = cost;
			best = i;
		}
	}
	if (best == NODE_NONE)
		return false;
	t->node = best;
	t->chosen = true;
	return true;
}

void tui_figures(const struct tui *t, struct figures *f)
{
	enum measure m = t->option[OPTION_MEASURE] == 0 ? PERIOD : COUNT;

	figures_init(f, t->data.diff, (enum norm)t->option[OPTION_NORM], m, data_operation(&t->data));
}

bool tui_needs_met(const struct tui *t, enum need need)
{
	const struct view *v = &t->views[t->current];

	switch (need) {
	case NEEDS_ROW:
		return v->list.n > 0;
	case NEEDS_CASE:
		return v->list.sel < t->data.n_cases && !t->data.cases[v->list.sel].error;
	case NEEDS_PROFILE:
		return t->data.diff && t->data.diff->n;
	case NEEDS_EVIDENCE:
		return t->data.has_evidence;
	case NEEDS_JOB:
		return run_going(t);
	default:
		return true;
	}
}

/* --- search --- */

double tui_share(const struct tui *t, uint32_t node, enum side s)
{
	const struct diff_node *nodes = t->data.diff->nodes;
	enum measure m = t->option[OPTION_MEASURE] == 0 ? PERIOD : COUNT;
	double all = nodes[NODE_ROOT].total[s][m];

	return all != 0 ? 100 * nodes[node].total[s][m] / all : 0;
}

/* How much of each side the frames found stand for; one below another counts once. */
static void say_found(struct tui *t)
{
	const struct diff *d = t->data.diff;
	double found[SIDES] = { 0, 0 };
	uint32_t i, end = 0;
	unsigned frames = 0;

	for (i = 0; i < d->n; i++) {
		if (!tui_matches(t, diff_symbol(d, i)->name))
			continue;
		frames++;
		if (i < end)
			continue;
		end = i + d->nodes[i].frames;
		found[BEFORE] += tui_share(t, i, BEFORE);
		found[AFTER] += tui_share(t, i, AFTER);
	}
	if (t->data.single)
		tui_say(t, STYLE_TEXT, "%u frames match \"%s\": %.2f %% of all", frames, t->search,
			found[BEFORE]);
	else
		tui_say(t, STYLE_TEXT, "%u frames match \"%s\": %.2f %% before, %.2f %% after", frames,
			t->search, found[BEFORE], found[AFTER]);
}

void tui_find_node(struct tui *t, int direction)
{
	const struct diff *d = t->data.diff;
	uint32_t n = (uint32_t)d->n, i, node;

	for (i = direction ? 1 : 0; i < n + (direction != 0); i++) {
		node = direction < 0 ? (t->node + n - i % n) % n : (t->node + i) % n;
		if (tui_matches(t, diff_symbol(d, node)->name)) {
			t->node = node;
			t->chosen = true;
			say_found(t);
			return;
		}
	}
	tui_say(t, STYLE_WARN, "No frame matches \"%s\".", t->search);
}
