/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_slots.h - finds the slots of the kernel stack in which the return addresses of a walked
 * stack lie: its layout. The unwinder does not report them, but each address is in its slot, and
 * the slots are in the order of the frames. An address may lie elsewhere, too, left over from an
 * earlier call: several samples of the same stack tell these apart, as leftovers differ between
 * them (include/chainwire_stacks.h). A leftover that is there each time is looked at as well: if
 * all slots that may be an address's hold it, so does the one that is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

/* Where a stack's return addresses lie, leaf first. "Words" are of 8 bytes. */
struct stack_slots {
	uint32_t id, n; /* of the stack; slots, those of a frame in a row */
	uint32_t event; /* enum wire_kind: the event it was walked for */
	bool interrupt; /* it is an interrupt's stack */
	uint16_t end;	/* words from the last address to the stack's end; 0: frames were cut off */
	uint16_t link;	/* index of the word with the address where WIRE_FROM_LINK slots begin */
	uint16_t slot[WIRE_LAYOUT_FRAMES];
	uint8_t base[WIRE_LAYOUT_FRAMES]; /* enum wire_base */
	uint64_t ret[WIRE_LAYOUT_FRAMES];
};

struct slot_finder;

/* Returns 0 or -ENOMEM. */
int slot_finder_new(struct slot_finder **out);
void slot_finder_free(struct slot_finder *f);

/*
 * Takes a sample of any stack, whose first `first` frames are the tracer's own (their slots may lie
 * before the fixed point). True if all slots of this stack are now certain: *out has them, and the
 * finder forgets the stack.
 */
bool slot_finder_add(struct slot_finder *f, const struct wire_layout_sample *sample, uint32_t first,
		     struct stack_slots *out);
