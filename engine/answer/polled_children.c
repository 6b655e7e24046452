// SPDX-License-Identifier: GPL-2.0-or-later
#include "polled_children.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/life.h"
#include "base/compare.h"
#include "base/pairs.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"

/* Of a row: so many sleeps that its timer ended. */
#define ROW_LEAST 2

/* In the order of time. */
struct polled_children {
	uint32_t thread;
	struct polled_child *at;
	size_t n, cap;
};

struct ended {
	uint64_t at_ns;
	uint32_t child;
};

struct finder {
	const struct timelines *timelines;
	struct kernel_stacks *kernel;
	const struct thread *thread;
	struct ended *ended; /* children of its process, by their ends */
	size_t n_ended;
	uint64_t *born_ns; /* when each of its children began, in order */
	size_t n_born;
	struct pair_table rows; /* struct row, by (user stack, children so far) */
	uint8_t *timed;		/* by stack pair: whether such sleeps have a timer; 0: not known */
};

/* Its sleeps with one user stack, as long as no other child began. */
struct row {
	uint32_t last;	/* the last one */
	uint32_t timed; /* how many its timer ended */
};

/* ---- children -------------------------------------------------------------------------------- */

static bool is_child(const struct finder *f, const struct thread *c)
{
	uint32_t tgid = f->thread->tgid;

	return c->tgid && c->tid == c->tgid && c->tgid != tgid &&
	       c->parent < timelines_threads(f->timelines) &&
	       timelines_thread(f->timelines, c->parent)->tgid == tgid;
}

static int by_number(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int by_end(const void *pa, const void *pb)
{
	const struct ended *a = pa, *b = pb;
	int order = compare_numbers(a->at_ns, b->at_ns);

	return order ? order : compare_numbers(a->child, b->child);
}

static void find_children(struct finder *f)
{
	uint32_t n = f->thread->tgid ? timelines_threads(f->timelines) : 0;
	size_t cap_ended = 0, cap_born = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *c = timelines_thread(f->timelines, i);

		if (!is_child(f, c))
			continue;
		XGROW(f->ended, f->n_ended, cap_ended);
		XAPPEND(f->born_ns, f->n_born, cap_born) = c->begin_ns;
		if (c->flags & THREAD_EXITED)
			f->ended[f->n_ended++] = (struct ended) { c->end_ns, i };
	}
	if (f->n_born)
		qsort(f->born_ns, f->n_born, sizeof(*f->born_ns), by_number);
	if (f->n_ended)
		qsort(f->ended, f->n_ended, sizeof(*f->ended), by_end);
}

/* The last one that ended from when the thread's i-th wait began until it slept again: who ends is
 * done with its files before, which may be what wakes the thread. NULL: none did. */
static const struct ended *ended_in(const struct finder *f, uint32_t i)
{
	const struct thread *t = f->thread;
	uint64_t until_ns;
	uint32_t next = i + 1;
	size_t n;

	while (next < t->n_waits && t->waits[next].kind == WAIT_PREEMPTED)
		next++;
	until_ns = next < t->n_waits ? t->waits[next].out_ns : t->end_ns;
	n = LOWER_BOUND(k, f->n_ended, f->ended[k].at_ns <= until_ns);
	return n && f->ended[n - 1].at_ns > t->waits[i].out_ns ? &f->ended[n - 1] : NULL;
}

/* ---- rows of sleeps -------------------------------------------------------------------------- */

enum timed { TIMED = 1, NOT_TIMED };

/* Whether who sleeps so does so until a time, or something comes. */
static enum timed find_timed(const struct finder *f, uint32_t pair)
{
	static const char *const classes[] = { "poll", "select", "epoll", "sleep" };
	const struct trace *t = timelines_trace(f->timelines);
	uint32_t object = timelines_pair(f->timelines, pair).object;
	const struct trace_object *o = object ? trace_object(t, object) : NULL;

	for (size_t i = 0; o && i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(trace_string(t, o->class), classes[i]))
			return TIMED;
	return NOT_TIMED;
}

