// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts a slice behind the timelines up to its beginning: compares what it took for granted, gives
 * threads and pairs of stacks their numbers in the whole, and completes what began before it.
 */
#include <errno.h>

#include "common/xalloc.h"
#include "slice_private.h"

/* ---- what the slice took for granted -------------------------------------------------------- */

/* The number in the whole of a thread that is older than the slice; THREAD_NONE: none. */
static uint32_t number_of(const struct slice *s, const struct builder *b, uint32_t i)
{
	return table_find(b, s->tl.threads[i].tid);
}

/*
 * Whether the thread is ready after the waking that is its first event. If it began to wait only
 * then, a switch-in at once would leave no interval.
 */
static bool may_wake(const struct slice *s, uint32_t i, const struct live *l)
{
	const struct thread *th = &s->tl.threads[i];

	if (l->state == LIVE_UNKNOWN || l->state == LIVE_WOKEN)
		return !th->n_waits || th->waits[0].in_ns > s->threads[i].first_ns;
	return l->state == LIVE_ASLEEP;
}

static bool was_as_taken(const struct slice *s, const struct builder *b, uint32_t i)
{
	const struct slice_thread *st = &s->threads[i];
	uint32_t number = number_of(s, b, i);
	const struct live *l = number == THREAD_NONE ? NULL : &b->live[number];
	bool known = l && !l->early.valid && !(b->tl->threads[number].flags & THREAD_RECORDER);

	switch (st->was) {
	case WAS_NOTHING:
		return true;
	case WAS_GONE:
		return !l || l->state == LIVE_DEAD;
	case WAS_ALIVE:
		return l && l->state != LIVE_DEAD;
	case WAS_RECORDER:
		return l && b->tl->threads[number].flags & THREAD_RECORDER;
	case WAS_RUNNING:
		return known && l->state == LIVE_RUNNING && l->cpu == st->cpu;
	case WAS_ASLEEP:
		return known && may_wake(s, i, l);
	case WAS_READY:
		return known && (l->state == LIVE_WOKEN || l->state == LIVE_PREEMPTED);
	}
	return false;
}

static bool cpu_was_as_taken(const struct slice *s, const struct builder *b, uint32_t cpu)
{
	const struct slice_cpu *sc = &s->cpus[cpu];
	const struct cpu *c = cpu < b->n_cpus ? &b->cpus[cpu] : NULL;

	if (!sc->seen)
		return true;
	if (!c)
		return false;
	if (sc->ran == THREAD_IDLE)
		return c->runs == CPU_IDLE;
	return c->runs == CPU_THREAD && c->thread == number_of(s, b, sc->ran);
}

