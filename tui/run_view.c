// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The measurement in hand. `kab run` works beside the screen and says with a line
 * of JSON (jobs/jobs.h) where it is; a crash here loses nothing, and cancelling is a
 * SIGINT to it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/child.h"
#include "tui/frame.h"
#include "tui/run.h"

#define LOG_LINES 200

struct measurement {			/* child->state */
	char *case_name;
	struct job_progress last;
	bool heard;			/* `last` is filled */
	VEC(char *) log;		/* one line each, newest last */
};

static void free_state(void *p)
{
	struct measurement *s = p;
	size_t i;

	for (i = 0; i < s->log.n; i++)
		free(s->log.v[i]);
	vec_release(&s->log);
	free(s->case_name);
	free(s);
}

static void add_log(struct measurement *s, const char *line, size_t len)
{
	char *text = mem_printf("%.*s", (int)(len > 1000 ? 1000 : len), line);

	if (s->log.n && !strcmp(s->log.v[s->log.n - 1], text)) {
		free(text);
		return;
	}
	if (s->log.n == LOG_LINES) {
		free(s->log.v[0]);
		memmove(s->log.v, s->log.v + 1, --s->log.n * sizeof(*s->log.v));
	}
	vec_push(&s->log, text);
}

bool run_going(const struct tui *t)
{
	return t->child && !t->child->ended;
}

unsigned run_start(struct tui *t, const char *case_name)
{
	const char *argv[] = { t->opts->kab, "run", case_name, "-t", "vm", "--exact", "--progress=json", "-s",
			       t->opts->session, NULL };
	struct err err = ERR_INIT;
	struct measurement *s;

	if (run_going(t)) {
		tui_say(t, STYLE_WARN, "A measurement is running; x cancels it.");
		return REACT_DRAW;
	}
	child_free(t->child);
	t->child = child_start(argv, &err);
	if (!t->child) {
		tui_say(t, STYLE_ERROR, "%s", err.text);
		return REACT_DRAW;
	}
	s = mem_alloc(sizeof(*s));
	s->case_name = mem_strdup(case_name);
	t->child->state = s;
	t->child->free_state = free_state;
	return tui_show(t, VIEW_RUN);
}

static void take_line(void *ctx, const char *line, size_t len)
{
	struct measurement *s = ctx;
	struct job_progress p;

	if (job_progress_parse(line, len, &p)) {
		if (len)
			add_log(s, line, len);
		return;
	}
	if (p.text[0] && (!s->heard || strcmp(p.text, s->last.text)))
		add_log(s, p.text, strlen(p.text));
	s->last = p;
	s->heard = true;
}

