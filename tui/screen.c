// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * screen: see screen.h.
 *
 * Signals that a program can answer in its own time arrive through a signalfd,
 * so nothing but the faults (SIGSEGV and its kin) has a handler.
 */
#include "tui/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

/*
 * The room's one mutable global: what the fault handler must know to give the
 * terminal back, since a handler gets no argument. Written by screen_open()
 * before the handlers are set, only read by fault().
 */
static struct {
	struct termios modes;		/* before curses touched them */
	char bytes[512];		/* leave the alternate screen, show the cursor, default colours */
	size_t n;
	const char *farewell;
} rescue;

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static const int answered[] = { SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Only async-signal-safe calls here. SA_RESETHAND: the signal itself ends the program afterwards. */
static void fault(int sig)
{
	ssize_t n = write(STDOUT_FILENO, rescue.bytes, rescue.n);

	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
	if (n >= 0 && rescue.farewell)
		n = write(STDERR_FILENO, rescue.farewell, strlen(rescue.farewell));
	if (n >= 0)
		n = write(STDERR_FILENO, "\n", 1);
	raise(sig);
}

static void keep_bytes(const char *capability)
{
	const char *s = tigetstr(capability);
	size_t len = s && s != (const char *)-1 ? strlen(s) : 0;

	if (rescue.n + len <= sizeof(rescue.bytes)) {
		memcpy(rescue.bytes + rescue.n, s, len);
		rescue.n += len;
	}
}

static void set_rescue(const char *farewell)
{
	static const char no_mouse[] = "\033[?1000l\033[?1006l";
	struct sigaction sa = { .sa_handler = fault, .sa_flags = SA_RESETHAND };
	size_t i;

	rescue.n = 0;
	rescue.farewell = farewell;
	keep_bytes("sgr0");
	keep_bytes("cnorm");
	keep_bytes("rmkx");
	if (tigetstr("kmous") && tigetstr("kmous") != (char *)-1) {
		memcpy(rescue.bytes + rescue.n, no_mouse, sizeof(no_mouse) - 1);
		rescue.n += sizeof(no_mouse) - 1;
	}
	keep_bytes("rmcup");
	for (i = 0; i < COUNT_OF(faults); i++)
		sigaction(faults[i], &sa, NULL);
}

static void reset_faults(void)
{
	size_t i;

	for (i = 0; i < COUNT_OF(faults); i++)
		signal(faults[i], SIG_DFL);
}

static void answered_set(sigset_t *set)
{
	size_t i;

	sigemptyset(set);
	for (i = 0; i < COUNT_OF(answered); i++)
		sigaddset(set, answered[i]);
}

void screen_unblock_signals(void)
{
	sigset_t set;

	answered_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int count_colours(void)
{
	const char *no = getenv("NO_COLOR");

	if ((no && *no) || !has_colors() || start_color() == ERR)
		return 0;
	use_default_colors();
	return COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : COLORS >= 8 ? 8 : 0;
}

static void take_size(struct screen *s)
{
	s->rows = LINES > 0 ? (unsigned)LINES : 1;
	s->cols = COLS > 0 ? (unsigned)COLS : 1;
}

int screen_open(struct screen *s, const char *farewell, struct err *err)
{
	const char *term = getenv("TERM");
	sigset_t set;
	int why = 0;

	memset(s, 0, sizeof(*s));
	s->signal_fd = -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_add(err, -ENOTTY, "The workbench needs a terminal on standard input and output; "
			       "in a script use `kab list`, `kab compare` or `kab report`.");
	if (setupterm(term, STDOUT_FILENO, &why) == ERR || tigetstr("cup") == (char *)-1 || !tigetstr("cup"))
		return err_add(err, -ENOTTY, "The terminal type \"%s\" (TERM) is not known here or cannot place its "
			       "cursor; set TERM to one that is, for example TERM=xterm-256color.", term ? term : "");
	del_curterm(cur_term);		/* it was for the question; newterm() makes its own */
	tcgetattr(STDIN_FILENO, &rescue.modes);
	answered_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0) {
		screen_unblock_signals();
		return err_sys(err, errno, "Cannot receive signals through a descriptor");
	}
	s->handle = newterm(NULL, stdout, stdin);
	if (!s->handle) {
		close(s->signal_fd);
		screen_unblock_signals();
		return err_add(err, -ENOTTY, "The terminal type \"%s\" (TERM) cannot be driven; set TERM to one that "
			       "can, for example TERM=xterm-256color.", term ? term : "");
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	leaveok(stdscr, FALSE);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	s->colours = count_colours();
	s->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	take_size(s);
	set_rescue(farewell);
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s->handle)
		return;
	endwin();
	delscreen(s->handle);
	s->handle = NULL;
	reset_faults();
	close(s->signal_fd);
	screen_unblock_signals();
}

unsigned screen_signals(struct screen *s)
{
	struct signalfd_siginfo info;
	unsigned bits = 0;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
			bits |= SIGNAL_RESIZE;
			break;
		case SIGTSTP:
			bits |= SIGNAL_STOP;
			break;
		case SIGINT:
			bits |= SIGNAL_INTERRUPT;
			break;
		default:
			bits |= SIGNAL_END;
			s->end_signal = (int)info.ssi_signo;
		}
	}
	return bits;
}

