/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_scan.h - a position in a line, and small steps from there: numbers, spaces, given texts. A
 * step that does not fit returns false and leaves the position.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
	const char *p, *end;
};

static inline bool scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline void scan_spaces(struct scan *s)
{
	while (s->p < s->end && *s->p == ' ')
		s->p++;
}

/* The text must follow here. */
__attribute__((always_inline)) static inline bool scan_text(struct scan *s, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(s->end - s->p) < len || memcmp(s->p, text, len) != 0)
		return false;
	s->p += len;
	return true;
}

/* Moves behind the next occurrence of the text. */
static inline bool scan_to(struct scan *s, const char *text)
{
	size_t len = strlen(text);

	/* It is usually a few bytes away: the set-up of memmem() would take longer. */
	for (const char *p = s->p; (size_t)(s->end - p) >= len; p++) {
		if (*p == *text && !memcmp(p, text, len)) {
			s->p = p + len;
			return true;
		}
	}
	return false;
}

/* A decimal number of at most 18 digits. */
static inline bool scan_number(struct scan *s, uint64_t *v)
{
	const char *p = s->p;
	uint64_t n = 0;

	while (p < s->end && scan_is_digit(*p) && p - s->p < 18)
		n = n * 10 + (uint64_t)(*p++ - '0');
	if (p == s->p || (p < s->end && scan_is_digit(*p)))
		return false;
	s->p = p;
	*v = n;
	return true;
}

/* A decimal number with or without a sign. */
static inline bool scan_signed(struct scan *s, int64_t *v)
{
	struct scan at = *s;
	bool minus = scan_text(&at, "-");
	uint64_t n;

	if (!scan_number(&at, &n))
		return false;
	*v = minus ? -(int64_t)n : (int64_t)n;
	*s = at;
	return true;
}

/* A hexadecimal number of at most 16 digits, lower case as perf writes it. */
static inline bool scan_hex(struct scan *s, uint64_t *v)
{
	const char *p = s->p;
	uint64_t n = 0;

	for (; p < s->end && p - s->p <= 16; p++) {
		if (scan_is_digit(*p))
			n = n << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			n = n << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	if (p == s->p || p - s->p > 16)
		return false;
	s->p = p;
	*v = n;
	return true;
}