/* The last line of standard error that says something. */
static void last_sentence(const struct buf *text, char *out, size_t size)
{
	const char *p = buf_str(text), *end = p + strlen(p), *start;

	while (end > p && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
		end--;
	for (start = end; start > p && start[-1] != '\n'; start--)
		;
	/* The program's name in front is for shells; here it is known. */
	if (end - start > 5 && !strncmp(start, "kab: ", 5))
		start += 5;
	snprintf(out, size, "%.*s", (int)(end - start), start);
}

static unsigned ended(struct tui *t)
{
	const struct measurement *s = t->child->state;
	char id[40], why[1000];
	unsigned react = tui_reload(t);

	snprintf(id, sizeof(id), "e%lld", (long long)s->last.experiment);
	last_sentence(&t->child->text, why, sizeof(why));
	if (t->child->status == 0 && s->last.experiment) {
		/* Somebody who looks at something else meanwhile is not taken away from it. */
		if (t->current == VIEW_RUN || t->current == VIEW_CASES)
			react |= tui_open_id(t, id);
		if (t->message_style != STYLE_ERROR || !t->message[0])
			tui_say(t, STYLE_TITLE, "%s is measured: %s.", s->case_name, id);
	} else if (t->child->status == 0) {
		tui_say(t, STYLE_WARN, "%s ended without an experiment. %s", s->case_name, why);
	} else if (t->child->asked) {
		tui_say(t, STYLE_WARN, "Cancelled.%s%s",
			s->last.experiment ? " What was measured stays in " : "",
			s->last.experiment ? id : "");
	} else {
		tui_say(t, STYLE_ERROR, "%s failed: %s", s->case_name, why[0] ? why :
			s->heard ? s->last.text : "it said nothing; run `kab run` by hand to see.");
	}
	return react | REACT_DRAW;
}

unsigned run_read(struct tui *t)
{
	if (t->child->ended)
		return REACT_NONE;
	child_read(t->child, take_line, t->child->state);
	return t->child->ended ? ended(t) : REACT_DRAW;
}

static unsigned cancel(struct tui *t)
{
	if (run_going(t)) {
		child_stop(t->child);
		tui_say(t, STYLE_WARN, "Asked to stop; it tidies up first.");
	}
	return REACT_DRAW;
}

unsigned run_ask_cancel(struct tui *t)
{
	const struct measurement *s = t->child->state;

	if (t->child->asked)
		tui_ask(t, cancel, "It was asked to stop. Ask harder (SIGTERM)?");
	else
		tui_ask(t, cancel, "Cancel measuring %s? What was measured stays.", s->case_name);
	return REACT_DRAW;
}

/* --- drawing --- */

static void put_place(const struct job_progress *p, struct buf *out)
{
	if (p->phase == JOB_BLOCK && p->blocks)
		buf_printf(out, "block %u of %u, %s%s", p->block, p->blocks, variant_name(p->variant),
			   p->warmup ? " (warm-up)" : "");
	else
		buf_puts(out, job_phase_name(p->phase));
}

void run_line(const struct tui *t, struct buf *out)
{
	const struct measurement *s = t->child->state;

	tui_name(t, out, s->case_name);
	buf_puts(out, ": ");
	if (!s->heard)
		buf_puts(out, "starting");
	else
		put_place(&s->last, out);
	if (s->heard && s->last.fraction > 0)
		buf_printf(out, ", %.0f %%", 100 * fmin(s->last.fraction, 1));
}

static void draw_bar(struct tui *t, struct area a, double fraction)
{
	unsigned cells = a.cols > 9 ? a.cols - 8 : 1, eighths, i;
	char text[16];

	fraction = isfinite(fraction) ? fmax(0, fmin(1, fraction)) : 0;
	eighths = (unsigned)(fraction * cells * 8 + 0.5);
	for (i = 0; i < cells; i++) {
		unsigned part = eighths > 8 * i ? eighths - 8 * i : 0;

		part = part > 8 ? 8 : part;
		if (t->screen.utf8 && t->screen.colours >= 256)
			screen_part(&t->screen, a.y, a.x + i, part, 33, 238);
		else
			screen_words(&t->screen, a.y, a.x + i, 1, tui_ink(t, STYLE_LESS),
				     part >= 4 ? "#" : ".");
	}
	snprintf(text, sizeof(text), "%5.1f %%", 100 * fraction);
	if (a.cols > 9)
		screen_words(&t->screen, a.y, a.x + cells + 1, 7, tui_ink(t, STYLE_TEXT), text);
}

/* The interval on an axis that holds 0: [--*--] is the difference, | is no change. */
static void draw_interval(struct tui *t, struct area a, const struct job_progress *p)
{
	double lo = fmin(p->diff_lo, 0), hi = fmax(p->diff_hi, 0), margin = (hi - lo) * 0.08 + 1e-9, per;
	unsigned cells = a.cols > 72 ? 72 : a.cols, i;
	unsigned zero, from, to, at;
	enum style style = p->diff_hi < 0 ? STYLE_LESS : p->diff_lo > 0 ? STYLE_MORE : STYLE_TEXT;

	if (cells < 12 || !isfinite(lo) || !isfinite(hi) || !isfinite(p->diff_rel))
		return;
	lo -= margin;
	hi += margin;
	per = (cells - 1) / (hi - lo);
	zero = (unsigned)((0 - lo) * per);
	from = (unsigned)((p->diff_lo - lo) * per);
	to = (unsigned)((p->diff_hi - lo) * per);
	at = (unsigned)((p->diff_rel - lo) * per);
	for (i = 0; i < cells; i++) {
		bool in = i >= from && i <= to;
		const char *glyph = i == at ? "*" : i == from ? "[" : i == to ? "]" : in ? "-" :
			i == zero ? "|" : " ";

		screen_words(&t->screen, a.y, a.x + i, 1, tui_ink(t, in ? style : STYLE_DIM), glyph);
	}
	if (zero + 12 < a.cols && a.cols > zero + 2)
		screen_words(&t->screen, a.y, a.x + (zero > to ? zero : to) + 2, 9, tui_ink(t, STYLE_DIM),
			     zero > to ? "no change" : "");
}

static void put_figures(const struct job_progress *p, struct buf *out)
{
	if (isfinite(p->before_ns)) {
		buf_puts(out, "before ");
		text_ns(out, p->before_ns, 4, false);
	}
	if (isfinite(p->after_ns)) {
		buf_puts(out, "  after ");
		text_ns(out, p->after_ns, 4, false);
	}
	if (out->len)
		buf_puts(out, "  per operation");
	if (isfinite(p->diff_rel))
		buf_printf(out, "  %+.2f %%", 100 * p->diff_rel);
	if (isfinite(p->diff_lo) && isfinite(p->diff_hi))
		buf_printf(out, "  [%+.2f, %+.2f] %%", 100 * p->diff_lo, 100 * p->diff_hi);
	if (!out->len)
		buf_puts(out, "no interval yet: it takes two blocks of each variant");
}

/* How narrow it has to become, and what that takes as it looks now. */
static void put_goal(const struct job_progress *p, struct buf *out)
{
	if (p->pairs)
		buf_printf(out, "%u pairs done", p->pairs);
	if (p->pairs && p->until > 0)
		buf_printf(out, ", goes on until +-%.3g %%", 100 * p->until);
	if (p->pairs && p->more)
		buf_printf(out, ", %s%u more", p->until > 0 ? "about " : "", p->more);
	if (isfinite(p->time_left))
		buf_printf(out, "%s%02.0f:%02.0f left", out->len ? ", " : "", floor(p->time_left / 60),
			   fmod(floor(p->time_left), 60));
}

static void put_rate(const struct job_progress *p, struct buf *out)
{
	/* On the exact target the rings are read between blocks: there is no rate then. */
	if (p->samples_per_s > 0) {
		text_count(out, p->samples_per_s, 0);
		buf_puts(out, " samples/s, ");
	}
	text_count(out, (double)p->samples, 0);
	buf_puts(out, " samples kept, ");
	text_count(out, (double)p->lost, 0);
	buf_puts(out, " lost");
}

static void draw_log(struct tui *t, const struct measurement *s, struct area a)
{
	size_t first = s->log.n > a.rows ? s->log.n - a.rows : 0, i;
	struct buf text = BUF_INIT;

	for (i = first; i < s->log.n; i++) {
		buf_clear(&text);
		tui_name(t, &text, s->log.v[i]);
		screen_words(&t->screen, a.y + (unsigned)(i - first), a.x, a.cols, tui_ink(t, STYLE_DIM),
			     buf_str(&text));
	}
	buf_release(&text);
}

/* One line of the part above the log; the next free line. */
static unsigned put_line(struct tui *t, struct area a, unsigned y, enum style style, const struct buf *text)
{
	if (y < a.rows)
		screen_words(&t->screen, a.y + y, a.x, a.cols, tui_ink(t, style), buf_str(text));
	return y + 1;
}

static void draw(struct tui *t, struct view *v, struct area a)
{
	const struct child *c = t->child;
	const struct measurement *s = c ? c->state : NULL;
	struct buf text = BUF_INIT;
	unsigned y = 0, gap = a.rows >= 12;
	double seconds;

	(void)v;
	if (!s) {
		frame_hint(t, a, "No measurement was started here yet: r on a case in view 1 starts one.");
		return;
	}
	seconds = child_seconds(c);
	run_line(t, &text);
	buf_printf(&text, "   %02d:%02d%s", (int)seconds / 60, (int)seconds % 60, c->ended ? "   ended" :
		   c->asked ? "   stopping" : "");
	y = put_line(t, a, y, STYLE_TITLE, &text);
	if (y < a.rows)
		draw_bar(t, (struct area){ a.y + y, a.x, 1, a.cols },
			 c->ended && !c->status ? 1 : s->last.fraction);
	y += 1 + gap;
	if (s->heard) {
		buf_clear(&text);
		put_figures(&s->last, &text);
		y = put_line(t, a, y, STYLE_TEXT, &text);
		if (y < a.rows && isfinite(s->last.diff_lo))
			draw_interval(t, (struct area){ a.y + y, a.x, 1, a.cols }, &s->last);
		y += isfinite(s->last.diff_lo);
		buf_clear(&text);
		put_goal(&s->last, &text);
		if (text.len)
			y = put_line(t, a, y, STYLE_TEXT, &text);
		buf_clear(&text);
		put_rate(&s->last, &text);
		y = put_line(t, a, y, s->last.lost ? STYLE_WARN : STYLE_TEXT, &text);
	}
	y += gap;
	if (y < a.rows)
		draw_log(t, s, (struct area){ a.y + y, a.x, a.rows - y, a.cols });
	buf_release(&text);
}

const struct view_ops run_ops = {
	.draw = draw,
};