static bool is_timed(struct finder *f, const struct wait *w)
{
	uint8_t *timed = &f->timed[w->stack];

	if (!*timed)
		*timed = (uint8_t)find_timed(f, w->stack);
	return *timed == TIMED;
}

static bool by_timer(const struct finder *f, const struct wait *w)
{
	struct waker_context context;

	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	context = waker_context(f->kernel, f->timelines, w);
	return context.interrupt && context.source == IRQ_TIMER;
}

/* The row of a wait; NULL: it is of none. */
static struct row *row_of(struct finder *f, const struct wait *w)
{
	uint32_t ustack;

	if (w->kind != WAIT_SLEEP || !is_timed(f, w))
		return NULL;
	ustack = timelines_pair(f->timelines, w->stack).ustack;
	if (!ustack)
		return NULL;
	return pair_table_at(&f->rows, ustack,
			     (uint32_t)LOWER_BOUND(i, f->n_born, f->born_ns[i] <= w->out_ns),
			     sizeof(struct row));
}

static void add_part(struct polled_children *p, struct finder *f, const struct wait *w)
{
	const struct row *row = row_of(f, w);
	const struct ended *e =
		row && row->timed >= ROW_LEAST && by_timer(f, w) ? ended_in(f, row->last) : NULL;
	uint64_t begin_ns = e ? timelines_thread(f->timelines, e->child)->begin_ns : 0;
	uint64_t from_ns = w->out_ns > begin_ns ? w->out_ns : begin_ns;
	uint64_t to_ns = e && e->at_ns < w->wake_ns ? e->at_ns : w->wake_ns;

	if (!e || from_ns >= to_ns)
		return;
	XAPPEND(p->at, p->n, p->cap) = (struct polled_child) { w, from_ns, to_ns, e->child };
}

/* Those of the thread. */
static void find(struct polled_children *p, struct finder *f)
{
	find_children(f);
	f->timed = xcalloc(timelines_pairs_end(f->timelines), sizeof(*f->timed));
	for (uint32_t i = 0; i < f->thread->n_waits && f->n_ended; i++) {
		struct row *row = row_of(f, &f->thread->waits[i]);

		if (!row)
			continue;
		row->last = i;
		row->timed += by_timer(f, &f->thread->waits[i]);
	}
	for (uint32_t i = 0; i < f->thread->n_waits && f->n_ended; i++)
		add_part(p, f, &f->thread->waits[i]);
}

void polled_children_new(struct polled_children **out, const struct chains *c, uint32_t thread)
{
	struct finder f = { .timelines = c->timelines,
			    .kernel = c->kernel,
			    .thread = timelines_thread(c->timelines, thread) };

	*out = xcalloc(1, sizeof(**out));
	(*out)->thread = thread;
	find(*out, &f);
	free(f.ended);
	free(f.born_ns);
	free(f.timed);
	pair_table_free(&f.rows);
}

void polled_children_free(struct polled_children *p)
{
	if (p)
		free(p->at);
	free(p);
}

/* ---- paths ----------------------------------------------------------------------------------- */

struct child_life {
	const struct polled_heads *heads;
	const struct polled_child *of;
	uint32_t parent;
};

/* For life_explain(). */
static uint32_t head_of_child(void *arg, uint32_t thread, uint64_t at_ns)
{
	const struct child_life *l = arg;

	(void)thread;
	return l->heads->of_child(l->heads->arg, l->of, l->parent, at_ns);
}

void polled_life_explain(struct chains *c, const struct polled_children *p, uint64_t from_ns,
			 uint64_t to_ns, const struct polled_heads *heads)
{
	for (size_t i = 0; i < p->n; i++) {
		struct child_life of = { heads, &p->at[i], p->thread };
		uint64_t begin_ns = clip_ns(p->at[i].from_ns, from_ns, to_ns);
		uint64_t end_ns = clip_ns(p->at[i].to_ns, begin_ns, to_ns);

		life_explain(c, p->thread, from_ns, begin_ns, heads->of_life, heads->arg);
		life_explain(c, p->at[i].child, begin_ns, end_ns, head_of_child, &of);
		from_ns = end_ns;
	}
	life_explain(c, p->thread, from_ns, to_ns, heads->of_life, heads->arg);
}
