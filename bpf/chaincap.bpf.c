// SPDX-License-Identifier: GPL-2.0-only
/*
 * chaincap.bpf.c - records context switches, wakings and the names of threads, with the stacks of
 * the thread that goes to sleep and of the one that wakes; and samples threads that run.
 *
 * One ring buffer per CPU, so that CPUs do not contend and each stream is in time order. A stack is
 * sent once, under a small id; events carry the id. Events that do not fit are counted, and
 * reported in a WIRE_LOST record as soon as there is room again.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "chainwire.h"
#include "memory.h"
#include "recorder.h"

char LICENSE[] SEC("license") = "GPL";

/* Set before loading. */
const volatile bool kernel_stacks = true;
const volatile bool user_stacks = true;
/* Record what sleeping threads wait for. */
const volatile bool find_objects = true;
/* Record who queued the work items in which workers wake others. */
const volatile bool find_work = false;
/* Record requests at sockets. */
const volatile bool find_requests = true;
/* Of the requests that probes mark, some are calls of functions. */
const volatile bool find_calls = false;
/* Walk also those stacks that were found without a walk, compare, and count differences. */
const volatile bool verify = false;
/* --light: sleeps of at least that many ns have user stacks; 0: all have. */
const volatile __u64 light_ns = 0;
#define LIGHT (!OLDER && !PLAIN && light_ns)
/* The most frames of a plain walk: kernel.perf_event_max_stack, or what a record holds. */
const volatile __u32 max_stack = WIRE_STACK_MAX;
/* Before 5.18 sched_switch does not say prev's state, and it has to be read from prev. */
const volatile bool switch_has_state = true;
/* arm64: the bits that a user address has. */
const volatile __u64 address_mask = ~0ull;

/*
 * CLOCK_MONOTONIC; set by the collector. Programs are attached and detached one after the other,
 * but all of them record from the same moment to the same moment.
 */
volatile __u64 record_from_ns = ~0ull, record_until_ns = ~0ull;

/*
 * Tables are variables, not maps: less code finds an element, without a key in memory, and there is
 * always one. The collector has them mapped.
 */
#define TABLE __attribute__((aligned(64)))
#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

#define MAP(name, map_type, n, key_type, value_type)   \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_##map_type); \
		__uint(max_entries, n);                \
		__type(key, key_type);                 \
		__type(value, value_type);             \
	} name SEC(".maps")

/*
 * Flags of hash maps that mostly hold much less than they have room for. Before 6.1 programs of
 * samples, and those that may sleep, are refused with such a map.
 */
#define AS_NEEDED (OLDER ? 0 : BPF_F_NO_PREALLOC)

/*
 * The address of element i of a table, modulo the table's length, a power of two. The verifier of
 * 6.1 wants to see the mask, which the compiler leaves out if it knows better; and it would work
 * out the address again for each field.
 */
#define ELEMENT(table, i)                                                                 \
	({                                                                                \
		__u32 __i = (__u32)(i);                                                   \
		_Static_assert(!(LENGTH(table) & (LENGTH(table) - 1)), "a power of two"); \
		typeof(&(table)[0]) __e;                                                  \
		barrier_var(__i);                                                         \
		__e = &(table)[__i & (LENGTH(table) - 1)];                                \
		barrier_var(__e);                                                         \
		__e;                                                                      \
	})

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the collector makes each one in its real size */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* set to the number of CPUs */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

MAP(kinds, PERCPU_ARRAY, WIRE_COUNTED_KINDS, __u32, struct wire_kind_state);

static __always_inline bool is_recording(__u64 now)
{
	return now >= record_from_ns && now < record_until_ns;
}

/* What there was no room or no time for; the collector counts here, too. */
__u64 left_out[CHAINLOG_LEFT_OUTS] = {};

static __always_inline void leave_out(enum chainlog_left_out what)
{
	__sync_fetch_and_add(&left_out[what], 1);
}

/*
 * Until when an iterator goes on, CLOCK_MONOTONIC, set by the collector before each: strangers may
 * make as many tasks, files and sockets as they like. One that returns 1 ends the read with EAGAIN.
 */
volatile __u64 list_until_ns = ~0ull;

static __always_inline bool is_late(void)
{
	return bpf_ktime_get_ns() >= list_until_ns;
}

/* ---- keeping and losing -------------------------------------------------------------------- */

