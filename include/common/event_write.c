// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_block.h"

#include <string.h>

#include "crc32c.h"

/* ---- blocks -------------------------------------------------------------------------------- */

/* Writes the header of the block at p, whose payload of len bytes stands behind it already. */
static void put_header(uint8_t *p, enum chainlog_block type, size_t len)
{
	uint32_t crc;

	memset(p, 0, CHAINLOG_HEADER_SIZE);
	chainlog_put_le32(p + CHAINLOG_OFF_SYNC, CHAINLOG_SYNC);
	p[CHAINLOG_OFF_TYPE] = (uint8_t)type;
	p[CHAINLOG_OFF_VERSION] = CHAINLOG_VERSION;
	chainlog_put_le32(p + CHAINLOG_OFF_LEN, (uint32_t)len);
	crc = crc32c(crc32c(0, p, CHAINLOG_OFF_CRC), p + CHAINLOG_HEADER_SIZE, len);
	chainlog_put_le32(p + CHAINLOG_OFF_CRC, crc);
}

uint8_t *chainlog_finish_block(enum chainlog_block type, const uint64_t *head, size_t n,
			       uint8_t *body, size_t len, size_t *block_len)
{
	uint8_t numbers[4 * CHAINLOG_VARINT_MAX] = { 0 }, *p = numbers;
	uint8_t *block;

	for (size_t i = 0; i < n; i++)
		p = chainlog_put_varint(p, head[i]);
	len += (size_t)(p - numbers);
	block = body - (p - numbers) - CHAINLOG_HEADER_SIZE;
	memcpy(block + CHAINLOG_HEADER_SIZE, numbers, (size_t)(p - numbers));
	put_header(block, type, len);
	*block_len = CHAINLOG_HEADER_SIZE + len;
	return block;
}

/*
 * Completes the block, whose events are at body, before which there are CHAINLOG_FRONT bytes of
 * room; the next event begins another. NULL: there are no events.
 */
static uint8_t *finish_events(struct chainlog_events *e, enum chainlog_block type, uint8_t *body,
			      size_t *block_len)
{
	uint64_t head[4] = { e->cpu, e->first_ns, e->last_ns - e->first_ns, e->count };
	size_t len = e->len;

	*block_len = 0;
	if (!e->count)
		return NULL;
	e->count = 0;
	e->len = 0;
	return chainlog_finish_block(type, head, 4, body, len, block_len);
}

void chainlog_writer_init(struct chainlog_writer *w, uint32_t cpu)
{
	w->made = (struct chainlog_events) { .cpu = cpu };
	w->thread_index = (struct id_index) { w->thread_slots, 255 };
	w->pair_index = (struct id_index) { w->pair_slots, 255 };
}

uint8_t *chainlog_writer_finish(struct chainlog_writer *w, size_t *block_len)
{
	return finish_events(&w->made, CHAINLOG_BLOCK_EVENTS, w->events, block_len);
}

/* ---- events -------------------------------------------------------------------------------- */

static uint32_t thread_hash(const void *threads, uint32_t ref)
{
	return hash_pair(((const struct chainlog_thread *)threads)[ref].tid, 0);
}

static bool thread_same(const void *threads, uint32_t ref, const void *tid)
{
	return ((const struct chainlog_thread *)threads)[ref].tid == *(const uint32_t *)tid;
}

static uint32_t pair_hash(const void *pairs, uint32_t ref)
{
	const struct chainlog_pair *p = &((const struct chainlog_pair *)pairs)[ref];

	return hash_pair(p->kstack, p->ustack);
}

static bool pair_same(const void *pairs, uint32_t ref, const void *pair)
{
	const struct chainlog_pair *a = &((const struct chainlog_pair *)pairs)[ref], *b = pair;

	return a->kstack == b->kstack && a->ustack == b->ustack;
}

/* Doubles an index whose slots all lie in the writer; they are at most half used. */
ID_INDEX_INLINE void grow_index(struct id_index *x, uint32_t n, id_index_hash hash_of,
				const void *table)
{
	if (!id_index_is_full(x, n) || x->mask == CHAINLOG_WRITER_SLOTS - 1)
		return;
	x->mask = 2 * x->mask + 1;
	id_index_clear(x);
	id_index_fill(x, n, hash_of, table);
}

static void begin_block(struct chainlog_writer *w, uint64_t time_ns)
{
	id_index_clear(&w->thread_index);
	id_index_clear(&w->pair_index);
	w->n_threads = w->n_pairs = 0;
	w->current = w->woken = 0;
	w->made.first_ns = w->made.last_ns = time_ns;
}

