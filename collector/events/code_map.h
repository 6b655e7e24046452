/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_map.h - what the BPF side has told of interpreted code: which function a code object is, in
 * which file, and which line an instruction belongs to. And where in a user stack frames of
 * interpreted code belong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

struct code_map;

/* Returns 0 or -ENOMEM. */
int code_map_new(struct code_map **out);
/* NULL is allowed. */
void code_map_free(struct code_map *m);

/*
 * Takes a WIRE_CODE record of len bytes. Memory is bounded: old code is forgotten, and of very much
 * code lines are not known. Returns 0, -EBADMSG or -ENOMEM.
 */
int code_map_take(struct code_map *m, const struct wire_code *r, size_t len);

/* Where a frame of interpreted code is. */
struct code_location {
	const char *function; /* "": not known; valid until the next record is taken */
	const char *file;     /* path as the interpreter has it; "": not known */
	uint32_t line;	      /* from 1 on; 0: not known */
	bool is_hidden;	      /* nothing that the program has: it is left out */
};

/* The location of a frame (wire_code_frame()). */
struct code_location code_map_find(const struct code_map *m, uint64_t frame);

/*
 * The addresses of a user stack as it was recorded: n native ones, leaf first, then n_code frames
 * of interpreted code. The evaluator's code is at the addresses from eval_start up to eval_end.
 * whole: the native ones reach the root.
 */
struct code_stack {
	const __u64 *frames;
	uint32_t n, n_code;
	__u64 eval_start, eval_end;
	bool whole;
};

/*
 * Fills order with the indexes of its frames, leaf first, in which those of interpreted code stand
 * before the frame of the evaluator that runs them. It has room for WIRE_STACK_MAX indexes; a
 * longer stack is cut. Returns how many there are; *cut: the stack has more.
 */
uint32_t code_stack_order(const struct code_stack *s, uint16_t *order, bool *cut);
