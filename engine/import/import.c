// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"
#include "import_feed.h"
#include "import_output.h"
#include "import_scan.h"
#include "import_stack.h"
#include "perf_file.h"
#include "common/xalloc.h"

/* ---- the text -------------------------------------------------------------------------------- */

/*
 * Reads text line by line from a stream. Memory is bounded: by IMPORT_LINE_MAX for
 * a line, and by IMPORT_BLOCK_MAX for the lines of a stack, which are taken at once.
 */

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

/* Read 128 KiB into the same buffer: it stays in the cache, which is faster than mmap. */
#define READ_BYTES (128u << 10)
/* About as long as a call chain is. */
#define PREFETCH_BYTES 1536u
#define BUFFER_BYTES (IMPORT_HEAD_MAX + READ_BYTES)
_Static_assert(IMPORT_HEAD_MAX > IMPORT_LINE_MAX + IMPORT_BLOCK_MAX, "a line and a block fit");

/*
 * The text begins with [head, head + len), which is copied, and goes on in fd (-1: it is all). 0,
 * or -EINVAL if len is above IMPORT_HEAD_MAX and there is more. import_text_free() in all cases.
 */
static int import_text_init(struct import_text *t, const char *head, size_t len, int fd)
{
	if (fd >= 0 && len > IMPORT_HEAD_MAX)
		return -EINVAL;
	*t = (struct import_text) {
		.buf = xmalloc(fd < 0 ? len + !len : BUFFER_BYTES),
		.line = xmalloc(IMPORT_LINE_MAX),
		.fd = fd,
	};
	if (len)
		memcpy(t->buf, head, len);
	t->p = t->buf;
	t->end = t->buf + len;
	return 0;
}

static void import_text_free(struct import_text *t)
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

/* Takes the next line, which is valid until the next call. False at the end, or with t->err. */
static bool import_text_line(struct import_text *t, struct import_line *line)
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
static size_t block_length(struct import_text *t, bool (*continues)(const char *line, size_t len))
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
		if (len > IMPORT_LINE_MAX || (first != '\t' && !continues(t->p + at, len)))
			break;
		len += has_newline;
	}
	return at;
}

/* Takes the next len bytes, which the caller knows to be exactly such lines. */
static void import_text_skip(struct import_text *t, size_t len)
{
	if (len)
		t->ended_in_line = t->p[len - 1] != '\n';
	take(t, len);
}

/*
 * Takes the following lines that belong to the one of import_text_line(), which stays valid: those
 * that begin with a tab, and other lines, except empty ones, for which continues() is true.
 * block->len counts their newlines, and is 0 if there are none. A block that would be too long ends
 * early.
 */
static void import_text_block(struct import_text *t,
			      bool (*continues)(const char *line, size_t len),
			      struct import_line *block)
{
	size_t len = block_length(t, continues);

	*block = (struct import_line) {
		.p = t->p,
		.len = len,
		.number = t->lines + 1,
		.offset = t->offset,
	};
	import_text_skip(t, len);
}

/* ---- what is made of it -----------------------------------------------------------------------
 */

/* Give up without an event in the first 4 MiB: the input may have no end. */
#define GIVE_UP_BYTES (4u << 20)
#define HEADER_TEXT_MAX 1024u

enum header_text {
	HEADER_HOST,
	HEADER_RELEASE,
	HEADER_ARCH,
	HEADER_COMMAND,
	HEADER_PERF,
	HEADER_TEXTS,
};

struct import {
	struct import_text text;
	struct import_feed feed;
	struct import_stacks stacks;
	uint32_t header_cpus;
	bool any_event, no_columns, no_text, no_name;
	char header[HEADER_TEXTS][HEADER_TEXT_MAX];
	struct import_output out;
	struct import_report *report;
	int err;
};

bool import_is_text(const void *p, size_t len)
{
	size_t n = len < IMPORT_SNIFF ? len : IMPORT_SNIFF;

	/* A trace of chaincap has zeros in its first header. */
	return n && !memchr(p, 0, n) && !perf_file_is(p, len);
}

/* ---- damage ------------------------------------------------------------------------- */

static void note_bad(struct import *m, uint64_t number, uint64_t offset, uint64_t n)
{
	struct import_report *r = m->report;

	if (!r->bad_lines) {
		r->bad_line = number;
		r->bad_offset = offset;
	}
	r->bad_lines += n;
}

