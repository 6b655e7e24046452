// SPDX-License-Identifier: GPL-2.0-or-later
#include "print.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7), 0 if there is none.
 * The terminating 0 ends any sequence.
 */
static size_t utf8_len(const uint8_t *s)
{
	size_t len = *s < 0x80	 ? 1
		     : *s < 0xc2 ? 0
		     : *s < 0xe0 ? 2
		     : *s < 0xf0 ? 3
		     : *s < 0xf5 ? 4
				 : 0;

	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

void print_clean(FILE *out, const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t len;

	for (; *s; s += len ? len : 1) {
		len = utf8_len(s);
		if (len == 1   ? *s < 0x20 || *s == 0x7f
		    : len == 2 ? *s == 0xc2 && s[1] < 0xa0
			       : !len)
			putc('?', out);
		else
			fwrite(s, 1, len, out);
	}
}
