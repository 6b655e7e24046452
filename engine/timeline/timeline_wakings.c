// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a waking does: it ends a sleep, or is kept as an early one, or shows what its thread must
 * have been doing. timeline_state.c draws the states.
 */
#include "common/xalloc.h"
#include "timeline_private.h"

/* Opens a wait that is known only by its waking. */
static void open_woken(struct builder *b, uint32_t thread, uint64_t out_ns, uint64_t wake_ns,
		       unsigned int flags)
{
	struct live *l = &b->live[thread];

	l->open = (struct wait) {
		.out_ns = out_ns,
		.wake_ns = wake_ns,
		.waker = THREAD_NONE,
		.kind = WAIT_SLEEP,
		.flags = flags & WAIT_FLAGS,
		.state = '?',
	};
	l->state = LIVE_WOKEN;
	l->woke = l->woke_adds = l->open_adds = l->maybe_woken = false;
	l->assumed = true;
	cpus_place(b->tl->cpus, thread, wake_ns, CPU_NONE);
}

/* True if the thread can have slept since the trace began. */
static bool slept_since_start(const struct builder *b, uint32_t thread, uint64_t now_ns)
{
	const struct live *l = &b->live[thread];

	if (!l->fresh || l->unborn || l->losses != b->n_losses || b->n_losses ||
	    b->tl->threads[thread].begin_ns != b->tl->start_ns)
		return false;
	return state_snapshot_ns(b, l) >= now_ns;
}

/*
 * True if the thread, of which nothing is known since a loss, may have been on its run queue when
 * it was woken, preempted, and for lack of a quota: then the trace need not say until when.
 */
static bool maybe_throttled(const struct builder *b, const struct event *ev)
{
	return b->n_losses && ev->kind == EVENT_WAKING && !(ev->flags & CHAINLOG_F_OFF_QUEUE) &&
	       timelines_tell_quotas(b->tl);
}

void wait_note_waker(struct wait *w, const struct thread *waker, uint32_t pos)
{
	const struct wait *last = pos ? &waker->waits[pos - 1] : NULL;
	uint64_t late_ns = 0;

	if (w->flags & WAIT_NEW || waker->begin_ns > w->out_ns)
		return;
	if (last && last->in_ns > w->out_ns) {
		if (last->kind == WAIT_UNKNOWN || last->wake_ns > w->out_ns ||
		    last->in_ns - w->out_ns > WAIT_WAKER_MAX)
			return;
		late_ns = last->in_ns - w->out_ns;
	}
	w->waker_at = late_ns & WAIT_WAKER_MAX;
	w->flags |= WAIT_WAKER_RAN;
}

void state_woken_somehow(struct builder *b, uint32_t thread, uint64_t now_ns)
{
	struct live *l = &b->live[thread];

	if (b->tl->threads[thread].flags & THREAD_RECORDER)
		return;
	state_settle(b, thread, now_ns);
	l->early.valid = false;
	if (l->state == LIVE_WOKEN && l->open.flags & WAIT_EARLY && !l->off_queue) {
		/* The early waking was for something else: there is this one, too. */
		l->open.flags &= WAIT_FLAGS & ~WAIT_EARLY;
		l->open.waker = THREAD_NONE;
		l->open.waker_stack = 0;
		l->state = LIVE_ASLEEP;
	}
	if (l->state == LIVE_ASLEEP || (l->state == LIVE_WOKEN && l->assumed))
		l->maybe_woken = true;
}

void state_waking(struct builder *b, uint32_t thread, const struct event *ev, uint32_t waker)
{
	bool is_new = ev->kind == EVENT_WAKING_NEW;
	uint64_t now_ns = ev->time_ns;
	struct live *l = &b->live[thread];
	uint32_t pos = waker < THREAD_IDLE ? b->tl->threads[waker].n_waits : 0;
	bool since_start = slept_since_start(b, thread, now_ns);

	if (b->tl->threads[thread].flags & THREAD_RECORDER)
		return;
	state_settle(b, thread, now_ns);
	switch (l->state) {
	case LIVE_RUNNING:
		l->early = (struct early_waking) {
			/* While events are being lost, a later waking may be among them. */
			.valid = now_ns >= b->lossy_until_ns,
			.at_ns = now_ns,
			.waker = waker,
			.stack = ev->pair,
			.pos = pos,
			.losses = (uint32_t)b->n_losses,
			.off_queue = ev->flags & CHAINLOG_F_OFF_QUEUE,
		};
		return;
	case LIVE_PREEMPTED:
	case LIVE_DEAD:
		return;
	case LIVE_ASLEEP:
		l->state = LIVE_WOKEN;
		l->maybe_woken = false;
		l->open.wake_ns = now_ns;
		break;
	case LIVE_WOKEN:
		if (l->open.flags & WAIT_EARLY && !l->off_queue) {
			/* This waking ends the sleep; the early one was for something else. */
			l->open.flags &= WAIT_FLAGS & ~WAIT_EARLY;
			l->open.wake_ns = now_ns;
			break;
		}
		state_give_up(b, thread, now_ns);
		if (!l->assumed)
			l->since_ns = now_ns;
		open_woken(b, thread, now_ns, now_ns, 0);
		break;
	case LIVE_UNKNOWN:
		if (since_start) {
			open_woken(b, thread, b->tl->start_ns, now_ns, WAIT_SINCE_START);
			break;
		}
		if (is_new && l->unborn)
			b->tl->threads[thread].begin_ns = l->since_ns = now_ns;
		else
			waits_add_unknown(b, thread, l->since_ns, now_ns);
		l->unborn = false;
		if (now_ns < b->lossy_until_ns || maybe_throttled(b, ev)) {
			state_becomes_unknown(l, now_ns);
			return;
		}
		open_woken(b, thread, now_ns, now_ns, is_new ? WAIT_NEW : 0);
		break;
	}
	l->off_queue = ev->flags & CHAINLOG_F_OFF_QUEUE;
	wait_set_waker(&l->open, waker, ev->pair, pos);
	if (waker < THREAD_IDLE && b->live[waker].state == LIVE_RUNNING)
		wait_note_waker(&l->open, &b->tl->threads[waker], pos);
}

void state_ready(struct builder *b, uint32_t thread, const struct event *ev)
{
	const struct live *l = &b->live[thread];
	uint32_t object = ev->kind == EVENT_READY ? ev->awaited.object : 0;

	if (l->state != LIVE_WOKEN || l->open.wake_ns != ev->time_ns ||
	    (!object && ev->kind == EVENT_READY))
		return;
	XGROW(b->ready, b->n_ready, b->cap_ready);
	b->ready[b->n_ready] = (struct ready_note) { .wake_ns = ev->time_ns,
						     .thread = thread,
						     .wait = b->tl->threads[thread].n_waits,
						     .object = object };
	if (ev->kind == EVENT_TCP_TIMER)
		b->ready[b->n_ready].timer =
			(struct tcp_timer) { ev->tcp_timer.since_ns, ev->tcp_timer.at_ns,
					     (uint32_t)ev->tcp_timer.which };
	b->n_ready++;
}
