// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack_trie.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool leads(const struct stack_trie *s, uint32_t number, uint32_t from, uint64_t ret)
{
	const struct wire_step *step = &s->steps[number];

	return step->live && step->from == from && step->ret == ret;
}

/* The same search as on the BPF side. */
static uint32_t find(const struct stack_trie *s, uint32_t from, uint64_t ret)
{
	uint32_t slot = wire_branch(from, ret), other = wire_other_branch(from, ret);

	if (from + 1 < s->root + WIRE_STEPS && leads(s, from + 1, from, ret))
		return from + 1;
	if (leads(s, (uint32_t)s->branches[slot], from, ret))
		return (uint32_t)s->branches[slot];
	return leads(s, (uint32_t)s->branches[other], from, ret) ? (uint32_t)s->branches[other] : 0;
}

static uint32_t steps_max(const struct stack_trie *s)
{
	return s->steps_max ? s->steps_max : WIRE_STEPS - 1;
}

/* Returns the number of the new step, 0 if there is no room. */
static uint32_t add(struct stack_trie *s, uint32_t from, uint64_t ret, struct wire_step step)
{
	uint32_t slot = wire_branch(from, ret), number = s->root + s->used + 1;
	uint64_t *place = NULL;

	if (s->used >= steps_max(s))
		return 0;
	if (number != from + 1) {
		place = &s->branches[slot];
		if (*place)
			place = &s->branches[wire_other_branch(from, ret)];
		if (*place)
			return 0;
	}
	step.from = from;
	step.ret = ret;
	step.live = 0;
	s->steps[number] = step;
	/* Release: step_of() in bpf/kernel_stack.h reads `live`, and finds a whole step or none. */
	__atomic_store_n(&s->steps[number].live, 1, __ATOMIC_RELEASE);
	if (place)
		__atomic_store_n(place, (uint64_t)number, __ATOMIC_RELEASE);
	s->used++;
	return number;
}

static bool same(const struct wire_step *s, const struct wire_step *want)
{
	return s->stack == want->stack && s->base == want->base && s->slot == want->slot &&
	       s->link == want->link && s->interrupt == want->interrupt;
}

int stack_trie_add(struct stack_trie *s, const struct stack_slots *l, uint32_t id)
{
	uint32_t from = s->root;
	uint64_t ret = l->event;

	for (uint32_t i = 0; i <= l->n; i++) {
		struct wire_step want = {
			.stack = id,
			.slot = l->end,
			.interrupt = l->interrupt,
		};
		uint32_t no = find(s, from, ret);

		if (i < l->n) {
			want.stack = 0;
			want.interrupt = 0;
			want.base = l->base[i];
			want.slot = l->slot[i];
			want.link = want.base == WIRE_FROM_LINK ? l->link : 0;
		}
		/*
		 * The same addresses may continue in two ways: interrupts that switch stacks and
		 * those that do not; faults in user mode, where the stack ends, and in the kernel.
		 */
		while (no && !same(&s->steps[no], &want)) {
			from = no;
			ret = WIRE_STEP_ELSE;
			no = find(s, from, ret);
		}
		if (!no)
			no = add(s, from, ret, want);
		if (!no)
			return -ENOSPC;
		from = no;
		if (i < l->n)
			ret = l->ret[i];
	}
	return 0;
}

/* Up to a half, both places of a branch are seldom taken. */
bool stack_trie_is_full(const struct stack_trie *s)
{
	return s->used >= steps_max(s) / 2;
}

bool stack_trie_has(const struct stack_trie *s, bool (*is_gone)(void *ctx, uint64_t ret), void *ctx)
{
	for (uint32_t i = 1; i <= s->used; i++)
		if (is_gone(ctx, s->steps[s->root + i].ret))
			return true;
	return false;
}

/* ---- forgetting ---------------------------------------------------------------------------- */

static uint32_t other_root(const struct stack_trie *s)
{
	return s->root ^ WIRE_STEPS;
}

/* What becomes of a step, by its number in its tree. */
struct fate {
	uint32_t copy; /* its number in the other tree; 0: none */
	bool is_gone;  /* stacks through it are to be dropped */
	bool is_kept;
};

/* A step has a larger number than the one that it is reached from. */
static void decide(const struct stack_trie *s, const struct stack_trie_choice *choice,
		   struct fate *fates)
{
	const struct wire_step *steps = s->steps + s->root;

	for (uint32_t i = 1; i <= s->used; i++) {
		fates[i].is_gone = fates[steps[i].from - s->root].is_gone ||
				   (choice->is_gone && choice->is_gone(choice->ctx, steps[i].ret));
		if (fates[i].is_gone && steps[i].stack)
			choice->drop(choice->ctx, steps[i].stack);
	}
	for (uint32_t i = s->used; i; i--) {
		if (steps[i].stack && !fates[i].is_gone)
			fates[i].is_kept = choice->keep(choice->ctx, steps[i].stack);
		if (fates[i].is_kept)
			fates[steps[i].from - s->root].is_kept = true;
	}
}

int stack_trie_copy(struct stack_trie *s, const struct stack_trie_choice *choice)
{
	struct fate *fates = calloc(s->used + 1, sizeof(*fates));
	const struct wire_step *steps = s->steps + s->root;
	uint32_t n = s->used;

	if (!fates)
		return -ENOMEM;
	decide(s, choice, fates);
	s->root = fates[0].copy = other_root(s);
	s->used = 0;
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t from = steps[i].from - other_root(s);

		/* A copy's number 0 means that it was not kept, but the root of a tree may be 0. */
		if (fates[i].is_kept && (!from || fates[from].copy))
			fates[i].copy = add(s, fates[from].copy, steps[i].ret, steps[i]);
	}
	free(fates);
	return 0;
}

void stack_trie_clear_other(struct stack_trie *s)
{
	uint32_t root = other_root(s);

	memset(s->steps + root, 0, WIRE_STEPS * sizeof(*s->steps));
	memset(s->branches + root, 0, WIRE_BRANCHES * sizeof(*s->branches));
}
