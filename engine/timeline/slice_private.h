/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slice_private.h - the inside of a slice: slice.c builds it, slice_join.c adds it to the whole. */
#pragma once

#include "slice.h"

/* What a thread is taken to have been at the beginning of the slice. */
enum slice_was {
	WAS_NOTHING,  /* it was born in the slice */
	WAS_GONE,     /* there was none of that tid, or a dead one */
	WAS_ALIVE,    /* in whatever state, which does not change in the slice */
	WAS_RECORDER, /* the recorder's, which is not recorded: its CPU seems to be idle */
	WAS_RUNNING,  /* on a CPU */
	WAS_ASLEEP,   /* its first event is a waking */
	WAS_READY,    /* woken or preempted: its first event is a switch-in */
};

struct slice_thread {
	enum slice_was was;
	uint32_t cpu;	   /* WAS_RUNNING */
	bool off_queue;	   /* WAS_ASLEEP: of the waking */
	uint64_t first_ns; /* of its first event */
};

struct slice_cpu {
	bool seen;
	uint32_t ran;	/* at the beginning: a thread of the slice, or THREAD_IDLE */
	uint64_t first; /* 1 + the tid that its first switch switched from; 0: none */
};

/* An event that concerns more than what threads do: it is handled when the slice is joined. */
struct kept_event {
	struct event ev;
	uint32_t thread, parent; /* FORK: child and parent; EXEC, RENAME, HOLDER: the thread */
};

/* Memory of off-CPU intervals, for the next slice. */
struct spare_waits {
	struct wait *at;
	size_t cap;
};

struct slice {
	const struct builder *whole;
	struct trace_cursor *cursor;
	struct builder b; /* its threads have numbers of their own */
	struct timelines tl;
	struct slice_thread *threads; /* by number */
	size_t cap_threads;
	struct slice_cpu *cpus;
	size_t n_cpus, cap_cpus;
	struct kept_event *kept;
	size_t n_kept, cap_kept, most_kept;
	struct spare_waits *spare; /* by number of a thread */
	size_t n_spare, cap_spare;
	uint64_t steal_ns;
	bool odd;
	bool lossy;
	/* While it is joined: the number in the whole, and how many intervals that thread has. */
	uint32_t *number, *waits_before; /* by number */
	size_t cap_number, cap_before;
	uint32_t *pair_of; /* ids of pairs in the whole */
	size_t cap_pairs;
};
