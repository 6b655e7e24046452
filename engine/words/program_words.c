// SPDX-License-Identifier: GPL-2.0-or-later
#include "program_words.h"

#include <string.h>

#include "chainlog.h"
#include "common/clean_text.h"

const char *program_argument(const char *text, size_t i, size_t *len)
{
	for (; text && i; i--) {
		text = strchr(text, CHAINLOG_ARGUMENT);
		text += !!text;
	}
	*len = text ? strcspn(text, (const char[]) { CHAINLOG_ARGUMENT, 0 }) : 0;
	return text;
}

void program_put(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;

	for (size_t len; *p; p += len) {
		len = clean_next(p, &c);
		if (*p == CHAINLOG_ARGUMENT)
			putc(' ', out);
		else if (c)
			fwrite(p, 1, len, out);
		else
			putc('?', out);
	}
}

void program_put_arguments(FILE *out, const char *text)
{
	size_t len;
	const char *first = program_argument(text, 1, &len);

	program_put(out, first ? first : "");
}
