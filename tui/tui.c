// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tui: the loop. Waits for keys, signals and the child's output with one poll,
 * turns keys into requests, hands a request to the view in hand and what it
 * leaves to the general ones, and paints: header, view, status line, footer.
 */
#include "tui/tui.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/err.h"
#include "base/text.h"
#include "tui/child.h"
#include "tui/frame.h"
#include "tui/run.h"
#include "tui/view.h"

#define IDLE_MS 1000			/* how often the session file is asked for news */
#define BUSY_MS 250			/* while a measurement runs: the clock on the screen goes on */

static const struct view_ops *const all_ops[VIEW_COUNT] = {
#define VIEW(id, name, what, needs) &name##_ops,
#include "tui/views.def"
#undef VIEW
};

/* --- for the views --- */

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
	buf_puts(out, diff_gone(t->data.diff, node) ? "  only before" : diff_new(t->data.diff, node) ? "  only after" : "");
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

static const char *need_sentence(enum need need)
{
	static const char *const sentences[NEEDS] = {
		[NEEDS_ROW] = "There is no row to select here.",
		[NEEDS_CASE] = "This needs a case that can be read.",
		[NEEDS_PROFILE] = "This needs samples: open an experiment or a recording in view 2.",
		[NEEDS_EVIDENCE] = "This needs a comparison: measure a case in view 1, or open an experiment in view 2.",
		[NEEDS_JOB] = "No measurement is running; r on a case in view 1 starts one.",
	};

	return sentences[need] ? sentences[need] : "";
}

/* --- data --- */

static void forget_selection(struct tui *t)
{
	t->node = NODE_ROOT;
	t->chosen = false;
	t->zoom.n = 0;
}

static unsigned load(struct tui *t, const char *id)
{
	struct err err = ERR_INIT;

	if (data_load(&t->data, id, &err)) {
		tui_say(t, STYLE_ERROR, "%s", err.text);
		return REACT_DRAW | REACT_UNHANDLED;
	}
	forget_selection(t);
	return REACT_RELOAD;
}

unsigned tui_reload(struct tui *t)
{
	struct err err = ERR_INIT;

	if (data_lists(&t->data, &err))
		tui_say(t, STYLE_ERROR, "%s", err.text);
	return REACT_RELOAD;
}

/* The newest experiment that has something to show. */
static unsigned load_newest(struct tui *t)
{
	char id[40];
	size_t i;

	for (i = 0; i < t->data.n_exps; i++) {
		const struct exp_row *e = &t->data.exps[i];

		if (!e->done[VARIANT_BEFORE] || !e->done[VARIANT_AFTER])
			continue;
		snprintf(id, sizeof(id), "e%lld", (long long)e->exp.id);
		return load(t, id);
	}
	return REACT_DRAW;
}

/* --- views --- */

static void settle_options(struct tui *t)
{
	/* A profile without periods can only be counted. */
	if (t->data.diff && t->data.diff->n && diff_measure(t->data.diff) == COUNT)
		t->option[OPTION_MEASURE] = 1;
}

static struct view *ready(struct tui *t, enum view_id id)
{
	struct view *v = &t->views[id];

	if (v->generation != t->generation) {
		settle_options(t);
		if (v->ops->refresh)
			v->ops->refresh(t, v);
		v->generation = t->generation;
	}
	if (v->ops->rows)
		v->list.n = v->ops->rows(t, v);
	list_settle(&v->list);
	return v;
}

unsigned tui_show(struct tui *t, enum view_id id)
{
	unsigned r = REACT_DRAW;

	if (id == t->current)
		return r;
	if (!tui_needs_met(t, view_rows[id].needs) && !t->data.id[0])
		r |= load_newest(t);
	if (id == VIEW_HELP)
		t->came_from = t->current;
	if (t->back.n > 32) {
		t->back.n--;
		memmove(t->back.v, t->back.v + 1, t->back.n * sizeof(*t->back.v));
	}
	vec_push(&t->back, t->current);
	t->current = id;
	return (r & ~REACT_UNHANDLED) | REACT_RELOAD;
}

unsigned tui_open_id(struct tui *t, const char *id)
{
	unsigned r = load(t, id);

	if (r & REACT_UNHANDLED)
		return REACT_DRAW;
	return r | tui_show(t, t->data.single ? VIEW_TREE : VIEW_COMPARE);
}

static unsigned step_view(struct tui *t, int by)
{
	return tui_show(t, (enum view_id)(((int)t->current + by + VIEW_COUNT) % VIEW_COUNT));
}

