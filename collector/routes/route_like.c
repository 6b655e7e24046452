// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_like.h"

#include "bytes.h"

bool route_may_be(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_letter((uint8_t)s[i]) && !is_digit((uint8_t)s[i]) &&
		    !is_one_of((uint8_t)s[i], " /*._-~:+"))
			return false;
	return len && is_letter((uint8_t)*s);
}

bool route_is_like(const char *name, const char *pattern, size_t len)
{
	const char *end = pattern + len, *star = NULL, *from = NULL;

	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (pattern < end && *pattern == *name) {
			pattern++;
			name++;
		} else if (star && *from != '/' && *from != ' ') {
			/* The last star stands for one more. */
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}
