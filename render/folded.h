/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Reads folded stacks: one stack a line, frames joined by `;`, a blank, a count. Differential input
 * has two counts, before and after. The reader accepts what any stackcollapse tool writes and
 * trusts none of it: valid lines go to one callback, invalid ones with the reason to another.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum folded_err {
	FOLDED_OK,
	FOLDED_EMPTY,	 /* a comment, or only blanks: skipped, and not counted as bad */
	FOLDED_NO_COUNT, /* no number at the end of the line */
	FOLDED_NEGATIVE,
	FOLDED_TOO_BIG, /* a count of 2^64 or more */
};

struct folded_line {
	const char *stack; /* borrowed from the line; frames joined by `;` */
	size_t len;	   /* bytes, without any count */
	size_t one_len;	   /* bytes if only the last count is one: the first belongs to the name */
	double count;	   /* the only count, or the second of two */
	double before;	   /* the first of two counts, or 0 */
	bool two;	   /* the line has two counts */
	unsigned decimals; /* digits after the point of .count */
	unsigned decimals_before;
};

/* Parse the line [p, end), without its newline. */
enum folded_err folded_parse(const char *p, const char *end, struct folded_line *line);

/* The reason why such a line is invalid, for a message. */
const char *folded_strerror(enum folded_err err);

/* Statistics over all files read. */
struct folded_stats {
	uint64_t lines, good, bad;
};

/* Called for each valid line; a negative result ends the reading and is returned. */
typedef int folded_line_fn(void *ctx, const struct folded_line *line);
/* Called for each invalid line, with its number in the file, from 1; result as above. */
typedef int folded_bad_fn(void *ctx, uint64_t line_no, enum folded_err err);

/* Scan the lines in [p, p+len); the last may lack its newline. 0, or a callback's error. */
int folded_scan(const char *p, size_t len, struct folded_stats *st, folded_line_fn *on_line,
		folded_bad_fn *on_bad, void *ctx);

/* Called once with the first bytes of the input, before any line is taken; result as above. */
typedef int folded_head_fn(void *ctx, const char *p, size_t len);

/*
 * Read descriptor fd to its end. Lines may have any length; memory use is that of the longest line.
 * 0, -ENOMEM, an error of read(2), or a callback's error.
 */
int folded_read(int fd, struct folded_stats *st, folded_line_fn *on_line, folded_bad_fn *on_bad,
		void *ctx);

/* The same, but on_head sees the first FOLDED_HEAD bytes, or all there are, before. */
#define FOLDED_HEAD 4096
int folded_read_known(int fd, struct folded_stats *st, folded_head_fn *on_head,
		      folded_line_fn *on_line, folded_bad_fn *on_bad, void *ctx);
