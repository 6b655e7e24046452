// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_chain.h"

#include <stdlib.h>

#include "base/compare.h"
#include "words/kernel_stacks.h"

#define LANE_NONE UINT32_MAX

/* A sleep of a waker, clipped to the window. */
struct sleep {
	const struct wait *wait;
	uint64_t from_ns, to_ns;
};

void report_chain_free(struct report_chain *c)
{
	pair_table_free(&c->shorts);
	attribution_free(&c->attribution);
	sums_free(&c->ran);
	*c = (struct report_chain) { 0 };
}

/* Finds or adds a lane; LANE_NONE: there are too many. */
static uint32_t lane_of(struct report_chain *c, uint32_t thread, uint32_t handler, uint32_t end)
{
	for (uint32_t i = 0; i < c->n_lanes; i++)
		if (c->lanes[i].thread == thread && c->lanes[i].handler == handler)
			return i;
	if (c->n_lanes == REPORT_LANES)
		return LANE_NONE;
	c->lanes[c->n_lanes] = (struct report_lane) { thread, handler, end, 0 };
	return (uint32_t)c->n_lanes++;
}

static void add_part(struct report_chain *c, uint32_t lane, uint32_t end, uint64_t ns)
{
	if (!ns)
		return;
	for (size_t i = 0; i < c->n_parts; i++) {
		if (c->parts[i].lane == lane && c->parts[i].end == end) {
			c->parts[i].ns += ns;
			return;
		}
	}
	c->parts[c->n_parts++] = (struct report_part) { .lane = lane, .end = end, .ns = ns };
}

/* A chain_sink's; lanes are the nodes. */
static void add_amount(void *arg, uint32_t lane, struct amount_key key, uint64_t amount)
{
	struct report_chain *c = arg;

	if (key.kind == AMOUNT_TIME)
		add_part(c, lane, key.end, amount);
	else if (key.kind == AMOUNT_SAMPLES)
		sums_add(&c->ran, lane, key.value, amount);
	else if (key.kind == AMOUNT_INTERRUPTED)
		c->lanes[lane].interrupted_ns += amount;
}

int report_chain_init(struct report_chain *c, const struct timelines *tl, const struct options *o,
		      struct names *names)
{
	*c = (struct report_chain) { .timelines = tl, .options = o, .names = names };
	c->kernel = names_kernel_stacks(names);
	return attribution_init(&c->attribution, tl, o, (struct chain_sink) { c, add_amount, NULL },
				1u << AMOUNT_SAMPLES | 1u << AMOUNT_INTERRUPTED, NULL);
}

/* A sleep that is not followed. */
static void add_short(struct report_chain *c, uint32_t lane, struct sleep s)
{
	struct report_part *p = pair_table_at(&c->shorts, lane, s.wait->stack, sizeof(*p));

	if (!p) {
		c->out_of_memory = true;
		return;
	}
	p->lane = lane;
	p->end = REPORT_SHORT;
	p->stack = s.wait->stack;
	p->ns += s.to_ns - s.from_ns;
	p->n++;
}

static int by_lane_and_time(const void *pa, const void *pb)
{
	const struct report_part *a = pa, *b = pb;

	if (a->lane != b->lane)
		return compare_numbers(a->lane, b->lane);
	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	return compare_numbers(a->stack, b->stack);
}

/* The sleeps that were not followed become parts: those of the main stacks, and the others. */
static void put_shorts(struct report_chain *c)
{
	struct report_part *all = c->shorts.at, rest;
	size_t n = c->shorts.keys.n, n_lane;

	if (n)
		qsort(all + 1, n, sizeof(*all), by_lane_and_time);
	for (size_t i = 1; i <= n; i += n_lane) {
		rest = (struct report_part) { .lane = all[i].lane, .end = REPORT_SHORT };
		for (n_lane = 0; i + n_lane <= n && all[i + n_lane].lane == rest.lane; n_lane++) {
			if (n_lane < REPORT_STACKS) {
				c->parts[c->n_parts++] = all[i + n_lane];
				continue;
			}
			rest.ns += all[i + n_lane].ns;
			rest.n += all[i + n_lane].n;
		}
		if (rest.n)
			c->parts[c->n_parts++] = rest;
	}
}

static void add_window(struct report_chain *c, uint32_t lane, uint64_t from_ns, uint64_t to_ns)
{
	c->windows[c->n_windows++] = (struct report_window) { lane, from_ns, to_ns };
}

static uint64_t length(struct sleep s)
{
	return s.to_ns - s.from_ns;
}

/*
 * Keeps the longest sleeps, in order of time. Returns the sleep that is dropped: s, or the shortest
 * one so far; without a wait: none.
 */
static struct sleep keep(struct sleep *kept, size_t *n, struct sleep s)
{
	size_t shortest = 0;
	struct sleep dropped;

	if (*n < REPORT_FOLLOWED) {
		kept[(*n)++] = s;
		return (struct sleep) { .wait = NULL };
	}
	for (size_t i = 1; i < *n; i++)
		if (length(kept[i]) < length(kept[shortest]))
			shortest = i;
	dropped = kept[shortest];
	if (length(s) <= length(dropped))
		return s;
	for (size_t i = shortest; i + 1 < *n; i++)
		kept[i] = kept[i + 1];
	kept[*n - 1] = s;
	return dropped;
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
	uint64_t slept = 0, runnable = 0, unknown = 0;
	struct chain_piece ran = {
		lane, CHAIN_RUNNING, waker->thread, NULL, alive_from, alive_to, 0, 1
	};
	const struct wait *birth = thread_birth(th);
	struct sleep kept[REPORT_FOLLOWED], dropped;
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
		if (wake == out)
			continue;
		dropped = keep(kept, &n, (struct sleep) { w, out, wake });
		if (dropped.wait)
			add_short(c, lane, dropped);
	}
	ran.gaps_ns = slept + runnable + unknown;
	attribute_piece(&c->attribution, &ran);
	add_part(c, lane, CHAIN_RUNNABLE, runnable);
	unknown += to_ns - alive_to;
	if (!birth)
		unknown += alive_from - from_ns;
	add_part(c, lane, CHAIN_UNKNOWN, unknown);
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
	enum chain_end end =
		chain_next(c->timelines, c->kernel, c->options, w, links_left, &context);
	struct link l;

	if (end != CHAIN_ENDS && !chain_end_is_interrupt(end)) {
		add_part(c, lane, end, ns);
		return;
	}
	l = link_of(c->timelines, c->options, w, context, !chain->up);
	if (c->n_wakes < REPORT_WAKES)
		waker = lane_of(c, l.waker, handler_of(c, &l), end);
	if (waker == LANE_NONE) {
		add_short(c, lane, s);
		return;
	}
	c->wakes[c->n_wakes++] = (struct report_wake) { w, l, waker, lane };
	if (chain_end_is_interrupt(end))
		add_part(c, waker, end, ns);
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
	pair_table_clear(&c->shorts, sizeof(struct report_part));
	sums_clear(&c->ran);
	if (lane_of(c, thread, 0, 0) == LANE_NONE || w->kind != WAIT_SLEEP || from_ns >= to_ns)
		return;
	add_window(c, 0, from_ns, to_ns);
	explain(c, 0, (struct sleep) { w, from_ns, to_ns }, c->options->depth, &self);
	put_shorts(c);
	sums_merge(&c->ran, c->names, names_off_cpu);
	sums_sort(&c->ran, c->names, names_off_cpu);
	c->out_of_memory |= c->ran.out_of_memory;
}
