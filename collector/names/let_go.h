/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * let_go.h - files that no process has mapped any more, but that recorded frames are in. An open
 * file keeps its file system mounted. So what their names take is copied into memory (by a process
 * without rights, reader.h), and the file is closed.
 */
#ifndef LET_GO_H
#define LET_GO_H

#include "files/codefile.h"
#include "reader.h"

/*
 * Lets go of one such file, if there is one; call it now and then. readers may be NULL: then the
 * file has no names if it cannot be opened again.
 */
void let_go_of_one(struct code_files *files, struct readers *readers);

#endif /* LET_GO_H */
