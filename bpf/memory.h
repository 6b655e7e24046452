/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - reads fields of kernel structs through pointers that may point anywhere; and what
 * differs among the objects for newer and older kernels. Part of chaincap.bpf.c.
 */
#pragma once

/*
 * 1: the object for kernels that refuse chaincap.bpf.c: older.bpf.c; and that for those which
 * refuse both: plain.bpf.c. Constants, as kernels refuse a program for what it would not run, too:
 * calls of kernel functions, functions that take pointers.
 */
#ifndef OLDER
#define OLDER 0
#endif
#ifndef PLAIN
#define PLAIN 0
#endif

/* The kernel has bpf_rdonly_cast(). Set before loading. */
const volatile bool can_cast = false;
#define CAN_CAST (!OLDER && !PLAIN && can_cast)

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

/* With CONFIG_UNIX. */
#define HAS_UNIX_SOCKETS bpf_core_type_exists(struct unix_sock)

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

/*
 * LOOP(fn, type, n) makes a function loop_fn(c), which calls fn(0, c), fn(1, c) ... until that
 * returns 1, at most n times. A loop of the program's own would be verified step by step.
 */
#if OLDER
#define LOOP_STEPS 512 /* of any loop */

/* For its numbers only: before 5.17 there is no bpf_loop(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOOP_STEPS);
	__type(key, __u32);
	__type(value, __u8);
} loop_numbers SEC(".maps");

#define LOOP(fn, type, n)                                                    \
	_Static_assert((n) <= LOOP_STEPS, "as many numbers");                \
	static long fn##_of(void *map, const __u32 *i, void *value, type *c) \
	{                                                                    \
		(void)map, (void)value;                                      \
		return *i < (n) ? fn(*i, c) : 1;                             \
	}                                                                    \
	static __always_inline void loop_##fn(type *c)                       \
	{                                                                    \
		bpf_for_each_map_elem(&loop_numbers, fn##_of, c, 0);         \
	}
#else
#define LOOP(fn, type, n)                              \
	static __always_inline void loop_##fn(type *c) \
	{                                              \
		bpf_loop(n, fn, c, 0);                 \
	}
#endif
