/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coderoot.h - the root directories from which processes see the file system: those of containers,
 * each distinct one held open once, so that what belongs to a program can still be found when its
 * container is gone. What is in them was put there by strangers.
 */
#ifndef CODEROOT_H
#define CODEROOT_H

#include <stdint.h>

struct code_roots;

/* NULL when out of memory. */
struct code_roots *code_roots_new(void);
void code_roots_free(struct code_roots *r);

/*
 * The root of process tgid: *id > 0 holds one reference, 0 is our own. Returns 0, or -ESRCH if it
 * cannot be had (*id is 0 then).
 */
int code_roots_get(struct code_roots *r, uint32_t tgid, uint32_t *id);
void code_roots_put(struct code_roots *r, uint32_t id);

/* Its directory, which stays the table's; of id 0 our own. Only for openat() and the like. */
int code_roots_dir(const struct code_roots *r, uint32_t id);

/* The root of process tgid as a descriptor to close; -1 if it is our own, or cannot be had. */
int code_root_open(uint32_t tgid);

/*
 * Opens path for reading as seen from a root directory, without following symbolic links out of it,
 * if it is a regular file with the inode ino (0: any). Opening has no side effect on what else may
 * be there. Returns a descriptor to close, or a negative errno.
 */
int code_open_in_root(int dir, const char *path, uint64_t ino);

/* From a descriptor that only names a file to one that reads it, by the same rules. Closes fd. */
int code_reopen_regular(int fd, uint64_t ino);

#endif /* CODEROOT_H */
