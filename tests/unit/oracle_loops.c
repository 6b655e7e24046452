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

/* Whether a sleep begins with that piece. */
static bool falls_asleep(const struct life *l, int piece)
{
	const struct piece *p = &l->pieces[piece];

	return (p->what == SLEEPS || p->what == WOKEN) &&
	       !(piece && (p[-1].what == SLEEPS || p[-1].what == WOKEN) && p[-1].sleep == p->sleep);
}

static uint64_t over_at(const struct piece *p)
{
	return p->what == SLEEPS ? p->to : p->from;
}

/* Whether a sleep begins with this piece that is in an event loop and over before that time. */
static bool in_loop(struct world *w, const struct life *l, int piece, uint64_t before)
{
	static const char *const classes[] = { "epoll", "poll", "select", "io_uring" };
	const struct piece *p = &l->pieces[piece];
	const struct trace_object *object;
	uint64_t end = p->to;

	if (!falls_asleep(l, piece))
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

static bool runs_at(const struct life *l, uint64_t at)
{
	for (int i = 0; i < l->n_pieces; i++)
		if (l->pieces[i].what == RUNS && l->pieces[i].from <= at && at <= l->pieces[i].to)
			return true;
	return false;
}

/*
 * The request of another life that is the one that life passed on: it came before life slept, and
 * was answered when the sleep of that piece was over, up to a time, or by who ended it.
 */
static size_t passed_on(struct world *w, int life, size_t request, int piece, uint64_t to)
{
	const struct life *l = &w->lives[life];
	const struct piece *p = &l->pieces[piece];
	const struct sleep *s = &l->sleeps[p->sleep];
	int waker = s->never || oracle_interrupt_frames(w, s) ? NOBODY : s->waker;
	uint64_t slept = 0, after = 0;
	size_t before = SIZE_MAX;
	struct asked_for own, a;

	request_asked(w, request, &own);
	for (int i = 0; i < l->n_pieces && !slept; i++)
		if (falls_asleep(l, i) && l->pieces[i].from >= own.taken)
			slept = l->pieces[i].from;
	/* The next one to come, 64 times. */
	for (int i = 0; i < 64; i++) {
		size_t next = SIZE_MAX;
		uint64_t came = 0;

		for (size_t k = 0; k < w->n_told; k++)
			if (request_asked(w, k, &a) && a.known && !a.probed && a.writer != NOBODY &&
			    a.arrival >= own.taken && a.arrival <= slept && a.arrival < a.answer &&
			    (before == SIZE_MAX || a.arrival > after ||
			     (a.arrival == after && k > before)) &&
			    (next == SIZE_MAX || a.arrival < came)) {
				next = k;
				came = a.arrival;
			}
		if (next == SIZE_MAX)
			return SIZE_MAX;
		request_asked(w, next, &a);
		if (next != request && a.writer != life && a.answer <= to &&
		    a.answer >= (a.writer == waker ? p->from : over_at(p)) &&
		    runs_at(&w->lives[a.writer], a.answer))
			return next;
		before = next;
		after = came;
	}
	return SIZE_MAX;
}

/* In which sleep one goes on, and since when the answer that ended that was asked for. */
struct goes_on {
	struct sleep sleep;
	uint64_t asked; /* UINT64_MAX: not known */
	bool passed_on; /* the request was, and that is how this is known */
};

/* When what was answered by who ended that sleep, at that time, had arrived; UINT64_MAX: not known.
 */
static uint64_t asked_at(struct world *w, size_t request, const struct sleep *s, uint64_t end)
{
	struct asked_for own, a;
	size_t answered;

	if (s->never || s->waker < 0 || oracle_interrupt_frames(w, s))
		return UINT64_MAX;
	answered = answered_at(w, s->waker, end);
	request_asked(w, request, &own);
	return answered != SIZE_MAX && request_asked(w, answered, &a) && a.arrival >= own.taken
		       ? a.arrival
		       : UINT64_MAX;
}

/* Up to the answer of what the request was passed on for, or of that sleep itself. */
static struct goes_on until_answered(struct world *w, const struct sleep *own, size_t passed)
{
	const struct event *ev = &w->told[passed].ev;
	struct goes_on g = { *own, 0, true };
	struct asked_for a;

	request_asked(w, passed, &a);
	g.asked = a.arrival;
	if (own->never || own->waker != a.writer || oracle_interrupt_frames(w, own))
		g.sleep = (struct sleep) { .waker = a.writer,
					   .waker_kstack = ev->kstack,
					   .waker_ustack = ev->ustack,
					   .out_ns = a.arrival,
					   .woken_ns = a.answer,
					   .passed_on = true,
					   .answers = passed };
	return g;
}

/* Of the sleep that begins with that piece; over by `at`, when life answers the request. */
static struct goes_on goes_on_in(struct world *w, int life, size_t request, int piece, uint64_t at)
{
	const struct life *l = &w->lives[life];
	const struct piece *p = &l->pieces[piece];
	struct goes_on own = { l->sleeps[p->sleep], UINT64_MAX, false }, then;
	uint64_t end = over_at(p);
	size_t passed;
	int next = piece + 1;

	while (next < l->n_pieces && !in_loop(w, l, next, at))
		next++;
	if (next == l->n_pieces) {
		passed = passed_on(w, life, request, piece, at - 1);
		if (passed != SIZE_MAX)
			return until_answered(w, &own.sleep, passed);
		own.asked = asked_at(w, request, &own.sleep, end);
		return own;
	}
	then = goes_on_in(w, life, request, next, at);
	passed = then.passed_on ? SIZE_MAX
				: passed_on(w, life, request, piece, l->pieces[next].from);
	if (passed != SIZE_MAX)
		return until_answered(w, &own.sleep, passed);
	if (then.asked <= end || other_came(w, life, request, p->from, end) ||
	    timer_for_nothing(w, l, piece, next, &then.sleep))
		return then;
	if (then.asked <= l->pieces[next].from)
		own.asked = asked_at(w, request, &own.sleep, end);
	return own;
}

struct sleep oracle_goes_on_in(struct world *w, int life, const struct sleep *woke, int piece)
{
	const struct life *l = &w->lives[life];
	uint64_t at = woke->acted_ns ? woke->acted_ns : woke->woken_ns;
	size_t request =
		woke->of_client || woke->passed_on ? woke->answers : answered_at(w, life, at);
	struct asked_for a;

	if (request == SIZE_MAX || !request_asked(w, request, &a) ||
	    l->pieces[piece].from < a.taken || !in_loop(w, l, piece, at))
		return l->sleeps[l->pieces[piece].sleep];
	return goes_on_in(w, life, request, piece, at).sleep;
}
