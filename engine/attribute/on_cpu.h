/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * on_cpu.h - a thread's own running time, with the samples in it (--state running), and the time of
 * its life of which nothing is known: what its waits leave of its life.
 */
#ifndef ENGINE_ON_CPU_H
#define ENGINE_ON_CPU_H

#include "chain.h"

struct on_cpu_user {
	void *arg;
	/* ns of the thread while it had this name (string id): end is CHAIN_ON_CPU or _UNKNOWN. */
	void (*add)(void *arg, uint32_t thread, uint32_t name, enum chain_end end, uint64_t ns);
	/* A sample in its running time; its stacks are a pair. */
	void (*ran)(void *arg, uint32_t thread, uint32_t name, uint32_t pair);
};

/* Goes over the part of the thread's life that lies in [from_ns, to_ns). */
void on_cpu_walk(const struct timelines *tl, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		 struct on_cpu_user user);

#endif /* ENGINE_ON_CPU_H */
