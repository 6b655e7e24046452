/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - reads fields of kernel structs through pointers that may point anywhere. Part of
 * chaincap.bpf.c.
 */
#pragma once

/* The kernel has bpf_rdonly_cast(). Set before loading. */
const volatile bool can_cast = false;

/* Since 6.2, at no cost. The result may point anywhere; unmapped memory reads as 0. */
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;

#define CAST(type, p) \
	((struct type *)bpf_rdonly_cast((void *)(p), bpf_core_type_id_kernel(struct type)))

/*
 * The same struct, to read pointers from it: where the verifier trusts p, it searches all names of
 * the kernel's types several times for each pointer in *p that is read, a millisecond in all.
 */
#define UNTRUSTED(type, p)                      \
	({                                      \
		struct type *__p = (void *)(p); \
		if (can_cast)                   \
			__p = CAST(type, __p);  \
		__p;                            \
	})

/*
 * A field of the struct at p, which may point anywhere: 0 if it cannot be read. p is taken out
 * first: of a struct of our own in it, BPF_CORE_READ() would ask for the kernel's.
 */
#define FIELD(type, p, field)                               \
	({                                                  \
		typeof(((struct type *)0)->field) __v;      \
		struct type *__base = (void *)(p);          \
		if (can_cast)                               \
			__v = CAST(type, __base)->field;    \
		else                                        \
			__v = BPF_CORE_READ(__base, field); \
		__v;                                        \
	})

#define read_u64(p) FIELD(rb_node, p, __rb_parent_color)
/* A field's address as a number, and a pointer in the field as one. */
#define ADDRESS(type, p, field) ((__u64)(p) + bpf_core_field_offset(struct type, field))
#define POINTER(type, p, field)                       \
	({                                            \
		__u64 __at = ADDRESS(type, p, field); \
		(__u64) read_u64(__at);               \
	})

/* To the verifier, a pointer that is read back from a map is a number. room: a word there. */
static __always_inline __u64 number_of(volatile __u64 *room, __u64 pointer)
{
	*room = pointer;
	return *room;
}

static __always_inline bool read_words(__u64 *to, __u32 n, __u64 at)
{
	return !bpf_probe_read_user(to, n * sizeof(*to), (void *)at);
}
