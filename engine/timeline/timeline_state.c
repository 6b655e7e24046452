// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each thread is doing, event by event, as docs/chain-semantics.md defines it. A thread:
 *
 *     RUNNING -- switch-out, asleep ----------------> ASLEEP -- waking --> WOKEN
 *        |------ the same, after an early waking ------------------------> WOKEN
 *        |------ switch-out, R ---------------------> PREEMPTED
 *        '------ switch-out, X or Z ----------------> DEAD
 *
 *     any but DEAD -- switch-in, or the thread acts --> RUNNING
 *     UNKNOWN ------- waking -------------------------> WOKEN
 *     any but DEAD -- loss ---------------------------> UNKNOWN (see below)
 *     RUNNING ------- another thread is on its CPU ---> UNKNOWN
 *     any ----------- another thread has its tid -----> DEAD (fork, exec)
 *
 * An event that contradicts the state (a switch-in of a RUNNING thread, an act of one that is
 * ASLEEP) has its effect, too, and the time before it becomes unknown: state_give_up(). A CPU:
 *
 *     UNKNOWN -- first event --> THREAD or IDLE, which has been there since known_from_ns
 *     THREAD, IDLE -- switch --> THREAD or IDLE, through UNSEEN between the event's two halves
 *     THREAD, IDLE -- an event by another thread --> that THREAD or IDLE, since an unknown time
 *     any -- loss --> UNKNOWN, known again from the end of the loss
 *
 * There are two kinds of uncertainty. A *loss* is announced: every thread that is not provably
 * running on a CPU without loss is unknown from the loss's first moment to its own next event. A
 * thread that was off its CPU is not touched at the loss (there may be thousands asleep) but at
 * its next event, which sees that losses came in between. An *impossible sequence* is not
 * announced: the thread's state since it was last seen is unknown.
 */

#include "common/xalloc.h"
#include "timeline_private.h"

struct cpu *state_new_cpu(struct builder *b, uint32_t cpu)
{
	while (cpu >= b->n_cpus) {
		size_t n = b->n_cpus ? b->n_cpus * 2 : 16;

		b->cpus = xreallocarray(b->cpus, n, sizeof(*b->cpus));
		for (; b->n_cpus < n; b->n_cpus++)
			b->cpus[b->n_cpus] =
				(struct cpu) { .known_from_ns = b->cpus_known_from_ns };
	}
	return &b->cpus[cpu];
}

/* Another thread is seen on the CPU: when the previous one left it is unknown. */
static void displace(struct builder *b, struct cpu *c)
{
	if (c->runs == CPU_THREAD) {
		struct live *l = &b->live[c->thread];

		cpus_run(b->tl->cpus, l->cpu, l->last_ns, THREAD_NONE);
		state_becomes_unknown(l, l->last_ns);
	}
	c->runs = CPU_UNSEEN;
}

uint64_t state_snapshot_ns(const struct builder *b, const struct live *l)
{
	size_t n;

	return l->snapshot ? trace_threads(b->tl->trace, &n)[l->snapshot - 1].seen_ns : UINT64_MAX;
}

void state_settle(struct builder *b, uint32_t thread, uint64_t now_ns)
{
	struct live *l = &b->live[thread];
	uint64_t loss_ns = l->losses < b->n_losses ? b->loss_ns[l->losses] : UINT64_MAX;

	l->fresh = false;
	if (l->assumed && l->state == LIVE_ASLEEP &&
	    state_snapshot_ns(b, l) <= (loss_ns < now_ns ? loss_ns : now_ns))
		l->assumed = false;
	if (l->losses == b->n_losses)
		return;
	l->losses = (uint32_t)b->n_losses;
	switch (l->state) {
	case LIVE_ASLEEP:
	case LIVE_WOKEN:
	case LIVE_PREEMPTED:
		waits_finish(b, thread, loss_ns, BY_LOSS);
		state_becomes_unknown(l, loss_ns);
		break;
	case LIVE_RUNNING:
		/* On a known CPU state_lost() has handled the loss. */
		if (l->cpu == LIVE_NO_CPU)
			state_becomes_unknown(l, state_snapshot_ns(b, l) <= loss_ns ? loss_ns
										    : l->last_ns);
		break;
	default:
		break;
	}
}

/*
 * The thread is seen on the CPU at now_ns, and has run there since since_ns. But while that CPU's
 * events are being lost, both become unknown.
 */
