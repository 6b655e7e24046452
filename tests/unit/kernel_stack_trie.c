// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree by which kernel stacks are known again, followed here as the BPF side follows it. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include <errno.h>

#include "kernel/stack_trie.h"

#define A 0xffffffff81000010u /* leaf */
#define B 0xffffffff81000020u
#define C 0xffffffff81000030u
#define D 0xffffffff81000040u
#define STACK_WORDS 64u

static struct stack_trie steps;

static int setup(void **state)
{
	(void)state;
	steps = (struct stack_trie) {
		.steps = calloc(WIRE_TREES * WIRE_STEPS, sizeof(*steps.steps)),
		.branches = calloc(WIRE_TREES * WIRE_BRANCHES, sizeof(*steps.branches)),
	};
	return steps.steps && steps.branches ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(steps.steps);
	free(steps.branches);
	return 0;
}

static uint32_t find(uint32_t from, uint64_t ret)
{
	uint32_t slot = wire_branch(from, ret);
	uint32_t tries[] = { from + 1, (uint32_t)steps.branches[slot],
			     (uint32_t)steps.branches[wire_other_branch(from, ret)] };

	for (int i = 0; i < 3; i++) {
		const struct wire_step *s = &steps.steps[tries[i]];

		if (s->live && s->from == from && s->ret == ret)
			return tries[i];
	}
	return 0;
}

/*
 * Which stack that is: words from the fixed point on, which is word `leaf` of the thread's stack,
 * or NULL and words from elsewhere. The link word holds an index into the thread's stack.
 */
static uint32_t follow(uint32_t event, const uint64_t *leaf, const uint64_t *stack)
{
	uint32_t from = steps.root;
	const uint64_t *at = NULL;
	uint64_t word = event;

	for (int i = 0; i < 100; i++) {
		uint32_t no = find(from, word);
		const struct wire_step *s = &steps.steps[no];

		if (!no && word == WIRE_STEP_ELSE)
			return 0;
		if (!no) {
			word = WIRE_STEP_ELSE;
			continue;
		}
		from = no;
		if (s->stack) {
			if (!s->slot || at == stack + STACK_WORDS - s->slot)
				return s->stack;
			word = WIRE_STEP_ELSE;
			continue;
		}
		at = leaf + s->slot;
		if (s->base == WIRE_FROM_ROOT)
			at = stack + STACK_WORDS - s->slot;
		else if (s->base == WIRE_FROM_LINK)
			at = stack + (leaf[s->link] < STACK_WORDS ? leaf[s->link] + s->slot : 0);
		word = *at;
	}
	return 0;
}

/* The layout of a stack whose addresses lie in these words from the fixed point on. */
static struct stack_slots flat(uint32_t event, uint32_t n, const uint64_t *ret,
			       const uint16_t *slot)
{
	struct stack_slots l = { .n = n, .event = event };

	for (uint32_t i = 0; i < n; i++) {
		l.ret[i] = ret[i];
		l.slot[i] = slot[i];
	}
	return l;
}

TEST_IN(a_stack_is_known_again_if_all_its_addresses_are_there, setup, teardown)
{
	struct stack_slots l =
		flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B, C }, (uint16_t[]) { 1, 3, 4 });

	assert_int_equal(stack_trie_add(&steps, &l, 7), 0);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { 9, A, 9, B, C }, NULL), 7);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { 9, A, 9, B, D }, NULL), 0);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { 9, A, B, 9, C }, NULL), 0);
	assert_int_equal(follow(WIRE_WAKING, (uint64_t[]) { 9, A, 9, B, C }, NULL), 0);
}

TEST_IN(stacks_with_a_common_beginning_are_told_apart, setup, teardown)
{
	struct stack_slots one =
		flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B, C }, (uint16_t[]) { 0, 1, 2 });
	struct stack_slots two =
		flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B, D }, (uint16_t[]) { 0, 1, 2 });
	struct stack_slots three =
		flat(WIRE_SWITCH, 2, (uint64_t[]) { A, C }, (uint16_t[]) { 0, 1 });

	assert_int_equal(stack_trie_add(&steps, &one, 1), 0);
	assert_int_equal(stack_trie_add(&steps, &two, 2), 0);
	assert_int_equal(stack_trie_add(&steps, &three, 3), 0);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { A, B, C }, NULL), 1);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { A, B, D }, NULL), 2);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { A, C, D }, NULL), 3);
	/* What they have in common is there once. */
	assert_int_equal(steps.used, 4 + 1 + 1);
}

