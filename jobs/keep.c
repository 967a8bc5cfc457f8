// SPDX-License-Identifier: GPL-2.0-or-later
/* keep: see keep.h. Shared by `run` and `record`. */
#include "jobs/keep.h"

#include "base/buf.h"
#include "collectors/live/live.h"
#include "jobs/trace.h"
#include "profile/environment.h"
#include "store/store.h"

/*
 * With -icount shift=0 one instruction of the guest's CPU is one nanosecond of
 * its clock: of all code there, kernel, user and interrupts. While the CPU
 * idles the clock moves on to the next timer; a workload that sleeps counts that.
 */
#define INSTRUCTION_CLOCK "instruction clock"

int keep_figures(struct store *s, int64_t run, const struct live_result *r, bool exact, struct trace *t,
		 struct err *err)
{
	int rc = 0;
	size_t i;

	for (i = 0; !rc && i < r->n_metrics; i++)
		rc = store_metric_add(s, run, r->metrics[i].name, r->metrics[i].unit, r->metrics[i].value,
				      err);
	if (!rc && exact && r->n_counters)
		rc = store_counter_add(s, run, INSTRUCTION_CLOCK, "instructions", (double)r->wall_ns, 1, err);
	for (i = 0; !rc && i < r->n_counters; i++)
		rc = store_counter_add(s, run, r->counters[i].name, r->counters[i].unit, r->counters[i].value,
				       r->counters[i].running, err);
	return !rc && t ? trace_keep(t, s, run, err) : rc;
}

int keep_environment(struct store *s, int64_t run, const char *kind, struct live *l, struct err *err)
{
	struct machine m = { 0 };
	struct buf text = BUF_INIT;
	int rc = live_moving(l, &m, err);

	environment_text(&m, &text);
	if (!rc)
		rc = store_text_add(s, run, kind, buf_str(&text), err);
	buf_release(&text);
	machine_release(&m);
	return rc;
}
