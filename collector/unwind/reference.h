/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reference.h - for --verify: unwinds a copied stack a second time, by libdwfl, which has code of
 * its own for the mappings in /proc, the files, their call frame information and the frames, and
 * compares. It opens files by name, as a debugger does, and once more by their mappings if a stack
 * differs: the name may be another file for that process. It takes about 100 us for each stack.
 */
#pragma once

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "names/symbolize.h"

struct reference;

enum reference_result {
	REFERENCE_SAME,
	REFERENCE_DIFFERS,
	REFERENCE_NONE, /* nothing to compare with: the process is gone, one of the two a guess */
};

/* Returns 0 or -ENOMEM. */
int reference_new(struct reference **out);
void reference_free(struct reference *r);

/*
 * Unwinds from the registers in c, which must be all known, and compares with the n frames in
 * frames; end (enum chainlog_stack_end) says why these end. If one of the two stacks is not whole,
 * only the frames that both have are compared. The other unwinder sees the mappings that the
 * process has when it first meets c->space and image, which say what these are: a difference counts
 * only if they were the same when the stack was recorded, which is for the caller to know.
 */
enum reference_result reference_compare(struct reference *r, const struct wire_copy *c,
					uint32_t image, const __u64 *frames, uint32_t n,
					uint32_t end);

/*
 * Prints to standard error whose stack it is and when; how its n frames were found, and why there
 * are no more (end); and both stacks with the code that was mapped there at that time. c is the
 * record that was compared last.
 */
void reference_print(const struct reference *r, struct symbolizer *sym, const struct wire_copy *c,
		     const __u64 *frames, uint32_t n, uint32_t end);
