// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_block.h"

#include <errno.h>
#include <string.h>

#include "grow.h"

/* Numbers of one or two bytes are by far the most frequent; they are taken without a loop. */
static inline const uint8_t *get_u64(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	if (end - p >= 2) {
		if (p[0] < 0x80) {
			*v = p[0];
			return p + 1;
		}
		if (p[1] < 0x80) {
			*v = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
			return p + 2;
		}
	}
	return chainlog_get_varint(p, end, v);
}

static inline const uint8_t *get_below(const uint8_t *p, const uint8_t *end, uint64_t limit,
				       uint32_t *v)
{
	uint64_t wide;

	p = get_u64(p, end, &wide);
	if (!p || wide >= limit)
		return NULL;
	*v = (uint32_t)wide;
	return p;
}

#define ID_LIMIT (UINT64_C(1) << 32)

/* Which flags may stand with which kind. */
static const uint8_t flags_of[CHAINLOG_EVENT_KINDS] = {
	[CHAINLOG_SWITCH] = CHAINLOG_F_CURRENT | CHAINLOG_F_SAME_STACK | CHAINLOG_F_NO_STACK |
			    CHAINLOG_F_SLEEP | CHAINLOG_F_RUNNABLE,
	[CHAINLOG_WAKING] = CHAINLOG_F_CURRENT | CHAINLOG_F_SAME_STACK | CHAINLOG_F_NO_STACK,
	[CHAINLOG_WAKING_NEW] = CHAINLOG_F_CURRENT | CHAINLOG_F_SAME_STACK | CHAINLOG_F_NO_STACK,
	[CHAINLOG_FORK] = CHAINLOG_F_CURRENT,
};

int event_block_begin(struct event_block *b, const uint8_t *payload, uint32_t len,
		      struct event_block_head *head)
{
	const uint8_t *p = payload, *end = payload + len;
	uint64_t first_ns = 0, span = 0;

	p = get_below(p, end, TRACE_CPU_LIMIT, &b->cpu);
	if (p)
		p = get_u64(p, end, &first_ns);
	if (p)
		p = get_u64(p, end, &span);
	/* Signed differences of times must not overflow, whoever takes them. */
	if (!p || first_ns > INT64_MAX || span > INT64_MAX - first_ns)
		return -EBADMSG;
	/* No event is shorter than three bytes: tag, time, a thread. */
	p = get_below(p, end, len / 3 + 1, &b->left);
	if (!p)
		return -EBADMSG;
	b->p = p;
	b->end = end;
	b->time_ns = first_ns;
	b->last_ns = first_ns + span;
	b->current = EVENT_BLOCK_NO_CURRENT;
	b->n_threads = 0;
	b->n_pairs = 0;
	if (head)
		*head = (struct event_block_head) { b->cpu, b->left, first_ns, first_ns + span };
	return 0;
}

/* A thread that this block has not named before: its tid follows. */
__attribute__((noinline)) static int add_thread(struct event_block *b, const uint8_t **p)
{
	struct event_block_thread *t;

	t = grow_array(b->threads, b->n_threads, &b->cap_threads, sizeof(*t));
	if (!t)
		return -ENOMEM;
	b->threads = t;
	t += b->n_threads;
	memset(t, 0, sizeof(*t));
	*p = get_below(*p, b->end, TRACE_TID_LIMIT, &t->tid);
	if (!*p)
		return -EBADMSG;
	if (t->tid > b->max_tid)
		b->max_tid = t->tid;
	b->n_threads++;
	return 0;
}

/* Reads a thread reference: *index says which of b->threads. */
static inline int get_thread(struct event_block *b, const uint8_t **p, uint32_t *index)
{
	uint64_t ref;

	*p = get_u64(*p, b->end, &ref);
	if (!*p || ref > b->n_threads)
		return -EBADMSG;
	*index = (uint32_t)(ref ? ref - 1 : b->n_threads);
	return ref ? 0 : add_thread(b, p);
}

/* Reads the acting thread, which may be left out. */
static inline int get_actor(struct event_block *b, const uint8_t **p, unsigned int tag,
			    uint32_t *index)
{
	if (!(tag & CHAINLOG_F_CURRENT))
		return get_thread(b, p, index);
	*index = b->current;
	return b->current == EVENT_BLOCK_NO_CURRENT ? -EBADMSG : 0;
}

