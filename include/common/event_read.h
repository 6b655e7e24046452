/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_read.h - reads the events of a block (event_block.h) one by one. Inline, because it runs
 * once or twice for each event, and what the caller does not look at is then not even stored.
 */
#pragma once

#include <errno.h>

#include "event_block.h"

/*
 * The functions below read a field at p and return the byte after it, or NULL if it breaks a rule
 * of the format.
 */
static inline const uint8_t *chainlog_get_tid(struct chainlog_reader *r, const uint8_t *p,
					      uint32_t *ref)
{
	struct chainlog_thread *t;

	p = chainlog_get_below(p, r->end, (uint64_t)r->n_threads + 1, ref);
	if (!p || *ref)
		return p;
	*ref = ++r->n_threads;
	t = &r->threads[*ref];
	*t = (struct chainlog_thread) { 0, { 0, 0 } };
	return chainlog_get_below(p, r->end, CHAINLOG_TID_LIMIT, &t->tid);
}

static inline const uint8_t *chainlog_get_actor(struct chainlog_reader *r, const uint8_t *p,
						unsigned int tag, uint32_t *ref)
{
	if (!(tag & CHAINLOG_F_CURRENT))
		return chainlog_get_tid(r, p, ref);
	*ref = r->current;
	return *ref ? p : NULL;
}

/* A pair that the block has not named yet. */
static inline const uint8_t *chainlog_get_new_pair(struct chainlog_reader *r, const uint8_t *p,
						   uint32_t *ref)
{
	struct chainlog_pair *pair = &r->pairs[ *ref = ++r->n_pairs];

	*pair = (struct chainlog_pair) { 0, 0, 0 };
	p = chainlog_get_below(p, r->end, UINT64_C(1) << 32, &pair->kstack);
	if (p)
		p = chainlog_get_below(p, r->end, UINT64_C(1) << 32, &pair->ustack);
	return pair->kstack || pair->ustack ? p : NULL;
}

/* *last: the acting thread's last pair of this kind. */
static inline const uint8_t *chainlog_get_pair(struct chainlog_reader *r, const uint8_t *p,
					       unsigned int tag, uint32_t *last, struct event *ev)
{
	uint32_t ref;

	if (tag & CHAINLOG_F_NO_STACK)
		return tag & CHAINLOG_F_SAME_STACK ? NULL : p;
	if (!(tag & CHAINLOG_F_SAME_STACK)) {
		p = chainlog_get_below(p, r->end, (uint64_t)r->n_pairs + 1, &ref);
		if (p && !ref)
			p = chainlog_get_new_pair(r, p, &ref);
		if (!p)
			return NULL;
		*last = ref;
	}
	if (!*last)
		return NULL;
	ev->pair = *last;
	ev->kstack = r->pairs[*last].kstack;
	ev->ustack = r->pairs[*last].ustack;
	return p;
}