static unsigned quit_anyway(struct tui *t)
{
	(void)t;
	return REACT_QUIT;
}

static unsigned quit(struct tui *t)
{
	if (!run_going(t))
		return REACT_QUIT;
	tui_ask(t, quit_anyway, "A measurement is running. Cancel it and quit?");
	return REACT_DRAW;
}

static unsigned back(struct tui *t)
{
	if (!t->back.n)
		return quit(t);
	t->current = t->back.v[--t->back.n];
	return REACT_RELOAD;
}

/* --- search --- */

/* Another row of a table was selected. */
static void moved(struct tui *t, struct view *v)
{
	list_settle(&v->list);
	if (!v->ops->selected || !tui_needs_met(t, view_rows[t->current].needs))
		return;
	t->chosen = true;
	v->ops->selected(t, v);
}

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
		tui_say(t, STYLE_TEXT, "%u frames match \"%s\": %.2f %% of all", frames, t->search, found[BEFORE]);
	else
		tui_say(t, STYLE_TEXT, "%u frames match \"%s\": %.2f %% before, %.2f %% after", frames, t->search,
			found[BEFORE], found[AFTER]);
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

static unsigned find_row(struct tui *t, struct view *v, int direction)
{
	struct buf text = BUF_INIT;
	size_t n = v->list.n, i;

	for (i = direction ? 1 : 0; i < n + (direction != 0); i++) {
		size_t row = direction < 0 ? (v->list.sel + n - i % n) % n : (v->list.sel + i) % n;

		buf_clear(&text);
		v->ops->cell(t, v, row, v->ops->grep, &text);
		if (tui_matches(t, buf_str(&text))) {
			v->list.sel = row;
			moved(t, v);
			buf_release(&text);
			return REACT_DRAW;
		}
	}
	buf_release(&text);
	tui_say(t, STYLE_WARN, "Nothing here matches \"%s\".", t->search);
	return REACT_DRAW;
}

static unsigned find(struct tui *t, int direction)
{
	struct view *v = ready(t, t->current);

	if (!t->search[0]) {
		tui_say(t, STYLE_TEXT, "Nothing was searched for yet: / starts a search.");
		return REACT_DRAW;
	}
	if (!tui_needs_met(t, view_rows[t->current].needs))
		return REACT_DRAW;
	if (v->ops->find)
		return v->ops->find(t, v, direction);
	return v->ops->rows ? find_row(t, v, direction) : REACT_DRAW;
}

/* --- requests --- */

static unsigned list_request(struct tui *t, struct view *v, enum request r)
{
	long page = v->list.page ? (long)v->list.page : 1, all = (long)v->list.n;
	const struct { enum request r; long by; } moves[] = {
		{ REQ_DOWN, 1 }, { REQ_UP, -1 }, { REQ_PAGE_DOWN, page }, { REQ_PAGE_UP, -page },
		{ REQ_FIRST, -all }, { REQ_LAST, all },
	};
	size_t i;

	for (i = 0; v->ops->rows && i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (moves[i].r != r)
			continue;
		list_move(&v->list, moves[i].by);
		moved(t, v);
		return REACT_DRAW;
	}
	return REACT_UNHANDLED;
}

static const struct option_row { const char *name, *values; enum request request; const char *help; } option_rows[] = {
#define OPTION(id, name, values, request, help) { #name, values, REQ_##request, help },
#include "tui/options.def"
#undef OPTION
};

/* Steps an option to its next value, and says so. */
static unsigned option_request(struct tui *t, enum request r)
{
	int i;

	for (i = 0; i < OPTIONS; i++) {
		const char *p = option_rows[i].values;
		unsigned n, k;

		if (option_rows[i].request != r)
			continue;
		for (n = 1, k = 0; p[k]; k++)
			n += p[k] == ' ';
		t->option[i] = (t->option[i] + 1) % n;
		for (k = t->option[i]; k; k--)
			p = strchr(p, ' ') + 1;
		tui_say(t, STYLE_TEXT, "%s: %.*s (%s)", option_rows[i].name, (int)strcspn(p, " "), p, option_rows[i].help);
		return REACT_RELOAD;
	}
	return REACT_UNHANDLED;
}