static void now_runs(struct builder *b, struct cpu *c, uint32_t cpu, uint32_t thread,
		     uint64_t since_ns, uint64_t now_ns)
{
	struct live *l = &b->live[thread];

	if (now_ns < c->known_from_ns) {
		state_becomes_unknown(l, now_ns);
		c->runs = CPU_UNKNOWN;
		return;
	}
	l->state = LIVE_RUNNING;
	l->assumed = false;
	l->unborn = false;
	l->cpu = cpu;
	l->last_ns = now_ns;
	c->runs = CPU_THREAD;
	c->thread = thread;
	cpus_run(b->tl->cpus, cpu, since_ns, thread);
	cpus_place(b->tl->cpus, thread, since_ns, cpu);
}

void state_give_up(struct builder *b, uint32_t thread, uint64_t now_ns)
{
	struct live *l = &b->live[thread];

	switch (l->state) {
	case LIVE_RUNNING:
		if (l->cpu != LIVE_NO_CPU && b->cpus[l->cpu].runs == CPU_THREAD &&
		    b->cpus[l->cpu].thread == thread) {
			b->cpus[l->cpu].runs = CPU_UNSEEN;
			cpus_run(b->tl->cpus, l->cpu, l->last_ns, THREAD_NONE);
		}
		waits_add_unknown(b, thread, l->last_ns, now_ns);
		break;
	case LIVE_UNKNOWN:
		waits_add_unknown(b, thread, l->since_ns, now_ns);
		break;
	case LIVE_ASLEEP:
	case LIVE_PREEMPTED:
		waits_add_unknown(b, thread, l->open.out_ns, now_ns);
		break;
	case LIVE_WOKEN:
		/* The sleep and its waking are still certain. */
		waits_finish(b, thread, l->open.wake_ns, BY_LOSS);
		waits_add_unknown(b, thread, l->open.wake_ns, now_ns);
		break;
	case LIVE_DEAD:
		break;
	}
}

/* The waker_pos of a wait that was woken. */
static uint32_t waker_pos(const struct builder *b, const struct wait *w)
{
	return w->waker < THREAD_IDLE ? wait_waker_pos(&b->tl->threads[w->waker], w) : 0;
}

void state_acts(struct builder *b, uint32_t cpu, uint32_t thread, uint64_t now_ns)
{
	struct cpu *c = state_cpu(b, cpu);
	struct live *l = &b->live[thread];
	uint64_t since_ns = now_ns, known_ns;
	bool all_along; /* it has run since the CPU has been known: nothing else was seen there */

	if (b->tl->threads[thread].flags & THREAD_RECORDER)
		return;
	state_settle(b, thread, now_ns);
	if (c->runs == CPU_THREAD && c->thread == thread) {
		l->last_ns = now_ns;
		return;
	}
	all_along = c->runs == CPU_UNKNOWN && c->known_from_ns <= now_ns;
	displace(b, c);
	cpus_forget_idle(b->tl->cpus, cpu);
	known_ns = l->since_ns < c->known_from_ns ? c->known_from_ns : l->since_ns;
	if (all_along && l->state == LIVE_UNKNOWN) {
		since_ns = known_ns;
		waits_add_unknown(b, thread, l->since_ns, since_ns);
	} else if (all_along && l->state == LIVE_RUNNING && l->cpu == LIVE_NO_CPU) {
		/* The list of threads says that it was running. */
		since_ns = c->known_from_ns;
	} else if (all_along && l->assumed && c->known_from_ns <= l->open.out_ns) {
		/* It was running, not asleep, nor unknown before; a waking was an early one. */
		since_ns = known_ns;
		waits_known_from(b, thread, since_ns);
		l->early = (struct early_waking) {
			.valid = l->state == LIVE_WOKEN && !l->maybe_woken,
			.at_ns = l->open.wake_ns,
			.waker = l->open.waker,
			.stack = l->open.waker_stack,
			.pos = waker_pos(b, &l->open),
			.losses = l->losses,
			.off_queue = l->off_queue,
		};
	} else {
		state_give_up(b, thread, now_ns);
	}
	now_runs(b, c, cpu, thread, since_ns, now_ns);
	l->losses_before_run = all_along ? 0 : (uint32_t)b->n_losses;
}

