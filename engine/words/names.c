// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/group_name.h"
#include "base/kernel_functions.h"
#include "common/intern.h"
#include "code_frames.h"
#include "object_names.h"
#include "common/xalloc.h"

struct names {
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct kernel_stacks *kernel;
	struct intern texts;
	struct text_buf buf;
	struct text_buf line; /* a line of several names */
	/* The ids of texts that exist already (0: not yet): by the trace's id of the thing, */
	uint32_t *of_frame[2], *of_string; /* of_frame[1]: without the line */
	uint32_t *of_group;		   /* what it is called, by the string of its path, */
	uint32_t *of_pair;		   /* by stack pair, written as an off-CPU stack, */
	struct object_names *objects;
	uint32_t *of_object[2]; /* by object: [0] its class, [1] in full, */
	/* by (stack pair, kernel frames << 1 | interrupt), written as a waker's stack, */
	struct pair_table of_waker_stack;
	/* and by (stack pair, kernel frames << 1 | with user frames), for names_stack(). */
	struct pair_table of_stack;
};

void names_new(struct names **out, const struct timelines *tl, const struct options *o)
{
	struct names *n = xcalloc(1, sizeof(*n));

	*out = NULL;
	n->timelines = tl;
	n->trace = timelines_trace(tl);
	n->options = o;
	for (int i = 0; i < 2; i++)
		n->of_frame[i] = xcalloc((size_t)trace_frames_end(n->trace) + 1, sizeof(uint32_t));
	n->of_string = xcalloc((size_t)trace_strings_end(n->trace) + 1, sizeof(*n->of_string));
	n->of_group = xcalloc((size_t)trace_strings_end(n->trace) + 1, sizeof(*n->of_group));
	n->of_pair = xcalloc(timelines_pairs_end(tl), sizeof(*n->of_pair));
	kernel_stacks_new(&n->kernel, n->trace);
	object_names_new(&n->objects, tl, n->kernel);
	for (int full = 0; full < 2; full++)
		n->of_object[full] = xcalloc(trace_objects_end(n->trace), sizeof(uint32_t));
	*out = n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	intern_free(&n->texts);
	text_free(&n->buf);
	free(n->of_frame[0]);
	free(n->of_frame[1]);
	free(n->of_string);
	free(n->of_group);
	kernel_stacks_free(n->kernel);
	free(n->of_pair);
	object_names_free(n->objects);
	free(n->of_object[0]);
	free(n->of_object[1]);
	pair_table_free(&n->of_waker_stack);
	pair_table_free(&n->of_stack);
	text_free(&n->line);
	free(n);
}

struct kernel_stacks *names_kernel_stacks(const struct names *n)
{
	return n->kernel;
}

struct object_names *names_objects(const struct names *n)
{
	return n->objects;
}

const char *names_text(const struct names *n, uint32_t text)
{
	return intern_text(&n->texts, text);
}

uint32_t names_adopt(struct names *n, const char *text)
{
	return xintern(&n->texts, text, strlen(text), NULL);
}

static void put_clean(struct text_buf *b, const char *raw)
{
	const unsigned char *s = (const unsigned char *)raw;
	uint32_t c;

	for (size_t len; *s; s += len) {
		len = clean_next(s, &c);
		if (!c)
			text_puts(b, "?");
		else if (c == ';')
			text_puts(b, ":");
		else
			text_put(b, (const char *)s, len);
	}
}

/* The id of the text in b, which it empties. */
static uint32_t take(struct names *n, struct text_buf *b)
{
	uint32_t id = xintern(&n->texts, b->len ? b->p : "", b->len, NULL);

	b->len = 0;
	return id;
}

void names_put(struct text_buf *b, const char *raw)
{
	if (!*raw)
		text_puts(b, "[unknown]");
	else if (!strcmp(raw, "-") || !strcmp(raw, "--"))
		(text_puts(b, "["), text_puts(b, raw), text_puts(b, "]"));
	else
		put_clean(b, raw);
}

