// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds a slice. Each event is looked at first: only regular ones, whose effect does not depend on
 * what is not known, are handled as all events are; others make the slice odd.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "slice_private.h"

/* This many kept events fit in any slice. */
#define KEPT_MIN 32768u

void slice_new(struct slice **out, const struct builder *whole, size_t most_events)
{
	struct slice *s = xcalloc(1, sizeof(*s));
	const struct timelines *tl = whole->tl;

	*out = s;
	s->whole = whole;
	s->most_kept = most_events / 4 > KEPT_MIN ? most_events / 4 : KEPT_MIN;
	s->tl.trace = tl->trace;
	s->tl.start_ns = tl->start_ns;
	s->b.tl = &s->tl;
	trace_cursor_new_part(&s->cursor, whole->cursor);
}

void slice_free(struct slice *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->tl.n_threads; i++)
		free(s->tl.threads[i].waits);
	for (size_t i = 0; i < s->n_spare; i++)
		free(s->spare[i].at);
	free(s->spare);
	free(s->tl.threads);
	free(s->tl.untraced.next);
	free(s->b.live);
	free(s->b.cpus);
	free(s->b.ready);
	table_free(&s->b);
	trace_cursor_free(s->cursor);
	free(s->threads);
	free(s->cpus);
	free(s->kept);
	free(s->number);
	free(s->waits_before);
	free(s->pair_of);
	free(s);
}

bool slice_is_lossy(const struct slice *s)
{
	return s->lossy;
}

/* Forgets everything; its memory stays for the next slice. */
static void clear(struct slice *s)
{
	for (size_t i = 0; i < s->tl.n_threads; i++)
		XAPPEND(s->spare, s->n_spare, s->cap_spare) =
			(struct spare_waits) { s->tl.threads[i].waits, s->b.live[i].cap_waits };
	table_clear(&s->b);
	for (size_t i = 0; i < s->b.n_cpus; i++)
		s->b.cpus[i] = (struct cpu) { .runs = CPU_UNKNOWN };
	for (size_t i = 0; i < s->n_cpus; i++)
		s->cpus[i] = (struct slice_cpu) { .seen = false };
	for (uint32_t i = 0; i < s->tl.untraced.n_cpus; i++)
		s->tl.untraced.next[i] = 0;
	s->tl.untraced.switches = 0;
	s->tl.recorder_ns = s->tl.end_ns = s->steal_ns = 0;
	s->b.n_ready = s->n_kept = 0;
	s->odd = s->lossy = false;
}

/* ---- threads and CPUs ----------------------------------------------------------------------- */

/* A thread that is new to the slice. */
static uint32_t add_thread(struct slice *s, uint32_t tid, enum slice_was was, uint64_t now_ns)
{
	/* Of one that is older: early enough for anything that begins in the slice. */
	uint32_t i = table_birth(&s->b, tid, was == WAS_NOTHING ? now_ns : 1);

	if (i == THREAD_NONE)
		return i;
	XGROW(s->threads, i, s->cap_threads);
	if (s->n_spare) {
		s->tl.threads[i].waits = s->spare[--s->n_spare].at;
		s->b.live[i].cap_waits = s->spare[s->n_spare].cap;
	}
	s->threads[i] = (struct slice_thread) { .was = was, .first_ns = now_ns };
	s->b.live[i].woke_adds = was != WAS_NOTHING;
	if (was == WAS_RECORDER)
		s->tl.threads[i].flags |= THREAD_RECORDER;
	else if (s->tl.threads[i].flags & THREAD_RECORDER)
		s->odd = true;
	return i;
}

static struct slice_cpu *slice_cpu(struct slice *s, uint32_t cpu)
{
	XGROW_ZEROED(s->cpus, cpu, s->cap_cpus);
	if (s->n_cpus <= cpu)
		s->n_cpus = (size_t)cpu + 1;
	return &s->cpus[cpu];
}

/* The first event of a CPU shows what has been running there. */
static bool first_runs(struct slice *s, const struct event *ev, struct cpu *c)
{
	struct slice_cpu *sc = slice_cpu(s, ev->cpu);
	uint32_t i;

	sc->seen = true;
	sc->ran = THREAD_IDLE;
	c->runs = CPU_IDLE;
	if (!ev->tid)
		return true;
	if (table_find(&s->b, ev->tid) != THREAD_NONE)
		return false; /* it is elsewhere */
	i = add_thread(s, ev->tid, WAS_RUNNING, ev->time_ns);
	if (i == THREAD_NONE)
		return false;
	s->threads[i].cpu = ev->cpu;
	s->b.live[i].state = LIVE_RUNNING;
	s->b.live[i].cpu = ev->cpu;
	sc->ran = i;
	c->runs = CPU_THREAD;
	c->thread = i;
	return true;
}

/*
 * Whether all is known of what a thread does, so that no event about it is an odd one: it is alive,
 * and what it does did not begin before the slice.
 */
