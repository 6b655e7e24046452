// SPDX-License-Identifier: GPL-2.0-or-later
#include "work_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"

/* A worker's sleep in which it waited for work, and when it first woke somebody after it. */
struct idle_sleep {
	uint32_t i;	   /* which of its off-CPU intervals */
	uint64_t in_ns;	   /* when it was back on a CPU */
	uint64_t first_ns; /* UINT64_MAX: it woke nobody that is known */
};

/* Those of a worker, in order. */
struct worker {
	struct idle_sleep *at;
	size_t n, cap;
};

struct finder {
	struct timelines *timelines;
	struct kernel_stacks *kernel;
	struct worker *workers; /* by thread */
	bool *awaits_work;	/* by stack pair */
	bool any, lossy;
};

/* ---- what the sleeps of workers say -----------------------------------------------------------
 */

static void find_stacks(struct finder *f)
{
	uint32_t end = timelines_pairs_end(f->timelines);

	f->awaits_work = xcalloc(end, sizeof(*f->awaits_work));
	for (uint32_t i = 1; i < end; i++) {
		uint32_t kstack = timelines_pair(f->timelines, i).kstack;

		f->awaits_work[i] = kernel_stack_serves(f->kernel, kstack);
		f->any |= f->awaits_work[i];
	}
}

static void find_idle(struct finder *f, uint32_t thread)
{
	const struct thread *th = timelines_thread(f->timelines, thread);
	struct worker *w = &f->workers[thread];

	for (uint32_t i = 0; i < th->n_waits; i++) {
		if (th->waits[i].kind != WAIT_SLEEP || !f->awaits_work[th->waits[i].stack])
			continue;
		XAPPEND(w->at, w->n, w->cap) =
			(struct idle_sleep) { i, th->waits[i].in_ns, UINT64_MAX };
	}
}

/* Notes which waking by a worker was the first since it had waited for work. */
static void note_wakings(struct finder *f, const struct thread *th)
{
	for (uint32_t k = 0; k < th->n_waits; k++) {
		const struct wait *w = &th->waits[k];
		struct worker *by = w->kind == WAIT_SLEEP && w->waker < THREAD_IDLE
					    ? &f->workers[w->waker]
					    : NULL;
		size_t n;

		if (!by || !by->n || w->wake_ns <= w->out_ns)
			continue;
		n = LOWER_BOUND(i, by->n, by->at[i].in_ns <= w->wake_ns);
		if (n && w->wake_ns < by->at[n - 1].first_ns &&
		    !waker_context(f->kernel, f->timelines, w).interrupt)
			by->at[n - 1].first_ns = w->wake_ns;
	}
}

/* ---- the items ------------------------------------------------------------------------------- */

static void add(struct work_item **to, uint32_t *n, uint64_t from_ns, const struct wait *asked)
{
	struct work_item *p = *to;

	/* Until the next one nothing else was known. */
	while (*n && p[*n - 1].from_ns > from_ns)
		--*n;
	/* Room for a power of two of them. */
	if (*n > UINT32_MAX / 2)
		out_of_memory();
	if (!(*n & (*n - 1)))
		*to = p = xreallocarray(p, *n ? 2 * (size_t)*n : 1, sizeof(*p));
	p[*n] = (struct work_item) { .from_ns = from_ns, .none = !asked };
	if (asked)
		p[*n].asked = *asked;
	++*n;
}

static struct wait asked_by_nobody(uint64_t at_ns)
{
	return (struct wait) { .wake_ns = at_ns, .waker = THREAD_NONE, .flags = WAIT_NEW };
}

/*
 * What ended an idle sleep; and it is not known if that was for more than the first waking after
 * it.
 */
static void add_idle(const struct finder *f, struct work_items *to, const struct wait *w,
		     const struct idle_sleep *s)
{
	struct wait asked = *w, unknown = asked_by_nobody(w->wake_ns);

	/* It explains windows that began before that sleep. */
	asked.flags = WAIT_NEW | (w->flags & WAIT_NOT_WOKEN);
	asked.stack = 0;
	asked.state = 0;
	if (w->flags & WAIT_WAKER_RAN)
		asked.waker_at = WAIT_WAKER_MAX;
	/* Of an early waking it is not known when it was. What was lost may be a waking, too. */
	if (w->wake_ns <= w->out_ns || f->lossy)
		asked = unknown;
	add(&to->assumed, &to->n_assumed, w->in_ns, &asked);
	if (s->first_ns < UINT64_MAX)
		add(&to->assumed, &to->n_assumed, s->first_ns + 1, &unknown);
}

