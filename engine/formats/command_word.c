// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_word.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_text.h"
#include "common/xalloc.h"
#include "table.h"

static bool is_printable(const char *word)
{
	const unsigned char *s = (const unsigned char *)word;
	uint32_t c = 1;

	while (*s && c)
		s += clean_next(s, &c);
	return c;
}

/* $'...', with the octal numbers of bytes that a terminal must not get: POSIX.1-2024, 2.2.4. */
static void put_escaped(FILE *out, const char *word)
{
	const unsigned char *s = (const unsigned char *)word;
	uint32_t c;

	fputs("$'", out);
	for (size_t len; *s; s += len) {
		len = clean_next(s, &c);
		if (c == '\'' || c == '\\')
			putc('\\', out);
		for (size_t i = 0; i < len; i++)
			fprintf(out, c ? "%c" : "\\%03o", s[i]);
	}
	putc('\'', out);
}

void command_put_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./-+@,:=%";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	if (!is_printable(word)) {
		put_escaped(out, word);
		return;
	}
	putc('\'', out);
	for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1)
		fprintf(out, "%.*s'\\''", (int)(quote - word), word);
	fprintf(out, "%s'", word);
}

void command_put_next(FILE *out, const char *what, const char *command, const char *path,
		      size_t columns)
{
	char *text = NULL;
	size_t len;
	FILE *f = xmemstream(&text, &len);

	fputs(command, f);
	if (path) {
		putc(' ', f);
		command_put_word(f, path);
	}
	xmemstream_close(f, &text);
	fprintf(out, "%s%s\n",
		columns && table_width(what) + table_width(text) > columns ? "" : what, text);
	free(text);
}
