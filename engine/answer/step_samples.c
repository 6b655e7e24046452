// SPDX-License-Identifier: GPL-2.0-or-later
#include "step_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "common/xalloc.h"
#include "words/code_frames.h"
#include "words/kernel_calls.h"
#include "words/own_code.h"

/* A sample's user part, of which all callers are there. */
struct whole {
	struct trace_stack user;
	uint64_t amount;
};

/* Stack pairs, and how many samples each has. */
struct sampled {
	struct names *names;
	const struct trace *trace;
	const struct sum *of;
	size_t n;
	struct whole *whole; /* of a stack that is cut it is not known what it has in common */
	size_t n_whole;
	uint64_t all_whole; /* samples */
};

/* So many of the samples with whole stacks, in percent, have a function of which a step says that
 * it ran it. */
#define NEARLY_ALL 90
/* Likewise, where nearly all have none but main(), which every program runs. */
#define MOST 60

/* Whether it goes to where programs and threads begin, also where frames were found without a rule:
 * what compilers of JavaScript make has none, but a frame pointer. */
static bool reaches_start(const struct names *n, struct trace_stack user)
{
	return user.n &&
	       kernel_frame_flags(names_kernel_stacks(n), user.frames[user.n - 1]) & KFUNC_PLUMBING;
}

/* Where some have interpreted code, callers of those that lack it are missing. */
static void find_whole(struct sampled *s)
{
	bool any_code = false;
	size_t n = 0;

	s->whole = xmalloc((s->n + 1) * sizeof(*s->whole));
	for (size_t i = 0; i < s->n; i++) {
		struct shown_stack shown =
			names_shown_stack(s->names, s->of[i].key, UINT32_MAX, true);

		any_code |= code_first(s->trace, shown.user) < shown.user.n;
		if (shown.user.n && (!shown.cut || reaches_start(s->names, shown.user)))
			s->whole[n++] = (struct whole) { shown.user, s->of[i].amount };
	}
	for (size_t i = 0; i < n; i++) {
		if (any_code && code_is_missing(s->trace, s->whole[i].user))
			continue;
		s->all_whole += s->whole[i].amount;
		s->whole[s->n_whole++] = s->whole[i];
	}
}

/*
 * The function that `percent` of the samples of a step have so many calls from the root, as one
 * frame of it; 0: they part there.
 */
static uint32_t common_frame(const struct sampled *s, uint32_t calls, uint32_t percent)
{
	struct sums by_name = { .n = 0 };
	uint64_t most = 0;
	uint32_t frame = 0;

	for (size_t i = 0; i < s->n_whole; i++) {
		const struct whole *w = &s->whole[i];
		uint32_t at = calls < w->user.n ? w->user.frames[w->user.n - 1 - calls] : 0;
		uint32_t name = at ? names_frame_without_line(s->names, at) : 0;
		struct sum *sum = name ? sums_at(&by_name, 0, name) : NULL;

		if (!sum)
			continue;
		sum->amount += w->amount;
		if (sum->amount > most) {
			most = sum->amount;
			frame = at;
		}
	}
	sums_free(&by_name);
	return 100 * most >= percent * s->all_whole ? frame : 0;
}

/* Where most of the samples are, a text; 0: not known. */
static uint32_t most_frequent_place(const struct sampled *s)
{
	struct sums places = { .n = 0 };
	uint32_t most = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint32_t at = own_place(s->names, s->trace, s->of[i].key);

		if (at && *names_text(s->names, at))
			sums_add(&places, 0, at, s->of[i].amount);
	}
	sums_sort(&places, s->names, sums_key_is_text);
	most = sums_dominant_text(&places, 0);
	sums_free(&places);
	return most;
}

/* The functions that samples have in common. */
struct common {
	uint32_t own,
		last;	/* frames: the last one of the program's own; of all. 0: there is none */
	uint32_t calls; /* how many they are */
};

/* Adds those that `percent` of the samples have, from c->calls on. */
static void follow_common(const struct sampled *s, struct common *c, uint32_t percent)
{
	uint32_t frame;

	for (; (frame = common_frame(s, c->calls, percent)); c->calls++) {
		c->last = frame;
		if (own_code_is(s->names, s->trace, frame) &&
		    (!c->own || code_frame(s->trace, frame) || !code_frame(s->trace, c->own)))
			c->own = frame;
	}
}

static bool is_main(const struct sampled *s, uint32_t frame)
{
	const struct trace_frame *f = frame ? trace_frame(s->trace, frame) : NULL;

	return f && f->symbol && !strcmp(trace_string(s->trace, f->symbol), "main");
}

/* Code that was made at run time, of which no name is known. */
static bool is_nameless_code(const struct sampled *s, uint32_t frame)
{
	const struct trace_frame *f = frame ? trace_frame(s->trace, frame) : NULL;

	return f && f->unnamed && *trace_module_path(s->trace, f->module) != '/';
}

/*
 * Of the functions that nearly all samples have in common the last one of the program's own; where
 * these part at once, or callers are not known, where most of them are.
 */
static uint32_t place_ran(const struct sampled *s)
{
	struct common c = { 0 };

	follow_common(s, &c, NEARLY_ALL);
	if (is_main(s, c.own))
		follow_common(s, &c, MOST);
	if (!c.own && (!c.last || code_frame(s->trace, c.last) || is_nameless_code(s, c.last) ||
		       kernel_frame_flags(names_kernel_stacks(s->names), c.last) & KFUNC_PLUMBING))
		return most_frequent_place(s);
	return own_frame_place(s->names, s->trace, c.own ? c.own : c.last);
}

/* What most of the samples of a step are in the kernel for, a text; 0: they are not. */
static uint32_t call_ran(const struct sampled *s)
{
	const struct sum *of = s->of;
	size_t n = s->n;
	struct sums calls = { .n = 0 };
	uint64_t all = 0;
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++) {
		bool kernel;
		const char *name = kernel_call_of(s->names, s->trace, of[i].key, &kernel);
		uint32_t call = name ? names_clean(s->names, name) : 0;

		all += of[i].amount;
		if (call)
			sums_add(&calls, 0, call, of[i].amount);
	}
	sums_sort(&calls, s->names, sums_key_is_text);
	of = sums_of(&calls, 0, &n);
	if (n && 2 * of->amount > all)
		most = of->text;
	sums_free(&calls);
	return most;
}

void step_samples_say(struct step_ran *out, struct names *names, const struct trace *t,
		      const struct sum *of, size_t n)
{
	struct sampled s = { .names = names, .trace = t, .of = of, .n = n };

	find_whole(&s);
	*out = (struct step_ran) { .at = place_ran(&s), .call = call_ran(&s) };
	free(s.whole);
}
