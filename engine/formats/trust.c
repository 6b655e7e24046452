// SPDX-License-Identifier: GPL-2.0-or-later
#include "trust.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

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

/* Sleeps with user stacks. */
struct sleeps {
	const struct timelines *timelines;
	uint64_t all, cut; /* cut: not all callers are known, nor guessed, which is mostly right */
};

static int count_sleep(void *arg, const struct chosen_wait *p)
{
	struct sleeps *of = arg;
	const struct trace *t = timelines_trace(of->timelines);
	struct trace_stack s;

	if (p->wait->kind != WAIT_SLEEP || timelines_is_client(of->timelines, p->thread))
		return 0;
	s = trace_stack(t, timelines_pair(of->timelines, p->wait->stack).ustack);
	if (!s.n)
		return 0;
	of->all++;
	of->cut += s.end > CHAINLOG_STACK_WHOLE && s.end != CHAINLOG_STACK_GUESSED &&
		   !stack_is_of_go_runtime(t, s);
	return 0;
}

/* Of the sleeps that are chosen. */
static int tell_cut(const struct teller *t, const struct format_input *in,
		    const struct wait_filter *like, struct names *names)
{
	struct sleeps of = { .timelines = in->timelines };
	struct wait_filter *f = NULL;
	int err;

	wait_filter_like(&f, like, in->options, names);
	err = top_waits_walk(in->timelines, f, 0, count_sleep, &of);
	wait_filter_free(f);
	if (!err && of.all >= SLEEPS_LEAST && LEAST_CUT * of.cut >= of.all)
		tell(t, "the stacks of %.0f %% of the sleeps are cut: functions may be missing",
		     100 * (double)of.cut / (double)of.all);
	return err;
}

int trust_tell(const struct format_input *in, const struct wait_filter *like, struct names *names,
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
	return tell_cut(&t, in, like, names);
}
