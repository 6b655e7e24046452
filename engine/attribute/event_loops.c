// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/pairs.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"

/* So many sleeps, and requests, say what a thread does. */
#define LOOKED_AT 1000
/* Less than this may a thread run between a sleep that its timer ended and the next one. */
#define RAN_BETWEEN_NS 1000000u
/* Of so many requests that come next it is looked whether one was passed on. */
#define PASSED_ON_LOOKED_AT 64

struct event_loops {
	const struct timelines *timelines;
	struct kernel_stacks *kernel;
	struct keyed *arrivals; /* times, of the requests that are explained, in order */
	size_t n_arrivals;
	bool in_loop[]; /* by stack pair: a thread with that off-CPU stack is in an event loop */
};

static bool is_loop(const char *class)
{
	static const char *const classes[] = { "epoll", "poll", "select", "io_uring" };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(class, classes[i]))
			return true;
	return false;
}

static void find_arrivals(struct event_loops *e)
{
	size_t n;
	const struct request *at = timelines_requests(e->timelines, &n);

	e->arrivals = xmalloc(n * sizeof(*e->arrivals));
	for (size_t i = 0; i < n; i++)
		if (!(at[i].flags & (REQUEST_UNEXPLAINED | REQUEST_PROBED)) &&
		    at[i].writer != THREAD_NONE && at[i].arrival_ns < at[i].answer_ns)
			e->arrivals[e->n_arrivals++] = (struct keyed) { at[i].arrival_ns, i };
	keyed_sort(e->arrivals, e->n_arrivals);
}

void event_loops_new(struct event_loops **out, const struct timelines *tl,
		     struct kernel_stacks *kernel)
{
	const struct trace *t = timelines_trace(tl);
	uint32_t end = timelines_pairs_end(tl);
	struct event_loops *e;
	bool any = false;
	size_t n;

	*out = NULL;
	timelines_requests(tl, &n);
	if (!n)
		return;
	e = xcalloc(1, sizeof(*e) + end * sizeof(*e->in_loop));
	e->timelines = tl;
	e->kernel = kernel;
	for (uint32_t i = 1; i < end; i++) {
		const struct trace_object *o = trace_object(t, timelines_pair(tl, i).object);

		e->in_loop[i] = o && is_loop(trace_string(t, o->class));
		any |= e->in_loop[i];
	}
	if (any) {
		find_arrivals(e);
		*out = e;
	} else {
		free(e);
	}
}

void event_loops_free(struct event_loops *e)
{
	if (e)
		free(e->arrivals);
	free(e);
}

/*
 * The only request of which the waker is the writer that was taken before, and not answered; or
 * that was the only one until it was answered, since when the waker has not left its CPU: what is
 * written to a unix socket is there a moment before its reader is woken.
 */
static const struct request *answered_at(const struct timelines *tl, uint32_t waker, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(tl, waker);
	size_t n, i;
	const struct request_span *s = timelines_spans_written(tl, waker, &n);
	uint32_t pos;
	uint64_t on_cpu_ns;

	i = n ? LOWER_BOUND(k, n, s[k].to_ns < at_ns) : 0;
	if (i < n && s[i].from_ns < at_ns)
		return timelines_request(tl, s[i].request);
	if (!i)
		return NULL;
	pos = thread_position(th, at_ns);
	if (pos < th->n_waits && th->waits[pos].out_ns < at_ns)
		return NULL;
	on_cpu_ns = pos ? th->waits[pos - 1].in_ns : 0;
	while (i-- > 0 && s[i].to_ns >= on_cpu_ns) {
		const struct request *q = timelines_request(tl, s[i].request);

		if (q->answer_ns == s[i].to_ns)
			return q;
	}
	return NULL;
}

struct loop_walk event_loops_walk(const struct event_loops *e, const struct timelines *tl,
				  uint32_t waker, struct waking by)
{
	struct loop_walk l = { .loops = e, .waker = waker, .at_ns = by.at_ns };

	if (!e)
		return l;
	l.thread = timelines_thread(tl, waker);
	l.request = by.answers ? by.answers : answered_at(tl, waker, by.at_ns);
	if (l.request)
		l.i = thread_position(l.thread, by.at_ns);
	return l;
}

/* Whether another request came to the waker in w. */
static bool other_came(const struct loop_walk *l, const struct wait *w)
{
	const struct timelines *tl = l->loops->timelines;
	size_t n, i;
	const uint32_t *read = timelines_requests_read(tl, l->waker, &n);

	i = LOWER_BOUND(k, n, timelines_request(tl, read[k])->arrival_ns < w->out_ns);
	for (; i < n; i++) {
		const struct request *q = timelines_request(tl, read[i]);

		if (q->arrival_ns > w->wake_ns)
			return false;
		if (q != l->request)
			return true;
	}
	return false;
}

