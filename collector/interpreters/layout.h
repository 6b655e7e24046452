/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.h - where the frames of interpreted code, their code objects and strings are in the memory
 * of an interpreter, by its version: CPython 3.8 to 3.13, PHP 8.2 without threads (NTS), Ruby
 * 3.0 to 3.4; and V8 of Node.js 18 and 20.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "elf/elfinterp.h"

/*
 * Fills *out for a process in which the file that has the interpreter is mapped with that bias.
 * False: the version is not known, or what the file says of it cannot be true.
 */
bool layout_find(const struct elfinterp *e, uint64_t bias, struct wire_interpreter *out);
