// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/lower_bound.h"
#include "queued_windows.h"
#include "sleep_ends.h"

/* The most windows of a level that are collected before they are swept: these fit into a cache. */
#define LEVEL_MAX 32768u

/* The most windows of requests in queues that are collected. */
#define QUEUED_MAX 65536u

/* `count` equal windows [from_ns, to_ns) of a waker's time; the waking is at to_ns. */
struct equal_windows {
	uint64_t from_ns, to_ns;
	int32_t count; /* bounded by the number of threads: each is in one wait at a time */
	uint32_t pos;  /* about how many of the waker's off-CPU intervals begin before to_ns */
};

/* The windows of one chain and waker, as a list; numbers of windows count from 1. */
struct group {
	uint32_t first, last; /* the windows that were added first and last */
	uint32_t n;
};

/* An instant in a backward sweep: +count where windows end, -count where they begin. */
struct edge {
	uint64_t ns;
	int32_t count;
	uint32_t pos; /* as in the windows that end here; 0: not known */
};

/* The windows of a level, and their groups. */
struct collected {
	struct equal_windows windows[LEVEL_MAX];
	uint32_t before[LEVEL_MAX]; /* by window: the one added to its group before it; 0: none */
	struct group groups[LEVEL_MAX]; /* by id - 1 */
};

/* All windows that are the same number of links away from their waits. */
struct level {
	struct collected *at; /* NULL: not allocated yet */
	uint32_t n;	      /* windows */
	struct pairs keys;    /* of the groups: (node, waker) */
	struct edge *edges;   /* of the group that is swept, and room for sorting */
	size_t cap_edges;     /* without that room */
};

struct chain_batch {
	struct chains *chains;
	struct level *levels; /* by number of links, from 1 on */
	uint32_t n_levels;
	struct queued_windows queued; /* of clients, not swept yet */
};

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int chain_batch_new(struct chain_batch **out, struct chains *c)
{
	struct chain_batch *b = calloc(1, sizeof(*b));

	*out = NULL;
	if (!b)
		return -ENOMEM;
	b->chains = c;
	b->n_levels = (c->user.identity ? OPTIONS_DEPTH_MAX : c->depth) + 1;
	b->levels = calloc(b->n_levels, sizeof(*b->levels));
	if (!b->levels) {
		chain_batch_free(b);
		return -ENOMEM;
	}
	*out = b;
	return 0;
}

void chain_batch_free(struct chain_batch *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; b->levels && i < b->n_levels; i++) {
		free(b->levels[i].at);
		free(b->levels[i].edges);
		pairs_free(&b->levels[i].keys);
	}
	free(b->levels);
	queued_windows_free(&b->queued);
	free(b);
}

static void run_level(struct chain_batch *b, uint32_t level);

/* The group of a node and a waker, which may be new; NULL: out of memory. */
static inline struct group *group_of(struct level *l, uint32_t node, uint32_t waker)
{
	struct group *g;
	uint32_t id;
	int is_new;

	if (!l->at)
		l->at = malloc(sizeof(*l->at));
	id = l->at ? pairs_id_new(&l->keys, node, waker, &is_new) : 0;
	if (!id)
		return NULL;
	g = &l->at->groups[id - 1];
	if (is_new)
		*g = (struct group) { l->n + 1, 0, 0 };
	return g;
}

/* As add_window(), for a waker that at first had no CPU, and then ran. */
static void add_ran(struct chains *c, uint32_t node, const struct wait *w, uint64_t from_ns,
		    int32_t count)
{
	uint64_t in_ns = w->out_ns + w->waker_at;
	uint64_t ran_from_ns = in_ns > from_ns ? in_ns : from_ns;
	struct chain_piece p = { node,	  CHAIN_RUNNABLE, w->waker, NULL,
				 from_ns, ran_from_ns,	  0,	    count };

	/* Counts below 0 are added modulo 2^64, as all sums are. */
	if (!attribution_has_details(&c->attribution)) {
		attribute_time(&c->attribution, node, CHAIN_RUNNABLE,
			       (ran_from_ns - from_ns) * (uint64_t)p.count);
		attribute_time(&c->attribution, node, CHAIN_RUNNING,
			       (w->wake_ns - ran_from_ns) * (uint64_t)p.count);
		return;
	}
	p.wait = chains_before_run(c, w);
	attribute_piece(&c->attribution, &p);
	p.end = CHAIN_RUNNING;
	p.from_ns = ran_from_ns;
	p.to_ns = w->wake_ns;
	attribute_piece(&c->attribution, &p);
}

