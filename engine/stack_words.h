/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_words.h - a stack on one line for reading: the functions that say what was going on, leaf
 * first, without the scheduler's and the entry code's own, which are the same in every stack.
 */
#ifndef ENGINE_STACK_WORDS_H
#define ENGINE_STACK_WORDS_H

#include <stdio.h>

#include "names.h"
#include "options.h"
#include "timeline.h"

/*
 * Writes "futex_wait < do_futex < ... | lock < work < main": kernel frames, then user frames.
 * kernel_frames: how many of the kernel's count, from the leaf; with_user: whether the user's do.
 */
void stack_words(FILE *out, struct names *n, const struct timelines *tl, const struct options *o,
		 uint32_t pair, uint32_t kernel_frames, bool with_user);

#endif /* ENGINE_STACK_WORDS_H */
