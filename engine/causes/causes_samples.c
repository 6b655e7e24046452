// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads of a cause ran, by the samples of their time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "causes_private.h"
#include "words/code_frames.h"
#include "words/kernel_calls.h"
#include "common/xalloc.h"

/* Functions that are named: the innermost one that all go through, and its callers. */
#define FUNCTIONS_SHOWN 3
#define LEAST_WHOLE 4
/* Of all samples: that make a callee one that nearly all go through, and one that is named. */
#define NEARLY_ALL 0.9
#define LEAST_PART 0.1
/* Of all samples: that make a callee one that is looked into if it says nothing. */
#define MOST 0.6

/* A function as those called it that are above it: what a cause ran is a tree of these. */
struct call {
	uint64_t samples;
	uint64_t self;	 /* of them without a callee */
	uint32_t caller; /* 0: none is known */
	uint32_t text;
};

struct calls {
	struct pair_table at;	 /* struct call, by (caller, text) */
	struct pair_table lines; /* uint64_t samples, by (call, text of a line of its function) */
	uint64_t samples;
};

/* A function of a stack: in interpreted code line is its text with the line that it is at. */
struct function {
	uint32_t text, line;
};

/* The text of a frame without the line in it; 0: it has none. */
static uint32_t without_line(const struct causes *c, uint32_t frame)
{
	uint32_t text = names_frame_without_line(c->names, frame);

	return text != names_frame(c->names, frame) ? text : 0;
}

/* How many frames of a kernel stack are there without those that lead to a call. */
static uint32_t from_call_on(const struct causes *c, struct trace_stack s)
{
	for (uint32_t i = s.n; i-- > 0;) {
		const struct trace_frame *f = trace_frame(c->trace, s.frames[i]);

		if (f && kernel_call_begins(trace_string(c->trace, f->symbol)))
			return i + 1;
	}
	return s.n;
}

/*
 * A user stack without the frames nearest to the leaf that only make system calls, and without the
 * outermost ones that only begin the thread (_start has often no name), unless there are no others.
 */
static struct trace_stack without_ends(const struct causes *c, struct trace_stack user)
{
	struct kernel_stacks *k = names_kernel_stacks(c->names);
	struct trace_stack s = user;

	while (s.n && kernel_frame_flags(k, s.frames[0]) & KFUNC_PLUMBING) {
		s.frames++;
		s.n--;
	}
	for (uint32_t i = 0; i < s.n; i++)
		if (kernel_frame_flags(k, s.frames[i]) & KFUNC_THREAD_ROOT)
			s.n = i;
	return s.n ? s : user;
}

/* The user part of a stack, or what the kernel did by itself. */
static struct trace_stack frames_of(const struct causes *c, uint32_t pair, bool *whole)
{
	struct shown_stack s = names_shown_stack(c->names, pair, UINT32_MAX, true);
	struct trace_stack frames = s.user.n ? without_ends(c, s.user) : s.kernel;

	if (!s.user.n)
		frames.n = from_call_on(c, frames);
	*whole = frames.n && !s.cut;
	return frames;
}

/*
 * The functions of a stack, the outermost first; path has room for all frames. Where a function is
 * called again by way of others, what is between is left out. Of what the program's interpreted
 * code called only the first function counts: the others are how the interpreter or its library
 * does that. 0: there are none.
 */
static size_t path_of(const struct causes *c, struct trace_stack frames, struct function *path)
{
	uint32_t code = code_of_program(c->trace, frames);
	uint32_t called = code < frames.n ? code_called(c->trace, frames, code) : 0;
	size_t n = 0, at;

	for (uint32_t i = frames.n; i-- > called;) {
		struct function f = { without_line(c, frames.frames[i]),
				      names_frame(c->names, frames.frames[i]) };

		if (called < i && i < code && code < frames.n)
			continue;
		if (!f.line)
			return 0;
		f.text = f.text ? f.text : f.line;
		for (at = 0; at < n && path[at].text != f.text;)
			at++;
		path[at] = f;
		n = at + 1;
	}
	return n;
}

