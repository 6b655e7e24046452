// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "timeline_private.h"

const struct wait_flag_name wait_flag_names[] = {
	{ WAIT_EARLY, "early" },
	{ WAIT_NOT_WOKEN, "not_woken" },
	{ WAIT_NO_WAKING, "no_waking" },
	{ WAIT_SINCE_START, "since_start" },
	{ WAIT_NEW, "new" },
	{ WAIT_UNFINISHED, "still" },
	{ 0, NULL },
};

static void thread_free(struct thread *th)
{
	free(th->waits);
	free(th->process_end);
	if (th->work) {
		free(th->work->recorded);
		free(th->work->assumed);
	}
	free(th->work);
}

void timelines_free(struct timelines *tl)
{
	if (!tl)
		return;
	for (size_t i = 0; i < tl->n_threads; i++)
		thread_free(&tl->threads[i]);
	free(tl->threads);
	free(tl->first_rename);
	free(tl->renames);
	pairs_free(&tl->pairs);
	free(tl->samples.at);
	free(tl->samples.first);
	disk_requests_free(&tl->disk_requests);
	free(tl->lock_holders.at);
	free(tl->streams.at);
	free(tl->throttles.at);
	free(tl->tcp_timers);
	free(tl->work.at);
	free(tl->work.losses);
	remote_answers_free(tl->remote);
	groups_free(&tl->groups);
	requests_free(&tl->requests);
	cpus_free(tl->cpus);
	free(tl->stalls.at);
	free(tl->untraced.next);
	free(tl->later);
	for (size_t i = 0; i < tl->n_assumed; i++)
		free(tl->assumed[i]);
	free(tl->assumed);
	stolen_time_free(tl->interrupts);
	stolen_time_free(tl->steal);
	free(tl);
}

uint32_t timelines_name(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = &tl->threads[thread];
	const struct rename *r = tl->renames + tl->first_rename[thread];
	size_t done = LOWER_BOUND(i, th->renames, r[i].at_ns <= at_ns);

	return done ? r[done - 1].name : th->name;
}

uint64_t timelines_next_name_ns(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = &tl->threads[thread];
	const struct rename *r = tl->renames + tl->first_rename[thread];
	size_t done = LOWER_BOUND(i, th->renames, r[i].at_ns <= at_ns);

	return done < th->renames ? r[done].at_ns : UINT64_MAX;
}

/* The thread itself, or of a client one of the server's. */
static uint32_t grouped_thread(const struct timelines *tl, uint32_t thread)
{
	return timelines_is_client(tl, thread) ? tl->threads[thread].parent : thread;
}

uint32_t timelines_group_until(const struct timelines *tl, uint32_t thread, uint64_t at_ns,
			       uint64_t *until_ns)
{
	const struct thread *th;

	thread = grouped_thread(tl, thread);
	*until_ns = UINT64_MAX;
	if (thread >= tl->n_threads)
		return 0;
	th = &tl->threads[thread];
	return groups_at(&tl->groups, thread, th->tgid, th->begin_ns, at_ns, until_ns);
}

uint32_t timelines_group(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	uint64_t until_ns;

	return timelines_group_until(tl, thread, at_ns, &until_ns);
}

bool timelines_any_group(const struct timelines *tl, uint32_t thread,
			 bool (*fn)(void *ctx, uint32_t path), void *ctx)
{
	const struct thread *th;

	thread = grouped_thread(tl, thread);
	if (thread >= tl->n_threads)
		return false;
	th = &tl->threads[thread];
	return groups_any(&tl->groups, thread, th->tgid, th->begin_ns, th->end_ns, fn, ctx);
}

struct stack_pair timelines_pair_of_object(const struct timelines *tl, uint32_t pair)
{
	const struct pair *p = &tl->pairs.at[pair];
	struct stack_pair stacks = { 0 };

