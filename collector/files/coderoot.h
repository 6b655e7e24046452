/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coderoot.h - the root directories of processes (containers have their own), each held open once,
 * so that the files of a program can still be found after its container is gone; opening files in
 * them; and whether an open file is the one that was meant: a path, and the process behind
 * /proc/PID/map_files, may show another file a moment later. Their contents are untrusted.
 */
#pragma once

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
 * Finds path below a root directory (-1: our own) without following symbolic links out of it, and
 * opens nothing. flags: 0 or O_NOFOLLOW. Returns an O_PATH descriptor to close, or a negative
 * errno.
 */
int code_find_in_root(int dir, const char *path, uint64_t flags);
/*
 * Opens what code_find_in_root() finds for reading, if it is a regular file. Nothing else is ever
 * really opened, as opening a device may have effects. Returns a descriptor to close, or a negative
 * errno: -EINVAL if it is no regular file.
 */
int code_open_in_root(int dir, const char *path, uint64_t flags);

/* Turns an O_PATH descriptor into one for reading, by the same rules. Closes fd. */
int code_reopen_regular(int fd);

/*
 * Whether mappings of the regular file fd have that device and inode number in /proc/PID/maps and
 * in perf's records. stat() says so on most file systems; on the others (btrfs, overlayfs) the file
 * is mapped here, and our own /proc/self/maps compared.
 */
bool code_is_file(int fd, uint32_t maj, uint32_t min, uint64_t ino);
/* The file's generation: which one of the files that had its inode number. 0: not known. */
uint32_t code_generation(int fd);

/* Whether the file fd is on the mount that our root directory is on. */
bool code_roots_is_on_own_mount(const struct code_roots *r, int fd);
