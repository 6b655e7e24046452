// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_nature.h"

#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "common/lower_bound.h"
#include "words/lock_holder.h"
#include "common/xalloc.h"

/* How many leaf frames say what a stack waits for; their callers say what the work is. */
#define FRAMES_THAT_TELL 3
/*
 * How many sleeps of a possible answerer are looked at: it may sleep that often before it answers.
 */
#define SLEEPS_BACK 64
/* Requests that a thread took earlier, and may be working for: so many are looked at. */
#define REQUESTS_BACK 64
/* How many wakers in a row may have had no work: who makes it, and who passes it on. */
#define WAKERS_BACK 2

/* ---- locks ---------------------------------------------------------------------------------- */

/* mutex_lock, __lll_lock_wait, std::mutex::lock; not block, clock, unlock, deadlock. */
static bool takes_a_lock(const char *symbol)
{
	for (const char *p = symbol; (p = strstr(p, "lock")); p++)
		if (p == symbol || !strchr("bcdnBCDN", p[-1]))
			return true;
	return strstr(symbol, "mutex") || strstr(symbol, "ObjectMonitor::enter");
}

/* True if one of the frames next to the leaf takes a lock, and none waits for a condition. */
static bool stack_takes_a_lock(const struct trace *t, struct kernel_stacks *k, uint32_t stack)
{
	struct trace_stack s = trace_stack(t, stack);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < s.n && seen < FRAMES_THAT_TELL; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		if (f && f->code) /* it has any names */
			return false;
		if (kernel_frame_flags(k, s.frames[i]) & (KFUNC_PLUMBING | KFUNC_SLEEP_PATH))
			continue;
		seen++;
		if (strstr(symbol, "cond"))
			return false;
		if (takes_a_lock(symbol))
			return true;
	}
	return false;
}

/* Of the kernel's locks those that a thread holds, unlike that of a page. */
static bool kernel_takes_a_lock(const struct trace *t, struct kernel_stacks *k, uint32_t stack)
{
	/*
	 * Those of files: fs/locks.c, which flock() and fcntl() come to. A futex whose owner gets
	 * the priority of who waits (PTHREAD_PRIO_INHERIT) is one, too: futex_lock_pi().
	 */
	static const char *const locks[] = { "mutex_lock",	 "rt_mutex_",
					     "rwsem_",		 "down_read",
					     "down_write",	 "locks_lock_inode_wait",
					     "flock_lock_inode", "do_lock_file_wait" };
	struct trace_stack s = trace_stack(t, stack);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < s.n && seen < FRAMES_THAT_TELL; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);
		const char *symbol = f ? trace_string(t, f->symbol) : "";

		if (kernel_frame_flags(k, s.frames[i]) & KFUNC_PLUMBING)
			continue;
		seen++;
		for (size_t l = 0; l < sizeof(locks) / sizeof(locks[0]); l++)
			if (strstr(symbol, locks[l]))
				return true;
	}
	return false;
}

/* In sem_wait() and the like: nobody holds a semaphore. CPython's locks, as for a join, are some.
 */
static bool waits_at_semaphore(const struct trace *t, uint32_t ustack)
{
	struct trace_stack s = trace_stack(t, ustack);

	for (uint32_t i = 0; i < s.n && i < FRAMES_THAT_TELL; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		if (f && f->code)
			return false;
		if (f && strstr(trace_string(t, f->symbol), "sem_"))
			return true;
	}
	return false;
}

/*
 * Where SQLite sleeps until others have ended their transaction, and looks again: whatever function
 * sleeps for it, it is at their lock.
 */
static bool is_in_busy_handler(const struct trace *t, uint32_t ustack)
{
	struct trace_stack s = trace_stack(t, ustack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		if (f && f->code)
			return false;
		if (f && strstr(trace_string(t, f->symbol), "InvokeBusyHandler"))
			return true;
	}
	return false;
}

bool wait_is_at_lock(const struct timelines *tl, struct kernel_stacks *k, uint32_t pair)
{
	const struct trace *t = timelines_trace(tl);
	struct stack_pair p = timelines_pair(tl, pair);

	return (stack_takes_a_lock(t, k, p.ustack) && !waits_at_semaphore(t, p.ustack)) ||
	       kernel_takes_a_lock(t, k, p.kstack) || lock_is_gil(t, p.object) ||
	       lock_is_of_file(t, p.object) || is_in_busy_handler(t, p.ustack);
}

