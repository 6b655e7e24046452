/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plain_stack.h - ids of stacks that the kernel walks each time, for plain.bpf.c. Part of
 * chaincap.bpf.c.
 */
#pragma once

/*
 * The ids to be given next, in turn: who takes one puts that which comes WIRE_PLAIN_IDS later. The
 * collector puts the first ones.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, WIRE_PLAIN_IDS);
	__uint(value_size, sizeof(__u32));
} plain_ids SEC(".maps");

/* 0: more threads than there are ids are here at this moment. */
static __always_inline __u32 plain_new_id(void)
{
	__u32 id = 0, later;

	if (bpf_map_pop_elem(&plain_ids, &id))
		return 0;
	later = ((id - 1 + WIRE_PLAIN_IDS) & (WIRE_STACK_IDS - 1)) + 1;
	bpf_map_push_elem(&plain_ids, &later, 0);
	*(volatile __u32 *)&last_stack_id = id;
	return id;
}

/*
 * The hash of s->n frames. Where this is inlined the verifier follows each number of frames on its
 * own: what comes after it must not have the number in a register.
 */
static __always_inline __u64 plain_hash(const struct wire_stack *s, __u64 hash)
{
	__u32 n = s->n;

	hash = mix(hash, n);
	for (__u32 i = 0; i < WIRE_STACK_MAX; i++) {
		if (i >= n)
			break;
		hash = mix(hash, s->frames[i]);
	}
	return hash;
}

/*
 * Walks the current thread's kernel stack, or with an owner its user stack, whose space is the
 * hash. exact: its leaf is an instruction that was interrupted. Returns its id, 0 if it has none.
 * Its frames are sent before the map has it: no event can have the id of a stack that found no
 * room, but for this one's own.
 */
static __always_inline __u32 plain_stack_id(void *ctx, void *ring, struct workspace *w, __u64 now,
					    struct task_struct *owner, __u64 hash, bool exact)
{
	struct wire_known_stack new = { 0 };
	struct wire_stack *s = &w->scratch;
	__u64 word;
	__u32 n;

	if (!ring)
		return 0;
	n = walk(ctx, s, owner ? BPF_F_USER_STACK : 0);
	if (!n)
		return 0;
	if (exact)
		s->frames[0] ^= WIRE_EXACT;
	*(volatile __u32 *)&s->n = n;
	hash = plain_hash(s, hash);
	word = known_word(bpf_map_lookup_elem(&stacks, &hash), hash);
	if (word)
		return (__u32)word;
	new.id = plain_new_id();
	if (!new.id)
		return 0;
	n = *(volatile __u32 *)&s->n;
	fill_record(&s->r, now, WIRE_STACK);
	s->id = new.id;
	s->tgid = owner ? OF(owner, tgid) : 0;
	s->end = n >= max_stack ? CHAINLOG_STACK_DEPTH
		 : owner	? CHAINLOG_STACK_GUESSED
				: CHAINLOG_STACK_UNKNOWN;
	s->n_code = 0;
	s->is_32bit = 0;
	barrier_var(n);
	if (n > WIRE_STACK_MAX)
		n = WIRE_STACK_MAX;
	if (!bpf_ringbuf_output(ring, s, __builtin_offsetof(struct wire_stack, frames) + n * 8,
				BPF_RB_NO_WAKEUP)) {
		new.check = hash >> 32 | WIRE_SENT;
		bpf_map_update_elem(&stacks, &hash, &new, BPF_NOEXIST);
	}
	return new.id;
}

/* Found by frame pointers, which in most programs are none: the stack is a guess. */
static __always_inline __u32 plain_user_stack_id(void *ctx, struct wire_kind_state *k,
						 struct workspace *w, __u64 now, bool exact)
{
	struct task_struct *owner = current_task();
	__u32 id = plain_stack_id(ctx, this_ring(), w, now, owner, space_of(owner), exact);

	if (id)
		k->ends[CHAINLOG_STACK_GUESSED]++;
	return id;
}
