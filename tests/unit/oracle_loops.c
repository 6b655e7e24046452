// SPDX-License-Identifier: GPL-2.0-or-later
/* Sleeps in event loops that other requests ended (chain-semantics, section 14). */
#include <string.h>

#include "oracle_private.h"

/* The request that life answers at that time; SIZE_MAX: none, or several. */
static size_t answers_at(struct world *w, int life, uint64_t at)
{
	size_t found = SIZE_MAX;
	struct asked_for a;

	if (at <= w->requests_bad_until)
		return SIZE_MAX;
	for (size_t i = 0; i < w->n_told; i++) {
		if (!request_asked(w, i, &a) || !a.answered || a.probed || a.writer != life ||
		    a.taken >= at || a.answer < at)
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

/*
 * The request that life answers when it wakes somebody at that time, or had answered, and has been
 * running since.
 */
static size_t answered_at(struct world *w, int life, uint64_t at)
{
	const struct life *l = &w->lives[life];
	size_t found = answers_at(w, life, at);
	uint64_t last = 0;
	struct asked_for a;

	if (found != SIZE_MAX)
		return found;
	for (size_t i = 0; i < w->n_told; i++) {
		bool ran = true;

		if (!request_asked(w, i, &a) || a.answer >= at || a.answer < last ||
		    answers_at(w, life, a.answer) != i)
			continue;
		for (int p = 0; p < l->n_pieces; p++)
			ran &= l->pieces[p].what == RUNS || l->pieces[p].to <= a.answer ||
			       l->pieces[p].from >= at;
		if (!ran)
			continue;
		last = a.answer;
		found = i;
	}
	return found;
}

/* Whether a sleep begins with this piece that is in an event loop and over before that time. */
static bool in_loop(struct world *w, const struct life *l, int piece, uint64_t before)
{
	static const char *const classes[] = { "epoll", "poll", "select", "io_uring" };
	const struct piece *p = &l->pieces[piece];
	const struct trace_object *object;
	uint64_t end = p->to;

	if (p->what != SLEEPS && p->what != WOKEN)
		return false;
	if (piece && (p[-1].what == SLEEPS || p[-1].what == WOKEN) && p[-1].sleep == p->sleep)
		return false;
	if (piece + 1 < l->n_pieces && p[1].what == WOKEN && p[1].sleep == p->sleep)
		end = p[1].to;
	object = trace_object(w->t, l->sleeps[p->sleep].object);
	for (size_t i = 0; object && end <= before && i < sizeof(classes) / sizeof(*classes); i++)
		if (!strcmp(trace_string(w->t, object->class), classes[i]))
			return true;
	return false;
}

/* Whether any request but that one came to life in [from, to]. */
static bool other_came(struct world *w, int life, size_t request, uint64_t from, uint64_t to)
{
	struct asked_for a;

	for (size_t i = 0; i < w->n_told; i++)
		if (i != request && request_asked(w, i, &a) && !a.probed && a.reader == life &&
		    a.arrival >= from && a.arrival <= to)
			return true;
	return false;
}

static bool by_timer(struct world *w, const struct sleep *s)
{
	uint32_t irq = s->never || s->waker == NOBODY ? 0 : oracle_interrupt_frames(w, s);

	return irq && !strcmp(oracle_said_by(w, s, irq - 1), "timer");
}

/*
 * Whether life's timer ended the sleep of a piece for nothing: it slept again at once, in the piece
 * `next`, woke nobody before, and somebody ended what that goes on in.
 */
static bool timer_for_nothing(struct world *w, const struct life *l, int piece, int next,
			      const struct sleep *then)
{
	int sleep = l->pieces[piece].sleep;
	uint64_t ran = 0;

	for (int i = piece + 1; i < next; i++) {
		const struct piece *p = &l->pieces[i];

		if (p->what == RUNS)
			ran += p->to - p->from;
		else if (p->what == UNKNOWN ||
			 ((p->what == SLEEPS || p->what == WOKEN) && p->sleep != sleep))
			return false;
	}
	if (oracle_wakes_any(w, l, sleep, l->pieces[next].sleep, l->sleeps[sleep].woken_ns,
			     l->pieces[next].from, false))
		return false;
	return ran < 1000000 && by_timer(w, &l->sleeps[sleep]) && !then->never &&
	       then->waker >= 0 && !oracle_interrupt_frames(w, then);
}

/* In which sleep one goes on, and whether life waited in that for the request that it answers. */
struct goes_on {
	const struct sleep *sleep;
	uint64_t end;
	bool for_it;
};

/* When what was answered by who ended that sleep had arrived; UINT64_MAX: not known. */
static uint64_t asked_at(struct world *w, const struct goes_on *g)
{
	struct asked_for a;
	size_t request;

	if (!g->for_it || g->sleep->never || g->sleep->waker < 0 ||
	    oracle_interrupt_frames(w, g->sleep))
		return UINT64_MAX;
	request = answered_at(w, g->sleep->waker, g->end);
	return request != SIZE_MAX && request_asked(w, request, &a) ? a.arrival : UINT64_MAX;
}

/* Of the sleep that begins with that piece, if it is over by `at`, when life answers the request.
 */
static struct goes_on goes_on_in(struct world *w, int life, size_t request, int piece, uint64_t at)
{
	const struct life *l = &w->lives[life];
	const struct piece *p = &l->pieces[piece];
	struct goes_on own = { &l->sleeps[p->sleep], p->what == SLEEPS ? p->to : p->from, true };

	for (int i = piece + 1; i < l->n_pieces; i++)
		if (in_loop(w, l, i, at)) {
			struct goes_on then = goes_on_in(w, life, request, i, at);
			uint64_t asked = asked_at(w, &then);

			if (asked <= own.end || other_came(w, life, request, p->from, own.end) ||
			    timer_for_nothing(w, l, piece, i, then.sleep))
				return then;
			own.for_it = asked <= l->pieces[i].from;
			break;
		}
	return own;
}

const struct sleep *oracle_goes_on_in(struct world *w, int life, const struct sleep *woke,
				      int piece)
{
	const struct life *l = &w->lives[life];
	uint64_t at = woke->acted_ns ? woke->acted_ns : woke->woken_ns;
	size_t request = woke->of_client ? woke->answers : answered_at(w, life, at);
	struct asked_for a;

	if (request == SIZE_MAX || !request_asked(w, request, &a) ||
	    l->pieces[piece].from < a.taken || !in_loop(w, l, piece, at))
		return &l->sleeps[l->pieces[piece].sleep];
	return goes_on_in(w, life, request, piece, at).sleep;
}
