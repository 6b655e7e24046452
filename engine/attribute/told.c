// SPDX-License-Identifier: GPL-2.0-or-later
/* Which long sleeps at a lock are tries: those after which a thread was told, by a waking there. */
#include <stdlib.h>
#include <string.h>

#include "tries.h"
#include "unknown_times.h"
#include "common/xalloc.h"

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
	unknown_times_free(b.unknown);
	free(b.at);
}
