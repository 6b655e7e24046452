// SPDX-License-Identifier: GPL-2.0-or-later
#include "strip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

int strip_hex(struct strip *s, struct folded_line *line)
{
	const char *p = line->stack, *end = p + line->len;
	size_t n = 0, need = line->len * 2 + 8; /* 0x1 is the shortest, 0x... two longer */

	if (s->cap < need) {
		char *bigger = realloc(s->text, need);

		if (!bigger)
			return -ENOMEM;
		s->text = bigger;
		s->cap = need;
	}
	while (p < end) {
		const char *q = p + 2;

		if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
			while (q < end && is_hex(*q))
				q++;
			if (q > p + 2) {
				memcpy(s->text + n, "0x...", 5);
				n += 5;
				p = q;
				continue;
			}
		}
		s->text[n++] = *p++;
	}
	line->stack = s->text;
	line->len = n;
	return 0;
}

void strip_free(struct strip *s)
{
	free(s->text);
	*s = (struct strip) { 0 };
}
