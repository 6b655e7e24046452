// SPDX-License-Identifier: GPL-2.0-or-later
#include "label.h"

#include <math.h>
#include <string.h>

const char label_glyphs[2][96] = {
	"RUXpf0mOWWfpSWSWffffffffffWWpppbwhhimfcmlVWibqkmdmihekhwhehWWWpffefbfeRffORdOvfeffVaTfdodd"
	"afWfp",
	"RWdqj+"
	"qQbbjqTYTijjjjjjjjjjUUqqqewmlkohhopbbmfwppkpmjhnm3mkjbibqjjhjdjhVjjRUhRzjhjjYdXjgvhgdjbjq",
};

static bool is_wide(uint32_t c)
{
	return (c >= 0x1100 && c < 0x1160) || (c >= 0x2400 && c < 0x2440) ||
	       (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) ||
	       (c >= 0xf900 && c < 0xfb00) || (c >= 0xfe30 && c < 0xfe70) ||
	       (c >= 0xff00 && c < 0xff61) || c >= 0x1f000;
}

/* In 48ths of the font size. */
static double glyph(const struct label_font *font, uint32_t c, bool bold)
{
	if (font->width > 0)
		return 48 * font->width * (bold ? 1.125 : 1);
	if (c >= 32 && c < 127)
		return (double)(strchr(svg_digits, label_glyphs[bold][c - 32]) - svg_digits);
	if (c < 128)
		return 48;
	if (c >= 0x300 && c < 0x370) /* combining marks */
		return 0;
	return is_wide(c) ? 52 : bold ? 42 : 38;
}

static double next(const struct label_font *font, const char **p, const char *end, bool bold)
{
	uint32_t c;

	*p += svg_next(*p, end, &c);
	return glyph(font, c, bold);
}

/* The width of [p, end); stops once it exceeds room. */
static double width_of(const struct label_font *font, const char *p, const char *end, bool bold,
		       double room)
{
	double sum = 0;

	while (p < end && sum <= room)
		sum += next(font, &p, end, bold);
	return sum;
}

static struct label cut_right(const struct label_font *font, const char *p, const char *end,
			      double room, bool bold)
{
	double used = 2 * glyph(font, '.', bold);
	const char *q = p;

	while (q < end) {
		const char *before = q;

		used += next(font, &q, end, bold);
		if (used > room) {
			q = before;
			break;
		}
	}
	return (struct label) { .p = p, .len = (size_t)(q - p), .dots_after = q > p && q < end };
}

static struct label cut_left(const struct label_font *font, const char *p, const char *end,
			     double room, bool bold)
{
	double dots = 2 * glyph(font, '.', bold);
	double all = width_of(font, p, end, bold, INFINITY);

	while (p < end && dots + all > room)
		all -= next(font, &p, end, bold);
	return (struct label) { .p = p, .len = (size_t)(end - p), .dots_before = p < end };
}

/* Do the last characters tell names apart? Fewer of them say less than the first ones. */
static bool is_enough(struct label l)
{
	const char *p = l.p, *end = l.p + l.len;
	unsigned int n = 0;
	uint32_t c;

	for (; p < end && n < 4; n++)
		p += svg_next(p, end, &c);
	return n >= 4;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The length without a Rust name's hash: ::h and 16 hexadecimal digits. */
static size_t without_hash(const char *p, size_t len)
{
	if (len < 19 || memcmp(p + len - 19, "::h", 3))
		return len;
	for (size_t i = len - 16; i < len; i++)
		if (!is_digit(p[i]) && !(p[i] >= 'a' && p[i] <= 'f'))
			return len;
	return len - 19;
}

/* The length without what a compiler appends to the name of a copy of a function. */
static size_t without_suffix(const char *p, size_t len)
{
	static const char *const suffixes[] = { ".constprop", ".isra",	   ".part",
						".cold",      ".lto_priv", ".llvm" };
	size_t end = len;

	for (;;) {
		size_t d = end;

		while (d && is_digit(p[d - 1]))
			d--;
		if (d == end || !d || p[d - 1] != '.')
			break;
		end = d - 1;
	}
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (end >= n && !memcmp(p + end - n, suffixes[i], n))
			return end - n;
	}
	return len;
}

/* For each ( and < the index of what closes it, else 0. The > of -> closes nothing. */
static void brackets(const char *p, size_t len, uint16_t *close)
{
	uint16_t round[LABEL_BUF], angle[LABEL_BUF];
	size_t rounds = 0, angles = 0;

	memset(close, 0, len * sizeof(*close));
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '(')
			round[rounds++] = (uint16_t)i;
		else if (p[i] == '<')
			angle[angles++] = (uint16_t)i;
		else if (p[i] == ')' && rounds)
			close[round[--rounds]] = (uint16_t)i;
		else if (p[i] == '>' && (!i || p[i - 1] != '-') && angles)
			close[angle[--angles]] = (uint16_t)i;
	}
}

