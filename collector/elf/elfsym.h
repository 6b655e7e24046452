/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsym.h - the functions of one ELF file by address. The file is untrusted: every size in it is
 * checked, work and memory are bounded, and an inconsistent file gets no names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/build_id.h"

struct elfsym;

/*
 * elfsym_open() borrows fd until elfsym_close(), elfsym_open_memory() copies the len bytes. The
 * take functions own what they are given, also when they fail: it is closed or freed. Returns 0;
 * -ENOEXEC if it is no ELF program or library; -ENOMEM; or the errno of reading it.
 */
int elfsym_open(struct elfsym **out, int fd);
int elfsym_take_fd(struct elfsym **out, int fd);
int elfsym_open_memory(struct elfsym **out, const void *image, size_t len);
int elfsym_take_memory(struct elfsym **out, void *image, size_t len);
void elfsym_close(struct elfsym *e);

/*
 * Adds the functions of more, a debug file of the same program. more is closed with e.
 */
void elfsym_add(struct elfsym *e, struct elfsym *more);

/* The descriptor that it owns; -1: none. */
int elfsym_fd(const struct elfsym *e);

/* Writes the build ID to id and returns its length in bytes; 0 if it has none. */
size_t elfsym_build_id(const struct elfsym *e, uint8_t id[BUILD_ID_MAX]);

/*
 * The i-th part of the file that is loaded as code. False: there are no more, or more than any
 * program has.
 */
struct elfsym_segment {
	uint64_t offset, bytes; /* in the file */
	uint64_t vaddr;
};
bool elfsym_code(const struct elfsym *e, size_t i, struct elfsym_segment *out);

/* The link-time address of the byte at file_offset; false: no segment loads it. */
bool elfsym_vaddr(const struct elfsym *e, uint64_t file_offset, uint64_t *vaddr);

/* False if the file was stripped: it has only its exported names. */
bool elfsym_has_symtab(const struct elfsym *e);

/*
 * The *len bytes of the section of that name, as in the file. NULL: there is none, or it is larger
 * than max. Valid until elfsym_close().
 */
const void *elfsym_section(struct elfsym *e, const char *name, size_t max, size_t *len);

/* The file as libelf has it, for libdw; e's own. */
struct Elf *elfsym_libelf(const struct elfsym *e);

/*
 * Copies what this takes of the file, which is from, to the same offsets of to, which has its
 * length: headers, symbols, notes, .eh_frame and so on, at most max_bytes. Returns 0 or a negative
 * errno.
 */
int elfsym_copy(struct elfsym *e, int from, int to, uint64_t max_bytes);

struct elfsym_address {
	uint64_t vaddr;
	uint64_t start;	  /* out: vaddr of the function */
	const char *name; /* out: as the file has it, valid until elfsym_close(); NULL: none */
	bool is_plt;	  /* out: it is the PLT stub of the named function */
	bool is_bounded;  /* out: without a name, but its function is known to begin at start */
};

/*
 * Names those of the n addresses, sorted by vaddr, whose name is NULL. They are return addresses:
 * the byte before decides, then the byte itself.
 */
void elfsym_find(struct elfsym *e, struct elfsym_address *a, size_t n);

/* Finds where the functions begin of those addresses that have no name, by the same rule. */
void elfsym_find_bounds(struct elfsym *e, struct elfsym_address *a, size_t n);
