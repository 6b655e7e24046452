// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where waits are explained in batches, the sums by chain say how much time each cause has, in how
 * many windows of wakers' time, and which is the longest. What single waits have of it is known of
 * the slowest one percent, and of those in which the longest windows are: these are explained one
 * by one.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "causes_private.h"
#include "common/xalloc.h"

/* How many of its longest windows show a cause, beside one for each name of those that waited. */
#define SHOWN_WINDOWS 4u

void causes_note_windows(void *arg, const struct chain_windows *of)
{
	struct causes *c = arg;

	c->serial++;
	c->windows_now = of->sum;
	c->windows_alike = of->alike;
	c->piece_ns = of->sum.longest.ns;
	c->piece_wait = of->wait;
	c->thread = of->waker;
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* A chain's first two nodes: of the head, and of the first link, 0 if there is none. */
struct chain_begin {
	uint32_t head, first;
};

/* By node. To be freed. */
static struct chain_begin *find_begins(const struct causes *c)
{
	const struct pairs *nodes = &c->chains.nodes;
	struct chain_begin *at = xcalloc((size_t)nodes->n + 1, sizeof(*at));

	/* Parents come before their children. */
	for (uint32_t i = 1; i <= nodes->n; i++) {
		uint32_t up = nodes->at[i].a;

		at[i].head = up ? at[up].head : i;
		at[i].first = up && !at[up].first ? i : at[up].first;
	}
	return at;
}

/* Of a chain that begins so; 0: there are none. */
static uint32_t cell_of(const struct causes *c, const struct chain_begin *begin)
{
	return causes_label(c, c->chains.nodes.at[begin->head].b).cell;
}

static uint32_t victim_of(const struct causes *c, const struct chain_begin *begin)
{
	return causes_label(c, c->chains.nodes.at[begin->head].b).who;
}

/* Who waited, by the first links of chains. */
struct waited {
	struct pair_table windows;   /* uint64_t, by (cause, first link) */
	struct pair_table by_victim; /* uint64_t, windows by (cause, name) */
	struct pairs threads;	     /* (number of (cause, name), thread) */
	uint64_t *waits;	     /* by first link */
	uint32_t *of, *of_from;	     /* threads, by first link: from of_from[link - 1] on */
};

/* Sorts the threads by how they waited. */
static void sort_waited(const struct causes *c, struct waited *v)
{
	const struct pairs *keys = &c->waited.keys;
	size_t nodes = c->chains.nodes.n;

	v->waits = xcalloc(nodes + 1, sizeof(*v->waits));
	v->of_from = xcalloc(nodes + 2, sizeof(*v->of_from));
	v->of = xcalloc((size_t)keys->n + 1, sizeof(*v->of));
	for (uint32_t i = 1; i <= keys->n; i++) {
		v->of_from[keys->at[i].a + 1]++;
		v->waits[keys->at[i].a] += ((const uint64_t *)c->waited.at)[i];
	}
	for (size_t i = 1; i <= nodes + 1; i++)
		v->of_from[i] += v->of_from[i - 1];
	/* Now those of a link begin at its number; when they are in place, the next ones'. */
	for (uint32_t i = 1; i <= keys->n; i++)
		v->of[v->of_from[keys->at[i].a]++] = keys->at[i].b;
}

/*
 * How many waits have a part of the cause, and how many threads of a name: no more than began in
 * the same way, and no more than there are windows.
 */
static void count_waited(struct causes *c, struct waited *v, const struct chain_begin *begins)
{
	const uint64_t *windows = v->windows.at, *of_victim = v->by_victim.at;

	for (uint32_t i = 1; i <= v->windows.keys.n; i++) {
		struct pair key = v->windows.keys.at[i];
		uint32_t name = victim_of(c, &begins[key.b]);
		uint32_t id = pairs_find(&v->by_victim.keys, key.a, name);
		struct sum *sum = id ? sums_at(&c->victims, key.a, name) : NULL;
		uint64_t waits = windows[i] < v->waits[key.b] ? windows[i] : v->waits[key.b];
		uint32_t cell = cell_of(c, &begins[key.b]);

		c->at[key.a - 1].waits += waits;
		if (cell)
			causes_add_to_cell(c, key.a, cell, (struct cause_cell) { 0, waits, 0 });
		for (uint32_t k = v->of_from[key.b - 1]; k < v->of_from[key.b] && sum; k++) {
			int is_new = 0;

			pairs_id_new(&v->threads, id, v->of[k], &is_new);
			if (is_new && sum->count < of_victim[id])
				sum->count++;
		}
	}
}

static void free_waited(struct waited *v)
{
	pair_table_free(&v->windows);
	pair_table_free(&v->by_victim);
	pairs_free(&v->threads);
	free(v->waits);
	free(v->of);
	free(v->of_from);
}

/* The cause of what a quota took of a sum without a CPU; 0: it took nothing. */
static uint32_t taken_by_quota(const struct causes *c, const struct chain_sum *s)
{
	uint32_t taken = s->end == CHAIN_RUNNABLE || s->end == CHAIN_PREEMPTED
				 ? pairs_find(&c->sums.keys, s->node, s->end | THROTTLED)
				 : 0;

	return taken ? ((const struct chain_sum *)c->sums.at)[taken].cause : 0;
}

static void sum_chain(struct causes *c, struct waited *v, const struct chain_begin *begin,
		      const struct chain_sum *s)
{
	struct cause *cause = &c->at[s->cause - 1];
	struct cause_cell part = { .ns = s->ns };
	uint32_t cell = cell_of(c, begin), taken_by = taken_by_quota(c, s);
	bool is_whole = !taken_by || taken_by == s->cause;

	if (!s->ns && (!is_whole || !taken_by))
		return;
	/* How much another cause has of each window is not known. */
	if (is_whole)
		part.longest_ns = s->windows.longest.ns;
	/* A wait without a first link has one part of what it is itself. */
	if (begin->first && v->waits[begin->first])
		pair_table_add(&v->windows, s->cause, begin->first, s->windows.n);
	else
		part.waits = s->windows.n;
	cause->ns += part.ns;
	cause->waits += part.waits;
	if (cause->longest_ns < part.longest_ns)
		cause->longest_ns = part.longest_ns;
	if (cell)
		causes_add_to_cell(c, s->cause, cell, part);
	if (s->has_waker) {
		sums_add(&c->victims, s->cause, victim_of(c, begin), s->ns);
		pair_table_add(&v->by_victim, s->cause, victim_of(c, begin), s->windows.n);
	}
}

void causes_sum_chains(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;
	struct chain_begin *begins = find_begins(c);
	struct waited v = { .waits = NULL };

	sort_waited(c, &v);
	for (uint32_t i = 1; i <= c->sums.keys.n; i++)
		sum_chain(c, &v, &begins[sums[i].node], &sums[i]);
	count_waited(c, &v, begins);
	free_waited(&v);
	free(begins);
}

/* ---- the slowest waits ----------------------------------------------------------------------- */

/* A wait, and how much of it is no pause. */
struct slow_wait {
	struct chosen_wait wait;
	uint64_t ns;
};

struct slow_waits {
	struct slow_wait *at;
	size_t n, cap, most;
};

static int in_order(const struct chosen_wait *a, const struct chosen_wait *b)
{
	return a->thread != b->thread ? compare_numbers(a->thread, b->thread)
				      : compare_numbers(a->wait->out_ns, b->wait->out_ns);
}

static int by_place(const void *pa, const void *pb)
{
	return in_order(&((const struct slow_wait *)pa)->wait,
			&((const struct slow_wait *)pb)->wait);
}

static int slowest_first(const void *pa, const void *pb)
{
	const struct slow_wait *a = pa, *b = pb;

	return a->ns != b->ns ? compare_numbers(b->ns, a->ns) : by_place(pa, pb);
}

static void keep_slowest(struct slow_waits *s)
{
	if (s->n > s->most) {
		qsort(s->at, s->n, sizeof(*s->at), slowest_first);
		s->n = s->most;
	}
}

static void add_if_slow(struct causes *c, struct slow_waits *s, uint64_t least_ns, uint32_t thread,
			const struct wait *w)
{
	struct slow_wait slow = { .wait = { .wait = w, .thread = thread } };
	const struct shown *shown = &slow.wait.shown;

	if (!wait_filter_wait(c->filter, thread, w, &slow.wait.shown))
		return;
	slow.ns = shown->off_to_ns - shown->off_from_ns;
	if (w->kind == WAIT_SLEEP && shown->blocked_to_ns > shown->blocked_from_ns &&
	    wait_filter_nature(c->filter, thread, w) == WAIT_FOR_OTHERS)
		slow.ns += shown->blocked_to_ns - shown->blocked_from_ns;
	if (!slow.ns || slow.ns < least_ns)
		return;
	if (s->n >= 2 * s->most + 64)
		keep_slowest(s);
	XAPPEND(s->at, s->n, s->cap) = slow;
}

/* In the order of threads and time. */
static struct slow_waits find_slow(struct causes *c)
{
	uint64_t least_ns;
	struct slow_waits s = { .most = (size_t)causes_slowest_waits(c, &least_ns) };
	uint32_t first, end;

	timelines_range(c->timelines, false, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		const struct thread *th = timelines_thread(c->timelines, i);

		for (uint32_t k = 0; wait_filter_thread(c->filter, i) && k < th->n_waits; k++)
			if (th->waits[k].in_ns - th->waits[k].out_ns >= least_ns)
				add_if_slow(c, &s, least_ns, i, &th->waits[k]);
	}
	keep_slowest(&s);
	if (s.n)
		qsort(s.at, s.n, sizeof(*s.at), by_place);
	return s;
}

/* ---- waits that show a cause ----------------------------------------------------------------- */

struct shown_cause {
	struct window_part longest[SHOWN_WINDOWS]; /* the longest one first */
	uint32_t n;
	bool is_shown;
};

/* The waits that are explained: (thread, number of its wait). */
struct explained {
	struct pairs waits;
};

static void explain_once(struct causes *c, struct explained *e, const struct chosen_wait *p)
{
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	int is_new = 0;

	pairs_id_new(&e->waits, p->thread, (uint32_t)(p->wait - th->waits), &is_new);
	if (is_new)
		causes_explain_wait(c, p);
}

/* Keeps it among the longest ones of a cause, which are of different waits. */
static void keep_longest(struct shown_cause *s, struct window_part w)
{
	uint32_t i = 0, last;

	while (i < s->n && !window_is_longer(&w, &s->longest[i]))
		if (s->longest[i++].origin == w.origin)
			return;
	for (last = i; last < s->n && s->longest[last].origin != w.origin;)
		last++;
	if (last == s->n && s->n < SHOWN_WINDOWS)
		s->n++;
	if (last == SHOWN_WINDOWS)
		last--;
	for (; last > i; last--)
		s->longest[last] = s->longest[last - 1];
	if (i < SHOWN_WINDOWS)
		s->longest[i] = w;
}

static int largest_first(const void *pa, const void *pb)
{
	return compare_numbers(*(const uint64_t *)pb, *(const uint64_t *)pa);
}

/* The least time of the causes that are shown. */
static uint64_t least_shown(const struct causes *c, const struct options *o)
{
	uint64_t most = o->top > o->show ? o->top : o->show, *ns, least = 0;
	size_t n = 0;

	if (o->json || o->screen_json)
		return 0;
	ns = xcalloc(c->n + 1, sizeof(*ns));
	for (size_t i = 0; i < c->n; i++)
		if (!c->at[i].pause)
			ns[n++] = c->at[i].ns;
	most = most < 10 ? 10 : most;
	if (n > most) {
		qsort(ns, n, sizeof(*ns), largest_first);
		least = ns[most - 1];
	}
	free(ns);
	return least;
}

static bool chosen_of(struct causes *c, uint64_t origin, struct chosen_wait *p)
{
	p->wait = chain_batch_origin(c->batch, origin, &p->thread);
	return wait_filter_wait(c->filter, p->thread, p->wait, &p->shown);
}

/* Of a cause that is not shown the wait with its longest window is example enough. */
static void take_example(struct causes *c, uint32_t cause, const struct window_part *w)
{
	struct cause_example e = { .ns = w->ns, .piece_ns = w->ns };

	if (chosen_of(c, w->origin, &e.wait))
		causes_keep_example(c, cause, &e);
}

static void explain_origin(struct causes *c, struct explained *e, uint64_t origin)
{
	struct chosen_wait p;

	if (chosen_of(c, origin, &p))
		explain_once(c, e, &p);
}

/* Finds the longest windows of each cause, and of each one shown those of each victim. */
static void find_longest(struct causes *c, struct shown_cause *shown, struct pair_table *by_victim,
			 const struct chain_begin *begins)
{
	const struct chain_sum *sums = c->sums.at;

	for (uint32_t i = 1; i <= c->sums.keys.n; i++) {
		const struct chain_sum *s = &sums[i];
		struct window_sum *of;

		if (!s->ns || !s->windows.n)
			continue;
		keep_longest(&shown[s->cause], s->windows.longest);
		if (s->windows.next.ns)
			keep_longest(&shown[s->cause], s->windows.next);
		if (!shown[s->cause].is_shown)
			continue;
		of = pair_table_at(by_victim, s->cause, victim_of(c, &begins[s->node]),
				   sizeof(*of));
		window_sum_add(of, &s->windows);
	}
}

/* Explains the waits in which the longest windows of causes are. */
static void explain_longest(struct causes *c, const struct options *o, struct explained *e)
{
	struct shown_cause *shown = xcalloc(c->n + 1, sizeof(*shown));
	struct pair_table by_victim = { .cap = 0 };
	struct chain_begin *begins = find_begins(c);
	uint64_t least_ns = least_shown(c, o);
	size_t n = c->n;

	for (size_t i = 1; i <= n; i++)
		shown[i].is_shown = o->json || o->screen_json ||
				    (!c->at[i - 1].pause && c->at[i - 1].ns >= least_ns);
	find_longest(c, shown, &by_victim, begins);
	for (size_t i = 1; i <= n; i++) {
		for (uint32_t k = 0; k < shown[i].n && shown[i].is_shown; k++)
			explain_origin(c, e, shown[i].longest[k].origin);
		if (shown[i].n && !shown[i].is_shown)
			take_example(c, (uint32_t)i, &shown[i].longest[0]);
	}
	for (uint32_t i = 1; i <= by_victim.keys.n; i++)
		explain_origin(c, e, ((const struct window_sum *)by_victim.at)[i].longest.origin);
	pair_table_free(&by_victim);
	free(begins);
	free(shown);
}

void causes_explain_some(struct causes *c, const struct options *o)
{
	struct explained e = { .waits = { .n = 0 } };
	struct slow_waits slow = find_slow(c);

	c->mode = CAUSES_SHOW;
	woken_meanwhile_new(&c->wakings, c->timelines, c->chains.kernel);
	c->chains.attribution.only_quotas = true; /* who else had a CPU is known */
	/* Where there are totals nobody tells of windows: that must not depend on the batches. */
	chains_forget_totals(&c->chains);
	c->is_slow = true;
	for (size_t i = 0; i < slow.n; i++)
		explain_once(c, &e, &slow.at[i].wait);
	c->is_slow = false;
	free(slow.at);
	explain_longest(c, o, &e);
	pairs_free(&e.waits);
}
