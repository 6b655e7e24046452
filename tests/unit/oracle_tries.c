// SPDX-License-Identifier: GPL-2.0-or-later
/* Timed waits for a lock that are tried again (chain-semantics, section 14): asked try by try, of
 * all threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_private.h"

static bool by_timer(struct world *w, const struct sleep *s)
{
	uint32_t irq = s->never || s->waker == NOBODY ? 0 : oracle_interrupt_frames(w, s);

	return irq && !strcmp(oracle_said_by(w, s, irq - 1), "timer");
}

static bool is_gil(struct world *w, const struct sleep *s)
{
	const struct trace_object *object = trace_object(w->t, s->object);

	return object && !strcmp(trace_string(w->t, object->class), "GIL");
}

static bool is_of_file(struct world *w, const struct sleep *s)
{
	const struct trace_object *object = trace_object(w->t, s->object);

	return object && !strcmp(trace_string(w->t, object->class), "file_lock");
}

/* Whether its user stack shows that a word that names a thread means the lock's holder. */
static bool word_counts(struct world *w, const struct sleep *s)
{
	struct trace_stack st = trace_stack(w->t, s->ustack);

	if (is_gil(w, s) || is_of_file(w, s))
		return true;
	for (uint32_t i = 0; i < st.n && i < 8; i++) {
		const struct trace_frame *f = trace_frame(w->t, st.frames[i]);
		const char *name = f && !f->unnamed ? trace_string(w->t, f->symbol) : "";

		while (*name == '_' || !strncmp(name, "GI_", 3))
			name += *name == '_' ? 1 : 3;
		if (!strncmp(name, "pthread_mutex_", 14) || !strncmp(name, "pthread_rwlock_", 15) ||
		    !strncmp(name, "mtx_", 4))
			return true;
		if (*name && strcmp(name, "lll_lock_wait") && strncmp(name, "lll_mutex_lock", 14) &&
		    strncmp(name, "futex_", 6))
			return false;
	}
	return false;
}

/* Whether it is known, of the lock for which a life went to sleep, who had it then. */
static bool is_named(struct world *w, const struct sleep *s)
{
	const struct trace_object *object = trace_object(w->t, s->object);

	return object && (is_gil(w, s) ||
			  (object->peer && !strcmp(trace_string(w->t, object->class), "futex")) ||
			  (s->held_by && word_counts(w, s)));
}

enum { NO_MORE = -1, NOT_KNOWN = -2 };

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

	if (is_gil(w, s)) {
		if (!object->peer)
			return strdup("");
		if (asprintf(&lock, "the GIL of %u", object->peer) < 0)
			abort();
		return lock;
	}
	if (!object || (strcmp(trace_string(w->t, object->class), "futex") && !is_of_file(w, s)))
		return NULL;
	name = trace_string(w->t, object->name);
	lock = strdup(name);
	if (!lock)
		abort();
	if (*name && is_of_file(w, s)) {
		free(lock);
		if (asprintf(&lock, "file %s in %u/%llu", name, object->device,
			     (unsigned long long)object->inode) < 0)
			abort();
		return lock;
	}
	for (digits = 0;
	     digits < strlen(name) && strchr("0123456789abcdef", name[strlen(name) - 1 - digits]);)
		digits++;
	if (digits && digits + 2 <= strlen(name) &&
	    !strncmp(name + strlen(name) - digits - 2, "0x", 2)) {
		char *last = lock + strlen(lock) - 1;

		*last = "0123012389ab89ab"[strtoul(last, NULL, 16)];
	}
	/* The same place in another file is another lock. */
	if (object->inode) {
		char *of_file;

		if (asprintf(&of_file, "%s in %u/%llu", lock, object->device,
			     (unsigned long long)object->inode) < 0)
			abort();
		free(lock);
		lock = of_file;
	}
	return lock;
}

static bool is_lock(struct world *w, const struct sleep *s)
{
	char *lock = lock_of(w, s);

	free(lock);
	return lock;
}

/*
 * NO_MORE if a life itself woke anybody in that time, between two of its sleeps; NOT_KNOWN if
 * wakings are noted, but none that ended somebody's wait, so that there is no stack; else 0.
 * hands_on: but for those to whom it let a lock.
 */
