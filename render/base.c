// SPDX-License-Identifier: GPL-2.0-or-later
#include "base.h"

#include <string.h>

bool base_cut(const struct base *b, struct folded_line *line)
{
	const char *p = line->stack, *end = p + line->len;

	if (!b->n)
		return true;
	for (;;) {
		const char *next = memchr(p, ';', (size_t)(end - p));
		size_t len = (size_t)((next ? next : end) - p), skipped = (size_t)(p - line->stack);

		for (unsigned i = 0; i < b->n; i++)
			if (strlen(b->name[i]) == len && !memcmp(p, b->name[i], len)) {
				line->stack = p;
				line->len -= skipped;
				line->one_len -= skipped;
				return true;
			}
		if (!next)
			return false;
		p = next + 1;
	}
}
