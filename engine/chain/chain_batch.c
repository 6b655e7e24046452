// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_batch.h"

#include <stdlib.h>
#include <string.h>

#include "lower_bound.h"

/* Windows of a level that are collected before they are worked on: these fit into a cache. */
#define LEVEL_MAX 32768u

/* count windows [from_ns, to_ns) on a waker's time; to_ns is where it woke. */
struct equal_windows {
	uint64_t from_ns, to_ns;
	uint32_t group;
	int32_t count; /* bounded by the number of threads: each is in one wait at a time */
	uint32_t pos;  /* about how many of the waker's off-CPU intervals begin before to_ns */
};

/* A place on the way back in time: +count where windows end, -count where they begin. */
struct edge {
	uint64_t ns;
	int32_t count;
	uint32_t pos;
};

/* All windows with the same number of links left. */
struct level {
	struct equal_windows *windows; /* LEVEL_MAX, as for what follows; NULL: never used yet */
	uint32_t n;
	struct pairs groups; /* (node, waker) */
	struct edge *edges;  /* two for each window, by group */
	uint32_t *starts;    /* by group: where its edges begin */
};

/* A cache's slot: the first link of waits with the same head, waker and waker's stack. */
struct first_link {
	uint32_t head, waker, stack; /* head 0: empty */
	uint32_t link;		     /* node << 1 | interrupt */
};

#define FIRST_LINKS 8192u /* a power of two */

struct chain_batch {
	struct chains *chains;
	struct level *levels; /* by links followed, from 1 on */
	uint32_t n_levels;
	size_t *first;	 /* by thread: place of its first wait in links[] */
	uint32_t *links; /* by wait: label of its link << 1 | interrupt; 0: not asked for yet */
	struct edge *spare;
	struct first_link firsts[FIRST_LINKS];
};

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct chain_batch *chain_batch_new(struct chains *c)
{
	uint32_t n = timelines_threads(c->timelines);
	struct chain_batch *b = calloc(1, sizeof(*b));
	size_t waits = 0;

	if (!b)
		return NULL;
	b->chains = c;
	b->n_levels = c->depth + 1;
	b->levels = calloc(b->n_levels, sizeof(*b->levels));
	b->first = malloc(((size_t)n + 1) * sizeof(*b->first));
	b->spare = malloc(2 * LEVEL_MAX * sizeof(*b->spare));
	if (!b->levels || !b->first || !b->spare)
		goto fail;
	for (uint32_t i = 0; i < n; i++) {
		b->first[i] = waits;
		waits += timelines_thread(c->timelines, i)->n_waits;
	}
	b->links = malloc((waits + 1) * sizeof(*b->links));
	if (b->links) {
		/*
		 * Not calloc(): a page that is read before it is written is mapped twice, and the
		 * second mapping interrupts all CPUs.
		 */
		memset(b->links, 0, (waits + 1) * sizeof(*b->links));
		return b;
	}
fail:
	chain_batch_free(b);
	return NULL;
}

void chain_batch_free(struct chain_batch *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; b->levels && i < b->n_levels; i++) {
		free(b->levels[i].windows);
		free(b->levels[i].edges);
		free(b->levels[i].starts);
		pairs_free(&b->levels[i].groups);
	}
	free(b->levels);
	free(b->first);
	free(b->links);
	free(b->spare);
	free(b);
}

static void run_level(struct chain_batch *b, uint32_t level);

static void level_init(struct level *l)
{
	l->edges = malloc(2 * LEVEL_MAX * sizeof(*l->edges));
	l->starts = malloc((LEVEL_MAX + 1) * sizeof(*l->starts));
	if (l->edges && l->starts)
		l->windows = malloc(LEVEL_MAX * sizeof(*l->windows));
	if (l->windows)
		return;
	free(l->edges);
	free(l->starts);
	l->edges = NULL;
	l->starts = NULL;
}