bool wait_looks_stuck(const struct timelines *tl, struct kernel_stacks *k, const struct wait *w)
{
	const struct trace *t = timelines_trace(tl);
	struct stack_pair p = timelines_pair(tl, w->stack);

	if (w->kind != WAIT_SLEEP || !(w->flags & WAIT_NOT_WOKEN) ||
	    kernel_stack_wait_flags(k, p.kstack) & KFUNC_AWAITS_WORK)
		return false;
	return w->state == 'D' || stack_takes_a_lock(t, k, p.kstack) ||
	       stack_takes_a_lock(t, k, p.ustack) || lock_is_gil(t, p.object);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* Whether the sleep ended when a request came that the thread then read. */
static bool waits_for_request(const struct timelines *tl, uint32_t thread, const struct wait *w)
{
	size_t n, i;
	const uint32_t *read = timelines_requests_read(tl, thread, &n);

	i = n ? LOWER_BOUND(k, n, timelines_request(tl, read[k])->arrival_ns < w->out_ns) : 0;
	return i < n && timelines_request(tl, read[i])->arrival_ns <= w->wake_ns;
}

/* ---- what the sleep was for ----------------------------------------------------------------- */

static bool is_of_class(const struct timelines *tl, uint32_t pair, const char *class)
{
	uint32_t string = wait_class(tl, pair);

	return string != SUMS_UNKNOWN && !strcmp(trace_string(timelines_trace(tl), string), class);
}

/* Whether a text has "tcp 10.0.0.53:53" or such; of a listening socket only the port follows. */
static bool names_peer(const char *name, const char *class)
{
	size_t len = strlen(class);

	for (const char *at = name; (at = strstr(at, class)); at += len)
		if ((at == name || at[-1] == ' ') && at[len] == ' ' && at[len + 1] != ':')
			return true;
	return false;
}

static bool is_message_class(const char *class)
{
	static const char *const classes[] = { "tcp", "udp", "unix" };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(class, classes[i]))
			return true;
	return false;
}

/* Whether an object is a socket, or a poll() of one that is connected. */
static bool is_message_object(const struct trace *t, uint32_t object)
{
	const struct trace_object *o = trace_object(t, object);
	const char *class = o ? trace_string(t, o->class) : "";
	const char *name = o ? trace_string(t, o->name) : "";

	return is_message_class(class) ||
	       (!strcmp(class, "poll") &&
		(names_peer(name, "tcp") || names_peer(name, "udp") || names_peer(name, "unix")));
}

uint32_t wait_message_object(const struct timelines *tl, uint32_t pair)
{
	const struct trace *t = timelines_trace(tl);
	struct stack_pair p = timelines_pair(tl, pair);

	if (is_message_object(t, p.ready))
		return p.ready;
	return is_message_object(t, p.object) ? p.object : 0;
}

/* Whether it slept as there was no room for what it wrote. */
static bool waits_for_room(const struct timelines *tl, uint32_t pair)
{
	static const char *const functions[] = { "pipe_write", "anon_pipe_write",
						 "sk_stream_wait_memory", "sock_alloc_send_pskb",
						 "unix_wait_for_peer" };
	const struct trace *t = timelines_trace(tl);
	struct trace_stack s = trace_stack(t, timelines_pair(tl, pair).kstack);

	for (uint32_t i = 0; i < s.n; i++) {
		const struct trace_frame *f = trace_frame(t, s.frames[i]);

		for (size_t k = 0; f && k < sizeof(functions) / sizeof(functions[0]); k++)
			if (!strncmp(trace_string(t, f->symbol), functions[k],
				     strlen(functions[k])))
				return true;
	}
	return false;
}

/* ---- what is known already ------------------------------------------------------------------- */

/* What the stack pair of a sleep tells, or-ed. */
enum sleep_fact {
	SLEEP_KNOWN = 1, /* the others have been found out */
	SLEEP_AT_LOCK = 2,
	SLEEP_FILE = 4, /* for an object of this class */
	SLEEP_FUTEX = 8,
	SLEEP_CHILD = 16,
	SLEEP_MESSAGE = 32, /* for a socket, or a poll() of one */
	SLEEP_FOR_ROOM = 64,
	SLEEP_FOR_WORK = 128,
	SLEEP_EVENT_LOOP = 256,
};

