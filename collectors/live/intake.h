/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intake: events of an agent's stream, checked and handed to a live_sink.
 * Private to kab's end of the stream.
 */
#ifndef KAB_COLLECTORS_LIVE_INTAKE_H
#define KAB_COLLECTORS_LIVE_INTAKE_H

#include "base/buf.h"
#include "collectors/live/live.h"
#include "collectors/live/wire.h"

struct intake {
	struct live_sink sink;
	uint32_t n_stacks;		/* announced so far: the agent numbers them without gaps */
	struct ZSTD_DCtx_s *zstd;	/* of the kallsyms in transit, NULL between two */
	struct buf kallsyms;
	bool print;			/* Output goes to our stdout and stderr */
};

void intake_release(struct intake *in);
/*
 * One event that is neither Hello nor Reply. -EPROTO with a sentence when it
 * cannot be what an agent sends; another negative value is the sink's own.
 */
int intake_event(struct intake *in, const Kab__Event *ev, struct err *err);

#endif
