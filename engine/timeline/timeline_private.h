/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline_private.h - the state while timelines are built, shared by the files that build them.
 * thread_table.c owns which thread has a tid at a moment, and the threads' names; timeline_waits.c
 * their off-CPU intervals; timeline_state.c owns what each thread is doing, timeline_wakings.c how
 * it was woken; timeline_events.c turns events into calls of these;
 * timeline_build.c has all of them taken, by slices.c where several threads can. No other file
 * includes it.
 */
#pragma once

#include "trace/event_stream.h"
#include "base/pairs.h"
#include "cpus.h"
#include "stolen_time.h"
#include "timeline.h"

/* What a thread is doing; timeline_state.c draws the transitions. */
enum live_state {
	LIVE_UNKNOWN,
	LIVE_RUNNING,
	LIVE_ASLEEP,
	LIVE_WOKEN,
	LIVE_PREEMPTED,
	LIVE_DEAD,
};

#define LIVE_NO_CPU UINT32_MAX /* runs somewhere: it was running when the recording began */

/* A waking of a thread that was still on its CPU. */
struct early_waking {
	bool valid;
	uint64_t at_ns;
	uint32_t waker, stack, pos;
	uint32_t losses; /* number of losses before it */
	bool off_queue;	 /* it certainly ends the sleep whose switch-out follows */
};

struct live {
	enum live_state state;
	bool fresh;   /* no event has named it yet */
	bool stirred; /* another kind of event tells that it did not sleep on */
	bool unborn;  /* forked, not yet woken for its first run */
	bool exiting; /* its exit event was seen, its last switch was not */
	/*
	 * The open wait is inferred from a waking or from the snapshot, not from a switch-out: the
	 * thread may have been running on a CPU without an event so far. Only its switch-in, or a
	 * snapshot later than the last event before it, makes the wait certain.
	 */
	bool assumed;
	uint32_t cpu;		    /* LIVE_RUNNING: where */
	uint32_t losses;	    /* number of losses before its last event */
	uint32_t losses_before_run; /* number of losses that were over when it came on its CPU */
	/* LIVE_ASLEEP: a waking may have been lost; LIVE_WOKEN, assumed: somebody woke it later */
	bool maybe_woken;
	bool off_queue; /* LIVE_WOKEN: by a waking that certainly ended the sleep */
	bool woke;	/* it was current in a waking since its last sleep */
	/*
	 * In a slice (slice.h): whether that it woke before the slice adds to woke, or to what the
	 * open wait has of it; and the number of the wait to which it does, 1 for the first; 0:
	 * none.
	 */
	bool woke_adds, open_adds;
	uint32_t added_wait;
	uint32_t snapshot; /* 1 + its place in trace_threads(), or 0 */
	size_t cap_waits;
	uint64_t since_ns; /* LIVE_UNKNOWN, or assumed: since when it is not known what it did */
	uint64_t last_ns;  /* LIVE_RUNNING: when it was last seen to run */
	struct wait open;  /* LIVE_ASLEEP, LIVE_WOKEN, LIVE_PREEMPTED */
	struct early_waking early;
};

enum cpu_runs {
	CPU_UNKNOWN, /* its next event shows what has been running since known_from_ns */
	CPU_UNSEEN,  /* a switch happened that was not recorded */
	CPU_IDLE,
	CPU_THREAD,
};

struct cpu {
	enum cpu_runs runs;
	uint32_t thread; /* CPU_THREAD */
	/* No event of this CPU is missing from here on: the trace's start or the end of a loss. */
	uint64_t known_from_ns;
	/* Its last switch, also away from the recorder, and the one before that; 0: none so far. */
	uint64_t switch_ns, before_ns;
};

/* At now_ns, perhaps once more, the CPU switches. */
static inline void cpu_switches(struct cpu *c, uint64_t now_ns)
{
	if (c->switch_ns == now_ns)
		return;
	c->before_ns = c->switch_ns;
	c->switch_ns = now_ns;
}

/* The last switch before now_ns; 0: none is known. */
static inline uint64_t cpu_switch_before(const struct cpu *c, uint64_t now_ns)
{
	return c->switch_ns == now_ns ? c->before_ns : c->switch_ns;
}

/*
 * Of a wait for any of several things (an epoll instance, a poll()), the one that was ready when
 * the thread was woken. Once all pairs of stacks are there, the wait gets a pair of its own with
 * it. object 0: the waker gets one, because it had not sent what woke, or a timer of TCP had put
 * that off.
 */