/* And that of a waking, of all of its kernel stack. */
enum waking_fact {
	WAKING_KNOWN = 1,
	WAKING_ENDS_THREAD = 2,
	WAKING_ENDS_PROCESS = 4,
	WAKING_CONNECTS = 8,
};

/* What has been found out of a wait: two bits each, 0 for what has not, else 1 + the answer. */
enum found {
	FOUND_OWN = 0, /* own_nature() */
	FOUND_NOTHING = 2,
	FOUND_NO_WORK = 4,
	FOUND_ANSWERED = 6,
	FOUND_NATURE = 8, /* wait_nature() */
};

/*
 * A wait's nature depends on those of the sleeps of its waker meanwhile, and of the waker's wakers:
 * each is asked for by many.
 */
/* Where was looked last among the requests that a thread answered, and that it read. */
struct asked_near {
	size_t span, read;
};

struct wait_natures {
	const struct timelines *timelines;
	struct kernel_stacks *kernel;
	uint16_t *of_sleep;	 /* enum sleep_fact by pair */
	uint8_t *of_waking;	 /* enum waking_fact by pair */
	size_t *first;		 /* by thread: where its waits begin in of_wait */
	uint16_t *of_wait;	 /* enum found */
	uint16_t spare;		 /* of a wait that is in no timeline */
	bool is_shared;		 /* all arrays but the next belong to another one */
	struct asked_near *near; /* by thread */
};

void wait_natures_new(struct wait_natures **out, const struct timelines *tl,
		      struct kernel_stacks *k)
{
	struct wait_natures *f = xcalloc(1, sizeof(*f));
	size_t n = 0, pairs = timelines_pairs_end(tl);
	uint32_t end = timelines_threads(tl);

	*out = f;
	f->timelines = tl;
	f->kernel = k;
	f->of_sleep = xcalloc(pairs, sizeof(*f->of_sleep));
	f->of_waking = xcalloc(pairs, sizeof(*f->of_waking));
	f->first = xcalloc((size_t)end + 1, sizeof(*f->first));
	for (uint32_t i = 0; i < end; i++) {
		f->first[i] = n;
		n += timelines_thread(tl, i)->n_waits;
	}
	f->of_wait = xcalloc(n + 1, sizeof(*f->of_wait));
	f->near = xcalloc((size_t)end + 1, sizeof(*f->near));
}

void wait_natures_share(struct wait_natures **out, const struct wait_natures *of,
			struct kernel_stacks *k)
{
	struct wait_natures *f = xmalloc(sizeof(*f));

	*out = f;
	*f = *of;
	f->kernel = k;
	f->is_shared = true;
	f->near = xcalloc((size_t)timelines_threads(f->timelines) + 1, sizeof(*f->near));
}

void wait_natures_free(struct wait_natures *f)
{
	if (!f)
		return;
	free(f->near);
	if (f->is_shared) {
		free(f);
		return;
	}
	free(f->of_sleep);
	free(f->of_waking);
	free(f->first);
	free(f->of_wait);
	free(f);
}

static unsigned int find_sleep_facts(const struct wait_natures *f, uint32_t pair)
{
	const struct timelines *tl = f->timelines;
	struct stack_pair p = timelines_pair(tl, pair);
	unsigned int flags = kernel_stack_wait_flags(f->kernel, p.kstack);
	unsigned int facts = SLEEP_KNOWN;

	facts |= wait_is_at_lock(tl, f->kernel, pair) ? SLEEP_AT_LOCK : 0;
	facts |= is_of_class(tl, pair, "file") ? SLEEP_FILE : 0;
	facts |= is_of_class(tl, pair, "futex") ? SLEEP_FUTEX : 0;
	facts |= is_of_class(tl, pair, "child") ? SLEEP_CHILD : 0;
	facts |= is_message_object(timelines_trace(tl), p.object) ? SLEEP_MESSAGE : 0;
	facts |= waits_for_room(tl, pair) ? SLEEP_FOR_ROOM : 0;
	facts |= flags & KFUNC_AWAITS_WORK ? SLEEP_FOR_WORK : 0;
	facts |= flags & KFUNC_EVENT_LOOP ? SLEEP_EVENT_LOOP : 0;
	return facts;
}

