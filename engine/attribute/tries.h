/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tries.h - the rows of timed waits for a lock that a thread tries again at once: retried_waits.h
 * explains them.
 */
#pragma once

#include "held_locks.h"
#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

/*
 * Less than this may a thread run between two sleeps of a row, and after one that is no short try:
 * a loop in Python that finds nothing of its own in the CPU's caches takes up to 1.2 ms.
 */
#define RAN_BETWEEN_NS 1000000u
#define RAN_AFTER_LONG_NS 3000000u

/*
 * A sleep that its timer ends is a try for a lock if it lasts less than this; else it may be a
 * pause.
 */
#define TRY_NS 20000000u

/* A thread that does something else than sleep at locks for less than this ticks. */
#define ELSE_NS 10000000u

/* Of a condition: whoever ends a sleep is waited for in so many long tries before it. */
#define LOOKS_MAX 64u

/* A lock of which only is known that it is one. */
#define SOME_LOCK UINT32_MAX

/*
 * A short sleep at a lock that a timer ended, or a later one of the same row: of sleeps at locks
 * between which the thread did nothing else.
 */
struct
try {
	uint32_t thread, sleep; /* number of the thread's off-CPU interval */
	uint32_t lock;
	bool timed;	    /* a timer ended it: it is a try */
	bool perhaps;	    /* or that is not known */
	bool must_be_told;  /* but none unless a thread then ends one of its row at that lock */
	bool follows;	    /* it follows the one before it in the row, if that goes on */
	bool more;	    /* the one behind it is the next sleep of the row */
	bool not_known;	    /* what the thread did next */
	bool woke;	    /* before its next sleep it was current in a waking */
	bool interrupted;   /* that of an interrupt, or it handed on a lock */
	bool after_unknown; /* what it did right before is not known */
	bool in_row;	    /* it begins a row, or one goes on with it */
	bool perhaps_in_row;
	size_t last; /* of the row */
	/* What explains it: the sleep that the releasing waking ended; NULL: its own end. */
	const struct wait *until;
	bool unexplained;  /* it is not known what does */
	size_t last_timed; /* the last such try of the row at the same lock */
	/* Of that one, in place of `until`: that whoever had the lock had to release it. */
	const struct wait *assumed;
	bool holder_not_known;
	/* At a lock of a file, in place of `until`: when, within the sleep, its holder let it go.
	 */
	uint64_t let_go_ns; /* 0: not within it */
	uint32_t holder;
};

/* A sleep at a lock that a thread ended, or of which that is not known. */
struct lock_end {
	const struct wait *wait;
	uint64_t begin_ns; /* of the thread's life */
	uint32_t lock, tid;
	bool known;
};

/* What a thread did at a lock. */
struct at_lock {
	uint32_t ended;	    /* sleeps that a thread ended */
	uint64_t paused_ns; /* in sleeps that a timer ended, and no lock said who has it */
};

struct tries {
	struct timelines *timelines;
	struct kernel_stacks *kernel;
	uint32_t *lock_of; /* by stack pair: a thread with that off-CPU stack is at this lock */
	uint32_t n_locks;
	bool *of_file;		 /* by lock: it is one of a file, which threads poll for */
	bool *tried;		 /* by lock: there are tries */
	struct at_lock *at_lock; /* by lock: of the thread whose rows are looked for */
	struct try *at;		 /* by thread, then sleep */
	size_t n, cap;
	uint32_t *first;	/* by thread: where its tries begin; NULL: nobody woke anybody */
	struct lock_end *ended; /* by lock, then time */
	size_t n_ended, cap_ended;
	uint64_t *lossy_until; /* by loss: when all up to this one were over */
	/*
	 * When a thread was heard of again of which a loss had hidden what it slept for, if only by
	 * a waking after which nothing more is known of it.
	 */
	uint64_t *heard_ns;
	size_t n_heard, cap_heard;
	struct held_locks *held;
};

enum answer { NO, YES, PERHAPS };

/* Finds locks and rows; kernel is there. All else is left as it is. */
void tries_find(struct tries *t);
/* Of all tries, whose rows are known: sets last, and which long sleeps are tries. */
void tries_find_told(struct tries *t);

/* Of all tries, whose rows are known: whether a thread that runs up to at_ns is amid such a row. */
enum answer tries_in_row(const struct tries *t, uint32_t thread, uint64_t at_ns);
/* As waker_context(), of what ended w. */
struct waker_context tries_context(const struct tries *t, const struct wait *w);
/* Whether a thread ended a sleep, and not early, or that is not known; *known says which. */
bool tries_is_end(const struct tries *t, const struct wait *w, bool *known);
/* Whether events of that time may be missing, of any CPU. */
bool tries_is_lossy(const struct tries *t, uint64_t from_ns, uint64_t to_ns);
/* Sets what the thread does after the sleep of p: more, not_known, woke. */
void tries_find_next(const struct tries *t, const struct thread *th, struct try *p);
/*
 * The last thing that the thread did at most RAN_BETWEEN_NS of running before at_ns, but for being
 * preempted: one of its intervals below i; NULL: nothing, or more.
 */
const struct wait *tries_right_before(const struct thread *th, uint32_t i, uint64_t at_ns);
/* Whether a lock is one of a file, which threads poll for. */
static inline bool tries_of_file(const struct tries *t, uint32_t lock)
{
	return lock != SOME_LOCK && t->of_file[lock];
}
/* The sleep of a try. */
static inline const struct wait *tries_wait(const struct tries *t, const struct try *p)
{
	return &timelines_thread(t->timelines, p->thread)->waits[p->sleep];
}
/* Whether it is not known what the thread did in w, or what it slept for: all is known of others.
 */
static inline bool tries_is_unknown(const struct wait *w)
{
	return w->kind == WAIT_UNKNOWN || (w->kind == WAIT_SLEEP && !w->stack);
}
