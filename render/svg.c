// SPDX-License-Identifier: GPL-2.0-or-later
#include "svg.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/clean_text.h"
#include "common/figures.h"

const char svg_digits[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

/*
 * Decode the next character of [p, end) into *cp; returns its length in bytes. As in the WHATWG
 * encoding standard, each maximal prefix of a valid sequence becomes one U+FFFD.
 */
static size_t next_utf8(const unsigned char *p, const unsigned char *end, uint32_t *cp)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t need, i;
	uint32_t c = *p;

	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	*cp = 0xfffd;
	if (c >= 0xc2 && c <= 0xdf) {
		need = 1;
		c &= 0x1f;
	} else if (c >= 0xe0 && c <= 0xef) {
		if (c == 0xe0)
			low = 0xa0;
		if (c == 0xed)
			high = 0x9f; /* surrogates */
		need = 2;
		c &= 0x0f;
	} else if (c >= 0xf0 && c <= 0xf4) {
		if (c == 0xf0)
			low = 0x90;
		if (c == 0xf4)
			high = 0x8f; /* above U+10FFFF */
		need = 3;
		c &= 0x07;
	} else {
		return 1;
	}
	for (i = 1; i <= need; i++) {
		if (p + i == end || p[i] < low || p[i] > high)
			return i;
		low = 0x80;
		high = 0xbf;
		c = c << 6 | (p[i] & 0x3f);
	}
	*cp = c;
	return i;
}

/* Those of one character's width at most: a name in such a script may need them. */
static bool is_direction_mark(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f;
}

size_t svg_next(const char *p, const char *end, uint32_t *cp)
{
	size_t n = next_utf8((const unsigned char *)p, (const unsigned char *)end, cp);

	if (*cp < 0x20)
		*cp += 0x2400;
	else if (*cp == 0x7f)
		*cp = 0x2421;
	else if ((*cp & 0xfffe) == 0xfffe)
		*cp = 0xfffd;
	else if (utf8_is_unprintable(*cp) && !is_direction_mark(*cp))
		*cp = 0x2426;
	return n;
}

void svg_text(FILE *f, const char *p, size_t len)
{
	const char *end = p + len;
	uint32_t c;
	size_t n;

	for (; p < end; p += n) {
		n = svg_next(p, end, &c);
		switch (c) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\'':
			fputs("&#39;", f);
			break;
		default:
			if (c < 0x80) {
				putc_unlocked((int)c, f);
			} else if (c < 0x800 || c >= 0x10000) {
				fwrite(p, 1, n, f); /* as it is: what replaces others has 3 bytes */
			} else {
				putc_unlocked((int)(0xe0 | c >> 12), f);
				putc_unlocked((int)(0x80 | (c >> 6 & 0x3f)), f);
				putc_unlocked((int)(0x80 | (c & 0x3f)), f);
			}
		}
	}
}

char *svg_put_fixed(char *p, double v)
{
	char buf[SVG_FIXED_LEN];
	int i = sizeof(buf);
	int64_t tenths = llround(v * 10);
	uint64_t u = (uint64_t)(tenths < 0 ? -tenths : tenths);

	if (u % 10) {
		buf[--i] = (char)('0' + u % 10);
		buf[--i] = '.';
	}
	if (u < 10 && i < (int)sizeof(buf)) {
		u = 0;
	} else {
		u /= 10;
		do
			buf[--i] = (char)('0' + u % 10);
		while (u /= 10);
	}
	if (tenths < 0)
		buf[--i] = '-';
	while (i < (int)sizeof(buf))
		*p++ = buf[i++];
	return p;
}

void svg_fixed(FILE *f, double v)
{
	char buf[SVG_FIXED_LEN];
	const char *end = svg_put_fixed(buf, v);

	fwrite(buf, 1, (size_t)(end - buf), f);
}

void svg_count(char out[SVG_COUNT_LEN], double v)
{
	char plain[48];
	size_t n, digits, at = 0;
	bool whole = v == floor(v) || fabs(v) >= 100;

	n = (size_t)snprintf(plain, sizeof(plain),
			     whole	      ? "%.0f"
			     : fabs(v) < 0.01 ? "%.3g"
					      : "%.2f",
			     fabs(v));
	if (n >= sizeof(plain)) /* 10^47 or more: no commas */
		n = (size_t)snprintf(plain, sizeof(plain), "%.6g", fabs(v));
	digits = strcspn(plain, ".e");
	if (v < 0)
		out[at++] = '-';
	for (size_t i = 0; i < n && at + 2 < SVG_COUNT_LEN; i++) {
		if (i && i < digits && (digits - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = plain[i];
	}
	out[at] = 0;
}

void svg_quantity(char out[SVG_QUANTITY_LEN], double v, const char *unit)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	static const double ns[] = { 1, 1e3, 1e6, 1e9 };
	char count[SVG_COUNT_LEN];
	size_t u = 0;

	while (u < 4 && strcmp(unit, units[u]))
		u++;
	if (u < 4) {
		figure_time(out, v * ns[u]);
		return;
	}
	svg_count(count, v);
	snprintf(out, SVG_QUANTITY_LEN, "%s %.30s", count, unit);
}