/* enum sleep_fact, or-ed, of w, a sleep. */
static unsigned int sleep_facts(struct wait_natures *f, const struct wait *w)
{
	uint16_t *at = &f->of_sleep[w->stack];
	unsigned int facts = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (!facts) {
		facts = find_sleep_facts(f, w->stack);
		__atomic_store_n(at, (uint16_t)facts, __ATOMIC_RELAXED);
	}
	return facts;
}

/* enum waking_fact, or-ed, of the waking that ended w, whatever of its stack is the waker's. */
static unsigned int waking_facts(struct wait_natures *f, const struct wait *w)
{
	uint8_t *at = &f->of_waking[w->waker_stack];
	unsigned int facts = __atomic_load_n(at, __ATOMIC_RELAXED), flags;

	if (facts)
		return facts;
	flags = kernel_stack_flags(f->kernel, timelines_pair(f->timelines, w->waker_stack).kstack,
				   UINT32_MAX);
	facts = WAKING_KNOWN | (flags & KFUNC_ENDS_THREAD ? WAKING_ENDS_THREAD : 0) |
		(flags & KFUNC_ENDS_PROCESS ? WAKING_ENDS_PROCESS : 0) |
		(flags & KFUNC_CONNECTS ? WAKING_CONNECTS : 0);
	__atomic_store_n(at, (uint8_t)facts, __ATOMIC_RELAXED);
	return facts;
}

/* Where it is kept what has been found out of w, one of the thread's waits. */
static uint16_t *found_of(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	const struct thread *th = timelines_thread(f->timelines, thread);

	if (w >= th->waits && w < th->waits + th->n_waits)
		return &f->of_wait[f->first[thread] + (size_t)(w - th->waits)];
	f->spare = 0;
	return &f->spare;
}

static bool is_found(const uint16_t *found, enum found what, unsigned int *answer)
{
	unsigned int bits = __atomic_load_n(found, __ATOMIC_RELAXED) >> what & 3;

	*answer = bits - 1;
	return bits;
}

/*
 * Other answers may have been found meanwhile; of those that another thread keeps in the same
 * moment some may get lost, and are found again. Returns it.
 */
static unsigned int keep(uint16_t *found, enum found what, unsigned int answer)
{
	unsigned int known = __atomic_load_n(found, __ATOMIC_RELAXED);

	__atomic_store_n(found, (uint16_t)(known | (answer + 1) << what), __ATOMIC_RELAXED);
	return answer;
}

/*
 * Whether it is kept of the thread's i-th wait that it was for others, and, if its wakers count,
 * that these did not have nothing. This is asked most, and costs least.
 */
static inline bool is_known_for_others(const struct wait_natures *f, uint32_t thread, uint32_t i,
				       int wakers)
{
	unsigned int known = __atomic_load_n(&f->of_wait[f->first[thread] + i], __ATOMIC_RELAXED);

	return (known >> FOUND_OWN & 3) == 1 + WAIT_FOR_OTHERS &&
	       (!wakers || (wakers == 1 && (known >> FOUND_NOTHING & 3) == 1 + false));
}

/* Whether the thread is known to work for a request at that time. */
static bool works_for_request(struct wait_natures *f, uint32_t thread, uint64_t ns)
{
	const struct timelines *tl = f->timelines;
	struct asked_near *near = &f->near[thread];
	const struct request_span *s;
	const uint32_t *read;
	size_t n, i;

	s = timelines_spans_written(tl, thread, &n);
	i = near->span = LOWER_BOUND_NEAR(k, n, near->span, s[k].to_ns <= ns);
	if (i < n && s[i].from_ns <= ns)
		return true;
	read = timelines_requests_read(tl, thread, &n);
	i = near->read = LOWER_BOUND_NEAR(k, n, near->read,
					  timelines_request(tl, read[k])->arrival_ns <= ns);
	for (size_t end = i > REQUESTS_BACK ? i - REQUESTS_BACK : 0; i-- > end;) {
		const struct request *q = timelines_request(tl, read[i]);

		if (q->writer == thread && q->taken_ns <= ns && q->answer_ns > ns)
			return true;
	}
	return false;
}