static bool is_kworker(const struct finder *f, const struct thread *th)
{
	const struct trace *t = timelines_trace(f->timelines);

	return !strncmp(trace_string(t, th->name), "kworker/", 8);
}

/* What is known of a worker; made if there is nothing yet. */
static struct work_items *items_of(struct finder *f, struct thread *th)
{
	if (!th->work)
		th->work = xcalloc(1, sizeof(*th->work));
	if (th->work && is_kworker(f, th))
		th->work->is_recorded =
			trace_info(timelines_trace(f->timelines))->aux >> CHAINLOG_WORK & 1;
	return th->work;
}

static void add_assumed(struct finder *f, uint32_t thread)
{
	struct thread *th = &f->timelines->threads[thread];
	const struct worker *w = &f->workers[thread];
	struct work_items *to;
	size_t next = 0;

	if (!w->n && !(th->flags & THREAD_KTHREAD))
		return;
	to = items_of(f, th);
	for (uint32_t i = 0; i < th->n_waits; i++) {
		struct wait unknown = asked_by_nobody(th->waits[i].in_ns);

		/* It may have waited for work in between. */
		if (th->waits[i].kind == WAIT_UNKNOWN) {
			add(&to->assumed, &to->n_assumed, unknown.wake_ns, &unknown);
		} else if (next < w->n && w->at[next].i == i)
			add_idle(f, to, &th->waits[i], &w->at[next++]);
	}
}

/* ---- what was recorded ------------------------------------------------------------------------
 */

/* The interval of a thread at ns, or the next one; NULL: there is none. */
static struct wait *interval_at(const struct thread *th, uint64_t ns)
{
	uint32_t i = thread_position(th, ns);

	return i < th->n_waits ? &th->waits[i] : NULL;
}

/* Whether a thread ran when it queued an item, as far as its own timeline says. */
static bool was_running(const struct thread *th, uint64_t ns)
{
	const struct wait *w = interval_at(th, ns);
	uint64_t back_ns = w && w > th->waits ? w[-1].in_ns : th->begin_ns;

	/* Of two intervals that follow each other immediately nothing lies between. */
	return ns >= th->begin_ns && ns <= th->end_ns &&
	       !(w && (w->out_ns < ns || (w->out_ns == ns && back_ns == ns)));
}

/* Whether it is not known what a thread did right before and at ns: it may have been woken then. */
static bool is_unknown(const struct thread *th, uint64_t ns)
{
	const struct wait *w = interval_at(th, ns);
	const struct wait *before = w ? w : thread_interval(th, th->n_waits);

	if (w && w->kind == WAIT_UNKNOWN && w->out_ns <= ns)
		return true;
	return before > th->waits && before[-1].kind == WAIT_UNKNOWN && before[-1].in_ns == ns;
}

/* A thread acted: if the next thing that is known of it is a sleep, it did so before that. */
static void note_acted(struct thread *th, uint64_t ns)
{
	struct wait *w = interval_at(th, ns), *end = thread_interval(th, th->n_waits);

	while (w && w < end && w->kind == WAIT_PREEMPTED)
		w++;
	if (w && w < end && w->kind == WAIT_SLEEP)
		w->woke_before = 1;
}

static void add_recorded(struct finder *f, const struct work_event *ev)
{
	struct thread *th = &f->timelines->threads[ev->worker];
	struct work_items *to = items_of(f, th);
	struct thread *queuer =
		ev->queuer < THREAD_IDLE ? &f->timelines->threads[ev->queuer] : NULL;
	struct wait asked = asked_by_nobody(ev->since_ns);
	bool acted = ev->what == WORK_QUEUED && (!queuer || was_running(queuer, ev->since_ns));
	const struct wait *w;

	to->is_recorded = true;
	/* If queueing woke the worker, but that was lost, not all of it may be known. */
	if (acted && !is_unknown(th, ev->since_ns)) {
		asked.waker = ev->queuer & THREAD_NONE;
		asked.waker_stack = ev->pair;
		asked.waker_at = WAIT_WAKER_MAX;
		/* The waking that is meant has all that is known of it. */
		w = interval_at(th, ev->since_ns);
		if (w && w->kind == WAIT_SLEEP && w->wake_ns == ev->since_ns &&
		    w->wake_ns > w->out_ns && w->waker == asked.waker)
			asked.waker_stack = w->waker_stack;
	}
	/* An interrupt that queued it was none of its doing. */
	if (acted && queuer &&
	    (asked.waker == THREAD_NONE ||
	     !waker_context(f->kernel, f->timelines, &asked).interrupt))
		note_acted(queuer, ev->since_ns);
	add(&to->recorded, &to->n_recorded, ev->at_ns, ev->what == WORK_NONE ? NULL : &asked);
}

