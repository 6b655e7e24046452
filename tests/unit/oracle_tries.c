// SPDX-License-Identifier: GPL-2.0-or-later
/* Timed waits for a lock that are tried again (chain-semantics, section 14): asked try by try. */
#include <string.h>

#include "oracle_private.h"

static bool by_timer(struct world *w, const struct sleep *s)
{
	uint32_t irq = s->never || s->waker == NOBODY ? 0 : oracle_interrupt_frames(w, s);

	return irq && !strcmp(oracle_said_by(w, s, irq - 1), "timer");
}

enum { NO_MORE = -1, NOT_KNOWN = -2 };

/*
 * NO_MORE if a life itself woke anybody in that time, between two of its sleeps; NOT_KNOWN if
 * wakings are noted, but none that ended somebody's wait, so that there is no stack; else 0.
 */
static int wakes_any(struct world *w, const struct life *l, int sleep, int next, uint64_t from,
		     uint64_t to)
{
	int interrupts = 0;
	bool noted = false;

	for (int k = sleep; k < next; k++)
		noted |= l->sleeps[k].then_woke;
	for (int i = 0; i < w->n_lives && noted; i++)
		for (int k = 0; k < w->lives[i].n_pieces; k++) {
			const struct piece *p = &w->lives[i].pieces[k];
			uint64_t at = p->what == SLEEPS ? p->to : p->from;
			const struct sleep *s;

			if (p->what != SLEEPS && p->what != WOKEN)
				continue;
			s = &w->lives[i].sleeps[p->sleep];
			if (s->waker < 0 || &w->lives[s->waker] != l || s->never || at < from ||
			    at > to)
				continue;
			if (!oracle_interrupt_frames(w, s))
				return NO_MORE;
			interrupts++;
		}
	return noted && !interrupts ? NOT_KNOWN : 0;
}

/*
 * The piece with which the next try begins, after that of one; NO_MORE; or it is NOT_KNOWN whether
 * there is any.
 */
static int next_try(struct world *w, const struct life *l, int piece)
{
	int sleep = l->pieces[piece].sleep;
	const struct sleep *s = &l->sleeps[sleep];
	const struct trace_object *object = trace_object(w->t, s->object);
	uint64_t ran = 0;

	if (!object || strcmp(trace_string(w->t, object->class), "futex") || !by_timer(w, s))
		return NO_MORE;
	for (int i = piece + 1; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		const struct sleep *next;
		int woke;

		if (p->what == RUNS)
			ran += p->to - p->from;
		if (p->what == DEAD || ran >= 1000000)
			return NO_MORE;
		if (p->what == UNKNOWN)
			return NOT_KNOWN;
		if ((p->what != SLEEPS && p->what != WOKEN) || p->sleep == sleep)
			continue;
		next = &l->sleeps[p->sleep];
		if (next->kstack != s->kstack || next->ustack != s->ustack ||
		    next->object != s->object || next->ready != s->ready)
			return NO_MORE;
		woke = wakes_any(w, l, sleep, p->sleep,
				 l->pieces[piece].what == SLEEPS ? l->pieces[piece].to
								 : l->pieces[piece].from,
				 p->from);
		return woke ? woke : i;
	}
	return NO_MORE;
}

/* What is to be said of the try that begins with this piece; NULL: that its own end explains it. */
static const struct sleep *explained_by(struct world *w, const struct life *l, int piece)
{
	static const struct sleep unknown = { .waker = NOBODY };
	int last = piece, next;
	const struct sleep *s;

	while ((next = next_try(w, l, last)) >= 0)
		last = next;
	s = &l->sleeps[l->pieces[last].sleep];
	if (next == NOT_KNOWN)
		return &unknown;
	if (last == piece || s->never)
		return NULL;
	if (s->waker == NOBODY)
		return &unknown;
	if (l->pieces[last].what != SLEEPS)
		return NULL;
	return s->waker != IDLE && !oracle_interrupt_frames(w, s) ? s : NULL;
}

void oracle_join_tries(struct world *w)
{
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];

		for (int k = 0; k < l->n_pieces; k++) {
			const struct piece *p = &l->pieces[k];
			bool goes_on = k && (p[-1].what == SLEEPS || p[-1].what == WOKEN) &&
				       p[-1].sleep == p->sleep;

			if ((p->what == SLEEPS || p->what == WOKEN) && !goes_on)
				l->sleeps[p->sleep].ended_by = explained_by(w, l, k);
		}
	}
	for (int i = 0; i < w->n_lives; i++)
		for (int k = 0; k < w->lives[i].n_sleeps; k++) {
			struct sleep *s = &w->lives[i].sleeps[k];

			if (!s->ended_by)
				continue;
			s->waker = s->ended_by->waker;
			s->acted_ns = s->ended_by->woken_ns;
			s->waker_kstack = s->ended_by->waker_kstack;
			s->waker_ustack = s->ended_by->waker_ustack;
		}
}
