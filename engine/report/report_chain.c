// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_chain.h"

#include <errno.h>
#include <stdlib.h>

#include "grow.h"
#include "words/kernel_stacks.h"

#define LANE_NONE UINT32_MAX

/* A sleep of a waker, clipped to the window. */
struct sleep {
	const struct wait *wait;
	uint64_t from_ns, to_ns;
};

int report_chain_init(struct report_chain *c, const struct timelines *tl, const struct options *o)
{
	*c = (struct report_chain) { .timelines = tl, .options = o };
	c->kernel = kernel_stacks_new(timelines_trace(tl));
	return c->kernel ? 0 : -ENOMEM;
}

void report_chain_free(struct report_chain *c)
{
	kernel_stacks_free(c->kernel);
	free(c->lanes);
	free(c->windows);
	free(c->wakes);
	free(c->parts);
	*c = (struct report_chain) { 0 };
}

/* Finds or adds a lane; LANE_NONE: there are too many. */
static uint32_t lane_of(struct report_chain *c, uint32_t thread, uint32_t handler)
{
	struct report_lane *p;

	for (uint32_t i = 0; i < c->n_lanes; i++)
		if (c->lanes[i].thread == thread && c->lanes[i].handler == handler)
			return i;
	if (c->n_lanes == REPORT_LANES)
		return LANE_NONE;
	p = grow_array(c->lanes, c->n_lanes, &c->cap_lanes, sizeof(*p));
	if (!p) {
		c->out_of_memory = true;
		return LANE_NONE;
	}
	c->lanes = p;
	p[c->n_lanes] = (struct report_lane) { thread, handler };
	return (uint32_t)c->n_lanes++;
}

static void add_part(struct report_chain *c, uint32_t lane, uint32_t end, uint64_t ns)
{
	struct report_part *p;

	if (!ns)
		return;
	for (size_t i = 0; i < c->n_parts; i++) {
		if (c->parts[i].lane == lane && c->parts[i].end == end) {
			c->parts[i].ns += ns;
			return;
		}
	}
	p = grow_array(c->parts, c->n_parts, &c->cap_parts, sizeof(*p));
	if (!p) {
		c->out_of_memory = true;
		return;
	}
	c->parts = p;
	p[c->n_parts++] = (struct report_part) { lane, end, ns };
}

static void add_window(struct report_chain *c, uint32_t lane, uint64_t from_ns, uint64_t to_ns)
{
	struct report_window *p = grow_array(c->windows, c->n_windows, &c->cap_windows, sizeof(*p));

	if (!p) {
		c->out_of_memory = true;
		return;
	}
	c->windows = p;
	p[c->n_windows++] = (struct report_window) { lane, from_ns, to_ns };
}

static void add_wake(struct report_chain *c, const struct report_wake *wake)
{
	struct report_wake *p = grow_array(c->wakes, c->n_wakes, &c->cap_wakes, sizeof(*p));

	if (!p) {
		c->out_of_memory = true;
		return;
	}
	c->wakes = p;
	p[c->n_wakes++] = *wake;
}

static uint64_t length(struct sleep s)
{
	return s.to_ns - s.from_ns;
}

/*
 * Keeps the longest sleeps, in order of time. Returns the length of the sleep that is dropped: s,
 * or the shortest one so far; 0: none.
 */
static uint64_t keep(struct sleep *kept, size_t *n, struct sleep s)
{
	size_t shortest = 0;
	uint64_t ns;

	if (*n < REPORT_FOLLOWED) {
		kept[(*n)++] = s;
		return 0;
	}
	for (size_t i = 1; i < *n; i++)
		if (length(kept[i]) < length(kept[shortest]))
			shortest = i;
	ns = length(kept[shortest]);
	if (length(s) <= ns)
		return length(s);
	for (size_t i = shortest; i + 1 < *n; i++)
		kept[i] = kept[i + 1];
	kept[*n - 1] = s;
	return ns;
}

static void explain(struct report_chain *c, uint32_t lane, struct sleep s, uint32_t links_left,
		    const struct chain_member *chain);

