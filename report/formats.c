// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * formats: the table of whole reports. A new format is one row here and one
 * function that takes a report_input and appends to a buffer.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "report/csv.h"
#include "report/folded.h"
#include "report/mail.h"
#include "report/report.h"

static int json_write(const struct report_input *in, struct buf *out, struct err *err)
{
	(void)err;
	report_json(in, out);
	return 0;
}

/* As it was stored; text of somebody else's file comes line by line and escaped. */
static int job_write(const struct report_input *in, struct buf *out, struct err *err)
{
	const char *p = in->exp ? in->exp->job : NULL;

	if (!p || !*p)
		return err_add(err, -ENODATA, "No job file was kept with it: it is no experiment, or an older kab measured it.");
	for (; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		text_escape(out, p, strcspn(p, "\n"), false);
		buf_putc(out, '\n');
	}
	return 0;
}

const struct report_format report_formats[] = {
	{ "mail", "text for a kernel list: result, profiles, how it was measured", ".txt", mail_write },
	{ "json", "every figure with unit, n and interval, for scripts", ".json", json_write },
	{ "csv", "metrics and functions, one row each", ".csv", csv_write },
	{ "folded", "stacks of both sides, each below a frame with its name", ".folded", folded_write },
	{ "difffolded", "stacks, before and after in two columns, for flamegraph.pl", ".folded",
	  difffolded_write },
	{ "job", "the settings as a job file, for kab run FILE.yaml", ".yaml", job_write },
	{ NULL, NULL, NULL, NULL },
};
