// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_batch.h"

#include <stdlib.h>
#include <string.h>

#include "batch_sweep.h"
#include "common/lower_bound.h"
#include "queued_windows.h"
#include "sleep_ends.h"
#include "common/xalloc.h"

/* The most windows of a level that are collected before they are swept: these fit into a cache. */
#define LEVEL_MAX 32768u

/* The most windows of requests in queues that are collected. */
#define QUEUED_MAX 65536u

/* The windows of one chain and waker, as a list; numbers of windows count from 1. */
struct group {
	uint32_t first, last; /* the windows that were added first and last */
	uint32_t n;
};

/* The windows of a level, and their groups. */
struct collected {
	struct equal_windows windows[LEVEL_MAX];
	uint32_t before[LEVEL_MAX]; /* by window: the one added to its group before it; 0: none */
	struct group groups[LEVEL_MAX]; /* by id - 1 */
};

/* All windows that are the same number of links away from their waits. */
struct level {
	struct collected *at;	      /* NULL: not allocated yet */
	uint32_t n;		      /* windows */
	struct pairs keys;	      /* of the groups: (node, waker) */
	struct edge *edges;	      /* of the group that is swept, and room for sorting */
	size_t cap_edges;	      /* without that room */
	struct level_details details; /* if the sink asks for windows */
};

struct chain_batch {
	struct chains *chains;
	struct level *levels; /* by number of links, from 1 on */
	uint32_t n_levels;
	struct queued_windows queued; /* of clients, not swept yet */
	uint32_t *first; /* by thread: the number of its first wait; NULL: not asked for */
};

/* Windows that are alike, and what leads to them. */
struct new_windows {
	uint32_t level, node;
	const struct wait *w; /* that the waker ended */
	struct waking by;
	uint64_t from_ns, to_ns;
	int32_t count;
	uint64_t origin;
};

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void number_waits(struct chain_batch *b)
{
	const struct timelines *tl = b->chains->timelines;
	uint32_t n = timelines_threads(tl), waits = 0;

	b->first = xmalloc(((size_t)n + 1) * sizeof(*b->first));
	for (uint32_t i = 0; i < n; i++) {
		b->first[i] = waits;
		waits += timelines_thread(tl, i)->n_waits;
	}
}

/*
 * Orders the waits from which windows come: the shortest first, as it shows best what they have in
 * common; 31 bits of its length as a floating-point number, and a number of 32.
 */
uint64_t chain_batch_number(const struct chain_batch *b, uint32_t thread, const struct wait *w)
{
	float ns = (float)(w->in_ns - w->out_ns);
	uint32_t bits;

	if (!b->first)
		return 0;
	memcpy(&bits, &ns, sizeof(bits));
	return (uint64_t)bits << 32 |
	       (b->first[thread] +
		(uint32_t)(w - timelines_thread(b->chains->timelines, thread)->waits));
}

const struct wait *chain_batch_origin(const struct chain_batch *b, uint64_t origin,
				      uint32_t *thread)
{
	uint32_t number = (uint32_t)origin;
	const struct thread *th;

	*thread = (uint32_t)LOWER_BOUND(
		i, timelines_threads(b->chains->timelines),
		b->first[i] + timelines_thread(b->chains->timelines, (uint32_t)i)->n_waits <=
			number);
	th = timelines_thread(b->chains->timelines, *thread);
	return &th->waits[number - b->first[*thread]];
}

void chain_batch_new(struct chain_batch **out, struct chains *c)
{
	struct chain_batch *b = xcalloc(1, sizeof(*b));

	*out = NULL;
	b->chains = c;
	b->n_levels = (c->user.identity ? OPTIONS_DEPTH_MAX : c->depth) + 1;
	b->levels = xcalloc(b->n_levels, sizeof(*b->levels));
	if (c->user.sink.windows)
		number_waits(b);
	*out = b;
}

void chain_batch_free(struct chain_batch *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; b->levels && i < b->n_levels; i++) {
		free(b->levels[i].at);
		free(b->levels[i].edges);
		free(b->levels[i].details.origin);
		free(b->levels[i].details.opened);
		free(b->levels[i].details.open);
		pairs_free(&b->levels[i].keys);
	}
	free(b->levels);
	queued_windows_free(&b->queued);
	free(b->first);
	free(b);
}

