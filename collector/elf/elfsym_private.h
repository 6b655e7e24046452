/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsym_private.h - an open ELF file, shared by elfsym.c (opening, segments, sections),
 * elfsym_find.c (look-up of functions), elfsym_go.c (Go's own names), elfsym_bounds.c (bounds of
 * functions without a name), elfprobe.c (places for probes), elfdata.c, elftls.c,
 * elfinterp.c and elfv8.c (variables).
 */
#pragma once

#include <gelf.h>

#include "elfsym.h"

/* Two symbol tables with their names, relocations, Go's table: files have no more. */
#define ELFSYM_TABLES_MAX 8u

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELFSYM_OWN_ORDER ELFDATA2LSB
#else
#define ELFSYM_OWN_ORDER ELFDATA2MSB
#endif

struct elfsym {
	Elf *elf;
	void *image; /* owned memory, or NULL */
	int fd;	     /* owned descriptor, or -1 */
	GElf_Ehdr header;
	size_t n_segments;
	bool has_symtab;
	bool looked_for_go;
	struct go_table *go;			/* owned; NULL: none */
	uint64_t bytes_read;			/* of symbol tables and their names, */
	size_t read[ELFSYM_TABLES_MAX], n_read; /* which are these sections */
	struct elfsym *more;			/* debug files, whose functions count, too; owned */
};

/* Whether it is a file for programs of this machine, as the recorder is one. */
bool elfsym_is_native(const struct elfsym *e);

/*
 * Where the byte at a link-time address is in the file; false: no segment that has one of these
 * flags (PF_X, PF_W, PF_R) has it.
 */
bool elfsym_offset(const struct elfsym *e, uint64_t vaddr, GElf_Word flags, uint64_t *offset);

/* The n bytes at a link-time address, valid until elfsym_close(); NULL: the file lacks them. */
const void *elfsym_bytes(struct elfsym *e, uint64_t vaddr, size_t n);

/* The section of the given type and name (NULL: the first one); its header in *sh. */
Elf_Scn *elfsym_find_section(struct elfsym *e, GElf_Word type, const char *name, GElf_Shdr *sh);

/* Whether the file may have the section's bytes read as well; libelf keeps what it has read. */
bool elfsym_may_read(struct elfsym *e, Elf_Scn *scn, const GElf_Shdr *sh);

/*
 * Calls fn with the bounds [start, end), link-time addresses, of each function that .eh_frame
 * describes; with none if it is damaged or too large. Time is linear in its size.
 */
typedef void (*elfsym_bounds_fn)(void *ctx, uint64_t start, uint64_t end);
void elfsym_each_bounds(struct elfsym *e, elfsym_bounds_fn fn, void *ctx);

/* Calls fn with each function that has a name, where it begins and how long it is; 0: not known. */
typedef void (*elfsym_function_fn)(void *ctx, const char *name, uint64_t start, uint64_t size);
void elfsym_each_function(struct elfsym *e, elfsym_function_fn fn, void *ctx);

/*
 * The function of a Go program without a symbol table that has code at vaddr, by the program's own
 * table, and where it begins. NULL: there is none. The name is valid until elfsym_close().
 */
const char *elfsym_go_function(struct elfsym *e, uint64_t vaddr, uint64_t *start);
/* Calls fn with all of them. */
void elfsym_each_go_function(struct elfsym *e, elfsym_function_fn fn, void *ctx);

/*
 * Calls fn with each symbol that the table of that type (SHT_DYNSYM, SHT_SYMTAB) defines; with none
 * if that table or its names have more than 64 MiB.
 */
typedef void (*elfsym_symbol_fn)(void *ctx, const char *name, const GElf_Sym *sym);
void elfsym_each_symbol(struct elfsym *e, GElf_Word type, elfsym_symbol_fn fn, void *ctx);