/* ---- when events are missing ------------------------------------------------------------------
 */

static int by_first(const void *pa, const void *pb)
{
	const struct work_loss *a = pa, *b = pb;

	return compare_numbers(a->first_ns, b->first_ns);
}

/* All losses: of all kinds of events, and of work items. */
static void find_losses(struct work_events *to, const struct trace *t)
{
	size_t n;
	const struct trace_loss *l = trace_losses(t, &n);

	to->losses = xmalloc((n + to->n + 1) * sizeof(*to->losses));
	for (size_t i = 0; i < n; i++)
		to->losses[to->n_losses++] = (struct work_loss) { l[i].first_ns, l[i].last_ns };
	for (size_t i = 0; i < to->n; i++)
		if (to->at[i].what == WORK_LOST)
			to->losses[to->n_losses++] =
				(struct work_loss) { to->at[i].at_ns, to->at[i].since_ns };
	qsort(to->losses, to->n_losses, sizeof(*to->losses), by_first);
	for (size_t i = 1; i < to->n_losses; i++)
		if (to->losses[i].until_ns < to->losses[i - 1].until_ns)
			to->losses[i].until_ns = to->losses[i - 1].until_ns;
}

static bool is_lossy(const struct work_events *w, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = LOWER_BOUND(i, w->n_losses, w->losses[i].first_ns <= to_ns);

	return n && w->losses[n - 1].until_ns >= from_ns;
}

/* ---- interface --------------------------------------------------------------------------------
 */

void work_items_find(struct timelines *tl, struct kernel_stacks *k)
{
	uint32_t n = timelines_threads(tl);
	struct finder f = { .timelines = tl, .kernel = k };
	size_t losses;

	find_stacks(&f);
	trace_losses(timelines_trace(tl), &losses);
	f.lossy = losses > 0;
	f.workers = xcalloc(n ? n : 1, sizeof(*f.workers));
	find_losses(&tl->work, timelines_trace(tl));
	for (uint32_t i = 0; i < n && f.any; i++)
		find_idle(&f, i);
	for (uint32_t i = 0; i < n && f.any; i++)
		note_wakings(&f, timelines_thread(tl, i));
	for (uint32_t i = 0; i < n; i++)
		add_assumed(&f, i);
	for (size_t i = 0; i < tl->work.n; i++)
		if (tl->work.at[i].what != WORK_LOST)
			add_recorded(&f, &tl->work.at[i]);
	for (uint32_t i = 0; f.workers && i < n; i++)
		free(f.workers[i].at);
	free(f.workers);
	free(f.awaits_work);
}

/* The last item of n from that time or before; NULL: there is none. */
static const struct work_item *last_item(const struct work_item *at, uint32_t n, uint64_t at_ns)
{
	size_t before = LOWER_BOUND(i, n, at[i].from_ns <= at_ns);

	return before ? &at[before - 1] : NULL;
}

const struct wait *work_item_at(const struct timelines *tl, const struct thread *worker,
				uint64_t at_ns)
{
	/* Nothing of what was before the waking is known. */
	static const struct wait unknown = { .wake_ns = UINT64_MAX, .waker = THREAD_NONE };
	const struct work_items *w = worker->work;
	const struct work_item *item;

	if (w->is_recorded) {
		item = last_item(w->recorded, w->n_recorded, at_ns);
		if (is_lossy(&tl->work, item ? item->from_ns : 0, at_ns))
			return &unknown;
		if (item && !item->none)
			return &item->asked;
	}
	item = last_item(w->assumed, w->n_assumed, at_ns);
	return item ? &item->asked : NULL;
}
