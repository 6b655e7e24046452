// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"

struct last_done {
	uint32_t request;      /* its number, from 1; 0: none, or it is not known which */
	uint64_t lossy_end_ns; /* completions are missing before */
};

enum { NOT_LOOKED_AT, ENDS_NOTHING, ENDS_REQUESTS };

static bool ends_requests(const struct trace *t, uint32_t kstack)
{
	struct trace_stack s = trace_stack(t, kstack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		if (f && kernel_function_flags(trace_string(t, f->symbol)) & KFUNC_REQUEST)
			return true;
	}
	return false;
}

/* Grows with the CPUs that complete requests. NULL: out of memory. */
static struct last_done *cpu_of(struct disk_join *j, uint32_t cpu)
{
	struct last_done *p;

	if (cpu < j->n_cpus)
		return &j->cpus[cpu];
	p = realloc(j->cpus, (cpu + (size_t)1) * sizeof(*p));
	if (!p)
		return NULL;
	memset(p + j->n_cpus, 0, (cpu + 1 - j->n_cpus) * sizeof(*p));
	j->cpus = p;
	j->n_cpus = cpu + (size_t)1;
	return &p[cpu];
}

static int note_done(struct disk_join *j, const struct event *ev)
{
	struct last_done *last = cpu_of(j, ev->cpu);

	if (!last)
		return -ENOMEM;
	j->n++;
	last->request = ev->time_ns >= last->lossy_end_ns && j->n < TRACE_PAIR_IDS ? j->n : 0;
	return 0;
}

static int note_loss(struct disk_join *j, const struct event *ev)
{
	struct last_done *last = cpu_of(j, ev->cpu);

	if (!last)
		return -ENOMEM;
	last->request = 0;
	if (last->lossy_end_ns <= ev->last_ns)
		last->lossy_end_ns = ev->last_ns + 1;
	return 0;
}

/* 1, 0 or -ENOMEM: as disk_join(). */
static int join_waking(struct disk_join *j, const struct trace *t, struct pairs *pairs,
		       const struct event *ev, struct event *given)
{
	uint32_t request = ev->cpu < j->n_cpus ? j->cpus[ev->cpu].request : 0;
	uint8_t *ends;

	/* A damaged trace may lack completions, and does not say so. */
	if (!request || !ev->kstack || trace_damage(t)->what)
		return 0;
	if (!j->of_stack)
		j->of_stack = calloc(trace_stacks_end(t), 1);
	if (!j->of_stack)
		return -ENOMEM;
	ends = &j->of_stack[ev->kstack];
	if (*ends == NOT_LOOKED_AT)
		*ends = ends_requests(t, ev->kstack) ? ENDS_REQUESTS : ENDS_NOTHING;
	if (*ends == ENDS_NOTHING)
		return 0;
	*given = *ev;
	given->pair = pairs_id(pairs, TRACE_PAIR_REQUEST | request, ev->pair);
	return given->pair ? 1 : -ENOMEM;
}

int disk_join(struct disk_join *j, const struct trace *t, struct pairs *pairs,
	      const struct event *ev, struct event *given)
{
	switch (ev->kind) {
	case EVENT_DISK_DONE:
		return note_done(j, ev);
	case EVENT_AUX_LOST:
		return ev->other == CHAINLOG_DISK_DONE ? note_loss(j, ev) : 0;
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		return join_waking(j, t, pairs, ev, given);
	default:
		return 0;
	}
}

void disk_join_free(struct disk_join *j)
{
	free(j->of_stack);
	free(j->cpus);
	*j = (struct disk_join) { .n = 0 };
}
