/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Writes text and numbers into XML. All text from outside goes through svg_text(), whose output is
 * valid UTF-8 and valid XML for any input, in element content and in attribute values. The caller
 * checks for write errors with ferror().
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Set *cp to the next character of [p, end) as it is shown; returns its length in bytes. Control
 * characters and marks that turn the direction of text are shown as symbols.
 */
size_t svg_next(const char *p, const char *end, uint32_t *cp);

/*
 * Write [p, p+len), which is UTF-8. Invalid UTF-8 becomes U+FFFD. Control characters become their
 * pictures (U+2400...), as XML has no escape for them.
 */
void svg_text(FILE *f, const char *p, size_t len);

/*
 * v with at most one decimal, in the shortest form: 12, 3.5, .5, -.1. Writes at most SVG_FIXED_LEN
 * characters at p and returns their end.
 */
#define SVG_FIXED_LEN 24
char *svg_put_fixed(char *p, double v);
void svg_fixed(FILE *f, double v);

/*
 * A variable-length quantity in base 64: five bits a character, low bits first, and 32 added to all
 * but the last digit. Writes at most SVG_VLQ_LEN characters at p and returns their end.
 */
#define SVG_VLQ_LEN 13
extern const char svg_digits[65];
static inline char *svg_put_vlq(char *p, uint64_t v)
{
	for (; v >= 32; v >>= 5)
		*p++ = svg_digits[32 | (v & 31)];
	*p++ = svg_digits[v];
	return p;
}

/*
 * Format a count for display: commas between thousands, two decimals only for fractions < 100,
 * three digits of what is less than 0.01.
 */
#define SVG_COUNT_LEN 64
void svg_count(char out[SVG_COUNT_LEN], double v);
/* A count with its unit, below 30 bytes of it; of ns, us, ms and s a time as figures.h writes it.
 */
#define SVG_QUANTITY_LEN 100
void svg_quantity(char out[SVG_QUANTITY_LEN], double v, const char *unit);