static void run_level(struct chain_batch *b, uint32_t level);

/* Tells the sink, if it asks for that, whose the amounts are that come next. */
static inline void tell_windows(const struct chains *c, uint32_t node, enum chain_end end,
				uint32_t waker, const struct wait *w, struct window_sum sum)
{
	const struct chain_sink *to = &c->user.sink;

	if (to->windows)
		to->windows(to->arg, &(struct chain_windows) { node, end, waker, w, sum, false });
}

/* The same of windows that are alike, whose piece is p. */
static void tell_alike(const struct chains *c, const struct chain_piece *p, uint32_t waker,
		       uint64_t origin)
{
	const struct chain_sink *to = &c->user.sink;
	uint64_t ns = p->to_ns - p->from_ns;

	if (to->windows)
		to->windows(to->arg, &(struct chain_windows) { p->node, p->end, waker, p->wait,
							       window_sum_of((uint64_t)p->count, ns,
									     p->to_ns, origin),
							       true });
}

static void reserve_level(const struct chain_batch *b, struct level *l)
{
	struct level_details *d = &l->details;

	if (l->at)
		return;
	if (b->chains->user.sink.windows) {
		d->origin = xmalloc(LEVEL_MAX * sizeof(*d->origin));
		d->opened = xmalloc(LEVEL_MAX * sizeof(*d->opened));
		d->open = xmalloc(LEVEL_MAX * sizeof(*d->open));
	}
	l->at = xmalloc(sizeof(*l->at));
}

/* The group of a node and a waker, which may be new. */
static inline struct group *group_of(struct level *l, uint32_t node, uint32_t waker)
{
	struct group *g;
	uint32_t id;
	int is_new;

	id = pairs_id_new(&l->keys, node, waker, &is_new);
	g = &l->at->groups[id - 1];
	if (is_new)
		*g = (struct group) { l->n + 1, 0, 0 };
	return g;
}

/* As add_windows(), for a waker that at first had no CPU, and then ran. */
static void add_ran(struct chains *c, const struct new_windows *a)
{
	const struct attribution *to = &c->attribution;
	const struct wait *w = a->w;
	uint64_t ran_from_ns = clip_ns(w->out_ns + w->waker_at, a->from_ns, a->to_ns);
	uint64_t count = (uint64_t)a->count, ready_ns = ran_from_ns - a->from_ns;
	struct chain_piece p = { a->node,    CHAIN_RUNNABLE, w->waker, NULL,
				 a->from_ns, ran_from_ns,    0,	       a->count };

	if (ready_ns) {
		tell_windows(c, a->node, p.end, w->waker, NULL,
			     window_sum_of(count, ready_ns, ran_from_ns, a->origin));
		p.wait = chains_before_run(c, w);
		attribute_cpu_holders(to, &p);
		attribute_time(to, a->node, p.end, ready_ns * count);
	}
	if (ran_from_ns == a->to_ns)
		return;
	p.end = CHAIN_RUNNING;
	p.from_ns = ran_from_ns;
	p.to_ns = a->to_ns;
	tell_windows(c, a->node, p.end, w->waker, NULL,
		     window_sum_of(count, a->to_ns - ran_from_ns, a->to_ns, a->origin));
	if (attribution_has_details(to))
		attribute_run(to, &p);
	attribute_time(to, a->node, p.end, (a->to_ns - ran_from_ns) * count);
}

/*
 * Adds windows of the time of a waker, to which the node leads. If the wait says that the waker ran
 * all the time, they are attributed at once.
 */
