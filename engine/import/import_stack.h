/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_stack.h - turns call chains as perf script prints them, a frame a line, into the stacks of
 * a trace. It owns which frames are kernel frames, and the memory of earlier call chains: nearly
 * all of them repeat.
 *
 *     <tab>ADDRESS [SYMBOL[+0xOFFSET]] [(DSO)] [(inlined)]
 */
#pragma once

#include "common/intern.h"
#include "import_chain.h"

#define IMPORT_STACK_GUESSES 4096u

/* All zero, but for the encoder, is ready for use. */
struct import_stacks {
	struct encoder *enc;
	struct intern texts; /* whole call chains */
	struct intern lines;
	struct intern modules;	    /* by path, a string id */
	struct import_stack *known; /* by the id of a call chain - 1 */
	struct import_frame *seen;  /* by the id of a line - 1 */
	size_t cap_known, cap_seen;
	/* Ids of call chains that are likely to come again; see import_stack_guess(). */
	uint32_t guesses[IMPORT_STACK_GUESSES];
	bool any_kernel, any_user;
};

/*
 * Recognizes a call chain that repeats, without searching its end: compares the likely one
 * for who with the text at p, of which len bytes are in memory; an empty line must follow. Returns
 * its length and sets *stack; 0: it differs. who is any number: call chains with the same who tend
 * to be equal.
 */
size_t import_stack_guess(const struct import_stacks *s, uint32_t who, const char *p, size_t len,
			  struct import_stack *stack);
/*
 * Parses the lines of [p, p + len) and remembers them; len_there bytes from p on are in memory.
 * Returns 0 or -ENOMEM.
 */
int import_stack_read(struct import_stacks *s, uint32_t who, const char *p, size_t len,
		      size_t len_there, struct import_stack *stack);
/* True if a line that does not begin with a tab is still part of a call chain. */
bool import_stack_continues(const char *line, size_t len);
void import_stacks_free(struct import_stacks *s);
