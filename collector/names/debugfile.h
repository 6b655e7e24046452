/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debugfile.h - the functions of a stripped program, from where else they may be: its debug file,
 * installed under the program's build ID or path in /usr/lib/debug or beside the program, on this
 * machine or in the program's container; or the program's "mini debug info", an ELF file compressed
 * with xz in its section .gnu_debugdata (all programs of Fedora and its relatives have it).
 *
 * A file found by its path counts only if its build ID is the program's, or if it has the checksum
 * in the program's .gnu_debuglink. A debug file in a container, or beside a program, was put there
 * by strangers, and the program may run outside of the container, too. It is used only if whoever
 * put it there could have replaced the program as well: it must be on the same file system, and
 * belong to root or to the program's owner. Unpacking mini debug info takes bounded memory, and the
 * result is read like any other untrusted file.
 */
#ifndef DEBUGFILE_H
#define DEBUGFILE_H

#include <stdbool.h>

#include "elfsym.h"

/*
 * Adds the functions that can be found to e, and returns whether there are any. e was opened from
 * fd (-1: from memory). root is the program's root directory, -1: the same as ours; path is where
 * the program is in it.
 */
bool debugfile_add(struct elfsym *e, int fd, int root, const char *path);
/* Adds those of fd, a debug file from elsewhere, which is closed, if it has e's build ID. */
void debugfile_add_fd(struct elfsym *e, int fd);

/* False: built without liblzma, .gnu_debugdata cannot be read. */
bool minidebug_is_supported(void);
/*
 * Opens e's .gnu_debugdata; *out is to be closed, or passed to elfsym_add(). Returns 0; -ENOENT if
 * there is none; -ENOTSUP if built without liblzma; -ENOEXEC if it is damaged or no ELF file;
 * -E2BIG if it is larger than any symbol table; -ENOMEM.
 */
int minidebug_open(struct elfsym **out, struct elfsym *e);

#endif /* DEBUGFILE_H */
