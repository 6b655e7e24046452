// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <stdio.h>

#include "utf8.h"

#define REPLACEMENT 0xfffdu

void json_string(struct text_buf *b, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char escape[8];
	uint32_t c;
	size_t len;

	text_puts(b, "\"");
	for (; *s; s += len ? len : 1) {
		len = utf8_read(s, &c);
		if (!len)
			c = REPLACEMENT;
		if (c == '"' || c == '\\') {
			text_puts(b, c == '"' ? "\\\"" : "\\\\");
		} else if (!len || utf8_is_control(c)) {
			snprintf(escape, sizeof(escape), "\\u%04x", (unsigned int)c & 0xffff);
			text_puts(b, escape);
		} else {
			text_put(b, (const char *)s, len);
		}
	}
	text_puts(b, "\"");
}
