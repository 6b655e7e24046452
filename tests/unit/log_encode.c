// SPDX-License-Identifier: GPL-2.0-or-later
/* What the encoder keeps in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>

#include "log/encode.h"

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

static void a_million_stacks_do_not_stay_in_memory(void **state)
{
	struct encoder *e = encoder_new(drop, NULL);
	uint32_t first, last = 0, before;
	size_t most = 0, at_first = in_use();

	(void)state;
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
	assert_true(most - at_first < 80u << 20);
	assert_int_equal(stack(e, 999999), last);
	/* That one is forgotten, so it is defined once more. */
	assert_int_equal(stack(e, 0), last + 1);
	encoder_free(e);
}

/* A program can jump to any byte of what it has mapped. */
static void frames_of_one_space_have_a_limit(void **state)
{
	struct encoder *e = encoder_new(drop, NULL);
	uint32_t last = 0, space = encoder_space(e, 1, "jumper"), n = 0;
	size_t at_first = in_use();

	(void)state;
	for (uint64_t addr = 0; addr < 3000000; addr++) {
		uint32_t id = encoder_frame(e, space, addr);

		n += id != 0;
		last = id ? id : last;
	}
	assert_int_equal(n, 1u << 20);
	assert_in_range(in_use() - at_first, FIGURES, 200u << 20);
	/* Those it has, others', and the kernel's have names as before. */
	assert_int_equal(encoder_frame(e, space, 0), 1);
	assert_int_equal(encoder_frame(e, encoder_space(e, 2, "other"), 0), last + 1);
	assert_int_equal(encoder_frame(e, 0, 1), last + 2);
	encoder_free(e);
}

/* A thread may change its name a million times a second. */
static void names_of_threads_do_not_stay_in_memory(void **state)
{
	struct encoder *e = encoder_new(drop, NULL);
	size_t at_first = in_use(), most = 0;
	struct encoder_counts c;
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < 10000000; i++) {
		snprintf(name, sizeof(name), "thread-%u", i);
		assert_int_equal(encoder_rename(e, 0, i, 1, name), 0);
		if (i % 1000 == 0 && in_use() > most)
			most = in_use();
	}
	assert_true(most - at_first < 400u << 20);
	encoder_counts(e, &c);
	assert_int_equal(c.strings, 10000000);
	/* Ids go on where they were. */
	assert_int_equal(encoder_string(e, "next", 4), 10000001);
	assert_int_equal(encoder_string(e, "next", 4), 10000001);
	encoder_free(e);
}

/* Two CPUs may pass the hand to each other, so that each event comes before its object. */
static void objects_do_not_stay_in_memory_beyond_their_limit(void **state)
{
	struct encoder *e = encoder_new(drop, NULL);
	struct encoder_object pipe = { "pipe", "", "", 0, 0 }, o = pipe;
	uint32_t first, nameless;
	char name[16];
	size_t at_first;

	(void)state;
	o.name = name;
	first = encoder_object(e, &pipe);
	at_first = in_use();
	for (uint32_t i = 0; i < 5000000; i++)
		assert_int_equal(encoder_object_reserve(e), first + 1 + i);
	assert_in_range(in_use(), 0, at_first);
	assert_int_equal(encoder_object(e, &pipe), first);
	for (uint32_t i = 0; i < 3000000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_not_equal(encoder_object(e, &o), 0);
	}
	assert_in_range(in_use() - at_first, 1, 400u << 20);
	nameless = encoder_object(e, &o);
	assert_int_equal(nameless, first);
	snprintf(name, sizeof(name), "0");
	assert_int_equal(encoder_object(e, &o), first);
	encoder_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_stacks_do_not_stay_in_memory),
		cmocka_unit_test(frames_of_one_space_have_a_limit),
		cmocka_unit_test(names_of_threads_do_not_stay_in_memory),
		cmocka_unit_test(objects_do_not_stay_in_memory_beyond_their_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