static bool is_as_taken(const struct slice *s, const struct builder *b)
{
	if (s->odd || b->n_losses || s->steal_ns > UINT64_MAX - b->tl->steal_ns)
		return false;
	for (uint32_t i = 0; i < s->tl.n_threads; i++)
		if (!was_as_taken(s, b, i))
			return false;
	for (uint32_t i = 0; i < s->n_cpus; i++)
		if (!cpu_was_as_taken(s, b, i))
			return false;
	return true;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void make_room(struct slice *s)
{
	size_t pairs = trace_cursor_pairs(s->cursor)->n;

	XGROW_ZEROED(s->number, s->tl.n_threads, s->cap_number);
	XGROW_ZEROED(s->waits_before, s->tl.n_threads, s->cap_before);
	XGROW_ZEROED(s->pair_of, pairs, s->cap_pairs);
}

/* The first event of a thread that was asleep. By whom it was is seen to later. */
static void wake(const struct slice_thread *st, struct builder *b, uint32_t number)
{
	const struct event ev = { .time_ns = st->first_ns,
				  .kind = EVENT_WAKING,
				  .flags = st->off_queue ? CHAINLOG_F_OFF_QUEUE : 0 };

	state_waking(b, number, &ev, THREAD_IDLE);
}

static void number_threads(struct slice *s, struct builder *b)
{
	for (uint32_t i = 0; i < s->tl.n_threads; i++) {
		uint32_t number = THREAD_NONE;

		if (s->threads[i].was > WAS_GONE)
			number = number_of(s, b, i);
		if (s->threads[i].was == WAS_ASLEEP)
			wake(&s->threads[i], b, number);
		s->number[i] = number; /* of others once they are born */
		s->waits_before[i] = number == THREAD_NONE ? 0 : b->tl->threads[number].n_waits;
	}
}

static uint32_t in_whole(const struct slice *s, uint32_t thread)
{
	return thread < THREAD_IDLE ? s->number[thread] : thread;
}

/* A place among a thread's off-CPU intervals. */
static uint32_t place_in_whole(const struct slice *s, uint32_t thread, uint32_t pos)
{
	return thread < THREAD_IDLE ? s->waits_before[thread] + pos : pos;
}

/* An interval with the numbers of the whole. */
static struct wait wait_in_whole(const struct slice *s, const struct wait *w)
{
	struct wait to = *w;

	to.stack = s->pair_of[w->stack];
	to.waker_stack = s->pair_of[w->waker_stack];
	if (w->waker >= THREAD_IDLE)
		return to;
	if (w->flags & WAIT_WAKER_RAN)
		to.waker = s->number[w->waker] & THREAD_NONE;
	else
		wait_set_waker(&to, s->number[w->waker], to.waker_stack,
			       place_in_whole(s, w->waker, w->waker_at));
	return to;
}

/* ---- the events that were kept -------------------------------------------------------------- */

static void handle_kept(struct slice *s, struct builder *b, const struct kept_event *k)
{
	struct lock_holders *held = &b->tl->lock_holders;
	struct event ev = k->ev;
	uint32_t holder;

	ev.pair = s->pair_of[ev.pair];
	switch (ev.kind) {
	case EVENT_FORK:
		s->number[k->thread] = build_child(b, &ev, in_whole(s, k->parent));
		break;
	case EVENT_EXEC:
		build_exec(b, s->number[k->thread], ev.string);
		break;
	case EVENT_RENAME:
		table_rename(b, s->number[k->thread], ev.string, ev.time_ns);
		break;
	case EVENT_HOLDER:
		holder = table_find(b, ev.other);
		if (holder != THREAD_NONE && b->live[holder].state != LIVE_DEAD)
			XAPPEND(held->at, held->n, held->cap) =
				(struct lock_holder) { ev.time_ns, s->number[k->thread], holder };
		break;
	default:
		build_event(b, &ev);
		break;
	}
}

/* ---- timelines ------------------------------------------------------------------------------ */

/* Completes an interval that began before the slice: open is what was known of it then. */
static void complete(struct wait *w, const struct wait *open, enum slice_was was)
{
	struct wait to = *open;

	if (was == WAS_ASLEEP) {
		to.waker = w->waker;
		to.waker_stack = w->waker_stack;
		to.waker_at = w->waker_at;
	}
	to.in_ns = w->in_ns;
	*w = to;
}

/* The state of a thread at the end of the slice, in place of l, that at its beginning. */
static void join_live(struct slice *s, uint32_t i, struct live *l)
{
	const struct slice_thread *st = &s->threads[i];
	struct live to = s->b.live[i];

	to.open = wait_in_whole(s, &to.open);
	if (st->was == WAS_ASLEEP && !s->tl.threads[i].n_waits) {
		complete(&to.open, &l->open, st->was);
		l->open = to.open;
		return;
	}
	to.early.stack = s->pair_of[to.early.stack];
	to.early.pos = place_in_whole(s, to.early.waker, to.early.pos);
	to.early.waker = in_whole(s, to.early.waker);
	to.snapshot = l->snapshot;
	to.cap_waits = l->cap_waits;
	if (st->was != WAS_NOTHING) {
		to.exiting |= l->exiting;
		to.woke |= to.woke_adds && l->woke;
		to.open.woke_before |= to.open_adds && l->woke;
	}
	to.woke_adds = to.open_adds = false;
	to.added_wait = 0;
	*l = to;
}

static void join_thread(struct slice *s, struct builder *b, uint32_t i)
{
	const struct slice_thread *st = &s->threads[i];
	const struct thread *from = &s->tl.threads[i];
	uint32_t number = s->number[i];
	struct thread *th = &b->tl->threads[number];
	struct live *l = &b->live[number];
	struct wait *w = waits_room(b, number, from->n_waits);

	for (uint32_t k = 0; k < from->n_waits; k++)
		w[k] = wait_in_whole(s, &from->waits[k]);
	if (from->n_waits && st->was >= WAS_ASLEEP)
		complete(&w[0], &l->open, st->was);
	if (s->b.live[i].added_wait)
		w[s->b.live[i].added_wait - 1].woke_before |= l->woke;
	th->n_waits += from->n_waits;
	if (st->was == WAS_NOTHING)
		th->begin_ns = from->begin_ns;
	if (s->b.live[i].state == LIVE_DEAD) {
		th->end_ns = from->end_ns;
		th->flags |= THREAD_EXITED;
		th->exit_stack = s->pair_of[from->exit_stack];
	}
	join_live(s, i, l);
}

/* What the waker of a thread that had been asleep did before the slice. */
static void join_waker(struct slice *s, struct builder *b, uint32_t i)
{
	uint32_t number = s->number[i];
	struct wait *w = s->tl.threads[i].n_waits
				 ? &b->tl->threads[number].waits[s->waits_before[i]]
				 : &b->live[number].open;
	const struct thread *th = w->waker < THREAD_IDLE ? &b->tl->threads[w->waker] : NULL;

	if (th && !(th->flags & THREAD_RECORDER))
		wait_note_waker(w, th, wait_waker_pos(th, w));
}

static void join_cpus(struct slice *s, struct builder *b)
{
	struct untraced *to = &b->tl->untraced;
	const struct untraced *from = &s->tl.untraced;

	for (uint32_t cpu = 0; cpu < s->n_cpus; cpu++) {
		const struct slice_cpu *sc = &s->cpus[cpu];

		if (!sc->seen)
			continue;
		b->cpus[cpu].runs = s->b.cpus[cpu].runs;
		b->cpus[cpu].thread = in_whole(s, s->b.cpus[cpu].thread);
		if (!sc->first)
			continue;
		XREACH(to->next, to->n_cpus, cpu);
		to->switches += to->next[cpu] && to->next[cpu] != sc->first;
		to->next[cpu] = from->next[cpu];
	}
	to->switches += from->switches;
}

static void join_switches(const struct slice *s, struct builder *b)
{
	for (uint32_t cpu = 0; cpu < s->b.n_cpus; cpu++) {
		const struct cpu *from = &s->b.cpus[cpu];
		struct cpu *to = from->switch_ns ? state_cpu(b, cpu) : NULL;

		if (to && from->before_ns)
			cpu_switches(to, from->before_ns);
		if (to)
			cpu_switches(to, from->switch_ns);
	}
}

static void join_ready(struct slice *s, struct builder *b)
{
	for (size_t i = 0; i < s->b.n_ready; i++) {
		struct ready_note note = s->b.ready[i];

		XGROW(b->ready, b->n_ready, b->cap_ready);
		note.wait = place_in_whole(s, note.thread, note.wait);
		note.thread = in_whole(s, note.thread);
		b->ready[b->n_ready++] = note;
	}
}

bool slice_join(struct slice *s, struct builder *b)
{
	uint32_t n = (uint32_t)s->tl.n_threads;
	int err;

	if (!is_as_taken(s, b))
		return false;
	make_room(s);
	number_threads(s, b);
	err = trace_cursor_take_over(b->cursor, s->cursor, s->pair_of);
	if (err == -ENOMEM)
		out_of_memory();
	if (err)
		return false;
	for (size_t i = 0; i < s->n_kept; i++)
		handle_kept(s, b, &s->kept[i]);
	for (uint32_t i = 0; i < n; i++)
		if (s->threads[i].was == WAS_NOTHING || s->threads[i].was >= WAS_RUNNING)
			join_thread(s, b, i);
	for (uint32_t i = 0; i < n; i++)
		if (s->threads[i].was == WAS_ASLEEP)
			join_waker(s, b, i);
	join_cpus(s, b);
	join_switches(s, b);
	join_ready(s, b);
	if (b->tl->end_ns < s->tl.end_ns)
		b->tl->end_ns = s->tl.end_ns;
	b->tl->steal_ns += s->steal_ns;
	b->tl->recorder_ns += s->tl.recorder_ns;
	return true;
}
