// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define BEFORE "[note] process;"
#define AFTER " 0\n"

struct process_line {
	char *text; /* "PROCESS;THREAD;FRAME..." */
	size_t process_len;
	bool further; /* there are frames behind the thread's name */
};

bool process_lines_wanted(const struct options *o)
{
	return o->view == VIEW_CHAIN && o->root == ROOT_NONE && !(o->given & GIVEN_WHO) &&
	       !o->command;
}

void process_lines_add(struct process_lines *p, const char *process, const char *path, size_t len)
{
	struct text_buf b = { 0 };

	text_puts(&b, process);
	text_put(&b, path, len);
	XAPPEND(p->at, p->n, p->cap) = (struct process_line) {
		.text = b.p,
		.process_len = strlen(process),
		.further = memchr(path + 1, ';', len - 1),
	};
}

/* ---- what tells them apart ------------------------------------------------------------------- */

/* Frame by frame: what ends at a frame is beside what goes on from there. */
static int by_frames(const void *pa, const void *pb)
{
	const char *a = ((const struct owned_line *)pa)->text;
	const char *b = ((const struct owned_line *)pb)->text;
	int x, y;

	for (; *a && *a == *b; a++)
		b++;
	x = *a == ';' ? 1 : (unsigned char)*a;
	y = *b == ';' ? 1 : (unsigned char)*b;
	return x - y;
}

/*
 * The end of the frame that begins at text + at with its ';'; at itself if the line, or the
 * thread's own stack, ends there: by whom it was woken does not say whose it is.
 */
static size_t frame_end(const char *text, size_t at)
{
	size_t end = text[at] ? at + 1 + strcspn(text + at + 1, ";") : at;

	return end == at + 3 && !memcmp(text + at, ";--", 3) ? at : end;
}

static bool has_frame(const struct owned_line *l, const char *text, size_t at, size_t end)
{
	return !strncmp(l->text + at, text + at, end - at) &&
	       (!l->text[end] || l->text[end] == ';');
}

/* The lines have the bytes before `at` in common, which end with a frame. */
static void split(struct process_lines *p, const struct owned_line *lines, size_t n, size_t at)
{
	const char *text = lines->text;
	size_t i = 1, end, next;

	while (i < n && lines[i].process == lines->process)
		i++;
	if (i == n) {
		if (lines->process)
			process_lines_add(p, lines->process, text, at);
		return;
	}
	/* What the first and the last one have in common, all have. */
	while ((end = frame_end(text, at)) > at && has_frame(&lines[n - 1], text, at, end))
		at = end;
	for (i = 0; i < n; i = next) {
		text = lines[i].text;
		end = frame_end(text, at);
		for (next = i + 1; next < n && end > at && has_frame(&lines[next], text, at, end);)
			next++;
		if (end > at)
			split(p, lines + i, next - i, end);
	}
}

void process_lines_split(struct process_lines *p, struct owned_line *lines, size_t n)
{
	if (!n)
		return;
	qsort(lines, n, sizeof(*lines), by_frames);
	split(p, lines, n, frame_end(lines->text, 0));
}

/* ---- writing --------------------------------------------------------------------------------- */

static int by_text(const void *pa, const void *pb)
{
	return strcmp(((const struct process_line *)pa)->text,
		      ((const struct process_line *)pb)->text);
}

static bool same_process(const struct process_line *a, const struct process_line *b)
{
	return a->process_len == b->process_len && !memcmp(a->text, b->text, a->process_len);
}

/* Is the thread called otherwise than its process? */
static bool is_other(const struct process_line *l)
{
	const char *thread = l->text + l->process_len + 1;
	size_t len = strcspn(thread, ";");

	return len != l->process_len || memcmp(thread, l->text, len);
}

/* Whether what is left fits. */
static bool keep(struct process_lines *p, bool further)
{
	size_t n = 0, bytes = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->at[i].further && !further) {
			free(p->at[i].text);
			continue;
		}
		bytes += strlen(BEFORE AFTER) + strlen(p->at[i].text);
		p->at[n++] = p->at[i];
	}
	p->n = n;
	return n <= PROCESS_LINES_MAX && bytes <= PROCESS_LINES_BYTES;
}

/* Those of the processes that have other threads. */
static void put_all(struct text_buf *to, const struct process_lines *p)
{
	for (size_t i = 0, end; i < p->n; i = end) {
		bool others = false;

		for (end = i; end < p->n && same_process(&p->at[i], &p->at[end]); end++)
			others |= is_other(&p->at[end]);
		for (size_t k = i; k < end && others; k++) {
			text_puts(to, BEFORE);
			text_puts(to, p->at[k].text);
			text_puts(to, AFTER);
		}
	}
}

void process_lines_put(struct text_buf *to, struct process_lines *p)
{
	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), by_text);
	if (keep(p, true) || keep(p, false))
		put_all(to, p);
	for (size_t i = 0; i < p->n; i++)
		free(p->at[i].text);
	free(p->at);
	*p = (struct process_lines) { .n = 0 };
}
