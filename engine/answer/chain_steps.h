/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_steps.h - the chains of several waits as one tree of steps: who, where in its own code,
 * waited for what, and below it who had that, until the last one. Steps that add nothing are left
 * out: who only passes something on, who has nothing to do itself, the same thread's same place
 * again.
 */
#pragma once

#include "attribute/attributed_time.h"
#include "chain_known.h"
#include "joint.h"
#include "select/top_waits.h"

/*
 * A thread that waited, or with .is_end what the chain came down to. Texts are ids in names; 0:
 * there is none.
 */
struct chain_step {
	uint32_t above; /* the step whose wait this one explains; 0: none */
	uint32_t who;	/* the thread's name; 0: of an end, the same thread as in the step above */
	uint32_t at;	/* where in its own code */
	/*
	 * For what it waited, see joint.h; of an end what it did: "ran"; of JOINT_BUSY what the
	 * reader was busy with: "others", or which requests
	 */
	uint32_t what;
	enum joint_kind kind;
	bool is_end;
	enum chain_end end; /* of an end */
	/* Of an end: who had the CPU, what the disk did, who held the lock; with .throttled, the
	 * group. */
	uint32_t by;
	/* Of who has what the step above waits for: for which requests most of it was, their route;
	 * 0: not known. */
	uint32_t served;
	/* Of CHAIN_RUNNING: what most of it was in the kernel for: "core dumps"; 0: nothing. */
	uint32_t call;
	bool throttled; /* of an end: a quota or an I/O limit was used up */
	/* Of a quota: who ran most of the time for which it was meant, 0: not known; how much. */
	uint32_t used_by;
	unsigned int used_percent;
	/*
	 * Of CHAIN_TIMER: how many threads of a process are called as the one whose time was over,
	 * if all of them, several, waited at the same place meanwhile, for half of the time at
	 * least; else 0. For how long.
	 */
	uint32_t all;
	uint64_t all_wait_ns;
	uint32_t waiting;   /* of a first step of requests: so many wait for it at once, at most */
	uint64_t ns;	    /* with all that is below it */
	uint64_t held_ns;   /* in which holders had the CPU that are watched, likewise */
	uint64_t no_cpu_ns; /* of CHAIN_RUNNING: in which it was ready, and had no CPU */
};

/* Of a thread that ran, whether it had a CPU for it: all of the time, but for a tenth; in part; or
 * for that tenth at most. */
enum chain_step_cpu { CHAIN_STEP_RAN, CHAIN_STEP_RAN_IN_PART, CHAIN_STEP_HAD_NO_CPU };

static inline enum chain_step_cpu chain_step_cpu(const struct chain_step *s)
{
	if (s->no_cpu_ns && 10 * (s->ns - s->no_cpu_ns) <= s->ns)
		return CHAIN_STEP_HAD_NO_CPU;
	return 10 * s->no_cpu_ns >= s->ns ? CHAIN_STEP_RAN_IN_PART : CHAIN_STEP_RAN;
}

struct chain_steps;

/*
 * o is of causes_options() or causes_request_options(), of which the names are too. known: of these
 * names, shared by several; outlives it. To be freed.
 */
void chain_steps_new(struct chain_steps **out, const struct timelines *tl, const struct options *o,
		     struct names *names, const struct chain_known *known);
void chain_steps_free(struct chain_steps *s);
/* Adds a wait, of a thread or of a client. */
void chain_steps_add(struct chain_steps *s, const struct chosen_wait *p);
/*
 * Adds all of [from_ns, to_ns) of a thread's life, which has to be within it: what it ran is a step
 * of its own, so that the times add up to to_ns - from_ns.
 */
void chain_steps_add_life(struct chain_steps *s, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
/* Call once, after the last one. */
void chain_steps_end(struct chain_steps *s);

/* Steps by number, from 1; *n: one more than the highest. */
const struct chain_step *chain_steps_list(const struct chain_steps *s, uint32_t *n);
/* Of requests: whether most of them were read in event loops, which keep one waiting for another.
 */
bool chain_steps_in_loop(const struct chain_steps *s);
/* The time of all waits that were added. */
uint64_t chain_steps_total_ns(const struct chain_steps *s);
/*
 * The numbers of the steps below a step (0: the first ones), most time first, but of the first ones
 * of requests those that have a third of all and wait for what others hold before others; *n: how
 * many. To be freed with free(); NULL: there are none.
 */
uint32_t *chain_steps_below(const struct chain_steps *s, uint32_t step, size_t *n);

/* Whether a holder of CPUs (cpu_holders.h) is one of those that are asked for. */
typedef bool (*chain_steps_holder_fn)(void *arg, uint32_t holder);
/* Asks that of what is added from now on. */
void chain_steps_watch(struct chain_steps *s, chain_steps_holder_fn is, void *arg);
/* In how much of what was added since then such holders had the CPU, also before the end. */
uint64_t chain_steps_held_ns(struct chain_steps *s);