static void add_windows(struct chain_batch *b, const struct new_windows *a)
{
	struct chains *c = b->chains;
	struct level *l = &b->levels[a->level];
	const struct wait *w = a->w;
	struct group *g;

	if (w->flags & WAIT_WAKER_RAN) {
		add_ran(c, a);
		return;
	}
	/*
	 * What a sleep goes on in depends on the waking, and so does what the end of a process
	 * explains: such windows are not alike. They are rare.
	 */
	if ((c->loops && event_loops_go_on(c->loops, c->timelines, w->waker, a->by, a->from_ns)) ||
	    sleep_ends_of_process(c->timelines, c->kernel, w)) {
		chains_follow(c, a->node, w, a->by, a->from_ns, a->to_ns, a->level, a->count,
			      a->origin);
		return;
	}
	if (l->n == LEVEL_MAX)
		run_level(b, a->level);
	reserve_level(b, l);
	g = group_of(l, a->node, w->waker);
	if (l->details.origin)
		l->details.origin[l->n] = a->origin;
	l->at->before[l->n] = g->last;
	l->at->windows[l->n++] =
		(struct equal_windows) { a->from_ns, a->to_ns, a->count, w->waker_at };
	g->last = l->n;
	g->n++;
}

/*
 * The node one link further: to who or what ended w, a sleep of the waker that node, at this level,
 * leads to. 0: there is none, and *end says why.
 */
static inline uint32_t next_link(struct chain_batch *b, uint32_t level, uint32_t node,
				 const struct wait *w, enum chain_end *end)
{
	struct chains *c = b->chains;
	struct waker_context context;
	uint32_t links = c->user.identity ? chains_links(c, node) : level;

	if (!c->user.identity || level < OPTIONS_DEPTH_MAX)
		return chains_link(c, node, w, c->depth - links, false, end);
	*end = chain_next(c->timelines, c->kernel, c->options, w, 0, &context);
	return 0;
}

static void add_caused(struct chain_batch *b, const struct new_windows *a);

/* Windows in which a worker, to which the node leads, was not asked yet for what it did. */
static void add_before_asked(struct chain_batch *b, const struct new_windows *a,
			     const struct wait *asked)
{
	struct chains *c = b->chains;
	struct chain_piece p = { a->node,    CHAIN_UNKNOWN, THREAD_NONE, asked,
				 a->from_ns, a->to_ns,	    0,		 a->count };
	uint32_t link = next_link(b, a->level, a->node, asked, &p.end);
	struct new_windows next = *a;

	if (link && p.end == CHAIN_ENDS) {
		next.level++;
		next.node = link;
		next.w = asked;
		next.by = (struct waking) { asked->wake_ns, NULL };
		add_caused(b, &next);
		return;
	}
	if (link)
		p.node = link;
	tell_alike(c, &p, THREAD_NONE, a->origin);
	if (link && !chain_end_has_stages(p.end))
		attribute_interrupt(&c->attribution, link, p.end, asked, DISK_WHOLE,
				    (a->to_ns - a->from_ns) * (uint64_t)a->count);
	else
		attribute_piece(&c->attribution, &p);
}

/* As add_windows(), for the link to a thread that woke, which may have been asked for that. */
static void add_caused(struct chain_batch *b, const struct new_windows *a)
{
	const struct wait *asked = chains_asked(b->chains, a->w, a->by);
	struct new_windows part = *a;

	if (!asked) {
		add_windows(b, a);
		return;
	}
	part.to_ns = clip_ns(asked->wake_ns, a->from_ns, a->to_ns);
	if (part.from_ns < part.to_ns)
		add_before_asked(b, &part, asked);
	part.from_ns = part.to_ns;
	part.to_ns = a->to_ns;
	if (part.from_ns < part.to_ns)
		add_windows(b, &part);
}

/* ---- one waker's time ----------------------------------------------------------------------- */

/* A way back in time over a thread's samples: [first, last) are still ahead. */
struct sample_way {
	const struct sample *first, *last;
};

/* Takes the latest sample of [from_ns, to_ns) that is ahead; NULL: there is none. */
static inline const struct sample *take_sample(struct sample_way *way, uint64_t from_ns,
					       uint64_t to_ns)
{
	if (way->last == way->first || way->last[-1].ns < from_ns)
		return NULL;
	if (way->last[-1].ns >= to_ns)
		way->last = sample_at(way->first, way->last, to_ns);
	if (way->last == way->first || way->last[-1].ns < from_ns)
		return NULL;
	return --way->last;
}

