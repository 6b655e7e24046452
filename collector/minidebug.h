/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * minidebug.h - "mini debug info": the functions of a stripped program as an ELF file of its own,
 * compressed with xz, in its section .gnu_debugdata. Fedora and its relatives ship all programs so.
 * Whoever made the file made this: what unpacking may take of memory is bounded, and what comes out
 * is read like any other file of a stranger. Needs liblzma when it is built.
 */
#ifndef MINIDEBUG_H
#define MINIDEBUG_H

#include <stddef.h>

#include "elfsym.h"

/* Whether this build can unpack anything. */
bool minidebug_is_supported(void);

/*
 * Opens what e has in .gnu_debugdata; *out is to be closed, or given to elfsym_add(). Returns 0;
 * -ENOENT if it has nothing there; -ENOTSUP if built without liblzma; -ENOEXEC if it is damaged or
 * no ELF file; -E2BIG if it is larger than any symbol table; -ENOMEM.
 */
int minidebug_open(struct elfsym **out, struct elfsym *e);

#endif /* MINIDEBUG_H */
