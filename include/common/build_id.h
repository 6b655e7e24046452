/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build_id.h - what tells one build of a program or library from others. Callers link libelf. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 64u /* bytes; a SHA-1 has 20, others have 8 to 32 */

struct Elf; /* libelf.h */

/*
 * Writes the build ID to id and returns its length in bytes; 0 if there is none. It is the GNU
 * note's, or, as Go's linker makes none before Go 1.24, the last part of Go's own note: a hash of
 * the program (cmd/internal/buildid in Go's sources). elf may be hostile.
 */
size_t build_id_find(struct Elf *elf, uint8_t id[BUILD_ID_MAX]);