static void add_window(struct chain_batch *b, uint32_t level, uint32_t node, const struct wait *w,
		       uint64_t from_ns, int32_t count)
{
	struct chains *c = b->chains;
	struct level *l = &b->levels[level];
	uint32_t group;

	if (w->flags & WAIT_WAKER_RAN) {
		uint64_t in_ns = w->out_ns + w->waker_at;

		/* Counts below 0 are added modulo 2^64, as all sums are. */
		if (in_ns > from_ns) {
			c->add(c->add_arg, node, CHAIN_RUNNABLE,
			       (in_ns - from_ns) * (uint64_t)(int64_t)count);
			from_ns = in_ns;
		}
		c->add(c->add_arg, node, CHAIN_RUNNING,
		       (w->wake_ns - from_ns) * (uint64_t)(int64_t)count);
		return;
	}
	if (l->n == LEVEL_MAX)
		run_level(b, level);
	if (!l->windows)
		level_init(l);
	group = l->windows ? pairs_id(&l->groups, node, w->waker) : 0;
	if (!group) {
		c->out_of_memory = true;
		return;
	}
	l->windows[l->n++] = (struct equal_windows) {
		.from_ns = from_ns,
		.to_ns = w->wake_ns,
		.group = group - 1,
		.count = count,
		.pos = w->waker_at,
	};
}

/* ---- one waker's time ----------------------------------------------------------------------- */

/* A way back in time over the edges of a group. */
struct sweep {
	const struct edge *edge, *end;
	uint64_t ns;
	int64_t count; /* of windows that cover the instant before ns */
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

/* How many of the off-CPU intervals begin before ns, at most most; hint may be near it. */
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

/* As chains_link(), but the label of a wait's link is remembered. */
static inline uint32_t link_below(struct chain_batch *b, uint32_t node, uint32_t *known,
				  const struct wait *w, uint32_t links_left, enum chain_end *end)
{
	struct chains *c = b->chains;
	uint32_t link;

	if (*known && links_left) {
		*end = *known & 1 ? CHAIN_INTERRUPT : CHAIN_ENDS;
		return chains_node(c, node, *known >> 1);
	}
	link = chains_link(c, node, w, links_left, false, end);
	if (link && c->nodes.at[link].b <= UINT32_MAX / 2)
		*known = c->nodes.at[link].b << 1 | (*end == CHAIN_INTERRUPT);
	return link;
}

/* The blocked part of one of the waker's sleeps. */
static inline void sweep_sleep(struct chain_batch *b, uint32_t level, struct sweep *s,
			       uint32_t node, const struct wait *w, uint32_t *known)
{
	struct chains *c = b->chains;
	enum chain_end end = CHAIN_UNKNOWN;
	uint32_t link;
	uint64_t ns;

	if (!s->count && (s->edge == s->end || s->edge->ns <= w->out_ns)) {
		s->ns = w->out_ns;
		return;
	}
	link = link_below(b, node, known, w, c->depth - level, &end);
	if (!link || end == CHAIN_INTERRUPT) {
		ns = back_to(s, w->out_ns);
		if (ns)
			c->add(c->add_arg, link ? link : node, end, ns);
		return;
	}
	/* Windows that end in the middle of the sleep. */
	if (s->ns < w->wake_ns && s->count)
		add_window(b, level + 1, link, w, s->ns, (int32_t)-s->count);
	for (; s->edge < s->end && s->edge->ns > w->out_ns; s->edge++) {
		add_window(b, level + 1, link, w, s->edge->ns, -s->edge->count);
		s->count += s->edge->count;
	}
	if (s->count)
		add_window(b, level + 1, link, w, w->out_ns, (int32_t)s->count);
	s->ns = w->out_ns;
}

/* All windows of one group: edges, latest first. */
static void sweep_group(struct chain_batch *b, uint32_t level, struct pair group,
			const struct edge *edges, const struct edge *end)
{
	struct chains *c = b->chains;
	const struct thread *th = timelines_thread(c->timelines, group.b);
	uint32_t *known = b->links + b->first[group.b];
	struct sweep s = { edges, end, UINT64_MAX, 0 };
	uint64_t running = 0, runnable = 0, unknown;
	uint32_t i = th->n_waits, node = group.a;

	unknown = back_to(&s, th->end_ns); /* after the thread's end; before its birth: below */
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
		running += back_to(&s, sooner(w->in_ns, s.ns));
		switch (w->kind) {
		case WAIT_SLEEP:
			runnable += back_to(&s, sooner(w->wake_ns, s.ns));
			sweep_sleep(b, level, &s, node, w, &known[i]);
			break;
		case WAIT_PREEMPTED:
			runnable += back_to(&s, w->out_ns);
			break;
		default:
			unknown += back_to(&s, w->out_ns);
		}
	}
	if (s.count || s.edge < s.end) {
		running += back_to(&s, sooner(th->begin_ns, s.ns));
		if (thread_birth(th)) {
			struct wait birth = *thread_birth(th);

			/* Until its start, all of them waited for whoever started it. */
			birth.out_ns = 0;
			sweep_sleep(b, level, &s, node, &birth, &known[0]);
		} else {
			unknown += back_to(&s, 0);
		}
	}
	if (running)
		c->add(c->add_arg, node, CHAIN_RUNNING, running);
	if (runnable)
		c->add(c->add_arg, node, CHAIN_RUNNABLE, runnable);
	if (unknown)
		c->add(c->add_arg, node, CHAIN_UNKNOWN, unknown);
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

static void run_level(struct chain_batch *b, uint32_t level)
{
	struct level *l = &b->levels[level];
	uint32_t n_groups = l->groups.n, n = l->n;
	uint32_t *starts = l->starts;
	struct edge *edges = l->edges;

	if (!n)
		return;
	memset(starts, 0, ((size_t)n_groups + 1) * sizeof(*starts));
	/* A counting sort; starts[g + 1] becomes the end of group g, where g + 1 begins. */
	for (uint32_t i = 0; i < n; i++)
		starts[l->windows[i].group + 1] += 2;
	for (uint32_t g = 0, sum = 0; g < n_groups; g++) {
		uint32_t count = starts[g + 1];

		starts[g + 1] = sum;
		sum += count;
	}
	/* Waits arrive in order of time, the windows that follow from them in reverse. */
	for (uint32_t i = 0; i < n; i++) {
		const struct equal_windows *w = &l->windows[level == 1 ? n - 1 - i : i];
		struct edge *e = edges + starts[w->group + 1];

		e[0] = (struct edge) { w->to_ns, w->count, w->pos };
		e[1] = (struct edge) { w->from_ns, -w->count, 0 };
		starts[w->group + 1] += 2;
	}
	for (uint32_t g = 0; g < n_groups; g++) {
		sort_edges(edges + starts[g], b->spare, starts[g + 1] - starts[g]);
		sweep_group(b, level, l->groups.at[g + 1], edges + starts[g],
			    edges + starts[g + 1]);
	}
	l->n = 0;
	pairs_clear(&l->groups);
}

/* ---- interface ------------------------------------------------------------------------------ */

static inline uint32_t first_link(struct chain_batch *b, uint32_t head, const struct wait *w,
				  enum chain_end *end)
{
	struct chains *c = b->chains;
	struct first_link *slot;
	uint32_t link;

