/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_code.h - where in its own code a program was: the frame nearest to the leaf that is neither a
 * library's, nor the runtime's, nor the start of all programs. What a reader can change is there;
 * the calls below it are the same in all programs.
 */
#pragma once

#include "names.h"

/* Whether a frame (an id of the trace) of a user stack is the program's own code. */
bool own_code_is(struct names *n, const struct trace *t, uint32_t frame);
/* Whether it is of a language's library that is compiled into programs, as those of Go and Rust. */
bool own_code_is_of_language(const struct trace *t, uint32_t frame);
/*
 * The frame of a stack pair's user part. If all of it is a library's, the call by which the program
 * waits. 0: nothing of it has a name.
 */
uint32_t own_frame(struct names *n, const struct trace *t, uint32_t pair);
/* "ask_redis (shelf.c:71)", with its source where that is known. A text's id. */
uint32_t own_frame_place(struct names *n, const struct trace *t, uint32_t frame);
/* The same of own_frame(): "" if there is none. */
uint32_t own_place(struct names *n, const struct trace *t, uint32_t pair);
