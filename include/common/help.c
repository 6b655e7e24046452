// SPDX-License-Identifier: GPL-2.0-or-later
#include "help.h"

#define HELP_COLUMN 27 /* where explanations begin; 53 columns are left for them */

void help_put(FILE *out, char letter, const char *name, const char *value, const char *text)
{
	char dash[] = { '-', letter, '\0' };
	int n = fprintf(out, "  %2s%s%s%s%s%s", letter ? dash : "", letter && name ? ", " : "  ",
			name ? "--" : "", name ? name : "", value ? " " : "", value ? value : "");

	fprintf(out, "%*s%s\n", n < HELP_COLUMN ? HELP_COLUMN - n : 1, "", text);
}
