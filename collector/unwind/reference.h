/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reference.h - for --verify: unwinds a copied stack by libdwfl, which has its own way from the
 * mappings in /proc to the files, their call frame information and the frames, and compares. It
 * opens files by name, as a debugger does, and takes some 100 us a stack.
 */
#ifndef UNWIND_REFERENCE_H
#define UNWIND_REFERENCE_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

struct reference;

enum reference_result {
	REFERENCE_SAME,
	REFERENCE_DIFFERS,
	REFERENCE_NONE, /* nothing to compare with: the process is gone, or the stack a guess */
};

/* NULL when out of memory. */
struct reference *reference_new(void);
void reference_free(struct reference *r);

/*
 * Compares the stack that begins with the registers in c (all of them) with the n frames in frames,
 * which ended for the reason end (enum wire_stack_end). Of one that is not whole, and of one that
 * libdwfl cannot unwind to its end, just those frames are compared that both have.
 */
enum reference_result reference_compare(struct reference *r, const struct wire_copy *c,
					const __u64 *frames, uint32_t n, uint32_t end);

#endif /* UNWIND_REFERENCE_H */
