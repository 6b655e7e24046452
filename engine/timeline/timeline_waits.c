// SPDX-License-Identifier: GPL-2.0-or-later
/* The off-CPU intervals of each thread, as they become complete. */

#include "timeline_private.h"
#include "common/xalloc.h"

static void grow(struct builder *b, uint32_t thread, size_t need)
{
	struct thread *th = &b->tl->threads[thread];
	struct live *l = &b->live[thread];
	/* Grows by only half, because waits are nearly all of the memory. */
	size_t cap = l->cap_waits < 8 ? 8 : l->cap_waits + l->cap_waits / 2;

	if (cap < need)
		cap = need;
	if (cap >= UINT32_MAX)
		out_of_memory();
	th->waits = xreallocarray(th->waits, cap, sizeof(*th->waits));
	l->cap_waits = cap;
}

struct wait *waits_room(struct builder *b, uint32_t thread, uint32_t n)
{
	struct thread *th = &b->tl->threads[thread];
	size_t need = (size_t)th->n_waits + n + 1;

	if (need > b->live[thread].cap_waits)
		grow(b, thread, need);
	return &th->waits[th->n_waits];
}

static void append(struct builder *b, uint32_t thread, const struct wait *w)
{
	struct thread *th = &b->tl->threads[thread];

	if (th->n_waits == b->live[thread].cap_waits)
		grow(b, thread, 0);
	th->waits[th->n_waits++] = *w;
}

void waits_add_unknown(struct builder *b, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < to_ns)
		append(b, thread,
		       &(struct wait) {
			       .out_ns = from_ns,
			       .wake_ns = to_ns,
			       .in_ns = to_ns,
			       .waker = THREAD_NONE,
			       .waker_at = b->live[thread].state == LIVE_RUNNING,
			       .woke_before = b->live[thread].state == LIVE_WOKEN,
			       .kind = WAIT_UNKNOWN,
			       .state = '?',
		       });
}

void waits_known_from(struct builder *b, uint32_t thread, uint64_t from_ns)
{
	struct thread *th = &b->tl->threads[thread];
	struct wait *last;

	while (th->n_waits && th->waits[th->n_waits - 1].out_ns >= from_ns)
		th->n_waits--;
	last = th->n_waits ? &th->waits[th->n_waits - 1] : NULL;
	if (last && last->in_ns > from_ns)
		last->wake_ns = last->in_ns = from_ns;
}

void waits_finish(struct builder *b, uint32_t thread, uint64_t at_ns, enum wait_ending why)
{
	struct live *l = &b->live[thread];
	struct wait *w = &l->open;
	bool asleep = l->state == LIVE_ASLEEP;

	if (w->out_ns == at_ns) { /* as if it had not been */
		l->woke |= w->woke_before;
		l->woke_adds |= l->open_adds;
		return;
	}
	if (why != BY_SWITCH_IN && l->assumed) {
		waits_add_unknown(b, thread, w->out_ns, at_ns);
		return;
	}
	w->in_ns = at_ns;
	if (why != BY_SWITCH_IN && w->flags & WAIT_EARLY && !l->off_queue) {
		/*
		 * It is not known to have ended this sleep. A later waking, which would show that
		 * it was for something else, may be lost. Or the trace has ended without a
		 * switch-in: a deadlock must not look like a wait for a CPU.
		 */
		w->flags &= WAIT_FLAGS & ~WAIT_EARLY;
		w->waker = THREAD_NONE;
		asleep = true;
	}
	if (asleep) {
		w->wake_ns = at_ns;
		w->flags |=
			why == BY_TRACE_END && !l->maybe_woken ? WAIT_NOT_WOKEN : WAIT_NO_WAKING;
	}
	if (why != BY_SWITCH_IN)
		w->flags |= WAIT_UNFINISHED;
	append(b, thread, w);
	if (l->open_adds)
		l->added_wait = b->tl->threads[thread].n_waits;
	l->open_adds = false;
}

void wait_set_waker(struct wait *w, uint32_t waker, uint32_t stack, uint32_t pos)
{
	w->waker = waker & THREAD_NONE;
	w->waker_stack = stack;
	w->waker_at = (pos < WAIT_WAKER_MAX ? pos : WAIT_WAKER_MAX) & WAIT_WAKER_MAX;
}