/* Is p[i] the bracket of all of a name, as in "<module>", or of one with a place behind it? */
static bool is_name(const char *p, size_t len, size_t i, size_t close)
{
	return !i && p[i] == '<' && close && (close + 1 == len || p[close + 1] == ' ');
}

/* Without what most names of a program share, and the place behind it: "work (log.py:21)". Into
 * buf; returns the length. */
static size_t elide(const char *p, size_t len, char *buf)
{
	uint16_t close[LABEL_BUF];
	size_t n = 0;

	len = without_suffix(p, without_hash(p, len));
	brackets(p, len, close);
	for (size_t i = 0; i < len && n + 3 < LABEL_BUF; i++) {
		if (i > 1 && p[i] == '(' && p[i - 1] == ' ' && close[i] + 1u == len)
			return n - 1;
		buf[n++] = p[i];
		if (close[i] > i + 1 && !is_name(p, len, i, close[i])) {
			buf[n++] = '.';
			buf[n++] = '.';
			i = (size_t)close[i] - 1;
		}
	}
	return n;
}

/* Does a part of a qualified name begin at p[i]: after ::, /, or the point between two letters? */
static bool begins_part(const char *p, size_t i)
{
	if (p[i - 1] == '/')
		return true;
	if (i < 2)
		return false;
	if (p[i - 1] == ':')
		return p[i - 2] == ':';
	return p[i - 1] == '.' && is_letter(p[i]) && (is_letter(p[i - 2]) || is_digit(p[i - 2]));
}

/* As many of the last parts as there is room for; false: not even for the last, which is at *tail.
 */
static bool fit_parts(const struct label_font *font, const char *p, size_t len, double room,
		      bool bold, struct label *fits, size_t *tail)
{
	double dots = 2 * glyph(font, '.', bold);

	if (width_of(font, p, p + len, bold, room) <= room) {
		*fits = (struct label) { .p = p, .len = len };
		return true;
	}
	*tail = 0;
	for (size_t i = 1; i < len; i++) {
		if (!begins_part(p, i))
			continue;
		*tail = i;
		if (dots + width_of(font, p + i, p + len, bold, room) <= room) {
			*fits = (struct label) { .p = p + i, .len = len - i, .dots_before = true };
			return true;
		}
	}
	return false;
}

/* The length without elided arguments at the end. */
static size_t without_arguments(const char *p, size_t len)
{
	return len > 4 && !memcmp(p + len - 4, "(..)", 4) ? len - 4 : len;
}

struct label label_fit(const struct label_font *font, const char *p, size_t len, double px,
		       bool bold, char buf[LABEL_BUF])
{
	double room = px / (font->size / 48);
	struct label fits;
	size_t tail;

	if (width_of(font, p, p + len, bold, room) <= room)
		return (struct label) { .p = p, .len = len };
	if (font->keep == LABEL_START)
		return cut_right(font, p, p + len, room, bold);
	if (font->keep == LABEL_END)
		return cut_left(font, p, p + len, room, bold);
	if (len <= LABEL_BUF) {
		len = elide(p, len, buf);
		p = buf;
	}
	if (fit_parts(font, p, len, room, bold, &fits, &tail))
		return fits;
	len = without_arguments(p, len);
	if (fit_parts(font, p, len, room, bold, &fits, &tail))
		return fits;
	fits = cut_left(font, p + tail, p + len, room, bold);
	return tail && is_enough(fits) ? fits : cut_right(font, p + tail, p + len, room, bold);
}

/* WCAG 2.2, relative luminance; at 0.179 black and white have the same contrast, 4.58. */
bool label_light(uint32_t rgb)
{
	static const double weight[] = { 0.0722, 0.7152, 0.2126 };
	double sum = 0;

	for (int i = 0; i < 3; i++, rgb >>= 8) {
		double v = (rgb & 0xff) / 255.0;

		sum += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
	return sum < 0.179;
}

const char *label_line(const struct label_font *font, const char *p, const char *end, double px)
{
	double room = px / (font->size / 48), used = 0;
	const char *fits = p;

	while (fits < end) {
		const char *blank = memchr(fits + 1, ' ', (size_t)(end - fits - 1));
		const char *word_end = blank ? blank : end;

		used += width_of(font, fits, word_end, false, room);
		if (fits > p && used > room)
			break;
		fits = word_end;
	}
	return fits;
}
