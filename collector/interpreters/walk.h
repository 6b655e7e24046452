/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.h - finds the frames of interpreted code of a thread that does not run, and what their code
 * is, as bpf/interpreter.h does for one that runs. What is read is a stranger's memory: it may lie,
 * have loops, and change meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "walk_memory.h"

/* A frame: the address of its code object, and as in wire_code_frame() where in it. */
struct walk_frame {
	uint64_t code;	/* 0: nothing of the program */
	uint64_t place; /* not bounded */
	uint32_t is_entry, pad;
};

/*
 * The frames of the thread with that thread pointer, leaf first; returns how many. A list that
 * cannot be read any further ends there.
 */
uint32_t walk_frames(const struct walk_memory *m, const struct wire_interpreter *in,
		     uint64_t thread_pointer, struct walk_frame frames[WIRE_CODE_FRAMES]);

/*
 * Describes the code object at that address: all of *out but r, id and tgid. False: it cannot be
 * read.
 */
bool walk_code(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t code,
	       struct wire_code *out);