/* Adds a stack that so many samples have. */
static bool add_stack(struct causes *c, struct calls *calls, struct trace_stack frames,
		      uint64_t samples)
{
	struct function *path = xcalloc((size_t)frames.n + 1, sizeof(*path));
	size_t n = path_of(c, frames, path);
	uint32_t caller = 0;

	for (size_t i = 0; i < n; i++) {
		struct call *call = pair_table_at(&calls->at, caller, path[i].text, sizeof(*call));
		uint32_t id = (uint32_t)(call - (struct call *)calls->at.at);
		uint64_t *line = pair_table_at(&calls->lines, id, path[i].line, sizeof(*line));

		call->caller = caller;
		call->text = path[i].text;
		call->samples += samples;
		call->self += i + 1 == n ? samples : 0;
		*line += samples;
		caller = id;
	}
	calls->samples += samples;
	free(path);
	return n || !frames.n;
}

/* The function, with its line if nearly all samples have the same. */
static const char *call_text(const struct causes *c, const struct calls *calls, uint32_t id)
{
	const struct call *call = (const struct call *)calls->at.at + id;
	const uint64_t *lines = calls->lines.at;

	for (uint32_t i = 1; i <= calls->lines.keys.n; i++)
		if (calls->lines.keys.at[i].a == id &&
		    (double)lines[i] >= NEARLY_ALL * (double)call->samples)
			return names_text(c->names, calls->lines.keys.at[i].b);
	return names_text(c->names, call->text);
}

/* How much of "[libz.so.1+0x5d80]", a function without a name, is its file; 0: it has a name. */
static size_t file_length(const char *name)
{
	const char *offset = *name == '[' ? strstr(name, "+0x") : NULL;

	return offset ? (size_t)(offset - name) : 0;
}

/* Whether both are functions without a name of the same file: one of them says as much as both. */
static bool are_nameless_of_one_file(const char *a, const char *b)
{
	size_t len = file_length(a);

	return len && len == file_length(b) && !strncmp(a, b, len);
}

static double part_of_samples(const struct calls *calls, uint64_t samples)
{
	return calls->samples ? (double)samples / (double)calls->samples : 0;
}

/* Where samples go from a call on: to a callee, on one of its lines, or nowhere (text 0). */
struct way {
	uint64_t samples;
	uint32_t call; /* the callee, else 0 */
	uint32_t text;
};

/* Those that have a part that is named, most samples first. */
struct ways {
	struct way at[FUNCTIONS_SHOWN];
	size_t n;
};

static bool comes_before(const struct causes *c, const struct way *a, const struct way *b)
{
	if (a->samples != b->samples)
		return a->samples > b->samples;
	return strcmp(names_text(c->names, a->text), names_text(c->names, b->text)) < 0;
}

static void add_way(const struct causes *c, const struct calls *calls, struct ways *to,
		    struct way way)
{
	size_t i = to->n;

	if (part_of_samples(calls, way.samples) < LEAST_PART)
		return;
	if (to->n < FUNCTIONS_SHOWN)
		to->n++;
	else if (!comes_before(c, &way, &to->at[--i]))
		return;
	for (; i && comes_before(c, &way, &to->at[i - 1]); i--)
		to->at[i] = to->at[i - 1];
	to->at[i] = way;
}

static struct ways callees_of(const struct causes *c, const struct calls *calls, uint32_t id)
{
	const struct call *at = calls->at.at;
	struct ways to = { .n = 0 };

	for (uint32_t i = 1; i <= calls->at.keys.n; i++)
		if (at[i].caller == id)
			add_way(c, calls, &to, (struct way) { at[i].samples, i, at[i].text });
	return to;
}

/* The lines of a function of interpreted code, unless nearly all samples are at one. */
static struct ways lines_of(const struct causes *c, const struct calls *calls, uint32_t id)
{
	const struct call *call = (const struct call *)calls->at.at + id;
	const uint64_t *samples = calls->lines.at;
	struct ways to = { .n = 0 };