/* As back_to(), over time in which the waker ran: counts its samples there, too. */
static uint64_t back_over_samples(struct chains *c, struct sweep *s, struct sample_way *way,
				  uint32_t node, uint64_t ns)
{
	const struct sample *sample;
	uint64_t sum = 0;

	while ((sample = take_sample(way, ns, s->ns))) {
		sum += back_in_state(s, SWEEP_RAN, sample->ns + 1);
		if (s->count)
			attribute_sample(&c->attribution, node, sample->pair, s->count);
	}
	return sum + back_in_state(s, SWEEP_RAN, ns);
}

static inline uint64_t back_running(struct chains *c, struct sweep *s, struct sample_way *way,
				    uint32_t node, uint64_t ns)
{
	return way->last == way->first ? back_in_state(s, SWEEP_RAN, ns)
				       : back_over_samples(c, s, way, node, ns);
}

/*
 * Attributes the time that back_to(s, ns) is going to count to those who had the CPU. All of it is
 * in w, one of the waker's intervals.
 */
static void holders_back_to(struct chains *c, const struct sweep *s, uint64_t ns, struct pair group,
			    const struct wait *w)
{
	const struct edge *edge = s->edge;
	uint64_t to_ns = s->ns;
	int64_t count = s->count;

	if (s->details)
		tell_windows(c, group.a, CHAIN_RUNNABLE, group.b, w,
			     windows_in_sleep(s, ns, w->in_ns));
	for (;;) {
		bool more = edge < s->end && edge->ns >= ns;
		uint64_t from_ns = more ? edge->ns : ns;
		struct chain_piece p = { group.a, CHAIN_RUNNABLE, group.b, w,
					 from_ns, to_ns,	  0,	   count };

		if (count)
			attribute_cpu_holders(&c->attribution, &p);
		if (!more)
			return;
		to_ns = from_ns;
		count += edge++->count;
	}
}

/*
 * How many of the first `most` off-CPU intervals begin before ns. hint: a guess, which may be
 * wrong.
 */
static uint32_t intervals_before(const struct thread *th, uint64_t ns, uint32_t most, uint32_t hint)
{
	uint32_t i;

	/* Nearly always the result is a little below most, or equal to hint. */
	if (hint < most && most - hint > 4) {
		i = hint;
		if (th->waits[i].out_ns >= ns && (!i || th->waits[i - 1].out_ns < ns))
			return i;
	}
	for (i = most; i > 0 && most - i < 6; i--)
		if (th->waits[i - 1].out_ns < ns)
			return i;
	return (uint32_t)LOWER_BOUND(k, most, th->waits[k].out_ns < ns);
}

/* Attributes a sleep that a block device ended, as far as windows cover it. */
static void sweep_disk(struct chains *c, struct sweep *s, uint32_t node, const struct wait *w)
{
	const struct disk_request *r = disk_request_of(c->timelines, w);
	uint64_t to_ns = sooner(w->wake_ns, s->ns), device_ns, held_ns;

	held_ns = clip_ns(disk_request_held_ns(c->timelines, r), w->out_ns, to_ns);
	device_ns = clip_ns(r->issued_ns, held_ns, to_ns);
	if (r->issued_ns)
		attribute_interrupt(&c->attribution, node, CHAIN_DISK, w, DISK_DEVICE,
				    back_to(s, device_ns));
	attribute_interrupt(&c->attribution, node, CHAIN_DISK, w,
			    r->issued_ns ? DISK_QUEUED : DISK_WHOLE, back_to(s, held_ns));
	attribute_interrupt(&c->attribution, node, CHAIN_DISK, w, DISK_HELD, back_to(s, w->out_ns));
}

/*
 * The same of one that packets ended. What a timer put off is another sum than the rest: the sink
 * is told of the windows of each.
 */