	slot = &b->firsts[hash_pair(head ^ (uint32_t)w->waker << 16, w->waker_stack) % FIRST_LINKS];
	if (slot->head == head && slot->waker == w->waker && slot->stack == w->waker_stack) {
		*end = slot->link & 1 ? CHAIN_INTERRUPT : CHAIN_ENDS;
		return slot->link >> 1;
	}
	link = chains_link(c, head, w, c->depth, true, end);
	/* A waker that was renamed is not always the same link. */
	if (link && link <= UINT32_MAX / 2 &&
	    (*end == CHAIN_INTERRUPT || !timelines_thread(c->timelines, w->waker)->renames))
		*slot = (struct first_link) { head, w->waker, w->waker_stack,
					      link << 1 | (*end == CHAIN_INTERRUPT) };
	return link;
}

uint32_t chain_batch_link(struct chain_batch *b, uint32_t head, const struct wait *w,
			  enum chain_end *end)
{
	return first_link(b, head, w, end);
}

void chain_batch_add(struct chain_batch *b, uint32_t head, const struct wait *w, uint64_t from_ns,
		     uint64_t to_ns)
{
	struct chains *c = b->chains;
	enum chain_end end = CHAIN_UNKNOWN;
	uint32_t link;

	if (from_ns >= to_ns || !head)
		return;
	link = first_link(b, head, w, &end);
	if (!link || end == CHAIN_INTERRUPT) {
		c->add(c->add_arg, link ? link : head, end, to_ns - from_ns);
		return;
	}
	add_window(b, 1, link, w, from_ns, 1);
	if (to_ns < w->wake_ns)
		add_window(b, 1, link, w, to_ns, -1);
}

void chain_batch_run(struct chain_batch *b)
{
	for (uint32_t level = 1; level < b->n_levels; level++)
		run_level(b, level);
}
