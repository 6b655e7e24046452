// SPDX-License-Identifier: GPL-2.0-or-later
/* What the encoder keeps in memory. */
#include "test.h"

#include <malloc.h>
#include <stdio.h>

#include "common/encoder.h"

static struct encoder *new_encoder(encoder_sink sink, void *ctx)
{
	struct encoder *e;

	assert_int_equal(encoder_new(&e, sink, ctx), 0);
	return e;
}

static int drop(void *ctx, const void *block, size_t len)
{
	(void)ctx;
	(void)block;
	return len ? 0 : -1;
}

/* A stack of 100 frames, another one for each i. */
static uint32_t stack(struct encoder *e, uint32_t i)
{
	uint32_t frames[100];

	for (uint32_t k = 0; k < 100; k++)
		frames[k] = 1 + (i >> k % 20 & 1) + 2 * k;
	return encoder_stack(e, frames, 100, 0);
}

/* AddressSanitizer's malloc() gives no figures. */
#if defined(__SANITIZE_ADDRESS__)
#define FIGURES 0u
#else
#define FIGURES 1u
#endif

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

TEST(a_million_stacks_do_not_stay_in_memory)
{
	struct encoder *e = new_encoder(drop, NULL);
	uint32_t first, last = 0, before;
	size_t most = 0, at_first = in_use();

	assert_non_null(e);
	first = stack(e, 0);
	assert_int_equal(stack(e, 0), first);
	for (uint32_t i = 1; i < 1000000; i++) {
		before = last;
		last = stack(e, i);
		assert_true(last > before);
		if (i % 1000 == 0 && in_use() > most)
			most = in_use();
	}
	assert_in_range(most - at_first, FIGURES, 32u << 20);
	assert_int_equal(stack(e, 999999), last);
	/* That one is forgotten, so it is defined once more. */
	assert_int_equal(stack(e, 0), last + 1);
	encoder_free(e);
}

/* A program can jump to any byte of what it has mapped; in hours, thousands of programs end. */
TEST(frames_do_not_stay_in_memory)
{
	struct encoder *e = new_encoder(drop, NULL);
	uint32_t space = encoder_space(e, 1, "jumper"), often = encoder_frame(e, 0, 1), last = 1;
	size_t at_first = in_use(), most = 0;

	for (uint64_t addr = 0; addr < 3000000; addr++) {
		assert_int_equal(encoder_frame(e, space, addr), ++last);
		if (addr % 1000)
			continue;
		/* What is in use is not forgotten. */
		assert_int_equal(encoder_frame(e, 0, 1), often);
		most = in_use() > most ? in_use() : most;
	}
	assert_in_range(most - at_first, FIGURES, 32u << 20);
	/* The last ones are known, and so are as many as the largest programs have. */
	for (uint64_t addr = 2850000; addr < 3000000; addr++)
		assert_int_equal(encoder_frame(e, space, addr), addr + 2);
	assert_int_equal(encoder_frame(e, encoder_space(e, 2, "other"), 2999999), last + 1);
	/* The first one is forgotten, so it is defined once more. */
	assert_int_equal(encoder_frame(e, space, 0), last + 2);
	encoder_free(e);
}

/* A thread may change its name a million times a second. */
TEST(names_of_threads_do_not_stay_in_memory)
{
	struct encoder *e = new_encoder(drop, NULL);
	size_t at_first = in_use(), most = 0;
	struct encoder_counts c;
	char name[16];

	for (uint32_t i = 0; i < 2000000; i++) {
		snprintf(name, sizeof(name), "thread-%u", i);
		assert_int_equal(encoder_event(e,
					       &(struct event) { .time_ns = i,
								 .cpu = 0,
								 .kind = CHAINLOG_RENAME,
								 .tid = 1,
								 .string = encoder_text(e, name) }),
				 0);
		if (i % 1000 == 0 && in_use() > most)
			most = in_use();
	}
	assert_in_range(most - at_first, FIGURES, 16u << 20);
	encoder_counts(e, &c);
	assert_int_equal(c.strings, 2000000);
	/* Ids go on where they were. */
	assert_int_equal(encoder_string(e, "next", 4), 2000001);
	assert_int_equal(encoder_string(e, "next", 4), 2000001);
	encoder_free(e);
}

/*
 * A server has an object for each connection. Two CPUs may pass the hand to each other, so that
 * each event comes before its object.
 */
TEST(objects_do_not_stay_in_memory)
{
	struct encoder *e = new_encoder(drop, NULL);
	struct encoder_object pipe = { .class = "pipe",
				       .name = "",
				       .own = "",
				       .peer = 0,
				       .owner = 0 },
			      o = pipe;
	uint32_t first, last = 0;
	size_t at_first, most = 0;
	char name[16];

	o.name = name;
	first = encoder_object(e, &pipe);
	at_first = in_use();
	for (uint32_t i = 0; i < 5000000; i++)
		assert_int_equal(encoder_object_reserve(e), first + 1 + i);
	assert_in_range(in_use(), 0, at_first);
	assert_int_equal(encoder_object(e, &pipe), first);
	for (uint32_t i = 0; i < 1500000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		last = encoder_object(e, &o);
		assert_int_equal(last, first + 5000001 + i);
		if (i % 1000 == 0 && in_use() > most)
			most = in_use();
	}
	/* With the strings, their names. */
	assert_in_range(most - at_first, FIGURES, 24u << 20);
	assert_int_equal(encoder_object(e, &o), last);
	snprintf(name, sizeof(name), "0");
	assert_int_equal(encoder_object(e, &o), last + 1);
	encoder_free(e);
}
