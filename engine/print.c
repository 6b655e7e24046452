// SPDX-License-Identifier: GPL-2.0-or-later
#include "print.h"

#include <stdbool.h>

#include "utf8.h"

static void print_text(FILE *out, const char *text, bool html)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	size_t len;

	for (; *s; s += len ? len : 1) {
		len = utf8_read(s, &c);
		if (!len || utf8_is_control(c))
			putc('?', out);
		else if (html && (c == '&' || c == '<' || c == '>' || c == '"' || c == '\''))
			fprintf(out, "&#%d;", (int)c);
		else
			fwrite(s, 1, len, out);
	}
}

void print_clean(FILE *out, const char *text)
{
	print_text(out, text, false);
}

void print_html(FILE *out, const char *text)
{
	print_text(out, text, true);
}
