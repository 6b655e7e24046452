/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_ran.h - private to cpu_holders.c and holder_ranges.c: who had each CPU from one change of
 * what it ran to the next, found once; and sums of that over many changes.
 */
#pragma once

#include "holder.h"
#include "running_totals.h"
#include "timeline/cpus.h"
#include "timeline/timeline.h"

/* Totals are kept by so many changes. */
#define CPU_RAN_BLOCK 16u

#define HOLDER_PATHS (HOLDER_NAMES - HOLDER_QUOTA)

/* The thread, by name, or HOLDER_*, and the path of its group; 0: that is not told. */
struct holder {
	uint32_t who, group;
};

/* Numbers of these in cpu_ran_holders. Others come after them. */
enum {
	CPU_RAN_INTERRUPTS = 1,
	CPU_RAN_STEAL,
};

/* A time on a CPU, and what was taken from who had it. */
struct had {
	uint64_t own, interrupts, steal;
};

/* Of all of the time up to a CPU's next change, what was taken from who had it. */
struct taken {
	uint32_t interrupts, steal; /* UINT32_MAX: that much or more, to be looked up */
};

/* What one CPU ran. */
struct cpu_ran_cpu {
	const struct change *at;
	size_t n;
	uint32_t *holder;    /* by change: the number of who had it; 0: it was renamed meanwhile */
	struct taken *taken; /* by change; NULL: nothing is told apart */
	uint64_t first;	     /* the number of its first change among those of all CPUs */
	/*
	 * The time that each holder (number, 0) had, as running totals over blocks of changes: a
	 * long wait among many short turns of few threads costs as much as there are names, not
	 * turns (law 5).
	 */
	struct running_totals totals;
};

struct cpu_ran {
	const struct timelines *timelines;
	const struct stolen_time *interrupts, *steal; /* NULL: not told apart */
	struct pairs holders;			      /* struct holder, by number */
	struct cpu_ran_cpu *cpus;
	uint32_t n_cpus;
};

/* taken: what interrupts and a hypervisor took is told apart, if the trace has it. */
void cpu_ran_init(struct cpu_ran *r, const struct timelines *tl, bool taken);
void cpu_ran_free(struct cpu_ran *r);

static inline struct holder cpu_ran_holder_of(const struct cpu_ran *r, uint32_t number)
{
	return (struct holder) { r->holders.at[number].a, r->holders.at[number].b };
}

/* Where the i-th change of a CPU ends. */
static inline uint64_t cpu_ran_end(const struct cpu_ran *r, const struct cpu_ran_cpu *c, size_t i)
{
	return i + 1 < c->n ? c->at[i + 1].from_ns : timelines_end_ns(r->timelines);
}

/* Whether it is kept that nothing was taken from who had the i-th change. */
static inline bool cpu_ran_took_nothing(const struct cpu_ran_cpu *c, size_t i)
{
	return c->holder[i] && (!c->taken || !(c->taken[i].interrupts | c->taken[i].steal));
}

/* Who had it at a time of the i-th change; *until_ns: up to when, if that is sooner. */
struct holder cpu_ran_at(const struct cpu_ran *r, const struct cpu_ran_cpu *c, size_t i,
			 uint64_t at_ns, uint64_t *until_ns);
/*
 * What who had of a time between two changes. still: no interrupts, as there were no events. hint:
 * see stolen_time_of_cpu_next(), of interrupts and of steal.
 */
struct had cpu_ran_had(const struct cpu_ran *r, uint32_t who, bool still, uint32_t cpu,
		       uint64_t from_ns, uint64_t to_ns, size_t hint[2]);

/* How much the holder of a number had. */
typedef void (*cpu_ran_fn)(void *arg, uint32_t number, uint64_t ns);
/* Tells what the holders had in the changes [first, end) of a CPU. */
void cpu_ran_sum(const struct cpu_ran *r, uint32_t cpu, size_t first, size_t end, cpu_ran_fn fn,
		 void *arg);

/* How many of a CPU's changes are at ns or before it. guess: about so many; any will do. */
size_t cpu_ran_until(const struct cpu_ran_cpu *c, uint64_t ns, size_t guess);
