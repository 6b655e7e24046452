// SPDX-License-Identifier: GPL-2.0-or-later
/* Timed waits for a lock that are tried again (chain-semantics, section 14): asked try by try, of
 * all threads. */
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
 * The lock for which a life sleeps, to be freed: the name of the futex, of which the last digit is
 * that of the even one of the two words in its 8 bytes; NULL: it sleeps for something else.
 */
static char *lock_of(struct world *w, const struct sleep *s)
{
	const struct trace_object *object = trace_object(w->t, s->object);
	const char *name;
	size_t digits;
	char *lock;

	if (!object || strcmp(trace_string(w->t, object->class), "futex"))
		return NULL;
	name = trace_string(w->t, object->name);
	lock = strdup(name);
	if (!lock)
		abort();
	for (digits = 0;
	     digits < strlen(name) && strchr("0123456789abcdef", name[strlen(name) - 1 - digits]);)
		digits++;
	if (digits && digits + 2 <= strlen(name) &&
	    !strncmp(name + strlen(name) - digits - 2, "0x", 2)) {
		char *last = lock + strlen(lock) - 1;

		*last = "0123012389ab89ab"[strtoul(last, NULL, 16)];
	}
	return lock;
}

static bool lossy(struct world *w, uint64_t from, uint64_t to)
{
	size_t n;
	const struct trace_loss *losses = trace_losses(w->t, &n);

	for (size_t i = 0; i < n; i++)
		if (losses[i].first_ns <= to && losses[i].last_ns >= from)
			return true;
	return false;
}

/*
 * The piece with which the next sleep of a row begins, after that of one; NO_MORE; or it is
 * NOT_KNOWN whether there is any.
 */
static int next_in_row(struct world *w, const struct life *l, int piece)
{
	int sleep = l->pieces[piece].sleep, woke;
	uint64_t ran = 0;
	bool missed = false;
	char *lock;

	for (int i = piece + 1; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];

		if (p->what == RUNS) {
			ran += p->to - p->from;
			missed |= lossy(w, p->from, p->to);
		}
		if (p->what == DEAD || ran >= 1000000)
			return NO_MORE;
		if (p->what == UNKNOWN)
			return NOT_KNOWN;
		if ((p->what != SLEEPS && p->what != WOKEN) || p->sleep == sleep)
			continue;
		lock = lock_of(w, &l->sleeps[p->sleep]);
		free(lock);
		if (!lock)
			return NO_MORE;
		woke = wakes_any(w, l, sleep, p->sleep,
				 l->pieces[piece].what == SLEEPS ? l->pieces[piece].to
								 : l->pieces[piece].from,
				 p->from);
		if (missed && woke != NO_MORE)
			return NOT_KNOWN;
		return woke ? woke : i;
	}
	return NO_MORE;
}

/* When a sleep that begins with this piece is over, and its thread runs again. */
static uint64_t over(const struct life *l, int piece)
{
	const struct piece *p = &l->pieces[piece];

	return piece + 1 < l->n_pieces && p[1].what == WOKEN && p[1].sleep == p->sleep ? p[1].to
										       : p->to;
}

/* A waking, as far as it is known, that ended the sleep that begins with a piece. */
struct release {
	uint64_t ns;
	const struct life *life;
	const struct sleep *ended;
};

static bool is_sooner(const struct release *a, const struct release *b)
{
	if (!b->ended || a->ns != b->ns)
		return !b->ended || a->ns < b->ns;
	return a->life->tid != b->life->tid ? a->life->tid < b->life->tid
					    : a->life->begin < b->life->begin;
}

/*
 * The first waking in [from, to) that ended a sleep of a life at the lock; also one at to, if that
 * ended the sleep.
 */
static void first_release(struct world *w, const struct life *l, const char *lock, uint64_t from,
			  uint64_t to, const struct sleep *last, struct release *first)
{
	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		struct release r = { p->to, l, NULL };
		char *at;

		r.ended = p->what == SLEEPS ? &l->sleeps[p->sleep] : NULL;
		if (!r.ended || p->to < from || p->to > to || (p->to == to && r.ended != last))
			continue;
		if (r.ended->never || r.ended->waker == IDLE ||
		    (r.ended->waker != NOBODY && oracle_interrupt_frames(w, r.ended)))
			continue;
		at = lock_of(w, r.ended);
		if (at && !strcmp(at, lock) && is_sooner(&r, first))
			*first = r;
		free(at);
	}
}

/* Whether a life was heard of again in [from, to], for the first time since events were lost. */
static bool heard_again(struct world *w, const struct life *l, uint64_t from, uint64_t to)
{
	uint64_t since = 0;
	bool unknown = false;

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];

		if (p->what == UNKNOWN && !unknown)
			since = p->from;
		else if (p->what != UNKNOWN && p->what != DEAD && unknown && p->from >= from &&
			 p->from <= to && lossy(w, since, p->from))
			return true;
		unknown = p->what == UNKNOWN;
	}
	return false;
}

/* What is to be said of the try that begins with this piece; NULL: that its own end explains it. */
static const struct sleep *explained_by(struct world *w, const struct life *l, int piece)
{
	static const struct sleep unknown = { .waker = NOBODY };
	struct release first = { 0 };
	char *lock = lock_of(w, &l->sleeps[l->pieces[piece].sleep]);
	const struct piece *p = &l->pieces[piece];
	uint64_t from = p->what == SLEEPS ? p->to : p->from;
	int last = piece, next;
	bool hidden = false;

	if (!lock || !*lock || (p->what == SLEEPS && p->to - p->from >= 20000000) ||
	    !by_timer(w, &l->sleeps[p->sleep])) {
		free(lock);
		return NULL;
	}
	while ((next = next_in_row(w, l, last)) >= 0)
		last = next;
	for (int i = 0; i < w->n_lives; i++)
		first_release(w, &w->lives[i], lock, from, over(l, last),
			      &l->sleeps[l->pieces[last].sleep], &first);
	for (int i = 0; i < w->n_lives; i++)
		if (heard_again(w, &w->lives[i], from, first.ended ? first.ns : over(l, last)))
			hidden = true;
	free(lock);
	if (hidden || (first.ended ? first.ended->waker == NOBODY : next == NOT_KNOWN))
		return &unknown;
	return first.ended;
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
