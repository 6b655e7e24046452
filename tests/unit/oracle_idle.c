// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pauses and waits for work (chain-semantics, section 17). It knows those functions that schedules
 * have (schedule_naps()).
 */
#include <string.h>

#include "oracle_private.h"

static const char *symbol_of(struct world *w, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(w->t, frame);

	return f ? trace_string(w->t, f->symbol) : "";
}

static bool has(struct world *w, uint32_t stack, const char *begin)
{
	struct trace_stack st = trace_stack(w->t, stack);

	for (uint32_t i = 0; i < st.n; i++)
		if (!strncmp(symbol_of(w, st.frames[i]), begin, strlen(begin)))
			return true;
	return false;
}

/* The function in which it went to sleep: that of the n first ones that are no scheduler's. */
static const char *function(struct world *w, uint32_t stack, uint32_t n)
{
	struct trace_stack st = trace_stack(w->t, stack);

	for (uint32_t i = 0; i < st.n; i++)
		if (!strstr(symbol_of(w, st.frames[i]), "schedule") && !n--)
			return symbol_of(w, st.frames[i]);
	return "";
}

static bool is_class(struct world *w, uint32_t object, const char *class)
{
	const struct trace_object *o = trace_object(w->t, object);

	return o && !strcmp(trace_string(w->t, o->class), class);
}

static bool is_for(struct world *w, const struct sleep *s, const char *class)
{
	return is_class(w, s->ready ? s->ready : s->object, class);
}

static bool takes_lock(struct world *w, uint32_t stack)
{
	for (uint32_t i = 0; i < 3; i++) {
		const char *f = function(w, stack, i);

		if (strstr(f, "cond"))
			return false;
		if (strstr(f, "mutex") || !strncmp(f, "lock", 4) || strstr(f, "_lock"))
			return true;
	}
	return false;
}

static bool at_lock(struct world *w, const struct sleep *s)
{
	for (uint32_t i = 0; i < 3; i++)
		if (strstr(function(w, s->kstack, i), "mutex_lock") ||
		    strstr(function(w, s->kstack, i), "down_read") ||
		    strstr(function(w, s->kstack, i), "rt_mutex_") ||
		    strstr(function(w, s->kstack, i), "locks_lock_inode_wait"))
			return true;
	return has(w, s->ustack, "InvokeBusyHandler") ||
	       (takes_lock(w, s->ustack) && !has(w, s->ustack, "sem_")) ||
	       is_class(w, s->object, "GIL") || is_class(w, s->object, "file_lock");
}

static bool is_blocked(struct world *w, const struct sleep *s)
{
	return s->state == 'D' || is_for(w, s, "file") || at_lock(w, s) ||
	       has(w, s->kstack, "anon_pipe_write");
}

static bool is_for_message(struct world *w, const struct sleep *s)
{
	const struct trace_object *o = trace_object(w->t, s->object);

	return is_class(w, s->object, "unix") || is_class(w, s->object, "tcp") ||
	       (is_class(w, s->object, "poll") && strstr(trace_string(w->t, o->name), "10.0.0.5"));
}

/* The sleep of that piece, if it is blocked time; NULL: it is not. */
static const struct sleep *blocked_in(const struct life *l, int piece)
{
	return l->pieces[piece].what == SLEEPS ? &l->sleeps[l->pieces[piece].sleep] : NULL;
}

static bool by_task(struct world *w, const struct sleep *s)
{
	return s->waker >= 0 && !oracle_interrupt_frames(w, s);
}

bool oracle_by_own_timer(struct world *w, const struct sleep *s)
{
	uint32_t irq = s->waker == NOBODY || s->never ? 0 : oracle_interrupt_frames(w, s);

	return irq && !strcmp(oracle_said_by(w, s, irq - 1), "timer");
}

static bool works(struct world *w, int life, uint64_t at)
{
	int written = 0;
	struct asked_for a;

	for (size_t i = 0; i < w->n_told; i++) {
		if (!request_asked(w, i, &a) || !a.answered || a.probed || a.writer != life ||
		    a.taken > at || a.answer <= at)
			continue;
		if (a.reader == life)
			return true;
		written++;
	}
	return written == 1 && at >= w->requests_bad_until;
}

static bool gets_request(struct world *w, int life, const struct piece *p)
{
	struct asked_for a;

	for (size_t i = 0; i < w->n_told; i++)
		if (request_asked(w, i, &a) && !a.probed && a.reader == life &&
		    a.arrival >= p->from && a.arrival <= p->to)
			return true;
	return false;
}

/* Whether who ended the sleep, until then, had itself been woken by the sleeper's process. */
static bool was_asked(struct world *w, int life, const struct sleep *s, uint64_t woken)
{
	const struct life *by = &w->lives[s->waker];
	uint32_t tgid = w->lives[life].tgid;

	for (int i = 0; i < by->n_pieces && by->pieces[i].to <= woken; i++) {
		const struct piece *p = &by->pieces[i];
		const struct sleep *other = &by->sleeps[p->sleep];

		/* What it waited for had come, but it was not on a CPU yet. */
		if (p->what == SLEEPS && i + 1 < by->n_pieces && p[1].what == WOKEN &&
		    p[1].sleep == p->sleep && p[1].to > woken)
			continue;
		if ((p->what == SLEEPS || p->what == WOKEN) && by_task(w, other) &&
		    (other->waker == life || (tgid && w->lives[other->waker].tgid == tgid)) &&
		    !at_lock(w, other))
			return true;
	}
	return false;
}

