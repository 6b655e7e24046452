/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coderoot.h - the root directories of processes (containers have their own), each held open once,
 * so that the files of a program can still be found after its container is gone; and opening files
 * in them. Their contents are untrusted.
 */
#ifndef CODEROOT_H
#define CODEROOT_H

#include <stdbool.h>
#include <stdint.h>

struct code_roots;

/* Returns 0 or -ENOMEM. */
int code_roots_new(struct code_roots **out);
void code_roots_free(struct code_roots *r);

/*
 * The root of process tgid: *id > 0 holds one reference, 0 is our own. Returns 0; with *id 0,
 * -ESRCH if it cannot be opened, -EMFILE if there are too many.
 */
int code_roots_get(struct code_roots *r, uint32_t tgid, uint32_t *id);
void code_roots_put(struct code_roots *r, uint32_t id);

/* Its O_PATH descriptor, which stays the table's; id 0: our own root. */
int code_roots_dir(const struct code_roots *r, uint32_t id);

/*
 * Opens path below a root directory for reading, without following symbolic links out of it, if it
 * is a regular file. Nothing else is ever really opened, as opening a device may have effects.
 * Returns a descriptor to close, or a negative errno.
 */
int code_open_in_root(int dir, const char *path);

/* Turns an O_PATH descriptor into one for reading, by the same rules. Closes fd. */
int code_reopen_regular(int fd);

/* Whether the file fd is on the mount that our root directory is on. */
bool code_roots_is_on_own_mount(const struct code_roots *r, int fd);

#endif /* CODEROOT_H */
