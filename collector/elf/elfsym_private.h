/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsym_private.h - an open ELF file, shared by elfsym.c (opening, segments, sections),
 * elfsym_find.c (look-up of functions), elfsym_bounds.c (bounds of functions without a name) and
 * elfprobe.c (places for probes).
 */
#pragma once

#include <gelf.h>

#include "elfsym.h"

/* Two symbol tables with their names, and the relocations of the PLT: files have no more. */
#define ELFSYM_TABLES_MAX 8u

struct elfsym {
	Elf *elf;
	void *image; /* owned memory, or NULL */
	int fd;	     /* owned descriptor, or -1 */
	GElf_Ehdr header;
	size_t n_segments;
	bool has_symtab;
	uint64_t bytes_read;			/* of symbol tables and their names, */
	size_t read[ELFSYM_TABLES_MAX], n_read; /* which are these sections */
	struct elfsym *more;			/* debug files, whose functions count, too; owned */
};

/* The section of the given type and name (NULL: the first one); its header in *sh. */
Elf_Scn *elfsym_find_section(struct elfsym *e, GElf_Word type, const char *name, GElf_Shdr *sh);

/*
 * Calls fn with the bounds [start, end), link-time addresses, of each function that .eh_frame
 * describes; with none if it is damaged or too large. Time is linear in its size.
 */
typedef void (*elfsym_bounds_fn)(void *ctx, uint64_t start, uint64_t end);
void elfsym_each_bounds(struct elfsym *e, elfsym_bounds_fn fn, void *ctx);

/* Calls fn with each function that has a name, where it begins and how long it is; 0: not known. */
typedef void (*elfsym_function_fn)(void *ctx, const char *name, uint64_t start, uint64_t size);
void elfsym_each_function(struct elfsym *e, elfsym_function_fn fn, void *ctx);