int oracle_wakes_any(struct world *w, const struct life *l, int sleep, int next, uint64_t from,
		     uint64_t to, bool hands_on)
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
			if (s->early && !s->ended_by)
				at = s->early - 1;
			if (s->waker < 0 || &w->lives[s->waker] != l || at < from || at > to)
				continue;
			if (!oracle_interrupt_frames(w, s) &&
			    !(hands_on && s->woken_ns > s->out_ns && s->out_ns >= from &&
			      is_lock(w, s) && is_named(w, s)))
				return NO_MORE;
			interrupts++;
		}
	for (size_t i = 0; i < w->n_executed && noted; i++) {
		struct sleep asked;

		if (!oracle_queued(w, i, &asked) || asked.waker < 0 ||
		    &w->lives[asked.waker] != l || asked.woken_ns < from || asked.woken_ns > to)
			continue;
		if (!oracle_interrupt_frames(w, &asked))
			return NO_MORE;
	}
	return noted && !interrupts ? NOT_KNOWN : 0;
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

/* How long a life may run after a sleep, in its first piece, before it tries again. */
static uint64_t may_run(const struct piece *p)
{
	return p->what == SLEEPS && p->to - p->from >= 20000000 ? 3000000 : 1000000;
}

/*
 * The piece with which the next sleep of a row begins, after that of one; NO_MORE; or it is
 * NOT_KNOWN whether there is any.
 */
static int next_in_row(struct world *w, const struct life *l, int piece)
{
	int sleep = l->pieces[piece].sleep, woke;
	uint64_t ran = 0, most = may_run(&l->pieces[piece]);
	bool missed = false;

	for (int i = piece + 1; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];

		if (p->what == RUNS) {
			ran += p->to - p->from;
			missed |= lossy(w, p->from, p->to);
		}
		if (p->what == DEAD || ran >= most)
			return NO_MORE;
		if (p->what == UNKNOWN)
			return NOT_KNOWN;
		if ((p->what != SLEEPS && p->what != WOKEN) || p->sleep == sleep)
			continue;
		if (!is_lock(w, &l->sleeps[p->sleep]))
			return NO_MORE;
		woke = oracle_wakes_any(w, l, sleep, p->sleep,
					l->pieces[piece].what == SLEEPS ? l->pieces[piece].to
									: l->pieces[piece].from,
					p->from, true);
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
	bool hidden; /* it is not known whether it counts */
};

static int in_a_row(struct world *w, const struct life *l, uint64_t at);
static int right_before(const struct life *l, int pieces, uint64_t at);

/*
 * Whether a life, which wakes somebody then, is between two sleeps of a row, of which the first was
 * over only after another one's sleep began: 1; NOT_KNOWN; 0: it is not.
 */
static int is_amid(struct world *w, int waker, uint64_t at, uint64_t began)
{
	const struct life *l = waker >= 0 ? &w->lives[waker] : NULL;
	int answer = l ? in_a_row(w, l, at) : 0;
	const struct piece *before;

	if (!answer)
		return 0;
	before = &l->pieces[right_before(l, l->n_pieces, at)];
	if (before->what == WOKEN && l->sleeps[before->sleep].is_birth)
		return 0;
	return (before->what == WOKEN ? before->from : before->to) > began ? answer : 0;
}

static bool is_sooner(const struct release *a, const struct release *b)
{
	if (!b->ended || a->ns != b->ns)
		return !b->ended || a->ns < b->ns;
	return a->life->tid != b->life->tid ? a->life->tid < b->life->tid
					    : a->life->begin < b->life->begin;
}

/*
 * Whether a life that slept at a lock, no longer than a try, slept there again at once, and was
 * current in no waking before.
 */
static bool tried_on(struct world *w, const struct life *l, int piece, const char *lock)
{
	int next = next_in_row(w, l, piece), sleep = l->pieces[piece].sleep;
	char *at;
	bool same;

	if (next < 0 || over(l, piece) - l->sleeps[sleep].out_ns >= 20000000 ||
	    lossy(w, l->sleeps[sleep].out_ns, over(l, piece)))
		return false;
	if (oracle_wakes_any(w, l, sleep, l->pieces[next].sleep, over(l, piece),
			     l->pieces[next].from, false))
		return false;
	at = lock_of(w, &l->sleeps[l->pieces[next].sleep]);
	same = at && !strcmp(at, lock);
	free(at);
	return same;
}

