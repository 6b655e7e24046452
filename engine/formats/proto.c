// SPDX-License-Identifier: GPL-2.0-or-later
#include "proto.h"

#include <stdlib.h>
#include <string.h>

/* Wire types, https://protobuf.dev/programming-guides/encoding */
enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_LEN = 2,
};

#define VARINT_MAX 10u /* bytes of the longest varint */

void proto_free(struct proto *b)
{
	free(b->p);
	*b = (struct proto) { 0 };
}

static bool grow(struct proto *b, size_t len)
{
	size_t want = b->cap ? b->cap * 2 : 256;
	uint8_t *p;

	if (b->failed)
		return false;
	if (want < b->len + len)
		want = b->len + len;
	p = want > SIZE_MAX / 4 ? NULL : realloc(b->p, want);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = want;
	return true;
}

/* Makes room for len more bytes. False: out of memory. */
static inline bool reserve(struct proto *b, size_t len)
{
	return (len <= b->cap - b->len && !b->failed) || grow(b, len);
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

static void put(struct proto *b, uint64_t v)
{
	if (!reserve(b, VARINT_MAX))
		return;
	if (v < 0x80)
		b->p[b->len++] = (uint8_t)v;
	else
		b->len += put_varint(b->p + b->len, v);
}

static void put_key(struct proto *b, uint32_t field, enum wire_type type)
{
	put(b, (uint64_t)field << 3 | type);
}

void proto_uint(struct proto *b, uint32_t field, uint64_t v)
{
	put_key(b, field, WIRE_VARINT);
	put(b, v);
}

void proto_fixed64(struct proto *b, uint32_t field, uint64_t v)
{
	put_key(b, field, WIRE_FIXED64);
	if (!reserve(b, 8))
		return;
	for (int i = 0; i < 8; i++)
		b->p[b->len++] = (uint8_t)(v >> (8 * i));
}

void proto_bytes(struct proto *b, uint32_t field, const void *p, size_t len)
{
	put_key(b, field, WIRE_LEN);
	put(b, len);
	if (!len || !reserve(b, len))
		return;
	memcpy(b->p + b->len, p, len);
	b->len += len;
}

void proto_string(struct proto *b, uint32_t field, const char *s)
{
	proto_bytes(b, field, s, strlen(s));
}

size_t proto_begin(struct proto *b, uint32_t field)
{
	put_key(b, field, WIRE_LEN);
	put(b, 0); /* room for a length of one byte; proto_end() makes more if needed */
	return b->len;
}

void proto_end(struct proto *b, size_t begin)
{
	uint8_t length[VARINT_MAX];
	size_t n, len;

	if (b->failed)
		return;
	len = b->len - begin;
	n = put_varint(length, len);
	if (n > 1) {
		if (!reserve(b, n - 1))
			return;
		memmove(b->p + begin + n - 1, b->p + begin, len);
		b->len += n - 1;
	}
	memcpy(b->p + begin - 1, length, n);
}

void proto_packed(struct proto *b, uint64_t v)
{
	put(b, v);
}
