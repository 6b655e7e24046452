/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame_pointers.h - walks a user stack by frame pointers, for --no-unwind: as the kernel does, but
 * with fewer reads of user memory. Part of chaincap.bpf.c.
 */
#pragma once

/*
 * Hint by the low bits of the tid: bytes from the first frame to the last in earlier walks, so that
 * one read usually fetches all. A read costs as much as copying some hundred bytes.
 */
#define SPANS (1u << 15)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPANS);
	__type(key, __u32);
	__type(value, __u32);
} spans SEC(".maps");

#define FRAME 16u /* bytes: the next frame's address, and a return address */

/*
 * Walks as perf_callchain_user() does, but ends at a frame pointer that does not lead to an address
 * above the callee's frame: code without frame pointers left it in the register. Following it would
 * give false frames, and mostly a page fault, which costs more than the whole walk. Returns the
 * number of frames in s, the first of which is there already, and continues the hash in k->hash.
 */
__noinline __u32 follow_frame_pointers(struct wire_kind_state *k, struct workspace *w,
				       struct wire_stack *s, __u64 sp, __u64 fp)
{
	__u32 *span, slot, i, len;
	__u64 first = fp, hash;

	if (!k || !w || !s)
		return 0;
	slot = k->tid & (SPANS - 1);
	span = bpf_map_lookup_elem(&spans, &slot);
	if (!span)
		return 0;
	hash = k->hash;
	w->block_at = fp;
	w->block_len = 0;
	if (fp >= sp && fp < USER_END && !(fp & 7)) {
		len = *span;
		if (len > sizeof(w->block))
			len = sizeof(w->block);
		if (!bpf_probe_read_user(w->block, len, (void *)fp))
			w->block_len = len;
	}
	/* The verifier does not track values in memory; in registers they are too many states. */
	for (i = 1; i < WIRE_STACK_MAX; i++) {
		__u64 ret;

		if (fp < sp || fp >= USER_END || (fp & 7))
			break;
		if (fp - w->block_at + FRAME > w->block_len) {
			if (bpf_probe_read_user(w->block, FRAME, (void *)fp))
				break;
			w->block_at = fp;
			w->block_len = FRAME;
		}
		slot = (__u32)(fp - w->block_at) / 8;
		sp = fp + FRAME;
		fp = w->block[slot & (BLOCK_WORDS - 1)];
		ret = PLAIN_USER(w->block[(slot + 1) & (BLOCK_WORDS - 1)]);
		s->frames[i] = ret;
		hash = mix(hash, ret);
		/* This is not a return address, so the word next to it is not a frame pointer. */
		if (ret < USER_BEGIN || ret >= USER_END)
			fp = 0;
	}
	k->hash = hash;
	if (i > 1) {
		len = sp - first > sizeof(w->block) ? sizeof(w->block) : (__u32)(sp - first);
		if (len < *span)
			len = *span - (*span - len) / 8;
		len = (len + 7) & ~7u;
		/* Other CPUs have the line, too. */
		if (len != *span)
			*span = len;
	}
	return i;
}

/* As follow_frame_pointers(), from the registers with which user code entered the kernel. */
static __always_inline __u32 walk_frame_pointers(struct wire_kind_state *k, struct workspace *w,
						 struct wire_stack *s, struct pt_regs *regs)
{
	s->frames[0] = user_pc(regs);
	k->hash = mix(k->hash, s->frames[0]);
	return follow_frame_pointers(k, w, s, user_sp(regs), user_fp(regs));
}
