/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - the tree of steps by which the BPF side knows stacks again (include/chainwire.h): adds
 * stacks whose layout is known to the map that both have in memory.
 */
#ifndef STEPS_H
#define STEPS_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "layout.h"

struct steps {
	struct wire_step *steps; /* the map of that name: WIRE_STEPS, zero at first; borrowed */
	uint64_t *branches;	 /* likewise, WIRE_BRANCHES */
	uint32_t last;		 /* number given last */
};

/*
 * Adds a stack, known as id from now on to whoever reads the tree. Returns 0, or -ENOSPC if there
 * is no room; what was added of it then leads nowhere, and stays.
 */
int steps_add(struct steps *s, const struct layout *l, uint32_t id);

#endif /* STEPS_H */
