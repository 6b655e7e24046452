// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the slots of return addresses in samples of a stack. */
#include <string.h>

#include "test.h"

#include "kernel/stack_slots.h"

#define A 0xffffffff81000010u /* leaf */
#define B 0xffffffff81000020u
#define C 0xffffffff81000030u /* root */
#define TRACER 0xffffffffc0000001u

static struct slot_finder *finder;
static struct stack_slots layout;
static uint32_t to_root, link_word, cut; /* of the samples to come */

static int setup(void **state)
{
	(void)state;
	to_root = 1;
	link_word = cut = 0;
	return slot_finder_new(&finder);
}

static int teardown(void **state)
{
	(void)state;
	slot_finder_free(finder);
	return 0;
}

/* A sample of the stack tracer, A, B, C with the given words; 1 stands for any data. */
static bool give(const uint64_t *words, uint32_t n_words)
{
	struct wire_layout_sample s = { .id = 7, .n = 4, .event = WIRE_WAKING, .n_words = n_words };

	s.to_root = to_root;
	s.cut = cut;
	s.link = link_word;
	s.frames[0] = TRACER;
	s.frames[1] = A;
	s.frames[2] = B;
	s.frames[3] = C;
	memcpy(s.words, words, n_words * sizeof(*words));
	return slot_finder_add(finder, &s, 1, &layout);
}

#define GIVE(...)                                \
	give((const uint64_t[]) { __VA_ARGS__ }, \
	     sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t))

