/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - what every thread did, over time. Built once from a trace's events, read-only
 * afterwards. A thread is (tid, start): a tid that is reused gives a second thread. Tid 0, the
 * idle loop, is not a thread.
 *
 * A timeline is a flat array of off-CPU intervals, sorted, never overlapping, none of length 0:
 * sleeps (with the wait for a CPU that follows), preempted intervals, and unknown intervals. The
 * time between them, from begin_ns to end_ns, is running time. All times are CLOCK_MONOTONIC ns;
 * intervals are half-open, [from, to).
 *
 * Invariant that the chains rest on: when a wait has a waker that is a thread, the waker's own
 * timeline says at wake_ns that it was running (or unknown), except for a sleep with goes_on: its
 * waker woke somebody later, and may do anything at wake_ns. Exactly those of the waker's
 * off-CPU intervals that are below wait_waker_pos() end at or before wake_ns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lower_bound.h"
#include "cpus.h"
#include "disk_requests.h"
#include "groups.h"
#include "remote_answers.h"
#include "requests.h"
#include "thread_facts.h"
#include "trace/trace.h"
#include "untraced.h"

enum wait_kind {
	WAIT_SLEEP,	/* blocked [out, wake), runnable [wake, in) */
	WAIT_PREEMPTED, /* [out, in); wake = out */
	WAIT_UNKNOWN,	/* [out, in): the trace does not say what the thread did; wake = in */
};

enum wait_flags {
	WAIT_EARLY = 1, /* woken just before it was off its CPU: blocked time 0 */
	/* Still asleep at the end of the trace, wake = in = its end; or see wait_killed(). */
	WAIT_NOT_WOKEN = 2,
	WAIT_NO_WAKING = 4, /* it ended, or became unknown, without a recorded waking: wake = in */
	WAIT_SINCE_START = 8, /* began before the trace did; out = the trace's start */
	WAIT_NEW = 16,	      /* from a thread's start to its first run; out = wake */
	WAIT_UNFINISHED = 32, /* no switch-in was seen; in = where the state becomes unknown */
	/* Its waker, a thread, had no CPU from out to out + waker_at, and then ran until wake. */
	WAIT_WAKER_RAN = 64,
	WAIT_FLAGS = 127,
};

/* The names in outputs; the last entry has none. WAIT_WAKER_RAN is internal. */
extern const struct wait_flag_name {
	unsigned int flag;
	const char *name;
} wait_flag_names[];

#define WAIT_WAKER_BITS 21
#define WAIT_WAKER_MAX ((UINT32_C(1) << WAIT_WAKER_BITS) - 1)

/* Most of the memory is waits, so their fields have no more bits than they need. */
struct wait {
	uint64_t out_ns, wake_ns, in_ns;
	uint32_t stack;		      /* off-CPU: a stack pair, see timelines_pair(); 0 none */
	uint32_t waker_stack;	      /* stack pair */
	uint32_t waker : THREAD_BITS; /* thread index, THREAD_IDLE or THREAD_NONE */
	uint32_t flags : 7;	      /* enum wait_flags, or-ed */
	/*
	 * With WAIT_WAKER_RAN, ns after out_ns. Else, in a sleep, the number of the waker's off-CPU
	 * intervals before wake_ns, or WAIT_WAKER_MAX if it does not fit, or with goes_on: see
	 * wait_waker_pos(). In a preempted interval, 1 if it is wait_throttled(), in unknown time
	 * if it is wait_ran_on().
	 */
	uint32_t waker_at : WAIT_WAKER_BITS;
	/*
	 * A sleep: the thread was current in a waking since the end of the sleep before it, and not
	 * only in those of interrupts (timelines_woke_before()). Unknown time: it begins with a
	 * waking of the thread.
	 */
	uint32_t woke_before : 1;
	uint32_t goes_on : 1; /* a later waking explains it, see timelines_go_on() */
	uint32_t kind : 2;    /* enum wait_kind */
	/* The sleep state, a character, as ps shows it; '?' not known, 'R' preempted. */
	uint32_t state : 7;
};

_Static_assert(sizeof(struct wait) == 40, "a wait has no padding");