static bool has_waker(const struct wait *w)
{
	return w->waker != THREAD_NONE && !(w->flags & WAIT_NOT_WOKEN);
}

static struct waker_context context_of(const struct loop_walk *l, const struct wait *w)
{
	return waker_context(l->loops->kernel, l->loops->timelines, w);
}

/*
 * Whether a timer ended w, the interval at i, and the waker had little to do then: it woke nobody,
 * and hardly ran until the next sleep, in its event loop, which a thread ended.
 */
static bool timer_was_idle(const struct loop_walk *l, const struct wait *w)
{
	const struct wait *next = w + 1, *last = l->thread->waits + l->later_i;
	struct waker_context context;
	uint64_t ran_ns = 0;

	if (!has_waker(w) || !has_waker(l->later))
		return false;
	for (; next < last && next->kind == WAIT_PREEMPTED; next++)
		ran_ns += next->out_ns - next[-1].in_ns;
	ran_ns += next->out_ns - next[-1].in_ns;
	if (next != last || ran_ns >= RAN_BETWEEN_NS || next->woke_before)
		return false;
	context = context_of(l, w);
	return context.interrupt && context.source == IRQ_TIMER &&
	       !context_of(l, l->later).interrupt;
}

/*
 * w, the interval at i, ends with what the request needed if it is the last sleep in a loop, or if
 * what ended the next one that did was asked for between w and that: then who ended w, if that was
 * a thread that answered something, was asked for the request, too.
 */
static void note_asked(struct loop_walk *l, const struct wait *w)
{
	const struct wait *next = l->thread->waits + l->later_i;
	const struct request *answered;

	if (l->later && (l->asked_ns == UINT64_MAX || l->asked_ns > next->out_ns)) {
		l->asked_ns = UINT64_MAX;
		return;
	}
	l->asked_ns = UINT64_MAX;
	if (!has_waker(w) || context_of(l, w).interrupt)
		return;
	answered = answered_at(l->loops->timelines, w->waker, w->wake_ns);
	if (answered && answered->arrival_ns >= l->request->taken_ns)
		l->asked_ns = answered->arrival_ns;
}

/* Whether the thread that answered was on a CPU then, as it has to be. */
static bool ran_at_answer(const struct timelines *tl, const struct request *q)
{
	const struct thread *th = timelines_thread(tl, q->writer);
	uint32_t pos = thread_position(th, q->answer_ns);
	uint64_t in_ns = pos ? th->waits[pos - 1].in_ns : th->begin_ns;
	uint64_t out_ns = pos < th->n_waits ? th->waits[pos].out_ns : th->end_ns;

	return in_ns < out_ns && q->answer_ns <= out_ns;
}

/* Finds what came after the waker had taken the request, and before it slept. */
static void find_came(struct loop_walk *l)
{
	const struct event_loops *e = l->loops;
	const struct thread *th = l->thread;
	uint64_t taken_ns = l->request->taken_ns;
	uint32_t slept = thread_position(th, taken_ns);
	size_t i = LOWER_BOUND(k, e->n_arrivals, e->arrivals[k].key < taken_ns);

	while (th->waits[slept].kind != WAIT_SLEEP || th->waits[slept].out_ns < taken_ns)
		slept++;
	l->first_came = i;
	for (size_t end = i + PASSED_ON_LOOKED_AT; i < e->n_arrivals && i < end; i++)
		if (e->arrivals[i].key > th->waits[slept].out_ns)
			break;
	l->end_came = i;
}

/*
 * Whether w ended as that was answered, for which the waker passed its own request on: if w is the
 * one that explains itself, or what the client of that waited for. By then the waker was awake, or
 * it was woken by who answered.
 */
static bool was_passed_on(struct loop_walk *l, const struct wait *w)
{
	const struct timelines *tl = l->loops->timelines;
	uint64_t next_ns = l->later ? l->thread->waits[l->later_i].out_ns : l->at_ns - 1;
	bool woken;

	if (!l->later)
		find_came(l);
	woken = l->first_came < l->end_came && has_waker(w) && !context_of(l, w).interrupt;
	for (size_t i = l->first_came; i < l->end_came; i++) {
		uint32_t number = (uint32_t)l->loops->arrivals[i].value, client;
		const struct request *q = timelines_request(tl, number);
		bool by_it = woken && w->waker == q->writer;

		if (q == l->request || q->writer == l->waker || q->answer_ns > next_ns ||
		    q->answer_ns < (by_it ? w->out_ns : w->wake_ns) || !ran_at_answer(tl, q))
			continue;
		l->asked_ns = q->arrival_ns;
		l->ended = by_it ? w : timelines_wait_for(tl, number, &client);
		return true;
	}
	return false;
}