static unsigned general_request(struct tui *t, enum request r)
{
	switch (r) {
	case REQ_SEARCH:
		t->prompt = (struct prompt){ .kind = PROMPT_SEARCH };
		return REACT_DRAW;
	case REQ_SEARCH_NEXT:
		return find(t, 1);
	case REQ_SEARCH_PREV:
		return find(t, -1);
	case REQ_NEXT_VIEW:
		return step_view(t, 1);
	case REQ_PREV_VIEW:
		return step_view(t, -1);
	case REQ_SHOW_HELP:
		return tui_show(t, VIEW_HELP);
	case REQ_CLEAR:
		t->search[0] = '\0';
		return REACT_DRAW;
	case REQ_CANCEL:
		return run_ask_cancel(t);
	case REQ_RELOAD:
		return tui_reload(t);
	case REQ_REDRAW:
		screen_repaint(&t->screen);
		return REACT_DRAW;
	case REQ_BACK:
		return back(t);
	case REQ_QUIT:
		return quit(t);
	default:
		return option_request(t, r);
	}
}

static unsigned request(struct tui *t, enum request r)
{
	struct view *v = ready(t, t->current);
	unsigned react = REACT_UNHANDLED;

	if (!tui_needs_met(t, request_rows[r].needs)) {
		tui_say(t, STYLE_WARN, "%s", need_sentence(request_rows[r].needs));
		return REACT_DRAW;
	}
	if (v->ops->request && tui_needs_met(t, view_rows[t->current].needs))
		react = v->ops->request(t, v, r);
	if (react & REACT_UNHANDLED)
		react = list_request(t, v, r);
	if (react & REACT_UNHANDLED)
		react = general_request(t, r);
	return react;
}

/* --- keys --- */

static unsigned confirm_key(struct tui *t, int key)
{
	unsigned (*yes)(struct tui *t) = t->prompt.yes;

	t->prompt.kind = PROMPT_NONE;
	return key == 'y' || key == 'Y' ? yes(t) | REACT_DRAW : REACT_DRAW;
}

static void type(struct prompt *p, int key)
{
	size_t len = strlen(p->text);
	char utf8[8] = "";
	mbstate_t state = { 0 };
	size_t n = wcrtomb(utf8, (wchar_t)key, &state);

	if (n != (size_t)-1 && n < sizeof(utf8) && len + n < sizeof(p->text)) {
		memcpy(p->text + len, utf8, n);
		p->text[len + n] = '\0';
	}
}

static unsigned search_key(struct tui *t, int key)
{
	struct prompt *p = &t->prompt;
	size_t len = strlen(p->text);

	if (key == K_ENTER) {
		memcpy(t->search, p->text, sizeof(t->search));
		p->kind = PROMPT_NONE;
		return t->search[0] ? find(t, 0) | REACT_DRAW : REACT_DRAW;
	}
	if (key == K_ESCAPE || (key == K_BACKSPACE && !len)) {
		p->kind = PROMPT_NONE;
	} else if (key == K_BACKSPACE) {
		do
			p->text[--len] = '\0';
		while (len && ((unsigned char)p->text[len - 1] & 0xc0) == 0x80);
		if (len && (unsigned char)p->text[len - 1] >= 0xc0)
			p->text[len - 1] = '\0';
	} else if (key >= ' ' && key < K_UP) {
		type(p, key);
	}
	return REACT_DRAW;
}

static unsigned click(struct tui *t, const struct press *p)
{
	struct view *v = ready(t, t->current);
	size_t row;

	if (p->y < v->body.y || p->y >= v->body.y + v->body.rows)
		return REACT_NONE;
	if (!tui_needs_met(t, view_rows[t->current].needs))
		return REACT_NONE;
	if (v->ops->click)
		return v->ops->click(t, v, p->y, p->x);
	row = v->list.top + (p->y - v->body.y);
	if (!v->ops->rows || row >= v->list.n)
		return REACT_NONE;
	v->list.sel = row;
	moved(t, v);
	return REACT_DRAW;
}

static unsigned press(struct tui *t, const struct press *p)
{
	enum request r;

	t->message[0] = '\0';
	if (t->prompt.kind == PROMPT_CONFIRM)
		return confirm_key(t, p->key);
	if (t->prompt.kind == PROMPT_SEARCH)
		return search_key(t, p->key);
	if (p->key == K_CLICK)
		return click(t, p);
	if (p->key == K_WHEEL_UP || p->key == K_WHEEL_DOWN) {
		list_move(&ready(t, t->current)->list, p->key == K_WHEEL_UP ? -3 : 3);
		moved(t, &t->views[t->current]);
		return REACT_DRAW;
	}
	if (p->key >= '1' && p->key < '1' + VIEW_COUNT)
		return tui_show(t, (enum view_id)(p->key - '1'));
	r = keymap_find(t->current, p->key);
	return r == REQ_NONE ? REACT_DRAW : request(t, r) | REACT_DRAW;
}

