/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfv8.h - what V8 (Node.js) says of its own structs: constants for debuggers, "v8dbg_...", each a
 * variable of four bytes.
 */
#pragma once

#include <stdint.h>

#include "elfsym.h"

enum elfv8_constant {
	ELFV8_FRAME_FUNCTION, /* of a frame, from its frame pointer, in bytes */
	ELFV8_FRAME_CONTEXT,
	ELFV8_FRAME_BYTECODES,
	ELFV8_FRAME_OFFSET,
	ELFV8_TAG,
	ELFV8_TAGS,
	ELFV8_SMI_SHIFT,
	ELFV8_WORD, /* bytes of a word in an object */
	ELFV8_FUNCTION_SHARED,
	ELFV8_MAP_TYPE,
	ELFV8_SHARED_NAME,
	ELFV8_SHARED_SCRIPT,
	ELFV8_SCRIPT_SOURCE,
	ELFV8_SCRIPT_NAME,
	ELFV8_SCRIPT_LINE_ENDS, /* before the script's id */
	ELFV8_SCOPE_LOCALS,	/* indexes, in words behind the map */
	ELFV8_SCOPE_REST,
	ELFV8_STRING_LENGTH,
	ELFV8_STRING_CHARS,
	ELFV8_STRINGS, /* types below are strings */
	ELFV8_STRING_KIND,
	ELFV8_ONE_BYTE,
	ELFV8_CONS,
	ELFV8_EXTERNAL,
	ELFV8_SLICED,
	ELFV8_THIN,
	ELFV8_TYPE_SHARED,
	ELFV8_TYPE_SCOPE,
	ELFV8_TYPE_SCRIPT,
	ELFV8_TYPE_BYTECODES,
	ELFV8_CONSTANTS
};

/*
 * Reads them, each a number with a sign. Returns 0; -ENOENT: the file lacks one of them, so that it
 * has no V8, or one whose structs are others.
 */
int elfv8_find(struct elfsym *e, uint64_t constants[ELFV8_CONSTANTS]);