void state_idles(struct builder *b, uint32_t cpu, uint64_t now_ns)
{
	struct cpu *c = state_cpu(b, cpu);
	uint64_t since_ns = now_ns;

	if (c->runs == CPU_IDLE)
		return;
	if (c->runs == CPU_UNKNOWN)
		since_ns = c->known_from_ns;
	displace(b, c);
	c->runs = now_ns < c->known_from_ns ? CPU_UNKNOWN : CPU_IDLE;
	if (c->runs == CPU_IDLE)
		cpus_run(b->tl->cpus, cpu, since_ns, THREAD_IDLE);
}

void state_switch_out(struct builder *b, uint32_t cpu, uint32_t thread, uint64_t now_ns, char state,
		      uint32_t stack)
{
	struct live *l = &b->live[thread];
	struct early_waking early;
	struct cpu *c = state_cpu(b, cpu);

	if (b->tl->threads[thread].flags & THREAD_RECORDER)
		return;
	state_acts(b, cpu, thread, now_ns);
	early = l->early;
	l->early.valid = false;
	if (l->state == LIVE_UNKNOWN)
		waits_add_unknown(b, thread, l->since_ns, now_ns);
	c->runs = CPU_UNSEEN; /* until the same event's switch-in */
	cpus_run(b->tl->cpus, cpu, now_ns, THREAD_NONE);
	if (state == 'X' || state == 'Z') {
		l->state = LIVE_DEAD;
		b->tl->threads[thread].end_ns = now_ns;
		b->tl->threads[thread].flags |= THREAD_EXITED;
		b->tl->threads[thread].exit_stack = stack;
		return;
	}
	if (now_ns < b->lossy_until_ns) {
		state_becomes_unknown(l, now_ns);
		return;
	}
	l->assumed = false;
	l->maybe_woken = l->losses_before_run != b->n_losses;
	l->open = (struct wait) {
		.out_ns = now_ns,
		.wake_ns = now_ns,
		.stack = stack,
		.waker = THREAD_NONE,
		.kind = state == 'R' ? WAIT_PREEMPTED : WAIT_SLEEP,
		.state = (unsigned char)state & 127u,
	};
	l->open_adds = false;
	if (state == 'R') {
		l->state = LIVE_PREEMPTED;
		return;
	}
	l->open.woke_before = l->woke;
	l->open_adds = l->woke_adds;
	l->woke = l->woke_adds = false;
	if (early.valid && early.losses == b->n_losses) {
		l->state = LIVE_WOKEN;
		l->off_queue = early.off_queue;
		l->open.flags = WAIT_EARLY;
		wait_set_waker(&l->open, early.waker, early.stack, early.pos);
	} else {
		l->state = LIVE_ASLEEP;
	}
}

void state_switch_in(struct builder *b, uint32_t cpu, uint32_t thread, uint64_t now_ns)
{
	struct cpu *c = state_cpu(b, cpu);
	struct live *l = &b->live[thread];

	if (b->tl->threads[thread].flags & THREAD_RECORDER) {
		state_idles(b, cpu, now_ns);
		return;
	}
	state_settle(b, thread, now_ns);
	switch (l->state) {
	case LIVE_WOKEN:
	case LIVE_PREEMPTED:
		waits_finish(b, thread, now_ns, BY_SWITCH_IN);
		cpus_arrive(b->tl->cpus, thread, l->open.wake_ns, now_ns, cpu);
		break;
	case LIVE_ASLEEP:
		if (l->assumed)
			state_give_up(b, thread, now_ns); /* it fell asleep later than assumed */
		else
			waits_finish(b, thread, now_ns, BY_SWITCH_IN);
		break;
	default:
		state_give_up(b, thread, now_ns);
	}
	displace(b, c);
	now_runs(b, c, cpu, thread, now_ns, now_ns);
	l->losses_before_run = now_ns < b->lossy_until_ns ? 0 : (uint32_t)b->n_losses;
}

void state_waits_for(struct builder *b, uint32_t thread, const struct event *ev)
{
	struct live *l = &b->live[thread];

	if ((l->state == LIVE_ASLEEP || l->state == LIVE_WOKEN) && l->open.out_ns == ev->time_ns &&
	    l->open.stack == ev->other)
		l->open.stack = ev->pair;
}

void state_held(struct builder *b, uint32_t thread, uint64_t now_ns, uint32_t holder)
{
	const struct live *l = &b->live[thread];
	struct lock_holders *to = &b->tl->lock_holders;

	if (holder == THREAD_NONE || b->live[holder].state == LIVE_DEAD)
		return;
	if ((l->state == LIVE_ASLEEP || l->state == LIVE_WOKEN) && l->open.out_ns == now_ns)
		XAPPEND(to->at, to->n, to->cap) =
			(struct lock_holder) { l->open.out_ns, thread, holder };
}