/* Whether the thread was off its CPU because the quota of its control group was used up. */
static inline bool wait_throttled(const struct wait *w)
{
	return w->kind == WAIT_PREEMPTED && w->waker_at;
}

/*
 * Whether, without a loss, unknown time of a thread begins while that runs: the trace lacks how it
 * went off its CPU.
 */
static inline bool wait_ran_on(const struct wait *w)
{
	return w->kind == WAIT_UNKNOWN && w->waker_at;
}

/*
 * Whether a sleep with WAIT_NOT_WOKEN ended, before the trace did, only because its thread was to
 * end: its waker sent the signal, or ended the process.
 */
static inline bool wait_killed(const struct wait *w)
{
	return w->flags & WAIT_NOT_WOKEN && w->waker != THREAD_NONE;
}

/* Whether a waking is known that ended a sleep: wake_ns is its time. */
static inline bool wait_has_waking(const struct wait *w)
{
	return !(w->flags & (WAIT_NOT_WOKEN | WAIT_NO_WAKING)) || wait_killed(w);
}

/*
 * Who asked a worker for what it did, by when it woke somebody: see attribute/work_items.h. In
 * order of time.
 */
struct work_item {
	uint64_t from_ns;  /* of its wakings from then on, up to the next one */
	bool none;	   /* no item: what it slept before says it */
	struct wait asked; /* as though this had ended a sleep of the worker: wait_is_asked() */
};

static inline bool wait_is_asked(const struct wait *w)
{
	return w->flags & WAIT_NEW && !w->state;
}

struct work_items {
	struct work_item *recorded, *assumed; /* from events; from when it waited for work */
	uint32_t n_recorded, n_assumed;
	bool is_recorded; /* the trace has events of its items */
};

enum thread_flags {
	THREAD_KTHREAD = 1,
	THREAD_EXITED = 2,   /* its end was seen */
	THREAD_RECORDER = 4, /* the recorder's own: not recorded, its timeline is unknown */
	THREAD_CLIENT = 8,   /* no thread: it waits for answers, see timelines_clients() */
};

struct thread {
	uint32_t tid, tgid; /* tgid 0: not known; of a client both are the server's process */
	/* Of a process in another PID namespace: its id there; 0: as tid, or not known. */
	uint32_t own_id;
	uint32_t flags;	  /* enum thread_flags, or-ed */
	uint32_t name;	  /* string id: its first name; see timelines_name() */
	uint32_t renames; /* how many names it got later */
	/* Thread that started it; of a client one of the server; THREAD_NONE: not known. */
	uint32_t parent;
	uint32_t n_waits;
	struct wait *waits;
	/*
	 * If another thread ended its process while it slept: that sleep, but as one that this
	 * thread ended, which wait_killed() is not. Else NULL.
	 */
	struct wait *process_end;
	struct work_items *work; /* NULL: it is no worker, or was not seen to wait for work */
	uint32_t exit_stack;	 /* stack pair: where it left its last CPU; 0: not known */
	/* What it executed last (string id, see CHAINLOG_EXEC); 0: not known, or nothing. */
	uint32_t program;
	uint64_t begin_ns, end_ns; /* of its life in the trace */
};

/* Time of a thread by state, over its life or a part; the first five add up to lifetime_ns. */
struct thread_sums {
	uint64_t running_ns, blocked_ns, runnable_ns, preempted_ns, unknown_ns;
	uint64_t lifetime_ns;
};

/* A kernel and a user stack (ids of the trace, 0 none) that were recorded together. */
struct stack_pair {
	uint32_t kstack, ustack;
	/*
	 * Of a wait: what was waited for (id of the trace); 0: not known. Of a waker: the number of
	 * the timer of TCP that had put off what it received; 0: none.
	 */
	uint32_t object;
	uint32_t ready;	  /* if that was several things: the one that ended it; 0: not known */
	uint32_t request; /* of a waker: the request whose end made it wake; 0: none */
	bool not_sent;	  /* of a waker: what it received, and woke for, it had not sent */
	bool of_client;	  /* there are no stacks: object is the endpoint that a client waits for */
	bool is_short;	  /* no user stack, as the wait was too short (trace_info.light_ns) */
};

