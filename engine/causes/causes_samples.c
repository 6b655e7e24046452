// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads of a cause ran, by the samples of their time. */
#include <errno.h>
#include <stdlib.h>

#include "base/kernel_functions.h"
#include "causes_private.h"
#include "words/code_frames.h"

/* Functions that are named: the innermost of those that most samples have, and its callers. */
#define FUNCTIONS_SHOWN 3
#define LEAST_WHOLE 4

/* A function in the samples of a cause. */
struct function {
	uint32_t text, without_line; /* 0: it has none */
	uint64_t samples;
	uint64_t depth; /* over all samples: frames between it and the leaf */
};

/* How often each function is in the samples of one cause, by its text. */
struct functions {
	struct pair_table at;	/* struct function, by (text, 0) */
	struct pair_table seen; /* by (text, 0): the last stack that has it, from 1 on */
	uint32_t stacks;
	uint64_t samples;
};

static bool add_function(struct functions *f, uint32_t text, uint32_t without_line, uint32_t depth,
			 uint64_t samples)
{
	uint32_t *seen = text ? pair_table_at(&f->seen, text, 0, sizeof(*seen)) : NULL;
	struct function *fn = seen ? pair_table_at(&f->at, text, 0, sizeof(*fn)) : NULL;

	if (!fn)
		return false;
	/* Of a function that calls itself the innermost frame counts. */
	if (*seen == f->stacks)
		return true;
	*seen = f->stacks;
	fn->text = text;
	fn->without_line = without_line;
	fn->samples += samples;
	fn->depth += depth * samples;
	return true;
}

/* The text of a frame without the line in it; 0: it has none, or out of memory. */
static uint32_t without_line(const struct causes *c, uint32_t frame)
{
	uint32_t text = names_frame_without_line(c->names, frame);

	return text != names_frame(c->names, frame) ? text : 0;
}

/* Counts interpreted code by function, and by line: so few samples may have the same line. */
static bool add_frame(struct causes *c, struct functions *f, uint32_t frame, uint32_t depth,
		      uint64_t samples)
{
	uint32_t function = without_line(c, frame);

	return add_function(f, names_frame(c->names, frame), function, depth, samples) &&
	       (!function || add_function(f, function, 0, depth, samples));
}

/* The user part of a stack, or what the kernel did by itself. */
static struct trace_stack frames_of(const struct causes *c, uint32_t pair, bool *whole)
{
	struct shown_stack s = names_shown_stack(c->names, pair, UINT32_MAX, true);
	struct trace_stack frames = s.user.n ? s.user : s.kernel;

	*whole = frames.n && !s.cut;
	return frames;
}

/*
 * Adds a stack that so many samples have. Of what the program's interpreted code called only the
 * first function counts: the others are how the interpreter or its library does that.
 */
static bool add_stack(struct causes *c, struct functions *f, uint32_t pair, uint64_t samples)
{
	bool whole;
	struct trace_stack frames = frames_of(c, pair, &whole);
	uint32_t code = code_of_program(c->trace, frames);
	uint32_t called = code < frames.n ? code_called(c->trace, frames, code) : 0, depth = 0;

	f->stacks++;
	f->samples += samples;
	for (uint32_t i = called; i < frames.n; i++) {
		if (called < i && i < code && code < frames.n)
			continue;
		if (!add_frame(c, f, frames.frames[i], depth++, samples))
			return false;
	}
	return true;
}

/* The innermost first. */
static int by_depth(const void *pa, const void *pb, void *names)
{
	const struct function *a = pa, *b = pb;
	unsigned __int128 da = (unsigned __int128)a->depth * b->samples;
	unsigned __int128 db = (unsigned __int128)b->depth * a->samples;

	return da != db ? (da > db) - (da < db)
			: strcmp(names_text(names, a->text), names_text(names, b->text));
}

/* How much of "[libz.so.1+0x5d80]", a function without a name, is its file; 0: it has a name. */
static size_t file_length(const char *name)
{
	const char *offset = *name == '[' ? strstr(name, "+0x") : NULL;

	return offset ? (size_t)(offset - name) : 0;
}

/*
 * Leaves out functions without a name that one without a name of the same file called: that says as
 * much. Returns how many are left.
 */
static size_t leave_out_nameless(const struct names *names, struct function *at, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = names_text(names, at[i].text);
		const char *caller = i + 1 < n ? names_text(names, at[i + 1].text) : "";
		size_t len = file_length(name);

		if (!len || len != file_length(caller) || strncmp(name, caller, len))
			at[kept++] = at[i];
	}
	return kept;
}

/* Leaves out functions one line of which is there, too. Returns how many are left. */
static size_t leave_out_of_lines(struct function *at, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool has_line = false;

		for (size_t k = 0; k < n; k++)
			has_line |= at[k].without_line == at[i].text;
		if (!has_line)
			at[kept++] = at[i];
	}
	return kept;
}

/*
 * "deflate_slow < deflate": the innermost functions that are in more than half of the samples that
 * count, so that any two of them are in one stack; "" without samples. 0: out of memory.
 */
static uint32_t functions_text(struct causes *c, struct functions *f, uint32_t *function)
{
	struct function *at = f->at.at;
	struct text_buf b = { 0 };
	size_t n = 0;
	uint32_t id;

	for (uint32_t i = 1; i <= f->at.keys.n; i++)
		if (2 * at[i].samples > f->samples)
			at[1 + n++] = at[i];
	n = n ? leave_out_of_lines(at + 1, n) : 0;
	if (n)
		qsort_r(at + 1, n, sizeof(*at), by_depth, c->names);
	n = n ? leave_out_nameless(c->names, at + 1, n) : 0;
	*function = n ? at[1].text : 0;
	for (size_t i = 1; i <= n && i <= FUNCTIONS_SHOWN; i++) {
		text_puts(&b, i > 1 ? " < " : "");
		text_puts(&b, names_text(c->names, at[i].text));
	}
	id = b.failed ? 0 : names_adopt(c->names, b.len ? b.p : "");
	text_free(&b);
	return id;
}

