// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_http2.h"

#include "route_parsers.h"
#include "route_writer.h"

/* By their numbers: a frame's flags that have a meaning, and which streams it may be of. */
static const struct {
	uint8_t flags;
	bool of_stream, of_connection;
} frames[] = {
	[0] = { 0x09, true, false }, /* DATA */
	[1] = { 0x2d, true, false }, /* HEADERS */
	[2] = { 0x00, true, false }, /* PRIORITY */
	[3] = { 0x00, true, false }, /* RST_STREAM */
	[4] = { 0x01, false, true }, /* SETTINGS */
	[6] = { 0x01, false, true }, /* PING */
	[7] = { 0x00, false, true }, /* GOAWAY */
	[8] = { 0x00, true, true },  /* WINDOW_UPDATE */
	[9] = { 0x04, true, false }, /* CONTINUATION */
};

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define HEADERS 1
#define FRAME_HEADER 9
#define FRAME_MAX (1u << 14) /* unless the server allows more */

#define END_HEADERS 0x04
#define PADDED 0x08
#define PRIORITY 0x20
#define PRIORITY_BYTES 5

struct frame {
	uint64_t type, flags;
	struct bytes content;
	uint64_t missing; /* bytes at its end */
};

/* Takes a frame, of which the end may be missing. */
static bool take_frame(struct bytes *b, struct frame *f)
{
	uint64_t length, stream;

	if (!take_big_endian(b, 3, &length) || length > FRAME_MAX ||
	    !take_big_endian(b, 1, &f->type) || f->type >= ARRAY_SIZE(frames) ||
	    !take_big_endian(b, 1, &f->flags) || f->flags & ~(uint64_t)frames[f->type].flags ||
	    !take_big_endian(b, 4, &stream) || stream >> 31)
		return false;
	f->missing = left(b) < length ? length - left(b) : 0;
	f->content = (struct bytes) { b->at, b->at + (length - f->missing) };
	b->at = f->content.end;
	/* Clients have the odd ones. */
	return stream ? frames[f->type].of_stream && stream & 1 : frames[f->type].of_connection;
}

/* The block of a frame of headers, or its beginning. False: it can be none. */
static bool find_block(const struct frame *f, struct bytes *block)
{
	uint64_t padding = 0, before = f->flags & PRIORITY ? PRIORITY_BYTES : 0;

	*block = f->content;
	if (f->flags & PADDED && !take_big_endian(block, 1, &padding))
		return f->missing;
	if (f->missing)
		padding = 0;
	if (left(block) < before + padding) {
		block->at = block->end;
		return f->missing;
	}
	block->at += before;
	block->end -= padding;
	return true;
}

/* What the streams are that a request begins. */
struct streams {
	bool is_any, is_unknown, is_several;
	struct hpack_asked asked;
};

/* A frame of headers begins a stream, or ends one. */
static bool see_headers(struct hpack *h, const struct frame *f, struct streams *streams)
{
	bool is_whole = !f->missing && f->flags & END_HEADERS;
	struct hpack_asked asked;
	struct bytes block;

	streams->is_any = true;
	if (!find_block(f, &block))
		return false;
	/* Of a block that is cut it is known what it begins with. */
	if (!route_hpack_decode(h, block, &asked) && is_whole)
		return false;
	h->is_lost |= !is_whole;
	if (!asked.has_path && !h->is_lost)
		return true;
	if (!*asked.path || !*asked.method)
		streams->is_unknown = true;
	else if (!*streams->asked.path)
		streams->asked = asked;
	else if (strcmp(streams->asked.path, asked.path) != 0 ||
		 strcmp(streams->asked.method, asked.method) != 0)
		streams->is_several = true;
	return true;
}

/* Frames of which nothing before is known. */
static bool see_frames(struct bytes b, const struct route_request *request, struct streams *streams)
{
	struct hpack unknown = { .is_lost = true };
	struct frame f = { 0 };

	while (left(&b) && (left(&b) >= FRAME_HEADER || !is_cut(request)))
		if (!take_frame(&b, &f) ||
		    (f.type == HEADERS && !see_headers(&unknown, &f, streams)))
			return false;
	return true;
}

static void put_streams(struct route *r, const struct streams *streams)
{
	bool is_grpc = streams->asked.is_grpc && !streams->is_unknown && !streams->is_several;
	struct route_writer w = route_begin(r, is_grpc ? ROUTE_GRPC : ROUTE_HTTP2, false);

	if (!streams->is_any) {
		route_put_text(&w, "[HTTP/2]");
	} else if (streams->is_unknown || !*streams->asked.path) {
		route_put_text(&w, "[HTTP/2 stream]");
	} else if (streams->is_several) {
		route_put_text(&w, "[HTTP/2 streams]");
	} else {
		route_put_text(&w, streams->asked.method);
		route_put(&w, ' ');
		for (const char *p = streams->asked.path; *p; p++)
			route_put(&w, (uint8_t)*p);
	}
}

void route_http2_next(struct hpack *h, const struct http2_headers *headers, struct route *r)
{
	struct streams streams = { 0 };
	struct frame f = {
		.type = HEADERS,
		.flags = headers->flags,
		.content = { headers->bytes, headers->bytes + headers->n },
		.missing = headers->is_cut,
	};

	if (!see_headers(h, &f, &streams)) {
		h->is_lost = true;
		streams = (struct streams) { .is_any = true };
	}
	put_streams(r, &streams);
}

bool route_parse_http2(struct route *r, const struct route_request *request)
{
	struct bytes b = all_of(request);
	bool begins = take_text(&b, PREFACE), is_sound;
	struct bytes frames_of = b;
	struct streams streams = { 0 };
	struct frame first;

	/* Most requests are none of it, and cost no more than this. */
	if (!begins && !take_frame(&b, &first))
		return false;
	is_sound = see_frames(frames_of, request, &streams);
	put_streams(r, is_sound ? &streams : &(struct streams) { .is_any = false });
	/* Headers that ask for something, with nothing before them, are no other protocol's. */
	r->is_weak = !begins && *r->name == '[';
	return is_sound || begins;
}