/* In place of a user stack's id in a pair: see stack_pair.is_short. */
#define TIMELINE_SHORT UINT32_MAX

/* A sleep that a later waking explains, and the sleep that this waking ended. */
struct later_waking {
	const struct wait *sleep, *ended;
};

/* What a timer of TCP put off, until at_ns: see CHAINLOG_TCP_TIMER. */
struct tcp_timer {
	uint64_t since_ns, at_ns; /* since_ns <= at_ns */
	uint32_t which;		  /* enum chainlog_tcp_timer */
};

struct stolen_time;

/*
 * When no CPU had an event although samples were due (chain-semantics, section 9): the machine
 * stood still, as a virtual machine does that its host does not run.
 */
struct stall {
	uint64_t from_ns, to_ns;
};

struct stalls {
	struct stall *at; /* in the order of time */
	size_t n, cap;
	uint64_t seen_ns; /* the trace has events, or losses, up to here; 0: none so far */
};

/* The members are private: use the functions below. */
struct rename {
	uint64_t at_ns;
	uint32_t thread, name;
};

struct timelines {
	const struct trace *trace;
	uint64_t start_ns, end_ns;
	struct thread *threads;
	uint32_t *first_rename; /* by thread: where its names begin in renames[] */
	size_t n_threads;
	uint32_t n_clients;	/* behind the threads */
	struct rename *renames; /* by thread, then time */
	size_t n_renames;
	struct pairs pairs; /* kernel and user stack: see timelines_pair() */
	uint32_t no_stacks; /* the pair of clients' waits; 0: there are none */
	struct samples samples;
	struct disk_requests disk_requests;
	struct lock_holders lock_holders;
	struct streams streams;
	struct throttles throttles;
	struct tcp_timer *tcp_timers; /* by number - 1 */
	size_t n_tcp_timers, cap_tcp_timers;
	struct work_events work;
	struct remote_answers *remote; /* NULL: none are known, or not asked for */
	struct groups groups;
	bool has_objects; /* others than control groups */
	struct request_list requests;
	struct cpus *cpus;		/* NULL: not asked for, or not in the trace */
	struct stolen_time *interrupts; /* likewise */
	struct stolen_time *steal;	/* likewise */
	uint64_t steal_ns;		/* all of it */
	uint64_t recorder_ns;		/* see timelines_recorder_ns() */
	struct stalls stalls;		/* empty where cpus is NULL */
	struct untraced untraced;
	struct later_waking *later; /* by address of the sleep */
	size_t n_later, cap_later;
	struct wait **assumed; /* see timelines_assume() */
	size_t n_assumed, cap_assumed;
	size_t slices; /* so many slices of time were built apart, see slice.h */
};

/*
 * Builds all timelines of t, which must outlive them. Returns 0, *out to be freed; -ENOMEM; or
 * -EBADMSG if there is a malformed event in a trace that was not checked, see trace_open_bytes().
 */
int timelines_new(struct timelines **out, const struct trace *t);
/* The same, with what CPUs ran and how long they were in interrupts, if the trace has that. */
int timelines_new_with_cpus(struct timelines **out, const struct trace *t);
void timelines_free(struct timelines *tl);
/* NULL: not asked for, or the trace does not have the queues. */
static inline const struct cpus *timelines_cpus(const struct timelines *tl)
{
	return tl->cpus;
}
/* When the machine stood still, in the order of time; only if timelines_cpus() is not NULL. */
static inline const struct stall *timelines_stalls(const struct timelines *tl, size_t *n)
{
	*n = tl->stalls.n;
	return tl->stalls.at;
}
/* How long CPUs were in interrupts, see stolen_time.h. NULL: not asked for, or not in the trace. */
static inline const struct stolen_time *timelines_interrupts(const struct timelines *tl)
{
	return tl->interrupts;
}
/* The same for the time that a hypervisor took; NULL also if it took none. */
static inline const struct stolen_time *timelines_steal(const struct timelines *tl)
{
	return tl->steal;
}
/* The sum of that, over all CPUs, in ns. */
static inline uint64_t timelines_steal_ns(const struct timelines *tl)
{
	return tl->steal_ns;
}

