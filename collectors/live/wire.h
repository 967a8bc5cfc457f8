/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire: framing of the stream between kab and kab-agent, used by both.
 *
 * A frame is a u32 length, little endian, and that many bytes of one protobuf
 * message (wire.proto): Request from kab, Event from the agent. Both peers
 * treat the other as hostile: nothing is allocated by a length that was not
 * checked, and what does not parse ends the stream with a sentence.
 */
#ifndef KAB_COLLECTORS_LIVE_WIRE_H
#define KAB_COLLECTORS_LIVE_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "collectors/live/wire.pb-c.h"

struct err;

#define WIRE_VERSION 4			/* raised when an older peer would misread wire.proto */
#define WIRE_FRAME_MAX (4U << 20)	/* bytes of one message */
#define WIRE_BLOB_MAX (64U << 20)	/* bytes of all Data before a ModuleLoad or Put, and of kallsyms */
#define WIRE_CHUNK (1U << 20)		/* bytes in one Data or Kallsyms */

/* Append one framed message: the member of the oneof that `body` names. -EMSGSIZE: over the limit. */
int wire_event(struct buf *out, Kab__Event__BodyCase body, void *message);
int wire_request(struct buf *out, uint32_t id, Kab__Request__BodyCase body, void *message);

/* What has been read and not yet taken apart. */
struct wire_in {
	struct buf buf;
	size_t pos;		/* of the next frame in buf */
};
#define WIRE_IN_INIT { BUF_INIT, 0 }
void wire_in_release(struct wire_in *in);

/* One read(2): bytes read, 0 at the end of the stream, -EAGAIN, or another negative errno. */
ssize_t wire_read(struct wire_in *in, int fd);
/* Takes bytes from elsewhere. */
void wire_feed(struct wire_in *in, const void *p, size_t n);
/*
 * The next whole frame: 1 and its bytes (borrowed until the next wire_read or
 * wire_feed), 0 when more must be read, -EPROTO with a sentence when this is no
 * such stream. `peer` names who sent it.
 */
int wire_next(struct wire_in *in, const char *peer, const uint8_t **p, size_t *len, struct err *err);

#endif
