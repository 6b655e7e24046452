// SPDX-License-Identifier: GPL-2.0-or-later
#include "report_chain.h"

#include <stdlib.h>

#include "attribute/sleep_ends.h"
#include "attribute/work_items.h"
#include "base/compare.h"
#include "common/xalloc.h"
#include "words/kernel_stacks.h"

#define LANE_NONE UINT32_MAX

/*
 * Sleeps of a waker, clipped to the window: one, or several that are one wait, as they go on in the
 * same one (chain-semantics, section 14).
 */
struct sleep {
	const struct wait *wait;  /* the first */
	const struct wait *ended; /* whose end explains it */
	uint64_t from_ns, to_ns;  /* of the first and the last */
	uint64_t ns;		  /* of all */
	uint32_t n;
};

/* The sleeps of a waker in an event loop that go on, the last first. */
struct gone_on {
	struct {
		const struct wait *wait, *ended;
	} * at;
	size_t n, cap;
};

void report_chain_free(struct report_chain *c)
{
	pair_table_free(&c->shorts);
	attribution_free(&c->attribution);
	sums_free(&c->ran);
	event_loops_free(c->loops);
	*c = (struct report_chain) { 0 };
}

/* Finds or adds a lane; LANE_NONE: there are as many as there may be. */
static uint32_t lane_of(struct report_chain *c, uint32_t thread, uint32_t handler, uint32_t end,
			size_t may_be)
{
	for (uint32_t i = 0; i < c->n_lanes; i++)
		if (c->lanes[i].thread == thread && c->lanes[i].handler == handler)
			return i;
	if (c->n_lanes >= may_be)
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

void report_chain_init(struct report_chain *c, const struct timelines *tl, const struct options *o,
		       struct names *names)
{
	*c = (struct report_chain) { .timelines = tl, .options = o, .names = names };
	c->kernel = names_kernel_stacks(names);
	event_loops_new(&c->loops, tl, c->kernel);
	attribution_init(&c->attribution, tl, o,
			 (struct chain_sink) { .arg = c, .add = add_amount },
			 1u << AMOUNT_SAMPLES | 1u << AMOUNT_INTERRUPTED, NULL);
}

/* Sleeps that are not followed. */
static void add_short(struct report_chain *c, uint32_t lane, struct sleep s)
{
	struct report_part *p = pair_table_at(&c->shorts, lane, s.wait->stack, sizeof(*p));

	p->lane = lane;
	p->end = REPORT_SHORT;
	p->stack = s.wait->stack;
	p->ns += s.ns;
	p->n += s.n;
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
		if (kept[i].ns < kept[shortest].ns)
			shortest = i;
	dropped = kept[shortest];
	if (s.ns <= dropped.ns)
		return s;
	for (size_t i = shortest; i + 1 < *n; i++)
		kept[i] = kept[i + 1];
	kept[*n - 1] = s;
	return dropped;
}

static void explain(struct report_chain *c, uint32_t lane, struct sleep s, uint32_t links_left,
		    const struct chain_member *chain);

/* ---- waits that go on ----------------------------------------------------------------------- */

/* Of what the waker answered by the waking. */
static void find_gone_on(struct report_chain *c, struct gone_on *g, uint32_t waker,
			 struct waking by, uint64_t from_ns)
{
	struct loop_walk l = event_loops_walk(c->loops, c->timelines, waker, by);

	while (loop_walk_back(&l)) {
		const struct wait *w = &l.thread->waits[l.i];

		if (w->in_ns <= from_ns)
			return;
		if (l.ended == w)
			continue;
		XGROW(g->at, g->n, g->cap);
		g->at[g->n].wait = w;
		g->at[g->n++].ended = l.ended;
	}
}

/* The sleep whose end explains w; asked for one after the other. */
static const struct wait *ended_of(struct gone_on *g, const struct wait *w)
{
	while (g->n && g->at[g->n - 1].wait < w)
		g->n--;
	return g->n && g->at[g->n - 1].wait == w ? g->at[g->n - 1].ended : w;
}

/* ---- the chain ------------------------------------------------------------------------------ */

/* The sleeps of a window: the longest are kept. */
struct sleeps {
	struct sleep kept[REPORT_FOLLOWED];
	size_t n;
	struct sleep next; /* the last one, which may get longer; without a wait: none */
};

static void keep_next(struct report_chain *c, uint32_t lane, struct sleeps *all)
{
	struct sleep dropped = { .wait = NULL };

	if (all->next.wait)
		dropped = keep(all->kept, &all->n, all->next);
	if (dropped.wait)
		add_short(c, lane, dropped);
	all->next.wait = NULL;
}

static void add_sleep(struct report_chain *c, uint32_t lane, struct sleeps *all, struct sleep s)
{
	struct sleep *next = &all->next;

	if (next->wait &&
	    timelines_ended(c->timelines, next->ended) == timelines_ended(c->timelines, s.ended)) {
		next->to_ns = s.to_ns;
		next->ns += s.ns;
		next->n++;
		return;
	}
	keep_next(c, lane, all);
	*next = s;
}

/* Shortest first; of equal ones the earliest. */
static int by_length(const void *pa, const void *pb)
{
	const struct sleep *a = pa, *b = pb;

	return a->ns != b->ns ? compare_numbers(a->ns, b->ns)
			      : compare_numbers(a->from_ns, b->from_ns);
}

/*
 * Explains [from, to) by what the chain's last thread did then, like follow() in chain.c. end: as
 * sleep_ends_of_process().
 */
static void follow(struct report_chain *c, uint32_t lane, const struct wait *end, struct waking by,
		   uint64_t from_ns, uint64_t to_ns, uint32_t links_left,
		   const struct chain_member *waker)
{
	const struct thread *th = timelines_thread(c->timelines, waker->thread);
	uint64_t alive_from = clip_ns(end ? end->wake_ns : th->begin_ns, from_ns, to_ns);
	uint64_t alive_to = clip_ns(th->end_ns, alive_from, to_ns);
	uint64_t slept = 0, runnable = 0, unknown = 0;
	struct chain_piece ran = {
		lane, CHAIN_RUNNING, waker->thread, NULL, alive_from, alive_to, 0, 1
	};
	const struct wait *birth = end ? end : thread_birth(th);
	struct sleeps all = { .n = 0 };
	struct gone_on gone_on = { .n = 0 };

	add_window(c, lane, alive_from, to_ns);
	find_gone_on(c, &gone_on, waker->thread, by, from_ns);
	for (uint32_t i = thread_position(th, alive_from);
	     i < th->n_waits && th->waits[i].out_ns < to_ns; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t out = clip_ns(w->out_ns, alive_from, to_ns);
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
			add_sleep(c, lane, &all,
				  (struct sleep) { w, ended_of(&gone_on, w), out, wake, wake - out,
						   1 });
	}
	free(gone_on.at);
	keep_next(c, lane, &all);
	ran.gaps_ns = slept + runnable + unknown;
	attribute_piece(&c->attribution, &ran);
	add_part(c, lane, CHAIN_RUNNABLE, runnable);
	unknown += to_ns - alive_to;
	if (!birth)
		unknown += alive_from - from_ns;
	add_part(c, lane, CHAIN_UNKNOWN, unknown);
	/*
	 * If not all fit, the last ones are shown, which led to the wakeup; of a life, which no
	 * wakeup ends, the longest.
	 */
	if (!waker->up && all.n)
		qsort(all.kept, all.n, sizeof(all.kept[0]), by_length);
	while (all.n-- > 0)
		explain(c, lane, all.kept[all.n], links_left, waker);
	if (birth && alive_from > from_ns)
		explain(c, lane,
			(struct sleep) { birth, birth, from_ns, alive_from, alive_from - from_ns,
					 1 },
			links_left, waker);
}

/* The handler of a link's interrupt (frame id); 0: unknown, or no interrupt. */
static uint32_t handler_of(const struct report_chain *c, const struct link *l)
{
	uint32_t kstack = timelines_pair(c->timelines, l->stack).kstack;

	return l->waker == THREAD_NONE ? irq_handler(c->kernel, kstack, l->kernel_frames) : 0;
}

/* The wakeup that ended a sleep of that lane, if it is known already. */
static const struct report_wake *known_wake(const struct report_chain *c, uint32_t wakee,
					    const struct wait *ended)
{
	for (size_t i = 0; i < c->n_wakes; i++)
		if (c->wakes[i].wakee == wakee && c->wakes[i].wait == ended)
			return &c->wakes[i];
	return NULL;
}

/* The lane of the link that ended sleeps; LANE_NONE: there is no room. */
static uint32_t add_wake(struct report_chain *c, uint32_t lane, struct sleep s,
			 const struct link *l, enum chain_end end)
{
	const struct wait *ended = timelines_ended(c->timelines, s.ended);
	const struct report_wake *known = s.wait == ended ? NULL : known_wake(c, lane, ended);
	uint32_t waker;

	if (known)
		return known->waker;
	waker = c->n_wakes < REPORT_WAKES
			? lane_of(c, l->waker, handler_of(c, l), end, REPORT_LANES)
			: LANE_NONE;
	if (waker != LANE_NONE)
		c->wakes[c->n_wakes++] =
			(struct report_wake) { ended->wake_ns, ended, REPORT_NO_CLIENT, *l,
					       waker,	       lane };
	return waker;
}

/* As sleep_ends_of_process(), of whoever ended a single sleep. */
static const struct wait *process_end(const struct report_chain *c, struct sleep s)
{
	struct wait w =
		s.ended == s.wait ? *s.wait : event_loops_joined(c->timelines, s.wait, s.ended);

	return sleep_ends_of_process(c->timelines, c->kernel, &w);
}

/* A single sleep: by the waker, and before that was asked for it by who asked it, as in chain.c. */
static void follow_one(struct report_chain *c, uint32_t waker, struct sleep s, uint32_t links_left,
		       const struct chain_member *next)
{
	struct waking by = event_loops_waking(c->timelines, s.ended);
	const struct chain_member other = { THREAD_NONE, next->up };
	const struct wait *asked =
		work_item_of(c->timelines, timelines_ended(c->timelines, s.ended), by.at_ns);
	uint64_t from = asked ? clip_ns(asked->wake_ns, s.from_ns, s.to_ns) : s.from_ns;

	if (from < s.to_ns)
		follow(c, waker, process_end(c, s), by, from, s.to_ns, links_left, next);
	if (s.from_ns < from)
		explain(c, waker,
			(struct sleep) { asked, asked, s.from_ns, from, from - s.from_ns, 1 },
			links_left, &other);
}

/* Calls follow_one() for each of the sleeps, which are those of the chain's last thread. */
static void follow_each(struct report_chain *c, uint32_t lane, uint32_t waker, struct sleep s,
			uint32_t links_left, const struct chain_member *next)
{
	const struct wait *w = s.wait;

	if (s.n == 1) {
		if (c->n_windows < REPORT_WINDOWS)
			follow_one(c, waker, s, links_left, next);
		else
			add_short(c, lane, s);
		return;
	}
	for (uint32_t n = 0; n < s.n; w++) {
		uint64_t from = clip_ns(w->out_ns, s.from_ns, s.to_ns);
		uint64_t to = clip_ns(w->wake_ns, from, s.to_ns);
		struct sleep one = { w, s.ended, from, to, to - from, 1 };

		if (w->kind != WAIT_SLEEP || from == to)
			continue;
		n++;
		if (c->n_windows < REPORT_WINDOWS)
			follow_one(c, waker, one, links_left, next);
		else
			add_short(c, lane, one);
	}
}

static void explain(struct report_chain *c, uint32_t lane, struct sleep s, uint32_t links_left,
		    const struct chain_member *chain)
{
	struct wait w =
		s.ended == s.wait ? *s.wait : event_loops_joined(c->timelines, s.wait, s.ended);
	struct chain_member next = { w.waker, chain };
	struct waker_context context;
	enum chain_end end =
		chain_next(c->timelines, c->kernel, c->options, &w, links_left, &context);
	uint32_t waker;
	struct link l;

	if (end != CHAIN_ENDS && !chain_end_is_interrupt(end)) {
		add_part(c, lane, end, s.ns);
		return;
	}
	l = link_of(c->timelines, c->options, &w, context, !chain->up);
	waker = add_wake(c, lane, s, &l, end);
	if (waker == LANE_NONE)
		add_short(c, lane, s);
	else if (chain_end_is_interrupt(end))
		add_part(c, waker, end, s.ns);
	else if (chain_has(chain, w.waker))
		add_part(c, waker, CHAIN_LOOP, s.ns);
	else
		follow_each(c, lane, waker, s, links_left - 1, &next);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* [from, to) of a client's wait, up to when the thread read or answered at most. */
static void explain_by(struct report_chain *c, const struct wait *w, struct served_by by,
		       uint64_t from_ns, uint64_t to_ns, const struct chain_member *client)
{
	struct chain_member next = { by.thread, client };
	enum report_served served = by.answers ? REPORT_ANSWERED : REPORT_READ;
	uint32_t lane;

	if (from_ns >= to_ns)
		return;
	if (by.thread == THREAD_NONE || !c->options->depth) {
		add_part(c, 0, by.thread == THREAD_NONE ? CHAIN_UNKNOWN : CHAIN_DEPTH,
			 to_ns - from_ns);
		return;
	}
	/* There is always room for these, also when the chain of the other one has filled the rest.
	 */
	lane = lane_of(c, by.thread, 0, 0, REPORT_LANES + REPORT_SERVING);
	c->wakes[c->n_wakes++] = (struct report_wake) {
		by.at_ns, NULL,
		served,	  link_of_client(c->timelines, c->options, w, by.thread, by.pair, by.at_ns),
		lane,	  0
	};
	follow(c, lane, NULL, (struct waking) { by.answers ? by.at_ns : 0, by.answers }, from_ns,
	       to_ns, c->options->depth - 1, &next);
}

static void explain_client(struct report_chain *c, const struct wait *w, uint64_t from_ns,
			   uint64_t to_ns, const struct chain_member *client)
{
	const struct request *q = timelines_request_of(c->timelines, w);
	uint64_t taken_ns = clip_ns(q->taken_ns, from_ns, to_ns);

	/* The last first, as in follow(). */
	explain_by(c, w, chains_writer(q), taken_ns, to_ns, client);
	explain_by(c, w, chains_reader(q), from_ns, taken_ns, client);
}

static void begin(struct report_chain *c)
{
	c->n_lanes = c->n_windows = c->n_wakes = c->n_parts = 0;
	pair_table_clear(&c->shorts, sizeof(struct report_part));
	sums_clear(&c->ran);
}

static void finish(struct report_chain *c)
{
	put_shorts(c);
	sums_merge(&c->ran, c->names, names_off_cpu);
	sums_sort(&c->ran, c->names, names_off_cpu);
}

void report_chain_explain_life(struct report_chain *c, uint32_t thread, uint64_t from_ns,
			       uint64_t to_ns)
{
	begin(c);
	follow(c, lane_of(c, thread, 0, 0, REPORT_LANES), NULL, (struct waking) { 0, NULL },
	       from_ns, to_ns, c->options->depth, &(struct chain_member) { thread, NULL });
	finish(c);
}

void report_chain_explain(struct report_chain *c, uint32_t thread, const struct wait *w,
			  uint64_t from_ns, uint64_t to_ns)
{
	struct chain_member self = { thread, NULL };

	begin(c);
	if (lane_of(c, thread, 0, 0, REPORT_LANES) == LANE_NONE || w->kind != WAIT_SLEEP ||
	    from_ns >= to_ns)
		return;
	add_window(c, 0, from_ns, to_ns);
	if (timelines_is_client(c->timelines, thread))
		explain_client(c, w, from_ns, to_ns, &self);
	else
		explain(c, 0, (struct sleep) { w, w, from_ns, to_ns, to_ns - from_ns, 1 },
			c->options->depth, &self);
	finish(c);
}