uint32_t names_clean(struct names *n, const char *raw)
{
	names_put(&n->buf, raw);
	return take(n, &n->buf);
}

uint32_t names_string(struct names *n, uint32_t string)
{
	if (string >= trace_strings_end(n->trace))
		string = 0;
	if (!n->of_string[string])
		n->of_string[string] = names_clean(n, trace_string(n->trace, string));
	return n->of_string[string];
}

uint32_t names_object(struct names *n, uint32_t object, bool in_full)
{
	struct text_buf raw = { 0 };
	uint32_t *slot;

	if (!trace_object(n->trace, object))
		return names_adopt(n, "");
	slot = &n->of_object[in_full ? 1 : 0][object];
	if (!*slot) {
		text_puts(&raw, "[");
		object_names_put(n->objects, object, in_full, &raw);
		text_puts(&raw, "]");
		*slot = names_clean(n, raw.p);
		text_free(&raw);
	}
	return *slot;
}

uint32_t names_thread(struct names *n, uint32_t thread, uint64_t at_ns)
{
	return names_string(n, timelines_name(n->timelines, thread, at_ns));
}

uint32_t names_group_path(struct names *n, uint32_t path)
{
	char name[GROUP_NAME_LEN];
	uint32_t *slot;

	if (path >= trace_strings_end(n->trace))
		return names_clean(n, "");
	slot = &n->of_group[path];
	if (!*slot) {
		group_name(trace_string(n->trace, path), name);
		*slot = names_clean(n, name);
	}
	return *slot;
}

struct raw_frame names_raw_frame(const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);
	const char *symbol = f ? trace_string(t, f->symbol) : "";
	const char *path = f && f->module ? trace_module_path(t, f->module) : "";
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	if (f && f->code && !*symbol)
		return (struct raw_frame) { "interpreted code", true };
	if (*symbol || !*base)
		return (struct raw_frame) { symbol, false };
	return (struct raw_frame) { base, true };
}

void names_put_source(const struct trace *t, uint32_t frame, bool with_line, struct text_buf *b)
{
	const struct trace_frame *f = trace_frame(t, frame);
	const char *file;
	uint32_t line = trace_frame_line(t, frame, &file);
	char number[16] = "";

	if (!f || !*file || (!line && !f->code))
		return;
	if (line && with_line)
		snprintf(number, sizeof(number), ":%" PRIu32, line);
	text_puts(b, " (");
	text_puts(b, file);
	text_puts(b, number);
	text_puts(b, ")");
}

uint32_t names_function(struct names *n, uint32_t frame)
{
	struct raw_frame raw = names_raw_frame(n->trace, frame);

	if (raw.brackets) {
		text_puts(&n->buf, "[");
		put_clean(&n->buf, raw.text);
		text_puts(&n->buf, "]");
	} else {
		names_put(&n->buf, raw.text);
	}
	return take(n, &n->buf);
}

/* A frame of interpreted code with its place in the source. */
static uint32_t make_code(struct names *n, uint32_t frame, bool with_line)
{
	struct raw_frame raw = names_raw_frame(n->trace, frame);
	struct text_buf b = { 0 };
	uint32_t text;

	text_puts(&b, raw.brackets ? "[" : "");
	text_puts(&b, raw.text);
	text_puts(&b, raw.brackets ? "]" : "");
	names_put_source(n->trace, frame, with_line, &b);
	text = names_clean(n, b.p);
	text_free(&b);
	return text;
}

static uint32_t frame_text(struct names *n, uint32_t frame, bool with_line)
{
	uint32_t *of;

	if (frame >= trace_frames_end(n->trace))
		return names_clean(n, "");
	of = &n->of_frame[with_line ? 0 : 1][frame];
	if (!*of)
		*of = code_frame(n->trace, frame) ? make_code(n, frame, with_line)
						  : names_function(n, frame);
	return *of;
}

