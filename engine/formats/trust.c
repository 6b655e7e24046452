// SPDX-License-Identifier: GPL-2.0-or-later
#include "trust.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "select/top_waits.h"
#include "words/code_frames.h"

/* What is lost is told from this part of all events on. */
#define LEAST_LOST 100
/* Stacks without all of their callers are told if one in so many sleeps has one. */
#define LEAST_CUT 10
/* Of fewer it says little. */
#define SLEEPS_LEAST 50

struct teller {
	void (*put)(void *arg, const char *text);
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void tell(const struct teller *t, const char *format,
						       ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	t->put(t->arg, text);
}

/* What a stack pair tells of sleeps with it, if it has a user stack. */
enum sleep_mark {
	SLEEP_WHOLE = 1,
	SLEEP_CUT, /* not all callers are known, nor guessed, which is mostly right */
};

struct sleeps {
	uint8_t *marked; /* enum sleep_mark by stack pair */
	uint64_t of[SLEEP_CUT + 1];
};

/* To be freed. */
static uint8_t *mark_pairs(const struct timelines *tl)
{
	const struct trace *t = timelines_trace(tl);
	uint32_t n = timelines_pairs_end(tl);
	uint8_t *marked = xcalloc(n, sizeof(*marked));

	for (uint32_t i = 1; i < n; i++) {
		struct trace_stack s = trace_stack(t, timelines_pair(tl, i).ustack);
		bool cut = s.end > CHAINLOG_STACK_WHOLE && s.end != CHAINLOG_STACK_GUESSED;

		if (s.n)
			marked[i] = cut && !stack_is_of_go_runtime(t, s) ? SLEEP_CUT : SLEEP_WHOLE;
	}
	return marked;
}

/* How many sleeps are cut, whether they are chosen or not. */
static uint64_t count_cut(const struct timelines *tl, const struct wait_filter *f,
			  const uint8_t *marked)
{
	uint32_t first, end;
	uint64_t n = 0;

	timelines_range(tl, wait_filter_of_requests(f), &first, &end);
	for (uint32_t i = first; i < end; i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++)
			n += marked[th->waits[k].stack] == SLEEP_CUT;
	}
	return n;
}

static bool count_sleep(void *arg, const struct chosen_wait *p)
{
	struct sleeps *of = arg;

	of->of[of->marked[p->wait->stack]]++;
	return true;
}

/* Of the sleeps that are chosen. */
static void tell_cut(const struct teller *t, const struct format_input *in,
		     const struct wait_filter *like, struct names *names)
{
	struct sleeps sleeps = { .marked = mark_pairs(in->timelines) };
	struct wait_filter *f = NULL;
	uint64_t all, cut;

	wait_filter_like(&f, like, in->options, names);
	/* To choose takes longer than to count, and nearly always there are none. */
	if (LEAST_CUT * count_cut(in->timelines, f, sleeps.marked) >= SLEEPS_LEAST)
		top_waits_walk_marked(in->timelines, f, sleeps.marked, count_sleep, &sleeps);
	wait_filter_free(f);
	free(sleeps.marked);
	cut = sleeps.of[SLEEP_CUT];
	all = sleeps.of[SLEEP_WHOLE] + cut;
	if (all >= SLEEPS_LEAST && LEAST_CUT * cut >= all)
		tell(t, "the stacks of %.0f %% of the sleeps are cut: functions may be missing",
		     100 * (double)cut / (double)all);
}

void trust_tell(const struct format_input *in, const struct wait_filter *like, struct names *names,
		void (*put)(void *arg, const char *text), void *arg)
{
	const struct teller t = { put, arg };
	const struct trace_info *i = trace_info(in->trace);
	const struct trace_damage *d = trace_damage(in->trace);
	uint64_t requests = i->left_out[CHAINLOG_LEFT_REQUESTS];

	if (d->what)
		tell(&t, "the trace is damaged: %s", d->what);
	if (LEAST_LOST * i->lost >= i->events + i->lost && i->lost)
		tell(&t, "%.0f %% of the events are lost: record with a larger --buffer-size",
		     100 * (double)i->lost / (double)(i->events + i->lost));
	if (requests)
		tell(&t, "%" PRIu64 " requests were not recorded: they came too fast", requests);
	tell_cut(&t, in, like, names);
}