/* A pair that this block has not used before: its ids follow. */
__attribute__((noinline)) static int add_pair(struct event_block *b, const uint8_t **p)
{
	struct event_block_pair *pair;
	bool none;

	pair = grow_array(b->pairs, b->n_pairs, &b->cap_pairs, sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	b->pairs = pair;
	pair += b->n_pairs;
	*p = get_below(*p, b->end, ID_LIMIT, &pair->kstack);
	if (*p)
		*p = get_below(*p, b->end, ID_LIMIT, &pair->ustack);
	none = !pair->kstack && !pair->ustack;
	if (!*p || none)
		return -EBADMSG;
	if (b->stacks_end && pair->kstack >= b->stacks_end)
		pair->kstack = 0;
	if (b->stacks_end && pair->ustack >= b->stacks_end)
		pair->ustack = 0;
	none = !pair->kstack && !pair->ustack;
	pair->id = b->all_pairs && !none ? pairs_id(b->all_pairs, pair->kstack, pair->ustack) : 0;
	if (b->all_pairs && !none && !pair->id)
		return -ENOMEM;
	b->n_pairs++;
	return 0;
}

/* Reads a stack pair; last is the acting thread's last one of this kind. */
static inline int get_pair(struct event_block *b, const uint8_t **p, unsigned int tag,
			   uint32_t *last, struct event *ev)
{
	const struct event_block_pair *pair;
	uint64_t ref;
	int err;

	if (tag & CHAINLOG_F_NO_STACK)
		return tag & CHAINLOG_F_SAME_STACK ? -EBADMSG : 0;
	if (!(tag & CHAINLOG_F_SAME_STACK)) {
		*p = get_u64(*p, b->end, &ref);
		if (!*p || ref > b->n_pairs)
			return -EBADMSG;
		if (!ref) {
			err = add_pair(b, p);
			if (err)
				return err;
			ref = b->n_pairs;
		}
		*last = (uint32_t)ref;
	}
	if (!*last)
		return -EBADMSG;
	pair = &b->pairs[*last - 1];
	ev->kstack = pair->kstack;
	ev->ustack = pair->ustack;
	ev->pair = pair->id;
	return 0;
}

static inline int get_switch(struct event_block *b, const uint8_t **p, unsigned int tag,
			     struct event *ev)
{
	uint32_t prev, next;
	int err;

	err = get_actor(b, p, tag, &prev);
	if (err)
		return err;
	ev->tid = b->threads[prev].tid;
	switch (tag & (CHAINLOG_F_SLEEP | CHAINLOG_F_RUNNABLE)) {
	case CHAINLOG_F_SLEEP:
		ev->state = 'S';
		break;
	case CHAINLOG_F_RUNNABLE:
		ev->state = 'R';
		break;
	case 0:
		if (*p == b->end || !((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z')))
			return -EBADMSG;
		ev->state = (char)*(*p)++;
		break;
	default:
		return -EBADMSG;
	}
	err = get_thread(b, p, &next);
	if (err)
		return err;
	ev->other = b->threads[next].tid;
	b->current = next;
	return get_pair(b, p, tag, &b->threads[prev].last[0], ev);
}

static inline int get_waking(struct event_block *b, const uint8_t **p, unsigned int tag,
			     struct event *ev)
{
	uint32_t waker, target;
	int err;

	err = get_actor(b, p, tag, &waker);
	if (err)
		return err;
	err = get_thread(b, p, &target);
	if (err)
		return err;
	ev->tid = b->threads[waker].tid;
	ev->other = b->threads[target].tid;
	return get_pair(b, p, tag, &b->threads[waker].last[1], ev);
}

/* FORK, EXEC, RENAME, EXIT: a thread and numbers. */
static int get_identity(struct event_block *b, const uint8_t **p, unsigned int tag,
			struct event *ev)
{
	const uint8_t *q = NULL;
	uint32_t index, child;
	int err;

	err = get_actor(b, p, tag, &index);
	if (err)
		return err;
	ev->tid = b->threads[index].tid;
	switch (ev->kind) {
	case EVENT_FORK:
		err = get_thread(b, p, &child);
		if (err)
			return err;
		ev->other = b->threads[child].tid;
		q = get_below(*p, b->end, TRACE_TID_LIMIT, &ev->tgid);
		break;
	case EVENT_EXEC:
		q = get_below(*p, b->end, TRACE_TID_LIMIT, &ev->other);
		if (q && ev->other > b->max_tid)
			b->max_tid = ev->other;
		break;
	case EVENT_RENAME:
		q = *p;
		break;
	default:
		return 0;
	}
	if (q)
		q = get_below(q, b->end, ID_LIMIT, &ev->string);
	if (!q)
		return -EBADMSG;
	*p = q;
	return 0;
}

int event_block_next(struct event_block *b, struct event *ev)
{
	const uint8_t *p = b->p;
	unsigned int tag, kind;
	uint64_t delta;
	int err;

	if (!b->left)
		return p == b->end && b->time_ns == b->last_ns ? 0 : -EBADMSG;
	if (p == b->end)
		return -EBADMSG;
	tag = *p++;
	kind = tag & CHAINLOG_KIND_MASK;
	if (kind >= CHAINLOG_EVENT_KINDS || (tag & ~(flags_of[kind] | CHAINLOG_KIND_MASK)))
		return -EBADMSG;
	p = get_u64(p, b->end, &delta);
	if (!p || delta > b->last_ns - b->time_ns)
		return -EBADMSG;
	b->time_ns += delta;
	*ev = (struct event) { .time_ns = b->time_ns, .cpu = b->cpu, .kind = (uint8_t)kind };
	if (kind == CHAINLOG_SWITCH)
		err = get_switch(b, &p, tag, ev);
	else if (kind == CHAINLOG_WAKING || kind == CHAINLOG_WAKING_NEW)
		err = get_waking(b, &p, tag, ev);
	else
		err = get_identity(b, &p, tag, ev);
	if (err)
		return err;
	b->p = p;
	b->left--;
	return 1;
}

void event_block_free(struct event_block *b)
{
	free(b->threads);
	free(b->pairs);
	*b = (struct event_block) { .cpu = 0 };
}
