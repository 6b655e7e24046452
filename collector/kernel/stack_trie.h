/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_trie.h - writes the trees of steps by which the BPF side recognizes kernel stacks without a
 * walk (include/chainwire_stacks.h): adds stacks whose slots are known to the tables shared with
 * BPF, and copies those that are to be kept into another tree.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "stack_slots.h"

struct stack_trie {
	/* The map of that name, WIRE_TREES * WIRE_STEPS entries, zeroed; borrowed. */
	struct wire_step *steps;
	uint64_t *branches; /* likewise, WIRE_TREES * WIRE_BRANCHES entries */
	uint32_t root;	    /* of the tree that stacks are added to: WIRE_TREE_ROOT() */
	uint32_t steps_max; /* how many steps this may have; 0: WIRE_STEPS - 1 */
	uint32_t used;	    /* how many it has */
};

/*
 * Adds a stack: from now on readers of the tree get id for it. Returns 0, or -ENOSPC if there is no
 * room; its steps that were added then stay, and lead nowhere.
 */
int stack_trie_add(struct stack_trie *s, const struct stack_slots *l, uint32_t id);

/* Whether there is room for only a few more stacks. */
bool stack_trie_is_full(const struct stack_trie *s);

/* Whether the tree has a return address for which is_gone() holds. */
bool stack_trie_has(const struct stack_trie *s, bool (*is_gone)(void *ctx, uint64_t ret),
		    void *ctx);

/*
 * Chooses the stacks of a tree that are kept. First drop() is called with the id of each stack that
 * has a return address for which is_gone() holds, then keep() with the id of each.
 */
struct stack_trie_choice {
	bool (*is_gone)(void *ctx, uint64_t ret); /* NULL: none is */
	void (*drop)(void *ctx, uint32_t id);
	bool (*keep)(void *ctx, uint32_t id);
	void *ctx;
};

/*
 * Copies the stacks to be kept into the other tree, which must be empty, and makes that the one
 * that stacks are added to. The old one stays as it is. A stack for which no room is found there is
 * left out. Returns 0, or -ENOMEM: then nothing has changed.
 */
int stack_trie_copy(struct stack_trie *s, const struct stack_trie_choice *choice);
/* Empties the tree that stacks are not added to. No reader may be following it. */
void stack_trie_clear_other(struct stack_trie *s);