struct ready_note {
	uint64_t wake_ns; /* of the wait */
	uint32_t thread, wait, object;
	struct tcp_timer timer; /* which 0: none */
};

/*
 * A thread slept with these stacks, if its switch-out had none, at that time. pair 0: they were
 * left out, as those of a short sleep.
 */
struct slept_note {
	uint64_t ns;
	uint32_t thread, pair;
};

/* The kernel gives no tid above PID_MAX_LIMIT, which is TID_PAGED. */
#define TID_PAGE 4096u
#define TID_PAGES 1024u
#define TID_PAGED (TID_PAGE * TID_PAGES)

struct builder {
	struct timelines *tl;
	struct trace_cursor *cursor; /* that the events come from, for its pairs */
	struct live *live;	     /* by thread */
	size_t cap_threads, cap_live;
	struct cpu *cpus;
	size_t n_cpus;
	uint64_t cpus_known_from_ns; /* for a CPU without an event so far */
	uint64_t *loss_ns;	     /* where each loss begins, ascending */
	size_t n_losses, cap_losses;
	uint64_t lossy_until_ns; /* losses of any CPU so far end here */
	uint64_t lossy_ns;	 /* while events of any CPU were lost, altogether */
	/* Which thread has a tid now, or THREAD_NONE: by tid, in pages, up to TID_PAGED... */
	uint32_t *tid_pages[TID_PAGES];
	struct pairs tids; /* ...and (tid, 0) to a place in current[] for what is beyond */
	uint32_t *current;
	size_t cap_current;
	struct pairs late;    /* (tid, 0) to a place in late_place[] */
	uint32_t *late_place; /* in trace_threads(): threads born after the trace's start */
	size_t cap_late;
	size_t cap_renames;
	struct ready_note *ready;
	size_t n_ready, cap_ready;
	struct slept_note *slept;
	size_t n_slept, cap_slept;
};

/* ---- thread_table.c ---- */

/* For tids that are not in the pages. */
uint32_t table_find_beyond(const struct builder *b, uint32_t tid);
/* The thread that has the tid now, THREAD_NONE: none. */
static inline uint32_t table_find(const struct builder *b, uint32_t tid)
{
	const uint32_t *page;

	if (tid >= TID_PAGED)
		return table_find_beyond(b, tid);
	page = b->tid_pages[tid / TID_PAGE];
	return page ? page[tid % TID_PAGE] : THREAD_NONE;
}
/* The same; a tid that is new, or whose thread has died, gets a new thread. */
uint32_t table_get(struct builder *b, uint32_t tid, uint64_t now_ns);
/* A thread begins and takes over the tid. */
uint32_t table_birth(struct builder *b, uint32_t tid, uint64_t begin_ns);
/* The thread goes on as another tid (an exec by one that is not its process's leader). */
void table_retid(struct builder *b, uint32_t thread, uint32_t tid);
void table_rename(struct builder *b, uint32_t thread, uint32_t name, uint64_t now_ns);
/* The threads that were there when the recording began. */
void table_snapshot(struct builder *b);
/* Once they are there: who had the locks at which they slept. */
void table_snapshot_holders(struct builder *b);
/* Sorts the names by thread and time. */
void table_finish(struct builder *b);
/* Forgets all threads; the memory is kept for others. */
void table_clear(struct builder *b);
void table_free(struct builder *b);

/* ---- timeline_waits.c ---- */

enum wait_ending {
	BY_SWITCH_IN,
	BY_LOSS, /* or an impossible sequence */
	BY_TRACE_END,
};

