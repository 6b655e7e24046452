// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read 128 KiB into the same buffer: it stays in the cache, which is faster than mmap. */
#define READ_BYTES (128u << 10)
/* About as long as a call chain is. */
#define PREFETCH_BYTES 1536u
#define BUFFER_BYTES (IMPORT_HEAD_MAX + READ_BYTES)
_Static_assert(IMPORT_HEAD_MAX > IMPORT_LINE_MAX + IMPORT_BLOCK_MAX, "a line and a block fit");

int import_text_init(struct import_text *t, const char *head, size_t len, int fd)
{
	if (fd >= 0 && len > IMPORT_HEAD_MAX)
		return -EINVAL;
	*t = (struct import_text) {
		.buf = malloc(fd < 0 ? len + !len : BUFFER_BYTES),
		.line = malloc(IMPORT_LINE_MAX),
		.fd = fd,
	};
	if (!t->buf || !t->line)
		return -ENOMEM;
	if (len)
		memcpy(t->buf, head, len);
	t->p = t->buf;
	t->end = t->buf + len;
	return 0;
}

void import_text_free(struct import_text *t)
{
	free(t->buf);
	free(t->line);
}

/* Reads more behind [t->p, t->end), which may move. False: the text has ended. */
static bool more(struct import_text *t)
{
	size_t have = (size_t)(t->end - t->p);
	ssize_t got;

	if (t->fd < 0)
		return false;
	if (t->p != t->buf) {
		memmove(t->buf, t->p, have);
		t->p = t->buf;
		t->end = t->buf + have;
	}
	do {
		got = read(t->fd, t->buf + have, READ_BYTES);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		t->err = -errno;
	if (got <= 0) {
		t->fd = -1;
		return false;
	}
	t->end += got;
	return true;
}

/*
 * The length of the line at t->p + from, without the newline, at most IMPORT_LINE_MAX + 1. Moves
 * t->p.
 */
static size_t line_length(struct import_text *t, size_t from, bool *has_newline)
{
	size_t looked = 0, there, most;
	const char *nl;

	do {
		there = (size_t)(t->end - t->p) - from;
		most = there < IMPORT_LINE_MAX + 1 ? there : IMPORT_LINE_MAX + 1;
		nl = memchr(t->p + from + looked, '\n', most - looked);
		looked = most;
	} while (!nl && looked <= IMPORT_LINE_MAX && more(t));
	*has_newline = nl;
	return nl ? (size_t)(nl - (t->p + from)) : most;
}

static void take(struct import_text *t, size_t len)
{
	t->p += len;
	t->offset += len;
}

/* Skips the rest of a line that is too long. */
static bool pass_over(struct import_text *t)
{
	const char *nl;

	do {
		nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
		take(t, nl ? (size_t)(nl + 1 - t->p) : (size_t)(t->end - t->p));
	} while (!nl && more(t));
	return nl;
}

/* Skips a line that is too long; only its number and offset are set. */
static void take_long(struct import_text *t, struct import_line *line)
{
	*line = (struct import_line) {
		.number = ++t->lines,
		.offset = t->offset,
		.too_long = true,
	};
	t->ended_in_line = !pass_over(t);
}

/*
 * The length of the lines at p that begin with tabs, at most n bytes: up to and with a newline that
 * no tab follows, else the last newline. p begins with a tab. This looks at nearly every byte of a
 * text, so it compares 32 bytes at a time.
 */
static size_t tab_lines(const char *p, size_t n)
{
	typedef signed char bytes16 __attribute__((vector_size(16)));
	typedef uint64_t words2 __attribute__((vector_size(16)));
	size_t i = 0;
	const char *last;

	for (; i + 33 <= n; i += 32) {
		bytes16 here[2], next[2];
		words2 ends;

		memcpy(here, p + i, sizeof(here));
		memcpy(next, p + i + 1, sizeof(next));
		ends = (words2)(((here[0] == '\n') & ~(next[0] == '\t')) |
				((here[1] == '\n') & ~(next[1] == '\t')));
		if (ends[0] | ends[1])
			break;
	}
	for (; i + 1 < n; i++)
		if (p[i] == '\n' && p[i + 1] != '\t')
			return i + 1;
	last = memrchr(p, '\n', n);
	return last ? (size_t)(last + 1 - p) : 0;
}

/* Fetches the call chain while its event's line is parsed. */
static void prefetch(const struct import_text *t)
{
	if ((size_t)(t->end - t->p) < PREFETCH_BYTES)
		return;
	for (size_t at = 0; at < PREFETCH_BYTES; at += 64)
		__builtin_prefetch(t->p + at);
}

bool import_text_line(struct import_text *t, struct import_line *line)
{
	bool has_newline;
	size_t len = line_length(t, 0, &has_newline);

	if (!len && !has_newline)
		return false;
	if (len > IMPORT_LINE_MAX) {
		take_long(t, line);
		return true;
	}
	*line = (struct import_line) {
		.p = t->p,
		.len = len,
		.number = ++t->lines,
		.offset = t->offset,
	};
	if (t->fd >= 0) {
		/* The line must stay valid while import_text_block() reads more. */
		memcpy(t->line, t->p, len);
		line->p = t->line;
	}
	t->ended_in_line = !has_newline;
	take(t, len + has_newline);
	prefetch(t);
	return true;
}

/* The length of the lines at t->p that belong together. */
static size_t block_length(struct import_text *t, bool (*goes_on)(const char *line, size_t len))
{
	bool has_newline = true;
	size_t at = 0, there, len;

	for (; has_newline && at < IMPORT_BLOCK_MAX; at += len) {
		char first;

		if ((size_t)(t->end - t->p) <= at && !more(t))
			break;
		there = (size_t)(t->end - t->p) - at;
		first = t->p[at];
		if (first == '\n')
			break;
		len = first != '\t' ? 0
				    : tab_lines(t->p + at,
						there < IMPORT_LINE_MAX ? there : IMPORT_LINE_MAX);
		if (len)
			continue;
		len = line_length(t, at, &has_newline);
		if (len > IMPORT_LINE_MAX || (first != '\t' && !goes_on(t->p + at, len)))
			break;
		len += has_newline;
	}
	return at;
}

void import_text_block(struct import_text *t, bool (*goes_on)(const char *line, size_t len),
		       struct import_line *block)
{
	size_t len = block_length(t, goes_on);

	*block = (struct import_line) {
		.p = t->p,
		.len = len,
		.number = t->lines + 1,
		.offset = t->offset,
	};
	import_text_skip(t, len);
}

void import_text_skip(struct import_text *t, size_t len)
{
	if (len)
		t->ended_in_line = t->p[len - 1] != '\n';
	take(t, len);
}
