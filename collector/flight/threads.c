// SPDX-License-Identifier: GPL-2.0-or-later
#include "threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

static bool same(const void *list, uint32_t place, const void *tid)
{
	return ((const struct thread_state *)list)[place - 1].tid == *(const uint32_t *)tid;
}

static uint32_t hash_of(const void *list, uint32_t place)
{
	return hash_pair(((const struct thread_state *)list)[place - 1].tid, 0);
}

/* The slot of the thread's place. NULL: there are none yet, or this is the idle thread. */
static uint32_t *slot_of(const struct threads *t, uint32_t tid)
{
	return t->index.mask && tid
		       ? id_index_slot(&t->index, hash_pair(tid, 0), same, t->list, &tid)
		       : NULL;
}

struct thread_state *threads_find(const struct threads *t, uint32_t tid)
{
	const uint32_t *slot = slot_of(t, tid);

	return slot && *slot ? &t->list[*slot - 1] : NULL;
}

static uint32_t new_place(struct threads *t)
{
	uint32_t place = t->free_place;

	if (place) {
		t->free_place = t->list[place - 1].next;
		return place;
	}
	if (!GROW(t->list, t->n, t->cap))
		return 0;
	return ++t->n;
}

struct thread_state *threads_add(struct threads *t, const struct thread_state *thread)
{
	uint32_t place;

	if (!id_index_reserve(&t->index, t->n, 1024, hash_of, t->list))
		return NULL;
	threads_remove(t, thread->tid);
	place = new_place(t);
	if (!place)
		return NULL;
	t->list[place - 1] = *thread;
	*id_index_slot(&t->index, hash_pair(thread->tid, 0), same, t->list, &thread->tid) = place;
	return &t->list[place - 1];
}

void threads_remove(struct threads *t, uint32_t tid)
{
	uint32_t *slot = slot_of(t, tid), place;

	if (!slot || !*slot)
		return;
	place = *slot;
	id_index_remove(&t->index, slot, hash_of, t->list);
	t->list[place - 1] = (struct thread_state) { .next = t->free_place };
	t->free_place = place;
}

/* The thread, added if it is unknown. NULL for tid 0 (idle), and with *err when out of memory. */
static struct thread_state *get(struct threads *t, uint32_t tid, uint64_t now_ns, int *err)
{
	struct thread_state *th = threads_find(t, tid);

	if (th || !tid)
		return th;
	th = threads_add(t, &(struct thread_state) { .tid = tid, .last_ns = now_ns });
	if (!th)
		*err = -ENOMEM;
	return th;
}

static void switch_out(struct threads *t, struct thread_state *th, const struct event *ev)
{
	th->last_ns = ev->time_ns;
	if (ev->state == 'X' || ev->state == 'Z') {
		threads_remove(t, th->tid);
		return;
	}
	if (ev->state == 'R') {
		th->doing = THREAD_UNKNOWN;
	} else {
		/* Woken before it was off its CPU: that may have ended this sleep. */
		th->doing = th->early ? THREAD_WOKEN : THREAD_ASLEEP;
		th->out_ns = ev->time_ns;
		th->state = ev->state;
		th->kstack = ev->kstack;
		th->ustack = ev->ustack;
		th->object = th->holder = 0;
	}
	th->early = false;
}

static void wake(struct thread_state *th, const struct event *ev)
{
	if (th->doing == THREAD_ASLEEP)
		th->doing = THREAD_WOKEN;
	else if (th->doing == THREAD_RUNNING)
		th->early = true;
	th->last_ns = ev->time_ns;
}

static void switch_in(struct thread_state *th, const struct event *ev)
{
	th->doing = THREAD_RUNNING;
	th->early = false;
	th->kstack = th->ustack = 0;
	th->last_ns = ev->time_ns;
}

static int add_child(struct threads *t, const struct event *ev, const char *name)
{
	const struct thread_state *parent = threads_find(t, ev->tid);
	struct thread_state child = {
		.tid = ev->other,
		.tgid = ev->tgid,
		.start_ns = ev->time_ns,
		.last_ns = ev->time_ns,
		.group = parent ? parent->group : 0,
		.flags = parent ? parent->flags & CHAINLOG_THREAD_KTHREAD : 0,
	};

	if (!ev->other)
		return 0;
	snprintf(child.name, sizeof(child.name), "%s", name);
	return threads_add(t, &child) ? 0 : -ENOMEM;
}

/* A thread that execs gets its leader's tid. */
static int apply_exec(struct threads *t, const struct event *ev)
{
	const struct thread_state *caller = threads_find(t, ev->other);
	const struct thread_state *leader = threads_find(t, ev->tid);
	struct thread_state th;

	if (caller && ev->other != ev->tid) {
		th = *caller;
		th.tid = ev->tid;
		th.own_id = leader ? leader->own_id : 0;
		threads_remove(t, ev->other);
		if (!threads_add(t, &th))
			return -ENOMEM;
	}
	return 0;
}