static inline const uint8_t *chainlog_get_state(const uint8_t *p, const uint8_t *end,
						unsigned int tag, char *state)
{
	switch (tag & (CHAINLOG_F_SLEEP | CHAINLOG_F_RUNNABLE)) {
	case CHAINLOG_F_SLEEP:
		*state = 'S';
		return p;
	case CHAINLOG_F_RUNNABLE:
		*state = 'R';
		return p;
	case 0:
		if (p == end || !((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z')))
			return NULL;
		*state = (char)*p;
		return p + 1;
	default:
		return NULL;
	}
}

/* A WAKING that has its wakee only. */
static inline const uint8_t *chainlog_get_unknown_waker(struct chainlog_reader *r, const uint8_t *p,
							unsigned int tag, struct event *ev)
{
	uint32_t wakee;

	if (tag != (CHAINLOG_WAKING | CHAINLOG_F_NO_WAKER | CHAINLOG_F_NO_STACK))
		return NULL;
	p = chainlog_get_tid(r, p, &wakee);
	if (p)
		ev->other = r->threads[wakee].tid;
	return p;
}

/* SWITCH, WAKING and WAKING_NEW: two threads and the stacks of the one that acts. */
static inline const uint8_t *chainlog_get_act(struct chainlog_reader *r, const uint8_t *p,
					      unsigned int tag, struct event *ev)
{
	bool is_switch = ev->kind == CHAINLOG_SWITCH;
	uint32_t actor, other;

	if (!is_switch)
		ev->flags = tag & (CHAINLOG_F_OFF_QUEUE | CHAINLOG_F_NO_WAKER);
	if (ev->flags & CHAINLOG_F_NO_WAKER)
		return chainlog_get_unknown_waker(r, p, tag, ev);
	p = chainlog_get_actor(r, p, tag, &actor);
	if (p && is_switch)
		p = chainlog_get_state(p, r->end, tag, &ev->state);
	if (p)
		p = chainlog_get_tid(r, p, &other);
	if (!p)
		return NULL;
	ev->tid = r->threads[actor].tid;
	ev->other = r->threads[other].tid;
	if (is_switch)
		r->current = other;
	return chainlog_get_pair(r, p, tag, &r->threads[actor].last[!is_switch], ev);
}

/* FORK, EXEC, RENAME and EXIT: a thread and numbers. */
static inline const uint8_t *chainlog_get_identity(struct chainlog_reader *r, const uint8_t *p,
						   unsigned int tag, struct event *ev)
{
	uint32_t actor, child;

	p = chainlog_get_actor(r, p, tag, &actor);
	if (!p)
		return NULL;
	ev->tid = r->threads[actor].tid;
	if (ev->kind == CHAINLOG_FORK) {
		p = chainlog_get_tid(r, p, &child);
		if (!p)
			return NULL;
		ev->other = r->threads[child].tid;
		p = chainlog_get_below(p, r->end, CHAINLOG_TID_LIMIT, &ev->tgid);
	} else if (ev->kind == CHAINLOG_EXEC) {
		p = chainlog_get_below(p, r->end, CHAINLOG_TID_LIMIT, &ev->other);
	}
	if (p && ev->kind != CHAINLOG_EXIT)
		p = chainlog_get_below(p, r->end, UINT64_C(1) << 32, &ev->string);
	return p;
}

/*
 * Reads the next event of an EVENTS block; the union in it is left alone. Returns 1; 0 at the end
 * of the block; -EBADMSG if it is malformed. It trusts nothing: each number is checked before it is
 * used.
 */
static inline int chainlog_read_event(struct chainlog_reader *r, struct event *ev)
{
	enum { STACKS = CHAINLOG_F_CURRENT | CHAINLOG_F_SAME_STACK | CHAINLOG_F_NO_STACK };
	/* Which flags a kind may have. */
	static const uint8_t flags[CHAINLOG_KIND_MASK + 1] = {
		[CHAINLOG_SWITCH] = STACKS | CHAINLOG_F_SLEEP | CHAINLOG_F_RUNNABLE,
		[CHAINLOG_WAKING] = STACKS | CHAINLOG_F_OFF_QUEUE | CHAINLOG_F_NO_WAKER,
		[CHAINLOG_WAKING_NEW] = STACKS | CHAINLOG_F_OFF_QUEUE,
		[CHAINLOG_FORK] = CHAINLOG_F_CURRENT,
	};
	const uint8_t *p = r->p;
	unsigned int tag, kind;
	uint64_t delta;

	if (!r->left)
		return p == r->end && r->time_ns == r->last_ns ? 0 : -EBADMSG;
	if (p == r->end)
		return -EBADMSG;
	tag = *p++;
	kind = tag & CHAINLOG_KIND_MASK;
	if (kind >= CHAINLOG_EVENT_KINDS || (tag & ~(flags[kind] | CHAINLOG_KIND_MASK)))
		return -EBADMSG;
	p = chainlog_get_varint(p, r->end, &delta);
	if (!p || delta > r->last_ns - r->time_ns)
		return -EBADMSG;
	r->time_ns += delta;
	ev->time_ns = r->time_ns;
	ev->cpu = r->cpu;
	ev->kind = (uint8_t)kind;
	ev->state = '\0';
	ev->flags = 0;
	ev->tid = ev->other = ev->kstack = ev->ustack = ev->pair = ev->string = ev->tgid = 0;
	p = kind <= CHAINLOG_WAKING_NEW ? chainlog_get_act(r, p, tag, ev)
					: chainlog_get_identity(r, p, tag, ev);
	if (!p)
		return -EBADMSG;
	r->p = p;
	r->left--;
	return 1;
}

/* The same of an AUX_EVENTS block; events of kinds that are not known are skipped. */
int chainlog_read_aux(struct chainlog_reader *r, struct event *ev);

/* The same of either. */
static inline int chainlog_read(struct chainlog_reader *r, struct event *ev)
{
	return r->aux ? chainlog_read_aux(r, ev) : chainlog_read_event(r, ev);
}
