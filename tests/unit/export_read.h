/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_read.h - for tests of the exports: runs a format to memory, and reads protobuf and gzip
 * back, field by field. What cannot be read fails the test.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format_table.h"
#include "synth_script.h"

struct bytes {
	uint8_t *p;
	size_t len;
};

/* One field; p and len are those of a length-delimited one. */
struct field {
	uint32_t number, type;
	uint64_t v;
	const uint8_t *p;
	size_t len;
};

/* What the format makes of a trace. To be freed. */
static inline struct bytes trace_exported(const struct trace *t, const struct options *o,
					  const char *format)
{
	size_t len;
	char *text = trace_written(t, o, format, &len);

	return (struct bytes) { (uint8_t *)text, len };
}

static inline struct bytes script_exported(const char *script, const struct options *o,
					   const char *format)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct bytes b;

	trace_choose_frames(t, o->native);
	b = trace_exported(t, o, format);

	trace_close(t);
	synth_free(m);
	return b;
}

/* Unpacks one whole gzip stream, and frees what it was packed in. */
static inline struct bytes unpacked(struct bytes packed)
{
	size_t cap = packed.len * 4 + 4096;
	struct bytes b = { malloc(cap), 0 };
	z_stream z = { .next_in = packed.p, .avail_in = (uInt)packed.len };
	int ret = Z_OK;

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	while (ret == Z_OK) {
		if (b.len == cap) {
			cap *= 2;
			b.p = realloc(b.p, cap);
		}
		assert_non_null(b.p);
		z.next_out = b.p + b.len;
		z.avail_out = (uInt)(cap - b.len);
		ret = inflate(&z, Z_NO_FLUSH);
		b.len = cap - z.avail_out;
	}
	assert_int_equal(ret, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	free(packed.p);
	return b;
}

static inline uint64_t read_varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t byte;

		assert_true(*p < end);
		assert_true(shift < 70);
		byte = *(*p)++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

/* Reads the field at *p. False: there is none any more. */
static inline bool read_field(const uint8_t **p, const uint8_t *end, struct field *f)
{
	uint64_t key;

	if (*p == end)
		return false;
	key = read_varint(p, end);
	*f = (struct field) { .number = (uint32_t)(key >> 3), .type = key & 7 };
	switch (f->type) {
	case 0:
		f->v = read_varint(p, end);
		break;
	case 1:
		assert_true(end - *p >= 8);
		for (int i = 0; i < 8; i++)
			f->v |= (uint64_t) * (*p)++ << (8 * i);
		break;
	case 2:
		f->len = (size_t)read_varint(p, end);
		assert_true((size_t)(end - *p) >= f->len);
		f->p = *p;
		*p += f->len;
		break;
	default:
		fail_msg("wire type %u", f->type);
	}
	return true;
}

/* The n-th (from 0) field of a message with this number; its number is 0 if there is none. */
static inline struct field field_of(const uint8_t *p, size_t len, uint32_t number, size_t n)
{
	const uint8_t *at = p, *end = p + len;
	struct field f;

	while (read_field(&at, end, &f))
		if (f.number == number && !n--)
			return f;
	return (struct field) { 0 };
}