/* How long the recorder itself had CPUs, over all of them, in ns; 0 also if the trace does not say.
 */
static inline uint64_t timelines_recorder_ns(const struct timelines *tl)
{
	return tl->recorder_ns;
}

/* The number of switches that are missing, see untraced.h. */
static inline uint64_t timelines_untraced(const struct timelines *tl)
{
	return tl->untraced.switches;
}

static inline const struct trace *timelines_trace(const struct timelines *tl)
{
	return tl->trace;
}
/* No timeline begins before it, nor ends after timelines_end_ns(). */
static inline uint64_t timelines_start_ns(const struct timelines *tl)
{
	return tl->start_ns;
}
static inline uint64_t timelines_end_ns(const struct timelines *tl)
{
	return tl->end_ns;
}

/* Threads are numbered 0..n-1 in the order in which they were first seen. */
static inline uint32_t timelines_threads(const struct timelines *tl)
{
	return (uint32_t)tl->n_threads;
}
static inline const struct thread *timelines_thread(const struct timelines *tl, uint32_t thread)
{
	return &tl->threads[thread];
}
/*
 * Behind the threads, up to this number, come the clients that wait for requests (requests.h),
 * which have names and waits as threads have.
 */
static inline uint32_t timelines_clients_end(const struct timelines *tl)
{
	return (uint32_t)tl->n_threads + tl->n_clients;
}
/* The numbers of all clients, or else of all threads, from first up to end. */
static inline void timelines_range(const struct timelines *tl, bool clients, uint32_t *first,
				   uint32_t *end)
{
	*first = clients ? (uint32_t)tl->n_threads : 0;
	*end = clients ? timelines_clients_end(tl) : (uint32_t)tl->n_threads;
}
static inline bool timelines_is_client(const struct timelines *tl, uint32_t thread)
{
	return thread >= tl->n_threads;
}
/* The name (string id) that a thread had at a time. */
uint32_t timelines_name(const struct timelines *tl, uint32_t thread, uint64_t at_ns);
/* When it gets its next name after at_ns; UINT64_MAX: never. */
uint64_t timelines_next_name_ns(const struct timelines *tl, uint32_t thread, uint64_t at_ns);
/* Its i-th name, 0..renames. */
static inline uint32_t timelines_nth_name(const struct timelines *tl, uint32_t thread, uint32_t i)
{
	return i ? tl->renames[tl->first_rename[thread] + i - 1].name : tl->threads[thread].name;
}

/*
 * The path (string id) of the control group in which a thread was at a time, or of a client the
 * server; 0: not known.
 */
uint32_t timelines_group(const struct timelines *tl, uint32_t thread, uint64_t at_ns);
/* *until_ns: so it stays up to then at least; UINT64_MAX: for ever. */
uint32_t timelines_group_until(const struct timelines *tl, uint32_t thread, uint64_t at_ns,
			       uint64_t *until_ns);
/* Calls fn for each path of a group in which the thread was, until it returns true. */
bool timelines_any_group(const struct timelines *tl, uint32_t thread,
			 bool (*fn)(void *ctx, uint32_t path), void *ctx);
/*
 * When the thread could not run in w, one of its waits, as a quota was used up, in the order of
 * time; for none before w->wake_ns, when it was ready.
 */
static inline const struct throttle *
timelines_throttles(const struct timelines *tl, uint32_t thread, const struct wait *w, size_t *n)
{
	return throttles_of(&tl->throttles, thread, w->wake_ns, w->in_ns, n);
}
/* Whether a quota was used up in w, but it is not known until when. */
static inline bool timelines_throttled_untold(const struct timelines *tl, uint32_t thread,
					      const struct wait *w)
{
	size_t n;

	if (!wait_throttled(w))
		return false;
	timelines_throttles(tl, thread, w, &n);
	return !n;
}
/* Whether the trace says until when quotas were used up, not only that they were. */
static inline bool timelines_tell_quotas(const struct timelines *tl)
{
	return trace_info(tl->trace)->aux & 1u << CHAINLOG_UNTHROTTLED;
}
/* Whether the trace says what was waited for. */
static inline bool timelines_has_objects(const struct timelines *tl)
{
	return tl->has_objects;
}
/* Whether the group of any thread is known. */
static inline bool timelines_grouped(const struct timelines *tl)
{
	return tl->groups.n_names;
}