/* Begins an event. Returns where its fields go, after the time; before that is the tag's byte. */
ID_INDEX_INLINE uint8_t *begin_event(struct chainlog_writer *w, uint64_t time_ns)
{
	uint8_t *p;

	if (!w->made.count)
		begin_block(w, time_ns);
	p = chainlog_put_varint(w->events + w->made.len + 1, time_ns - w->made.last_ns);
	w->made.last_ns = time_ns;
	return p;
}

static void end_event(struct chainlog_writer *w, unsigned int tag, const uint8_t *p)
{
	w->events[w->made.len] = (uint8_t)tag;
	w->made.len = (size_t)(p - w->events);
	w->made.count++;
}

/* Notes a thread, or a pair, that the block does not have yet. Rare, so kept out of its callers. */
__attribute__((noinline)) static uint32_t add_thread(struct chainlog_writer *w, uint32_t *slot,
						     uint32_t tid)
{
	uint32_t ref = *slot = ++w->n_threads;

	w->threads[ref] = (struct chainlog_thread) { tid, { 0, 0 } };
	grow_index(&w->thread_index, ref, thread_hash, w->threads);
	return ref;
}

__attribute__((noinline)) static uint32_t add_pair(struct chainlog_writer *w, uint32_t *slot,
						   const struct event *ev)
{
	uint32_t ref = *slot = ++w->n_pairs;

	w->pairs[ref] = (struct chainlog_pair) { ev->kstack, ev->ustack, 0 };
	grow_index(&w->pair_index, ref, pair_hash, w->pairs);
	return ref;
}

ID_INDEX_INLINE uint8_t *put_tid(struct chainlog_writer *w, uint8_t *p, uint32_t tid, uint32_t *ref)
{
	uint32_t *slot =
		id_index_slot(&w->thread_index, hash_pair(tid, 0), thread_same, w->threads, &tid);

	*ref = *slot;
	if (*ref)
		return chainlog_put_varint(p, *ref);
	*ref = add_thread(w, slot, tid);
	*p++ = 0;
	return chainlog_put_varint(p, tid);
}

/* The acting thread: left out where the last switch put it on the CPU. */
ID_INDEX_INLINE uint8_t *put_actor(struct chainlog_writer *w, uint8_t *p, uint32_t tid,
				   unsigned int *tag, uint32_t *ref)
{
	if (!w->current || w->threads[w->current].tid != tid)
		return put_tid(w, p, tid, ref);
	*tag |= CHAINLOG_F_CURRENT;
	*ref = w->current;
	return p;
}

/* The flag for a pair that is (0, 0) or the last one; 0: neither, write it by put_pair(). */
static unsigned int pair_flag(const struct chainlog_writer *w, uint32_t last,
			      const struct event *ev)
{
	if (!ev->kstack && !ev->ustack)
		return CHAINLOG_F_NO_STACK;
	return last && w->pairs[last].kstack == ev->kstack && w->pairs[last].ustack == ev->ustack
		       ? CHAINLOG_F_SAME_STACK
		       : 0;
}

ID_INDEX_INLINE uint8_t *put_pair(struct chainlog_writer *w, uint8_t *p, const struct event *ev,
				  uint32_t *last)
{
	struct chainlog_pair pair = { ev->kstack, ev->ustack, 0 };
	uint32_t *slot = id_index_slot(&w->pair_index, hash_pair(ev->kstack, ev->ustack), pair_same,
				       w->pairs, &pair);

	*last = *slot;
	if (*last)
		return chainlog_put_varint(p, *last);
	*last = add_pair(w, slot, ev);
	*p++ = 0;
	return chainlog_put_varint(chainlog_put_varint(p, ev->kstack), ev->ustack);
}

static void write_switch(struct chainlog_writer *w, const struct event *ev)
{
	unsigned int tag = CHAINLOG_SWITCH, stacks;
	uint8_t *p = begin_event(w, ev->time_ns);
	uint32_t ref;

	p = put_actor(w, p, ev->tid, &tag, &ref);
	stacks = pair_flag(w, w->threads[ref].last[0], ev);
	if (ev->state == 'S')
		tag |= CHAINLOG_F_SLEEP;
	else if (ev->state == 'R')
		tag |= CHAINLOG_F_RUNNABLE;
	else
		*p++ = (uint8_t)ev->state;
	p = put_tid(w, p, ev->other, &w->current);
	if (!stacks)
		p = put_pair(w, p, ev, &w->threads[ref].last[0]);
	end_event(w, tag | stacks, p);
}