uint32_t names_frame(struct names *n, uint32_t frame)
{
	return frame_text(n, frame, true);
}

uint32_t names_frame_without_line(struct names *n, uint32_t frame)
{
	return frame_text(n, frame, false);
}

/* ---- the frames of a line ------------------------------------------------------------------- */

enum order { ROOT_FIRST, LEAF_FIRST };

struct shown_stack names_shown_stack(const struct names *n, uint32_t pair, uint32_t kernel_frames,
				     bool with_user)
{
	struct stack_pair p = timelines_pair(n->timelines, pair);
	struct shown_stack s = { .kernel = trace_stack(n->trace, p.kstack) };

	if (s.kernel.n > kernel_frames)
		s.kernel.n = kernel_frames;
	if (with_user)
		s.user = trace_stack(n->trace, p.ustack);
	s.unknown = !s.kernel.n && !s.user.n && !p.of_client;
	s.is_short = p.is_short && with_user && n->options->user;
	s.cut = s.user.n && s.user.end > CHAINLOG_STACK_WHOLE;
	if (!n->options->kernel)
		s.kernel.n = 0;
	if (!n->options->user)
		s.user.n = 0;
	return s;
}

struct shown_objects names_shown_objects(const struct names *n, uint32_t pair)
{
	struct stack_pair p = timelines_pair(n->timelines, pair);
	struct shown_objects s = { 0 };

	if (n->options->objects == OBJECTS_NONE || !trace_object(n->trace, p.object))
		return s;
	s.object = p.object;
	if (trace_object(n->trace, p.ready))
		s.ready = p.ready;
	return s;
}

bool names_full_objects(const struct names *n)
{
	return n->options->objects == OBJECTS_FULL;
}

/* The text followed by a mark (--annotate). */
static uint32_t marked(struct names *n, uint32_t text, const char *mark)
{
	if (!*mark || !text)
		return text;
	text_puts(&n->buf, names_text(n, text));
	text_puts(&n->buf, mark);
	return take(n, &n->buf);
}

static void put_name(struct names *n, const char *raw, const char *mark, struct frame_sink to)
{
	to.put(to.arg, marked(n, names_clean(n, raw), mark), NULL);
}

static void put_delimiter(struct names *n, const char *delimiter, struct frame_sink to)
{
	if (!n->options->no_delim)
		to.put(to.arg, names_adopt(n, delimiter), NULL);
}

static void put_frames(struct names *n, struct trace_stack s, enum order order, const char *mark,
		       struct frame_sink to)
{
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t id = s.frames[order == LEAF_FIRST ? i : s.n - 1 - i];
		uint32_t text = to.functions && code_frame(n->trace, id) ? names_function(n, id)
									 : names_frame(n, id);

		to.put(to.arg, marked(n, text, mark), trace_frame(n->trace, id));
	}
}

static void put_objects(struct names *n, struct shown_objects what, struct frame_sink to)
{
	bool in_full = names_full_objects(n);

	if (what.object)
		to.put(to.arg, names_object(n, what.object, in_full), NULL);
	if (what.ready)
		to.put(to.arg, names_object(n, what.ready, in_full), NULL);
}

static void put_user_part(struct names *n, struct shown_stack s, enum order order, const char *mark,
			  struct frame_sink to)
{
	if (s.is_short)
		put_name(n, "[short]", mark, to);
	put_frames(n, s.user, order, mark, to);
}

/*
 * ROOT_FIRST begins with the user part, LEAF_FIRST with the kernel part. what: the objects that the
 * stack waits for, which stand between the two parts.
 */