/*
 * The first waking in [from, to) that ended a sleep of a life at the lock; also one at to, if that
 * ended the sleep.
 */
static void first_release(struct world *w, const struct life *l, const char *lock, uint64_t began,
			  uint64_t from, uint64_t to, const struct sleep *last,
			  struct release *first)
{
	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		struct release r = { p->to, l, NULL, false };
		int amid;
		char *at;

		r.ended = p->what == SLEEPS ? &l->sleeps[p->sleep] : NULL;
		if (!r.ended || p->to < from || p->to > to || (p->to == to && r.ended != last))
			continue;
		if (r.ended->never || r.ended->waker == IDLE ||
		    (r.ended->waker != NOBODY && oracle_interrupt_frames(w, r.ended)))
			continue;
		amid = is_amid(w, r.ended->waker, r.ns, began);
		r.hidden = amid == NOT_KNOWN;
		at = lock_of(w, r.ended);
		if (at && !strcmp(at, lock) && is_sooner(&r, first) && amid != 1 &&
		    (r.ended->waker != NOBODY || !tried_on(w, l, i, lock)))
			*first = r;
		free(at);
	}
}

/*
 * Whether, in [from, to], a life was heard of again of which since events were lost nothing had
 * been known; or it was woken while that lasts.
 */
static bool heard_again(struct world *w, const struct life *l, uint64_t from, uint64_t to)
{
	uint64_t since = 0;
	bool unknown = false;

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		bool heard = p->what != UNKNOWN ? p->what != DEAD : p->after_waking;

		if (p->what == UNKNOWN && !unknown)
			since = p->from;
		else if (heard && unknown && p->from >= from && p->from <= to &&
			 lossy(w, since, p->from))
			return true;
		unknown = p->what == UNKNOWN;
	}
	return false;
}

/* ---- who had the lock ------------------------------------------------------------------------ */

/* Whether a piece is the first one of a sleep. */
static bool begins(const struct life *l, int piece)
{
	const struct piece *p = &l->pieces[piece];

	return (p->what == SLEEPS || p->what == WOKEN) &&
	       !(piece && (p[-1].what == SLEEPS || p[-1].what == WOKEN) && p[-1].sleep == p->sleep);
}

/* Whether a thread ended the sleep that begins with a piece, and not early. */
static bool by_task(struct world *w, const struct life *l, int piece)
{
	const struct piece *p = &l->pieces[piece];
	const struct sleep *s = &l->sleeps[p->sleep];

	return p->what == SLEEPS && p->to > p->from && !s->never && s->waker >= 0 &&
	       !oracle_interrupt_frames(w, s);
}

/* Whether it is not known what a life did in a piece, or what it slept for. */
static bool is_unknown(const struct life *l, int piece)
{
	const struct piece *p = &l->pieces[piece];
	const struct sleep *s = &l->sleeps[p->sleep];

	return p->what == UNKNOWN || (!s->kstack && !s->ustack && !s->object && !s->is_short);
}

/*
 * Whether a thread may have ended a sleep of a life at a lock in that time, in which something is
 * missing: what was lost, or what a thread did of which is missing how it went off a CPU.
 */
static bool may_be_told(struct world *w, const struct life *l, const char *lock, uint64_t from,
			uint64_t to)
{
	size_t digits = strspn(lock, "0123456789");

	if (!l->tgid || !digits || lock[digits] != ':' || lossy(w, from, to))
		return true;
	for (int i = 0; i < w->n_lives; i++) {
		const struct life *other = &w->lives[i];
		bool then = false, hidden = false;

		for (int k = 0; k < other->n_pieces; k++) {
			const struct piece *p = &other->pieces[k];

			then |= p->what == UNKNOWN && p->from <= to && p->to >= from;
			hidden |= p->ran_on;
		}
		if (other != l && other->tgid == l->tgid && then && hidden)
			return true;
	}
	return false;
}

