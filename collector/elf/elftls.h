/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elftls.h - where a program or library keeps an exported thread-local variable. The file is
 * untrusted, as for elfsym.h.
 */
#pragma once

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "elfsym.h"

struct elftls {
	uint32_t tls; /* enum wire_tls, but not WIRE_TLS_MODULE */
	uint32_t pad;
	uint64_t slot;	 /* link-time address of the slot; 0 of WIRE_TLS_STATIC */
	uint64_t offset; /* of WIRE_TLS_STATIC: from the thread pointer, modulo 2^64 */
};

/*
 * Finds the variable of that name in .dynsym, and how the file itself reaches it: by a relocation,
 * or without one in a program. Returns 0; -ENOENT: the file does not define it; -ENOTSUP: it does,
 * but in none of these ways.
 */
int elftls_find(struct elfsym *e, const char *name, struct elftls *out);