/*
 * A thread's sleep goes on until a later waking (chain-semantics, section 14), that which ended
 * another sleep, perhaps another thread's: it gets the waker of that, a thread, and keeps its
 * times. timelines_sort_later() is to be called at last.
 */
void timelines_go_on(struct timelines *tl, uint32_t thread, uint32_t sleep,
		     const struct wait *ended);
void timelines_sort_later(struct timelines *tl);
/*
 * For timelines_go_on(): the sleep `last`, as though a thread had ended it at_ns, with that stack
 * pair, and nobody had recorded it.
 */
const struct wait *timelines_assume(struct timelines *tl, const struct wait *last, uint32_t waker,
				    uint32_t pair, uint64_t at_ns);
/* Within a thread's sleep, of which it makes two: at_ns, when waker ended the first one. */
struct sleep_part {
	uint32_t thread, sleep, waker;
	uint64_t at_ns;
};

/*
 * Makes two sleeps each of those, which are by thread, then sleep. The second one ends as the sleep
 * did. The numbers of later waits change, and no pointer to a wait of such a thread is valid any
 * more but those of timelines_go_on(), which are to be sorted afterwards.
 */
void timelines_part(struct timelines *tl, const struct sleep_part *parts, size_t n);
/*
 * A thread's sleep, whose waker is known, becomes one that is wait_killed(); with_process: by a
 * thread that ended the process.
 */
void timelines_kill(struct timelines *tl, uint32_t thread, uint32_t sleep, bool with_process);
/* Whether a thread woke anybody before that sleep, and after the one before it: woke_before. */
void timelines_woke_before(struct timelines *tl, uint32_t thread, uint32_t sleep, bool woke);
/* It is not known what ended a thread's sleep. */
void timelines_forget_waker(struct timelines *tl, uint32_t thread, uint32_t sleep);
/*
 * The sleep whose end explains w, a sleep of a timeline: itself, or the one until whose end it goes
 * on.
 */
const struct wait *timelines_ended(const struct timelines *tl, const struct wait *w);

/*
 * The thread that had the lock at which w, a sleep of thread, began, as far as the lock's own word
 * says: see words/lock_holder.h. THREAD_NONE: not known.
 */
static inline uint32_t timelines_lock_word(const struct timelines *tl, uint32_t thread,
					   const struct wait *w)
{
	const struct lock_holder *h = lock_holders_find(&tl->lock_holders, thread, w->out_ns);

	return h ? h->holder : THREAD_NONE;
}

/* For timelines_pair(): sets what a pair of stacks tells; of one with an object, or a request. */
static inline void timelines_add_stacks(const struct timelines *tl, uint32_t pair,
					struct stack_pair *to)
{
	const struct pair *p = &tl->pairs.at[pair];

	to->kstack = p->a;
	to->is_short = p->b == TIMELINE_SHORT;
	to->ustack = to->is_short ? 0 : p->b;
	to->of_client = pair == tl->no_stacks;
}
struct stack_pair timelines_pair_of_object(const struct timelines *tl, uint32_t pair);
/* What a stack pair tells; all zero of 0. */
static inline struct stack_pair timelines_pair(const struct timelines *tl, uint32_t pair)
{
	struct stack_pair stacks = { 0 };

	if (!pair || pair > tl->pairs.n)
		return stacks;
	if (tl->pairs.at[pair].a & TRACE_PAIR_OBJECT)
		return timelines_pair_of_object(tl, pair);
	timelines_add_stacks(tl, pair, &stacks);
	return stacks;
}
/* One more than the highest pair id. */
static inline uint32_t timelines_pairs_end(const struct timelines *tl)
{
	return tl->pairs.n + 1;
}