/*
 * Adds `count` windows [from_ns, w->wake_ns) on the time of w's waker, to which node leads; count
 * may be negative. If w says that the waker ran all the time, they are attributed at once.
 */
static void add_window(struct chain_batch *b, uint32_t level, uint32_t node, const struct wait *w,
		       struct waking by, uint64_t from_ns, int32_t count)
{
	struct chains *c = b->chains;
	struct level *l = &b->levels[level];
	struct group *g;

	if (w->flags & WAIT_WAKER_RAN) {
		add_ran(c, node, w, from_ns, count);
		return;
	}
	/*
	 * What a sleep goes on in depends on the waking, and so does what the end of a process
	 * explains: such windows are not alike. They are rare.
	 */
	if ((c->loops && event_loops_go_on(c->loops, c->timelines, w->waker, by, from_ns)) ||
	    sleep_ends_of_process(c->timelines, c->kernel, w)) {
		chains_follow(c, node, w, by, from_ns, level, count);
		return;
	}
	if (l->n == LEVEL_MAX)
		run_level(b, level);
	g = group_of(l, node, w->waker);
	if (!g) {
		c->out_of_memory = true;
		return;
	}
	l->at->before[l->n] = g->last;
	l->at->windows[l->n++] = (struct equal_windows) { from_ns, w->wake_ns, count, w->waker_at };
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

static void add_caused(struct chain_batch *b, uint32_t level, uint32_t node, const struct wait *w,
		       struct waking by, uint64_t from_ns, int32_t count);

/* `count` windows [from_ns, to_ns) in which a worker, to which node leads, was not asked yet. */
static void add_before_asked(struct chain_batch *b, uint32_t level, uint32_t node,
			     const struct wait *asked, uint64_t from_ns, uint64_t to_ns,
			     int32_t count)
{
	struct chains *c = b->chains;
	struct chain_piece p = {
		node, CHAIN_UNKNOWN, THREAD_NONE, asked, from_ns, to_ns, 0, count
	};
	struct waking by = { asked->wake_ns, NULL };
	uint32_t link = next_link(b, level, node, asked, &p.end);

	if (link && p.end == CHAIN_ENDS) {
		add_caused(b, level + 1, link, asked, by, from_ns, count);
		if (to_ns < asked->wake_ns)
			add_caused(b, level + 1, link, asked, by, to_ns, -count);
		return;
	}
	if (link && !chain_end_has_stages(p.end)) {
		attribute_interrupt(&c->attribution, link, p.end, asked, DISK_WHOLE,
				    (to_ns - from_ns) * (uint64_t)count);
		return;
	}
	if (link)
		p.node = link;
	attribute_piece(&c->attribution, &p);
}

/* As add_window(), for the link to a thread that woke w, which may have been asked for that. */
static void add_caused(struct chain_batch *b, uint32_t level, uint32_t node, const struct wait *w,
		       struct waking by, uint64_t from_ns, int32_t count)
{
	const struct wait *asked = chains_asked(b->chains, w, by);
	uint64_t asked_ns = asked ? sooner(asked->wake_ns, w->wake_ns) : 0;

	if (from_ns < asked_ns) {
		add_before_asked(b, level, node, asked, from_ns, asked_ns, count);
		from_ns = asked_ns;
	}
	if (from_ns < w->wake_ns)
		add_window(b, level, node, w, by, from_ns, count);
}

/* ---- one waker's time ----------------------------------------------------------------------- */

/* A sweep back in time over the edges of a group. */
struct sweep {
	const struct edge *edge, *end; /* the edges that are still to come */
	uint64_t ns;		       /* where it is */
	int64_t count;		       /* of windows that cover the instant before ns */
};

/* Goes back to ns. Returns the time in between, counted once for each window that covers it. */
static inline uint64_t back_to(struct sweep *s, uint64_t ns)
{
	uint64_t sum = 0;

	for (; s->edge < s->end && s->edge->ns >= ns; s->edge++) {
		sum += (uint64_t)s->count * (s->ns - s->edge->ns);
		s->ns = s->edge->ns;
		s->count += s->edge->count;
	}
	sum += (uint64_t)s->count * (s->ns - ns);
	s->ns = ns;
	return sum;
}

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
		sum += back_to(s, sample->ns + 1);
		if (s->count)
			attribute_sample(&c->attribution, node, sample->pair, s->count);
	}
	return sum + back_to(s, ns);
}

static inline uint64_t back_running(struct chains *c, struct sweep *s, struct sample_way *way,
				    uint32_t node, uint64_t ns)
{
	return way->last == way->first ? back_to(s, ns) : back_over_samples(c, s, way, node, ns);
}