/* Explains [from, to) by what the chain's last thread did then, like follow() in chain.c. */
static void follow(struct report_chain *c, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
		   uint32_t links_left, const struct chain_member *waker)
{
	const struct thread *th = timelines_thread(c->timelines, waker->thread);
	uint64_t alive_from = clip_ns(th->begin_ns, from_ns, to_ns);
	uint64_t alive_to = clip_ns(th->end_ns, alive_from, to_ns);
	uint64_t slept = 0, runnable = 0, unknown = 0, left_out = 0;
	const struct wait *birth = thread_birth(th);
	struct sleep kept[REPORT_FOLLOWED];
	size_t n = 0;

	add_window(c, lane, alive_from, to_ns);
	for (uint32_t i = thread_position(th, from_ns);
	     i < th->n_waits && th->waits[i].out_ns < to_ns; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t out = clip_ns(w->out_ns, from_ns, to_ns);
		uint64_t in = clip_ns(w->in_ns, out, to_ns);
		uint64_t wake = clip_ns(w->wake_ns, out, in);

		if (w->kind == WAIT_UNKNOWN) {
			unknown += in - out;
			continue;
		}
		if (w->kind == WAIT_PREEMPTED)
			wake = out;
		slept += wake - out;
		runnable += in - wake;
		if (wake > out)
			left_out += keep(kept, &n, (struct sleep) { w, out, wake });
	}
	add_part(c, lane, CHAIN_RUNNING, alive_to - alive_from - slept - runnable - unknown);
	add_part(c, lane, CHAIN_RUNNABLE, runnable);
	unknown += to_ns - alive_to;
	if (!birth)
		unknown += alive_from - from_ns;
	add_part(c, lane, CHAIN_UNKNOWN, unknown);
	add_part(c, lane, REPORT_SHORT, left_out);
	/* Latest first: if not all fit, the last ones are shown. */
	while (n-- > 0)
		explain(c, lane, kept[n], links_left, waker);
	if (birth && alive_from > from_ns)
		explain(c, lane, (struct sleep) { birth, from_ns, alive_from }, links_left, waker);
}

/* The handler of a link's interrupt (frame id); 0: unknown, or no interrupt. */
static uint32_t handler_of(const struct report_chain *c, const struct link *l)
{
	uint32_t kstack = timelines_pair(c->timelines, l->stack).kstack;

	return l->waker == THREAD_NONE ? irq_handler(c->kernel, kstack, l->kernel_frames) : 0;
}

static void explain(struct report_chain *c, uint32_t lane, struct sleep s, uint32_t links_left,
		    const struct chain_member *chain)
{
	const struct wait *w = s.wait;
	struct chain_member next = { w->waker, chain };
	uint64_t ns = s.to_ns - s.from_ns;
	uint32_t waker = LANE_NONE;
	struct waker_context context;
	enum chain_end end = chain_next(c->timelines, c->kernel, w, links_left, &context);
	struct link l;

	if (end != CHAIN_ENDS && end != CHAIN_INTERRUPT) {
		add_part(c, lane, end, ns);
		return;
	}
	l = link_of(c->timelines, c->options, w, context, !chain->up);
	if (c->n_wakes < REPORT_WAKES)
		waker = lane_of(c, l.waker, handler_of(c, &l));
	if (waker == LANE_NONE) {
		add_part(c, lane, REPORT_SHORT, ns);
		return;
	}
	add_wake(c, &(struct report_wake) { w, l, waker, lane });
	if (end == CHAIN_INTERRUPT)
		add_part(c, waker, CHAIN_INTERRUPT, ns);
	else if (chain_has(chain, w->waker))
		add_part(c, waker, CHAIN_LOOP, ns);
	else
		follow(c, waker, s.from_ns, s.to_ns, links_left - 1, &next);
}

void report_chain_explain(struct report_chain *c, uint32_t thread, const struct wait *w,
			  uint64_t from_ns, uint64_t to_ns)
{
	struct chain_member self = { thread, NULL };

	c->n_lanes = c->n_windows = c->n_wakes = c->n_parts = 0;
	if (lane_of(c, thread, 0) == LANE_NONE || w->kind != WAIT_SLEEP || from_ns >= to_ns)
		return;
	add_window(c, 0, from_ns, to_ns);
	explain(c, 0, (struct sleep) { w, from_ns, to_ns }, c->options->depth, &self);
}