static void sweep_network(struct chains *c, struct sweep *s, struct pair group, uint32_t node,
			  const struct wait *w)
{
	const struct tcp_timer *t = timelines_tcp_timer(c->timelines, w);
	uint64_t to_ns = sooner(w->wake_ns, s->ns), end_ns = w->wake_ns, from_ns[3] = { 0 };
	uint32_t stages = 1;

	if (t) {
		stages = 3;
		from_ns[1] = clip_ns(t->since_ns, w->out_ns, to_ns);
		from_ns[0] = clip_ns(t->at_ns, from_ns[1], to_ns);
	}
	from_ns[stages - 1] = w->out_ns;
	for (uint32_t i = 0; i < stages; i++) {
		if (s->details)
			tell_windows(c, node, CHAIN_NETWORK, group.b, w,
				     windows_in_sleep(s, from_ns[i], end_ns));
		attribute_interrupt(&c->attribution, node, CHAIN_NETWORK, w,
				    i == 1 ? NETWORK_TIMER + t->which : 0, back_to(s, from_ns[i]));
		end_ns = from_ns[i];
	}
}

/* The covered part of w, one of the waker's sleeps, becomes windows on the thread that woke it. */
static inline void sweep_caused(struct chain_batch *b, struct sweep *s, struct new_windows *a)
{
	uint64_t out_ns = a->w->out_ns, wake_ns = a->w->wake_ns;
	int64_t whole = s->count; /* cover all of it so far */
	bool any_ends = false;

	for (; s->edge < s->end && s->edge->ns > out_ns; take_edge(s)) {
		bool ends = s->edge->count > 0;

		any_ends |= ends;
		a->from_ns = s->edge->ns;
		a->to_ns = wake_ns;
		a->count = -s->edge->count;
		if (any_ends) {
			const struct equal_windows *of = &s->windows[s->edge->window];

			if (!ends && of->to_ns < wake_ns)
				continue; /* it was added where it ended */
			a->from_ns = of->from_ns > out_ns ? of->from_ns : out_ns;
			a->to_ns = sooner(wake_ns, of->to_ns);
			a->count = of->count;
		}
		whole += ends ? 0 : s->edge->count;
		a->origin = s->details ? s->details->origin[s->edge->window] : 0;
		add_caused(b, a);
	}
	if (whole) {
		a->from_ns = out_ns;
		a->to_ns = wake_ns;
		a->count = (int32_t)whole;
		a->origin = s->details ? first_origin(s, out_ns + 1) : 0;
		add_caused(b, a);
	}
	s->ns = out_ns;
}

/* Sweeps over the blocked part of w, one of the waker's sleeps. */
static inline void sweep_sleep(struct chain_batch *b, uint32_t level, struct sweep *s,
			       struct pair group, const struct wait *w)
{
	struct chains *c = b->chains;
	enum chain_end end = CHAIN_UNKNOWN;
	struct new_windows next;
	uint32_t link;

	if (!s->count && (s->edge == s->end || s->edge->ns <= w->out_ns)) {
		s->ns = w->out_ns;
		return;
	}
	link = next_link(b, level, group.a, w, &end);
	if (link && end == CHAIN_ENDS) {
		next = (struct new_windows) { .level = level + 1, .node = link, .w = w };
		next.by.at_ns = c->loops ? timelines_ended(c->timelines, w)->wake_ns : w->wake_ns;
		sweep_caused(b, s, &next);
		return;
	}
	if (link && end == CHAIN_NETWORK) {
		sweep_network(c, s, group, link, w);
		return;
	}
	if (s->details)
		tell_windows(c, link ? link : group.a, end, group.b, w,
			     windows_in_sleep(s, w->out_ns, w->wake_ns));
	if (link && end == CHAIN_DISK)
		sweep_disk(c, s, link, w);
	else if (link)
		attribute_interrupt(&c->attribution, link, end, w, DISK_WHOLE,
				    back_to(s, w->out_ns));
	else
		attribute_time(&c->attribution, group.a, end, back_to(s, w->out_ns));
}

/* Time in which the waker did something else than to sleep. */
static void end_state(const struct chains *c, const struct sweep *s, struct pair group,
		      enum sweep_state state, enum chain_end end, uint64_t ns)
{
	if (!ns)
		return;
	if (s->details)
		tell_windows(c, group.a, end, group.b, NULL, s->details->sums[state]);
	attribute_time(&c->attribution, group.a, end, ns);
}