void state_queued(struct builder *b, uint32_t thread, uint64_t now_ns, uint32_t cpu, bool woken)
{
	const struct live *l = &b->live[thread];

	if (l->state == LIVE_RUNNING || l->state == LIVE_DEAD)
		return;
	/* The wakeup has put it there, and the event comes a moment later. */
	if (woken && l->state == LIVE_WOKEN && l->losses == b->n_losses)
		now_ns = l->open.wake_ns;
	cpus_place(b->tl->cpus, thread, now_ns, cpu);
}

void state_throttled(struct builder *b, uint32_t thread)
{
	struct live *l = &b->live[thread];

	if (l->state == LIVE_PREEMPTED && l->losses == b->n_losses)
		l->open.waker_at = 1;
}

void state_lost(struct builder *b, uint32_t cpu, uint64_t from_ns, uint64_t last_ns)
{
	uint64_t until_ns = last_ns < UINT64_MAX ? last_ns + 1 : last_ns;
	size_t from = cpu, to = (size_t)cpu + 1;

	XGROW(b->loss_ns, b->n_losses, b->cap_losses);
	if (b->n_losses == UINT32_MAX)
		out_of_memory();
	b->loss_ns[b->n_losses++] = from_ns;
	if (b->lossy_until_ns < until_ns)
		b->lossy_ns +=
			until_ns - (from_ns > b->lossy_until_ns ? from_ns : b->lossy_until_ns);
	if (b->lossy_until_ns < until_ns)
		b->lossy_until_ns = until_ns;
	if (cpu == EVENT_CPU_UNKNOWN) {
		from = 0;
		to = b->n_cpus;
		if (b->cpus_known_from_ns < until_ns)
			b->cpus_known_from_ns = until_ns;
	} else {
		state_cpu(b, cpu);
	}
	for (size_t i = from; i < to; i++) {
		struct cpu *c = &b->cpus[i];

		if (c->runs == CPU_THREAD)
			state_becomes_unknown(&b->live[c->thread], from_ns);
		cpus_missed(b->tl->cpus, (uint32_t)i, from_ns);
		if (c->runs != CPU_UNKNOWN)
			cpus_run(b->tl->cpus, (uint32_t)i, from_ns, THREAD_NONE);
		c->runs = CPU_UNKNOWN;
		if (c->known_from_ns < until_ns)
			c->known_from_ns = until_ns;
	}
}

void state_vanished(struct builder *b, uint32_t thread, uint64_t now_ns)
{
	struct live *l = &b->live[thread];

	if (l->state == LIVE_DEAD)
		return;
	state_settle(b, thread, now_ns);
	state_give_up(b, thread, now_ns);
	l->state = LIVE_DEAD;
	b->tl->threads[thread].end_ns = now_ns;
}

/*
 * Whether a thread slept before the first loss, and no event tells of it: it would have to have run
 * in the losses alone, which are a tenth of the time at most.
 */
static bool slept_throughout(const struct builder *b, const struct live *l)
{
	return l->fresh && !l->stirred && l->state == LIVE_ASLEEP && b->n_losses &&
	       state_snapshot_ns(b, l) <= b->loss_ns[0] &&
	       b->lossy_ns <= (b->tl->end_ns - b->tl->start_ns) / 10;
}

void state_end(struct builder *b, uint32_t thread)
{
	struct thread *th = &b->tl->threads[thread];
	struct live *l = &b->live[thread];
	uint64_t end_ns = b->tl->end_ns;

	if (l->state == LIVE_DEAD)
		return;
	if (slept_throughout(b, l)) {
		l->assumed = false;
		l->losses = (uint32_t)b->n_losses;
	}
	state_settle(b, thread, end_ns);
	th->end_ns = end_ns;
	switch (l->state) {
	case LIVE_ASLEEP:
	case LIVE_WOKEN:
	case LIVE_PREEMPTED:
		waits_finish(b, thread, end_ns, BY_TRACE_END);
		break;
	case LIVE_UNKNOWN:
		if (l->exiting)
			th->end_ns = l->since_ns; /* its last switch is missing */
		else
			waits_add_unknown(b, thread, l->since_ns, end_ns);
		break;
	default:
		break;
	}
}
