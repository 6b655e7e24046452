/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * untraced.h - counts the switches that must have happened between two recorded ones of a CPU, but
 * are neither in the trace nor among its losses: some kernels and hosts hide those of some threads.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>

#include "trace/trace.h"
#include "common/xalloc.h"

/* All zero is none so far; free(next) releases it. */
struct untraced {
	uint64_t switches;
	uint64_t *next; /* by CPU: 1 + the tid that its last switch switched to; 0: not known */
	size_t n_cpus;
};

/* The next event, of any kind. */
static inline void untraced_event(struct untraced *u, const struct event *ev)
{
	if (ev->kind == EVENT_LOST) {
		for (uint32_t i = 0; i < u->n_cpus; i++)
			if (ev->cpu == EVENT_CPU_UNKNOWN || ev->cpu == i)
				u->next[i] = 0;
		return;
	}
	/* The recorder's child, which counted as the idle thread, becomes the command. */
	if (ev->kind == EVENT_EXEC && ev->cpu < u->n_cpus && u->next[ev->cpu] == 1)
		u->next[ev->cpu] = (uint64_t)ev->tid + 1;
	if (ev->kind != EVENT_SWITCH)
		return;
	XREACH(u->next, u->n_cpus, ev->cpu);
	u->switches += u->next[ev->cpu] && u->next[ev->cpu] != (uint64_t)ev->tid + 1;
	u->next[ev->cpu] = (uint64_t)ev->other + 1;
}
