// SPDX-License-Identifier: GPL-2.0-or-later
/* environment: what moved on the machine while it measured, as prose; see beside.h. */
#include "profile/environment.h"

#include <stdlib.h>

#include "report/beside.h"
#include "report/para.h"

void beside_environment(const struct report_input *in, struct buf *out)
{
	struct buf text = BUF_INIT;
	struct drift *v;
	size_t n, i;
	char *ascii;

	n = in->environment ? environment_drift(in->environment, &v) : 0;
	for (i = 0; i < n; i++) {
		buf_puts(&text, i ? " " : "While it was measured something moved. ");
		drift_sentence(&v[i], &text);
	}
	if (n) {
		ascii = para_ascii(buf_str(&text));
		buf_puts(out, ascii);
		free(ascii);
		free(v);
	}
	buf_release(&text);
}
