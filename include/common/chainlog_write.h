/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainlog_write.h - writes the events of one CPU into an EVENTS block (chainlog.h). It owns the
 * block in the making and what its coding refers to: the threads and stack pairs that it has named,
 * and the thread that its last switch put on the CPU. It allocates nothing: its tables have a fixed
 * size, and it asks for a new block when they are full.
 */
#ifndef CHAINLOG_WRITE_H
#define CHAINLOG_WRITE_H

#include "chainlog_block.h"
#include "id_index.h"

/* Threads, and pairs, of one block. */
#define CHAINLOG_WRITER_ROOM 8192u
#define CHAINLOG_WRITER_SLOTS (2 * CHAINLOG_WRITER_ROOM)
/* The longest event: tag, time, and at most seven numbers of 32 bits. */
#define CHAINLOG_EVENT_MAX (1 + CHAINLOG_VARINT_MAX + 7 * 5)

/* A block of events of one CPU in the making: some 500 kB, of which little is ever touched. */
struct chainlog_writer {
	struct chainlog_events made;
	uint32_t current; /* reference of the last switch's next; 0: none yet */
	uint32_t woken;	  /* tid of the last waking's wakee; 0: none yet */
	uint32_t n_threads, n_pairs;
	struct id_index thread_index, pair_index;
	struct chainlog_thread threads[CHAINLOG_WRITER_ROOM + 1]; /* by reference */
	struct chainlog_pair pairs[CHAINLOG_WRITER_ROOM + 1];
	uint32_t thread_slots[CHAINLOG_WRITER_SLOTS], pair_slots[CHAINLOG_WRITER_SLOTS];
	uint8_t front[CHAINLOG_FRONT];
	uint8_t events[CHAINLOG_BLOCK_TARGET + CHAINLOG_EVENT_MAX];
};

static inline void chainlog_writer_init(struct chainlog_writer *w, uint32_t cpu)
{
	w->made = (struct chainlog_events) { .cpu = cpu };
	w->thread_index = (struct id_index) { w->thread_slots, 255 };
	w->pair_index = (struct id_index) { w->pair_slots, 255 };
}

/* True if the block has to be finished before an event at time_ns. */
static inline bool chainlog_writer_is_full(const struct chainlog_writer *w, uint64_t time_ns)
{
	return chainlog_events_full(&w->made, time_ns) ||
	       (w->made.count &&
		(w->n_threads > CHAINLOG_WRITER_ROOM - 2 || w->n_pairs == CHAINLOG_WRITER_ROOM));
}

/* Completes the block; the next event begins another. NULL: there are no events. */
static inline uint8_t *chainlog_writer_finish(struct chainlog_writer *w, size_t *block_len)
{
	return chainlog_finish_events(&w->made, CHAINLOG_BLOCK_EVENTS, w->events, block_len);
}

static inline uint32_t chainlog_thread_hash(const void *threads, uint32_t ref)
{
	return hash_pair(((const struct chainlog_thread *)threads)[ref].tid, 0);
}

static inline bool chainlog_thread_same(const void *threads, uint32_t ref, const void *tid)
{
	return ((const struct chainlog_thread *)threads)[ref].tid == *(const uint32_t *)tid;
}

static inline uint32_t chainlog_pair_hash(const void *pairs, uint32_t ref)
{
	const struct chainlog_pair *p = &((const struct chainlog_pair *)pairs)[ref];

	return hash_pair(p->kstack, p->ustack);
}

static inline bool chainlog_pair_same(const void *pairs, uint32_t ref, const void *pair)
{
	const struct chainlog_pair *a = &((const struct chainlog_pair *)pairs)[ref], *b = pair;

	return a->kstack == b->kstack && a->ustack == b->ustack;
}

/* Doubles an index whose slots all lie in the writer; they are at most half used. */
ID_INDEX_INLINE void chainlog_grow_index(struct id_index *x, uint32_t n, id_index_hash hash_of,
					 const void *table)
{
	if (!id_index_is_full(x, n) || x->mask == CHAINLOG_WRITER_SLOTS - 1)
		return;
	x->mask = 2 * x->mask + 1;
	id_index_clear(x);
	id_index_fill(x, n, hash_of, table);
}