/* ---- answers -------------------------------------------------------------------------------- */

static bool by_task(struct wait_natures *f, const struct wait *w)
{
	return w->waker < THREAD_IDLE && !waker_context(f->kernel, f->timelines, w).interrupt;
}

/*
 * Whether a thread ended w, a wait of thread, that this one, or another one of its process, had
 * woken before: it was asked, and has answered. To release a lock is no question. What a server
 * does in between is not looked at: it may well wake the asker when it only reads the question
 * (unix_write_space), and ask others itself.
 */
static bool find_answered(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	const struct timelines *tl = f->timelines;
	uint32_t tgid = timelines_thread(tl, thread)->tgid, i;
	const struct thread *waker;

	if (!by_task(f, w))
		return false;
	waker = timelines_thread(tl, w->waker);
	i = wait_waker_pos(waker, w);
	for (int n = 0; n < SLEEPS_BACK && i-- > 0; n++) {
		const struct wait *s = &waker->waits[i];

		if (s->kind == WAIT_SLEEP && s->waker < THREAD_IDLE &&
		    (s->waker == thread ||
		     (tgid && timelines_thread(tl, s->waker)->tgid == tgid)) &&
		    by_task(f, s) && !(sleep_facts(f, s) & SLEEP_AT_LOCK))
			return true;
	}
	return false;
}

static bool is_answered(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	uint16_t *found = found_of(f, thread, w);
	unsigned int answer;

	return is_found(found, FOUND_ANSWERED, &answer)
		       ? answer
		       : keep(found, FOUND_ANSWERED, find_answered(f, thread, w));
}

/* ---- pauses and waits for work -------------------------------------------------------------- */

/*
 * Whether a signal killed the thread while it waited for something in the midst of its work, and
 * not the end of its process, or as it waited for work.
 */
static bool killed_at_work(struct wait_natures *f, const struct wait *w)
{
	unsigned int facts;

	if (!wait_killed(w) || waking_facts(f, w) & WAKING_ENDS_PROCESS)
		return false;
	facts = sleep_facts(f, w);
	/* A join, or an idle thread of a pool; a lock is another matter. */
	return !(facts & (SLEEP_FOR_WORK | SLEEP_EVENT_LOOP)) &&
	       (!(facts & SLEEP_FUTEX) || facts & SLEEP_AT_LOCK);
}

/* Whether somebody connected to a socket for which it listened, among others or in poll(). */
static bool ended_by_connection(struct wait_natures *f, const struct wait *w)
{
	uint32_t kstack;
	struct waker_context by;

	if (w->waker == THREAD_NONE || !(waking_facts(f, w) & WAKING_CONNECTS))
		return false;
	kstack = timelines_pair(f->timelines, w->waker_stack).kstack;
	by = waker_context(f->kernel, f->timelines, w);
	return kernel_stack_flags(f->kernel, kstack, by.frames) & KFUNC_CONNECTS;
}

static bool find_no_work(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	unsigned int facts = sleep_facts(f, w);

	if (facts & SLEEP_FOR_WORK)
		return true;
	if (w->flags & WAIT_NOT_WOKEN)
		return !wait_looks_stuck(f->timelines, f->kernel, w);
	return (facts & SLEEP_EVENT_LOOP && !is_answered(f, thread, w)) ||
	       ended_by_connection(f, w) || waits_for_request(f->timelines, thread, w);
}

/* By its stack, and how it ended: it had no work. */
static bool has_no_work(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	uint16_t *found = found_of(f, thread, w);
	unsigned int answer;

	return is_found(found, FOUND_NO_WORK, &answer)
		       ? answer
		       : keep(found, FOUND_NO_WORK, find_no_work(f, thread, w));
}

/* Whether the thread took a request in that time. */
static bool took_request(const struct timelines *tl, uint32_t thread, uint64_t from_ns,
			 uint64_t to_ns)
{
	size_t n, i;
	const uint32_t *read = timelines_requests_read(tl, thread, &n);

	i = n ? LOWER_BOUND(k, n, timelines_request(tl, read[k])->arrival_ns <= to_ns) : 0;
	for (size_t end = i > REQUESTS_BACK ? i - REQUESTS_BACK : 0; i-- > end;) {
		uint64_t taken_ns = timelines_request(tl, read[i])->taken_ns;

		if (taken_ns >= from_ns && taken_ns <= to_ns)
			return true;
	}
	return false;
}

