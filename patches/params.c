// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * params: what a user sets of a case's module, made the text that finit_module(2) takes.
 *
 * The kernel splits that text at blanks and knows quotes, so a value has neither; which names there are
 * says the case. Whether a value is right, the module says when it is loaded.
 */
#include "patches/case.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

#define VALUE_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:"

static const struct case_param *find(const struct patch_case *c, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < c->n_params; i++)
		if (strlen(c->params[i].name) == len && !memcmp(c->params[i].name, name, len))
			return &c->params[i];
	return NULL;
}

static int unknown(const struct patch_case *c, const char *name, size_t len, struct err *err)
{
	struct buf names = BUF_INIT;
	size_t i;
	int rc;

	for (i = 0; i < c->n_params; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", c->params[i].name);
	if (names.len)
		rc = err_add(err, -EINVAL, "The case %s has no parameter \"%.*s\"; it has: %s.", c->facts.name,
			     (int)(len < 60 ? len : 60), name, names.data);
	else
		rc = err_add(err, -EINVAL, "The case %s has no parameters; run it without --param.", c->facts.name);
	buf_release(&names);
	return rc;
}

int case_params(const struct patch_case *c, const char *const *given, struct buf *out, struct err *err)
{
	for (; given && *given; given++) {
		size_t len = strcspn(*given, "=");
		const char *value = *given + len + ((*given)[len] == '=');

		if (!find(c, *given, len))
			return unknown(c, *given, len, err);
		if (!*value || value[strspn(value, VALUE_CHARS)])
			return err_add(err, -EINVAL, "The value of the parameter %.*s must be letters, digits and -+.,: "
				       "only.", (int)len, *given);
		buf_printf(out, "%s%s", out->len ? " " : "", *given);
	}
	return 0;
}
