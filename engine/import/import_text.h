/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_text.h - reads text line by line from a stream. Memory is bounded: by IMPORT_LINE_MAX for
 * a line, and by IMPORT_BLOCK_MAX for the lines of a stack, which are taken at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_LINE_MAX (64u << 10)
#define IMPORT_BLOCK_MAX (128u << 10)
#define IMPORT_HEAD_MAX (1u << 20)

struct import_text {
	const char *p, *end; /* read and not yet taken */
	char *buf;	     /* what read() fills */
	char *line;	     /* a copy of the line taken last, while there is more to read */
	int fd;		     /* -1: the text has ended */
	int err;	     /* a negative errno, once reading has failed */
	uint64_t lines;	     /* taken so far; the caller adds those of blocks */
	uint64_t offset;     /* of the first byte not yet taken, from the start of the text */
	bool ended_in_line;  /* the last line taken had no newline: the text was cut off there */
};

struct import_line {
	const char *p;
	size_t len;	 /* without the newline */
	uint64_t number; /* from 1 */
	uint64_t offset; /* of its first byte */
	bool too_long;	 /* it was skipped: p is not set */
};

/*
 * The text begins with [head, head + len), which is copied, and goes on in fd (-1: it is all). 0;
 * -ENOMEM; -EINVAL if len is above IMPORT_HEAD_MAX and there is more. import_text_free() in all
 * cases.
 */
int import_text_init(struct import_text *t, const char *head, size_t len, int fd);
void import_text_free(struct import_text *t);

/* Takes the next line, which is valid until the next call. False at the end, or with t->err. */
bool import_text_line(struct import_text *t, struct import_line *line);
/*
 * Takes the following lines that belong to the one of import_text_line(), which stays valid: those
 * that begin with a tab, and other lines, except empty ones, for which goes_on() is true.
 * block->len counts their newlines, and is 0 if there are none. A block that would be too long ends
 * early.
 */
void import_text_block(struct import_text *t, bool (*goes_on)(const char *line, size_t len),
		       struct import_line *block);
/* Takes the next len bytes, which the caller knows to be exactly such lines. */
void import_text_skip(struct import_text *t, size_t len);
