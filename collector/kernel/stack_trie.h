/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_trie.h - writes the tree of steps by which the BPF side recognizes kernel stacks without a
 * walk (include/chainwire.h): adds stacks whose slots are known to the maps shared with BPF.
 */
#ifndef STACK_TRIE_H
#define STACK_TRIE_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "stack_slots.h"

struct stack_trie {
	struct wire_step *steps; /* the map of that name, WIRE_STEPS entries, zeroed; borrowed */
	uint64_t *branches;	 /* likewise, WIRE_BRANCHES entries */
	uint32_t last;		 /* number of the newest step */
};

/*
 * Adds a stack: from now on readers of the tree get id for it. Returns 0, or -ENOSPC if there is no
 * room; its steps that were added then stay, and lead nowhere.
 */
int stack_trie_add(struct stack_trie *s, const struct stack_slots *l, uint32_t id);

#endif /* STACK_TRIE_H */
