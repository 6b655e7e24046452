// SPDX-License-Identifier: GPL-2.0-or-later
#include "folded.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (1u << 18) /* bytes; what one read(2) returns is still cached when it is split */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * [q, end) are the one to three digits of an exponent if e, or e and a sign, precedes them, and a
 * digit or a point that. Sets *exponent and returns the end of the number before the e; otherwise
 * returns `end`.
 */
static const char *take_exponent(const char *p, const char *q, const char *end, int *exponent)
{
	int sign = 1, value = 0;
	const char *e = q - 1;

	if (e > p && (*e == '-' || *e == '+'))
		sign = *e-- == '-' ? -1 : 1;
	if ((*e != 'e' && *e != 'E') || e == p || !(is_digit(e[-1]) || e[-1] == '.'))
		return end;
	for (; q < end; q++)
		value = value * 10 + (*q - '0');
	*exponent = sign * value;
	return e;
}

/*
 * Parse the number that ends [p, end) into *count; *rest is the end of the text before its blank.
 * A number is what flamegraph.pl takes for one, digits with at most one point and no sign, or that
 * with an exponent, which programs write for small counts: 1e-7.
 */
static enum folded_err take_count(const char *p, const char *end, const char **rest, double *count,
				  unsigned *decimals)
{
	const char *q = end, *tail = end, *point = NULL;
	int exponent = 0, places = 0;
	double fraction = 0, unit = 1;
	uint64_t whole = 0;

	while (q > p && (is_digit(q[-1]) || (q[-1] == '.' && !point))) {
		if (q[-1] == '.')
			point = q - 1;
		q--;
	}
	if (!point && q < end && end - q <= 3 && q > p)
		tail = take_exponent(p, q, end, &exponent);
	if (tail < end) {
		for (q = tail; q > p && (is_digit(q[-1]) || (q[-1] == '.' && !point)); q--)
			if (q[-1] == '.')
				point = q - 1;
	}
	if (q == tail || !is_digit(*q))
		return FOLDED_NO_COUNT;
	if (q > p && !is_blank(q[-1]))
		return q[-1] == '-' && (q - 1 == p || is_blank(q[-2])) ? FOLDED_NEGATIVE
								       : FOLDED_NO_COUNT;
	if (q == p) /* no blank before the count: the line has no stack */
		return FOLDED_NO_COUNT;
	for (const char *d = q; d < tail; d++) {
		if (d == point)
			continue;
		if (!point || d < point) {
			if (__builtin_mul_overflow(whole, 10, &whole) ||
			    __builtin_add_overflow(whole, (uint64_t)(*d - '0'), &whole))
				return FOLDED_TOO_BIG;
		} else {
			if (*d != '0')
				places = (int)(d - point);
			unit /= 10;
			fraction += (*d - '0') * unit;
		}
	}
	*count = (double)whole + fraction;
	if (exponent) {
		*count *= pow(10, exponent);
		if (*count >= 0x1p64)
			return FOLDED_TOO_BIG;
		places = whole || places ? places - exponent : 0;
	}
	*decimals = places < 0 ? 0 : places > 15 ? 15 : (unsigned)places;
	/* One blank is the separator; more belong to the last frame, as its name may be " ". */
	*rest = q - 1;
	return FOLDED_OK;
}

/*
 * Comments, as profilers put them before their output: "# interval: 10000". Functions may have
 * names like #start, and threads even such names, but then a stack follows.
 */
static bool is_comment(const char *p, const char *end)
{
	return *p == '#' && (p + 1 == end || strchr(" \t#!", p[1])) &&
	       !memchr(p, ';', (size_t)(end - p));
}

enum folded_err folded_parse(const char *p, const char *end, struct folded_line *line)
{
	enum folded_err err;
	const char *stack_end, *first_end;

	memset(line, 0, sizeof(*line));
	while (end > p && is_blank(end[-1]))
		end--;
	if (p == end || is_comment(p, end))
		return FOLDED_EMPTY;
	err = take_count(p, end, &stack_end, &line->count, &line->decimals);
	if (err)
		return err;
	line->stack = p;
	line->one_len = (size_t)(stack_end - p);
	if (take_count(p, stack_end, &first_end, &line->before, &line->decimals_before) ==
	    FOLDED_OK) {
		line->two = true;
		stack_end = first_end;
	} else {
		line->before = 0;
		line->decimals_before = 0;
	}
	line->len = (size_t)(stack_end - p);
	return FOLDED_OK;
}