static bool is_known(const struct slice *s, uint32_t thread)
{
	const struct live *l = thread == THREAD_NONE ? NULL : &s->b.live[thread];

	if (!l || (s->threads[thread].was != WAS_NOTHING && s->threads[thread].was < WAS_RUNNING))
		return false;
	switch (l->state) {
	case LIVE_ASLEEP:
	case LIVE_WOKEN:
	case LIVE_PREEMPTED:
		return l->open.out_ns;
	default:
		return l->state != LIVE_DEAD;
	}
}

/* Whether it is known what follows if the thread of the event acts on the event's CPU. */
static bool runs(struct slice *s, const struct event *ev)
{
	struct cpu *c = state_cpu(&s->b, ev->cpu);

	if (c->runs == CPU_UNKNOWN)
		return first_runs(s, ev, c);
	return !ev->tid || is_known(s, table_find(&s->b, ev->tid));
}

/* A waking while a thread of the recorder is current: an interrupt may borrow its CPU. */
static bool recorder_wakes(struct slice *s, const struct event *ev)
{
	const struct cpu *c = state_cpu(&s->b, ev->cpu);
	uint32_t i = table_find(&s->b, ev->tid);

	if (c->runs == CPU_UNKNOWN || !ev->tid)
		return false;
	if (i == THREAD_NONE)
		i = add_thread(s, ev->tid, WAS_RECORDER, ev->time_ns);
	return i != THREAD_NONE && s->threads[i].was == WAS_RECORDER;
}

/* ---- events --------------------------------------------------------------------------------- */

static void keep(struct slice *s, const struct event *ev, uint32_t thread, uint32_t parent)
{
	if (s->n_kept == s->most_kept) {
		s->odd = true;
		return;
	}
	XAPPEND(s->kept, s->n_kept, s->cap_kept) = (struct kept_event) { *ev, thread, parent };
}

/* The thread that is switched to. False: it is not known what it did. */
static bool comes_on(struct slice *s, const struct event *ev)
{
	uint32_t i = table_find(&s->b, ev->other);

	if (i != THREAD_NONE)
		return is_known(s, i) || s->b.live[i].state == LIVE_WOKEN;
	i = add_thread(s, ev->other, WAS_READY, ev->time_ns);
	if (i == THREAD_NONE)
		return false;
	s->b.live[i].state = LIVE_PREEMPTED;
	s->b.live[i].open = (struct wait) { .waker = THREAD_NONE, .kind = WAIT_PREEMPTED };
	return true;
}

static bool take_switch(struct slice *s, const struct event *ev)
{
	struct slice_cpu *sc;

	if (!runs(s, ev) || (ev->other && !comes_on(s, ev)))
		return false;
	sc = &s->cpus[ev->cpu];
	if (!sc->first)
		sc->first = (uint64_t)ev->tid + 1;
	build_event(&s->b, ev);
	return true;
}

/* The thread that is woken. False: it is not known what it did. */
static bool is_woken(struct slice *s, const struct event *ev)
{
	uint32_t i = table_find(&s->b, ev->other);

	if (ev->kind == EVENT_WAKING_NEW)
		return is_known(s, i) && s->b.live[i].unborn;
	if (i != THREAD_NONE)
		return is_known(s, i);
	if (ev->flags & CHAINLOG_F_NO_WAKER)
		return false;
	i = add_thread(s, ev->other, WAS_ASLEEP, ev->time_ns);
	if (i == THREAD_NONE)
		return false;
	s->threads[i].off_queue = ev->flags & CHAINLOG_F_OFF_QUEUE;
	s->b.live[i].state = LIVE_ASLEEP;
	s->b.live[i].open = (struct wait) { .waker = THREAD_NONE, .kind = WAIT_SLEEP };
	return true;
}

static bool take_waking(struct slice *s, const struct event *ev)
{
	if (!(ev->flags & CHAINLOG_F_NO_WAKER) && !recorder_wakes(s, ev) && !runs(s, ev))
		return false;
	if (ev->other && !is_woken(s, ev))
		return false;
	build_event(&s->b, ev);
	return true;
}

static bool take_fork(struct slice *s, const struct event *ev)
{
	const struct trace_info *info = trace_info(s->tl.trace);
	uint32_t parent = THREAD_IDLE, i;

	if (!runs(s, ev))
		return false;
	if (ev->tid) {
		parent = table_find(&s->b, ev->tid);
		state_acts(&s->b, ev->cpu, parent, ev->time_ns);
	}
	if (!ev->other)
		return true;
	/* What the recorder's list of threads says of it would be missing here. */
	if (pairs_find(&s->whole->late, ev->other, 0) ||
	    (info->recorder_tgid &&
	     (ev->other == info->recorder_tgid || ev->tgid == info->recorder_tgid)))
		return false;
	i = table_find(&s->b, ev->other);
	if (i == THREAD_NONE) {
		i = add_thread(s, ev->other, WAS_GONE, ev->time_ns);
		if (i == THREAD_NONE)
			return false;
		s->b.live[i].state = LIVE_DEAD;
	}
	if (s->b.live[i].state != LIVE_DEAD)
		return false;
	i = add_thread(s, ev->other, WAS_NOTHING, ev->time_ns);
	if (i == THREAD_NONE)
		return false;
	s->b.live[i].unborn = true;
	keep(s, ev, i, parent);
	return true;
}