/* The pair of the same stacks alone: those of different requests are different pairs. */
static inline uint32_t timelines_plain_pair(const struct timelines *tl, uint32_t pair)
{
	while (pair && pair <= tl->pairs.n && tl->pairs.at[pair].a & TRACE_PAIR_OBJECT)
		pair = tl->pairs.at[pair].b;
	return pair;
}
/* Requests to block devices, in the order in which they were done. */
static inline const struct disk_request *timelines_disk_requests(const struct timelines *tl,
								 size_t *n)
{
	*n = tl->disk_requests.n;
	return tl->disk_requests.at;
}
/* The request of a waker's pair. */
static inline const struct disk_request *timelines_disk_request(const struct timelines *tl,
								uint32_t number)
{
	return &tl->disk_requests.at[number - 1];
}
static inline struct disk_request_kind timelines_disk_request_kind(const struct timelines *tl,
								   uint32_t kind)
{
	return disk_requests_kind(&tl->disk_requests, kind);
}

/* The timer of TCP that had put off what ended w; NULL: none. */
static inline const struct tcp_timer *timelines_tcp_timer(const struct timelines *tl,
							  const struct wait *w)
{
	uint32_t number = tl->n_tcp_timers ? timelines_pair(tl, w->waker_stack).object : 0;

	return number && number <= tl->n_tcp_timers ? &tl->tcp_timers[number - 1] : NULL;
}

/* ---- requests of clients: see requests.h ----------------------------------------------------- */

/* All of them, by number. */
static inline const struct request *timelines_requests(const struct timelines *tl, size_t *n)
{
	*n = tl->requests.n;
	return tl->requests.at;
}
static inline const struct request *timelines_request(const struct timelines *tl, uint32_t number)
{
	return &tl->requests.at[number];
}
/* The string id of "[queued]". */
static inline uint32_t timelines_queued(const struct timelines *tl)
{
	return tl->requests.queued;
}
static inline const struct request_endpoint *timelines_endpoints(const struct timelines *tl,
								 uint32_t *n)
{
	*n = tl->requests.n_endpoints;
	return tl->requests.endpoints;
}
/* For which trace, span and route it was, as the program published it. NULL: not known. */
static inline const struct context *timelines_context(const struct timelines *tl,
						      const struct request *q)
{
	return q->context ? &tl->requests.contexts.at[q->context] : NULL;
}
/* The numbers of the requests of that trace id, in the order in which they arrived. */
static inline const uint32_t *timelines_requests_by_trace(const struct timelines *tl,
							  const uint64_t trace[2], size_t *n)
{
	return requests_of_trace(&tl->requests, trace, n);
}
/*
 * The numbers of the requests of the same trace id, also q, in the order in which they arrived;
 * none if its trace id is not known.
 */
static inline const uint32_t *timelines_requests_of_trace(const struct timelines *tl,
							  const struct request *q, size_t *n)
{
	const struct context *c = timelines_context(tl, q);

	*n = 0;
	return c && (c->trace[0] | c->trace[1]) ? requests_of_trace(&tl->requests, c->trace, n)
						: NULL;
}
/* The wait for a request, and whose. NULL: it is not explained. */
const struct wait *timelines_wait_for(const struct timelines *tl, uint32_t number,
				      uint32_t *client);
/* The answer from another machine that ended w, see remote_answers.h. NULL: none is known. */
static inline const struct remote_answer *timelines_remote(const struct timelines *tl,
							   const struct wait *w)
{
	return remote_answer_of(tl->remote, w);
}
static inline bool timelines_is_for_request(const struct timelines *tl, const struct wait *w)
{
	const struct request_list *r = &tl->requests;

	return r->waits && w >= r->waits && w < r->waits + r->n_waits;
}
/* The request that a wait of a client is for. */
static inline const struct request *timelines_request_of(const struct timelines *tl,
							 const struct wait *w)
{
	return &tl->requests.at[tl->requests.of_wait[w - tl->requests.waits]];
}
/* The numbers of the requests that a thread read, in the order in which they arrived. */
static inline const uint32_t *timelines_requests_read(const struct timelines *tl, uint32_t thread,
						      size_t *n)
{
	const size_t *first = tl->requests.first_by_reader;

	*n = first ? first[thread + 1] - first[thread] : 0;
	return first ? tl->requests.by_reader + first[thread] : NULL;
}
/* When a thread was the writer of exactly one request that had been taken and not answered. */
static inline const struct request_span *timelines_spans_written(const struct timelines *tl,
								 uint32_t thread, size_t *n)
{
	const struct request_spans *s = &tl->requests.written;

	*n = s->first ? s->first[thread + 1] - s->first[thread] : 0;
	return s->first ? s->at + s->first[thread] : NULL;
}
/* Likewise reader and writer. */
static inline const struct request_span *timelines_spans_served(const struct timelines *tl,
								uint32_t thread, size_t *n)
{
	const struct request_spans *s = &tl->requests.served;

	*n = s->first ? s->first[thread + 1] - s->first[thread] : 0;
	return s->first ? s->at + s->first[thread] : NULL;
}