TEST_IN(one_beginning_can_go_on_in_two_places, setup, teardown)
{
	/* As with an interrupt that switches stacks, and one that does not have to. */
	uint64_t stack[STACK_WORDS] = { [10] = B, [11] = D };
	struct stack_slots here =
		flat(WIRE_WAKING, 3, (uint64_t[]) { A, B, C }, (uint16_t[]) { 0, 2, 3 });
	struct stack_slots there =
		flat(WIRE_WAKING, 3, (uint64_t[]) { A, B, D }, (uint16_t[]) { 0, 2, 3 });

	there.link = 1;
	there.base[1] = there.base[2] = WIRE_FROM_LINK;
	assert_int_equal(stack_trie_add(&steps, &here, 1), 0);
	assert_int_equal(stack_trie_add(&steps, &there, 2), 0);
	assert_int_equal(follow(WIRE_WAKING, (uint64_t[]) { A, 8, B, C }, stack), 1);
	assert_int_equal(follow(WIRE_WAKING, (uint64_t[]) { A, 8, 9, 9 }, stack), 2);
	assert_int_equal(follow(WIRE_WAKING, (uint64_t[]) { A, 7, 9, 9 }, stack), 0);
	assert_int_equal(follow(WIRE_WAKING, (uint64_t[]) { A, ~0ull, 9, 9 }, stack), 0);
}

TEST_IN(entry_code_is_looked_for_at_the_root_end, setup, teardown)
{
	uint64_t stack[STACK_WORDS] = { [STACK_WORDS - 5] = B };
	struct stack_slots l = flat(WIRE_SWITCH, 2, (uint64_t[]) { A, B }, (uint16_t[]) { 1, 5 });

	l.base[1] = WIRE_FROM_ROOT;
	assert_int_equal(stack_trie_add(&steps, &l, 3), 0);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { 9, A }, stack), 3);
	stack[STACK_WORDS - 5] = C;
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { 9, A }, stack), 0);
}

TEST_IN(a_stack_ends_only_as_far_from_the_root_end_as_it_did, setup, teardown)
{
	/* As with a fault in user mode, and one in the kernel, which goes on with C. */
	uint64_t stack[STACK_WORDS] = { 0 };
	struct stack_slots user =
		flat(WIRE_SWITCH, 2, (uint64_t[]) { A, B }, (uint16_t[]) { 0, 1 });
	struct stack_slots kernel =
		flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B, C }, (uint16_t[]) { 0, 1, 2 });

	user.end = 5;
	kernel.end = 2;
	assert_int_equal(stack_trie_add(&steps, &user, 1), 0);
	memcpy(stack + STACK_WORDS - 6, (uint64_t[]) { A, B }, 16);
	assert_int_equal(follow(WIRE_SWITCH, stack + STACK_WORDS - 6, stack), 1);
	memset(stack, 0, sizeof(stack));
	memcpy(stack + STACK_WORDS - 4, (uint64_t[]) { A, B, C }, 24);
	assert_int_equal(follow(WIRE_SWITCH, stack + STACK_WORDS - 4, stack), 0);
	assert_int_equal(stack_trie_add(&steps, &kernel, 2), 0);
	assert_int_equal(follow(WIRE_SWITCH, stack + STACK_WORDS - 4, stack), 2);
}

TEST_IN(many_stacks_fit_and_what_does_not_is_refused, setup, teardown)
{
	uint32_t added = 0, refused = 0;

	/* Branches of one step, as after the scheduler's own frames. */
	for (uint32_t i = 0; i < 20000; i++) {
		struct stack_slots l = flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B + i * 16, C },
					    (uint16_t[]) { 0, 1, 2 });
		int err = stack_trie_add(&steps, &l, i + 1);

		if (err) {
			assert_int_equal(err, -ENOSPC);
			refused++;
			continue;
		}
		added++;
		assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { A, B + i * 16, C }, NULL),
				 i + 1);
	}
	assert_true(added > 8000);
	assert_true(refused > 0);
	assert_true(steps.used < WIRE_STEPS);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

