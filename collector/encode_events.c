// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "encode_private.h"

void encode_free_cpu(struct cpu_block *b)
{
	if (!b)
		return;
	free(b->events);
	free(b->thread_slots);
	free(b->pair_slots);
	free(b);
}

static struct cpu_block *cpu_block(struct encoder *e, uint32_t cpu)
{
	struct cpu_block *b;

	if (cpu >= e->ncpus) {
		struct cpu_block **cpus;

		if (cpu > 65535)
			return NULL;
		cpus = realloc(e->cpus, (cpu + 1) * sizeof(struct cpu_block *));
		if (!cpus)
			return NULL;
		memset(cpus + e->ncpus, 0, (cpu + 1 - e->ncpus) * sizeof(struct cpu_block *));
		e->cpus = cpus;
		e->ncpus = cpu + 1;
	}
	if (e->cpus[cpu])
		return e->cpus[cpu];
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->cpu = cpu;
	b->events = malloc(BLOCK_CAP);
	b->thread_slots = calloc(THREAD_SLOTS, sizeof(*b->thread_slots));
	b->pair_slots = calloc(PAIR_SLOTS, sizeof(*b->pair_slots));
	if (!b->events || !b->thread_slots || !b->pair_slots) {
		encode_free_cpu(b);
		return NULL;
	}
	e->cpus[cpu] = b;
	return b;
}

int encode_flush_events(struct encoder *e, struct cpu_block *b)
{
	uint8_t head[EVENTS_HEAD_MAX], *p = head;

	if (!b->count)
		return 0;
	p = chainlog_put_varint(p, b->cpu);
	p = chainlog_put_varint(p, b->first_ns);
	p = chainlog_put_varint(p, b->last_ns - b->first_ns);
	p = chainlog_put_varint(p, b->count);
	int err = encode_put_block(e, CHAINLOG_BLOCK_EVENTS, head, (size_t)(p - head), b->events,
				   b->len);

	b->count = 0;
	b->len = 0;
	return err;
}

/*
 * Begins an event: the block of cpu, with room for ITEM_MAX bytes at *p, of which the first is
 * left for the tag and the time stands after it.
 */
static struct cpu_block *begin_event(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint8_t **p,
				     int *err)
{
	struct cpu_block *b = cpu_block(e, cpu);

	*err = -ENOMEM;
	if (!b)
		return NULL;
	*err = 0;
	if (b->count && (b->len >= BLOCK_TARGET || time_ns < b->last_ns))
		*err = encode_flush_events(e, b);
	if (*err)
		return NULL;
	if (!b->count) {
		b->generation++;
		b->threads = 0;
		b->pairs = 0;
		b->has_current = false;
		b->first_ns = b->last_ns = time_ns;
	}
	*p = chainlog_put_varint(b->events + b->len + 1, time_ns - b->last_ns);
	b->last_ns = time_ns;
	return b;
}

static int end_event(struct encoder *e, struct cpu_block *b, unsigned int tag, const uint8_t *p)
{
	b->events[b->len] = (uint8_t)tag;
	b->len = (size_t)(p - b->events);
	b->count++;
	e->events++;
	return 0;
}

static struct thread_slot *find_thread(struct cpu_block *b, uint32_t tid)
{
	uint32_t i = (tid * 0x9e3779b1u) >> 17;

	static_assert(THREAD_SLOTS == 1u << 15 && PAIR_SLOTS == 1u << 15, "hashes keep 15 bits");
	while (b->thread_slots[i].generation == b->generation && b->thread_slots[i].tid != tid)
		i = (i + 1) & (THREAD_SLOTS - 1);
	return &b->thread_slots[i];
}

/* The slot of tid, whose index is new in this block if *is_new. */
static struct thread_slot *thread_slot(struct encoder *e, struct cpu_block *b, uint32_t tid,
				       bool *is_new)
{
	struct thread_slot *s = find_thread(b, tid);

	*is_new = s->generation != b->generation;
	if (*is_new) {
		*s = (struct thread_slot) { tid, b->generation, b->threads++, { { 0 } }, { 0 } };
		encode_count_thread(e, tid);
	}
	return s;
}

static uint8_t *put_thread(struct encoder *e, struct cpu_block *b, uint8_t *p, uint32_t tid,
			   struct thread_slot **slot)
{
	bool is_new;
	struct thread_slot *s = thread_slot(e, b, tid, &is_new);

	if (slot)
		*slot = s;
	if (!is_new)
		return chainlog_put_varint(p, (uint64_t)s->index + 1);
	*p++ = 0;
	return chainlog_put_varint(p, tid);
}

static uint8_t *put_pair(struct cpu_block *b, uint8_t *p, uint32_t kstack, uint32_t ustack)
{
	uint32_t i = ((kstack * 0x9e3779b1u) ^ (ustack * 0x85ebca77u)) >> 17;
	struct pair_slot *s;

	for (;; i = (i + 1) & (PAIR_SLOTS - 1)) {
		s = &b->pair_slots[i];
		if (s->generation != b->generation)
			break;
		if (s->kstack == kstack && s->ustack == ustack)
			return chainlog_put_varint(p, (uint64_t)s->index + 1);
	}
	*s = (struct pair_slot) { kstack, ustack, b->generation, b->pairs++ };
	*p++ = 0;
	p = chainlog_put_varint(p, kstack);
	return chainlog_put_varint(p, ustack);
}