static bool take_exec(struct slice *s, const struct event *ev)
{
	const struct untraced *u = &s->tl.untraced;
	uint32_t i;

	if (!ev->tid)
		return true;
	if ((ev->other && ev->other != ev->tid) ||
	    ev->tid == trace_info(s->tl.trace)->command_tgid || ev->cpu >= u->n_cpus ||
	    !u->next[ev->cpu] || !runs(s, ev))
		return false;
	i = table_find(&s->b, ev->tid);
	state_acts(&s->b, ev->cpu, i, ev->time_ns);
	keep(s, ev, i, THREAD_NONE);
	return true;
}

static bool take_rename(struct slice *s, const struct event *ev)
{
	uint32_t i = table_find(&s->b, ev->tid);

	if (!ev->tid)
		return true;
	if (i == THREAD_NONE) {
		i = add_thread(s, ev->tid, WAS_ALIVE, ev->time_ns);
		if (i == THREAD_NONE)
			return false;
	}
	if (s->b.live[i].state == LIVE_DEAD || s->threads[i].was == WAS_RECORDER)
		return false;
	keep(s, ev, i, THREAD_NONE);
	return true;
}

/* The thread has just gone to sleep at a lock. */
static void take_holder(struct slice *s, const struct event *ev)
{
	uint32_t i = table_find(&s->b, ev->tid), holder = table_find(&s->b, ev->other);
	const struct live *l = i == THREAD_NONE ? NULL : &s->b.live[i];

	if (!l || !(l->state == LIVE_ASLEEP || l->state == LIVE_WOKEN) ||
	    l->open.out_ns != ev->time_ns)
		return;
	if (holder == THREAD_NONE || s->b.live[holder].state != LIVE_DEAD)
		keep(s, ev, i, THREAD_NONE);
}

/* Since when the recorder may have had the CPU may have been before the slice. */
static void take_recorder(struct slice *s, const struct event *ev)
{
	struct cpu *c = state_cpu(&s->b, ev->cpu);

	if (cpu_switch_before(c, ev->time_ns)) {
		build_event(&s->b, ev);
	} else {
		cpu_switches(c, ev->time_ns);
		keep(s, ev, THREAD_NONE, THREAD_NONE);
	}
}

/* The column `slices` of events.def. */
enum slice_way { ALONE, PASS, BUILD, KEEP, OWN };

#define EVENT(NAME, number, record, slices, shown, key, fields) [EVENT_##NAME] = slices,
static const uint8_t ways[EVENT_KINDS] = {
#include "events.def"
};

/* Those whose row says OWN. */
static bool take_own(struct slice *s, const struct event *ev)
{
	uint32_t i;

	switch (ev->kind) {
	case EVENT_RECORDER:
		take_recorder(s, ev);
		return true;
	case EVENT_STEAL:
		if (ev->stolen.ns > UINT64_MAX - s->steal_ns)
			return false;
		s->steal_ns += ev->stolen.ns;
		return true;
	case EVENT_THROTTLED:
		i = table_find(&s->b, ev->tid);
		if (i == THREAD_NONE || s->b.live[i].state == LIVE_UNKNOWN)
			return false;
		build_event(&s->b, ev);
		return true;
	default:
		take_holder(s, ev);
		return true;
	}
}

/* Returns false if the event is not a regular one. */
static bool take_aux(struct slice *s, const struct event *ev)
{
	switch (ways[ev->kind]) {
	case PASS:
		return true;
	case BUILD:
		build_event(&s->b, ev);
		return true;
	case KEEP:
		keep(s, ev, THREAD_NONE, THREAD_NONE);
		return true;
	case OWN:
		return take_own(s, ev);
	default:
		s->lossy = true; /* of either kind of events */
		return false;
	}
}

static bool take(struct slice *s, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SWITCH:
		return take_switch(s, ev);
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		return take_waking(s, ev);
	case EVENT_FORK:
		return take_fork(s, ev);
	case EVENT_EXEC:
		return take_exec(s, ev);
	case EVENT_RENAME:
		return take_rename(s, ev);
	case EVENT_EXIT:
		if (!runs(s, ev))
			return false;
		build_event(&s->b, ev);
		return true;
	default:
		return take_aux(s, ev);
	}
}

void slice_build(struct slice *s, uint64_t from_ns, uint64_t to_ns)
{
	const struct event *ev;

	clear(s);
	trace_cursor_window(s->cursor, from_ns, to_ns);
	while (!s->odd && (ev = trace_cursor_take(s->cursor))) {
		if (take(s, ev))
			untraced_event(&s->tl.untraced, ev);
		else
			s->odd = true;
		s->tl.end_ns = ev->time_ns;
	}
	s->odd |= trace_cursor_error(s->cursor) != 0;
}
