/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfinterp.h - whether a program or library has an interpreter (CPython, PHP, Ruby, V8,
 * HotSpot), and
 * where. The file is untrusted, as for elfsym.h: what it says is to be bounded where it is used.
 */
#pragma once

#include <stdint.h>

#include "elfsym.h"
#include "elftls.h"

/* Words of the table of offsets that Python's runtime begins with, as far as it is used. */
#define ELFINTERP_OFFSETS 80u

struct elfinterp {
	uint32_t language; /* enum wire_language */
	uint32_t version;  /* as in struct wire_interpreter; 0: not known */
	/* Link-time addresses: the function that runs code, from start up to end, */
	uint64_t eval_start, eval_end;
	uint64_t state; /* _PyRuntime, PHP's executor_globals, JVM_STRUCTS; 0 of others */
	/* Ruby: the variable that points to the execution context of a thread. */
	struct elftls variable;
	/*
	 * The first words of _PyRuntime, if they are such a table (3.13 and later); V8: its
	 * constants (enum elfv8_constant), all else is 0; HotSpot: the first one is the link-time
	 * address of JVM_TYPES; else 0.
	 */
	uint64_t offsets[ELFINTERP_OFFSETS];
};

/*
 * Finds it by its symbols, exported or not. Returns 0; -ENOENT: the file has no interpreter that is
 * known, or it is for another machine.
 */
int elfinterp_find(struct elfsym *e, struct elfinterp *out);
