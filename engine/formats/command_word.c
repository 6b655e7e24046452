// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_word.h"

#include <string.h>

void command_put_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./-+@,:=%";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1)
		fprintf(out, "%.*s'\\''", (int)(quote - word), word);
	fprintf(out, "%s'", word);
}