/* Time of which nothing is known, from out_ns to to_ns at most. */
static void sweep_unknown(const struct chains *c, struct sweep *s, struct pair group,
			  uint64_t out_ns, uint64_t to_ns)
{
	if (s->details && (s->count || (s->edge < s->end && s->edge->ns > out_ns)))
		tell_windows(c, group.a, CHAIN_UNKNOWN, group.b, NULL,
			     windows_in_sleep(s, out_ns, to_ns));
	attribute_time(&c->attribution, group.a, CHAIN_UNKNOWN, back_to(s, out_ns));
}

/* Sweeps over all windows of one group. Its edges are sorted, latest first. */
static void sweep_group(struct chain_batch *b, uint32_t level, struct pair group,
			const struct edge *edges, const struct edge *end)
{
	struct chains *c = b->chains;
	struct level *l = &b->levels[level];
	const struct thread *th = timelines_thread(c->timelines, group.b);
	struct sample_way way = { NULL, NULL };
	struct sweep s = { .edge = edges, .end = end, .ns = UINT64_MAX, .windows = l->at->windows };
	uint64_t running = 0, runnable = 0;
	uint32_t i = th->n_waits, node = group.a;

	if (l->details.origin) {
		s.details = &l->details;
		l->details.n_open = 0;
		l->details.swept = (struct swept) { 0 };
		memset(l->details.sums, 0, sizeof(l->details.sums));
	}
	if (c->attribution.sample_hints)
		way.first = timelines_samples(c->timelines, group.b, &way.last);
	sweep_unknown(c, &s, group, th->end_ns, UINT64_MAX);
	for (;;) {
		const struct wait *w;

		if (!s.count) {
			if (s.edge == s.end)
				break;
			if (s.edge->ns < s.ns)
				s.ns = s.edge->ns;
			i = intervals_before(th, s.ns, i, s.windows[s.edge->window].pos);
		}
		if (!i)
			break;
		w = &th->waits[--i];
		c->steps++;
		/* Where a window ends in a sleep it begins to count in there. */
		if (s.ns >= w->in_ns)
			running += back_running(c, &s, &way, node, w->in_ns);
		switch (w->kind) {
		case WAIT_SLEEP:
			if (s.ns >= w->wake_ns) {
				if (c->attribution.cpu_holders)
					holders_back_to(c, &s, w->wake_ns, group, w);
				runnable += back_in_state(&s, SWEEP_READY, w->wake_ns);
			}
			sweep_sleep(b, level, &s, group, w);
			break;
		case WAIT_PREEMPTED:
			if (c->attribution.cpu_holders)
				holders_back_to(c, &s, w->out_ns, group, w);
			runnable += back_in_state(&s, SWEEP_READY, w->out_ns);
			break;
		default:
			sweep_unknown(c, &s, group, w->out_ns, w->in_ns);
		}
	}
	if (s.count || s.edge < s.end) {
		if (s.ns >= th->begin_ns)
			running += back_running(c, &s, &way, node, th->begin_ns);
		if (thread_birth(th)) {
			struct wait birth = *thread_birth(th);

			/* Before it existed, all windows waited for the thread that started it. */
			birth.out_ns = 0;
			sweep_sleep(b, level, &s, group, &birth);
		} else {
			sweep_unknown(c, &s, group, 0, th->begin_ns);
		}
	}
	/* Those that begin at 0. */
	while (s.details && s.edge < s.end)
		take_edge(&s);
	end_state(c, &s, group, SWEEP_RAN, CHAIN_RUNNING, running);
	end_state(c, &s, group, SWEEP_READY, CHAIN_RUNNABLE, runnable);
}

/* ---- a level -------------------------------------------------------------------------------- */

static void insertion_sort(struct edge *e, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct edge x = e[i];
		size_t k = i;

		for (; k && e[k - 1].ns < x.ns; k--)
			e[k] = e[k - 1];
		e[k] = x;
	}
}

