// SPDX-License-Identifier: GPL-2.0-or-later
/* wire: see wire.h. */
#include "collectors/live/wire.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

#define READ_SIZE (256U << 10)

static int pack(struct buf *out, const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);
	uint32_t le = htole32((uint32_t)len);

	if (len > WIRE_FRAME_MAX)
		return -EMSGSIZE;
	buf_add(out, &le, sizeof(le));
	buf_reserve(out, len);
	protobuf_c_message_pack(m, (uint8_t *)out->data + out->len);
	out->len += len;
	out->data[out->len] = '\0';
	return 0;
}

/* The members of a oneof are pointers in a union: any of them sets the one that `body` names. */
int wire_event(struct buf *out, Kab__Event__BodyCase body, void *message)
{
	Kab__Event ev = KAB__EVENT__INIT;

	ev.body_case = body;
	ev.hello = message;
	return pack(out, &ev.base);
}

int wire_request(struct buf *out, uint32_t id, Kab__Request__BodyCase body, void *message)
{
	Kab__Request rq = KAB__REQUEST__INIT;

	rq.id = id;
	rq.body_case = body;
	rq.hello = message;
	return pack(out, &rq.base);
}

void wire_in_release(struct wire_in *in)
{
	buf_release(&in->buf);
	in->pos = 0;
}

/* Moves what is left to the front, so that the buffer stays at one frame and one read. */
static void compact(struct wire_in *in)
{
	size_t left = in->buf.len - in->pos;

	if (!in->pos)
		return;
	memmove(in->buf.data, in->buf.data + in->pos, left + 1);
	in->buf.len = left;
	in->pos = 0;
}

ssize_t wire_read(struct wire_in *in, int fd)
{
	ssize_t n;

	compact(in);
	buf_reserve(&in->buf, READ_SIZE);
	do
		n = read(fd, in->buf.data + in->buf.len, READ_SIZE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->buf.len += (size_t)n;
	in->buf.data[in->buf.len] = '\0';
	return n;
}

void wire_feed(struct wire_in *in, const void *p, size_t n)
{
	compact(in);
	buf_add(&in->buf, p, n);
}

int wire_next(struct wire_in *in, const char *peer, const uint8_t **p, size_t *len, struct err *err)
{
	size_t have = in->buf.len - in->pos;
	uint32_t le;

	if (have < sizeof(le))
		return 0;
	memcpy(&le, in->buf.data + in->pos, sizeof(le));
	*len = le32toh(le);
	if (*len > WIRE_FRAME_MAX)
		return err_add(err, -EPROTO,
			       "What came from %s is not the stream that was expected (a frame of %zu "
			       "bytes, the limit is %u): something else wrote to it, or it is damaged.",
			       peer, *len, WIRE_FRAME_MAX);
	if (have - sizeof(le) < *len)
		return 0;
	*p = (const uint8_t *)in->buf.data + in->pos + sizeof(le);
	in->pos += sizeof(le) + *len;
	return 1;
}
