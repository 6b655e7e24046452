/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * edges.h - --light: switches and wakings that have no stacks, as words of an array that nobody
 * need read (chainwire_edges.h). Part of chaincap.bpf.c.
 */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* by CPU */
	__type(key, __u32);
	__type(value, struct wire_edges);
} edges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the parts of all CPUs */
	__type(key, __u32);
	__type(value, __u64);
} edge_words SEC(".maps");

/* Writes the word that stands n words after those that are there. */
static __always_inline void put_word(const struct wire_edges *e, __u32 n, __u64 word)
{
	__u32 at = e->base + (((__u32)e->words + n) & e->mask);
	volatile __u64 *to = bpf_map_lookup_elem(&edge_words, &at);

	if (to)
		*to = word;
}

static __always_inline void put_rest(const struct wire_edges *e, __u32 n, __u64 v)
{
	put_word(e, n, v << WIRE_EDGE_BITS | WIRE_EDGE_REST);
}

static __always_inline __u32 put_mark(struct wire_edges *e, __u64 now, __u32 actor)
{
	put_word(e, 0, now << WIRE_EDGE_BITS | WIRE_EDGE_MARK);
	put_rest(e, 1, actor);
	put_rest(e, 2, e->edges);
	put_rest(e, 3, e->objects);
	e->marked = e->words;
	e->running = actor;
	return WIRE_EDGE_MARK_WORDS;
}

/* Thread `actor` switches to thread `other`, or wakes it; object: 0: none. */
static __noinline void put_edge(__u64 now, enum wire_edge what, __u32 actor, __u32 other,
				__u32 object)
{
	__u32 cpu = bpf_get_smp_processor_id(), n = 0;
	struct wire_edges *e = bpf_map_lookup_elem(&edges, &cpu);

	if (!e)
		return;
	/* As in on_stacks(). */
	if (*(volatile __u32 *)&e->busy) {
		__sync_fetch_and_add(&e->missed, 1);
		return;
	}
	*(volatile __u32 *)&e->busy = 1;
	if (actor != e->running || e->words - e->marked >= WIRE_EDGE_MARK_EVERY ||
	    now - e->at_ns >= 1ull << (WIRE_EDGE_TIME_BITS - 1) || !e->words)
		n = put_mark(e, now, actor);
	put_word(e, n++,
		 now << WIRE_EDGE_TIME | (__u64)other << WIRE_EDGE_TID |
			 (object ? WIRE_EDGE_OBJECT : 0) | what);
	if (object) {
		put_rest(e, n++, object);
		e->objects++;
	}
	e->at_ns = now;
	if (what <= WIRE_EDGE_BLOCKED)
		e->running = other;
	e->edges++;
	barrier();
	*(volatile __u64 *)&e->words = e->words + n;
	*(volatile __u32 *)&e->busy = 0;
}

/* After all of an edge that began at now: what one in so many costs. */
static __noinline void end_edge(__u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_edges *e = bpf_map_lookup_elem(&edges, &cpu);

	if (e && !(e->edges & (WIRE_COST_EACH - 1)))
		e->cost_ns += bpf_ktime_get_ns() - now;
}