	/* The outer one of two objects is what is ready. */
	while (p->a & TRACE_PAIR_OBJECT) {
		if ((p->a & TRACE_PAIR_REQUEST) == TRACE_PAIR_REQUEST) {
			stacks.request = p->a & ~TRACE_PAIR_REQUEST;
		} else if (p->a == TRACE_PAIR_NOT_SENT) {
			stacks.not_sent = true;
		} else {
			stacks.ready = stacks.object;
			stacks.object = p->a & ~TRACE_PAIR_OBJECT;
		}
		if (!p->b)
			return stacks;
		pair = p->b;
		p = &tl->pairs.at[pair];
	}
	timelines_add_stacks(tl, pair, &stacks);
	return stacks;
}

uint32_t thread_position(const struct thread *th, uint64_t at_ns)
{
	return (uint32_t)LOWER_BOUND(i, th->n_waits, th->waits[i].in_ns <= at_ns);
}

void timelines_go_on(struct timelines *tl, uint32_t thread, uint32_t sleep,
		     const struct wait *ended)
{
	struct wait *w = &tl->threads[thread].waits[sleep];

	XAPPEND(tl->later, tl->n_later, tl->cap_later) = (struct later_waking) { w, ended };
	w->waker = ended->waker;
	w->waker_stack = ended->waker_stack;
	w->flags &= WAIT_FLAGS & ~WAIT_WAKER_RAN;
	w->goes_on = 1;
	w->waker_at = WAIT_WAKER_MAX;
}

const struct wait *timelines_assume(struct timelines *tl, const struct wait *last, uint32_t waker,
				    uint32_t pair, uint64_t at_ns)
{
	struct wait *w = xmalloc(sizeof(*w));

	*w = *last;
	w->wake_ns = at_ns;
	w->in_ns = at_ns > w->in_ns ? at_ns : w->in_ns;
	w->flags &= WAIT_FLAGS & ~WAIT_WAKER_RAN;
	w->waker = waker & THREAD_NONE;
	w->waker_stack = timelines_plain_pair(tl, pair);
	w->waker_at = WAIT_WAKER_MAX;
	XAPPEND(tl->assumed, tl->n_assumed, tl->cap_assumed) = w;
	return w;
}

/* The first one of the two. */
static struct wait first_part(struct wait w, const struct sleep_part *part)
{
	w.wake_ns = w.in_ns = part->at_ns;
	w.waker = part->waker & THREAD_NONE;
	w.waker_stack = 0;
	w.flags &= WAIT_SINCE_START;
	w.waker_at = WAIT_WAKER_MAX;
	return w;
}

/* Pointers to the waits of a thread, which have moved: those behind the parts even further. */
static void move_later(const struct wait **at, const struct thread *before,
		       const struct thread *now, const struct sleep_part *parts, size_t n)
{
	size_t i = (size_t)(*at - before->waits);

	if (*at < before->waits || i >= before->n_waits)
		return;
	*at = now->waits + i + LOWER_BOUND(k, n, parts[k].sleep < i);
}

static void part_thread(struct timelines *tl, const struct sleep_part *parts, size_t n)
{
	struct thread *th = &tl->threads[parts->thread], before = *th;
	size_t part = 0;

	th->waits = xmalloc((before.n_waits + n) * sizeof(*th->waits));
	th->n_waits = 0;
	for (uint32_t i = 0; i < before.n_waits; i++) {
		struct wait *w = &th->waits[th->n_waits++];

		*w = before.waits[i];
		if (part == n || parts[part].sleep != i)
			continue;
		w[1] = *w;
		w[1].out_ns = parts[part].at_ns;
		w[1].flags &= WAIT_FLAGS & ~WAIT_SINCE_START;
		w[1].woke_before = 0;
		*w = first_part(*w, &parts[part++]);
		th->n_waits++;
	}
	for (size_t i = 0; i < tl->n_later; i++) {
		move_later(&tl->later[i].sleep, &before, th, parts, n);
		move_later(&tl->later[i].ended, &before, th, parts, n);
	}
	free(before.waits);
}

/* Where such a thread was when it woke others is looked for. */
static void forget_position(struct wait *w, const bool *parted)
{
	if (w->kind == WAIT_SLEEP && w->waker < THREAD_IDLE && parted[w->waker] &&
	    !(w->flags & WAIT_WAKER_RAN))
		w->waker_at = WAIT_WAKER_MAX;
}

