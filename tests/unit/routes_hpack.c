// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What header blocks of HTTP/2 ask for is what libnghttp2 reads in them, whatever their connection
 * had before. And what requests ask for whose headers refer to others', in whatever order these
 * come.
 */
#include "test.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes/route_http2.h"
#include "routes/route_table.h"
#include "routes/route_writer.h"

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

struct block {
	size_t n;
	uint8_t at[4000];
};

static void put(struct block *b, uint8_t byte)
{
	assert_true(b->n < sizeof(b->at));
	b->at[b->n++] = byte;
}

/* A number whose first byte has so many bits, after the others of that byte. */
static void put_number(struct block *b, uint8_t others, unsigned int bits, uint32_t number)
{
	uint32_t most = (1u << bits) - 1;

	if (number < most) {
		put(b, (uint8_t)(others | number));
		return;
	}
	put(b, (uint8_t)(others | most));
	for (number -= most; number >= 128; number /= 128)
		put(b, (uint8_t)(128 | (number & 127)));
	put(b, (uint8_t)number);
}

static void put_string(struct block *b, const char *text)
{
	put_number(b, 0, 7, (uint32_t)strlen(text));
	for (; *text; text++)
		put(b, (uint8_t)*text);
}

/* Huffman's code of letters that have five bits, and now and then of anything, which may be none.
 */
static void put_code(struct block *b)
{
	uint32_t fives = random_below(24);
	uint64_t bits = 0;
	size_t n = 0;

	if (!random_below(200)) {
		put_number(b, 0x80, 7, 8);
		for (int i = 0; i < 8; i++)
			put(b, (uint8_t)random_below(256));
		return;
	}
	/* The last byte is filled with ones. */
	put_number(b, 0x80, 7, (fives * 5 + 14 + 7) / 8);
	for (uint32_t i = 0; i < fives; i++) {
		bits = bits << 5 | random_below(10);
		for (n += 5; n >= 8; n -= 8)
			put(b, (uint8_t)(bits >> (n - 8)));
	}
	/* "/", which has six bits, and "&", which has eight. */
	bits = bits << 14 | 0x18u << 8 | 0xf8;
	for (n += 14; n >= 8; n -= 8)
		put(b, (uint8_t)(bits >> (n - 8)));
	if (n)
		put(b, (uint8_t)((bits << (8 - n)) | ((1u << (8 - n)) - 1)));
}

static void put_value(struct block *b)
{
	static const char *const texts[] = {
		"/cart", "/users/12345",     "/shop.Cart/AddItem",
		"PUT",	 "DELETE",	     "NONE",
		"",	 "application/grpc", "Bearer 0123456789012345678901234567890123456789"
	};
	char text[700];

	switch (random_below(8)) {
	case 0:
		put_code(b);
		return;
	case 1:
		snprintf(text, sizeof(text), "/orders%0*u", (int)random_below(120),
			 random_below(9));
		put_string(b, text);
		return;
	default:
		put_string(b, texts[random_below(ARRAY_SIZE(texts))]);
	}
}

/* Any header, in any of its forms; `most` is the highest index. */
static void put_header(struct block *b, uint32_t most)
{
	static const char *const names[] = { ":path", ":method",     ":pathx",
					     "x-own", "traceparent", "content-type" };
	uint32_t how = random_below(16), name;

	if (how < 5) {
		put_number(b, 0x80, 7, 1 + random_below(how < 2 ? 7 : most));
		return;
	}
	name = random_below(4) ? 1 + random_below(random_below(2) ? 7 : most) : 0;
	if (how < 10)
		put_number(b, 0x40, 6, name);
	else
		put_number(b, how & 1 ? 0x10 : 0, 4, name);
	if (!name)
		put_string(b, names[random_below(ARRAY_SIZE(names))]);
	put_value(b);
}

