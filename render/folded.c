// SPDX-License-Identifier: GPL-2.0-or-later
#include "folded.h"

#include <errno.h>
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
 * Parse the number that ends [p, end) into *count; *rest is the end of the text before its blank.
 * As in flamegraph.pl, a number is digits with at most one point: no sign, no exponent.
 */
static enum folded_err take_count(const char *p, const char *end, const char **rest, double *count,
				  unsigned *decimals)
{
	const char *q = end;
	const char *point = NULL;
	double fraction = 0, unit = 1;
	uint64_t whole = 0;

	while (q > p && (is_digit(q[-1]) || (q[-1] == '.' && !point))) {
		if (q[-1] == '.')
			point = q - 1;
		q--;
	}
	if (q == end || !is_digit(*q))
		return FOLDED_NO_COUNT;
	if (q > p && !is_blank(q[-1]))
		return q[-1] == '-' && (q - 1 == p || is_blank(q[-2])) ? FOLDED_NEGATIVE
								       : FOLDED_NO_COUNT;
	if (q == p) /* no blank before the count: the line has no stack */
		return FOLDED_NO_COUNT;
	*decimals = 0;
	for (const char *d = q; d < end; d++) {
		if (d == point)
			continue;
		if (!point || d < point) {
			if (__builtin_mul_overflow(whole, 10, &whole) ||
			    __builtin_add_overflow(whole, (uint64_t)(*d - '0'), &whole))
				return FOLDED_TOO_BIG;
		} else {
			if (*d != '0')
				*decimals = (unsigned)(d - point);
			unit /= 10;
			fraction += (*d - '0') * unit;
		}
	}
	/* One blank is the separator; more belong to the last frame, as its name may be " ". */
	*rest = q - 1;
	*count = (double)whole + fraction;
	return FOLDED_OK;
}

enum folded_err folded_parse(const char *p, const char *end, bool two, struct folded_line *line)
{
	enum folded_err err;
	const char *stack_end, *first_end;
	unsigned decimals;

	memset(line, 0, sizeof(*line));
	while (end > p && is_blank(end[-1]))
		end--;
	if (p == end)
		return FOLDED_EMPTY;
	err = take_count(p, end, &stack_end, &line->count, &line->decimals);
	if (err)
		return err;
	if (two && take_count(p, stack_end, &first_end, &line->before, &decimals) == FOLDED_OK) {
		line->two = true;
		stack_end = first_end;
		if (decimals > line->decimals)
			line->decimals = decimals;
	}
	line->stack = p;
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
	enum folded_err err = folded_parse(p, end, !st->decided || st->two, &line);

	st->lines++;
	if (err == FOLDED_EMPTY)
		return 0;
	if (err) {
		st->bad++;
		return on_bad(ctx, line_no, err);
	}
	st->good++;
	if (!st->decided) {
		st->decided = true;
		st->two = line.two;
	} else if (st->two && !line.two) {
		st->mixed = true;
		line.before = line.count;
	}
	if (line.decimals > st->decimals)
		st->decimals = line.decimals > 6 ? 6 : line.decimals;
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
	ret = len ? take_line(buf, buf + len, st, on_line, on_bad, ++line_no, ctx) : 0;
out:
	free(buf);
	return ret < 0 ? ret : 0;
}