const char *folded_strerror(enum folded_err err)
{
	switch (err) {
	case FOLDED_OK:
		return "no error";
	case FOLDED_EMPTY:
		return "empty line";
	case FOLDED_NEGATIVE:
		return "the count is negative";
	case FOLDED_TOO_BIG:
		return "the count is 2^64 or more";
	case FOLDED_NO_COUNT:
		break;
	}
	return "no count at the end of the line";
}

static int take_line(const char *p, const char *end, struct folded_stats *st,
		     folded_line_fn *on_line, folded_bad_fn *on_bad, uint64_t line_no, void *ctx)
{
	struct folded_line line;
	enum folded_err err;

	/* A byte order mark, which editors and shells put before a text, belongs to no name. */
	if (line_no == 1 && end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	err = folded_parse(p, end, &line);
	st->lines++;
	if (err == FOLDED_EMPTY)
		return 0;
	if (err) {
		st->bad++;
		return on_bad(ctx, line_no, err);
	}
	st->good++;
	return on_line(ctx, &line);
}

int folded_scan(const char *p, size_t len, struct folded_stats *st, folded_line_fn *on_line,
		folded_bad_fn *on_bad, void *ctx)
{
	const char *end = p + len;
	uint64_t line_no = 0;
	int ret = 0;

	while (p < end && ret >= 0) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		ret = take_line(p, nl ? nl : end, st, on_line, on_bad, ++line_no, ctx);
		p = nl ? nl + 1 : end;
	}
	return ret < 0 ? ret : 0;
}

int folded_read(int fd, struct folded_stats *st, folded_line_fn *on_line, folded_bad_fn *on_bad,
		void *ctx)
{
	return folded_read_known(fd, st, NULL, on_line, on_bad, ctx);
}

int folded_read_known(int fd, struct folded_stats *st, folded_head_fn *on_head,
		      folded_line_fn *on_line, folded_bad_fn *on_bad, void *ctx)
{
	size_t cap = CHUNK, len = 0, seen = 0; /* seen: bytes known to hold no newline */
	char *buf = malloc(cap);
	uint64_t line_no = 0;
	int ret = -ENOMEM;

	if (!buf)
		return -ENOMEM;
	for (;;) {
		const char *p = buf, *end, *nl;
		ssize_t got;

		if (cap - len < CHUNK / 2) {
			char *bigger = realloc(buf, cap * 2);

			if (!bigger)
				goto out;
			buf = bigger;
			cap *= 2;
			p = buf;
		}
		got = read(fd, buf + len, cap - len);
		if (got < 0) {
			if (errno == EINTR)
				continue;
			ret = -errno;
			goto out;
		}
		if (!got)
			break;
		len += (size_t)got;
		end = buf + len;
		if (on_head && len < FOLDED_HEAD)
			continue;
		ret = on_head ? on_head(ctx, buf, len) : 0;
		if (ret < 0)
			goto out;
		on_head = NULL;
		while ((nl = memchr(p + seen, '\n', (size_t)(end - p) - seen))) {
			ret = take_line(p, nl, st, on_line, on_bad, ++line_no, ctx);
			if (ret < 0)
				goto out;
			p = nl + 1;
			seen = 0;
		}
		len = (size_t)(end - p);
		seen = len;
		memmove(buf, p, len);
	}
	ret = on_head ? on_head(ctx, buf, len) : 0;
	if (ret < 0)
		goto out;
	for (const char *p = buf, *nl; ret >= 0 && len;
	     p = nl + 1) { /* of a short input all lines */
		nl = memchr(p, '\n', len);
		ret = take_line(p, nl ? nl : p + len, st, on_line, on_bad, ++line_no, ctx);
		len -= nl ? (size_t)(nl + 1 - p) : len;
		if (!nl)
			break;
	}
out:
	free(buf);
	return ret < 0 ? ret : 0;
}