/* ---- samples -------------------------------------------------------------------------------- */

/* Whether the trace has samples of running threads. */
static inline bool timelines_sampled(const struct timelines *tl)
{
	return tl->samples.any;
}
/* Those of a thread while it ran; *end is one past the last. Both are NULL if there are none. */
static inline const struct sample *timelines_samples(const struct timelines *tl, uint32_t thread,
						     const struct sample **end)
{
	const struct samples *s = &tl->samples;

	*end = s->first ? s->at + s->first[thread + 1] : NULL;
	return s->first ? s->at + s->first[thread] : NULL;
}

/* The nearest time to ns in [from_ns, to_ns]; cuts an interval to another one. */
static inline uint64_t clip_ns(uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
	return ns < from_ns ? from_ns : ns > to_ns ? to_ns : ns;
}

/* The interval that begins with the thread's start; its waker started it. NULL: not known. */
static inline const struct wait *thread_birth(const struct thread *th)
{
	return th->n_waits && th->waits[0].flags & WAIT_NEW ? &th->waits[0] : NULL;
}
/* Number of the thread's off-CPU intervals that end at or before at_ns (binary search). */
uint32_t thread_position(const struct thread *th, uint64_t at_ns);
/* The same, from a guess on. */
static inline uint32_t thread_position_near(const struct thread *th, uint64_t at_ns, uint32_t guess)
{
	return (uint32_t)LOWER_BOUND_NEAR(i, th->n_waits, guess, th->waits[i].in_ns <= at_ns);
}
/* The i-th interval of a thread; n_waits: the end of them. A thread may have none, and no array. */
static inline struct wait *thread_interval(const struct thread *th, uint32_t i)
{
	return i ? th->waits + i : th->waits;
}
static inline bool wait_knows_waker_pos(const struct wait *w)
{
	return !(w->flags & WAIT_WAKER_RAN) && w->waker_at < WAIT_WAKER_MAX;
}
/* The number of the waker's off-CPU intervals that end before it woke w. */
static inline uint32_t wait_waker_pos(const struct thread *waker, const struct wait *w)
{
	return wait_knows_waker_pos(w) ? w->waker_at : thread_position(waker, w->wake_ns);
}
/* The same; *hint: a guess, then what it is. */
static inline uint32_t wait_waker_pos_near(const struct thread *waker, const struct wait *w,
					   uint32_t *hint)
{
	*hint = wait_knows_waker_pos(w) ? w->waker_at
					: thread_position_near(waker, w->wake_ns, *hint);
	return *hint;
}
/*
 * When the waker woke w. An early waking is before the wait begins: then when the waker was back on
 * its CPU before that, between the same two of its intervals.
 */
static inline uint64_t wait_waker_ns(const struct thread *waker, const struct wait *w)
{
	uint32_t pos;

	if (!(w->flags & WAIT_EARLY) || w->goes_on)
		return w->wake_ns;
	pos = wait_waker_pos(waker, w);
	return pos ? waker->waits[pos - 1].in_ns : waker->begin_ns;
}
/* Sums over the part of its life that lies in [from_ns, to_ns). */
struct thread_sums thread_sums(const struct thread *th, uint64_t from_ns, uint64_t to_ns);
