// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <stdint.h>
#include <stdio.h>

#define REPLACEMENT 0xfffdu

/*
 * Reads the character at s; returns its length, 0 if the byte there begins none. The terminating 0
 * ends any sequence (Unicode 15, table 3-7).
 */
static size_t read_character(const unsigned char *s, uint32_t *c)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *s < 0x80	 ? 1
		     : *s < 0xc0 ? 0
		     : *s < 0xe0 ? 2
		     : *s < 0xf0 ? 3
		     : *s < 0xf8 ? 4
				 : 0;

	*c = len == 1 ? *s : *s & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3fu);
	}
	if (!len || *c < smallest[len] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return len;
}

void json_string(struct text_buf *b, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char escape[8];
	uint32_t c;
	size_t len;

	text_puts(b, "\"");
	for (; *s; s += len ? len : 1) {
		len = read_character(s, &c);
		if (!len)
			c = REPLACEMENT;
		if (c == '"' || c == '\\') {
			text_puts(b, c == '"' ? "\\\"" : "\\\\");
		} else if (!len || c < 0x20 || (c >= 0x7f && c < 0xa0)) {
			snprintf(escape, sizeof(escape), "\\u%04x", (unsigned int)c & 0xffff);
			text_puts(b, escape);
		} else {
			text_put(b, (const char *)s, len);
		}
	}
	text_puts(b, "\"");
}