/* Whether a sleep that begins with this piece may be a try as much as a pause. */
static bool is_look(struct world *w, const struct life *l, int piece)
{
	const struct piece *p = &l->pieces[piece];
	const struct sleep *s = &l->sleeps[p->sleep];

	return by_timer(w, s) && p->what == SLEEPS && p->to - p->from >= 20000000 &&
	       !is_named(w, s);
}

/*
 * The piece with which the next sleep begins that perhaps is one of a row, though that is not
 * known; NO_MORE: there is none. *told: in unknown time before it the life may have been told.
 */
static int perhaps_next(struct world *w, const struct life *l, int piece, const char *lock,
			bool *told)
{
	int next = piece, before;
	bool unknown = false;

	while (++next < l->n_pieces && l->pieces[next].what != DEAD &&
	       (!begins(l, next) || l->pieces[next].sleep == l->pieces[piece].sleep)) {
		const struct piece *p = &l->pieces[next];

		unknown |= p->what == UNKNOWN;
		if (p->what == UNKNOWN && may_be_told(w, l, lock, p->from, p->to))
			*told = true;
	}
	if (next == l->n_pieces || l->pieces[next].what == DEAD ||
	    !is_lock(w, &l->sleeps[l->pieces[next].sleep]))
		return NO_MORE;
	before = right_before(l, next, l->pieces[next].from);
	return !unknown || (before != NO_MORE && is_unknown(l, before)) ? next : NO_MORE;
}

/*
 * Whether a thread ends a later sleep, at that lock, of the row that goes on from a piece, before
 * there are 64 that may be pauses: 1; 0: no; or NOT_KNOWN.
 */
static int is_told(struct world *w, const struct life *l, int piece, const char *lock)
{
	int answer = 0, looks = 0;
	bool one_row = true, told = false;

	while (looks < 64) {
		int next = next_in_row(w, l, piece);
		const struct sleep *s;
		char *at;
		bool same;

		if (next == NOT_KNOWN) {
			one_row = false;
			next = perhaps_next(w, l, piece, lock, &told);
		}
		if (told)
			return NOT_KNOWN;
		if (next < 0)
			break;
		piece = next;
		s = &l->sleeps[l->pieces[piece].sleep];
		at = lock_of(w, s);
		same = at && !strcmp(at, lock);
		free(at);
		if (same && by_task(w, l, piece))
			return one_row ? 1 : NOT_KNOWN;
		if (same && !s->never && s->waker == NOBODY &&
		    may_be_told(w, l, lock, l->pieces[piece].from, over(l, piece)))
			answer = NOT_KNOWN;
		looks += same && is_look(w, l, piece);
	}
	return answer;
}

/*
 * Whether a life is nothing but sleeps at a lock of which a thread ends one: 1; 0: no; or
 * NOT_KNOWN. What else it does takes less than 10 ms, but for sleeps at other locks, unless a timer
 * ends these and nobody is known to have the lock, and for what it shortly does between two sleeps
 * at locks.
 */
static int only_ticks(struct world *w, const struct life *l, const char *lock)
{
	uint64_t other = 0, gap = 0, ran = 0, most = 0;
	bool sure = true, whole = true;
	int told = 0;

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		const struct sleep *s = NULL;
		char *at = NULL;
		bool same;

		if (p->what == DEAD)
			break;
		if (p->what == SLEEPS || p->what == WOKEN) {
			s = &l->sleeps[p->sleep];
			at = lock_of(w, s);
		}
		if (!at) {
			gap += p->to - p->from;
			ran += p->what == RUNS ? p->to - p->from : 0;
			if (p->what != RUNS && p->what != PREEMPTED) {
				whole &=
					p->from == p->to || !is_unknown(l, i) || (s && s->is_birth);
				most = 0;
			}
			continue;
		}
		same = !strcmp(at, lock);
		if (begins(l, i)) {
			other += !whole || ran < most ? 0 : gap;
			sure &= whole;
			whole = true;
			most = may_run(p);
			told += same && by_task(w, l, i);
			sure &= s->never || s->waker != NOBODY;
			if (*at && !same && !is_named(w, s) && by_timer(w, s))
				other += over(l, i) - p->from;
		}
		gap = ran = 0;
		free(at);
	}
	if (told > 1 || other + (whole ? gap : 0) >= 10000000)
		return 0;
	return sure && whole ? 1 : NOT_KNOWN;
}

