/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other_file.h - what a file is that is no trace, and which program takes it. */
#ifndef ENGINE_OTHER_FILE_H
#define ENGINE_OTHER_FILE_H

/*
 * A line that says what the regular file at path is, by its first bytes, and what to do with it;
 * NULL: not known.
 */
const char *other_file(const char *path);

#endif /* ENGINE_OTHER_FILE_H */