static void write_waking(struct chainlog_writer *w, const struct event *ev)
{
	unsigned int tag = ev->kind | ev->flags, stacks;
	uint8_t *p = begin_event(w, ev->time_ns);
	uint32_t ref, unused;

	w->woken = ev->other;
	if (ev->flags & CHAINLOG_F_NO_WAKER) {
		p = put_tid(w, p, ev->other, &unused);
		end_event(w, tag | CHAINLOG_F_NO_STACK, p);
		return;
	}
	p = put_actor(w, p, ev->tid, &tag, &ref);
	stacks = pair_flag(w, w->threads[ref].last[1], ev);
	p = put_tid(w, p, ev->other, &unused);
	if (!stacks)
		p = put_pair(w, p, ev, &w->threads[ref].last[1]);
	end_event(w, tag | stacks, p);
}

/* FORK, EXEC, RENAME and EXIT: a thread and numbers. */
static void write_identity(struct chainlog_writer *w, const struct event *ev)
{
	unsigned int tag = ev->kind;
	uint8_t *p = begin_event(w, ev->time_ns);
	uint32_t unused;

	if (ev->kind == CHAINLOG_FORK) {
		p = put_actor(w, p, ev->tid, &tag, &unused);
		p = put_tid(w, p, ev->other, &unused);
		p = chainlog_put_varint(p, ev->tgid);
	} else {
		p = put_tid(w, p, ev->tid, &unused);
	}
	if (ev->kind == CHAINLOG_EXEC)
		p = chainlog_put_varint(p, ev->other);
	if (ev->kind != CHAINLOG_EXIT)
		p = chainlog_put_varint(p, ev->string);
	end_event(w, tag, p);
}

void chainlog_write(struct chainlog_writer *w, const struct event *ev)
{
	if (ev->kind == CHAINLOG_SWITCH)
		write_switch(w, ev);
	else if (ev->kind <= CHAINLOG_WAKING_NEW)
		write_waking(w, ev);
	else
		write_identity(w, ev);
}

/* ---- auxiliary events ---------------------------------------------------------------------- */

void chainlog_aux_init(struct chainlog_aux_writer *w, uint32_t cpu)
{
	w->made = (struct chainlog_events) { .cpu = cpu };
	chainlog_requests_init(&w->requests);
}

uint8_t *chainlog_aux_finish(struct chainlog_aux_writer *w, size_t *block_len)
{
	return finish_events(&w->made, CHAINLOG_BLOCK_AUX_EVENTS, w->events, block_len);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What is written of a field. *ago: the last time's, before it the event's own time. */
static uint64_t field_value(const struct event *ev, const struct event_field *f, uint64_t *ago)
{
	uint64_t v = event_value(ev, f), since = v < ev->time_ns ? ev->time_ns - v : 0;

	switch (f->type) {
	case FIELD_SINCE:
		return v ? since + !since : 0;
	case FIELD_AGO:
		return *ago = smaller(since, *ago);
	case FIELD_FIRST:
		return *ago > since ? *ago : since;
	case FIELD_UNTIL:
		return v - ev->time_ns;
	default:
		return v;
	}
}

void chainlog_aux_write(struct chainlog_aux_writer *w, const struct event *ev)
{
	uint64_t kind = ev->kind - CHAINLOG_AUX, ago = UINT64_MAX;
	const struct event_field *f = event_fields(ev->kind);
	uint8_t *p = w->events + w->made.len, *at = p, *len, *end = NULL;

	if (!w->made.count) {
		w->made.first_ns = w->made.last_ns = ev->time_ns;
		chainlog_requests_renew(&w->requests);
	}
	if (kind == CHAINLOG_WAITS_FOR || kind == CHAINLOG_WOKEN_READY) {
		f = event_fields(0); /* none */
		kind = CHAINLOG_AUX_SHORT + 2 * (uint64_t)ev->awaited.object +
		       (kind == CHAINLOG_WOKEN_READY);
	}
	p = chainlog_put_varint(p, kind);
	p = chainlog_put_varint(p, ev->time_ns - w->made.last_ns);
	/* All fields together have less than 128 bytes, as most are short: their length takes one.
	 */
	len = p++;
	if (kind == CHAINLOG_REQUEST)
		end = chainlog_request_write(&w->requests, p, ev);
	if (end) {
		*at = CHAINLOG_REQUEST_SHORT;
		p = end;
	}
	for (; !end && f->type; f++)
		p = chainlog_put_varint(p, field_value(ev, f, &ago));
	*len = (uint8_t)(p - len - 1);
	w->made.last_ns = ev->time_ns;
	w->made.len = (size_t)(p - w->events);
	w->made.count++;
}