void screen_resized(struct screen *s)
{
	struct winsize ws;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
		resize_term(ws.ws_row, ws.ws_col);
	take_size(s);
	clearok(curscr, TRUE);
}

void screen_suspend(struct screen *s)
{
	sigset_t stop, old;

	def_prog_mode();
	endwin();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	/* Its default action, for the whole group, as a shell expects; nothing happens without a shell. */
	signal(SIGTSTP, SIG_DFL);
	kill(0, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	reset_prog_mode();
	screen_resized(s);
	refresh();
}

static int function_key(int code)
{
	static const struct { int curses, ours; } keys[] = {
		{ KEY_UP, K_UP }, { KEY_DOWN, K_DOWN }, { KEY_LEFT, K_LEFT }, { KEY_RIGHT, K_RIGHT },
		{ KEY_PPAGE, K_PAGE_UP }, { KEY_NPAGE, K_PAGE_DOWN }, { KEY_HOME, K_HOME }, { KEY_END, K_END },
		{ KEY_BACKSPACE, K_BACKSPACE }, { KEY_BTAB, K_BACKTAB }, { KEY_ENTER, K_ENTER },
	};
	size_t i;

	for (i = 0; i < COUNT_OF(keys); i++)
		if (keys[i].curses == code)
			return keys[i].ours;
	return K_OTHER;
}

static struct press mouse_press(void)
{
	struct press p = { .key = K_OTHER };
	MEVENT e;

	if (getmouse(&e) != OK || e.x < 0 || e.y < 0)
		return p;
	p.y = (unsigned)e.y;
	p.x = (unsigned)e.x;
	p.key = e.bstate & BUTTON1_PRESSED ? K_CLICK : e.bstate & BUTTON4_PRESSED ? K_WHEEL_UP :
		e.bstate & BUTTON5_PRESSED ? K_WHEEL_DOWN : K_OTHER;
	return p;
}

struct press screen_press(struct screen *s)
{
	struct press p = { .key = K_NONE };
	wint_t c = 0;
	int r = get_wch(&c);

	if (r == KEY_CODE_YES) {
		if (c == KEY_MOUSE)
			return mouse_press();
		if (c == KEY_RESIZE)
			take_size(s);
		p.key = function_key((int)c);
	} else if (r == OK) {
		p.key = c == '\r' ? K_ENTER : c == 127 || c == 8 ? K_BACKSPACE : c ? (int)c : K_OTHER;
	}
	return p;
}

void screen_begin(struct screen *s)
{
	(void)s;
	attr_set(0, 0, NULL);
	erase();
}

void screen_repaint(struct screen *s)
{
	(void)s;
	clearok(curscr, TRUE);
}

void screen_flush(struct screen *s)
{
	(void)s;
	refresh();
}

void screen_cursor(struct screen *s, int y, int x)
{
	if (y < 0 || (unsigned)y >= s->rows || (unsigned)x >= s->cols) {
		curs_set(0);
		return;
	}
	curs_set(1);
	move(y, x);
}

static void set_ink(const struct screen *s, struct ink ink)
{
	attr_t a = A_NORMAL;
	int pair = 0;

	if (ink.attr & INK_BOLD)
		a |= A_BOLD;
	if (ink.attr & INK_REVERSE)
		a |= A_REVERSE;
	if (ink.attr & INK_UNDERLINE)
		a |= A_UNDERLINE;
	if (ink.attr & INK_DIM)
		a |= A_DIM;
	if (s->colours && (ink.fg != INK_DEFAULT || ink.bg != INK_DEFAULT))
		pair = alloc_pair(ink.fg, ink.bg);
	attr_set(a, 0, pair > 0 ? &pair : NULL);
}

/*
 * Cells taken. Widths are asked of the C library here, since curses does so
 * too: text that it counts otherwise would wrap onto the next line.
 */
static unsigned put_clipped(unsigned y, unsigned x, unsigned cells, const char *text)
{
	size_t len = strlen(text);
	mbstate_t state = { 0 };
	unsigned used = 0;

	move((int)y, (int)x);
	while (len) {
		wchar_t c[2] = { 0, 0 };
		size_t n = mbrtowc(c, text, len, &state);
		int w;

		if (n == (size_t)-1 || n == (size_t)-2 || !n) {
			memset(&state, 0, sizeof(state));
			n = 1;
			c[0] = L'?';
		}
		w = wcwidth(c[0]);
		if (w < 0) {
			c[0] = L'?';
			w = 1;
		}
		if (used + (unsigned)w > cells)
			break;
		if (w || used)
			addnwstr(c, 1);
		used += (unsigned)w;
		text += n;
		len -= n;
	}
	return used;
}

unsigned screen_words(struct screen *s, unsigned y, unsigned x, unsigned cells, struct ink ink, const char *text)
{
	struct buf fit = BUF_INIT;
	unsigned used;

	if (y >= s->rows || x >= s->cols || !cells)
		return 0;
	if (cells > s->cols - x)
		cells = s->cols - x;
	text_fit(&fit, text, cells, false);
	set_ink(s, ink);
	used = put_clipped(y, x, cells, buf_str(&fit));
	buf_release(&fit);
	return used;
}

void screen_text(struct screen *s, unsigned y, unsigned x, unsigned cells, struct ink ink, const char *text)
{
	unsigned used = screen_words(s, y, x, cells, ink, text);

	if (y >= s->rows || x >= s->cols)
		return;
	if (cells > s->cols - x)
		cells = s->cols - x;
	if (used < cells) {
		set_ink(s, ink);
		for (move((int)y, (int)(x + used)); used < cells; used++)
			addch(' ');
	}
}

void screen_part(struct screen *s, unsigned y, unsigned x, unsigned eighths, short left, short right)
{
	static const wchar_t blocks[] = L" ▏▎▍▌▋▊▉█";
	wchar_t c[2] = { blocks[eighths > 8 ? 8 : eighths], 0 };
	struct ink ink = { left, right, 0 };

	if (y >= s->rows || x >= s->cols)
		return;
	/* The terminal's own background cannot be named as a foreground: reversed, it can. */
	if (left == INK_DEFAULT && right == INK_DEFAULT)
		c[0] = L' ';
	else if (left == INK_DEFAULT)
		ink = (struct ink){ right, INK_DEFAULT, INK_REVERSE };
	set_ink(s, ink);
	move((int)y, (int)x);
	addnwstr(c, 1);
}
