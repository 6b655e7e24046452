// SPDX-License-Identifier: GPL-2.0-or-later
#include "retried_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"
#include "common/intern.h"
#include "common/lower_bound.h"
#include "words/kernel_stacks.h"

/* Less than this may a thread run between two sleeps of a row. */
#define RAN_BETWEEN_NS 1000000u

/* A sleep that its timer ends is a try for a lock if it lasts less than this; else it is a pause.
 */
#define TRY_NS 20000000u

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
	bool timed;	  /* a timer ended it, soon */
	bool more;	  /* the one behind it is the next sleep of the row */
	bool not_known;	  /* what the thread did next */
	bool woke;	  /* before its next sleep it was current in a waking */
	bool interrupted; /* that of an interrupt */
	size_t last;	  /* of the row */
	/* What explains it: the sleep that the releasing waking ended; NULL: its own end. */
	const struct wait *until;
};

/* A sleep at a lock that a thread ended, or of which that is not known. */
struct lock_end {
	const struct wait *wait;
	uint64_t begin_ns; /* of the thread's life */
	uint32_t lock, tid;
	bool known;
};

struct tries {
	struct timelines *timelines;
	struct kernel_stacks *kernel;
	uint32_t *lock_of; /* by stack pair: a thread with that off-CPU stack is at this lock */
	uint32_t n_locks;
	bool *tried;	/* by lock: there are tries */
	struct try *at; /* by thread, then sleep */
	size_t n, cap;
	uint32_t *first;	/* by thread: where its tries begin; NULL: nobody woke anybody */
	struct lock_end *ended; /* by lock, then time */
	size_t n_ended, cap_ended;
	uint64_t *lossy_until; /* by loss: when all up to this one were over */
	/* When a thread was heard of again of which a loss had hidden what it slept for. */
	uint64_t *heard_ns;
	size_t n_heard, cap_heard;
};

static struct waker_context context_of(const struct tries *t, const struct wait *w)
{
	return waker_context(t->kernel, timelines_pair(t->timelines, w->waker_stack).kstack,
			     w->waker == THREAD_IDLE);
}

static bool by_timer(const struct tries *t, const struct wait *w)
{
	struct waker_context context;

	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	context = context_of(t, w);
	return context.interrupt && context.source == IRQ_TIMER;
}

/* ---- locks ---------------------------------------------------------------------------------- */

/*
 * The lock at an address, "17:lib.so+0x40c4". A condition variable of the GNU C library has two
 * words, by turns for those who wait: in the same 8 bytes, so they count as one.
 */
static uint32_t lock_id(struct intern *locks, const char *name)
{
	size_t len = strlen(name);
	const char *number = strrchr(name, 'x');
	char *copy;
	uint32_t id;

	if (!len)
		return SOME_LOCK;
	copy = strdup(name);
	if (!copy)
		return 0;
	if (number && number > name && number[-1] == '0' && number[1] &&
	    strspn(number + 1, "0123456789abcdef") == strlen(number + 1)) {
		char *digit = &copy[len - 1];

		if (strchr("4567", *digit))
			*digit = (char)(*digit - 4);
		else if (strchr("cdef", *digit))
			*digit = "89ab"[*digit - 'c'];
	}
	id = intern_id(locks, copy, len, NULL);
	free(copy);
	return id;
}

