/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_SVG_H
#define RENDER_SVG_H
/*
 * Putting text and numbers into XML. Every byte that comes from outside goes through svg_text():
 * whatever it is given, what it writes is valid UTF-8 and valid XML, in element content and in
 * attribute values alike. Write errors are left to ferror() at the end.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum svg_encoding { SVG_UTF8, SVG_LATIN1 };

/*
 * Write [p, p+len), at most max_chars characters of it. In UTF-8 what is not valid becomes U+FFFD;
 * control characters become their pictures (U+2400...), as XML cannot hold them in any form.
 */
void svg_text(FILE *f, enum svg_encoding enc, const char *p, size_t len, size_t max_chars);

/* Characters that svg_text() would write for it; counting stops at limit. */
size_t svg_chars(enum svg_encoding enc, const char *p, size_t len, size_t limit);

/*
 * v with one decimal at most and nothing needless: 12, 3.5, .5, -.1. Puts at most SVG_FIXED_LEN
 * characters at p, returns their end.
 */
#define SVG_FIXED_LEN 24
char *svg_put_fixed(char *p, double v);
void svg_fixed(FILE *f, double v);

/*
 * A number in base 64, five bits a character, low ones first; a character above `V` (32 in
 * svg_digits) says that more follows. Puts at most SVG_VLQ_LEN characters at p, returns their end.
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

/* A count for people, into out: thousands apart by commas, decimals only where they matter. */
#define SVG_COUNT_LEN 64
void svg_count(char out[SVG_COUNT_LEN], double v);

#endif