static void put_stack(struct names *n, struct shown_stack s, struct shown_objects what,
		      enum order order, const char *kernel_mark, const char *user_mark,
		      struct frame_sink to)
{
	if (s.unknown) {
		put_name(n, s.is_short ? "[short]" : "[unknown stack]", kernel_mark, to);
		put_objects(n, what, to);
		return;
	}
	if (order == LEAF_FIRST)
		put_frames(n, s.kernel, order, kernel_mark, to);
	else
		put_user_part(n, s, order, user_mark, to);
	put_objects(n, what, to);
	if (s.kernel.n && (s.user.n || s.is_short || what.object))
		put_delimiter(n, "-", to);
	if (order == LEAF_FIRST)
		put_user_part(n, s, order, user_mark, to);
	else
		put_frames(n, s.kernel, order, kernel_mark, to);
}

void names_put_own_stack(struct names *n, uint32_t pair, struct frame_sink to)
{
	/* A client's name says it all. */
	if (timelines_pair(n->timelines, pair).of_client)
		return;
	put_stack(n, names_shown_stack(n, pair, UINT32_MAX, true), names_shown_objects(n, pair),
		  ROOT_FIRST, n->options->annotate ? "_[k]" : "", "", to);
}

static const char *waker_mark(const struct names *n)
{
	return n->options->annotate ? "_[w]" : "";
}

static void put_waker_stack(struct names *n, uint32_t pair, uint32_t kernel_frames, bool with_user,
			    enum order order, struct frame_sink to)
{
	put_stack(n, names_shown_stack(n, pair, kernel_frames, with_user),
		  (struct shown_objects) { 0 }, order, waker_mark(n), waker_mark(n), to);
}

void names_put_name(struct names *n, uint32_t name, struct frame_sink to)
{
	put_name(n, trace_string(n->trace, name), "", to);
}

void names_put_link(struct names *n, const struct link *l, struct frame_sink to)
{
	bool task = l->waker != THREAD_NONE;

	if (l->flags & LINK_LABEL) {
		names_put_name(n, l->name, to);
		return;
	}
	if (l->flags & LINK_SHOWS_BLOCKED) {
		put_delimiter(n, "-", to);
		names_put_own_stack(n, l->blocked, to);
	}
	put_delimiter(n, "--", to);
	put_waker_stack(n, l->stack, l->kernel_frames, task, LEAF_FIRST, to);
	if (task)
		put_name(n, trace_string(n->trace, l->name), waker_mark(n), to);
}

uint32_t names_times(struct names *n, uint32_t name, uint32_t times)
{
	const char *text = names_text(n, name), *mark = waker_mark(n);
	struct text_buf b = { 0 };
	char count[24];
	uint32_t id;

	snprintf(count, sizeof(count), " x %" PRIu32, times);
	text_put(&b, text, strlen(text) - strlen(mark));
	text_puts(&b, count);
	text_puts(&b, mark);
	id = names_adopt(n, b.p);
	text_free(&b);
	return id;
}

void names_put_wakeup(struct names *n, const struct link *l, const char *end, uint32_t wakee,
		      struct frame_sink to)
{
	bool task = l && l->waker != THREAD_NONE;

	if (l) {
		put_name(n, task ? trace_string(n->trace, l->name) : "[interrupt]", waker_mark(n),
			 to);
		put_waker_stack(n, l->stack, l->kernel_frames, task, ROOT_FIRST, to);
	} else {
		put_name(n, end, "", to);
	}
	put_name(n, trace_string(n->trace, wakee), "", to);
}

/* ---- the same as text ----------------------------------------------------------------------- */

static void add_to_line(void *arg, uint32_t text, const struct trace_frame *frame)
{
	struct names *n = arg;

	(void)frame;
	if (n->line.len)
		text_puts(&n->line, ";");
	text_puts(&n->line, names_text(n, text));
}

uint32_t names_off_cpu(struct names *n, uint32_t pair)
{
	if (!n->of_pair[pair]) {
		names_put_own_stack(n, pair, (struct frame_sink) { .put = add_to_line, .arg = n });
		n->of_pair[pair] = take(n, &n->line);
	}
	return n->of_pair[pair];
}

