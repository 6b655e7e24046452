/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - reads fields of kernel structs through pointers that may point anywhere. Part of
 * chaincap.bpf.c.
 */
#pragma once

/*
 * 1: the object for kernels that refuse the other one: plain.bpf.c. A constant, as they refuse such
 * a program for what it would not run, too: calls of kernel functions, functions that take
 * pointers.
 */
#ifndef PLAIN
#define PLAIN 0
#endif

/* The kernel has bpf_rdonly_cast(). Set before loading. */
const volatile bool can_cast = false;
#define CAN_CAST (!PLAIN && can_cast)

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
		if (CAN_CAST)                   \
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
		if (CAN_CAST)                               \
			__v = CAST(type, __base)->field;    \
		else                                        \
			__v = BPF_CORE_READ(__base, field); \
		__v;                                        \
	})

/*
 * The current thread. Before 5.11 the verifier knows its address as a number, so that its fields
 * are read by OF(), as those of a pointer that it trusts may be.
 */
static __always_inline struct task_struct *current_task(void)
{
	return PLAIN ? (void *)bpf_get_current_task() : bpf_get_current_task_btf();
}

#if PLAIN
#define OF(p, field)                        \
	({                                  \
		typeof(p) __of = (p);       \
		BPF_CORE_READ(__of, field); \
	})
#else
#define OF(p, field) ((p)->field)
#endif

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