/*
 * Whether the thread, after its i-th interval, in which it did not work for a request, takes one or
 * sleeps for work, before any other sleep that is not at a lock.
 */
static bool then_has_no_work(struct wait_natures *f, uint32_t thread, uint32_t i)
{
	const struct timelines *tl = f->timelines;
	const struct thread *th = timelines_thread(tl, thread);
	uint64_t from_ns = th->waits[i].wake_ns;

	if (works_for_request(f, thread, th->waits[i].out_ns))
		return false;
	for (int n = 0; n < SLEEPS_BACK && ++i < th->n_waits; n++) {
		const struct wait *w = &th->waits[i];

		if (w->kind == WAIT_UNKNOWN)
			return took_request(tl, thread, from_ns, w->out_ns);
		if (w->kind == WAIT_SLEEP && w->wake_ns > w->out_ns &&
		    !(sleep_facts(f, w) & SLEEP_AT_LOCK))
			return took_request(tl, thread, from_ns, w->out_ns) ||
			       has_no_work(f, thread, w);
	}
	return took_request(tl, thread, from_ns,
			    i < th->n_waits ? th->waits[i].out_ns : th->end_ns);
}

/*
 * Whether w is for the turn to wait for work: at a lock, after which the thread does so, and for
 * more than half of w so did the one who released it, or waited for its own turn. Servers let one
 * of their processes at a time wait for a connection so (the accept mutex of Apache).
 */
static bool waits_for_turn(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	const struct timelines *tl = f->timelines;
	const struct thread *waker;
	uint64_t ns = 0, half_ns = (w->wake_ns - w->out_ns) / 2;
	uint32_t i;

	if (w->kind != WAIT_SLEEP || w->flags & (WAIT_NEW | WAIT_NOT_WOKEN) || w->goes_on ||
	    !(sleep_facts(f, w) & SLEEP_AT_LOCK) || !by_task(f, w) ||
	    !then_has_no_work(f, thread, (uint32_t)(w - timelines_thread(tl, thread)->waits)))
		return false;
	waker = timelines_thread(tl, w->waker);
	i = wait_waker_pos(waker, w);
	for (int n = 0; n < SLEEPS_BACK && i-- > 0 && ns <= half_ns; n++) {
		const struct wait *s = &waker->waits[i];

		if (s->wake_ns <= w->out_ns)
			break;
		if (s->kind == WAIT_SLEEP && s->wake_ns > s->out_ns &&
		    (sleep_facts(f, s) & SLEEP_AT_LOCK ? then_has_no_work(f, w->waker, i)
						       : has_no_work(f, w->waker, s)))
			ns += s->wake_ns - (s->out_ns > w->out_ns ? s->out_ns : w->out_ns);
	}
	return ns > half_ns;
}

static bool own_timer_ended(struct wait_natures *f, const struct wait *w)
{
	struct waker_context by;

	if (w->waker == THREAD_NONE || w->flags & WAIT_NOT_WOKEN)
		return false;
	by = waker_context(f->kernel, f->timelines, w);
	return by.interrupt && by.source == IRQ_TIMER;
}

/* For something that somebody else has, or a device. */
static bool is_blocked(struct wait_natures *f, const struct wait *w)
{
	return w->state == 'D' || sleep_facts(f, w) & (SLEEP_FILE | SLEEP_AT_LOCK | SLEEP_FOR_ROOM);
}

static enum wait_nature find_own_nature(struct wait_natures *f, uint32_t thread,
					const struct wait *w)
{
	if (w->kind != WAIT_SLEEP || w->flags & WAIT_NEW ||
	    works_for_request(f, thread, w->out_ns) || killed_at_work(f, w))
		return WAIT_FOR_OTHERS;
	if (has_no_work(f, thread, w))
		return WAIT_FOR_WORK;
	return own_timer_ended(f, w) && !is_blocked(f, w) && !(sleep_facts(f, w) & SLEEP_MESSAGE)
		       ? WAIT_PAUSE
		       : WAIT_FOR_OTHERS;
}