uint32_t names_waker_stack(struct names *n, uint32_t pair, struct waker_context context)
{
	uint32_t *text = pair_table_at(&n->of_waker_stack, pair,
				       context.frames << 1 | context.interrupt, sizeof(*text));

	if (!*text) {
		put_waker_stack(n, pair, context.frames, !context.interrupt, LEAF_FIRST,
				(struct frame_sink) { .put = add_to_line, .arg = n });
		*text = take(n, &n->line);
	}
	return *text;
}

uint32_t names_link(struct names *n, const struct link *l)
{
	names_put_link(n, l, (struct frame_sink) { .put = add_to_line, .arg = n });
	return take(n, &n->line);
}

/* ---- short texts for people ------------------------------------------------------------------ */

/* The most frames of each part that names_stack() shows without -v. */
enum {
	KERNEL_SHOWN = 3,
	USER_SHOWN = 4,
};

/* A frame, with file and line if they are known. */
static void write_frame(struct names *n, uint32_t frame, FILE *out)
{
	struct text_buf source = { 0 };

	fputs(names_text(n, names_frame(n, frame)), out);
	if (!code_frame(n->trace, frame))
		names_put_source(n->trace, frame, true, &source);
	if (source.len)
		print_clean(out, source.p);
	text_free(&source);
}

/*
 * Writes at most `most` frames, leaf first, without those that only lead to the function that
 * waits: KFUNC_PLUMBING, and native ones below what interpreted code called. UINT32_MAX: all
 * frames. Returns how many were written.
 */
static uint32_t write_frames(struct names *n, struct trace_stack s, uint32_t most, FILE *out)
{
	uint32_t shown = 0, left_out = 0, code = code_first(n->trace, s);
	uint32_t called = code < s.n ? code_called(n->trace, s, code) : 0;

	for (uint32_t i = 0; i < s.n; i++) {
		if (most != UINT32_MAX &&
		    (kernel_frame_flags(n->kernel, s.frames[i]) & KFUNC_PLUMBING ||
		     (code < s.n && i < code && i != called)))
			continue;
		if (shown == most) {
			left_out++;
			continue;
		}
		if (shown++)
			fputs(" < ", out);
		write_frame(n, s.frames[i], out);
	}
	/* If all frames are plumbing, the leaf is better than nothing. */
	if (s.n && !shown) {
		write_frame(n, s.frames[0], out);
		shown = 1;
	}
	if (left_out)
		fputs(" < ...", out);
	return shown;
}

static void write_stack(struct names *n, uint32_t pair, uint32_t kernel_frames, bool with_user,
			FILE *out)
{
	bool all = n->options->verbose;
	struct shown_stack s = names_shown_stack(n, pair, kernel_frames, with_user);
	uint32_t shown = 0;

	if (s.kernel.n)
		shown = write_frames(n, s.kernel, all ? UINT32_MAX : KERNEL_SHOWN, out);
	if (s.user.n) {
		if (shown)
			fputs(" | ", out);
		shown += write_frames(n, s.user, all ? UINT32_MAX : USER_SHOWN, out);
		fputs(s.cut ? " < ?" : "", out);
	}
	if (!shown)
		fputs(s.is_short ? "a place that is not known (a short wait)"
				 : "an unknown place (no stack)",
		      out);
}

uint32_t names_stack(struct names *n, uint32_t pair, uint32_t kernel_frames, bool with_user)
{
	uint32_t *text =
		pair_table_at(&n->of_stack, pair, kernel_frames << 1 | with_user, sizeof(*text));
	char *written = NULL;
	size_t len;
	FILE *f;

	if (*text)
		return *text;
	f = xmemstream(&written, &len);
	write_stack(n, pair, kernel_frames, with_user, f);
	xmemstream_close(f, &written);
	*text = names_adopt(n, written);
	free(written);
	return *text;
}