	if (call_text(c, calls, id) != names_text(c->names, call->text))
		return to;
	for (uint32_t i = 1; i <= calls->lines.keys.n; i++) {
		struct pair key = calls->lines.keys.at[i];

		if (key.a == id && key.b != call->text)
			add_way(c, calls, &to, (struct way) { samples[i], 0, key.b });
	}
	return to;
}

static double part_of_ways(const struct calls *calls, const struct ways *w)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < w->n; i++)
		samples += w->at[i].samples;
	return part_of_samples(calls, samples);
}

/* Whether it has no name, or is where a thread begins. */
static bool says_nothing(const struct causes *c, const struct calls *calls, uint32_t id)
{
	const struct call *at = calls->at.at;

	return !id || file_length(names_text(c->names, at[id].text));
}

/*
 * The call at which the samples part, from the outermost ones on: it is followed as long as one
 * callee has nearly all of them, or more than half, and there is no other way that is named, or
 * MOST of them, and it or its caller says nothing. *to: the ways from there; none if all go
 * nowhere, and of very many, of which a few say little.
 */
static uint32_t parting(const struct causes *c, const struct calls *calls, struct ways *to)
{
	const struct call *at = calls->at.at;
	uint32_t id = 0;

	for (;; id = to->at[0].call) {
		uint64_t self = id ? at[id].self : 0;
		double first, itself = part_of_samples(calls, self);
		struct ways lines;

		*to = callees_of(c, calls, id);
		first = to->n ? part_of_samples(calls, to->at[0].samples) : 0;
		if (first >= NEARLY_ALL || (to->n == 1 && itself < LEAST_PART && first > 0.5) ||
		    (first >= MOST &&
		     (says_nothing(c, calls, id) || says_nothing(c, calls, to->at[0].call))))
			continue;
		add_way(c, calls, to, (struct way) { .samples = self });
		if ((id && (double)self >= NEARLY_ALL * (double)at[id].samples) ||
		    part_of_ways(calls, to) < 0.5)
			to->n = 0;
		/* Where in the program it is says more than what is called there. */
		lines = id ? lines_of(c, calls, id) : (struct ways) { .n = 0 };
		if (lines.n && part_of_samples(calls, lines.at[0].samples) > 0.5)
			*to = lines;
		return id;
	}
}

static void put_part(struct text_buf *b, double part, const char *text)
{
	char share[32];

	snprintf(share, sizeof(share), "%s%.0f %% ", b->len ? ", " : "", 100 * part);
	text_puts(b, share);
	text_puts(b, text);
}

/* "52 % spin_cheap, 46 % spin_dear" */
static void put_ways(const struct causes *c, const struct calls *calls, const struct ways *w,
		     struct text_buf *b)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct way *way = &w->at[i];

		put_part(b, part_of_samples(calls, way->samples),
			 way->call   ? call_text(c, calls, way->call)
			 : way->text ? names_text(c->names, way->text)
				     : "itself");
	}
}

static uint32_t adopt(struct causes *c, struct text_buf *b)
{
	uint32_t id = names_adopt(c->names, b->len ? b->p : "");

	text_free(b);
	return id;
}

/* Sets what is said of the samples: "deflate < compress", and where they part behind it. */
static void say_calls(struct causes *c, const struct calls *calls, struct cause *cause)
{
	struct text_buf ran = { 0 }, ways_text = { 0 };
	const struct call *at = calls->at.at;
	struct ways ways = { .n = 0 };
	uint32_t id = parting(c, calls, &ways);
	const char *before = "";
	size_t shown = 0;

	cause->function = id ? at[id].text : ways.n ? ways.at[0].text : 0;
	cause->ran_part = id ? part_of_samples(calls, at[id].samples) : 1;
	put_ways(c, calls, &ways, &ways_text);
	for (; id && shown < FUNCTIONS_SHOWN; id = at[id].caller) {
		const char *text = call_text(c, calls, id);
		uint32_t caller = at[id].caller;

		if (caller && are_nameless_of_one_file(text, call_text(c, calls, caller)))
			continue;
		text_puts(&ran, before);
		text_puts(&ran, text);
		before = " < ";
		shown++;
	}
	cause->ran = adopt(c, &ran);
	cause->ran_ways = adopt(c, &ways_text);
}