static bool died_at_work(struct world *w, const struct sleep *s)
{
	if (!s->never || s->waker == NOBODY || has(w, s->waker_kstack, "zap_other_threads"))
		return false;
	return (!is_for(w, s, "futex") || at_lock(w, s)) &&
	       strcmp(function(w, s->kstack, 0), "do_epoll_wait") &&
	       strcmp(function(w, s->kstack, 0), "inet_csk_accept") &&
	       strcmp(function(w, s->kstack, 0), "worker_thread");
}

/* Whether somebody connected to a listening socket in order to end it. */
static bool connected(struct world *w, const struct sleep *s)
{
	struct trace_stack st = trace_stack(w->t, s->waker_kstack);
	uint32_t irq = s->waker == NOBODY ? 0 : oracle_interrupt_frames(w, s);

	for (uint32_t i = 0; s->waker != NOBODY && i < st.n && (!irq || i < irq); i++)
		if (!strcmp(symbol_of(w, st.frames[i]), "tcp_child_process") ||
		    !strcmp(symbol_of(w, st.frames[i]), "unix_stream_connect"))
			return true;
	return false;
}

/* The first rule. */
static bool lacks_work(struct world *w, int life, int piece)
{
	const struct piece *p = &w->lives[life].pieces[piece];
	const struct sleep *s = blocked_in(&w->lives[life], piece);
	const char *in = function(w, s->kstack, 0);

	if (!strcmp(in, "inet_csk_accept") || !strcmp(in, "worker_thread"))
		return true;
	if (s->never)
		return s->state != 'D' && !takes_lock(w, s->ustack) && !takes_lock(w, s->kstack) &&
		       !is_class(w, s->object, "GIL");
	return gets_request(w, life, p) || connected(w, s) ||
	       (!strcmp(in, "do_epoll_wait") && !(by_task(w, s) && was_asked(w, life, s, p->to)));
}

static bool takes_request(struct world *w, int life, uint64_t from, uint64_t to)
{
	struct asked_for a;

	for (size_t i = 0; i < w->n_told; i++)
		if (request_asked(w, i, &a) && !a.probed && a.reader == life && a.taken >= from &&
		    a.taken <= to)
			return true;
	return false;
}

/*
 * Whether the next sleep of a life that is not at a lock lacks work, or it has taken some by then.
 */
static bool then_lacks_work(struct world *w, int life, int piece)
{
	const struct life *l = &w->lives[life];
	uint64_t from = l->pieces[piece].to;

	if (works(w, life, l->pieces[piece].from))
		return false;
	while (++piece < l->n_pieces && l->pieces[piece].what != UNKNOWN &&
	       l->pieces[piece].what != DEAD) {
		const struct sleep *s = blocked_in(l, piece);

		if (s && l->pieces[piece].to > l->pieces[piece].from && !at_lock(w, s))
			return takes_request(w, life, from, l->pieces[piece].from) ||
			       lacks_work(w, life, piece);
	}
	return takes_request(w, life, from, piece < l->n_pieces ? l->pieces[piece].from : l->end);
}

/* The fourth rule: it waits at a lock for its turn to wait for work. */
static bool is_for_turn(struct world *w, int life, int piece)
{
	const struct piece *p = &w->lives[life].pieces[piece];
	const struct sleep *s = blocked_in(&w->lives[life], piece);
	const struct life *by;
	uint64_t turns = 0;

	if (!s || s->is_birth || s->never || s->ended_by || !by_task(w, s) || !at_lock(w, s) ||
	    !then_lacks_work(w, life, piece))
		return false;
	by = &w->lives[s->waker];
	for (int i = 0; i < by->n_pieces && by->pieces[i].to <= p->to; i++) {
		const struct piece *b = &by->pieces[i];
		const struct sleep *slept = blocked_in(by, i);

		if (slept && b->to > p->from &&
		    (at_lock(w, slept) ? then_lacks_work(w, s->waker, i)
				       : lacks_work(w, s->waker, i)))
			turns += b->to - (b->from > p->from ? b->from : p->from);
	}
	return 2 * turns > p->to - p->from;
}

/* By the first two rules, or with a third one for so many wakers in a row. */
static bool is_idle(struct world *w, int life, int piece, int wakers)
{
	const struct life *l = &w->lives[life];
	const struct piece *p = &l->pieces[piece];
	const struct sleep *s = blocked_in(l, piece);
	const struct life *by;
	uint64_t idle = 0;

	if (!s || s->is_birth || works(w, life, p->from) || died_at_work(w, s))
		return false;
	if (lacks_work(w, life, piece))
		return true;
	if (s->never)
		return false;
	if (oracle_by_own_timer(w, s))
		return !is_blocked(w, s) && !is_for_message(w, s);
	if (!wakers || !by_task(w, s) || w->lives[s->waker].kernel || is_blocked(w, s) ||
	    is_for(w, s, "child") || oracle_was_ending(w, s) || was_asked(w, life, s, p->to))
		return false;
	by = &w->lives[s->waker];
	for (int i = 0; i < by->n_pieces; i++) {
		uint64_t a = by->pieces[i].from > p->from ? by->pieces[i].from : p->from;
		uint64_t b = by->pieces[i].to < p->to ? by->pieces[i].to : p->to;

		if (a < b && is_idle(w, s->waker, i, wakers - 1))
			idle += b - a;
	}
	return 2 * idle > p->to - p->from;
}

bool oracle_is_idle(struct world *w, int life, int piece)
{
	return is_idle(w, life, piece, 2) || is_for_turn(w, life, piece);
}