/* Which stack pairs are at which lock. 0 or -ENOMEM. */
static int find_locks(struct tries *t)
{
	const struct trace *trace = timelines_trace(t->timelines);
	uint32_t end = timelines_pairs_end(t->timelines);
	struct intern locks = { .n = 0 };
	int err = 0;

	t->lock_of = calloc(end, sizeof(*t->lock_of));
	if (!t->lock_of)
		return -ENOMEM;
	for (uint32_t i = 1; i < end && !err; i++) {
		const struct trace_object *o =
			trace_object(trace, timelines_pair(t->timelines, i).object);

		if (!o || strcmp(trace_string(trace, o->class), "futex"))
			continue;
		t->lock_of[i] = lock_id(&locks, trace_string(trace, o->name));
		err = t->lock_of[i] ? 0 : -ENOMEM;
	}
	t->n_locks = locks.n;
	intern_free(&locks);
	return err;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int find_losses(struct tries *t)
{
	size_t n;
	const struct trace_loss *at = trace_losses(timelines_trace(t->timelines), &n);

	t->lossy_until = malloc((n + 1) * sizeof(*t->lossy_until));
	for (size_t i = 0; t->lossy_until && i < n; i++) {
		uint64_t before = i ? t->lossy_until[i - 1] : 0;

		t->lossy_until[i] = at[i].last_ns > before ? at[i].last_ns : before;
	}
	return t->lossy_until ? 0 : -ENOMEM;
}

/* Whether events of that time may be missing, of any CPU. */
static bool is_lossy(const struct tries *t, uint64_t from_ns, uint64_t to_ns)
{
	size_t n, before;
	const struct trace_loss *at = trace_losses(timelines_trace(t->timelines), &n);

	before = LOWER_BOUND(i, n, at[i].first_ns <= to_ns);
	return before && t->lossy_until[before - 1] >= from_ns;
}

/* What the thread does after a sleep: whether the row has more, or that is not known. */
static void find_next(const struct tries *t, const struct thread *th, struct try *p)
{
	uint64_t ran_ns = 0;
	bool lossy = false;

	for (uint32_t i = p->sleep + 1; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		ran_ns += w->out_ns - w[-1].in_ns;
		if (ran_ns >= RAN_BETWEEN_NS)
			return;
		lossy |= is_lossy(t, w[-1].in_ns, w->out_ns);
		if (w->kind == WAIT_PREEMPTED)
			continue;
		p->not_known = w->kind == WAIT_UNKNOWN || (lossy && t->lock_of[w->stack]);
		p->more = w->kind == WAIT_SLEEP && t->lock_of[w->stack] && !lossy;
		p->woke = w->kind == WAIT_SLEEP && w->woke_before;
		return;
	}
}

static int find_threads_rows(struct tries *t, uint32_t thread)
{
	const struct thread *th = timelines_thread(t->timelines, thread);
	bool in_row = false;

	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint32_t lock = w->kind == WAIT_SLEEP ? t->lock_of[w->stack] : 0;
		struct try *p;
		bool timed;

		if (!lock)
			continue;
		timed = lock != SOME_LOCK && w->wake_ns - w->out_ns < TRY_NS && by_timer(t, w);
		if (!timed && !in_row)
			continue;
		if (!GROW(t->at, t->n, t->cap))
			return -ENOMEM;
		p = &t->at[t->n++];
		*p = (struct try) { .thread = thread, .sleep = i, .lock = lock, .timed = timed };
		find_next(t, th, p);
		in_row = p->more;
		if (timed)
			t->tried[lock] = true;
	}
	return 0;
}

static int find_rows(struct tries *t)
{
	int err = find_losses(t);

	t->tried = calloc((size_t)t->n_locks + 1, sizeof(*t->tried));
	if (!t->tried)
		return -ENOMEM;
	for (uint32_t i = 0; i < timelines_threads(t->timelines) && !err; i++)
		err = find_threads_rows(t, i);
	return err;
}

/* ---- wakings between two sleeps ---------------------------------------------------------------
 */

