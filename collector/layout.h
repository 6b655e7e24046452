/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - finds out where on the stack walks found their return addresses. The unwinder does
 * not say it; but each address lies in its slot, and the slots come in the order of the frames. An
 * address may lie elsewhere too, left over from earlier calls: that is told apart by several
 * samples of the same stack, in which what is left over differs (include/chainwire.h).
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

/* Where a stack's return addresses lie, leaf first. */
struct layout {
	uint32_t id, n; /* of the stack; frames */
	uint32_t event; /* enum wire_kind: what it was walked for */
	uint16_t end;	/* words from the last address to the stack's end; 0: cut off there */
	uint16_t link;	/* word from the fixed point that says where WIRE_FROM_LINK begins */
	uint16_t slot[WIRE_LAYOUT_FRAMES];
	uint8_t base[WIRE_LAYOUT_FRAMES]; /* enum wire_base */
	uint64_t ret[WIRE_LAYOUT_FRAMES];
};

struct layout_finder;

/* NULL when out of memory. */
struct layout_finder *layout_finder_new(void);
void layout_finder_free(struct layout_finder *f);

/*
 * Takes one more sample of some stack, whose first `first` frames are the tracer's own (their
 * slots may lie before the fixed point). True if all of this stack's slots are certain now: *out
 * is then its layout, and the finder has forgotten the stack.
 */
bool layout_finder_add(struct layout_finder *f, const struct wire_sample *sample, uint32_t first,
		       struct layout *out);

#endif /* LAYOUT_H */
