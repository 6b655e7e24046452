// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "event_block.h"

const uint8_t *chainlog_get_head(const uint8_t *p, const uint8_t *end,
				 struct chainlog_events_head *head)
{
	uint64_t limit = (uint64_t)(end - p) / 3 + 1; /* no event has fewer than three bytes */
	uint64_t first_ns = 0, span = 0;

	p = chainlog_get_below(p, end, CHAINLOG_CPU_LIMIT, &head->cpu);
	if (p)
		p = chainlog_get_varint(p, end, &first_ns);
	if (p)
		p = chainlog_get_varint(p, end, &span);
	if (!p || first_ns > INT64_MAX || span > INT64_MAX - first_ns)
		return NULL;
	head->first_ns = first_ns;
	head->last_ns = first_ns + span;
	return chainlog_get_below(p, end, limit < UINT32_MAX ? limit : UINT32_MAX, &head->count);
}

void chainlog_reader_free(struct chainlog_reader *r)
{
	free(r->threads);
	free(r->pairs);
	*r = (struct chainlog_reader) { .p = NULL };
}

/* Makes room for what an EVENTS block with so many events in len bytes can name. */
static int make_room(struct chainlog_reader *r, uint32_t count, size_t len)
{
	/* A new thread takes two bytes or more, a new pair three; an event names two threads. */
	uint64_t room = len / 2;

	if (room > 2 * (uint64_t)count)
		room = 2 * (uint64_t)count;
	if (r->threads && room <= r->room)
		return 0;
	chainlog_reader_free(r);
	r->threads = malloc((room + 1) * sizeof(*r->threads));
	r->pairs = malloc((room + 1) * sizeof(*r->pairs));
	if (!r->threads || !r->pairs) {
		chainlog_reader_free(r);
		return -ENOMEM;
	}
	r->room = (uint32_t)room;
	return 0;
}

int chainlog_reader_begin(struct chainlog_reader *r, bool aux, const uint8_t *p, const uint8_t *end)
{
	struct chainlog_events_head head;
	int err;

	p = chainlog_get_head(p, end, &head);
	if (!p)
		return -EBADMSG;
	err = aux ? 0 : make_room(r, head.count, (size_t)(end - p));
	if (err)
		return err;
	r->p = p;
	r->end = end;
	r->cpu = head.cpu;
	r->left = head.count;
	r->aux = aux;
	r->time_ns = head.first_ns;
	r->last_ns = head.last_ns;
	r->current = 0;
	r->n_threads = r->n_pairs = 0;
	return 0;
}

/*
 * The functions below read a field at p and return the byte after it, or NULL if it breaks a rule
 * of the format.
 */
static const uint8_t *get_tid(struct chainlog_reader *r, const uint8_t *p, uint32_t *ref)
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

static const uint8_t *get_actor(struct chainlog_reader *r, const uint8_t *p, unsigned int tag,
				uint32_t *ref)
{
	if (!(tag & CHAINLOG_F_CURRENT))
		return get_tid(r, p, ref);
	*ref = r->current;
	return *ref ? p : NULL;
}

/* A pair that the block has not named yet. */
static const uint8_t *get_new_pair(struct chainlog_reader *r, const uint8_t *p, uint32_t *ref)
{
	struct chainlog_pair *pair = &r->pairs[ *ref = ++r->n_pairs];

	*pair = (struct chainlog_pair) { 0, 0, 0 };
	p = chainlog_get_below(p, r->end, UINT64_C(1) << 32, &pair->kstack);
	if (p)
		p = chainlog_get_below(p, r->end, UINT64_C(1) << 32, &pair->ustack);
	return pair->kstack || pair->ustack ? p : NULL;
}

