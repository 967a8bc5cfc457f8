// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * summary: what `kab run` prints when it is done. The same figures and words as
 * the table and the mail, from the same comparison.
 */
#include "report/beside.h"
#include "report/para.h"
#include "report/parts.h"
#include "report/report.h"

void report_summary(const struct report_input *in, struct buf *out)
{
	static const struct parts_opts metrics = { .indent = 2, .verdict = true };
	static const struct para_opts plain = { 0 };
	static void (*const prose[])(const struct report_input *in, struct buf *out) = {
		parts_native, parts_state, beside_environment, parts_samples,
	};
	struct buf text = BUF_INIT;
	size_t i;

	parts_result(in, &text);
	para(out, &plain, buf_str(&text));
	if (in->cmp->n_metrics) {
		buf_clear(&text);
		buf_putc(out, '\n');
		parts_metrics_caption(in, &text);
		para(out, &plain, buf_str(&text));
		parts_metrics(in, &metrics, out);
		beside_counted(in, 2, 0, out);
		buf_putc(out, '\n');
	}
	for (i = 0; i < sizeof(prose) / sizeof(prose[0]); i++) {
		buf_clear(&text);
		prose[i](in, &text);
		para(out, &plain, buf_str(&text));
	}
	buf_release(&text);
}
