/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_frames.h - which frames of a stack with interpreted code say what the program did. */
#pragma once

#include "trace/trace.h"

/*
 * Whether a stack's leaf is in Go's runtime. Its threads have stacks of their own, which begin
 * there; and one that sleeps there is let go on for any goroutine.
 */
bool stack_is_of_go_runtime(const struct trace *t, struct trace_stack s);
/* Whether it is a frame of interpreted code. */
bool code_frame(const struct trace *t, uint32_t frame);
/* Whether that code is the library's that comes with the interpreter. */
bool code_of_library(const struct trace *t, uint32_t frame);
/* The first frame of interpreted code, from the leaf; s.n: there is none. */
uint32_t code_first(const struct trace *t, struct trace_stack s);
/* The first of the program, not of that library; if there is none, the first; s.n: none at all. */
uint32_t code_of_program(const struct trace *t, struct trace_stack s);
/*
 * Whether an interpreter runs in it without any frame of interpreted code: the recorder did not
 * come to read which functions these are.
 */
bool code_is_missing(const struct trace *t, struct trace_stack s);
/*
 * What s.frames[i], interpreted code, called: the next frame towards the leaf that has a name, and
 * is none of the interpreter's functions that only make calls. i: there is none.
 */
uint32_t code_called(const struct trace *t, struct trace_stack s, uint32_t i);
