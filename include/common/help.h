/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.h - the layout of --help: one option a line, at most 80 columns. */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

/*
 * Writes the line of an option: "  -o, --output FILE        write here". letter 0, name NULL, value
 * NULL: it has none.
 */
void help_put(FILE *out, char letter, const char *name, const char *value, const char *text);

#endif /* HELP_H */
