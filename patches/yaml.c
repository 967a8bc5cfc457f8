// SPDX-License-Identifier: GPL-2.0-or-later
/* yaml: see yaml.h. */
#include "patches/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

/* Keeps what libcyaml says of an error: the complaint, then where it stands, one a line. */
static void complain(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	struct buf *said = ctx;
	char text[256], *p = text;

	if (level < CYAML_LOG_ERROR || said->len > 400 || vsnprintf(text, sizeof(text), fmt, args) < 0)
		return;
	if (!strncmp(p, "Load: ", 6))
		p += 6;
	p += strspn(p, " ");
	p[strcspn(p, "\n")] = '\0';
	if (!*p || !strncmp(p, "Backtrace", 9))
		return;
	if (said->len)
		buf_puts(said, ", ");
	text_escape(said, p, strlen(p), false);
}

cyaml_config_t yaml_config(struct buf *said)
{
	return (cyaml_config_t){
		.log_fn = complain, .log_ctx = said, .log_level = CYAML_LOG_ERROR, .mem_fn = cyaml_mem,
		.flags = CYAML_CFG_NO_ALIAS,	/* with aliases, little text can become a lot of data */
	};
}
