/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * untraced.h - counts the switches that must have happened between two recorded ones of a CPU, but
 * are neither in the trace nor among its losses: some kernels and hosts hide those of some threads.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>

#include "trace/trace.h"

/* All zero is none so far; free(next) releases it. */
struct untraced {
	uint64_t switches;
	uint64_t *next; /* by CPU: 1 + the tid that its last switch switched to; 0: not known */
	uint32_t n_cpus;
};

/* Makes room for a CPU. 0 or -ENOMEM. */
static inline int untraced_room(struct untraced *u, uint32_t cpu)
{
	uint64_t *p;

	if (cpu < u->n_cpus)
		return 0;
	p = realloc(u->next, ((size_t)cpu + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	u->next = p;
	while (u->n_cpus <= cpu)
		p[u->n_cpus++] = 0;
	return 0;
}

/* The next event, of any kind. 0 or -ENOMEM. */
static inline int untraced_event(struct untraced *u, const struct event *ev)
{
	if (ev->kind == EVENT_LOST) {
		for (uint32_t i = 0; i < u->n_cpus; i++)
			if (ev->cpu == EVENT_CPU_UNKNOWN || ev->cpu == i)
				u->next[i] = 0;
		return 0;
	}
	/* The recorder's child, which counted as the idle thread, becomes the command. */
	if (ev->kind == EVENT_EXEC && ev->cpu < u->n_cpus && u->next[ev->cpu] == 1)
		u->next[ev->cpu] = (uint64_t)ev->tid + 1;
	if (ev->kind != EVENT_SWITCH)
		return 0;
	if (untraced_room(u, ev->cpu))
		return -ENOMEM;
	u->switches += u->next[ev->cpu] && u->next[ev->cpu] != (uint64_t)ev->tid + 1;
	u->next[ev->cpu] = (uint64_t)ev->other + 1;
	return 0;
}
