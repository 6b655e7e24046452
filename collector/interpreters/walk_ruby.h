/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_ruby.h - what Ruby's interpreter has otherwise than others, for walk.c; the same as
 * bpf/ruby_code.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "walk_memory.h"

/* The current frame; 0: none. *end: where the array of frames ends. */
uint64_t ruby_frame(const struct walk_memory *m, const struct wire_interpreter *in,
		    uint64_t thread_pointer, uint64_t *end);

/* Where a string's characters are, and how many bytes; false: it is no string. */
bool ruby_string(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t string,
		 uint64_t *data, uint64_t *bytes);

/* The string with a path, by what a code object has for it; 0: it cannot be read. */
uint64_t ruby_path(const struct walk_memory *m, uint64_t value);

/* The name of code of that kind if it is a constant, which may be in memory that is not read. */
void ruby_name(uint32_t kind, struct wire_code_text *name);

/* What of a code object at that address has its fields; 0: it cannot be read. */
uint64_t ruby_body(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t code);

/*
 * The line of an instruction of the code object at that address; 0: not known. False: it is not
 * the object's.
 */
bool ruby_line(const struct walk_memory *m, const struct wire_interpreter *in, uint64_t code,
	       uint64_t instruction, uint64_t *line);
