/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - where a thread was, in the few words that a table has room for: the program's function,
 * the library function that it called, and the kernel's function that this led to.
 */
#pragma once

#include "names.h"

/*
 * The id, in names, of the text for a stack pair: "jbd2_log_wait_commit | fsync < flush_log", leaf
 * first; without what is the same in nearly all stacks, and without the inside of the C and C++
 * libraries. kernel_frames, with_user: what counts of the stack, as for names_shown_stack();
 * with_kernel: the kernel's function is named, even if there are user functions, unless a system
 * call and an object say as much. "" if nothing is known.
 */
uint32_t place_text(struct names *n, const struct trace *t, uint32_t pair, uint32_t kernel_frames,
		    bool with_user, bool with_kernel);
