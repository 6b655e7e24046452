// SPDX-License-Identifier: GPL-2.0-or-later
/* Which long sleeps at a lock are tries: those after which a thread was told, by a waking there. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"
#include "tries.h"

/* ---- when threads did something unseen ------------------------------------------------------- */

/*
 * Where no events were lost, what a trace lacks is what certain threads do, which a virtual machine
 * hides: of these it lacks how they went off their CPUs. Of others all is known that they did while
 * they ran, and of their unknown time as well.
 */

/* How long the unknown time of a thread lasts at most. */
struct lasts {
	uint32_t thread;
	uint64_t to_ns;
};

struct unknown_time {
	uint32_t tgid; /* 0: not known */
	uint64_t from_ns;
	/*
	 * Of those of the process that do not begin later: those of two threads that end last; at
	 * first this one alone.
	 */
	struct lasts last[2];
};

struct unknown_times {
	const struct timelines *tl;
	size_t n;
	struct unknown_time at[]; /* by process, then time */
};

static int by_process_and_time(const void *pa, const void *pb)
{
	const struct unknown_time *a = pa, *b = pb;

	if (a->tgid != b->tgid)
		return compare_numbers(a->tgid, b->tgid);
	if (a->from_ns != b->from_ns)
		return compare_numbers(a->from_ns, b->from_ns);
	return compare_numbers(a->last[0].thread, b->last[0].thread);
}

/* Counts what is unknown of a thread that is hidden at times, and puts it at `at`, or nowhere. */
static size_t of_thread(const struct timelines *tl, uint32_t thread, struct unknown_time *at)
{
	const struct thread *th = timelines_thread(tl, thread);
	bool hidden = false;
	size_t n = 0;

	for (uint32_t i = 0; i < th->n_waits && !hidden; i++)
		hidden = wait_ran_on(&th->waits[i]);
	if (!hidden)
		return 0;
	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		if (w->kind != WAIT_UNKNOWN)
			continue;
		if (at)
			at[n] = (struct unknown_time) {
				th->tgid, w->out_ns, { { thread, w->in_ns }, { THREAD_NONE, 0 } }
			};
		n++;
	}
	return n;
}

/* Of threads' ends, a thread's own counts once. */
static void add_last(struct lasts last[2], struct lasts more)
{
	struct lasts first = last[0];

	if (more.thread == THREAD_NONE)
		return;
	if (more.thread == first.thread) {
		if (more.to_ns > first.to_ns)
			last[0] = more;
	} else if (more.to_ns > first.to_ns) {
		last[0] = more;
		last[1] = first;
	} else if (more.to_ns > last[1].to_ns) {
		last[1] = more;
	}
}

/* Takes O(n log n) for n unknown intervals. To be freed. */
static struct unknown_times *unknown_times_new(const struct timelines *tl)
{
	struct unknown_times *u;
	size_t n = 0;

	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		n += of_thread(tl, i, NULL);
	u = xmalloc(sizeof(*u) + n * sizeof(*u->at));
	*u = (struct unknown_times) { .tl = tl };
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		u->n += of_thread(tl, i, &u->at[u->n]);
	if (n)
		qsort(u->at, n, sizeof(*u->at), by_process_and_time);
	for (size_t i = 1; i < n; i++) {
		if (u->at[i].tgid != u->at[i - 1].tgid)
			continue;
		for (int k = 0; k < 2; k++)
			add_last(u->at[i].last, u->at[i - 1].last[k]);
	}
	return u;
}

static bool unknown_of_process(const struct unknown_times *u, uint32_t tgid, uint32_t thread,
			       uint64_t from_ns, uint64_t to_ns)
{
	size_t i = LOWER_BOUND(k, u->n,
			       u->at[k].tgid < tgid ||
				       (u->at[k].tgid == tgid && u->at[k].from_ns <= to_ns));
	const struct lasts *last = i && u->at[i - 1].tgid == tgid ? u->at[i - 1].last : NULL;

	return last && last[last[0].thread == thread].to_ns >= from_ns;
}

/*
 * Whether, at any instant of [from_ns, to_ns], another thread of this thread's process may have
 * done something unseen; true also if the process is not known. What was lost is left to the
 * caller.
 */
static bool unknown_times_of_others(const struct unknown_times *u, uint32_t thread,
				    uint64_t from_ns, uint64_t to_ns)
{
	uint32_t tgid = timelines_thread(u->tl, thread)->tgid;

	return !tgid || unknown_of_process(u, tgid, thread, from_ns, to_ns);
}

/* ---- tries ---------------------------------------------------------------------------------- */

#define NONE SIZE_MAX

/*
 * At a lock, behind the sleep that is looked at: in how many long tries from there a thread ends a
 * sleep, and where that holds. looks below LOOKS_MAX: so it is.
 */