static void forget_positions(struct timelines *tl, const bool *parted)
{
	for (size_t i = 0; i < tl->n_threads; i++) {
		struct thread *th = &tl->threads[i];

		for (uint32_t k = 0; k < th->n_waits; k++)
			forget_position(&th->waits[k], parted);
		if (th->process_end)
			forget_position(th->process_end, parted);
		for (uint32_t k = 0; th->work && k < th->work->n_recorded; k++)
			forget_position(&th->work->recorded[k].asked, parted);
		for (uint32_t k = 0; th->work && k < th->work->n_assumed; k++)
			forget_position(&th->work->assumed[k].asked, parted);
	}
}

void timelines_part(struct timelines *tl, const struct sleep_part *parts, size_t n)
{
	bool *parted = xcalloc(tl->n_threads, sizeof(*parted));

	for (size_t from = 0, to = 0; from < n; from = to) {
		while (to < n && parts[to].thread == parts[from].thread)
			to++;
		part_thread(tl, parts + from, to - from);
		parted[parts[from].thread] = true;
	}
	forget_positions(tl, parted);
	free(parted);
}

static int by_address(const void *pa, const void *pb)
{
	const struct later_waking *a = pa, *b = pb;

	return (a->sleep > b->sleep) - (a->sleep < b->sleep);
}

void timelines_sort_later(struct timelines *tl)
{
	if (tl->n_later)
		qsort(tl->later, tl->n_later, sizeof(*tl->later), by_address);
}

const struct wait *timelines_ended(const struct timelines *tl, const struct wait *w)
{
	size_t i;

	if (!w->goes_on)
		return w;
	i = LOWER_BOUND(k, tl->n_later, tl->later[k].sleep < w);
	return i < tl->n_later && tl->later[i].sleep == w ? tl->later[i].ended : w;
}

void timelines_kill(struct timelines *tl, uint32_t thread, uint32_t sleep, bool with_process)
{
	struct thread *th = &tl->threads[thread];

	if (with_process && !th->process_end) {
		th->process_end = xmalloc(sizeof(*th->process_end));
		*th->process_end = th->waits[sleep];
		/* It explains windows that began before that sleep. */
		if (th->process_end->flags & WAIT_WAKER_RAN)
			th->process_end->waker_at = WAIT_WAKER_MAX;
		th->process_end->flags &= WAIT_FLAGS & ~WAIT_WAKER_RAN;
	}
	th->waits[sleep].flags |= WAIT_NOT_WOKEN;
}

void timelines_woke_before(struct timelines *tl, uint32_t thread, uint32_t sleep, bool woke)
{
	tl->threads[thread].waits[sleep].woke_before = woke;
}

void timelines_forget_waker(struct timelines *tl, uint32_t thread, uint32_t sleep)
{
	struct wait *w = &tl->threads[thread].waits[sleep];

	w->waker = THREAD_NONE;
	w->waker_stack = 0;
	w->waker_at = 0;
	w->flags &= WAIT_FLAGS & ~WAIT_WAKER_RAN;
}

struct thread_sums thread_sums(const struct thread *th, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = clip_ns(from_ns, th->begin_ns, th->end_ns);
	uint64_t to = clip_ns(to_ns, from, th->end_ns);
	struct thread_sums s = { .lifetime_ns = to - from };

	for (uint32_t i = thread_position(th, from); i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t out = clip_ns(w->out_ns, from, to), in = clip_ns(w->in_ns, from, to);
		uint64_t wake = clip_ns(w->wake_ns, from, to);

		if (w->out_ns >= to)
			break;
		switch (w->kind) {
		case WAIT_SLEEP:
			s.blocked_ns += wake - out;
			s.runnable_ns += in - wake;
			break;
		case WAIT_PREEMPTED:
			s.preempted_ns += in - out;
			break;
		default:
			s.unknown_ns += in - out;
		}
	}
	s.running_ns = s.lifetime_ns - s.blocked_ns - s.runnable_ns - s.preempted_ns - s.unknown_ns;
	return s;
}
