// SPDX-License-Identifier: GPL-2.0-or-later
/* The writers below the binary exports: protobuf's wire format, gzip, and names of processes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export_read.h"
#include "formats/gzip.h"
#include "timeline/processes.h"
#include "formats/proto.h"

static void is(const struct text_buf *b, const char *expected, size_t len)
{
	assert_int_equal(b->len, len);
	assert_memory_equal(b->p, expected, len);
}

#define IS(b, expected) is(b, expected, sizeof(expected) - 1)

/* The examples of https://protobuf.dev/programming-guides/encoding */
static void numbers_strings_and_messages_have_the_published_form(void **state)
{
	struct text_buf b = { 0 };
	size_t begin;

	(void)state;
	proto_uint(&b, 1, 150);
	IS(&b, "\x08\x96\x01");
	b.len = 0;
	proto_string(&b, 2, "testing");
	IS(&b, "\x12\x07testing");
	b.len = 0;
	begin = proto_begin(&b, 3);
	proto_uint(&b, 1, 150);
	proto_end(&b, begin);
	IS(&b, "\x1a\x03\x08\x96\x01");
	b.len = 0;
	begin = proto_begin(&b, 6);
	proto_packed(&b, 3);
	proto_packed(&b, 270);
	proto_packed(&b, 86942);
	proto_end(&b, begin);
	IS(&b, "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
	b.len = 0;
	proto_uint(&b, 1, (uint64_t)-2);
	IS(&b, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	b.len = 0;
	proto_fixed64(&b, 47, 0x0102030405060708);
	IS(&b, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
	b.len = 0;
	proto_bytes(&b, 1, NULL, 0);
	IS(&b, "\x0a\x00");
	text_free(&b);
}

/* A length of more than one byte is put in afterwards; so is that of the message around it. */
static void long_messages_inside_others_keep_their_bytes(void **state)
{
	static const size_t lengths[] = { 0, 1, 125, 126, 127, 128, 129, 16383, 16384, 300000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct text_buf b = { 0 };
		char *s = malloc(lengths[i] + 1);
		const uint8_t *p;
		struct field f;
		size_t outer, inner;

		assert_non_null(s);
		for (size_t k = 0; k < lengths[i]; k++)
			s[k] = (char)('a' + k % 26);
		s[lengths[i]] = 0;
		outer = proto_begin(&b, 5);
		proto_uint(&b, 1, 7);
		inner = proto_begin(&b, 2);
		proto_string(&b, 3, s);
		proto_end(&b, inner);
		proto_uint(&b, 4, 8);
		proto_end(&b, outer);
		p = (const uint8_t *)b.p;
		assert_true(read_field(&p, (const uint8_t *)b.p + b.len, &f));
		assert_ptr_equal(p, b.p + b.len);
		assert_int_equal(f.number, 5);
		assert_int_equal(field_of(f.p, f.len, 1, 0).v, 7);
		assert_int_equal(field_of(f.p, f.len, 4, 0).v, 8);
		f = field_of(f.p, f.len, 2, 0);
		f = field_of(f.p, f.len, 3, 0);
		assert_int_equal(f.len, lengths[i]);
		assert_memory_equal(f.p, s, f.len);
		free(s);
		text_free(&b);
	}
}

static struct bytes packed(const uint8_t *p, size_t len, size_t piece)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct gzip *g = gzip_new(out);

	for (size_t at = 0; at < len; at += piece)
		gzip_write(g, p + at, len - at < piece ? len - at : piece);
	gzip_finish(g);
	gzip_free(g);
	fclose(out);
	return (struct bytes) { (uint8_t *)text, n };
}

static void what_was_packed_comes_back_the_same(void **state)
{
	static uint8_t p[1000000];
	uint32_t random = 1;

	(void)state;
	/* Half of it random, so that a lot comes out as well. */
	for (size_t i = 0; i < sizeof(p); i++) {
		random = random * 1664525 + 1013904223;
		p[i] = i & 1 ? (uint8_t)(random >> 24) : (uint8_t)i;
	}
	for (size_t len = 0; len <= sizeof(p); len = len * 10 + 1) {
		struct bytes b = unpacked(packed(p, len, 70000));

		assert_int_equal(b.len, len);
		assert_memory_equal(b.p, p, len);
		free(b.p);
	}
}

/* RFC 1952: bytes 4 to 7 are the time, flag 8 is a name. Else two runs would differ. */
static void a_packed_file_tells_neither_time_nor_name(void **state)
{
	struct bytes b = packed((const uint8_t *)"x", 1, 1);

	(void)state;
	assert_memory_equal(b.p, "\x1f\x8b\x08\x00\x00\x00\x00\x00", 8);
	free(b.p);
}

/* B, seen before A, is a thread of A's process; C is its own; E's leader is not seen. */
static void a_process_is_called_what_its_leader_was_called_last(void **state)
{
	static const char script[] = "thread B S/A wait\n"
				     "thread A S wait\n"
				     "thread C S wait\n"
				     "thread E S/Z wait\n"
				     "100 c0 - R > A\n"
				     "200 c0 A renames-to new\n"
				     "300 c0 A S > - wait\n"
				     "end 1000\n";
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct processes *p;
	unsigned int seen = 0;

	(void)state;
	assert_int_equal(timelines_new(&tl, t), 0);
	processes_new(&p, tl);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const char *name = trace_string(t, process_name(p, i));
		uint32_t tid = timelines_thread(tl, i)->tid;

		if (tid > 105)
			continue; /* the script takes a state's letter for a thread's, too */
		seen |= 1u << (tid - 101);
		assert_string_equal(name, tid == 103 ? "C" : tid == 105 ? "" : "new");
		assert_int_equal(process_leader(p, i) == THREAD_NONE, tid == 105);
	}
	assert_int_equal(seen, 1 | 2 | 4 | 16);
	processes_free(p);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_strings_and_messages_have_the_published_form),
		cmocka_unit_test(long_messages_inside_others_keep_their_bytes),
		cmocka_unit_test(what_was_packed_comes_back_the_same),
		cmocka_unit_test(a_packed_file_tells_neither_time_nor_name),
		cmocka_unit_test(a_process_is_called_what_its_leader_was_called_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