bool loop_walk_back(struct loop_walk *l)
{
	const struct wait *w;

	if (!l->request || !l->i || l->thread->waits[l->i - 1].out_ns < l->request->taken_ns)
		return false;
	w = l->ended = &l->thread->waits[--l->i];
	if (w->kind != WAIT_SLEEP || !l->loops->in_loop[w->stack])
		return true;
	if (!l->passed_on && was_passed_on(l, w))
		l->passed_on = true;
	else if (l->later &&
		 (l->asked_ns <= w->wake_ns || other_came(l, w) || timer_was_idle(l, w)))
		l->ended = l->later;
	else
		note_asked(l, w);
	l->later = l->ended;
	l->later_i = l->i;
	return true;
}

bool event_loops_go_on(const struct event_loops *e, const struct timelines *tl, uint32_t waker,
		       struct waking by, uint64_t from_ns)
{
	struct loop_walk l = event_loops_walk(e, tl, waker, by);

	while (loop_walk_back(&l)) {
		const struct wait *w = &l.thread->waits[l.i];

		if (w->in_ns <= from_ns)
			return false;
		if (l.ended != w)
			return true;
	}
	return false;
}

struct waking event_loops_waking(const struct timelines *tl, const struct wait *ended)
{
	if (timelines_is_for_request(tl, ended))
		return (struct waking) { ended->wake_ns, timelines_request_of(tl, ended) };
	return (struct waking) { timelines_ended(tl, ended)->wake_ns, NULL };
}

struct wait event_loops_joined(const struct timelines *tl, const struct wait *w,
			       const struct wait *ended)
{
	struct wait joined = *ended;

	if (timelines_is_for_request(tl, ended))
		joined.stack = w->stack;
	joined.out_ns = w->out_ns;
	joined.wake_ns = w->wake_ns;
	joined.in_ns = w->in_ns;
	/* Where the other waker was at the end of w is looked for. */
	joined.flags &= WAIT_FLAGS & ~WAIT_WAKER_RAN;
	joined.waker_at = WAIT_WAKER_MAX;
	return joined;
}

/* Whether it waited for any of several descriptors. */
static bool waits_in_loop(const struct timelines *tl, const struct thread *th)
{
	const struct trace *t = timelines_trace(tl);

	for (uint32_t i = 0; i < th->n_waits && i < LOOKED_AT; i++) {
		const struct trace_object *o =
			trace_object(t, timelines_pair(tl, th->waits[i].stack).object);
		const char *name = o ? trace_string(t, o->name) : "";
		const char *class = o ? trace_string(t, o->class) : "";

		/* poll() and select() of one have that as their name. */
		if (is_loop(class) && (!strcmp(class, "epoll") || !strcmp(class, "io_uring") ||
				       !*name || !strncmp(name, "of ", strlen("of "))))
			return true;
	}
	return false;
}

/*
 * Whether the thread is one of several workers for an endpoint, each of which has one connection at
 * a time: it went back to none that it had left for another one.
 */
static bool is_worker(const struct timelines *tl, uint32_t thread, const uint32_t *read, size_t n)
{
	const struct request *first = timelines_request(tl, read[0]), *at;
	uint64_t last = first->connection;
	struct pairs left = { 0 };
	bool goes_back = false, others = false;
	const struct request_endpoint *endpoints;
	uint32_t n_endpoints;
	size_t all;

	for (size_t i = 1; i < n && i < LOOKED_AT && !goes_back; i++) {
		uint64_t now = timelines_request(tl, read[i])->connection;

		if (now == last)
			continue;
		goes_back = pairs_find(&left, (uint32_t)(now >> 32), (uint32_t)now);
		pairs_id(&left, (uint32_t)(last >> 32), (uint32_t)last);
		last = now;
	}
	pairs_free(&left);
	endpoints = timelines_endpoints(tl, &n_endpoints);
	at = timelines_requests(tl, &all);
	for (size_t i = 0; i < all && i < LOOKED_AT && !goes_back && !others; i++)
		others = at[i].reader != thread && at[i].reader != THREAD_NONE &&
			 endpoints[at[i].endpoint].address == endpoints[first->endpoint].address;
	return others && !goes_back;
}

bool event_loop_serves(const struct timelines *tl, uint32_t thread)
{
	size_t n;
	const uint32_t *read = timelines_requests_read(tl, thread, &n);

	for (size_t i = 1; i < n && i < LOOKED_AT; i++)
		if (timelines_request(tl, read[i])->connection !=
			    timelines_request(tl, read[0])->connection ||
		    timelines_request(tl, read[i])->flags & REQUEST_STREAM)
			return waits_in_loop(tl, timelines_thread(tl, thread)) &&
			       !is_worker(tl, thread, read, n);
	return false;
}