TEST_IN(slots_are_found_once_samples_agree, setup, teardown)
{
	for (int i = 0; i < 3; i++)
		assert_false(GIVE(1, A, 1, B, 1, C));
	assert_true(GIVE(1, A, 1, B, 1, C));
	assert_int_equal(layout.id, 7);
	assert_int_equal(layout.n, 3);
	assert_int_equal(layout.ret[0], A);
	assert_int_equal(layout.slot[0], 1);
	assert_int_equal(layout.slot[1], 3);
	assert_int_equal(layout.slot[2], 5);
	assert_int_equal(layout.event, WIRE_WAKING);
	assert_int_equal(layout.end, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(layout.base[i], WIRE_FROM_LEAF);
}

TEST_IN(what_is_left_over_is_told_apart, setup, teardown)
{
	assert_false(GIVE(1, A, B, B, 1, C));
	assert_false(GIVE(1, A, 1, B, 1, C));
	assert_false(GIVE(1, A, 1, B, 1, C));
	assert_true(GIVE(1, A, 1, B, 1, C));
	assert_int_equal(layout.slot[1], 3);
}

TEST_IN(what_stays_doubtful_is_looked_at_in_all_slots, setup, teardown)
{
	for (int i = 0; i < 7; i++)
		assert_false(GIVE(B, A, B, B, 1, C, 1, B));
	assert_true(GIVE(B, A, B, B, 1, C, 1, B));
	assert_int_equal(layout.n, 4);
	assert_int_equal(layout.ret[0], A);
	assert_int_equal(layout.slot[0], 1);
	/* Those before A and behind C cannot be B's. */
	assert_int_equal(layout.ret[1], B);
	assert_int_equal(layout.slot[1], 2);
	assert_int_equal(layout.ret[2], B);
	assert_int_equal(layout.slot[2], 3);
	assert_int_equal(layout.ret[3], C);
	assert_int_equal(layout.slot[3], 5);
	assert_int_equal(layout.end, 3);
}

TEST_IN(the_end_is_as_far_from_the_last_slot, setup, teardown)
{
	for (int i = 0; i < 7; i++)
		assert_false(GIVE(1, A, B, 1, C, C));
	assert_true(GIVE(1, A, B, 1, C, C));
	assert_int_equal(layout.n, 4);
	assert_int_equal(layout.slot[3], 5);
	assert_int_equal(layout.end, 1);
}

TEST_IN(too_many_slots_are_none, setup, teardown)
{
	uint64_t words[WIRE_LAYOUT_FRAMES + 1];

	words[0] = A;
	words[WIRE_LAYOUT_FRAMES] = C;
	for (int i = 1; i < WIRE_LAYOUT_FRAMES; i++)
		words[i] = B;
	for (int i = 0; i < 20; i++)
		assert_false(give(words, WIRE_LAYOUT_FRAMES + 1));
}

TEST_IN(entry_code_is_counted_from_the_root_end, setup, teardown)
{
	/* Between B and C lies a frame of random size. */
	assert_false(GIVE(1, A, 1, B, 1, C, 1, 1));
	assert_true(GIVE(1, A, 1, B, 1, 1, 1, C, 1, 1));
	assert_int_equal(layout.base[1], WIRE_FROM_LEAF);
	assert_int_equal(layout.slot[1], 3);
	assert_int_equal(layout.base[2], WIRE_FROM_ROOT);
	assert_int_equal(layout.slot[2], 3);
	assert_int_equal(layout.ret[2], C);
	assert_int_equal(layout.end, 3);
}

TEST_IN(a_stack_that_ends_at_varying_distance_has_no_layout, setup, teardown)
{
	for (int i = 0; i < 4; i++) {
		assert_false(GIVE(1, A, 1, B, 1, C));
		assert_false(GIVE(1, A, 1, B, 1, C, 1));
	}
}

TEST_IN(unless_it_is_cut_off_there, setup, teardown)
{
	cut = 1;
	assert_false(GIVE(1, A, 1, B, 1, C));
	assert_true(GIVE(1, A, 1, B, 1, C, 1));
	assert_int_equal(layout.end, 0);
	assert_int_equal(layout.slot[2], 5);
}

TEST_IN(what_does_not_reach_the_root_end_is_not_counted_from_it, setup, teardown)
{
	to_root = 0;
	cut = 1;
	for (int i = 0; i < 4; i++) {
		assert_false(GIVE(1, A, 1, B, 1, C, 1, 1));
		assert_false(GIVE(1, A, 1, B, 1, 1, 1, C, 1, 1));
	}
}

TEST_IN(on_the_threads_stack_slots_are_counted_from_the_link, setup, teardown)
{
	/* The interrupt's stack ends with the fourth word; B and C lie on that of the thread. */
	link_word = 3;
	for (int i = 0; i < 3; i++)
		assert_false(GIVE(1, 1, A, 1, 1, B, C, 1));
	assert_true(GIVE(1, 1, A, 1, 1, B, C, 1));
	assert_int_equal(layout.link, 3);
	assert_int_equal(layout.base[0], WIRE_FROM_LEAF);
	assert_int_equal(layout.slot[0], 2);
	assert_int_equal(layout.base[1], WIRE_FROM_LINK);
	assert_int_equal(layout.slot[1], 1);
	assert_int_equal(layout.base[2], WIRE_FROM_LINK);
	assert_int_equal(layout.slot[2], 2);
}

TEST_IN(samples_of_which_the_link_lies_elsewhere_do_not_add_up, setup, teardown)
{
	for (int i = 0; i < 4; i++) {
		link_word = i % 2 ? 3 : 0;
		assert_false(GIVE(1, 1, A, 1, 1, B, C, 1));
	}
}

TEST_IN(a_missing_address_is_no_layout, setup, teardown)
{
	for (int i = 0; i < 20; i++)
		assert_false(GIVE(1, A, 1, 1, 1, C));
}

TEST_IN(odd_samples_are_refused, setup, teardown)
{
	struct wire_layout_sample s = { .id = 7, .n = 4, .n_words = 0 };

	assert_false(slot_finder_add(finder, &s, 1, &layout));
	s.n_words = WIRE_SAMPLE_WORDS + 1;
	assert_false(slot_finder_add(finder, &s, 1, &layout));
	s.n_words = 5;
	assert_false(slot_finder_add(finder, &s, 4, &layout));
	s.n = WIRE_LAYOUT_FRAMES + 1;
	assert_false(slot_finder_add(finder, &s, 1, &layout));
	s.n = 4;
	s.link = 5;
	assert_false(slot_finder_add(finder, &s, 1, &layout));
	s.link = 0;
	s.to_root = 0;
	for (int i = 0; i < 5; i++)
		assert_false(slot_finder_add(finder, &s, 1, &layout));
}