/* Whether a sleep was a try that a timer ended: 1; 0: it was not; or NOT_KNOWN. */
static int is_timed_try(struct world *w, const struct life *l, int piece, const char *lock)
{
	int told, ticks;

	if (!lock || !*lock || !by_timer(w, &l->sleeps[l->pieces[piece].sleep]))
		return 0;
	if (!is_look(w, l, piece))
		return 1;
	told = is_told(w, l, piece, lock);
	ticks = told ? only_ticks(w, l, lock) : 1;
	if (!told || ticks == 1)
		return 0;
	return told == 1 && !ticks ? 1 : NOT_KNOWN;
}

/*
 * The piece with which the last thing began that a life did before, but for running less than a
 * millisecond and being preempted; NO_MORE: it ran longer, or there is nothing. pieces: those
 * before are looked at, as far as they are before `at`.
 */
static int right_before(const struct life *l, int pieces, uint64_t at)
{
	uint64_t ran = 0;

	for (int i = pieces - 1; i >= 0; i--) {
		const struct piece *p = &l->pieces[i];
		uint64_t to = p->to < at ? p->to : at;

		if (p->from >= at || p->from == p->to || p->what == PREEMPTED)
			continue;
		if (p->what == RUNS)
			ran += to - p->from;
		if (ran >= 3000000 || (p->what == UNKNOWN && ran >= 1000000))
			return NO_MORE;
		if (p->what == UNKNOWN)
			return i;
		if (p->what == SLEEPS || p->what == WOKEN) {
			while (!begins(l, i))
				i--;
			return ran < may_run(&l->pieces[i]) ? i : NO_MORE;
		}
	}
	return NO_MORE;
}

/* The piece with which the next sleep begins; NO_MORE: none, or unknown time is before that. */
static int next_sleep(const struct life *l, int piece)
{
	while (++piece < l->n_pieces && l->pieces[piece].what != UNKNOWN)
		if (begins(l, piece))
			return piece;
	return NO_MORE;
}

/*
 * Whether a life, which runs up to then, is between two sleeps of a row: 1; NOT_KNOWN; 0: it is
 * not.
 */
static int in_a_row(struct world *w, const struct life *l, uint64_t at)
{
	int before = right_before(l, l->n_pieces, at), answer = 0;
	char *lock;

	if (before == NO_MORE || is_unknown(l, before))
		return before == NO_MORE ? 0 : NOT_KNOWN;
	lock = lock_of(w, &l->sleeps[l->pieces[before].sleep]);
	free(lock);
	if (!lock)
		return 0;
	for (int i = 0; i <= before; i++) {
		int last = i, next = i, unknown, timed;
		bool perhaps = false;

		if (!begins(l, i))
			continue;
		lock = lock_of(w, &l->sleeps[l->pieces[i].sleep]);
		timed = is_timed_try(w, l, i, lock);
		unknown = lock ? right_before(l, i, l->pieces[i].from) : NO_MORE;
		free(lock);
		if (!timed && (unknown == NO_MORE || !is_unknown(l, unknown)))
			continue;
		while (last < before && next >= 0) {
			next = next_in_row(w, l, last);
			perhaps |= next == NOT_KNOWN;
			next = next == NOT_KNOWN ? next_sleep(l, last) : next;
			last = next >= 0 ? next : last;
		}
		if (last != before)
			continue;
		next = next_in_row(w, l, before);
		if (next >= 0 && timed == 1 && !perhaps)
			return 1;
		if (next != NO_MORE)
			answer = NOT_KNOWN;
	}
	return answer;
}

/* What is said of who had a lock. */
struct saying {
	uint64_t at;
	const struct life *sleeper;
	int by; /* a life */
	bool woken;
};

