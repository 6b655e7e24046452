/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mismatch.h - for --verify: all that may explain why a stack is not what the other unwinder found.
 */
#ifndef UNWIND_MISMATCH_H
#define UNWIND_MISMATCH_H

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "names/symbolize.h"
#include "unwind/reference.h"

/*
 * Prints to standard error: whose stack it is and when; how its n frames were found, and why there
 * are no more (end); both stacks with the code that was mapped there at that time, as far as is
 * known; and what is mapped there now. c is the record that reference_compare() got last.
 */
void mismatch_print(struct symbolizer *sym, const struct reference *r, const struct wire_copy *c,
		    const __u64 *frames, uint32_t n, uint32_t end);

#endif /* UNWIND_MISMATCH_H */
