/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame_pointers.h - walks a user stack by frame pointers, for --no-unwind: as the kernel does, but
 * with fewer reads of user memory. Part of chaincap.bpf.c.
 */
#ifndef BPF_FRAME_POINTERS_H
#define BPF_FRAME_POINTERS_H

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
 * number of frames in s, of which the first is ip, and continues the hash in k->hash.
 */
__noinline __u32 walk_frame_pointers(struct wire_kind_state *k, struct wire_stack *s, __u64 ip,
				     __u64 sp, __u64 fp)
{
	__u32 *span, slot, i;
	__u64 first = fp, hash;

	if (!k || !s)
		return 0;
	slot = k->tid & (SPANS - 1);
	span = bpf_map_lookup_elem(&spans, &slot);
	if (!span)
		return 0;
	hash = mix(k->hash, ip);
	s->frames[0] = ip;
	k->block_at = fp;
	k->block_len = 0;
	if (fp >= sp && fp < USER_END && !(fp & 7)) {
		__u32 len = *span;

		if (len > sizeof(k->block))
			len = sizeof(k->block);
		if (!bpf_probe_read_user(k->block, len, (void *)fp))
			k->block_len = len;
	}
	/* The verifier does not track values in memory; in registers they are too many states. */
	for (i = 1; i < WIRE_STACK_MAX; i++) {
		__u64 ret;

		if (fp < sp || fp >= USER_END || (fp & 7))
			break;
		if (fp - k->block_at + FRAME > k->block_len) {
			if (bpf_probe_read_user(k->block, FRAME, (void *)fp))
				break;
			k->block_at = fp;
			k->block_len = FRAME;
		}
		slot = (__u32)(fp - k->block_at) / 8;
		sp = fp + FRAME;
		fp = k->block[slot & (WIRE_BLOCK_WORDS - 1)];
		ret = PLAIN_USER(k->block[(slot + 1) & (WIRE_BLOCK_WORDS - 1)]);
		s->frames[i] = ret;
		hash = mix(hash, ret);
		/* Not a return address: the frame pointer beside it is none, either. */
		if (ret < USER_BEGIN || ret >= USER_END)
			fp = 0;
	}
	k->hash = hash;
	if (i > 1) {
		__u64 is = sp - first;

		if (is > sizeof(k->block))
			is = sizeof(k->block);
		if (is < *span)
			is = *span - (*span - is) / 8;
		*span = ((__u32)is + 7) & ~7u;
	}
	return i;
}

#endif /* BPF_FRAME_POINTERS_H */
