/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.h - the layout of --help: one option a line, at most 80 columns. */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

#define HELP_COLUMN 27 /* where explanations begin; 53 columns are left for them */

/*
 * Writes the line of an option: "  -o, --output FILE        write here". letter 0, name NULL, value
 * NULL: it has none.
 */
static inline void help_put(FILE *out, char letter, const char *name, const char *value,
			    const char *text)
{
	char dash[] = { '-', letter, '\0' };
	int n = fprintf(out, "  %2s%s%s%s%s%s", letter ? dash : "", letter && name ? ", " : "  ",
			name ? "--" : "", name ? name : "", value ? " " : "", value ? value : "");

	fprintf(out, "%*s%s\n", n < HELP_COLUMN ? HELP_COLUMN - n : 1, "", text);
}

#endif /* HELP_H */