/* ---- in the kernel --------------------------------------------------------------------------- */

/* Calls that are named. */
#define CALLS_SHOWN 2

/* "execve" of "__x64_sys_execve", "page faults"; NULL: the function is not where the kernel begins.
 */
static const char *call_name(const char *symbol)
{
	static const char *const calls[] = { "__x64_sys_", "__arm64_sys_", "__ia32_sys_" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strncmp(symbol, calls[i], strlen(calls[i])))
			return symbol + strlen(calls[i]);
	return strstr(symbol, "exc_page_fault") || !strcmp(symbol, "do_mem_abort") ? "page faults"
										   : NULL;
}

/*
 * What a thread does for a signal, on its way back to user mode from whatever brought it into the
 * kernel: nearer to the leaf. NULL: the function is nothing like that.
 */
static const char *signal_work(const char *symbol)
{
	static const char *const works[][2] = {
		{ "get_signal", "signals" },
		{ "do_exit", "exit" },
		{ "do_coredump", "core dumps" },
		{ "vfs_coredump", "core dumps" },
	};

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(symbol, works[i][0]))
			return works[i][1];
	return NULL;
}

/* The call in which a thread with this stack is in the kernel, a text; 0: it is not, or none is
 * known. */
static uint32_t call_of(struct causes *c, uint32_t pair, bool *kernel)
{
	struct trace_stack s = names_shown_stack(c->names, pair, UINT32_MAX, true).kernel;
	const char *call = NULL;
	bool of_signal = false;
	uint32_t text;

	*kernel = s.n;
	for (uint32_t i = s.n; i-- > 0;) {
		const struct trace_frame *f = trace_frame(c->trace, s.frames[i]);
		const char *symbol = f ? trace_string(c->trace, f->symbol) : "";

		of_signal |= kernel_frame_flags(c->chains.kernel, s.frames[i]) & KFUNC_TAKES_SIGNAL;
		if (of_signal && signal_work(symbol))
			call = signal_work(symbol);
		else if (!call)
			call = call_name(symbol);
	}
	text = call ? names_clean(c->names, call) : 0;
	c->out_of_memory |= call && !text;
	return text;
}

/* "execve, page faults": the most frequent ones. 0: none is known. */
static uint32_t calls_text(struct causes *c, struct sums *calls)
{
	struct text_buf b = { 0 };
	const struct sum *at;
	uint32_t id;
	size_t n;

	sums_sort(calls, c->names, sums_key_is_text);
	at = sums_of(calls, 0, &n);
	for (size_t i = 0; i < n && i < CALLS_SHOWN; i++) {
		text_puts(&b, i ? ", " : "");
		text_puts(&b, names_text(c->names, at[i].text));
	}
	id = n && !b.failed ? names_adopt(c->names, b.p) : 0;
	c->out_of_memory |= calls->out_of_memory || (n && !id);
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
		uint32_t call = call_of(c, of[i].key, &kernel);

		all += of[i].amount;
		in_kernel += kernel ? of[i].amount : 0;
		if (call)
			sums_add(&calls, 0, call, of[i].amount);
	}
	cause->kernel_part = all ? (double)in_kernel / (double)all : 0;
	cause->kernel = calls_text(c, &calls);
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
 * one in LEAST_WHOLE samples have others. False: out of memory.
 */
static bool add_stacks(struct causes *c, struct functions *f, uint32_t cause)
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
		frames_of(c, of[i].key, &whole);
		if ((whole || !enough) && !add_stack(c, f, of[i].key, of[i].amount))
			return false;
	}
	return true;
}

int causes_say_what_ran(struct causes *c)
{
	sums_sort(&c->samples, c->names, no_text);
	for (size_t k = 0; k < c->n && !c->out_of_memory; k++) {
		struct functions f = { .stacks = 0 };

		c->out_of_memory |= !add_stacks(c, &f, c->at[k].id);
		c->at[k].ran = functions_text(c, &f, &c->at[k].function);
		say_what_kernel_ran(c, &c->at[k]);
		c->at[k].ran_part = causes_part_with(c, &c->at[k], c->at[k].function);
		c->out_of_memory |= !c->at[k].ran;
		pair_table_free(&f.at);
		pair_table_free(&f.seen);
	}
	return c->out_of_memory ? -ENOMEM : 0;
}

static bool has_function(const struct causes *c, struct trace_stack frames, uint32_t function)
{
	for (uint32_t i = 0; i < frames.n && function; i++)
		if (names_frame(c->names, frames.frames[i]) == function ||
		    without_line(c, frames.frames[i]) == function)
			return true;
	return false;
}

double causes_part_with(const struct causes *c, const struct cause *of, uint32_t function)
{
	uint64_t all = 0, with = 0;
	size_t n;
	const struct sum *at = sums_of(&c->samples, of->id, &n);

	for (size_t i = 0; i < n; i++) {
		bool whole;
		struct trace_stack frames = frames_of(c, at[i].key, &whole);

		all += frames.n ? at[i].amount : 0;
		with += has_function(c, frames, function) ? at[i].amount : 0;
	}
	return all ? (double)with / (double)all : -1;
}