static bool is_later(const struct saying *a, const struct saying *b)
{
	if (!b->sleeper || a->at != b->at)
		return !b->sleeper || a->at > b->at;
	if (a->sleeper->tid != b->sleeper->tid)
		return a->sleeper->tid > b->sleeper->tid;
	if (a->sleeper->begin != b->sleeper->begin)
		return a->sleeper->begin > b->sleeper->begin;
	return a->woken && !b->woken;
}

/*
 * What is said last in [from, to], and before that: a sleep at the lock that says so begins, or one
 * that did is ended by a thread, and the sleeper has the lock.
 */
static struct saying last_said(struct world *w, const char *lock, uint64_t from, uint64_t to,
			       const struct saying *before)
{
	struct saying last = { 0 };

	for (int i = 0; i < w->n_lives; i++)
		for (int k = 0; k < w->lives[i].n_pieces; k++) {
			const struct life *l = &w->lives[i];
			const struct piece *p = &l->pieces[k];
			struct saying say = { p->from, l, 0, false };
			const struct sleep *s;
			char *at;

			/* Of a sleep that became unknown there is no piece. */
			if (!begins(l, k) || p->from == p->to)
				continue;
			s = &l->sleeps[p->sleep];
			if (!s->held_by || p->from != s->out_ns || !word_counts(w, s))
				continue;
			at = lock_of(w, s);
			say.by = s->held_by - 1;
			if (!at || strcmp(at, lock)) {
				free(at);
				continue;
			}
			free(at);
			if (say.at >= from && say.at <= to && is_later(&say, &last) &&
			    (!before->sleeper || is_later(before, &say)))
				last = say;
			say = (struct saying) { p->to, l, i, true };
			if (p->what == SLEEPS && !s->never && s->waker >= 0 &&
			    !oracle_interrupt_frames(w, s) && say.at >= from && say.at <= to &&
			    is_later(&say, &last) && (!before->sleeper || is_later(before, &say)))
				last = say;
		}
	return last;
}

/* When a life last ran in (from, to]; 0: it did not; what: NOT_KNOWN if its life is not. */
static uint64_t last_ran(const struct life *l, uint64_t from, uint64_t to, int *what)
{
	uint64_t last = 0;

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		uint64_t until = p->to < to ? p->to : to;

		if (p->from == p->to || p->to <= from || p->from > to)
			continue;
		if (p->what == UNKNOWN && p->from <= l->end)
			*what = NOT_KNOWN;
		if (p->what == RUNS && p->from < to && until > from && until > last)
			last = until;
	}
	return last;
}

/* As though that life had ended a sleep at the lock, when it ran last. */
static const struct sleep *made_end(struct world *w, int life, uint64_t at, const char *lock)
{
	const struct life *by = &w->lives[life];
	struct sleep *made = calloc(1, sizeof(*made));

	if (!made)
		abort();
	w->made = more(w->made, w->n_made, sizeof(*w->made));
	w->made[w->n_made++] = made;
	made->waker = life;
	made->woken_ns = at;
	for (int i = 0; i < by->n_pieces; i++) {
		const struct piece *p = &by->pieces[i];
		const struct sleep *then;
		char *its;

		if (!begins(by, i) || p->from != at || p->from == p->to)
			continue;
		then = &by->sleeps[p->sleep];
		its = then->out_ns == at ? lock_of(w, then) : NULL;
		if (its && !strcmp(its, lock)) {
			made->waker_kstack = then->kstack;
			made->waker_short = then->is_short;
			made->not_sent = false;
			made->put_off.which = 0;
			made->waker_ustack = then->ustack;
		}
		free(its);
	}
	return made;
}

/*
 * Who had the lock, and ran between the end of the row's last timed try at it and the end of the
 * row. NULL: nobody; what is NOT_KNOWN if that is not known.
 */
