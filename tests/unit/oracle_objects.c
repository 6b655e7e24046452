// SPDX-License-Identifier: GPL-2.0-or-later
/* What sleepers waited for, which of several things was ready, and what disks had done. */
#include "oracle_private.h"

/* The thread has just gone to sleep. */
void object_awaited(struct world *w, const struct event *ev)
{
	int i = ev->tid ? world_find(w, ev->tid) : NOBODY;
	struct life *l = i == NOBODY ? NULL : &w->lives[i];
	struct sleep *s =
		l && (l->now == SLEEPS || l->now == WOKEN) ? &l->sleeps[l->n_sleeps - 1] : NULL;

	if (s && s->out_ns == ev->time_ns && s->pair == ev->other)
		s->object = ev->object;
}

/* A disk was done, or it is not known what it did. */
void object_done(struct world *w, const struct event *ev)
{
	struct core *c = &w->cores[ev->cpu];

	c->done = (struct done) { false };
	if (ev->kind == EVENT_AUX_LOST && c->dones_bad_until < ev->last_ns + 1)
		c->dones_bad_until = ev->last_ns + 1;
	if (ev->kind == EVENT_DISK_DONE && ev->time_ns >= c->dones_bad_until &&
	    !trace_damage(w->t)->what)
		c->done = (struct done) { true, ev->last_ns, ev->object, (uint32_t)ev->n & 7 };
}

/* The thread has just been woken. */
void object_ready(struct world *w, const struct event *ev)
{
	int i = world_find(w, ev->tid);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];
	struct sleep *s = l && l->now == WOKEN ? &l->sleeps[l->n_sleeps - 1] : NULL;

	if (s && l->woken_at == ev->time_ns && s->out_ns < ev->time_ns && s->object && !s->ready)
		s->ready = ev->object;
}

/* The thread has just gone to sleep; or it has slept since the start. */
void object_held(struct world *w, uint32_t tid, uint32_t holder, uint64_t at)
{
	int i = world_find(w, tid), by = world_find(w, holder);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];

	if (l && by != NOBODY && w->lives[by].now != DEAD && l->n_sleeps &&
	    (l->now == SLEEPS || l->now == WOKEN) && l->sleeps[l->n_sleeps - 1].out_ns == at)
		l->sleeps[l->n_sleeps - 1].held_by = 1 + by;
}