/* What w is by itself, whatever the threads did that ended it. */
static enum wait_nature own_nature(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	uint16_t *found = found_of(f, thread, w);
	unsigned int answer;

	return (enum wait_nature)(is_found(found, FOUND_OWN, &answer)
					  ? answer
					  : keep(found, FOUND_OWN, find_own_nature(f, thread, w)));
}

static bool waker_had_nothing(struct wait_natures *f, uint32_t thread, const struct wait *w,
			      int wakers);

static bool find_nothing(struct wait_natures *f, uint32_t thread, const struct wait *w, int wakers)
{
	const struct timelines *tl = f->timelines;
	const struct thread *waker;
	uint64_t ns = 0, half_ns = (w->wake_ns - w->out_ns) / 2;
	uint32_t i;

	/* A waker that ran all the time, but for want of a CPU, slept in none of it. */
	if (w->kind != WAIT_SLEEP || w->flags & (WAIT_NEW | WAIT_NOT_WOKEN | WAIT_WAKER_RAN) ||
	    !by_task(f, w) || works_for_request(f, thread, w->out_ns) || is_blocked(f, w))
		return false;
	waker = timelines_thread(tl, w->waker);
	/* Of a thread of the kernel, or of one that ends, somebody waits for all that it did. */
	if (waker->flags & THREAD_KTHREAD || sleep_facts(f, w) & SLEEP_CHILD ||
	    waking_facts(f, w) & WAKING_ENDS_THREAD)
		return false;
	i = wait_waker_pos(waker, w);
	for (int n = 0; n < SLEEPS_BACK && i-- > 0 && ns <= half_ns; n++) {
		const struct wait *s = &waker->waits[i];

		/* All that is left of the wait would not make it more than half. */
		if (s->wake_ns <= w->out_ns || ns + (s->wake_ns - w->out_ns) <= half_ns)
			break;
		if (is_known_for_others(f, w->waker, i, wakers - 1))
			continue;
		if (own_nature(f, w->waker, s) != WAIT_FOR_OTHERS ||
		    waker_had_nothing(f, w->waker, s, wakers - 1))
			ns += s->wake_ns - (s->out_ns > w->out_ns ? s->out_ns : w->out_ns);
	}
	/* Asked last, as it looks at most sleeps. */
	return ns > half_ns && !is_answered(f, thread, w);
}

/*
 * Whether the thread that ended w, which nobody had asked, had nothing for it: it paused, or had
 * itself no work, for more than half of w. As many of its own wakers in a row are looked at.
 */
static bool waker_had_nothing(struct wait_natures *f, uint32_t thread, const struct wait *w,
			      int wakers)
{
	uint16_t *found = found_of(f, thread, w);
	unsigned int answer;

	/* All are asked for with one waker, each of them once with more. */
	if (wakers != 1)
		return wakers && find_nothing(f, thread, w, wakers);
	return is_found(found, FOUND_NOTHING, &answer)
		       ? answer
		       : keep(found, FOUND_NOTHING, find_nothing(f, thread, w, wakers));
}

static enum wait_nature find_nature(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	enum wait_nature own = own_nature(f, thread, w);

	if (own != WAIT_FOR_OTHERS)
		return own;
	return waker_had_nothing(f, thread, w, WAKERS_BACK) || waits_for_turn(f, thread, w)
		       ? WAIT_FOR_WORK
		       : own;
}

enum wait_nature wait_nature(struct wait_natures *f, uint32_t thread, const struct wait *w)
{
	uint16_t *found;
	unsigned int answer;

	if (timelines_is_client(f->timelines, thread))
		return WAIT_FOR_OTHERS;
	found = found_of(f, thread, w);
	return (enum wait_nature)(is_found(found, FOUND_NATURE, &answer)
					  ? answer
					  : keep(found, FOUND_NATURE, find_nature(f, thread, w)));
}

/* ---- classes -------------------------------------------------------------------------------- */

bool wait_classes_known(const struct timelines *tl)
{
	return timelines_has_objects(tl);
}

uint32_t wait_class(const struct timelines *tl, uint32_t pair)
{
	struct stack_pair p = timelines_pair(tl, pair);
	const struct trace_object *o =
		trace_object(timelines_trace(tl), p.ready ? p.ready : p.object);

	return o && o->class ? o->class : SUMS_UNKNOWN;
}