static const struct sleep *assumed_release(struct world *w, const struct life *l, int piece,
					   uint64_t to, const char *lock, int *what)
{
	const struct sleep *s = &l->sleeps[l->pieces[piece].sleep];
	uint64_t from =
		l->pieces[piece].what == SLEEPS ? l->pieces[piece].to : l->pieces[piece].from;
	struct saying said = { 0 };

	for (int i = 0; i < w->n_lives; i++)
		if (heard_again(w, &w->lives[i], s->out_ns, to))
			*what = NOT_KNOWN;
	for (int tried = 0; tried < 8 && *what != NOT_KNOWN; tried++) {
		uint64_t ran;
		int row;

		said = last_said(w, lock, s->out_ns, to, &said);
		if (!said.sleeper)
			return NULL;
		if (&w->lives[said.by] == l)
			continue;
		ran = last_ran(&w->lives[said.by], from, to, what);
		row = ran ? in_a_row(w, &w->lives[said.by], ran) : 0;
		if (row == NOT_KNOWN)
			*what = NOT_KNOWN;
		if (*what == NOT_KNOWN)
			return NULL;
		if (ran && !row)
			return made_end(w, said.by, ran, lock);
	}
	return NULL;
}

/* ---- locks of files -------------------------------------------------------------------------- */

/* Who has the lock of a file for which a life begins to sleep; NOBODY: not known, or it itself. */
static int file_holder(struct world *w, const struct life *l, int piece)
{
	const struct sleep *s = &l->sleeps[l->pieces[piece].sleep];

	return is_of_file(w, s) && s->held_by && &w->lives[s->held_by - 1] != l &&
			       l->pieces[piece].from == s->out_ns
		       ? s->held_by - 1
		       : NOBODY;
}

/*
 * As though the holder of a file's lock had woken a life when it was on a CPU last, from the try
 * that begins with this piece to the end of the last one of its row, of those that follow each
 * other, for which the lock is the same and the holder, too. NULL: it was not, or the try's own end
 * explains it.
 */
static const struct sleep *let_go(struct world *w, const struct life *l, int piece,
				  const char *lock)
{
	static const struct sleep unknown = { .waker = NOBODY };
	int holder = file_holder(w, l, piece), last = piece, next, what = 0, row;
	struct sleep *made;
	uint64_t ran;

	if (holder == NOBODY)
		return NULL;
	while ((next = next_in_row(w, l, last)) >= 0) {
		char *at = lock_of(w, &l->sleeps[l->pieces[next].sleep]);
		bool same = at && !strcmp(at, lock);

		free(at);
		if (same && (!l->sleeps[l->pieces[next].sleep].held_by ||
			     l->pieces[next].from != l->sleeps[l->pieces[next].sleep].out_ns))
			return &unknown;
		if (!same || file_holder(w, l, next) != holder)
			break;
		last = next;
	}
	if (next == NOT_KNOWN)
		return &unknown;
	ran = last_ran(&w->lives[holder], l->pieces[piece].from, over(l, last), &what);
	row = ran ? in_a_row(w, &w->lives[holder], ran) : 0;
	if (what == NOT_KNOWN || row == NOT_KNOWN)
		return &unknown;
	if (!ran || row)
		return NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		abort();
	w->made = more(w->made, w->n_made, sizeof(*w->made));
	w->made[w->n_made++] = made;
	made->waker = holder;
	made->woken_ns = ran;
	return made;
}

/* Makes two of a life's sleep, of which the holder of the lock ended the first one. */
static void part_sleep(struct life *l, int piece, const struct sleep *own)
{
	int sleep = l->pieces[piece].sleep;
	struct sleep *s;
	uint64_t at;

	l->sleeps = realloc(l->sleeps, ((size_t)l->n_sleeps + 1) * sizeof(*l->sleeps));
	l->as_slept = realloc(l->as_slept, ((size_t)l->n_sleeps + 1) * sizeof(*l->sleeps));
	l->pieces = realloc(l->pieces, ((size_t)l->n_pieces + 1) * sizeof(*l->pieces));
	if (!l->sleeps || !l->as_slept || !l->pieces)
		abort();
	s = &l->sleeps[sleep];
	memmove(s + 1, s, (size_t)(l->n_sleeps - sleep) * sizeof(*s));
	memmove(&l->as_slept[sleep + 1], &l->as_slept[sleep],
		(size_t)(l->n_sleeps++ - sleep) * sizeof(*s));
	memmove(&l->pieces[piece + 1], &l->pieces[piece],
		(size_t)(l->n_pieces++ - piece) * sizeof(*l->pieces));
	for (int k = piece + 1; k < l->n_pieces; k++)
		l->pieces[k].sleep += l->pieces[k].sleep >= sleep;
	l->process_ended += l->process_ended != NOBODY && l->process_ended >= sleep;
	at = s->acted_ns;
	l->pieces[piece].to = l->pieces[piece + 1].from = at;
	s[1] = *own;
	s[1].out_ns = at;
	s[1].held_by = 0;
	s->woken_ns = at;
	s->acted_ns = 0;
	s->ended_by = NULL;
}

