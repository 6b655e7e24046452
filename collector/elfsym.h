/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsym.h - the functions of one ELF file by address. Any process on the machine can have made the
 * file: every size in it is checked, work and memory are bounded, and a file that lies gets no
 * names.
 */
#ifndef ELFSYM_H
#define ELFSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELFSYM_BUILD_ID_MAX 64

struct elfsym;

/*
 * Opens the ELF file fd, borrowed until elfsym_close(), or the len bytes of one in memory, which
 * are copied. What is taken over instead is closed or freed with it, also when that fails.
 * Returns 0; -ENOEXEC if it is no ELF program or library; -ENOMEM; or what reading it gave.
 */
int elfsym_open(struct elfsym **out, int fd);
int elfsym_take_fd(struct elfsym **out, int fd);
int elfsym_open_memory(struct elfsym **out, const void *image, size_t len);
int elfsym_take_memory(struct elfsym **out, void *image, size_t len);
void elfsym_close(struct elfsym *e);

/*
 * The functions of more, a debug file of the same program, count as e's own from now on. more is
 * closed with e.
 */
void elfsym_add(struct elfsym *e, struct elfsym *more);

/* Writes the build ID to id and returns its length in bytes; 0 if it has none. */
size_t elfsym_build_id(const struct elfsym *e, uint8_t id[ELFSYM_BUILD_ID_MAX]);

/* The address that the file was linked for, of a byte at file_offset that is loaded. */
bool elfsym_vaddr(const struct elfsym *e, uint64_t file_offset, uint64_t *vaddr);

/* False if the file was stripped: it has only the names that it exports. */
bool elfsym_has_symtab(const struct elfsym *e);

/*
 * The bytes of the section of that name, as they lie in the file, if they are at most max; *len is
 * how many. NULL: there is none. Valid until elfsym_close().
 */
const void *elfsym_section(struct elfsym *e, const char *name, size_t max, size_t *len);

struct elfsym_address {
	uint64_t vaddr;
	uint64_t start;	  /* out: vaddr of the function */
	const char *name; /* out: as the file has it, valid until elfsym_close(); NULL: none */
	bool is_plt;	  /* out: it is the stub that calls the named function */
};

/*
 * Names those of the n addresses, sorted by vaddr, that have no name yet (set name to NULL before).
 * An address is one that a call returns to: the byte before it counts, then the byte itself.
 */
void elfsym_find(struct elfsym *e, struct elfsym_address *a, size_t n);

#endif /* ELFSYM_H */
