/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpus.h - what each CPU ran, and on which CPU's run queue each thread was (chain-semantics,
 * section 9). Collected while timelines are built, see timelines_new_with_cpus(); read-only
 * afterwards. Times are CLOCK_MONOTONIC ns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What stands in place of a thread's number. A trace with more threads than THREADS_MAX cannot be
 * read. */
#define THREAD_BITS 25
#define THREAD_NONE \
	((UINT32_C(1) << THREAD_BITS) - 1) /* not known; of a waker: no waking is known */
#define THREAD_IDLE (THREAD_NONE - 1)	   /* the idle loop's context: an interrupt woke */
#define THREADS_MAX (THREAD_IDLE - 1)	   /* as many threads may there be */
#define CPU_RAN_RECORDER (THREAD_IDLE - 1) /* what a CPU ran: the recorder's own threads */

#define CPU_NONE UINT32_MAX

/*
 * What something is from from_ns on, up to its next change. Of a CPU: the thread that it runs, or
 * THREAD_IDLE, CPU_RAN_RECORDER, or THREAD_NONE, not known. Of a thread: the CPU on whose queue it
 * is, or CPU_NONE.
 */
struct change {
	uint64_t from_ns;
	uint32_t to;
};

struct cpus;

uint32_t cpus_number(const struct cpus *c);
/* What a CPU ran, in order; before the first change that is not known. */
const struct change *cpus_ran(const struct cpus *c, uint32_t cpu, size_t *n);
/*
 * The CPU on whose queue the thread was at from_ns, while it was ready, or CPU_NONE: not known; and
 * in *until_ns up to when, UINT64_MAX being for ever.
 */
uint32_t cpus_queue(const struct cpus *c, uint32_t thread, uint64_t from_ns, uint64_t *until_ns);

/* ---- for timeline_state.c; all do nothing where c is NULL ------------------------------------ */

void cpus_new(struct cpus **out);
void cpus_free(struct cpus *c);
/* The CPU runs the thread from from_ns on, which is not earlier than in the previous call. */
void cpus_run(struct cpus *c, uint32_t cpu, uint64_t from_ns, uint32_t thread);
/* The recorder had the CPU from from_ns to to_ns, as far as it counts as idle then. In order of
 * time. */
void cpus_recorder(struct cpus *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns);
/* The CPU turned out not to have been idle, if that was the last thing noted. */
void cpus_forget_idle(struct cpus *c, uint32_t cpu);
/* Events of the CPU may be missing from from_ns on, perhaps cpus_recorder() of an idle time. */
void cpus_missed(struct cpus *c, uint32_t cpu, uint64_t from_ns);
/* The thread is on the run queue of cpu from from_ns on; CPU_NONE: on an unknown one. */
void cpus_place(struct cpus *c, uint32_t thread, uint64_t from_ns, uint32_t cpu);
/* Changes of queues may be missing in [from_ns, last_ns]. */
void cpus_lost(struct cpus *c, uint64_t from_ns, uint64_t last_ns);
/*
 * The thread, ready since ready_ns, comes on the CPU at now_ns. As every change of queue is in the
 * trace, that was its queue since the last one.
 */
void cpus_arrive(struct cpus *c, uint32_t thread, uint64_t ready_ns, uint64_t now_ns, uint32_t cpu);
/* There are no more changes; threads: how many there are. */
void cpus_finish(struct cpus *c, uint32_t threads);