/* The sleeps within which the lock of a file was let go; own: as they were before. */
static void part_sleeps(struct world *w, struct life *l, const struct sleep *own)
{
	for (int k = 0, parts = 0; k < l->n_pieces; k++) {
		const struct piece *p = &l->pieces[k];
		const struct sleep *s = &l->sleeps[p->sleep];

		if (p->what != SLEEPS || !s->ended_by || !is_of_file(w, s) || s->waker == NOBODY ||
		    s->acted_ns >= p->to)
			continue;
		part_sleep(l, k, &own[p->sleep - parts]);
		parts++;
		k++;
	}
}

/* ---- what explains a try --------------------------------------------------------------------- */

/* What is to be said of the try that begins with this piece; NULL: that its own end explains it. */
static const struct sleep *explained_by(struct world *w, const struct life *l, int piece)
{
	static const struct sleep unknown = { .waker = NOBODY };
	struct release first = { 0 };
	const struct sleep *until;
	char *lock = lock_of(w, &l->sleeps[l->pieces[piece].sleep]);
	const struct piece *p = &l->pieces[piece];
	uint64_t from = p->what == SLEEPS ? p->to : p->from;
	int last = piece, timed = piece, next, what = 0;
	int is_try = is_timed_try(w, l, piece, lock), timed_is = is_try;
	bool hidden = is_try == NOT_KNOWN;

	if (!is_try || is_of_file(w, &l->sleeps[p->sleep])) {
		until = is_try ? let_go(w, l, piece, lock) : NULL;
		free(lock);
		return until;
	}
	while ((next = next_in_row(w, l, last)) >= 0) {
		char *at = lock_of(w, &l->sleeps[l->pieces[next].sleep]);

		last = next;
		is_try = is_timed_try(w, l, last, at);
		if (is_try && !strcmp(at, lock)) {
			timed = last;
			timed_is = is_try;
		}
		free(at);
	}
	for (int i = 0; i < w->n_lives; i++)
		first_release(w, &w->lives[i], lock, p->from, from, over(l, last),
			      &l->sleeps[l->pieces[last].sleep], &first);
	for (int i = 0; i < w->n_lives; i++)
		if (heard_again(w, &w->lives[i], from, first.ended ? first.ns : over(l, last)))
			hidden = true;
	until = first.ended;
	if (!until)
		until = assumed_release(w, l, timed, over(l, last), lock, &what);
	if (!first.ended && timed_is == NOT_KNOWN)
		what = NOT_KNOWN;
	free(lock);
	if (hidden || what == NOT_KNOWN ||
	    (first.ended ? first.ended->waker == NOBODY || first.hidden : next == NOT_KNOWN))
		return &unknown;
	return until;
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
	for (int i = 0; i < w->n_lives; i++) {
		struct life *l = &w->lives[i];
		struct sleep *own = malloc((size_t)l->n_sleeps * sizeof(*own) + 1);

		if (!own)
			abort();
		memcpy(own, l->sleeps, (size_t)l->n_sleeps * sizeof(*own));
		for (int k = 0; k < l->n_sleeps; k++) {
			struct sleep *s = &l->sleeps[k];

			own[k].ended_by = NULL;
			if (!s->ended_by)
				continue;
			s->waker = s->ended_by->waker;
			s->acted_ns = s->ended_by->woken_ns;
			s->waker_kstack = s->ended_by->waker_kstack;
			s->waker_short = s->ended_by->waker_short;
			s->not_sent = s->ended_by->not_sent;
			s->put_off = s->ended_by->put_off;
			s->waker_ustack = s->ended_by->waker_ustack;
		}
		part_sleeps(w, l, own);
		free(own);
	}
}