/*
 * The acting thread of an event: left out where it is the one that the last switch put there.
 * Sets flags in *tag and gives the thread's slot.
 */
static uint8_t *put_actor(struct encoder *e, struct cpu_block *b, uint8_t *p, uint32_t tid,
			  unsigned int *tag, struct thread_slot **slot)
{
	if (b->has_current && b->current == tid) {
		*tag |= CHAINLOG_F_CURRENT;
		if (slot)
			*slot = find_thread(b, tid);
		return p;
	}
	return put_thread(e, b, p, tid, slot);
}

/* kind: 0 switch, 1 waking; tells whether the stacks are this thread's last ones of the kind. */
static unsigned int stack_flags(struct thread_slot *s, int kind, uint32_t kstack, uint32_t ustack)
{
	bool same = s->has[kind] && s->stacks[kind][0] == kstack && s->stacks[kind][1] == ustack;

	if (!kstack && !ustack)
		return CHAINLOG_F_NO_STACK;
	s->has[kind] = 1;
	s->stacks[kind][0] = kstack;
	s->stacks[kind][1] = ustack;
	return same ? CHAINLOG_F_SAME_STACK : 0;
}

int encoder_switch(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t prev, char state,
		   uint32_t next, uint32_t kstack, uint32_t ustack)
{
	unsigned int tag = CHAINLOG_SWITCH;
	struct thread_slot *slot;
	struct cpu_block *b;
	uint8_t *p;
	int err;

	b = begin_event(e, cpu, time_ns, &p, &err);
	if (!b)
		return err;
	p = put_actor(e, b, p, prev, &tag, &slot);
	tag |= stack_flags(slot, 0, kstack, ustack);
	if (state == 'S')
		tag |= CHAINLOG_F_SLEEP;
	else if (state == 'R')
		tag |= CHAINLOG_F_RUNNABLE;
	else
		*p++ = (uint8_t)state;
	p = put_thread(e, b, p, next, NULL);
	if (!(tag & (CHAINLOG_F_SAME_STACK | CHAINLOG_F_NO_STACK)))
		p = put_pair(b, p, kstack, ustack);
	b->current = next;
	b->has_current = true;
	return end_event(e, b, tag, p);
}

int encoder_waking(struct encoder *e, uint32_t cpu, uint64_t time_ns, enum chainlog_event kind,
		   uint32_t waker, uint32_t target, uint32_t kstack, uint32_t ustack)
{
	unsigned int tag = kind;
	struct thread_slot *slot;
	struct cpu_block *b;
	uint8_t *p;
	int err;

	b = begin_event(e, cpu, time_ns, &p, &err);
	if (!b)
		return err;
	p = put_actor(e, b, p, waker, &tag, &slot);
	tag |= stack_flags(slot, 1, kstack, ustack);
	p = put_thread(e, b, p, target, NULL);
	if (!(tag & (CHAINLOG_F_SAME_STACK | CHAINLOG_F_NO_STACK)))
		p = put_pair(b, p, kstack, ustack);
	return end_event(e, b, tag, p);
}

int encoder_fork(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t parent, uint32_t child,
		 uint32_t child_tgid, const char *name)
{
	uint32_t string = encode_cstring(e, name);
	unsigned int tag = CHAINLOG_FORK;
	struct cpu_block *b;
	uint8_t *p;
	int err;

	b = begin_event(e, cpu, time_ns, &p, &err);
	if (!b)
		return err;
	p = put_actor(e, b, p, parent, &tag, NULL);
	p = put_thread(e, b, p, child, NULL);
	p = chainlog_put_varint(p, child_tgid);
	p = chainlog_put_varint(p, string);
	return end_event(e, b, tag, p);
}

/* EXEC, RENAME and EXIT: a thread and up to two numbers. */
static int thread_event(struct encoder *e, uint32_t cpu, uint64_t time_ns, enum chainlog_event kind,
			uint32_t tid, const uint32_t *fields, size_t n)
{
	struct cpu_block *b;
	uint8_t *p;
	int err;

	b = begin_event(e, cpu, time_ns, &p, &err);
	if (!b)
		return err;
	p = put_thread(e, b, p, tid, NULL);
	for (size_t i = 0; i < n; i++)
		p = chainlog_put_varint(p, fields[i]);
	return end_event(e, b, kind, p);
}

int encoder_exec(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid, uint32_t old_tid,
		 const char *filename)
{
	uint32_t fields[2] = { old_tid, encode_cstring(e, filename) };

	return thread_event(e, cpu, time_ns, CHAINLOG_EXEC, tid, fields, 2);
}

int encoder_rename(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid,
		   const char *name)
{
	uint32_t string = encode_cstring(e, name);

	return thread_event(e, cpu, time_ns, CHAINLOG_RENAME, tid, &string, 1);
}

int encoder_exit(struct encoder *e, uint32_t cpu, uint64_t time_ns, uint32_t tid)
{
	return thread_event(e, cpu, time_ns, CHAINLOG_EXIT, tid, NULL, 0);
}