/* A thread, or its whole process, is in another control group. */
static void move_to_group(struct threads *t, const struct event *ev)
{
	struct thread_state *th = threads_find(t, ev->tid);
	uint32_t group = ev->time_ns > t->moves_ns ? ev->group.object : 0;

	if (!th)
		return;
	th->group = group;
	for (uint32_t i = 0; ev->group.process && th->tgid && i < t->n; i++)
		if (t->list[i].tid && t->list[i].tgid == th->tgid)
			t->list[i].group = group;
}

/* Moves are missing: who was moved before may be elsewhere. */
static void lose_groups(struct threads *t, const struct event *ev)
{
	if (t->moves_ns < ev->lost.last_ns)
		t->moves_ns = ev->lost.last_ns;
	for (uint32_t i = 0; i < t->n; i++)
		t->list[i].group = 0;
}

void threads_rename_group(struct threads *t, uint32_t old, uint32_t group)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->list[i].tid && t->list[i].group == old)
			t->list[i].group = group;
}

static void waits_for(struct threads *t, const struct event *ev)
{
	struct thread_state *th;

	if (t->switched_ns != ev->time_ns || t->switched_cpu != ev->cpu)
		return;
	th = threads_find(t, t->switched_tid);
	if (th && th->out_ns == ev->time_ns)
		th->object = ev->awaited.object;
}

int threads_event(struct threads *t, const struct event *ev, const char *name)
{
	struct thread_state *th;
	int err = 0;

	switch (ev->kind) {
	case CHAINLOG_SWITCH:
		th = get(t, ev->tid, ev->time_ns, &err);
		if (th && th->last_ns <= ev->time_ns)
			switch_out(t, th, ev);
		th = get(t, ev->other, ev->time_ns, &err);
		if (th && th->last_ns <= ev->time_ns)
			switch_in(th, ev);
		t->switched_ns = ev->time_ns;
		t->switched_cpu = ev->cpu;
		t->switched_tid = ev->tid;
		break;
	case EVENT_WAITS_FOR:
		waits_for(t, ev);
		break;
	case EVENT_HOLDER:
		th = threads_find(t, ev->tid);
		if (th && th->out_ns == ev->time_ns)
			th->holder = ev->other;
		break;
	case EVENT_GROUP:
		move_to_group(t, ev);
		break;
	case EVENT_AUX_LOST:
		if (ev->other == CHAINLOG_GROUP)
			lose_groups(t, ev);
		break;
	case EVENT_OWN_ID:
		th = threads_find(t, ev->tid);
		if (th)
			th->own_id = ev->other;
		break;
	case CHAINLOG_WAKING:
	case CHAINLOG_WAKING_NEW:
		th = get(t, ev->other, ev->time_ns, &err);
		if (th && th->last_ns <= ev->time_ns)
			wake(th, ev);
		break;
	case CHAINLOG_FORK:
		err = add_child(t, ev, name);
		break;
	case CHAINLOG_EXEC:
		err = apply_exec(t, ev);
		break;
	case CHAINLOG_RENAME:
		th = get(t, ev->tid, ev->time_ns, &err);
		if (th)
			snprintf(th->name, sizeof(th->name), "%s", name);
		break;
	default:
		break;
	}
	return err;
}

bool threads_listed(struct threads *t, const struct thread_state *listed, uint64_t listing_ns)
{
	struct thread_state *th = threads_find(t, listed->tid);

	if (!th)
		return false;
	th->listed_ns = listing_ns;
	if (!th->group)
		th->group = listed->group;
	if (th->tgid)
		return true;
	th->tgid = listed->tgid;
	th->start_ns = listed->start_ns;
	th->flags = listed->flags;
	th->own_id = listed->own_id;
	if (!th->name[0])
		memcpy(th->name, listed->name, sizeof(th->name));
	return true;
}

void threads_drop_unlisted(struct threads *t, uint64_t listing_ns)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct thread_state *th = &t->list[i];

		if (th->tid && th->listed_ns < listing_ns && th->last_ns < listing_ns)
			threads_remove(t, th->tid);
	}
}

void threads_lost(struct threads *t, uint64_t last_ns)
{
	if (t->lost_ns < last_ns)
		t->lost_ns = last_ns;
}

bool threads_certain(const struct threads *t, const struct thread_state *thread)
{
	return thread->doing != THREAD_UNKNOWN && (!t->lost_ns || thread->last_ns > t->lost_ns);
}

void threads_free(struct threads *t)
{
	free(t->list);
	id_index_free(&t->index);
	*t = (struct threads) { 0 };
}
