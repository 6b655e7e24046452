/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_names.h - the functions in one file with symbols or debug information, by link-time
 * address, through libdwfl. It owns the open file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_names;

/*
 * Opens the file, and closes fd also in case of an error. name is for libdwfl, which looks beside
 * it and in the folders of path (joined by ':'; it must outlive what is opened) for what belongs to
 * it. Returns 0; -ENOEXEC if it is no ELF file; -ESTALE if its build ID is not build_id (hex);
 * -ENOMEM.
 */
int debug_names_open(struct debug_names **out, int fd, const char *name, const char *build_id,
		     char *path);
void debug_names_close(struct debug_names *d);

/*
 * The function at a return address: the byte before decides, then the byte itself. The name is as
 * in the file, until debug_names_close(). False: no symbol covers it.
 */
bool debug_names_symbol(struct debug_names *d, uint64_t vaddr, const char **name, uint64_t *start);

/* A function whose code is at an address, and the line in it. */
struct debug_place {
	const char *name; /* as in the file, perhaps mangled; "": not known */
	const char *file; /* NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/*
 * The functions at a return address by the debug information: those that were inlined there, the
 * innermost first, then the function itself. Returns how many, at most max; 0: no debug information
 * covers the address.
 */
size_t debug_names_places(struct debug_names *d, uint64_t vaddr, struct debug_place *out,
			  size_t max);
