/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame_pointers.h - a user stack by frame pointers, for --no-unwind: as the kernel walks, but with
 * fewer looks at the thread's memory. Part of chaincap.bpf.c.
 */
#ifndef BPF_FRAME_POINTERS_H
#define BPF_FRAME_POINTERS_H

/*
 * From the first frame to the last it was so many bytes the last times, by thread: to be read in
 * one go, as each look at user memory costs as much as reading some hundred bytes. Only a hint.
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
 * By frame pointers, as perf_callchain_user() does; but a frame lies above the one that it called,
 * so a pointer to anywhere else is none: it was code without frame pointers that left it there.
 * Following it would give frames that are none, and mostly a page fault, which costs more than all
 * the rest. Returns how many frames s got, the first of them the instruction at ip; their hash,
 * which was begun in k->hash, is there.
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
	/* What is kept in memory is not followed by the verifier, for whom it would be too much. */
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
		ret = k->block[(slot + 1) & (WIRE_BLOCK_WORDS - 1)];
		s->frames[i] = ret;
		hash = mix(hash, ret);
		/* No return address: what comes now is none either. */
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