/* Appends an interval of which it is not known what the thread did; nothing if it is empty. */
void waits_add_unknown(struct builder *b, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
/* Takes unknown time back: the thread's last intervals, as far as they are at from_ns or later. */
void waits_known_from(struct builder *b, uint32_t thread, uint64_t from_ns);
/* Appends the open wait, which ends at at_ns or is unknown from then on. */
void waits_finish(struct builder *b, uint32_t thread, uint64_t at_ns, enum wait_ending why);
/* Room for n more intervals behind those of the thread. */
struct wait *waits_room(struct builder *b, uint32_t thread, uint32_t n);
/* Sets who woke w, from which stacks, after how many off-CPU intervals of the waker's. */
void wait_set_waker(struct wait *w, uint32_t waker, uint32_t stack, uint32_t pos);

/* ---- timeline_state.c ---- */

/* Applies losses since the thread's last event. To be called before the functions below. */
void state_settle(struct builder *b, uint32_t thread, uint64_t now_ns);
/* The thread is seen to act (wake, fork, switch out...) on a CPU: it runs there. */
void state_acts(struct builder *b, uint32_t cpu, uint32_t thread, uint64_t now_ns);
/* The idle loop is seen on a CPU. */
void state_idles(struct builder *b, uint32_t cpu, uint64_t now_ns);
void state_switch_out(struct builder *b, uint32_t cpu, uint32_t thread, uint64_t now_ns, char state,
		      uint32_t stack);
/* The thread of the event, which was just switched out, waits for an object. */
void state_waits_for(struct builder *b, uint32_t thread, const struct event *ev);
/*
 * The thread, which was switched out at now_ns, or has slept since the trace's start at now_ns,
 * sleeps at a lock that says that holder has it: a thread, or THREAD_NONE.
 */
void state_held(struct builder *b, uint32_t thread, uint64_t now_ns, uint32_t holder);
void state_switch_in(struct builder *b, uint32_t cpu, uint32_t thread, uint64_t now_ns);
/*
 * The thread was put on the queue of a CPU; woken: by the waking before. Says nothing of what the
 * thread does, so that a trace with such events gives the same timelines as one without.
 */
void state_queued(struct builder *b, uint32_t thread, uint64_t now_ns, uint32_t cpu, bool woken);
/* The thread, which is ready, may not run because a quota is used up. */
void state_throttled(struct builder *b, uint32_t thread);
/* Events of a CPU (EVENT_CPU_UNKNOWN: of any) are missing in [from_ns, last_ns]. */
void state_lost(struct builder *b, uint32_t cpu, uint64_t from_ns, uint64_t last_ns);
/* The thread is gone, but its last switch was not seen. */
void state_vanished(struct builder *b, uint32_t thread, uint64_t now_ns);
/* The trace ends: closes all that is open. */
void state_end(struct builder *b, uint32_t thread);
/* An impossible sequence: the thread's state since it was last seen becomes unknown. */
void state_give_up(struct builder *b, uint32_t thread, uint64_t now_ns);
/* When the snapshot saw the thread in the state that it is assumed to have had since the start. */
uint64_t state_snapshot_ns(const struct builder *b, const struct live *l);
static inline void state_becomes_unknown(struct live *l, uint64_t since_ns)
{
	l->state = LIVE_UNKNOWN;
	l->since_ns = since_ns;
	l->assumed = false;
}
/* The CPU, added if it is new. */
struct cpu *state_new_cpu(struct builder *b, uint32_t cpu);
static inline struct cpu *state_cpu(struct builder *b, uint32_t cpu)
{
	return cpu < b->n_cpus ? &b->cpus[cpu] : state_new_cpu(b, cpu);
}

/* ---- timeline_wakings.c ---- */

/* The thread's event is a waking by waker: a thread or THREAD_IDLE. */
void state_waking(struct builder *b, uint32_t thread, const struct event *ev, uint32_t waker);
/*
 * Sets WAIT_WAKER_RAN if the waker, after pos off-CPU intervals, only waited for its CPU, and then
 * ran, since the wait began. Its timeline before the moment at which it acts no longer changes, so
 * the flag stays true.
 */
void wait_note_waker(struct wait *w, const struct thread *waker, uint32_t pos);
/* The thread was woken, by whom and when exactly is not known. */
void state_woken_somehow(struct builder *b, uint32_t thread, uint64_t now_ns);
/* The object of the event is what ended the wait of the thread, which was woken just then. */
void state_ready(struct builder *b, uint32_t thread, const struct event *ev);

/* ---- timeline_events.c ---- */

void build_event(struct builder *b, const struct event *ev);
/* What a FORK says of the child, which begins: its number. */
uint32_t build_child(struct builder *b, const struct event *ev, uint32_t parent);
/* What an EXEC says of a thread. */
void build_exec(struct builder *b, uint32_t thread, uint32_t program);
/* Takes all events of the cursor's window, or of a stream; first: the first one, NULL: none. */
void build_window(struct builder *b, const struct event *first);
void build_stream(struct builder *b, struct event_stream *events, const struct event *first);

/* ---- slices.c ---- */

/*
 * Takes all events of the cursor, of which first, the first one, is taken, by threads threads, a
 * slice of time each. bounds: of n slices, see trace_cursor_slices(); the cursor's window is the
 * first of them.
 */
void slices_build(struct builder *b, const struct event *first, const uint64_t *bounds, size_t n,
		  uint32_t threads);

/*
 * Makes the clients that wait for the trace's requests, when all else is there: checks the
 * requests, makes indexes and endpoints, and appends the clients.
 */
void request_clients_make(struct timelines *tl);
