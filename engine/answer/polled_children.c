// SPDX-License-Identifier: GPL-2.0-or-later
#include "polled_children.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/life.h"
#include "base/compare.h"
#include "common/grow.h"
#include "common/lower_bound.h"

/* A row: so many sleeps that its timer ended. */
#define ROW_LEAST 2

/* In the order of time. */
struct polled_children {
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
};

/* ---- children -------------------------------------------------------------------------------- */

static bool is_ended_child(const struct finder *f, uint32_t i)
{
	const struct thread *c = timelines_thread(f->timelines, i);
	uint32_t tgid = f->thread->tgid;

	return c->flags & THREAD_EXITED && c->tgid && c->tid == c->tgid && c->tgid != tgid &&
	       c->parent < timelines_threads(f->timelines) &&
	       timelines_thread(f->timelines, c->parent)->tgid == tgid;
}

static int by_end(const void *pa, const void *pb)
{
	const struct ended *a = pa, *b = pb;
	int order = compare_numbers(a->at_ns, b->at_ns);

	return order ? order : compare_numbers(a->child, b->child);
}

static int find_ended(struct finder *f)
{
	uint32_t n = f->thread->tgid ? timelines_threads(f->timelines) : 0;
	size_t cap = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_ended_child(f, i))
			continue;
		if (!GROW(f->ended, f->n_ended, cap))
			return -ENOMEM;
		f->ended[f->n_ended++] =
			(struct ended) { timelines_thread(f->timelines, i)->end_ns, i };
	}
	if (f->n_ended)
		qsort(f->ended, f->n_ended, sizeof(*f->ended), by_end);
	return 0;
}

/* The last one that ended during a wait; NULL: none did. */
static const struct ended *ended_in(const struct finder *f, const struct wait *w)
{
	size_t n = LOWER_BOUND(i, f->n_ended, f->ended[i].at_ns <= w->in_ns);

	return n && f->ended[n - 1].at_ns > w->out_ns ? &f->ended[n - 1] : NULL;
}

/* ---- rows of sleeps -------------------------------------------------------------------------- */

/* Whether it sleeps until a time, or something comes. */
static bool is_timed(const struct finder *f, const struct wait *w)
{
	static const char *const classes[] = { "poll", "select", "epoll", "sleep" };
	const struct trace *t = timelines_trace(f->timelines);
	uint32_t object = timelines_pair(f->timelines, w->stack).object;
	const struct trace_object *o = object ? trace_object(t, object) : NULL;

	for (size_t i = 0; o && i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(trace_string(t, o->class), classes[i]))
			return true;
	return false;
}

static bool by_timer(const struct finder *f, const struct wait *w)
{
	struct waker_context context;

	if (w->flags & WAIT_NOT_WOKEN || w->waker == THREAD_NONE)
		return false;
	context = waker_context(f->kernel, f->timelines, w);
	return context.interrupt && context.source == IRQ_TIMER;
}

static uint32_t user_stack(const struct finder *f, const struct wait *w)
{
	return timelines_pair(f->timelines, w->stack).ustack;
}

/* The last sleep of the row that begins with one; *timed: how many of it its timer ended. */
static uint32_t end_of_row(const struct finder *f, uint32_t first, uint32_t *timed)
{
	const struct wait *w = f->thread->waits;
	uint32_t last = first;

	*timed = by_timer(f, &w[first]);
	for (uint32_t i = first + 1; i < f->thread->n_waits; i++) {
		if (w[i].kind == WAIT_PREEMPTED)
			continue;
		if (w[i].kind != WAIT_SLEEP || !is_timed(f, &w[i]) ||
		    user_stack(f, &w[i]) != user_stack(f, &w[first]))
			break;
		*timed += by_timer(f, &w[i]);
		last = i;
	}
	return last;
}

static int add_row(struct polled_children *p, const struct finder *f, uint32_t first, uint32_t last)
{
	const struct ended *e = ended_in(f, &f->thread->waits[last]);
	const struct thread *child = e ? timelines_thread(f->timelines, e->child) : NULL;

	for (uint32_t i = first; e && i <= last; i++) {
		const struct wait *w = &f->thread->waits[i];
		uint64_t from = w->out_ns > child->begin_ns ? w->out_ns : child->begin_ns;
		uint64_t to = w->wake_ns < e->at_ns ? w->wake_ns : e->at_ns;

		if (w->kind != WAIT_SLEEP || from >= to || !by_timer(f, w))
			continue;
		if (!GROW(p->at, p->n, p->cap))
			return -ENOMEM;
		p->at[p->n++] = (struct polled_child) { w, from, to, e->child };
	}
	return 0;
}

/* Those of the thread. 0 or -ENOMEM. */
static int find(struct polled_children *p, struct finder *f)
{
	int err = find_ended(f);

	for (uint32_t i = 0; i < f->thread->n_waits && f->n_ended && !err; i++) {
		const struct wait *w = &f->thread->waits[i];
		uint32_t timed, last;

		if (w->kind != WAIT_SLEEP || !user_stack(f, w) || !is_timed(f, w))
			continue;
		last = end_of_row(f, i, &timed);
		if (timed >= ROW_LEAST && !(f->thread->waits[last].flags & WAIT_NOT_WOKEN))
			err = add_row(p, f, i, last);
		i = last;
	}
	return err;
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

int polled_life_explain(struct chains *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
			const struct polled_heads *heads)
{
	struct finder f = { c->timelines, c->kernel, timelines_thread(c->timelines, thread), NULL,
			    0 };
	struct polled_children p = { .n = 0 };
	int err = find(&p, &f);

	for (size_t i = 0; i < p.n && !err; i++) {
		struct child_life of = { heads, &p.at[i], thread };
		uint64_t begin_ns = clip_ns(p.at[i].from_ns, from_ns, to_ns);
		uint64_t end_ns = clip_ns(p.at[i].to_ns, begin_ns, to_ns);

		life_explain(c, thread, from_ns, begin_ns, heads->of_life, heads->arg);
		life_explain(c, p.at[i].child, begin_ns, end_ns, head_of_child, &of);
		from_ns = end_ns;
	}
	life_explain(c, thread, from_ns, to_ns, heads->of_life, heads->arg);
	free(p.at);
	free(f.ended);
	return err || c->out_of_memory ? -ENOMEM : 0;
}