struct told {
	size_t row, looks; /* in the row that ends there it does, for sure */
	/* Perhaps it does, in the rows that perhaps are one and end there, before the gap. */
	size_t rows, gap, perhaps_looks;
};

struct telling {
	const struct tries *t;
	struct unknown_times *unknown;
	struct told *at; /* by lock */
	/* Of the try that is looked at; gaps: of locks in shared memory, of others; or NONE. */
	size_t rows, gaps[2];
};

/*
 * Whether the lock at which a thread slept is one of its process: the name of such a lock,
 * "17:lib.so+0x40c4", begins with the process, and that of one in shared memory with a '/'.
 */
static bool is_of_process(const struct tries *t, const struct wait *w)
{
	const struct trace *trace = timelines_trace(t->timelines);
	const struct trace_object *o =
		trace_object(trace, timelines_pair(t->timelines, w->stack).object);
	const char *name = o ? trace_string(trace, o->name) : "";
	size_t digits = strspn(name, "0123456789");

	return digits && name[digits] == ':';
}

/*
 * Whether another thread of the process may have ended a sleep of a try's thread in w, of which not
 * all is known. Where no events were lost, what is missing is what those threads did, and
 * interrupts while they ran, of which not all is known. (Text of other recorders, in which wakings
 * may lack their waker, has no locks.)
 */
static bool may_be_told(const struct telling *b, const struct try *p, const struct wait *w)
{
	return tries_is_lossy(b->t, w->out_ns, w->in_ns) ||
	       unknown_times_of_others(b->unknown, p->thread, w->out_ns, w->in_ns);
}

/*
 * The try is the last one of its row, as far as is known. If that row perhaps goes on with the next
 * one, its rows are that one's; if the thread may have been told in unknown time after it, that is
 * a gap.
 */
static void find_gaps(struct telling *b, size_t i)
{
	const struct try *p = &b->t->at[i], *next = p + 1;
	const struct thread *th = timelines_thread(b->t->timelines, p->thread);
	uint32_t k = p->sleep + 1;
	bool gaps[2] = { false, false };

	for (; p->not_known && k < th->n_waits && th->waits[k].kind != WAIT_SLEEP; k++)
		if (th->waits[k].kind == WAIT_UNKNOWN) {
			gaps[false] = true;
			gaps[true] |= may_be_told(b, p, &th->waits[k]);
		}
	if (!p->not_known || i + 1 == b->t->n || next->thread != p->thread || next->sleep != k ||
	    !(next->follows || next->after_unknown)) {
		b->rows = i;
		b->gaps[false] = b->gaps[true] = NONE;
	}
	for (int of_process = 0; of_process < 2; of_process++)
		if (gaps[of_process])
			b->gaps[of_process] = i;
}

static struct told *told_at(struct telling *b, uint32_t lock, bool of_process)
{
	struct told *told = &b->at[lock];
	size_t gap = b->gaps[of_process];

	if (told->rows != b->rows || told->gap != gap) {
		told->rows = b->rows;
		told->gap = gap;
		told->perhaps_looks = gap == NONE ? LOOKS_MAX : 0;
	}
	return told;
}

static void find_told(struct telling *b, size_t i)
{
	struct try *p = &b->t->at[i];
	const struct wait *w = &timelines_thread(b->t->timelines, p->thread)->waits[p->sleep];
	bool of_process = is_of_process(b->t, w), known;
	struct told *told;

	p->last = p->more ? p[1].last : i;
	if (!p->more)
		find_gaps(b, i);
	if (p->lock == SOME_LOCK)
		return;
	told = told_at(b, p->lock, of_process);
	if (tries_is_end(b->t, w, &known) && (known || !of_process || may_be_told(b, p, w))) {
		told->perhaps_looks = 0;
		if (known)
			*told = (struct told) { p->last, 0, told->rows, told->gap, 0 };
	}
	if (!p->must_be_told)
		return;
	if (told->row != p->last || told->looks >= LOOKS_MAX) {
		p->perhaps = p->timed && told->perhaps_looks < LOOKS_MAX;
		p->timed = p->perhaps;
	}
	told->looks++;
	told->perhaps_looks++;
}

void tries_find_told(struct tries *t)
{
	struct telling b = { .t = t,
			     .unknown = unknown_times_new(t->timelines),
			     .gaps = { NONE, NONE } };

	b.at = xmalloc(((size_t)t->n_locks + 1) * sizeof(*b.at));
	memset(b.at, 0xff, ((size_t)t->n_locks + 1) * sizeof(*b.at));
	for (size_t i = t->n; i-- > 0;)
		find_told(&b, i);
	free(b.unknown);
	free(b.at);
}