/* ---- in the kernel --------------------------------------------------------------------------- */

/* Calls that are named. */
#define CALLS_SHOWN 2

/*
 * "40 % execve, 12 % page faults": the most frequent ones, and how many of all samples have each;
 * "execve" if all of those in the kernel have it. 0: none is known.
 */
static uint32_t calls_text(struct causes *c, struct sums *calls, uint64_t all, uint64_t in_kernel)
{
	struct text_buf b = { 0 };
	const struct sum *at;
	uint32_t id;
	size_t n;

	sums_sort(calls, c->names, sums_key_is_text);
	at = sums_of(calls, 0, &n);
	for (size_t i = 0; i < n && i < CALLS_SHOWN; i++) {
		const char *text = names_text(c->names, at[i].text);

		if (at[i].amount == in_kernel)
			text_puts(&b, text);
		else
			put_part(&b, (double)at[i].amount / (double)all, text);
	}
	id = n ? names_adopt(c->names, b.p) : 0;
	text_free(&b);
	return id;
}

/* How much of what a cause's threads ran was in the kernel, and in which calls. */
static void say_what_kernel_ran(struct causes *c, struct cause *cause)
{
	struct sums calls = { .n = 0 };
	uint64_t all = 0, in_kernel = 0;
	size_t n;
	const struct sum *of = sums_of(&c->samples, cause->id, &n);

	for (size_t i = 0; i < n; i++) {
		bool kernel;
		const char *name = kernel_call_of(c->names, c->trace, of[i].key, &kernel);
		uint32_t call = name ? names_clean(c->names, name) : 0;

		all += of[i].amount;
		in_kernel += kernel ? of[i].amount : 0;
		if (call)
			sums_add(&calls, 0, call, of[i].amount);
	}
	cause->kernel_part = all ? (double)in_kernel / (double)all : 0;
	cause->kernel = calls_text(c, &calls, all, in_kernel);
	sums_free(&calls);
}

/* A sums_text_fn: the order of equal stacks does not matter. */
static uint32_t no_text(struct names *names, uint32_t key)
{
	(void)key;
	return names_adopt(names, "stack");
}

/*
 * A stack without its callers does not say what is not in it: such stacks count only if fewer than
 * one in LEAST_WHOLE samples have others.
 */
static bool add_stacks(struct causes *c, struct calls *calls, uint32_t cause)
{
	size_t n;
	const struct sum *of = sums_of(&c->samples, cause, &n);
	uint64_t all = 0, wholes = 0;
	bool whole, enough;

	for (size_t i = 0; i < n; i++) {
		frames_of(c, of[i].key, &whole);
		all += of[i].amount;
		wholes += whole ? of[i].amount : 0;
	}
	enough = LEAST_WHOLE * wholes >= all;
	for (size_t i = 0; i < n; i++) {
		struct trace_stack frames = frames_of(c, of[i].key, &whole);

		if ((whole || !enough) && !add_stack(c, calls, frames, of[i].amount))
			return false;
	}
	return true;
}

void causes_say_what_ran(struct causes *c)
{
	sums_sort(&c->samples, c->names, no_text);
	for (size_t k = 0; k < c->n; k++) {
		struct calls calls = { .samples = 0 };

		add_stacks(c, &calls, c->at[k].id);
		say_calls(c, &calls, &c->at[k]);
		say_what_kernel_ran(c, &c->at[k]);
		pair_table_free(&calls.at);
		pair_table_free(&calls.lines);
	}
}
