// SPDX-License-Identifier: GPL-2.0-or-later
#include "proto.h"

#include <endian.h>
#include <string.h>

/* Wire types, https://protobuf.dev/programming-guides/encoding */
enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_LEN = 2,
};

#define VARINT_MAX 10u /* bytes of the longest varint */

static inline size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

static void put(struct text_buf *b, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	if (b->cap - b->len <= VARINT_MAX) {
		text_put(b, (const char *)bytes, put_varint(bytes, v));
		return;
	}
	/* There is room, as nearly always: without a call and a copy. */
	b->len += put_varint((uint8_t *)b->p + b->len, v);
	b->p[b->len] = '\0';
}

static void put_key(struct text_buf *b, uint32_t field, enum wire_type type)
{
	put(b, (uint64_t)field << 3 | type);
}

void proto_uint(struct text_buf *b, uint32_t field, uint64_t v)
{
	put_key(b, field, WIRE_VARINT);
	put(b, v);
}

void proto_fixed64(struct text_buf *b, uint32_t field, uint64_t v)
{
	v = htole64(v);
	put_key(b, field, WIRE_FIXED64);
	text_put(b, (const char *)&v, sizeof(v));
}

void proto_bytes(struct text_buf *b, uint32_t field, const void *p, size_t len)
{
	put_key(b, field, WIRE_LEN);
	put(b, len);
	text_put(b, p, len);
}

void proto_string(struct text_buf *b, uint32_t field, const char *s)
{
	proto_bytes(b, field, s, strlen(s));
}

size_t proto_begin(struct text_buf *b, uint32_t field)
{
	put_key(b, field, WIRE_LEN);
	put(b, 0); /* room for a length of one byte; proto_end() makes more if needed */
	return b->len;
}

void proto_end(struct text_buf *b, size_t begin)
{
	uint8_t length[VARINT_MAX];
	size_t len = b->len - begin, n = put_varint(length, len);

	if (n > 1) {
		text_put(b, (const char *)length, n - 1); /* room for the rest of the length */
		memmove(b->p + begin + n - 1, b->p + begin, len);
	}
	memcpy(b->p + begin - 1, length, n);
}

void proto_packed(struct text_buf *b, uint64_t v)
{
	put(b, v);
}
