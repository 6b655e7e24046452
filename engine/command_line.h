/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_line.h - the command line of chainwalk, checked and turned into struct options. It owns
 * the table of options and the text of --help; it reads no trace.
 */
#pragma once

#include <stdio.h>

#include "base/options.h"

/*
 * Fills *o from the command line. Returns 0; or -EINVAL or -ENOMEM, with one line without a newline
 * in err[0..err_size) that says what is wrong. argv is reordered as by getopt_long(); strings in *o
 * point into it. The caller frees *o with options_free() in any case.
 */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t err_size);
/* Writes the help: all options (--help), or the most used ones on 24 lines of a terminal (-h). */
void options_help(FILE *out, bool all);
