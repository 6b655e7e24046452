/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_variable.h - where a thread has a thread-local variable. Part of chaincap.bpf.c. All that
 * is read may be wrong or hostile, also the address that comes of it.
 */
#pragma once

/* Whether the argument of a descriptor is an offset. */
#if defined(__TARGET_ARCH_x86)
/* The static blocks lie below that address. */
#define is_static_offset(arg) ((__s64)(arg) < 0)
#elif defined(__TARGET_ARCH_arm64)
/* Above it; nothing is mapped at such small addresses. */
#define is_static_offset(arg) ((arg) < (1u << 20))
#endif

/*
 * The address of the variable in a module's block of the thread; 0: the thread has no such block.
 * The number of entries is in front of the table; an entry of ~0 has no block yet.
 */
static __always_inline __u64 in_module(__u64 thread, __u64 module, __u64 offset)
{
	__u64 modules, n, block, words[WIRE_MODULE_SIZE / 4 + 1];

	if (!read_words(&modules, 1, thread + WIRE_MODULES_AT))
		return 0;
	/* Mostly it is the first one, whose entry is read with what is in front of the table. */
	if (module == 1) {
		if (!read_words(words, sizeof(words) / 8, modules - WIRE_MODULE_SIZE))
			return 0;
		n = words[0];
		block = words[WIRE_MODULE_SIZE / 4];
	} else if (!read_words(&n, 1, modules - WIRE_MODULE_SIZE) || !module || module > n ||
		   !read_words(&block, 1, modules + module * WIRE_MODULE_SIZE)) {
		return 0;
	}
	return n && block && ~block ? block + offset : 0;
}

/* Several CPUs may do the same at once, and write the same. */
static __always_inline void settle(struct wire_variable *v, __u32 tls, __u64 module, __u64 offset)
{
	v->module = module;
	v->offset = offset;
	barrier();
	v->tls = tls;
}

/* The address of the variable of a thread; 0: not known, or not there yet. */
static __always_inline __u64 thread_variable(struct wire_variable *v, __u64 thread)
{
	__u64 slot[2] = { 0 }, module, at;
	__u32 tls = v->tls;

	if (tls == WIRE_TLS_STATIC)
		return thread + v->offset;
	if (tls == WIRE_TLS_MODULE)
		return in_module(thread, v->module, v->offset);
	if (!read_words(slot, tls == WIRE_TLS_OFFSET_SLOT ? 1 : 2, v->slot) || !slot[0])
		return 0;
	if (tls == WIRE_TLS_OFFSET_SLOT) {
		settle(v, WIRE_TLS_STATIC, 0, slot[0]);
		return thread + slot[0];
	}
	if (tls == WIRE_TLS_DESCRIPTOR) {
		if (is_static_offset(slot[1])) {
			settle(v, WIRE_TLS_STATIC, 0, slot[1]);
			return thread + slot[1];
		}
		at = slot[1];
		if (!read_words(slot, 2, at))
			return 0;
	}
	module = slot[0];
	at = in_module(thread, module, slot[1]);
	if (at)
		settle(v, WIRE_TLS_MODULE, module, slot[1]);
	return at;
}