/* Stack i has the addresses A, B + 16 * i and C; the leaf comes first. */
static struct stack_slots numbered(uint32_t i)
{
	return flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B + i * 16, C }, (uint16_t[]) { 0, 1, 2 });
}

static uint32_t follow_numbered(uint32_t i)
{
	return follow(WIRE_SWITCH, (uint64_t[]) { A, B + i * 16, C }, NULL);
}

/* Keeps ids from *ctx on. */
static bool keep_from(void *ctx, uint32_t id)
{
	return id >= *(const uint32_t *)ctx;
}

TEST_IN(what_is_not_kept_makes_room, setup, teardown)
{
	uint32_t from = 1, added = 0, lost = 0, n = 0;

	/* Six times as many as fit, the newest thousand of which are kept each time. */
	for (uint32_t i = 1; i <= 60000; i++) {
		struct stack_slots l = numbered(i);
		struct stack_trie_choice choice = { .keep = keep_from, .ctx = &from };

		added += !stack_trie_add(&steps, &l, i);
		if (!stack_trie_is_full(&steps))
			continue;
		from = i - 999;
		assert_int_equal(stack_trie_copy(&steps, &choice), 0);
		stack_trie_clear_other(&steps);
		n++;
		for (uint32_t k = from; k <= i; k++)
			lost += follow_numbered(k) != k;
		for (uint32_t k = from - 1000; k < from; k++)
			assert_int_equal(follow_numbered(k), 0);
		assert_true(steps.used <= 2 + 2 * 1000);
	}
	assert_true(n > 5);
	/* Just before it is full, both places of one branch in ten are taken. */
	assert_true(added > 60000 / 100 * 90);
	assert_true(lost < n * 150);
}

static bool is_c(void *ctx, uint64_t ret)
{
	(void)ctx;
	return ret == C;
}

static uint32_t dropped[4], n_dropped;

static void drop(void *ctx, uint32_t id)
{
	(void)ctx;
	dropped[n_dropped++ % 4] = id;
}

static bool keep_all(void *ctx, uint32_t id)
{
	(void)ctx;
	(void)id;
	return true;
}

TEST_IN(stacks_with_an_address_that_is_gone_are_dropped, setup, teardown)
{
	struct stack_slots with =
		flat(WIRE_SWITCH, 3, (uint64_t[]) { A, C, B }, (uint16_t[]) { 0, 1, 2 });
	struct stack_slots without =
		flat(WIRE_SWITCH, 3, (uint64_t[]) { A, B, D }, (uint16_t[]) { 0, 1, 2 });
	struct stack_trie_choice choice = { is_c, drop, keep_all, NULL };

	n_dropped = 0;
	assert_int_equal(stack_trie_add(&steps, &with, 1), 0);
	assert_int_equal(stack_trie_add(&steps, &without, 2), 0);
	assert_int_equal(stack_trie_copy(&steps, &choice), 0);
	assert_int_equal(n_dropped, 1);
	assert_int_equal(dropped[0], 1);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { A, C, B }, NULL), 0);
	assert_int_equal(follow(WIRE_SWITCH, (uint64_t[]) { A, B, D }, NULL), 2);
}

TEST_IN(who_follows_the_old_tree_finds_what_was_in_it, setup, teardown)
{
	uint32_t from = 11, old_root = steps.root;
	struct stack_trie_choice choice = { .keep = keep_from, .ctx = &from };

	for (uint32_t i = 1; i <= 20; i++) {
		struct stack_slots l = numbered(i);

		assert_int_equal(stack_trie_add(&steps, &l, i), 0);
	}
	assert_int_equal(stack_trie_copy(&steps, &choice), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		uint32_t new_root = steps.root;

		assert_int_equal(follow_numbered(i), i < from ? 0 : i);
		steps.root = old_root;
		assert_int_equal(follow_numbered(i), i);
		steps.root = new_root;
	}
	/* What is added now is in the new tree alone, and not disturbed when the old one goes. */
	for (uint32_t i = 21; i <= 30; i++) {
		struct stack_slots l = numbered(i);

		assert_int_equal(stack_trie_add(&steps, &l, i), 0);
	}
	stack_trie_clear_other(&steps);
	for (uint32_t i = 1; i <= 30; i++)
		assert_int_equal(follow_numbered(i), i < from ? 0 : i);
}