/* Latest first. A merge sort, whose cost is bounded also for a hostile trace. */
static void sort_edges(struct edge *e, struct edge *spare, size_t n)
{
	size_t half = n / 2, i = 0, k = half, to = 0;

	if (n <= 24) {
		insertion_sort(e, n);
		return;
	}
	sort_edges(e, spare, half);
	sort_edges(e + half, spare, n - half);
	if (e[half - 1].ns >= e[half].ns)
		return;
	memcpy(spare, e, half * sizeof(*e));
	while (i < half && k < n)
		e[to++] = spare[i].ns >= e[k].ns ? spare[i++] : e[k++];
	memcpy(e + to, spare + i, (half - i) * sizeof(*e));
}

/* Room for the edges of n windows. */
static void reserve_edges(struct level *l, size_t n)
{
	if (2 * n <= l->cap_edges)
		return;
	/* A sort takes half as many more. */
	l->edges = xreallocarray(l->edges, n, 6 * sizeof(*l->edges));
	l->cap_edges = 4 * n;
}

/* The edges of a group, latest first. Returns their end. */
static struct edge *edges_of(struct level *l, struct group g, bool last_first)
{
	struct edge *edges, *at;

	reserve_edges(l, g.n);
	edges = l->edges;
	at = last_first ? edges : edges + 2 * g.n;
	for (uint32_t i = g.last; i; i = l->at->before[i - 1]) {
		const struct equal_windows *w = &l->at->windows[i - 1];

		at -= last_first ? 0 : 2;
		at[0] = (struct edge) { w->to_ns, w->count, i - 1 };
		at[1] = (struct edge) { w->from_ns, -w->count, i - 1 };
		at += last_first ? 2 : 0;
	}
	if (g.n > 1)
		sort_edges(edges, edges + l->cap_edges, 2 * g.n);
	return edges + 2 * g.n;
}

/*
 * How many groups ahead memory is prefetched: first the windows, which are needed to know what
 * intervals to prefetch.
 */
#define AHEAD_WINDOWS 16u
#define AHEAD_INTERVALS 8u

/* Prefetches the windows of one later group, and for another the waker's intervals. */
static inline void prefetch_ahead(const struct chain_batch *b, const struct level *l, uint32_t i,
				  bool last_first)
{
	const struct thread *th;
	const struct group *g;
	uint32_t pos;

	if (i + AHEAD_WINDOWS < l->keys.n) {
		g = &l->at->groups[i + AHEAD_WINDOWS];
		__builtin_prefetch(&l->at->windows[(last_first ? g->last : g->first) - 1]);
	}
	if (i + AHEAD_INTERVALS < l->keys.n) {
		g = &l->at->groups[i + AHEAD_INTERVALS];
		th = timelines_thread(b->chains->timelines, l->keys.at[i + AHEAD_INTERVALS + 1].b);
		pos = l->at->windows[(last_first ? g->last : g->first) - 1].pos;
		if (pos && pos <= th->n_waits) {
			__builtin_prefetch(&th->waits[pos - 1]);
			__builtin_prefetch((const char *)&th->waits[pos] - 1);
			__builtin_prefetch((const char *)&th->waits[pos] + 7);
		}
	}
}

static void run_level(struct chain_batch *b, uint32_t level)
{
	struct level *l = &b->levels[level];
	/* Waits arrive in order of time, the windows that follow from them in reverse. */
	bool last_first = level == 1;

	if (!l->n)
		return;
	for (uint32_t i = 0; i < l->keys.n; i++) {
		const struct edge *end = edges_of(l, l->at->groups[i], last_first);

		prefetch_ahead(b, l, i, last_first);
		sweep_group(b, level, l->keys.at[i + 1], l->edges, end);
	}
	l->n = 0;
	pairs_clear(&l->keys);
}

/* ---- interface ------------------------------------------------------------------------------ */

