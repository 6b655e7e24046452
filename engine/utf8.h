/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.h - reading foreign text character by character: names come as whatever bytes they are. */
#ifndef ENGINE_UTF8_H
#define ENGINE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the character at s into *c. Returns its length in bytes, 0 if the byte there begins none
 * (Unicode 15, table 3-7). The terminating 0 of a string ends any sequence.
 */
static inline size_t utf8_read(const unsigned char *s, uint32_t *c)
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

/* C0, DEL and C1: what a terminal might take for a command. */
static inline bool utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

#endif /* ENGINE_UTF8_H */
