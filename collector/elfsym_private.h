/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsym_private.h - what elfsym.c (the file and its sections) and elfsym_find.c (its functions)
 * know of each other. Nobody else includes it.
 */
#ifndef ELFSYM_PRIVATE_H
#define ELFSYM_PRIVATE_H

#include <gelf.h>

#include "elfsym.h"

struct elfsym {
	Elf *elf;
	void *image; /* its own memory, or NULL */
	int fd;	     /* its own descriptor, or -1 */
	GElf_Ehdr header;
	size_t n_segments;
	bool has_symtab;
	struct elfsym *more; /* whose functions count as this one's; owned */
};

/* The section of the given type and name (NULL: the first one); its header in *sh. */
Elf_Scn *elfsym_find_section(struct elfsym *e, GElf_Word type, const char *name, GElf_Shdr *sh);

#endif /* ELFSYM_PRIVATE_H */
