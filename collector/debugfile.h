/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debugfile.h - where else the functions of a program are that was stripped: in the debug file that
 * a distribution installs under its build ID, on this machine or in the program's container, or in
 * its own .gnu_debugdata.
 *
 * A container's debug file is a stranger's, and the program may also run outside: it counts only
 * if whoever put it there could have replaced the program as well. It has to lie on the same file
 * system, and to be root's or the program's owner's.
 */
#ifndef DEBUGFILE_H
#define DEBUGFILE_H

#include "elfsym.h"

/*
 * Adds what can be found to e, which was opened from fd (-1: from memory). root is the directory
 * that is the program's root, -1 if that is our own.
 */
void debugfile_add(struct elfsym *e, int fd, int root);

#endif /* DEBUGFILE_H */
