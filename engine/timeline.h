/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - what every thread did, over time. Built once from a trace's events, read-only
 * afterwards. A thread is (tid, start): a tid that is reused gives a second thread. Tid 0, the
 * idle loop, is not a thread.
 *
 * A timeline is a flat array of the stretches in which the thread was not running, sorted, never
 * overlapping, none of length 0: sleeps (with the wait for a CPU that follows), preempted
 * intervals, and unknown stretches. What lies between them, from begin_ns to end_ns, is running
 * time. All times are CLOCK_MONOTONIC ns; stretches are half-open, [from, to).
 *
 * Invariant that the chains rest on: when a wait has a waker that is a thread, the waker's own
 * timeline says at wake_ns that it was running (or unknown); those of its stretches that end
 * before that moment are exactly the ones below waker_pos.
 */
#ifndef ENGINE_TIMELINE_H
#define ENGINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

#define THREAD_NONE UINT32_MAX	     /* nobody: no waking is known */
#define THREAD_IDLE (UINT32_MAX - 1) /* waker was the idle loop: an interrupt did it */

enum wait_kind {
	WAIT_SLEEP,	/* blocked [out, wake), runnable [wake, in) */
	WAIT_PREEMPTED, /* [out, in); wake = out */
	WAIT_UNKNOWN,	/* [out, in): it cannot be said what the thread did; wake = in */
};

enum wait_flags {
	WAIT_EARLY = 1,	    /* woken just before it was off its CPU: blocked time 0 */
	WAIT_NOT_WOKEN = 2, /* still asleep at the end of the trace; wake = in = its end */
	WAIT_NO_WAKING = 4, /* it ended, or was lost sight of, with no waking recorded: wake = in */
	WAIT_SINCE_START = 8, /* began before the trace did; out = the trace's start */
	WAIT_NEW = 16,	      /* a new thread's way to its first run; out = wake */
	WAIT_STILL = 32, /* not switched in again while it could be seen; in = where that ends */
	WAIT_WAKER_RAN = 64, /* its waker, a thread, ran from out + waker_late_ns to wake; before,
				it had no CPU */
};

/* What outputs call them; the last one has no name. WAIT_WAKER_RAN is not for them. */
extern const struct wait_flag_name {
	unsigned int flag;
	const char *name;
} wait_flag_names[];

struct wait {
	uint64_t out_ns, wake_ns, in_ns;
	uint32_t stack;		/* off-CPU: a stack pair, see timelines_pair(); 0 none */
	uint32_t waker;		/* thread index, THREAD_IDLE or THREAD_NONE */
	uint32_t waker_stack;	/* stack pair */
	uint32_t waker_pos;	/* how many of the waker's stretches came before wake_ns */
	uint32_t waker_late_ns; /* with WAIT_WAKER_RAN */
	uint8_t kind;		/* enum wait_kind */
	uint8_t flags;		/* enum wait_flags, or-ed */
	char state;		/* the sleep state as ps shows it; '?' not known, 'R' preempted */
};

enum thread_flags {
	THREAD_KTHREAD = 1,
	THREAD_EXITED = 2,   /* its end was seen */
	THREAD_RECORDER = 4, /* chaincap's own: not recorded, its timeline is unknown */
};

struct thread {
	uint32_t tid, tgid; /* tgid 0: not known */
	uint32_t flags;	    /* enum thread_flags, or-ed */
	uint32_t name;	    /* string id: its first name; see timelines_name() */
	uint32_t renames;   /* how many other names it had later on */
	uint32_t n_waits;
	struct wait *waits;
	uint64_t begin_ns, end_ns; /* of its life in the trace */
};

struct timelines;

/* What a thread did with its life, or a part of it; the first five add up to lifetime_ns. */
struct thread_sums {
	uint64_t running_ns, blocked_ns, runnable_ns, preempted_ns, unknown_ns;
	uint64_t lifetime_ns;
};

/* A kernel and a user stack (ids of the trace, 0 none) that were recorded together. */
struct stack_pair {
	uint32_t kstack, ustack;
};

/*
 * Builds all timelines of t, which must outlive them. 0; -ENOMEM; -EBADMSG if there is a malformed
 * event in a trace that is not checked, see trace_open_quick().
 */
int timelines_new(struct timelines **out, const struct trace *t);
void timelines_free(struct timelines *tl);

const struct trace *timelines_trace(const struct timelines *tl);
uint64_t timelines_start_ns(const struct timelines *tl); /* no timeline begins before it */
uint64_t timelines_end_ns(const struct timelines *tl);	 /* nor ends after it */

/* Threads are numbered 0..n-1 in the order in which they were first seen. */
uint32_t timelines_threads(const struct timelines *tl);
const struct thread *timelines_thread(const struct timelines *tl, uint32_t thread);
/* The name (string id) that a thread had at a time. */
uint32_t timelines_name(const struct timelines *tl, uint32_t thread, uint64_t at_ns);
/* Its i-th name, 0..renames. */
uint32_t timelines_nth_name(const struct timelines *tl, uint32_t thread, uint32_t i);

struct stack_pair timelines_pair(const struct timelines *tl, uint32_t pair);
uint32_t timelines_pairs_end(const struct timelines *tl); /* one more than the highest pair id */

/* The stretch that tells who started the thread, and when; NULL if that is not known. */
static inline const struct wait *thread_birth(const struct thread *th)
{
	return th->n_waits && th->waits[0].flags & WAIT_NEW ? &th->waits[0] : NULL;
}
/* How many of the thread's stretches end at or before at_ns (binary search). */
uint32_t thread_position(const struct thread *th, uint64_t at_ns);
/* Sums over the part of its life that lies in [from_ns, to_ns). */
struct thread_sums thread_sums(const struct thread *th, uint64_t from_ns, uint64_t to_ns);

#endif /* ENGINE_TIMELINE_H */