static inline void chainlog_begin_block(struct chainlog_writer *w, uint64_t time_ns)
{
	id_index_clear(&w->thread_index);
	id_index_clear(&w->pair_index);
	w->n_threads = w->n_pairs = 0;
	w->current = w->woken = 0;
	w->made.first_ns = w->made.last_ns = time_ns;
}

/* Begins an event. Returns where its fields go, after the time; before that is the tag's byte. */
static inline uint8_t *chainlog_begin_event(struct chainlog_writer *w, uint64_t time_ns)
{
	uint8_t *p;

	if (!w->made.count)
		chainlog_begin_block(w, time_ns);
	p = chainlog_put_varint(w->events + w->made.len + 1, time_ns - w->made.last_ns);
	w->made.last_ns = time_ns;
	return p;
}

static inline void chainlog_end_event(struct chainlog_writer *w, unsigned int tag, const uint8_t *p)
{
	w->events[w->made.len] = (uint8_t)tag;
	w->made.len = (size_t)(p - w->events);
	w->made.count++;
}

static inline uint8_t *chainlog_put_tid(struct chainlog_writer *w, uint8_t *p, uint32_t tid,
					uint32_t *ref)
{
	uint32_t *slot = id_index_slot(&w->thread_index, hash_pair(tid, 0), chainlog_thread_same,
				       w->threads, &tid);

	*ref = *slot;
	if (*ref)
		return chainlog_put_varint(p, *ref);
	*slot = *ref = ++w->n_threads;
	w->threads[*ref] = (struct chainlog_thread) { tid, { 0, 0 } };
	chainlog_grow_index(&w->thread_index, w->n_threads, chainlog_thread_hash, w->threads);
	*p++ = 0;
	return chainlog_put_varint(p, tid);
}

/* The acting thread: left out where the last switch put it on the CPU. */
static inline uint8_t *chainlog_put_actor(struct chainlog_writer *w, uint8_t *p, uint32_t tid,
					  unsigned int *tag, uint32_t *ref)
{
	if (!w->current || w->threads[w->current].tid != tid)
		return chainlog_put_tid(w, p, tid, ref);
	*tag |= CHAINLOG_F_CURRENT;
	*ref = w->current;
	return p;
}

/*
 * The flag for a pair that is (0, 0) or the last one; 0: neither, write it by chainlog_put_pair().
 */
static inline unsigned int chainlog_pair_flag(const struct chainlog_writer *w, uint32_t last,
					      uint32_t kstack, uint32_t ustack)
{
	if (!kstack && !ustack)
		return CHAINLOG_F_NO_STACK;
	return last && w->pairs[last].kstack == kstack && w->pairs[last].ustack == ustack
		       ? CHAINLOG_F_SAME_STACK
		       : 0;
}

static inline uint8_t *chainlog_put_pair(struct chainlog_writer *w, uint8_t *p, uint32_t kstack,
					 uint32_t ustack, uint32_t *last)
{
	struct chainlog_pair pair = { kstack, ustack, 0 };
	uint32_t *slot = id_index_slot(&w->pair_index, hash_pair(kstack, ustack),
				       chainlog_pair_same, w->pairs, &pair);

	*last = *slot;
	if (*last)
		return chainlog_put_varint(p, *last);
	*slot = *last = ++w->n_pairs;
	w->pairs[*last] = pair;
	chainlog_grow_index(&w->pair_index, w->n_pairs, chainlog_pair_hash, w->pairs);
	*p++ = 0;
	return chainlog_put_varint(chainlog_put_varint(p, kstack), ustack);
}

/*
 * Add an event; the block must not be full. Tids are below CHAINLOG_TID_LIMIT, a state is a letter,
 * stacks and strings are ids.
 */