static __always_inline int count_lost(struct wire_kind_state *k, __u64 now)
{
	if (!k->pending++)
		k->pending_first_ns = now;
	k->pending_last_ns = now;
	return 0;
}

static __always_inline void *this_ring(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

static __always_inline struct wire_kind_state *kind_state(__u32 kind)
{
	struct wire_kind_state *k = bpf_map_lookup_elem(&kinds, &kind);

	if (k) {
		k->kind = kind;
		k->seen++;
	}
	return k;
}

/* Reports earlier losses, so that the gap is in the stream before the events that follow it. */
static __always_inline bool emit_lost(void *ring, struct wire_kind_state *k)
{
	struct wire_lost *l = bpf_ringbuf_reserve(ring, sizeof(*l), 0);

	if (!l)
		return false;
	__builtin_memset(&l->r, 0, sizeof(l->r));
	l->r.time_ns = k->pending_first_ns;
	l->r.kind = WIRE_LOST;
	l->r.cpu = bpf_get_smp_processor_id();
	l->n = k->pending;
	l->last_ns = k->pending_last_ns;
	l->event = (__u32)k->kind;
	l->pad = 0;
	k->pending = 0;
	bpf_ringbuf_submit(l, BPF_RB_NO_WAKEUP);
	return true;
}

/* Room for an event of the given size; or NULL, and the event has been counted as lost. */
#define reserve_event(ring, k, now, size)                            \
	({                                                           \
		void *__room = NULL;                                 \
		if (!(k)->pending || emit_lost(ring, k))             \
			__room = bpf_ringbuf_reserve(ring, size, 0); \
		if (!__room)                                         \
			count_lost(k, now);                          \
		__room;                                              \
	})

static __always_inline void fill_record(struct wire_record *r, __u64 now, __u8 kind)
{
	r->time_ns = now;
	r->kind = kind;
	r->seq[0] = r->seq[1] = r->seq[2] = 0;
	r->cpu = bpf_get_smp_processor_id();
}

/* Numbers tell the collector how many events there were up to any that it has. */
static __always_inline void number_event(struct wire_record *r, const struct wire_kind_state *k)
{
	r->seq[0] = (__u8)k->seen;
	r->seq[1] = (__u8)(k->seen >> 8);
	r->seq[2] = (__u8)(k->seen >> 16);
}

/* Counts an event without stacks. Gives its filled-in record, or NULL: it is counted as lost. */
#define record_event(kind, now, type)                                         \
	({                                                                    \
		struct wire_kind_state *__k = kind_state(kind);               \
		void *__ring = this_ring();                                   \
		type *__ev = NULL;                                            \
		if (__k && __ring)                                            \
			__ev = reserve_event(__ring, __k, now, sizeof(type)); \
		else if (__k)                                                 \
			count_lost(__k, now);                                 \
		if (__ev) {                                                   \
			fill_record(&__ev->r, now, kind);                     \
			number_event(&__ev->r, __k);                          \
		}                                                             \
		__ev;                                                         \
	})

static __always_inline void record_of_thread(__u32 kind, __u64 now, __u32 tid)
{
	struct wire_of_thread *ev = record_event(kind, now, struct wire_of_thread);

	if (!ev)
		return;
	ev->tid = tid;
	ev->pad = 0;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

#define MIX_FACTOR 0x9e3779b97f4a7c15ULL

/* Random for each recording, set before loading. */
const volatile __u64 hash_seed = 0;

/*
 * A hash of words that ends in 64 bits without a seed, or begun with one, where whoever chooses two
 * of its words could gain only his own confusion.
 */
static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * MIX_FACTOR;
	return h ^ h >> 29;
}

/*
 * The same where a program chooses words of a hash that is compared with others' (addresses of
 * sockets). Of mix(), the topmost bit of v is the topmost bit before the shift whatever h is, so
 * that two words can undo each other; here what it changes depends on h, which begins with
 * hash_seed.
 */
static __always_inline __u64 mix_chosen(__u64 h, __u64 v)
{
	h ^= v;
	h = h * MIX_FACTOR ^ (h & 0xffffffff) * (h >> 32);
	return h ^ h >> 29;
}

/*
 * Kinds of events that have stacks: switches, both kinds of wakings, samples, requests to disks and
 * of clients, work items, sleeps that had no stacks before.
 */
#define STACK_KINDS (WIRE_WAKING_NEW + 6)

static __always_inline __u32 stack_kind(__u32 kind)
{
	if (kind <= WIRE_WAKING_NEW)
		return kind;
	if (kind == WIRE_WAIT_STACKS)
		return STACK_KINDS - 5;
	if (kind == WIRE_REQUEST || kind == WIRE_PROBED) /* see answer_stacks() */
		return STACK_KINDS - 1;
	if (kind == WIRE_WORK)
		return STACK_KINDS - 4;
	return kind == WIRE_DISK_REQUEST ? STACK_KINDS - 2 : STACK_KINDS - 3;
}

#include "registers.h"
#include "thread_variable.h"
#include "interpreter.h"
#include "code_objects.h"
#include "stack.h"
#include "plain_stack.h"
#include "kernel_stack.h"
#include "user_layout.h"
#include "page_tables.h"
#include "unwind.h"
#include "user_stack.h"
#include "lock_page.h"
#include "lock_owner.h"
#include "file_locks.h"
#include "object_key.h"
#include "objects.h"
#include "ready.h"
#include "tcp_timers.h"
#include "context.h"
#include "stolen_time.h"
#include "groups.h"
#include "quotas.h"
#include "work_items.h"

/* ---- the recorder's own time --------------------------------------------------------------- */

/* Since when a thread of the recorder has had this CPU; 0: that is not known. */
MAP(recorder_since, PERCPU_ARRAY, 1, __u32, __u64);

/* By tid: how long a thread of the recorder had run, in all, when it went off its CPU last. */
MAP(recorder_ran, LRU_HASH, 1 << 10, __u32, __u64);

/*
 * How long a thread of the recorder that goes off its CPU has run there by the kernel's account; 0:
 * not known. The kernel keeps prev_sum_exec_runtime, when it came, for fair threads only
 * (set_next_entity()): of a real-time thread that is from before it became one.
 */
static __always_inline __u64 ran_since_last(struct task_struct *task)
{
	__u64 *last, ran = 0, now_ran = OF(task, se.sum_exec_runtime);
	__u32 tid = OF(task, pid);

	last = bpf_map_lookup_elem(&recorder_ran, &tid);
	/* The tid may have been another thread's. */
	if (last && *last < now_ran)
		ran = now_ran - *last;
	bpf_map_update_elem(&recorder_ran, &tid, &now_ran, BPF_ANY);
	return ran;
}

/*
 * A thread of the recorder goes off this CPU. ran: how long it has run by the kernel's own account,
 * at most; 0: not known. Some hosts hide switches: then it had the CPU for less than since it was
 * last seen to come.
 */
static __always_inline void record_recorder(__u64 now, __u64 ran)
{
	__u64 *since, from = record_from_ns;
	struct wire_stolen *ev;
	__u32 zero = 0;

	since = bpf_map_lookup_elem(&recorder_since, &zero);
	if (!since || !(*since || ran))
		return;
	if (*since > from)
		from = *since;
	if (ran && now - ran > from)
		from = now - ran;
	*since = 0;
	if (!is_recording(now) || now <= from)
		return;
	ev = record_event(WIRE_RECORDER, now, struct wire_stolen);
	if (!ev)
		return;
	ev->ns = now - from;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

static __always_inline void recorder_comes(__u64 now)
{
	__u32 zero = 0;
	__u64 *since = bpf_map_lookup_elem(&recorder_since, &zero);

	if (since)
		*since = now;
}

/* ---- switch and waking --------------------------------------------------------------------- */

/*
 * Switches and wakings are recorded by one program, on_stacks, so that the kernel verifies the code
 * that finds stacks only once. Only programs of raw tracepoints can share one in this way: their
 * arguments are numbers, and what these point to is read as memory that may not be there.
 */

int on_stacks(unsigned long long *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} shared SEC(".maps") = { .values = { [0] = (void *)&on_stacks } };

/* Set while on_stacks runs for sched_wakeup_new. */
MAP(new_thread, PERCPU_ARRAY, 1, __u32, __u64);

SEC("raw_tp/sched_switch")
int on_switch(unsigned long long *ctx)
{
	bpf_tail_call_static(ctx, &shared, 0);
	return 0;
}

SEC("raw_tp/sched_waking")
int on_waking(unsigned long long *ctx)
{
	bpf_tail_call_static(ctx, &shared, 0);
	return 0;
}

SEC("raw_tp/sched_wakeup_new")
int on_wakeup_new(unsigned long long *ctx)
{
	__u32 zero = 0;
	__u64 *is_new = bpf_map_lookup_elem(&new_thread, &zero);

	if (is_new)
		*is_new = 1;
	bpf_tail_call_static(ctx, &shared, 0);
	return 0;
}

static __always_inline __u32 task_state(struct task_struct *t)
{
	if (bpf_core_field_exists(t->__state))
		return OF(t, __state);
	return (__u32)BPF_CORE_READ((struct task_struct___before_5_14 *)t, state);
}

/* A task that is an argument: the next thread, or the one that is woken. */
struct other {
	__u32 tid, tgid, state;
	/*
	 * It has been taken off its run queue, so a waking ends its sleep, even if its switch-out
	 * is still to come. If it has not, a waking may only prevent a sleep that was about to
	 * begin.
	 */
	bool off_queue;
	bool worker; /* of a workqueue */
};

static __always_inline void read_other(struct task_struct *t, struct other *o)
{
	if (CAN_CAST) {
		t = CAST(task_struct, t);
		o->tid = t->pid;
		o->tgid = t->tgid;
		o->state = t->__state;
		o->worker = t->flags & PF_WQ_WORKER;
		o->off_queue = !t->on_rq ||
			       (bpf_core_field_exists(t->se.sched_delayed) && t->se.sched_delayed);
		return;
	}
	o->tid = BPF_CORE_READ(t, pid);
	o->tgid = BPF_CORE_READ(t, tgid);
	o->worker = BPF_CORE_READ(t, flags) & PF_WQ_WORKER;
	if (bpf_core_field_exists(t->__state))
		o->state = BPF_CORE_READ(t, __state);
	else
		o->state = (__u32)BPF_CORE_READ((struct task_struct___before_5_14 *)t, state);
	o->off_queue = !BPF_CORE_READ(t, on_rq) || (bpf_core_field_exists(t->se.sched_delayed) &&
						    BPF_CORE_READ(t, se.sched_delayed));
}

/* Unlike others, a new thread is runnable already when it is woken for the first time. */
static __always_inline __u32 waking_kind(const struct other *target)
{
	__u32 kind = WIRE_WAKING, zero = 0;
	__u64 *is_new;

	if (target->state)
		return kind;
	is_new = bpf_map_lookup_elem(&new_thread, &zero);
	if (is_new) {
		kind += *is_new & 1;
		*is_new = 0;
	}
	return kind;
}

#include "light.h"
#include "edges.h"

/* What sched_switch says of the current thread, which is going off its CPU. */
static __always_inline __u32 switch_state(const unsigned long long *ctx, struct task_struct *prev)
{
	__u32 state = 0;

	if (!ctx[0]) /* preempt */
		state = switch_has_state ? (__u32)ctx[3] : task_state(prev);
	/*
	 * Before 6.14 that is the state that prev asked for: if a signal is pending, schedule()
	 * makes it runnable again. Nobody else sets 0 while schedule() has this run queue locked.
	 */
	return state && !task_state(prev) ? 0 : state;
}

static __always_inline bool record_switch(void *ring, struct wire_kind_state *k, __u64 now,
					  __u32 prev, __u32 next, __u32 kstack, __u32 ustack,
					  __u32 state, __u32 object)
{
	struct wire_switch *ev = reserve_event(ring, k, now, sizeof(*ev));

	if (!ev)
		return false;
	fill_record(&ev->r, now, WIRE_SWITCH);
	number_event(&ev->r, k);
	ev->prev = prev;
	ev->next = next;
	ev->kstack = kstack;
	ev->ustack = ustack;
	ev->state = state;
	ev->object = object;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return true;
}

/* The object of a switch is an event of its own in the trace, and counted as one. */
static __always_inline void record_switch_object(void *ring, struct wire_kind_state *k, __u64 now,
						 __u32 prev, __u32 next, __u32 kstack, __u32 ustack,
						 __u32 state, __u32 object)
{
	struct wire_kind_state *waits = object ? kind_state(WIRE_WAITS_FOR) : NULL;

	if (waits && waits->pending)
		emit_lost(ring, waits);
	if (!record_switch(ring, k, now, prev, next, kstack, ustack, state, object) && waits)
		count_lost(waits, now);
}

static __always_inline int record_waking(void *ring, struct wire_kind_state *k, __u64 now,
					 __u32 kind, __u32 waker, const struct other *target,
					 __u32 kstack, __u32 ustack)
{
	struct wire_waking *ev = reserve_event(ring, k, now, sizeof(*ev));

	if (!ev)
		return 0;
	fill_record(&ev->r, now, kind);
	number_event(&ev->r, k);
	ev->waker = waker;
	ev->target = target->tid | (target->off_queue ? WIRE_OFF_QUEUE : 0);
	ev->kstack = kstack;
	ev->ustack = ustack;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A thread is put on the run queue of a CPU; woken: that is a part of waking it. */
static __always_inline void record_queue(__u64 now, __u32 tid, __u32 cpu, bool woken)
{
	struct wire_queue *ev = record_event(WIRE_QUEUE, now, struct wire_queue);

	if (!ev)
		return;
	ev->tid = tid;
	ev->place = cpu << 1 | woken;
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* The CPU on whose run queue a task is that has just been woken for the first time. */
static __always_inline __u32 first_cpu(__u64 task)
{
	if (bpf_core_field_exists(((struct task_struct *)0)->thread_info.cpu))
		return FIELD(task_struct, task, thread_info.cpu);
	return BPF_CORE_READ((struct task_struct___before_5_16 *)task, cpu);
}

/* Whether an event is one without stacks, of a kind that an edge has room for. */
static __always_inline bool is_edge(bool is_switch, __u32 tid, __u32 state, enum bare_stacks bare)
{
	if (verify)
		return false;
	return is_switch && !tid ? true : bare == NO_STACKS && !(state & TASK_OTHER_STATES);
}

static __always_inline void light_edge(bool is_switch, struct task_struct *task, __u32 tid,
				       __u32 state, const struct other *other, __u64 now)
{
	__u32 object = 0;

	if (!is_switch) {
		put_edge(now, other->off_queue ? WIRE_EDGE_WAKES_OFF_QUEUE : WIRE_EDGE_WAKES, tid,
			 other->tid, 0);
		return;
	}
	if (tid && find_objects && may_have_object(task, state))
		object = object_id(now);
	put_edge(now,
		 state & TASK_INTERRUPTIBLE ? WIRE_EDGE_SLEEPS
		 : state		    ? WIRE_EDGE_BLOCKED
					    : WIRE_EDGE_RUNNABLE,
		 tid, other->tid, object);
	if (object)
		record_holder(tid, now);
}

SEC("raw_tp")
int on_stacks(unsigned long long *ctx)
{
	struct task_struct *task = current_task();
	__u32 tid = OF(task, pid), kind = WIRE_SWITCH, state = 0, kstack = 0, ustack = 0;
	__u32 object = 0;
	enum bare_stacks bare = ALL_STACKS;
	/* The first argument of sched_switch is a bool, that of the others a task. */
	bool is_switch = ctx[0] <= 1, recorder;
	__u64 now = bpf_ktime_get_ns(), interrupt = 0;
	struct wire_kind_state *k = NULL; /* it stays so if it is an edge */
	struct workspace *w;
	struct other other;
	void *ring;

	if (is_switch) {
		read_other((void *)ctx[2], &other);
	} else {
		read_other((void *)ctx[0], &other);
		kind = waking_kind(&other);
	}
	recorder = is_recorder(OF(task, tgid));
	if (is_recorder(other.tgid)) {
		if (is_switch && !recorder)
			recorder_comes(now);
		other.tid = 0;
	}
	if (!is_recording(now) || !(is_switch || other.tid))
		return 0;
	if (is_switch) {
		/* The recorder counts as idle: a switch between both is none. */
		if (recorder)
			tid = 0;
		if (!tid && !other.tid)
			goto recorder;
		state = tid ? switch_state(ctx, task) : 0;
	} else if (recorder && (__u32)OF(task, tgid) != self_tgid) {
		tid = self_tgid;
	}
	if (LIGHT && is_switch && tid)
		bare = leaves_bare(ctx, task, tid, state, now);
	if (LIGHT && kind == WIRE_WAKING && wakes_bare(ctx[0], &other, now))
		bare = wakes_by_itself(ctx, task) ? NO_STACKS : NO_USER_STACK;
	if (LIGHT && is_edge(is_switch, tid, state, bare)) {
		light_edge(is_switch, task, tid, state, &other, now);
		goto more;
	}
	k = bpf_map_lookup_elem(&kinds, &kind);
	w = workspace_of(kind);
	if (!k || !w)
		return 0;
	/*
	 * A thread that wakes itself before it is asleep does so with interrupts on, so an
	 * interrupt's waking can re-enter here.
	 */
	if (*(volatile __u64 *)&k->busy) {
		__sync_fetch_and_add(&k->nested, 1);
		return 0;
	}
	*(volatile __u64 *)&k->busy = 1;
	k->kind = kind;
	k->seen++;
	ring = this_ring();
	if (!ring) {
		count_lost(k, now);
		goto out;
	}
	k->interrupt = 0;
	/* A waking by the idle thread is one by an interrupt: its frames are the cause. */
	if (kernel_stacks && (tid || !is_switch) && (bare != NO_STACKS || verify))
		kstack = kernel_stack_id(ctx, k, w, now, kind, task);
	if (LIGHT && verify && bare == NO_STACKS)
		k->mismatches += k->interrupt;
	/*
	 * Where a thread was preempted says nothing about what it waits for; and a thread that an
	 * interrupt interrupted has no part in what the interrupt wakes.
	 */
	if (bare == ALL_STACKS && (is_switch ? state != 0 : !k->interrupt) && has_user_stack(task))
		ustack = user_stack_id(ctx, k, w, now, false);
	if (LIGHT && verify && is_switch && tid)
		keep_for_check(k, tid, kstack, ustack);
	if (!PLAIN && is_switch && find_objects && may_have_object(task, state))
		object = object_id(now);
	if (is_switch)
		record_switch_object(ring, k, now, tid, other.tid, kstack, ustack, state, object);
	else
		record_waking(ring, k, now, kind, tid, &other, kstack, ustack);
	if (!PLAIN && is_switch && object)
		record_holder(tid, now);
	interrupt = k->interrupt;
more:
	/* Interrupts are off here, too, so that this is not nested in on_migrate(). */
	if (kind == WIRE_WAKING_NEW)
		record_queue(now, other.tid, first_cpu(ctx[0]), true);
	if (!PLAIN && !is_switch && find_objects && other.off_queue && other.state & TASK_SLEEPS)
		record_ready(ctx[0], other.tid, now, tid && !interrupt);
	if (!PLAIN && !is_switch && find_work && OF(task, flags) & PF_WQ_WORKER)
		note_work(tid, now);
	if (!PLAIN && !is_switch && find_work && other.worker)
		note_worker_woken(tid, kstack, ustack, now);
	/* A preempted thread may be in the middle of changing it. */
	if (!PLAIN && find_contexts && tid && (!is_switch || state) && !interrupt)
		note_context(now);
	/* Interrupts are off in a switch, so nothing else records such an event here. */
	if (is_switch && tid && !state && is_throttled(task)) {
		record_of_thread(WIRE_THROTTLED, now, OF(task, pid));
		if (!PLAIN)
			note_throttled(now);
	}
	if (!PLAIN && is_switch && n_throttled && other.tid)
		record_unthrottled(ctx[2], other.tid, now);
	if (is_switch && time_interrupts)
		record_interrupts(now);
	if (is_switch)
		record_steal(task, now);
out:
	if (k && !(k->seen & (WIRE_COST_EACH - 1)))
		k->cost_ns += bpf_ktime_get_ns() - now;
	if (k)
		*(volatile __u64 *)&k->busy = 0;
	else
		end_edge(now);
recorder:
	if (is_switch && recorder) {
		record_recorder(now, ran_since_last(task));
		/* Each of its threads has a time of its own, by which the next one's is bounded. */
		if (is_recorder(other.tgid))
			recorder_comes(now);
	}
	return 0;
}

#include "sample.h"
#include "disk_requests.h"
#include "requests.h"
#include "request_probes.h"
#include "tls.h"

/* ---- run queues ---------------------------------------------------------------------------- */

/*
 * A thread gets another run queue: set_task_cpu(). All changes go through it, except that of a new
 * thread before its first run, which on_stacks() records. A thread that is being woken is on no
 * queue yet.
 */
SEC("tp_btf/sched_migrate_task")
int on_migrate(unsigned long long *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 now = bpf_ktime_get_ns();

	if (is_recording(now) && !is_recorder(task->tgid))
		record_queue(now, task->pid, (__u32)ctx[1], !task->on_rq);
	return 0;
}

#include "threads.h"