/* --- the loop --- */

static void draw(struct tui *t)
{
	frame_draw(t, ready(t, t->current));
}

static unsigned signals(struct tui *t)
{
	unsigned bits = screen_signals(&t->screen);

	if (bits & SIGNAL_END)
		return REACT_QUIT;
	if (bits & SIGNAL_STOP)
		screen_suspend(&t->screen);
	if (bits & SIGNAL_RESIZE)
		screen_resized(&t->screen);
	if (bits & SIGNAL_INTERRUPT && t->prompt.kind == PROMPT_NONE)
		return quit(t);
	if (bits & SIGNAL_INTERRUPT)
		t->prompt.kind = PROMPT_NONE;
	return bits ? REACT_DRAW : REACT_NONE;
}

static unsigned keys(struct tui *t)
{
	unsigned react = REACT_NONE;
	struct press p;

	while (!(react & REACT_QUIT) && (p = screen_press(&t->screen)).key != K_NONE) {
		/* Keys without a name and buttons let go mean nothing, and leave messages where they are. */
		if (p.key == K_OTHER)
			continue;
		react |= press(t, &p);
		if (react & REACT_RELOAD)
			t->generation++;
		react &= ~REACT_RELOAD;
	}
	return react;
}

/* The views that show what is in the file; the others show what was loaded from it. */
static bool lists_shown(enum view_id id)
{
	return id == VIEW_CASES || id == VIEW_EXPERIMENTS;
}

/* Waits for the next thing to happen, and does it; false when it is over. */
static bool turn(struct tui *t)
{
	struct pollfd fds[4] = {
		{ .fd = 0, .events = POLLIN },
		{ .fd = t->screen.signal_fd, .events = POLLIN },
		{ .fd = t->child ? t->child->out : -1, .events = POLLIN },
		{ .fd = t->child ? t->child->log : -1, .events = POLLIN },
	};
	unsigned react = REACT_NONE;
	int n = poll(fds, 4, run_going(t) ? BUSY_MS : IDLE_MS);

	if (n < 0 && errno != EINTR)
		return false;
	if (fds[1].revents)
		react |= signals(t);
	if (fds[0].revents & POLLIN)
		react |= keys(t);
	else if (fds[0].revents)
		return false;		/* the terminal is gone */
	if (t->child && (run_going(t) || fds[2].revents || fds[3].revents))
		react |= run_read(t) | REACT_DRAW;
	if (n == 0 && lists_shown(t->current) && data_stale(&t->data))
		react |= tui_reload(t);
	if (react & REACT_RELOAD)
		t->generation++;
	if (react & REACT_QUIT)
		return false;
	if (react)
		draw(t);
	return true;
}

static void release(struct tui *t)
{
	int i;

	child_free(t->child);
	for (i = 0; i < VIEW_COUNT; i++)
		if (t->views[i].ops && t->views[i].ops->close)
			t->views[i].ops->close(&t->views[i]);
	data_release(&t->data);
	vec_release(&t->back);
	vec_release(&t->zoom);
}

static void start(struct tui *t)
{
	int i;

	for (i = 0; i < VIEW_COUNT; i++)
		t->views[i].ops = all_ops[i];
	t->generation = 1;
	tui_reload(t);
	if (t->opts->start && *t->opts->start)
		tui_open_id(t, t->opts->start);
	draw(t);
}

int tui_run(const struct tui_opts *o, struct err *err)
{
	struct tui t = { .opts = o };
	char farewell[1200];
	int rc;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");	/* figures look the same everywhere, as in reports */
	rc = data_open(&t.data, o->session, err);
	if (rc)
		return rc;
	snprintf(farewell, sizeof(farewell), "kab stopped by a fault of its own. What was measured is in %.1000s; "
		 "a measurement in hand goes on.", o->session);
	rc = screen_open(&t.screen, farewell, err);
	if (!rc) {
		start(&t);
		while (turn(&t))
			;
		screen_close(&t.screen);
		if (t.screen.end_signal)
			rc = err_add(err, -EINTR, "Ended by signal %d (%s).", t.screen.end_signal,
				     strsignal(t.screen.end_signal));
	}
	release(&t);
	return rc;
}
