/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_files.h - finds the file with the symbols of a program or library, by its build ID: in the
 * folders of --debug-dir, below /usr/lib/debug, at the path where the program was recorded, and on
 * debuginfod servers. It owns an index of the folders, which is made when it is first needed.
 */
#pragma once

#include <stddef.h>

#include "base/options.h"

struct debug_files;

/* o must outlive it. */
void debug_files_new(struct debug_files **out, const struct options *o);
void debug_files_free(struct debug_files *d);

/*
 * Where to look for files and what belongs to them, as libdwfl wants it: folders joined by ':'; to
 * be freed.
 */
char *debug_files_path(struct debug_files *d);

/*
 * Opens the candidate of one source, 0 to debug_files_sources() - 1, cheap ones first, for the
 * build ID (lower-case hex) and the path where the file was recorded. Its build ID may still be
 * another one. Returns a descriptor to close, and a name for messages in name; or a negative errno.
 */
size_t debug_files_sources(const struct debug_files *d);
int debug_files_open(struct debug_files *d, size_t source, const char *build_id, const char *path,
		     char *name, size_t name_size);

/* Why debuginfod is not asked although it is wanted, a line; NULL: it is asked, or not wanted. */
const char *debug_files_complaint(const struct debug_files *d);