/* An event that could not be read is lost between the last event and the next. */
static void note_bad_event(struct import *m, const struct import_line *line)
{
	note_bad(m, line->number, line->offset, 1);
	m->feed.lost++;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* The command line of the header, an argument a word. */
static void take_command(struct import *m)
{
	struct import_name arguments[256];
	size_t n = 0, len;

	for (const char *p = m->header[HEADER_COMMAND]; *p && n < 256; p += len) {
		p += strspn(p, " ");
		len = strcspn(p, " ");
		arguments[n++] = (struct import_name) { p, len };
	}
	import_feed_command(&m->feed, arguments, n);
}

/* perf script --header: "# hostname : vm". */
static void read_header(struct import *m, const struct import_line *line)
{
	static const char *const keys[HEADER_TEXTS] = {
		[HEADER_HOST] = "# hostname : ",     [HEADER_RELEASE] = "# os release : ",
		[HEADER_ARCH] = "# arch : ",	     [HEADER_COMMAND] = "# cmdline : ",
		[HEADER_PERF] = "# perf version : ",
	};
	struct scan all = { line->p, line->p + line->len }, s = all;
	uint64_t cpus;

	for (size_t i = 0; i < HEADER_TEXTS; i++) {
		s = all;
		if (!scan_text(&s, keys[i]))
			continue;
		while (s.end > s.p && (s.end[-1] == ' ' || s.end[-1] == '\r'))
			s.end--;
		snprintf(m->header[i], HEADER_TEXT_MAX, "%.*s",
			 (int)(s.end - s.p < (long)HEADER_TEXT_MAX ? s.end - s.p
								   : (long)HEADER_TEXT_MAX - 1),
			 s.p);
	}
	if (*m->header[HEADER_COMMAND] && !m->any_event)
		take_command(m);
	s = all;
	if (scan_text(&s, "# nrcpus avail : ") && scan_number(&s, &cpus) &&
	    cpus <= IMPORT_CPU_LIMIT)
		m->header_cpus = (uint32_t)cpus;
}

static void read_other_line(struct import *m, const struct import_line *line)
{
	uint64_t chunks = import_perf_chunks(line->p, line->len);

	if (chunks)
		m->report->lost_chunks += chunks;
	else if (!import_perf_message(line->p, line->len))
		note_bad_event(m, line);
}

static bool uses_stack(enum import_kind kind)
{
	return kind == IMPORT_SWITCH || kind == IMPORT_WAKING || kind == IMPORT_WAKEUP ||
	       kind == IMPORT_WAKEUP_NEW || kind == IMPORT_SAMPLE || kind == IMPORT_OFF_CPU;
}

/* Skips the lines that belong to the one before. */
static void skip_block(struct import *m)
{
	struct import_line block;

	import_text_block(&m->text, import_stack_continues, &block);
	for (size_t i = 0; i < block.len; i++)
		m->text.lines += block.p[i] == '\n' || i + 1 == block.len;
}

/* The call chain below an event's line. */
static void read_stack(struct import *m, const struct import_event *ev, struct import_stack *stack)
{
	/* A thread tends to repeat its call chains. */
	uint32_t who = ev->a.tid << 1 | (ev->kind == IMPORT_SWITCH);
	size_t there = (size_t)(m->text.end - m->text.p);
	uint64_t offset = m->text.offset;
	struct import_line block;
	size_t known = import_stack_guess(&m->stacks, who, m->text.p, there, stack);

	if (known) {
		import_text_skip(&m->text, known);
	} else {
		import_text_block(&m->text, import_stack_continues, &block);
		if (!block.len)
			return;
		there = (size_t)(m->text.end - block.p); /* more may have been read */
		m->err = import_stack_read(&m->stacks, who, block.p, block.len, there, stack);
	}
	if (stack->bad_lines)
		note_bad(m, m->text.lines + 1 + stack->first_bad, offset, stack->bad_lines);
	m->text.lines += stack->lines;
}

static void read_event(struct import *m, struct import_event *ev)
{
	struct import_stack stack = { .kstack = 0 };

	m->any_event |= ev->cpu >= 0;
	if (uses_stack(ev->kind))
		read_stack(m, ev, &stack);
	else
		skip_block(m);
	if (m->err)
		return;
	if (ev->cpu >= 0)
		m->err = import_feed_event(&m->feed, ev, &stack);
	else
		m->feed.lost += ev->n; /* LOST on its own line: since the previous event */
}

/* Also what an editor left of an empty line. */
static bool is_blank(const struct import_line *line)
{
	size_t n = 0;

	while (n < line->len && (line->p[n] == ' ' || line->p[n] == '\r' || line->p[n] == '\t'))
		n++;
	return n == line->len;
}

static void read_line(struct import *m, const struct import_line *line)
{
	struct import_event ev = { .kind = IMPORT_NO_EVENT };
	bool empty = !line->too_long && is_blank(line);
	bool comment = line->len && line->p[0] == '#';

	if (empty)
		return;
	/* A line with '#' may be an event: a thread's name may begin so. */
	if (!line->too_long)
		import_perf_event(line->p, line->len, &ev);
	if (ev.kind >= IMPORT_OTHER) {
		read_event(m, &ev);
		return;
	}
	if (comment) {
		read_header(m, line);
	} else if (ev.kind == IMPORT_NO_EVENT) {
		m->no_name |= ev.no_name;
		read_other_line(m, line);
	} else {
		m->no_columns |= ev.kind == IMPORT_NO_COLUMNS;
		m->no_text |= ev.no_text;
		note_bad_event(m, line);
	}
	skip_block(m);
}

/* Another recording may begin here: the import keeps what came before. */
static void stop(struct import *m, const struct import_line *line)
{
	if (!m->report->bad_lines)
		m->report->bad_offset = line->offset;
	m->report->stopped = line->number;
	m->err = 0;
}

static int read_all(struct import *m)
{
	struct import_report *r = m->report;
	struct import_line line;

	while (!m->err && !r->stopped && import_text_line(&m->text, &line)) {
		read_line(m, &line);
		if (m->err == -IMPORT_E_TIMES && r->switches && r->times_back == 1)
			stop(m, &line);
		if (!m->any_event && !m->no_name && m->text.offset > GIVE_UP_BYTES)
			break;
	}
	r->lines = m->text.lines;
	r->ends_in_line = m->text.ended_in_line && !r->stopped;
	if (!m->err)
		m->err = m->text.err;
	if (!m->err)
		m->err = encoder_error(m->out.enc);
	if (!m->err && !r->switches && !r->off_cpu)
		m->err = m->no_columns	? -IMPORT_E_COLUMNS
			 : m->no_text	? -IMPORT_E_TRACE
			 : m->no_name	? -IMPORT_E_EVENT
			 : m->any_event ? -IMPORT_E_SWITCHES
					: -EBADMSG;
	return m->err;
}

static int finish(struct import *m, struct trace_bytes *out)
{
	char tool[HEADER_TEXT_MAX + 32];
	struct import_report *r = m->report;
	struct chainlog_info info = {
		.host = m->header[HEADER_HOST],
		.release = m->header[HEADER_RELEASE],
		.arch = m->header[HEADER_ARCH],
		.options = m->header[HEADER_COMMAND],
		.tool = tool,
		.cpus = m->header_cpus > m->feed.n_cpus ? m->header_cpus : (uint32_t)m->feed.n_cpus,
		.parts = m->stacks.any_kernel | (uint32_t)m->stacks.any_user << 1,
		.aux = m->feed.migrations ? 1u << CHAINLOG_QUEUE : 0,
	};

	snprintf(tool, sizeof(tool), "perf script%s%s", *m->header[HEADER_PERF] ? " " : "",
		 m->header[HEADER_PERF]);
	r->no_stacks = !info.parts;
	import_feed_end(&m->feed);
	return import_output_end(&m->out, &info, out);
}

int import_stream(const struct import_input *s, struct trace_bytes *out,
		  struct import_report *report)
{
	struct import *m = xcalloc(1, sizeof(*m));
	int err;

	*report = (struct import_report) { .source = IMPORT_FROM_TEXT };
	m->report = m->feed.report = m->feed.samples.report = report;
	m->feed.samples.wanted = s->sample_event;
	err = import_text_init(&m->text, (const char *)s->p, s->len, s->fd);
	if (!err)
		import_output_begin(&m->out);
	m->feed.enc = m->stacks.enc = m->out.enc;
	if (!err)
		err = read_all(m);
	if (!err)
		err = finish(m, out);
	import_output_free(&m->out);
	import_feed_free(&m->feed);
	import_stacks_free(&m->stacks);
	import_text_free(&m->text);
	free(m);
	return err;
}