/* *last: the acting thread's last pair of this kind. */
static const uint8_t *get_pair(struct chainlog_reader *r, const uint8_t *p, unsigned int tag,
			       uint32_t *last, struct chainlog_fields *ev)
{
	uint32_t ref;

	if (tag & CHAINLOG_F_NO_STACK)
		return tag & CHAINLOG_F_SAME_STACK ? NULL : p;
	if (!(tag & CHAINLOG_F_SAME_STACK)) {
		p = chainlog_get_below(p, r->end, (uint64_t)r->n_pairs + 1, &ref);
		if (p && !ref)
			p = get_new_pair(r, p, &ref);
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

static const uint8_t *get_state(const uint8_t *p, const uint8_t *end, unsigned int tag, char *state)
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
static const uint8_t *get_unknown_waker(struct chainlog_reader *r, const uint8_t *p,
					unsigned int tag, struct chainlog_fields *ev)
{
	uint32_t wakee;

	if (tag != (CHAINLOG_WAKING | CHAINLOG_F_NO_WAKER | CHAINLOG_F_NO_STACK))
		return NULL;
	p = get_tid(r, p, &wakee);
	if (p)
		ev->other = r->threads[wakee].tid;
	return p;
}

/* SWITCH, WAKING and WAKING_NEW: two threads and the stacks of the one that acts. */
static const uint8_t *get_act(struct chainlog_reader *r, const uint8_t *p, unsigned int tag,
			      struct chainlog_fields *ev)
{
	bool is_switch = ev->kind == CHAINLOG_SWITCH;
	uint32_t actor, other;

	if (!is_switch)
		ev->flags = tag & (CHAINLOG_F_OFF_QUEUE | CHAINLOG_F_NO_WAKER);
	if (ev->flags & CHAINLOG_F_NO_WAKER)
		return get_unknown_waker(r, p, tag, ev);
	p = get_actor(r, p, tag, &actor);
	if (p && is_switch)
		p = get_state(p, r->end, tag, &ev->state);
	if (p)
		p = get_tid(r, p, &other);
	if (!p)
		return NULL;
	ev->tid = r->threads[actor].tid;
	ev->other = r->threads[other].tid;
	if (is_switch)
		r->current = other;
	return get_pair(r, p, tag, &r->threads[actor].last[!is_switch], ev);
}

/* FORK, EXEC, RENAME and EXIT: a thread and numbers. */
static const uint8_t *get_identity(struct chainlog_reader *r, const uint8_t *p, unsigned int tag,
				   struct chainlog_fields *ev)
{
	uint32_t actor, child;

	p = get_actor(r, p, tag, &actor);
	if (!p)
		return NULL;
	ev->tid = r->threads[actor].tid;
	if (ev->kind == CHAINLOG_FORK) {
		p = get_tid(r, p, &child);
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

static int read_event(struct chainlog_reader *r, struct chainlog_fields *ev)
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
	*ev = (struct chainlog_fields) {
		.time_ns = r->time_ns,
		.cpu = r->cpu,
		.kind = (uint8_t)kind,
	};
	p = kind <= CHAINLOG_WAKING_NEW ? get_act(r, p, tag, ev) : get_identity(r, p, tag, ev);
	if (!p)
		return -EBADMSG;
	r->p = p;
	r->left--;
	return 1;
}

/* Sets a field; false if its value is not possible. */
static bool set_field(struct chainlog_fields *ev, enum chainlog_aux_field field, uint64_t v)
{
	switch (field) {
	case CHAINLOG_FIELD_TID:
		ev->tid = (uint32_t)v;
		return v < CHAINLOG_TID_LIMIT;
	case CHAINLOG_FIELD_OTHER:
		ev->other = (uint32_t)v;
		return v < CHAINLOG_TID_LIMIT;
	case CHAINLOG_FIELD_KSTACK:
		ev->kstack = (uint32_t)v;
		return v <= UINT32_MAX;
	case CHAINLOG_FIELD_USTACK:
		ev->ustack = (uint32_t)v;
		return v <= UINT32_MAX;
	default:
		ev->number[field - CHAINLOG_FIELD_NUMBER] = v;
		return true;
	}
}

/*
 * Reads the known fields of a kind off [p, end); false if one is impossible. Those that an older
 * writer did not write are 0.
 */
static bool read_fields(const uint8_t *fields, const uint8_t *p, const uint8_t *end,
			struct chainlog_fields *ev)
{
	uint64_t v;

	for (size_t i = 0; i < CHAINLOG_AUX_FIELDS && fields[i] && p != end; i++) {
		p = chainlog_get_varint(p, end, &v);
		if (!p || !set_field(ev, fields[i], v))
			return false;
	}
	return true;
}

static int read_aux(struct chainlog_reader *r, struct chainlog_fields *ev)
{
	uint64_t kind, delta, len;
	const uint8_t *fields, *p;

	while (r->left) {
		p = chainlog_get_varint(r->p, r->end, &kind);
		if (p)
			p = chainlog_get_varint(p, r->end, &delta);
		if (p)
			p = chainlog_get_varint(p, r->end, &len);
		if (!p || delta > r->last_ns - r->time_ns || len > (uint64_t)(r->end - p))
			return -EBADMSG;
		r->time_ns += delta;
		r->left--;
		r->p = p + len;
		*ev = (struct chainlog_fields) { .time_ns = r->time_ns, .cpu = r->cpu };
		if (kind >= CHAINLOG_AUX_SHORT) {
			kind -= CHAINLOG_AUX_SHORT;
			ev->number[0] = kind / 2;
			ev->kind =
				CHAINLOG_AUX + (kind & 1 ? CHAINLOG_WOKEN_READY : CHAINLOG_OBJECT);
			return 1;
		}
		fields = chainlog_aux_fields(kind);
		if (fields[0] == CHAINLOG_FIELD_NONE)
			continue;
		ev->kind = (uint8_t)(CHAINLOG_AUX + kind);
		return read_fields(fields, p, r->p, ev) ? 1 : -EBADMSG;
	}
	return r->p == r->end && r->time_ns == r->last_ns ? 0 : -EBADMSG;
}

int chainlog_read(struct chainlog_reader *r, struct chainlog_fields *ev)
{
	return r->aux ? read_aux(r, ev) : read_event(r, ev);
}