static int find_threads_tries(struct tries *t)
{
	uint32_t n = timelines_threads(t->timelines);
	size_t at = 0;
	bool any = false;

	for (size_t i = 0; i < t->n && !any; i++)
		any = t->at[i].woke;
	if (!any)
		return 0;
	t->first = malloc(((size_t)n + 1) * sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for (uint32_t thread = 0; thread <= n; thread++) {
		while (at < t->n && t->at[at].thread < thread)
			at++;
		t->first[thread] = (uint32_t)at;
	}
	return 0;
}

/* w was ended by a thread, or by an interrupt of it, perhaps between two sleeps of a row. */
static void note_waking(struct tries *t, const struct wait *w)
{
	const struct thread *th = timelines_thread(t->timelines, w->waker);
	struct try *first = t->at + t->first[w->waker];
	size_t n = t->first[w->waker + 1] - t->first[w->waker], i;

	i = LOWER_BOUND(k, n, th->waits[first[k].sleep].wake_ns <= w->wake_ns);
	while (i-- > 0) {
		const struct wait *sleep = &th->waits[first[i].sleep];
		uint32_t next = first[i].sleep + 1;

		while (next < th->n_waits && th->waits[next].kind == WAIT_PREEMPTED)
			next++;
		if (first[i].woke && th->waits[next].out_ns >= w->wake_ns) {
			if (context_of(t, w).interrupt)
				first[i].interrupted = true;
			else
				first[i].more = first[i].not_known = false;
		}
		/* All before that are over before the sleep. */
		if (sleep->out_ns < w->wake_ns)
			break;
	}
}

/* A thread that wakes, or starts, somebody between two sleeps does not only wait. */
static void part_busy_rows(struct tries *t)
{
	for (uint32_t thread = 0; t->first && thread < timelines_threads(t->timelines); thread++) {
		const struct thread *th = timelines_thread(t->timelines, thread);

		for (uint32_t i = 0; i < th->n_waits; i++) {
			const struct wait *w = &th->waits[i];

			if (w->waker < THREAD_IDLE && t->first[w->waker] < t->first[w->waker + 1])
				note_waking(t, w);
		}
	}
	for (struct try *p = t->at; p < t->at + t->n; p++)
		if (p->more && p->woke && !p->interrupted) {
			p->more = false;
			p->not_known = true;
		}
}

/* ---- what explains a try ----------------------------------------------------------------------
 */

static int by_lock_and_time(const void *pa, const void *pb)
{
	const struct lock_end *a = pa, *b = pb;

	if (a->lock != b->lock)
		return compare_numbers(a->lock, b->lock);
	if (a->wait->wake_ns != b->wait->wake_ns)
		return compare_numbers(a->wait->wake_ns, b->wait->wake_ns);
	return a->tid != b->tid ? compare_numbers(a->tid, b->tid)
				: compare_numbers(a->begin_ns, b->begin_ns);
}

/* Whether a thread ended a sleep, and not early, or that is not known; *known says which. */
static bool is_end(const struct tries *t, const struct wait *w, bool *known)
{
	*known = w->waker != THREAD_NONE;
	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_IDLE)
		return false;
	return !*known || (w->wake_ns > w->out_ns && !context_of(t, w).interrupt);
}

static int by_time(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return compare_numbers(*a, *b);
}

/* If the i-th interval is the last of unknown time in which events were lost, its end. */
static int add_heard(struct tries *t, const struct thread *th, uint32_t i)
{
	const struct wait *w = &th->waits[i];
	uint64_t out_ns = w->out_ns, in_ns = w->in_ns;

	if (in_ns == th->end_ns ||
	    (i + 1 < th->n_waits && w[1].kind == WAIT_UNKNOWN && w[1].out_ns == in_ns))
		return 0;
	while (i-- > 0 && (--w)->kind == WAIT_UNKNOWN && w->in_ns == out_ns)
		out_ns = w->out_ns;
	if (!is_lossy(t, out_ns, in_ns))
		return 0;
	if (!GROW(t->heard_ns, t->n_heard, t->cap_heard))
		return -ENOMEM;
	t->heard_ns[t->n_heard++] = in_ns;
	return 0;
}

static int add_end(struct tries *t, const struct thread *th, const struct wait *w)
{
	uint32_t lock = w->kind == WAIT_SLEEP ? t->lock_of[w->stack] : 0;
	bool known;

	if (!lock || lock == SOME_LOCK || !t->tried[lock] || !is_end(t, w, &known))
		return 0;
	if (!GROW(t->ended, t->n_ended, t->cap_ended))
		return -ENOMEM;
	t->ended[t->n_ended++] = (struct lock_end) { w, th->begin_ns, lock, th->tid, known };
	return 0;
}

