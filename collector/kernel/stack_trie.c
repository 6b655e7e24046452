// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack_trie.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static bool leads(const struct stack_trie *s, uint32_t number, uint32_t from, uint64_t ret)
{
	const struct wire_step *step = &s->steps[number];

	return step->live && step->from == from && step->ret == ret;
}

/* The same search as on the BPF side. */
static uint32_t find(const struct stack_trie *s, uint32_t from, uint64_t ret)
{
	uint32_t slot = wire_branch(from, ret), other = wire_other_branch(slot);

	if (from + 1 < WIRE_STEPS && leads(s, from + 1, from, ret))
		return from + 1;
	if (leads(s, (uint32_t)s->branches[slot], from, ret))
		return (uint32_t)s->branches[slot];
	return leads(s, (uint32_t)s->branches[other], from, ret) ? (uint32_t)s->branches[other] : 0;
}

/* Returns the number of the new step, 0 if there is no room. */
static uint32_t add(struct stack_trie *s, uint32_t from, uint64_t ret, struct wire_step step)
{
	uint32_t slot = wire_branch(from, ret), number = s->last + 1;
	uint64_t *place = NULL;

	if (number >= WIRE_STEPS)
		return 0;
	if (number != from + 1) {
		place = &s->branches[slot];
		if (*place)
			place = &s->branches[wire_other_branch(slot)];
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
	return s->last = number;
}

static bool same(const struct wire_step *s, const struct wire_step *want)
{
	return s->stack == want->stack && s->base == want->base && s->slot == want->slot &&
	       s->link == want->link && s->interrupt == want->interrupt;
}

int stack_trie_add(struct stack_trie *s, const struct stack_slots *l, uint32_t id)
{
	uint32_t from = WIRE_STEP_FIRST;
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
