// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts the events of several lanes, each in order, into one order. Clocks of CPUs may differ a
 * little, so an event whose goroutine has to be in some state comes after what led to that state.
 * Of the events that may come next, the earliest does.
 *
 * Lanes whose next event may come are in a heap; the others wait at the goroutine on which their
 * next event depends.
 */
#include "go_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/import_report.h"
#include "common/xalloc.h"

enum state {
	DEAD,
	RUNNABLE,
	RUNNING,
	WAITING,
	ANY,
};

struct goroutine {
	uint64_t seq;	  /* that its next event with one has */
	uint32_t waiting; /* the first lane that waits for it, + 1 */
	uint8_t state;
};

/* What becomes of the number of the goroutine's state. */
enum counts {
	KEEPS,
	NEXT,
	SETS,
};

/* What an event needs and makes. */
struct step {
	uint32_t g; /* 0: it depends on nothing */
	uint8_t before, after;
	uint8_t counts;
};

struct lane {
	uint32_t first; /* the next event, + 1; 0: there is none */
	uint32_t last;
	uint32_t next_waiting; /* of those that wait for the same goroutine, + 1 */
};

struct order {
	const struct go_trace *t;
	struct lane *lanes;
	uint32_t *next; /* by event: the next of its lane, + 1 */
	uint32_t *heap; /* of lanes */
	uint32_t n_heap;
	struct goroutine *gs;
};

static struct step step_of(const struct order *o, const struct go_event *ev)
{
	bool is_old = o->t->minor < GO_THREADS_MINOR;
	uint8_t next = is_old || ev->seq != GO_NO_SEQ ? NEXT : KEEPS;
	uint8_t next_if_old = is_old ? NEXT : KEEPS;

	switch (ev->kind) {
	case GO_EXISTS:
	case GO_CREATE:
		return (struct step) { ev->other, DEAD, RUNNABLE, SETS };
	case GO_STATUS:
		return (struct step) { ev->other, ANY, ANY, SETS };
	case GO_IS_WAITING:
		return (struct step) { ev->other, RUNNABLE, WAITING, next_if_old };
	case GO_IS_RUNNING:
		return (struct step) { ev->other, RUNNABLE, RUNNING, KEEPS };
	case GO_START:
		return (struct step) { ev->g, RUNNABLE, RUNNING, next };
	case GO_BLOCK:
	case GO_SYSBLOCK:
		return (struct step) { ev->g, RUNNING, WAITING, KEEPS };
	case GO_YIELD:
		return (struct step) { ev->g, RUNNING, RUNNABLE, KEEPS };
	case GO_END:
		return (struct step) { ev->g, RUNNING, DEAD, KEEPS };
	case GO_UNBLOCK:
		return (struct step) { ev->other, WAITING, RUNNABLE, next };
	case GO_SYSEXIT:
		return (struct step) { ev->other, WAITING, RUNNABLE, next_if_old };
	default:
		return (struct step) { 0, ANY, ANY, KEEPS };
	}
}

static bool is_ready(const struct order *o, const struct go_event *ev, struct step s)
{
	const struct goroutine *g = &o->gs[s.g];

	return !s.g || s.before == ANY ||
	       (g->state == s.before &&
		(s.counts == SETS || ev->seq == GO_NO_SEQ || ev->seq == g->seq));
}

/* Whether the next event of lane a comes before that of b. */
static bool is_before(const struct order *o, uint32_t a, uint32_t b)
{
	uint64_t time_a = o->t->events[o->lanes[a].first - 1].time;
	uint64_t time_b = o->t->events[o->lanes[b].first - 1].time;

	return time_a < time_b || (time_a == time_b && a < b);
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t was = *a;

	*a = *b;
	*b = was;
}

