/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch_sweep.h - private to chain_batch.c: a sweep back in time over the windows of one chain and
 * waker. What it adds up is the time that windows cover; with details it also knows what each one
 * covers.
 */
#pragma once

#include <stdint.h>

#include "attributed_time.h"

/* `count` equal windows [from_ns, to_ns) of a waker's time. */
struct equal_windows {
	uint64_t from_ns, to_ns;
	int32_t count; /* bounded by the number of threads: each is in one wait at a time */
	uint32_t pos;  /* about how many of the waker's off-CPU intervals begin before to_ns */
};

/* An instant in a backward sweep: +count where windows end, -count where they begin. */
struct edge {
	uint64_t ns;
	int32_t count;
	uint32_t window; /* which one: an index */
};

/* What a waker did while windows were open, apart from its sleeps. */
enum sweep_state {
	SWEEP_RAN,
	SWEEP_READY,
	SWEEP_STATES,
};

/* How much of that there was from the beginning of the sweep on, which is the latest time. */
struct swept {
	uint64_t ns[SWEEP_STATES];
};

/* A level's details, which are kept if the sink asks for windows. */
struct level_details {
	uint64_t *origin;     /* by window: a chain_windows' */
	struct swept *opened; /* by window: what was swept when it ended */
	uint32_t *open;	      /* a heap of windows, some of which have begun: lowest origin first */
	uint32_t n_open;
	/* Of the group that is swept. */
	struct swept swept;
	struct window_sum sums[SWEEP_STATES];
};

/* A sweep back in time over the edges of a group. */
struct sweep {
	const struct edge *edge, *end; /* the edges that are still to come */
	uint64_t ns;		       /* where it is */
	int64_t count;		       /* of windows that cover the instant before ns */
	const struct equal_windows *windows;
	struct level_details *details; /* NULL: not asked for */
};

/* ---- details --------------------------------------------------------------------------------- */

static inline void open_window(struct level_details *d, uint32_t window)
{
	uint32_t i = d->n_open++;

	for (; i && d->origin[d->open[(i - 1) / 2]] > d->origin[window]; i = (i - 1) / 2)
		d->open[i] = d->open[(i - 1) / 2];
	d->open[i] = window;
}

static inline void drop_first_open(struct level_details *d)
{
	uint32_t last = d->open[--d->n_open], i = 0, child;

	while ((child = 2 * i + 1) < d->n_open) {
		if (child + 1 < d->n_open &&
		    d->origin[d->open[child + 1]] < d->origin[d->open[child]])
			child++;
		if (d->origin[d->open[child]] >= d->origin[last])
			break;
		d->open[i] = d->open[child];
		i = child;
	}
	d->open[i] = last;
}

/* The lowest origin of the windows that are open at ns and before it; there are any. */
static inline uint64_t first_origin(const struct sweep *s, uint64_t ns)
{
	struct level_details *d = s->details;

	while (d->n_open > 1 && s->windows[d->open[0]].from_ns >= ns)
		drop_first_open(d);
	return d->origin[d->open[0]];
}

/* A window ends, or begins: then it is known what it covered. */
static inline void note_edge(const struct sweep *s, const struct edge *e)
{
	struct level_details *d = s->details;

	if (e->count > 0) {
		d->opened[e->window] = d->swept;
		open_window(d, e->window);
		return;
	}
	for (int state = 0; state < SWEEP_STATES; state++) {
		uint64_t ns = d->swept.ns[state] - d->opened[e->window].ns[state];

		if (ns)
			window_sum_add(
				&d->sums[state],
				&(struct window_sum) { .n = (uint64_t)-e->count,
						       .longest = { ns, s->windows[e->window].to_ns,
								    d->origin[e->window] } });
	}
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Goes over the next edge, which is at s->ns. */
static inline void take_edge(struct sweep *s)
{
	if (s->details)
		note_edge(s, s->edge);
	s->count += s->edge++->count;
}

/* Goes back to ns. Returns the time in between, counted once for each window that covers it. */
static inline uint64_t back_to(struct sweep *s, uint64_t ns)
{
	uint64_t sum = 0;

	while (s->edge < s->end && s->edge->ns >= ns) {
		sum += (uint64_t)s->count * (s->ns - s->edge->ns);
		s->ns = s->edge->ns;
		take_edge(s);
	}
	sum += (uint64_t)s->count * (s->ns - ns);
	s->ns = ns;
	return sum;
}

/* As back_to(), over time in which the waker did this. */
static inline uint64_t back_in_state(struct sweep *s, enum sweep_state state, uint64_t ns)
{
	uint64_t sum = 0;

	if (!s->details)
		return back_to(s, ns);
	while (s->edge < s->end && s->edge->ns >= ns) {
		uint64_t at_ns = s->edge->ns;

		s->details->swept.ns[state] += s->count ? s->ns - at_ns : 0;
		sum += back_to(s, at_ns);
	}
	s->details->swept.ns[state] += s->count ? s->ns - ns : 0;
	return sum + back_to(s, ns);
}

/*
 * How many of the windows have a part of a sleep [out_ns, wake_ns), and the longest one. The sweep
 * is where the sleep ends, or where the last of them ends in it.
 */
static inline struct window_sum windows_in_sleep(const struct sweep *s, uint64_t out_ns,
						 uint64_t wake_ns)
{
	struct window_sum sum = window_sum_of((uint64_t)s->count, 0, 0, 0);
	int64_t whole = s->count;

	for (const struct edge *e = s->edge; e < s->end && e->ns > out_ns; e++) {
		const struct equal_windows *w = &s->windows[e->window];
		uint64_t from_ns = w->from_ns > out_ns ? w->from_ns : out_ns;
		bool ends = e->count > 0, whole_to = w->to_ns >= wake_ns;

		if (!ends && whole_to)
			whole += e->count;
		if (ends || whole_to)
			window_sum_keep(&sum, (struct window_part) {
						      (whole_to ? wake_ns : w->to_ns) - from_ns,
						      wake_ns, s->details->origin[e->window] });
		sum.n += ends ? (uint64_t)e->count : 0;
	}
	if (whole)
		window_sum_keep(&sum, (struct window_part) { wake_ns - out_ns, wake_ns,
							     first_origin(s, out_ns + 1) });
	return sum;
}
