// SPDX-License-Identifier: GPL-2.0-or-later
#include "clean_text.h"

size_t utf8_read(const unsigned char *s, uint32_t *c)
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

bool utf8_is_unprintable(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
	       c == 0x200b || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c < 0xe0080);
}

size_t clean_next(const unsigned char *s, uint32_t *c)
{
	size_t len = utf8_read(s, c);

	if (!len || utf8_is_unprintable(*c))
		*c = 0;
	return len ? len : 1;
}

void print_clean(FILE *out, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c;

	for (size_t len; *p; p += len) {
		len = clean_next(p, &c);
		if (c)
			fwrite(p, 1, len, out);
		else
			putc('?', out);
	}
}