static inline void chainlog_write_switch(struct chainlog_writer *w, uint64_t time_ns, uint32_t prev,
					 char state, uint32_t next, uint32_t kstack,
					 uint32_t ustack)
{
	unsigned int tag = CHAINLOG_SWITCH, stacks;
	uint8_t *p = chainlog_begin_event(w, time_ns);
	uint32_t ref;

	p = chainlog_put_actor(w, p, prev, &tag, &ref);
	stacks = chainlog_pair_flag(w, w->threads[ref].last[0], kstack, ustack);
	if (state == 'S')
		tag |= CHAINLOG_F_SLEEP;
	else if (state == 'R')
		tag |= CHAINLOG_F_RUNNABLE;
	else
		*p++ = (uint8_t)state;
	p = chainlog_put_tid(w, p, next, &w->current);
	if (!stacks)
		p = chainlog_put_pair(w, p, kstack, ustack, &w->threads[ref].last[0]);
	chainlog_end_event(w, tag | stacks, p);
}

/*
 * kind: CHAINLOG_WAKING or CHAINLOG_WAKING_NEW, or-ed with CHAINLOG_F_OFF_QUEUE; or CHAINLOG_WAKING
 * with CHAINLOG_F_NO_WAKER: then waker and stacks do not count.
 */
static inline void chainlog_write_waking(struct chainlog_writer *w, uint64_t time_ns,
					 unsigned int kind, uint32_t waker, uint32_t wakee,
					 uint32_t kstack, uint32_t ustack)
{
	unsigned int tag = kind, stacks;
	uint8_t *p = chainlog_begin_event(w, time_ns);
	uint32_t ref, unused;

	w->woken = wakee;
	if (kind & CHAINLOG_F_NO_WAKER) {
		p = chainlog_put_tid(w, p, wakee, &unused);
		chainlog_end_event(w, tag | CHAINLOG_F_NO_STACK, p);
		return;
	}
	p = chainlog_put_actor(w, p, waker, &tag, &ref);
	stacks = chainlog_pair_flag(w, w->threads[ref].last[1], kstack, ustack);
	p = chainlog_put_tid(w, p, wakee, &unused);
	if (!stacks)
		p = chainlog_put_pair(w, p, kstack, ustack, &w->threads[ref].last[1]);
	chainlog_end_event(w, tag | stacks, p);
}

/* Whether the block's last event is at time_ns, and its last waking that of the thread tid. */
static inline bool chainlog_writer_woke(const struct chainlog_writer *w, uint64_t time_ns,
					uint32_t tid)
{
	return w->made.count && w->made.last_ns == time_ns && w->woken == tid;
}

static inline void chainlog_write_fork(struct chainlog_writer *w, uint64_t time_ns, uint32_t parent,
				       uint32_t child, uint32_t child_tgid, uint32_t name)
{
	unsigned int tag = CHAINLOG_FORK;
	uint8_t *p = chainlog_begin_event(w, time_ns);
	uint32_t unused;

	p = chainlog_put_actor(w, p, parent, &tag, &unused);
	p = chainlog_put_tid(w, p, child, &unused);
	p = chainlog_put_varint(p, child_tgid);
	chainlog_end_event(w, tag, chainlog_put_varint(p, name));
}

static inline void chainlog_write_exec(struct chainlog_writer *w, uint64_t time_ns, uint32_t tid,
				       uint32_t old_tid, uint32_t file)
{
	uint8_t *p = chainlog_begin_event(w, time_ns);
	uint32_t unused;

	p = chainlog_put_tid(w, p, tid, &unused);
	p = chainlog_put_varint(p, old_tid);
	chainlog_end_event(w, CHAINLOG_EXEC, chainlog_put_varint(p, file));
}

static inline void chainlog_write_rename(struct chainlog_writer *w, uint64_t time_ns, uint32_t tid,
					 uint32_t name)
{
	uint8_t *p = chainlog_begin_event(w, time_ns);
	uint32_t unused;

	p = chainlog_put_tid(w, p, tid, &unused);
	chainlog_end_event(w, CHAINLOG_RENAME, chainlog_put_varint(p, name));
}

static inline void chainlog_write_exit(struct chainlog_writer *w, uint64_t time_ns, uint32_t tid)
{
	uint8_t *p = chainlog_begin_event(w, time_ns);
	uint32_t unused;

	chainlog_end_event(w, CHAINLOG_EXIT, chainlog_put_tid(w, p, tid, &unused));
}

#endif /* CHAINLOG_WRITE_H */