static void template_of(enum hpack_name name, const nghttp2_nv *nv, char to[ROUTE_NAME_MAX])
{
	struct bytes value = { nv->value, nv->value + nv->valuelen };
	struct route r;
	struct route_writer w = route_begin(&r, ROUTE_HTTP2, false);

	if (name == HPACK_PATH && peek(&value) == '/')
		route_put_path(&w, value);
	if (name == HPACK_METHOD && route_http_method(value))
		route_put_text(&w, route_http_method(value));
	memcpy(to, r.name, ROUTE_NAME_MAX);
}

/* What libnghttp2 reads. False: it refuses the block. */
static bool judge(nghttp2_hd_inflater *inflater, const struct block *b, struct hpack_asked *is)
{
	const uint8_t *at = b->at;
	int flags = 0;

	*is = (struct hpack_asked) { .has_path = false };
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv nv;
		ssize_t n = nghttp2_hd_inflate_hd2(inflater, &nv, &flags, at,
						   (size_t)(b->at + b->n - at), 1);

		if (n < 0)
			return false;
		at += n;
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT))
			continue;
		if (nv.namelen == 7 && !memcmp(nv.name, ":method", 7))
			template_of(HPACK_METHOD, &nv, is->method);
		if (nv.namelen == 5 && !memcmp(nv.name, ":path", 5)) {
			template_of(HPACK_PATH, &nv, is->path);
			is->has_path = true;
		}
		if (nv.namelen == 12 && !memcmp(nv.name, "content-type", 12) && nv.valuelen >= 16 &&
		    !memcmp(nv.value, "application/grpc", 16))
			is->is_grpc = true;
	}
	nghttp2_hd_inflate_end_headers(inflater);
	return true;
}

/* What must not differ: a path that is kept no longer, as others came after it, may be "". */
static void expect_same(const char *what, const char *is, const char *expected, size_t *unknown)
{
	if (!*is && *expected) {
		++*unknown;
		return;
	}
	if (strcmp(is, expected) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", what, is, expected);
}

TEST(header_blocks_ask_for_what_nghttp2_reads_in_them)
{
	size_t blocks = 0, refused = 0, paths = 0, calls = 0, unknown = 0;

	for (int connection = 0; connection < 300; connection++) {
		struct hpack h = { .is_lost = false };
		nghttp2_hd_inflater *inflater;
		bool is_right = true;

		assert_int_equal(nghttp2_hd_inflate_new(&inflater), 0);
		for (int i = 0; is_right && i < 60; i++) {
			struct hpack_asked asked, expected;
			struct block b = { 0 };
			uint32_t headers = random_below(12);

			if (!random_below(20))
				put_number(&b, 0x20, 5, random_below(HPACK_TABLE_MAX + 1));
			while (headers-- && b.n < 300)
				put_header(&b, (uint32_t)nghttp2_hd_inflate_get_num_table_entries(
						       inflater));
			is_right = judge(inflater, &b, &expected);
			if (!is_right) {
				refused++;
				continue;
			}
			blocks++;
			assert_true(route_hpack_decode(&h, (struct bytes) { b.at, b.at + b.n },
						       &asked));
			assert_int_equal(asked.has_path, expected.has_path);
			paths += asked.has_path;
			assert_true(!asked.is_grpc || expected.is_grpc);
			calls += asked.is_grpc;
			unknown += expected.is_grpc && !asked.is_grpc;
			expect_same("path", asked.path, expected.path, &unknown);
			expect_same("method", asked.method, expected.method, &unknown);
			assert_int_equal(h.bytes,
					 nghttp2_hd_inflate_get_dynamic_table_size(inflater));
		}
		nghttp2_hd_inflate_del(inflater);
	}
	print_message("%zu blocks, %zu with a path, %zu of gRPC, %zu texts not kept; %zu refused\n",
		      blocks, paths, calls, unknown, refused);
	assert_true(blocks > 5000 && paths > 2000 && calls > 200 && unknown < blocks / 20);
}
