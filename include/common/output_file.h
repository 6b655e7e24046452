/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_file.h - the file into which a program writes its result. If the program has to stop in
 * the middle (quick_exit(), as without memory), there is no file: a part is not taken for the
 * whole.
 */
#pragma once

#include <stdio.h>

/*
 * Creates the file, one in a program. path: borrowed until output_file_close(). NULL, and errno, as
 * fopen(). Pipes and devices are written to, and never removed.
 */
FILE *output_file_open(const char *path);
/* Flushes and closes it, as fclose(); it stays. */
int output_file_close(FILE *f);
/* Removes it if it is not closed yet. A signal handler may call it. */
void output_file_remove(void);