static int find_ends(struct tries *t)
{
	int err = 0;

	for (uint32_t thread = 0; thread < timelines_threads(t->timelines); thread++) {
		const struct thread *th = timelines_thread(t->timelines, thread);

		for (uint32_t i = 0; i < th->n_waits && !err; i++)
			err = th->waits[i].kind == WAIT_UNKNOWN ? add_heard(t, th, i)
								: add_end(t, th, &th->waits[i]);
	}
	if (t->n_ended)
		qsort(t->ended, t->n_ended, sizeof(*t->ended), by_lock_and_time);
	if (t->n_heard)
		qsort(t->heard_ns, t->n_heard, sizeof(*t->heard_ns), by_time);
	return err;
}

static const struct wait *wait_of(const struct tries *t, const struct try *p)
{
	return &timelines_thread(t->timelines, p->thread)->waits[p->sleep];
}

/*
 * The waking that released the lock of a try, by the sleep that it ended, which may be any
 * thread's: the first one from the try's own end on, before the row is over. NULL: there is none.
 * *known: whether it is known who that was.
 */
static const struct wait *released(const struct tries *t, const struct try *p, bool *known)
{
	const struct try *last = &t->at[p->last];
	const struct wait *w = wait_of(t, last);
	uint64_t from_ns = wait_of(t, p)->wake_ns;
	size_t i = LOWER_BOUND(k, t->n_ended,
			       t->ended[k].lock < p->lock || (t->ended[k].lock == p->lock &&
							      t->ended[k].wait->wake_ns < from_ns));

	if (i < t->n_ended && t->ended[i].lock == p->lock && t->ended[i].wait->wake_ns < w->in_ns) {
		*known = t->ended[i].known;
		return t->ended[i].wait;
	}
	/* That of the last sleep may be at the very moment at which its thread ran again. */
	return last->lock == p->lock && is_end(t, w, known) ? w : NULL;
}

/* Whether, as far as is known, a thread of which it is not known may have been woken first. */
static bool was_perhaps_other(const struct tries *t, const struct try *p, const struct wait *until)
{
	uint64_t from_ns = wait_of(t, p)->wake_ns;
	uint64_t to_ns = until ? until->wake_ns : wait_of(t, &t->at[p->last])->in_ns;
	size_t i = LOWER_BOUND(k, t->n_heard, t->heard_ns[k] < from_ns);

	return i < t->n_heard && t->heard_ns[i] <= to_ns;
}

/* Sets what explains each try; not_known then says that nobody knows. */
static void explain_tries(struct tries *t)
{
	for (size_t i = t->n; i-- > 0;) {
		struct try *p = &t->at[i];

		p->last = p->more ? p[1].last : i;
	}
	for (struct try *p = t->at; p < t->at + t->n; p++) {
		bool known;
		const struct wait *until = p->timed ? released(t, p, &known) : NULL;

		p->not_known = (until ? !known : t->at[p->last].not_known) ||
			       was_perhaps_other(t, p, until);
		p->until = p->not_known ? NULL : until;
	}
}

static int join(const struct tries *t)
{
	int err = 0;

	for (const struct try *p = t->at; p < t->at + t->n && !err; p++)
		if (p->until)
			err = timelines_go_on(t->timelines, p->thread, p->sleep, p->until);
		else if (p->timed && p->not_known)
			timelines_forget_waker(t->timelines, p->thread, p->sleep);
	timelines_sort_later(t->timelines);
	return err;
}

int retried_waits_join(struct timelines *tl)
{
	struct tries t = { .timelines = tl };
	int err = find_locks(&t);

	if (err || !t.n_locks)
		goto out;
	err = kernel_stacks_new(&t.kernel, timelines_trace(tl));
	if (!err)
		err = find_rows(&t);
	if (err || !t.n)
		goto out;
	err = find_threads_tries(&t);
	if (err)
		goto out;
	part_busy_rows(&t);
	err = find_ends(&t);
	if (err)
		goto out;
	explain_tries(&t);
	err = join(&t);
out:
	free(t.lock_of);
	free(t.tried);
	free(t.at);
	free(t.first);
	free(t.ended);
	free(t.lossy_until);
	free(t.heard_ns);
	kernel_stacks_free(t.kernel);
	return err;
}
