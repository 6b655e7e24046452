/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_FOLDED_H
#define RENDER_FOLDED_H
/*
 * Folded stacks: one line per stack, frames joined by `;`, blanks, a count. Differential input has
 * two counts, before and after. The reader takes what any stackcollapse tool writes, trusts none
 * of it, and hands each good line to its caller; what it could not use it counts and explains.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum folded_err {
	FOLDED_OK,
	FOLDED_EMPTY,	 /* nothing but blanks on the line: skipped without a word */
	FOLDED_NO_COUNT, /* no number at the end of the line */
	FOLDED_NEGATIVE,
	FOLDED_TOO_BIG, /* a count of 2^64 or more */
};

struct folded_line {
	const char *stack; /* borrowed from the line; frames joined by `;` */
	size_t len;	   /* bytes */
	double count;	   /* the only count, or the second of two */
	double before;	   /* the first of two counts; else 0 */
	bool two;	   /* the line had two counts */
	unsigned decimals; /* digits after the point in the longer of the counts */
};

/* Parse the line [p, end), without its newline. two: look for two counts. */
enum folded_err folded_parse(const char *p, const char *end, bool two, struct folded_line *line);

/* What is wrong with such a line, for a message. */
const char *folded_strerror(enum folded_err err);

/*
 * What came of the files read. `two` is decided by the first good line of all: if it ends in two
 * counts the input is differential, and a later line with one count then counts on both sides.
 */
struct folded_stats {
	uint64_t lines, good, bad;
	bool two, decided;
	bool mixed;	   /* a differential file had lines of one count */
	unsigned decimals; /* most digits after the point seen; at most 6 */
};

/* Called for each good line; a negative result ends the reading and is returned. */
typedef int folded_line_fn(void *ctx, const struct folded_line *line);
/* Called for each bad one, with its number in the file (from 1); likewise. */
typedef int folded_bad_fn(void *ctx, uint64_t line_no, enum folded_err err);

/* The lines in [p, p+len), the last of which may lack its newline. What a callback returned, or 0.
 */
int folded_scan(const char *p, size_t len, struct folded_stats *st, folded_line_fn *on_line,
		folded_bad_fn *on_bad, void *ctx);

/*
 * Read descriptor fd to its end. Returns 0, a negative errno of read(2), or what a callback
 * returned. Lines may be of any length; memory is that of the longest.
 */
int folded_read(int fd, struct folded_stats *st, folded_line_fn *on_line, folded_bad_fn *on_bad,
		void *ctx);

#endif
