// SPDX-License-Identifier: GPL-2.0-or-later
#include "html.h"

#include "utf8.h"

void html_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	size_t len;

	for (; *s; s += len ? len : 1) {
		len = utf8_read(s, &c);
		if (!len || utf8_is_control(c))
			putc('?', out);
		else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
			fprintf(out, "&#%d;", (int)c);
		else
			fwrite(s, 1, len, out);
	}
}