/*
 * Attributes the time that back_to(s, ns) is going to count to those who had the CPU. All of it is
 * in w, one of the waker's intervals.
 */
static void holders_back_to(struct chains *c, struct sweep s, uint64_t ns, struct pair group,
			    const struct wait *w)
{
	for (;;) {
		bool more = s.edge < s.end && s.edge->ns >= ns;
		uint64_t from_ns = more ? s.edge->ns : ns;
		struct chain_piece p = { group.a, CHAIN_RUNNABLE, group.b, w,
					 from_ns, s.ns,		  0,	   s.count };

		if (s.count)
			attribute_cpu_holders(&c->attribution, &p);
		if (!more)
			return;
		s.ns = from_ns;
		s.count += s.edge++->count;
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

/* The same of one that packets ended. */
static void sweep_network(struct chains *c, struct sweep *s, uint32_t node, const struct wait *w)
{
	const struct tcp_timer *t = timelines_tcp_timer(c->timelines, w);
	uint64_t to_ns = sooner(w->wake_ns, s->ns), since_ns, at_ns;

	if (t) {
		since_ns = clip_ns(t->since_ns, w->out_ns, to_ns);
		at_ns = clip_ns(t->at_ns, since_ns, to_ns);
		attribute_interrupt(&c->attribution, node, CHAIN_NETWORK, w, 0, back_to(s, at_ns));
		attribute_interrupt(&c->attribution, node, CHAIN_NETWORK, w,
				    NETWORK_TIMER + t->which, back_to(s, since_ns));
	}
	attribute_interrupt(&c->attribution, node, CHAIN_NETWORK, w, 0, back_to(s, w->out_ns));
}

/* Sweeps over the blocked part of w, one of the waker's sleeps. */
static inline void sweep_sleep(struct chain_batch *b, uint32_t level, struct sweep *s,
			       uint32_t node, const struct wait *w)
{
	struct chains *c = b->chains;
	enum chain_end end = CHAIN_UNKNOWN;
	struct waking by = { 0, NULL };
	uint32_t link;

	if (!s->count && (s->edge == s->end || s->edge->ns <= w->out_ns)) {
		s->ns = w->out_ns;
		return;
	}
	link = next_link(b, level, node, w, &end);
	if (link && end == CHAIN_DISK) {
		sweep_disk(c, s, link, w);
		return;
	}
	if (link && end == CHAIN_NETWORK) {
		sweep_network(c, s, link, w);
		return;
	}
	if (!link) {
		attribute_time(&c->attribution, node, end, back_to(s, w->out_ns));
		return;
	}
	if (end != CHAIN_ENDS) {
		attribute_interrupt(&c->attribution, link, end, w, DISK_WHOLE,
				    back_to(s, w->out_ns));
		return;
	}
	by.at_ns = c->loops ? timelines_ended(c->timelines, w)->wake_ns : w->wake_ns;
	/*
	 * Windows on the next waker end at w->wake_ns. Of those that end earlier, subtract the
	 * rest.
	 */
	if (s->ns < w->wake_ns && s->count)
		add_caused(b, level + 1, link, w, by, s->ns, (int32_t)-s->count);
	for (; s->edge < s->end && s->edge->ns > w->out_ns; s->edge++) {
		add_caused(b, level + 1, link, w, by, s->edge->ns, -s->edge->count);
		s->count += s->edge->count;
	}
	if (s->count)
		add_caused(b, level + 1, link, w, by, w->out_ns, (int32_t)s->count);
	s->ns = w->out_ns;
}

/* Sweeps over all windows of one group. Its edges are sorted, latest first. */
static void sweep_group(struct chain_batch *b, uint32_t level, struct pair group,
			const struct edge *edges, const struct edge *end)
{
	struct chains *c = b->chains;
	const struct thread *th = timelines_thread(c->timelines, group.b);
	struct sample_way way = { NULL, NULL };
	struct sweep s = { edges, end, UINT64_MAX, 0 };
	uint64_t running = 0, runnable = 0, unknown;
	uint32_t i = th->n_waits, node = group.a;

	if (c->attribution.sample_hints)
		way.first = timelines_samples(c->timelines, group.b, &way.last);
	unknown = back_to(&s, th->end_ns); /* time after the thread's end */
	for (;;) {
		const struct wait *w;

		if (!s.count) {
			if (s.edge == s.end)
				break;
			if (s.edge->ns < s.ns)
				s.ns = s.edge->ns;
			i = intervals_before(th, s.ns, i, s.edge->pos);
		}
		if (!i)
			break;
		w = &th->waits[--i];
		c->steps++;
		running += back_running(c, &s, &way, node, sooner(w->in_ns, s.ns));
		switch (w->kind) {
		case WAIT_SLEEP:
			if (c->attribution.cpu_holders)
				holders_back_to(c, s, sooner(w->wake_ns, s.ns), group, w);
			runnable += back_to(&s, sooner(w->wake_ns, s.ns));
			sweep_sleep(b, level, &s, node, w);
			break;
		case WAIT_PREEMPTED:
			if (c->attribution.cpu_holders)
				holders_back_to(c, s, w->out_ns, group, w);
			runnable += back_to(&s, w->out_ns);
			break;
		default:
			unknown += back_to(&s, w->out_ns);
		}
	}
	if (s.count || s.edge < s.end) {
		running += back_running(c, &s, &way, node, sooner(th->begin_ns, s.ns));
		if (thread_birth(th)) {
			struct wait birth = *thread_birth(th);

			/* Before it existed, all windows waited for the thread that started it. */
			birth.out_ns = 0;
			sweep_sleep(b, level, &s, node, &birth);
		} else {
			unknown += back_to(&s, 0);
		}
	}
	attribute_time(&c->attribution, node, CHAIN_RUNNING, running);
	attribute_time(&c->attribution, node, CHAIN_RUNNABLE, runnable);
	attribute_time(&c->attribution, node, CHAIN_UNKNOWN, unknown);
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

/* Room for the edges of n windows. False: out of memory. */
static bool reserve_edges(struct level *l, size_t n)
{
	struct edge *p;

	if (2 * n <= l->cap_edges)
		return true;
	p = realloc(l->edges, 6 * n * sizeof(*p)); /* a sort takes half as many more */
	if (!p)
		return false;
	l->edges = p;
	l->cap_edges = 4 * n;
	return true;
}

/* The edges of a group, latest first. Returns their end; NULL: out of memory. */
static struct edge *edges_of(struct level *l, struct group g, bool last_first)
{
	struct edge *edges, *at;

	if (!reserve_edges(l, g.n))
		return NULL;
	edges = l->edges;
	at = last_first ? edges : edges + 2 * g.n;
	for (uint32_t i = g.last; i; i = l->at->before[i - 1]) {
		const struct equal_windows *w = &l->at->windows[i - 1];

		at -= last_first ? 0 : 2;
		at[0] = (struct edge) { w->to_ns, w->count, w->pos };
		at[1] = (struct edge) { w->from_ns, -w->count, 0 };
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
		if (end)
			sweep_group(b, level, l->keys.at[i + 1], l->edges, end);
		else
			b->chains->out_of_memory = true;
	}
	l->n = 0;
	pairs_clear(&l->keys);
}

/* ---- interface ------------------------------------------------------------------------------ */

void chain_batch_add(struct chain_batch *b, uint32_t head, const struct wait *w, uint64_t from_ns,
		     uint64_t to_ns)
{
	struct chains *c = b->chains;
	struct chain_piece p = { head, CHAIN_UNKNOWN, THREAD_NONE, w, from_ns, to_ns, 0, 1 };
	struct waking by = { 0, NULL };
	uint32_t link;

	if (from_ns >= to_ns || !head)
		return;
	link = chains_link(c, head, w, c->depth, true, &p.end);
	if (link && p.end == CHAIN_ENDS) {
		by.at_ns = c->loops ? timelines_ended(c->timelines, w)->wake_ns : w->wake_ns;
		add_caused(b, 1, link, w, by, from_ns, 1);
		if (to_ns < w->wake_ns)
			add_caused(b, 1, link, w, by, to_ns, -1);
		return;
	}
	if (link && !chain_end_has_stages(p.end)) {
		attribute_interrupt(&c->attribution, link, p.end, w, DISK_WHOLE, to_ns - from_ns);
		return;
	}
	if (link)
		p.node = link;
	attribute_piece(&c->attribution, &p);
}

/* `count` windows of the time of a thread to which link, the first, leads. */
static void add_client_windows(struct chain_batch *b, uint32_t link, struct served_by by,
			       uint64_t from_ns, uint64_t to_ns, uint32_t count)
{
	struct wait woken = { .wake_ns = to_ns, .waker = by.thread & THREAD_NONE };

	add_window(b, 1, link, &woken, (struct waking) { by.answers ? by.at_ns : 0, by.answers },
		   from_ns, (int32_t)count);
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
	if (queued_windows_sweep(&b->queued, b->chains->timelines, add_queued, b))
		b->chains->out_of_memory = true;
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
	if (queued_windows_add(&b->queued, &queued))
		c->out_of_memory = true;
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
