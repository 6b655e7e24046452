// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads of a cause ran, by the samples of their time. */
#include <errno.h>
#include <stdlib.h>

#include "causes_private.h"

/* Functions that are named: the innermost of those that most samples have, and its callers. */
#define FUNCTIONS_SHOWN 3
#define LEAST_WHOLE 4

/* A function in the samples of a cause. */
struct function {
	uint32_t text;
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

static bool add_frame(struct causes *c, struct functions *f, uint32_t frame, uint32_t depth,
		      uint64_t samples)
{
	uint32_t text = names_frame(c->names, frame);
	uint32_t *seen = text ? pair_table_at(&f->seen, text, 0, sizeof(*seen)) : NULL;
	struct function *fn = seen ? pair_table_at(&f->at, text, 0, sizeof(*fn)) : NULL;

	if (!fn)
		return false;
	/* Of a function that calls itself the innermost frame counts. */
	if (*seen == f->stacks)
		return true;
	*seen = f->stacks;
	fn->text = text;
	fn->samples += samples;
	fn->depth += depth * samples;
	return true;
}

/* The user part of a stack, or what the kernel did by itself. */
static struct trace_stack frames_of(const struct causes *c, uint32_t pair, bool *whole)
{
	struct shown_stack s = names_shown_stack(c->names, pair, UINT32_MAX, true);
	struct trace_stack frames = s.user.n ? s.user : s.kernel;

	*whole = frames.n && !s.cut;
	return frames;
}

/* Adds a stack that so many samples have. */
static bool add_stack(struct causes *c, struct functions *f, uint32_t pair, uint64_t samples)
{
	bool whole;
	struct trace_stack frames = frames_of(c, pair, &whole);

	f->stacks++;
	f->samples += samples;
	for (uint32_t i = 0; i < frames.n; i++)
		if (!add_frame(c, f, frames.frames[i], i, samples))
			return false;
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
	if (n)
		qsort_r(at + 1, n, sizeof(*at), by_depth, c->names);
	*function = n ? at[1].text : 0;
	for (size_t i = 1; i <= n && i <= FUNCTIONS_SHOWN; i++) {
		text_puts(&b, i > 1 ? " < " : "");
		text_puts(&b, names_text(c->names, at[i].text));
	}
	id = b.failed ? 0 : names_adopt(c->names, b.len ? b.p : "");
	text_free(&b);
	return id;
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
		c->out_of_memory |= !c->at[k].ran;
		pair_table_free(&f.at);
		pair_table_free(&f.seen);
	}
	return c->out_of_memory ? -ENOMEM : 0;
}

static bool has_function(const struct causes *c, struct trace_stack frames, uint32_t function)
{
	for (uint32_t i = 0; i < frames.n; i++)
		if (names_frame(c->names, frames.frames[i]) == function)
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