uint32_t chain_batch_add(struct chain_batch *b, uint32_t head, uint32_t thread,
			 const struct wait *w, uint64_t from_ns, uint64_t to_ns)
{
	struct chains *c = b->chains;
	struct chain_piece p = { head, CHAIN_UNKNOWN, THREAD_NONE, w, from_ns, to_ns, 0, 1 };
	struct new_windows a = { .level = 1,
				 .w = w,
				 .from_ns = from_ns,
				 .to_ns = to_ns,
				 .count = 1,
				 .origin = chain_batch_number(b, thread, w) };

	if (from_ns >= to_ns || !head)
		return 0;
	a.node = chains_link(c, head, w, c->depth, true, &p.end);
	if (a.node && p.end == CHAIN_ENDS) {
		a.by.at_ns = c->loops ? timelines_ended(c->timelines, w)->wake_ns : w->wake_ns;
		add_caused(b, &a);
		return a.node;
	}
	if (a.node)
		p.node = a.node;
	tell_alike(c, &p, thread, a.origin);
	if (a.node && !chain_end_has_stages(p.end))
		attribute_interrupt(&c->attribution, a.node, p.end, w, DISK_WHOLE, to_ns - from_ns);
	else
		attribute_piece(&c->attribution, &p);
	return a.node;
}

/* `count` windows of the time of a thread to which link, the first, leads. */
static void add_client_windows(struct chain_batch *b, uint32_t link, struct served_by by,
			       uint64_t from_ns, uint64_t to_ns, uint32_t count)
{
	struct wait woken = { .wake_ns = to_ns, .waker = by.thread & THREAD_NONE };

	add_windows(b, &(struct new_windows) { .level = 1,
					       .node = link,
					       .w = &woken,
					       .by = { by.answers ? by.at_ns : 0, by.answers },
					       .from_ns = from_ns,
					       .to_ns = to_ns,
					       .count = (int32_t)count });
}

/* A queued_windows_sweep()'s. */
static void add_queued(void *arg, const struct queued_window *of, const struct request *for_it,
		       uint64_t from_ns, uint64_t to_ns, uint32_t count)
{
	struct chain_batch *b = arg;
	struct chains *c = b->chains;
	struct wait w = { .stack = of->pair };
	uint32_t node = for_it ? chains_queued_for(c, of->node, for_it) : of->node, link;
	struct served_by reader = { of->reader, 0, of->at_ns, NULL };
	enum chain_end end;

	link = chains_client_link(c, node, &w, reader, &end);
	if (link)
		add_client_windows(b, link, reader, from_ns, to_ns, count);
	else
		attribute_time(&c->attribution, node, end, (to_ns - from_ns) * count);
}

static void run_queued(struct chain_batch *b)
{
	queued_windows_sweep(&b->queued, b->chains->timelines, add_queued, b);
}

/* The part of a client's wait before the request was taken. */
static void add_client_queued(struct chain_batch *b, uint32_t head, const struct wait *w,
			      const struct request *q, uint64_t from_ns, uint64_t to_ns)
{
	struct chains *c = b->chains;
	struct queued_window queued = { .node = chains_queued(c, head),
					.reader = q->reader,
					.pair = w->stack,
					.from_ns = from_ns,
					.to_ns = to_ns,
					.at_ns = q->taken_ns };

	if (q->reader == THREAD_NONE) {
		attribute_time(&c->attribution, queued.node, CHAIN_UNKNOWN, to_ns - from_ns);
		return;
	}
	queued.name = timelines_name(c->timelines, q->reader, q->taken_ns);
	if (b->queued.n >= QUEUED_MAX)
		run_queued(b);
	queued_windows_add(&b->queued, &queued);
}

void chain_batch_add_client(struct chain_batch *b, uint32_t head, const struct wait *w,
			    uint64_t from_ns, uint64_t to_ns)
{
	struct chains *c = b->chains;
	const struct request *q = timelines_request_of(c->timelines, w);
	uint64_t taken_ns = clip_ns(q->taken_ns, from_ns, to_ns);
	enum chain_end end;
	uint32_t link;

	if (from_ns >= to_ns || !head)
		return;
	if (from_ns < taken_ns)
		add_client_queued(b, head, w, q, from_ns, taken_ns);
	if (taken_ns >= to_ns)
		return;
	link = chains_client_link(c, head, w, chains_writer(q), &end);
	if (link)
		add_client_windows(b, link, chains_writer(q), taken_ns, to_ns, 1);
	else
		attribute_time(&c->attribution, head, end, to_ns - taken_ns);
}

void chain_batch_run(struct chain_batch *b)
{
	run_queued(b);
	for (uint32_t level = 1; level < b->n_levels; level++)
		run_level(b, level);
}