static void heap_push(struct order *o, uint32_t lane)
{
	uint32_t i = o->n_heap++;

	o->heap[i] = lane;
	while (i && is_before(o, o->heap[i], o->heap[(i - 1) / 2])) {
		swap(&o->heap[i], &o->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static uint32_t heap_pop(struct order *o)
{
	uint32_t top = o->heap[0], i = 0;

	o->heap[0] = o->heap[--o->n_heap];
	for (;;) {
		uint32_t least = i;

		for (uint32_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < o->n_heap && is_before(o, o->heap[child], o->heap[least]))
				least = child;
		if (least == i)
			return top;
		swap(&o->heap[i], &o->heap[least]);
		i = least;
	}
}

/* The lane's next event may come, or waits for its goroutine. */
static void offer(struct order *o, uint32_t lane)
{
	const struct go_event *ev;
	struct goroutine *g;
	struct step s;

	if (!o->lanes[lane].first)
		return;
	ev = &o->t->events[o->lanes[lane].first - 1];
	s = step_of(o, ev);
	if (is_ready(o, ev, s)) {
		heap_push(o, lane);
		return;
	}
	g = &o->gs[s.g];
	o->lanes[lane].next_waiting = g->waiting;
	g->waiting = lane + 1;
}

static void advance(struct order *o, const struct go_event *ev)
{
	struct step s = step_of(o, ev);
	struct goroutine *g = &o->gs[s.g];
	uint32_t waiting = g->waiting;

	if (!s.g)
		return;
	if (s.after != ANY)
		g->state = s.after;
	g->seq = s.counts == SETS ? ev->seq : g->seq + (s.counts == NEXT);
	g->waiting = 0;
	while (waiting) {
		uint32_t lane = waiting - 1;

		waiting = o->lanes[lane].next_waiting;
		offer(o, lane);
	}
}

/* Takes the events [from, to), of one generation, to out. */
static int merge(struct order *o, uint32_t n_lanes, uint32_t from, uint32_t to,
		 struct go_event *out)
{
	uint32_t n = from;

	memset(o->lanes, 0, n_lanes * sizeof(*o->lanes));
	for (uint32_t id = 1; id <= o->t->goroutines.n; id++)
		o->gs[id].waiting = 0;
	for (uint32_t i = from; i < to; i++) {
		struct lane *l = &o->lanes[o->t->events[i].lane];

		if (l->first)
			o->next[l->last - 1] = i + 1;
		else
			l->first = i + 1;
		l->last = i + 1;
	}
	for (uint32_t lane = 0; lane < n_lanes; lane++)
		offer(o, lane);
	while (o->n_heap) {
		uint32_t lane = heap_pop(o), i = o->lanes[lane].first - 1;
		const struct go_event *ev = &o->t->events[i];

		/* Another lane's event may have changed its goroutine in the meantime. */
		if (!is_ready(o, ev, step_of(o, ev))) {
			offer(o, lane);
			continue;
		}
		o->lanes[lane].first = o->next[i];
		out[n++] = *ev;
		advance(o, ev);
		offer(o, lane);
	}
	return n == to ? 0 : -IMPORT_E_GO_ORDER;
}

int go_order(struct go_trace *t, uint32_t n_lanes)
{
	struct go_event *out = xmalloc((t->n_events + 1) * sizeof(*out));
	struct order o = {
		.t = t,
		.lanes = xcalloc((size_t)n_lanes + 1, sizeof(*o.lanes)),
		.next = xcalloc(t->n_events + 1, sizeof(*o.next)),
		.heap = xcalloc((size_t)n_lanes + 1, sizeof(*o.heap)),
		.gs = xcalloc((size_t)t->goroutines.n + 1, sizeof(*o.gs)),
	};
	int err = t->n_events >= UINT32_MAX ? -EFBIG : 0;

	for (uint32_t from = 0, to = 0; !err && from < t->n_events; from = to) {
		while (to < t->n_events && t->events[to].generation == t->events[from].generation)
			to++;
		err = merge(&o, n_lanes, from, to, out);
	}
	if (!err) {
		free(t->events);
		t->events = out;
		t->cap_events = t->n_events + 1;
		out = NULL;
	}
	free(out);
	free(o.lanes);
	free(o.next);
	free(o.heap);
	free(o.gs);
	return err;
}
