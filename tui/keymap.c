// SPDX-License-Identifier: GPL-2.0-or-later
/* keymap: see keymap.h. */
#include "tui/keymap.h"

#include <string.h>

#include "tui/screen.h"

#define IN(view) (1u << VIEW_##view)
#define IN_ALL ((1u << VIEW_COUNT) - 1)
#define IN_TABLES (IN_ALL & ~IN(FLAME) & ~IN(RUN))
#define IN_PROFILES (IN(COMPARE) | IN(FLAME) | IN(TREE) | IN(FLAT))

const struct view_row view_rows[VIEW_COUNT] = {
#define VIEW(id, name, what, needs) { #name, what, NEEDS_##needs },
#include "tui/views.def"
#undef VIEW
};

const struct request_row request_rows[REQ_COUNT] = {
#define REQ(id, keys, where, needs, label, help) { keys, label, help, where, NEEDS_##needs },
#include "tui/requests.def"
#undef REQ
};

static const struct { const char *name; int key; } names[] = {
	{ "Up", K_UP }, { "Down", K_DOWN }, { "Left", K_LEFT }, { "Right", K_RIGHT },
	{ "PageUp", K_PAGE_UP }, { "PageDown", K_PAGE_DOWN }, { "Home", K_HOME }, { "End", K_END },
	{ "Enter", K_ENTER }, { "Tab", K_TAB }, { "BackTab", K_BACKTAB }, { "Backspace", K_BACKSPACE },
	{ "Space", K_SPACE }, { "Escape", K_ESCAPE },
};

int key_parse(const char *name, size_t *len)
{
	size_t i;

	*len = strcspn(name, " ");
	if (*len == 1)
		return (unsigned char)*name;
	if (*len == 6 && !strncmp(name, "Ctrl-", 5))
		return name[5] & 0x1f;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == *len && !strncmp(names[i].name, name, *len))
			return names[i].key;
	return K_NONE;
}

bool request_has_key(enum request r, int key)
{
	const char *p = request_rows[r].keys;
	size_t len;

	while (*p) {
		if (key_parse(p, &len) == key)
			return true;
		p += len;
		p += strspn(p, " ");
	}
	return false;
}

enum request keymap_find(enum view_id view, int key)
{
	int r;

	for (r = 0; r < REQ_COUNT; r++)
		if (request_rows[r].where & 1u << view && request_has_key((enum request)r, key))
			return (enum request)r;
	return REQ_NONE;
}
