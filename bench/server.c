// SPDX-License-Identifier: GPL-2.0-or-later
#include "server.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLICE_NS 700000u
#define SWITCH_NS 1200u
#define MUTEXES 6u
#define NOBODY UINT32_MAX

static const struct {
	const char *name;
	uint32_t threads;
} roles[ROLES] = {
	[ROLE_CLIENT] = { "httpd", 240 },   [ROLE_ROUTER] = { "router", 1 },
	[ROLE_WORKER] = { "worker", 72 },   [ROLE_QUERY] = { "mysqld", 48 },
	[ROLE_STORE] = { "ib_io", 16 },	    [ROLE_JOURNAL] = { "ib_log_writer", 4 },
	[ROLE_KWORKER] = { "kworker", 12 }, [ROLE_IDLE] = { "idle_pool", 0 },
};

struct thread {
	enum server_role role;
	uint32_t tid;
	uint32_t next[2]; /* next thread in the READY list, and in an OTHER list */
	uint32_t caller;  /* the thread for which it does its job */
	uint32_t mutex;	  /* the one that it has, or waits for */
	uint32_t cpu;	  /* where it ran last */
	unsigned int kind, step;
	uint64_t work_ns; /* CPU time that it takes until its next step */
	bool asleep, answered;
};

enum { READY, OTHER };

struct list {
	uint32_t first, last;
	int link; /* READY or OTHER */
};

struct cpu {
	uint32_t current; /* or NOBODY: the idle loop */
	struct list ready;
	uint64_t next_ns;  /* when it next has something to do; UINT64_MAX: never */
	uint64_t since_ns; /* when current began its work_ns, or went on with it */
	uint64_t slice_ns; /* when its time slice is over */
};

struct timer {
	uint64_t ns;
	uint32_t thread;
	enum server_place irq;
};

struct server {
	struct encoder *e;
	const struct server_options *o;
	uint64_t random, now, events;
	struct thread *threads;
	uint32_t n_threads, first_idle, ending; /* ending: idle threads that were woken */
	struct list free[ROLES], jobs[ROLES]; /* threads without a job; callers without a thread */
	struct {
		uint32_t owner;
		struct list waiters;
	} mutexes[MUTEXES];
	struct cpu *cpus;
	struct timer *timers; /* a heap */
	uint32_t n_timers;
	struct server_stack stacks[ROLES][SERVER_KINDS][PLACES];
	int err;
};

const char *server_role_name(enum server_role role)
{
	return roles[role].name;
}

static uint64_t random_below(struct server *s, uint64_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 11) % below;
}

/* A random time around the mean, with a tail. */
static uint64_t some(struct server *s, uint64_t mean)
{
	uint64_t ns = mean / 2 + random_below(s, mean);

	return random_below(s, 24) ? ns : ns * 8;
}

static unsigned int some_kind(struct server *s)
{
	uint64_t most = SERVER_KINDS;

	/* As on real servers, two or three kinds make up nearly everything. */
	while (most > 1 && random_below(s, 24))
		most = most / 2 + most % 2;
	return (unsigned int)random_below(s, most);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void put(struct server *s, struct list *l, uint32_t t)
{
	s->threads[t].next[l->link] = NOBODY;
	if (l->first == NOBODY)
		l->first = t;
	else
		s->threads[l->last].next[l->link] = t;
	l->last = t;
}

static uint32_t take(struct server *s, struct list *l)
{
	uint32_t t = l->first;

	if (t != NOBODY)
		l->first = s->threads[t].next[l->link];
	return t;
}

static void set_timer(struct server *s, uint64_t ns, uint32_t thread, enum server_place irq)
{
	uint32_t i = s->n_timers++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (s->timers[up].ns <= ns)
			break;
		s->timers[i] = s->timers[up];
	}
	s->timers[i] = (struct timer) { ns, thread, irq };
}

static struct timer take_timer(struct server *s)
{
	struct timer top = s->timers[0], last = s->timers[--s->n_timers];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < s->n_timers) {
		if (child + 1 < s->n_timers && s->timers[child + 1].ns < s->timers[child].ns)
			child++;
		if (s->timers[child].ns >= last.ns)
			break;
		s->timers[i] = s->timers[child];
		i = child;
	}
	s->timers[i] = last;
	return top;
}

/* ---- the scheduler -------------------------------------------------------------------------- */

static uint32_t tid_of(const struct server *s, uint32_t thread)
{
	return thread == NOBODY ? 0 : s->threads[thread].tid;
}

static struct server_stack stack_at(const struct server *s, uint32_t thread,
				    enum server_place place)
{
	const struct thread *t = &s->threads[thread];

	return s->stacks[t->role][t->kind][place];
}

static void note(struct server *s, int err)
{
	s->events++;
	if (err)
		s->err = err;
}

/* Sets c->next_ns to when the current thread's work is done, or its slice is over. */
static void work_on(const struct server *s, struct cpu *c)
{
	uint64_t done_ns = s->now + s->threads[c->current].work_ns;

	c->since_ns = s->now;
	c->next_ns = done_ns < c->slice_ns ? done_ns : c->slice_ns;
}

/* The CPU switches to the next ready thread, or to the idle loop. */
static void switch_away(struct server *s, uint32_t cpu, char state, struct server_stack stack)
{
	struct cpu *c = &s->cpus[cpu];
	uint32_t prev = c->current, next = take(s, &c->ready);

	note(s, encoder_event(s->e, &(struct event) { .time_ns = s->now,
						      .cpu = cpu,
						      .kind = CHAINLOG_SWITCH,
						      .tid = tid_of(s, prev),
						      .state = state,
						      .other = tid_of(s, next),
						      .kstack = stack.kernel,
						      .ustack = stack.user }));
	c->current = next;
	c->next_ns = UINT64_MAX;
	if (next == NOBODY)
		return;
	s->threads[next].cpu = cpu;
	c->slice_ns = s->now + SLICE_NS;
	work_on(s, c);
}

/* The current thread of the CPU, or an interrupt there, wakes the target. */
static void wake(struct server *s, uint32_t cpu, uint32_t target, struct server_stack stack)
{
	struct thread *t = &s->threads[target];
	uint32_t to = t->cpu;
	struct cpu *c;

	note(s, encoder_event(s->e, &(struct event) { .time_ns = s->now,
						      .cpu = cpu,
						      .kind = CHAINLOG_WAKING,
						      .tid = tid_of(s, s->cpus[cpu].current),
						      .other = t->tid,
						      .kstack = stack.kernel,
						      .ustack = stack.user }));
	t->asleep = false;
	/*
	 * It goes to the CPU where it ran last; but if that is not idle and another one is, there.
	 */
	for (uint32_t i = 0; i < s->o->cpus; i++) {
		uint32_t other = (t->cpu + i) % s->o->cpus;

		if (s->cpus[other].current == NOBODY && s->cpus[other].ready.first == NOBODY) {
			to = other;
			break;
		}
	}
	c = &s->cpus[to];
	put(s, &c->ready, target);
	if (c->current == NOBODY && c->next_ns == UINT64_MAX) {
		c->next_ns = s->now + SWITCH_NS;
	} else if (to != cpu && c->current != NOBODY && !random_below(s, 10) &&
		   c->next_ns > s->now + SWITCH_NS) {
		c->next_ns = c->slice_ns = s->now + SWITCH_NS; /* it preempts what runs there */
	}
}

/* ---- what threads do ------------------------------------------------------------------------ */

/* The outcome of a step: to work until the next step, or to sleep. */
struct deed {
	bool sleep;
	char state;
	enum server_place place;
};

static const struct deed go_on = { .sleep = false };

static struct deed sleep_at(struct server *s, uint32_t me, enum server_place place)
{
	s->threads[me].asleep = true;
	return (struct deed) { true, place == PLACE_WAIT_DISK ? 'D' : 'S', place };
}

static void give_job(struct server *s, uint32_t cpu, uint32_t me, uint32_t caller,
		     enum server_role role)
{
	uint32_t free = take(s, &s->free[role]);

	if (free == NOBODY) {
		put(s, &s->jobs[role], caller);
		return;
	}
	s->threads[free].caller = caller;
	s->threads[free].kind = s->threads[caller].kind;
	wake(s, cpu, free, stack_at(s, me, PLACE_GIVE_JOB));
}

/* Takes the next job. False: there is none, and the thread is to sleep. */
static bool take_job(struct server *s, uint32_t me)
{
	struct thread *t = &s->threads[me];

	t->caller = take(s, &s->jobs[t->role]);
	if (t->caller == NOBODY) {
		put(s, &s->free[t->role], me);
		return false;
	}
	t->kind = s->threads[t->caller].kind;
	return true;
}

/* Answers a caller. One that is not asleep yet finds the answer, and is not woken. */
static void reply(struct server *s, uint32_t cpu, uint32_t me, uint32_t caller)
{
	s->threads[caller].answered = true;
	if (s->threads[caller].asleep)
		wake(s, cpu, caller, stack_at(s, me, PLACE_REPLY));
}

static struct deed lock(struct server *s, uint32_t me)
{
	struct thread *t = &s->threads[me];

	t->mutex = (uint32_t)random_below(s, MUTEXES);
	if (s->mutexes[t->mutex].owner == NOBODY) {
		s->mutexes[t->mutex].owner = me;
		return go_on;
	}
	put(s, &s->mutexes[t->mutex].waiters, me);
	return sleep_at(s, me, PLACE_LOCK);
}

static void unlock(struct server *s, uint32_t cpu, uint32_t me)
{
	uint32_t m = s->threads[me].mutex, next = take(s, &s->mutexes[m].waiters);

	s->mutexes[m].owner = next;
	if (next != NOBODY)
		wake(s, cpu, next, stack_at(s, me, PLACE_UNLOCK));
}

/* Wakes n of the idle threads, which have slept during the whole trace, shortly before its end. */
static void wake_idle(struct server *s, uint32_t cpu, uint32_t me, uint32_t n)
{
	while (n-- && s->ending < s->o->idle)
		wake(s, cpu, s->first_idle + s->ending++, stack_at(s, me, PLACE_GIVE_JOB));
}

/* For each role: the role that it asks, its work between steps, how often it asks, and locks. */
static const struct {
	enum server_role asks;
	uint32_t work_ns, one_in, locks_one_in;
} habits[ROLES] = {
	[ROLE_CLIENT] = { ROLE_ROUTER, 9000, 1, 0 },
	[ROLE_WORKER] = { ROLE_QUERY, 14000, 1, 4 },
	[ROLE_QUERY] = { ROLE_STORE, 18000, 2, 6 },
	[ROLE_STORE] = { ROLE_JOURNAL, 6000, 2, 0 },
};

enum step {
	STEP_BEGIN, /* wait for a job */
	STEP_WORK,
	STEP_UNLOCK,
	STEP_ASK,
	STEP_WAIT,
	STEP_DISK,
	STEP_ANSWER,
};

static struct deed step_pool(struct server *s, uint32_t cpu, uint32_t me)
{
	struct thread *t = &s->threads[me];

	switch (t->step) {
	case STEP_BEGIN:
		t->step = STEP_WORK;
		t->work_ns = some(s, 2000);
		if (t->role == ROLE_CLIENT) {
			t->kind = some_kind(s);
			set_timer(s, s->now + some(s, 5400000), me, PLACE_IRQ_NETWORK);
			return sleep_at(s, me, PLACE_WAIT_REQUEST);
		}
		return take_job(s, me) ? go_on : sleep_at(s, me, PLACE_WAIT_JOB);
	case STEP_WORK:
		t->work_ns = some(s, habits[t->role].work_ns);
		t->step = STEP_ASK;
		if (!habits[t->role].locks_one_in || random_below(s, habits[t->role].locks_one_in))
			return go_on;
		t->step = STEP_UNLOCK;
		return lock(s, me);
	case STEP_UNLOCK:
		unlock(s, cpu, me);
		t->work_ns = some(s, 1500);
		t->step = STEP_ASK;
		return go_on;
	case STEP_ASK:
		t->work_ns = some(s, 900);
		t->step = STEP_DISK;
		if (random_below(s, habits[t->role].one_in))
			return go_on;
		t->answered = false;
		give_job(s, cpu, me, me, habits[t->role].asks);
		t->step = STEP_WAIT;
		return go_on;
	case STEP_WAIT:
		t->work_ns = some(s, 2500);
		t->step = STEP_DISK;
		return t->answered ? go_on : sleep_at(s, me, PLACE_WAIT_REPLY);
	case STEP_DISK:
		t->work_ns = some(s, 1500);
		t->step = STEP_ANSWER;
		if (t->role != ROLE_STORE)
			return go_on;
		set_timer(s, s->now + some(s, 90000), me, PLACE_IRQ_DISK);
		return sleep_at(s, me, PLACE_WAIT_DISK);
	default:
		t->work_ns = some(s, 700);
		t->step = STEP_BEGIN;
		if (t->role != ROLE_CLIENT)
			reply(s, cpu, me, t->caller);
		if (s->events + 4 * (uint64_t)s->o->idle >= s->o->events)
			wake_idle(s, cpu, me, 8);
		return go_on;
	}
}

static struct deed step(struct server *s, uint32_t cpu, uint32_t me)
{
	struct thread *t = &s->threads[me];

	switch (t->role) {
	case ROLE_ROUTER:
		t->work_ns = some(s, 1500);
		if (t->step) { /* the worker that gets the job answers the client */
			give_job(s, cpu, me, t->caller, ROLE_WORKER);
			if (s->events + 4 * (uint64_t)s->o->idle >= s->o->events)
				wake_idle(s, cpu, me, 32);
		}
		t->step = 1;
		return take_job(s, me) ? go_on : sleep_at(s, me, PLACE_WAIT_JOB);
	case ROLE_JOURNAL:
		t->work_ns = some(s, 4000);
		t->step = (t->step + 1) % 3;
		if (t->step == 1)
			return take_job(s, me) ? go_on : sleep_at(s, me, PLACE_WAIT_JOB);
		if (t->step == 2) {
			set_timer(s, s->now + some(s, 60000), me, PLACE_IRQ_DISK);
			return sleep_at(s, me, PLACE_WAIT_DISK);
		}
		reply(s, cpu, me, t->caller);
		return go_on;
	case ROLE_KWORKER:
		t->work_ns = some(s, 3000);
		set_timer(s, s->now + some(s, 4000000), me, PLACE_IRQ_TIMER);
		return sleep_at(s, me, PLACE_WAIT_JOB);
	case ROLE_IDLE:
		t->work_ns = some(s, 3000);
		return sleep_at(s, me, PLACE_WAIT_JOB);
	default:
		return step_pool(s, cpu, me);
	}
}

/* Something is to happen on the CPU now. */
static void run_cpu(struct server *s, uint32_t cpu)
{
	struct cpu *c = &s->cpus[cpu];
	struct thread *t = c->current == NOBODY ? NULL : &s->threads[c->current];
	struct server_stack none = { 0, 0 };
	struct deed d;

	if (!t) {
		switch_away(s, cpu, 'R', none);
		return;
	}
	t->work_ns -= s->now - c->since_ns;
	if (t->work_ns) {
		c->slice_ns = s->now + SLICE_NS;
		if (c->ready.first != NOBODY) {
			put(s, &c->ready, c->current);
			switch_away(s, cpu, 'R', none);
		} else {
			work_on(s, c);
		}
		return;
	}
	d = step(s, cpu, c->current);
	if (d.sleep)
		switch_away(s, cpu, d.state, stack_at(s, c->current, d.place));
	else
		work_on(s, c);
}

static void fire(struct server *s, struct timer timer)
{
	/* A network card has two queues; a disk's interrupts go everywhere. */
	uint32_t cpu = timer.irq == PLACE_IRQ_NETWORK ? timer.thread % 2 : timer.thread;

	struct server_stack stack = stack_at(s, timer.thread, timer.irq);

	/* Below the interrupt's frames is whatever it interrupted. */
	cpu %= s->o->cpus;
	if (s->cpus[cpu].current != NOBODY)
		stack.user = stack_at(s, s->cpus[cpu].current, PLACE_REPLY).user;
	wake(s, cpu, timer.thread, stack);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int begin(struct server *s)
{
	uint32_t n = 0, cpus = s->o->cpus;

	for (int r = 0; r < ROLES; r++)
		n += r == ROLE_IDLE ? s->o->idle : roles[r].threads;
	s->threads = calloc(n, sizeof(*s->threads));
	s->timers = calloc(n, sizeof(*s->timers));
	s->cpus = calloc(cpus, sizeof(*s->cpus));
	if (!s->threads || !s->timers || !s->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < cpus; i++)
		s->cpus[i] = (struct cpu) {
			.current = NOBODY,
			.ready = { NOBODY, NOBODY, READY },
			.next_ns = UINT64_MAX,
		};
	for (uint32_t i = 0; i < MUTEXES; i++) {
		s->mutexes[i].owner = NOBODY;
		s->mutexes[i].waiters = (struct list) { NOBODY, NOBODY, OTHER };
	}
	for (int r = 0; r < ROLES; r++)
		s->free[r] = s->jobs[r] = (struct list) { NOBODY, NOBODY, OTHER };
	for (int r = 0; r < ROLES; r++)
		for (unsigned int k = 0; k < SERVER_KINDS; k++)
			for (int p = 0; p < PLACES; p++)
				s->stacks[r][k][p] = s->o->stack(s->o->arg, (enum server_role)r, k,
								 (enum server_place)p);
	return 0;
}

/* All threads are asleep at the start, each where it would be. */
static int add_threads(struct server *s)
{
	int err = 0;

	for (int r = 0; r < ROLES && !err; r++) {
		uint32_t n = r == ROLE_IDLE ? s->o->idle : roles[r].threads;

		if (r == ROLE_IDLE)
			s->first_idle = s->n_threads;
		for (uint32_t i = 0; i < n && !err; i++) {
			enum server_place place =
				r == ROLE_CLIENT ? PLACE_WAIT_REQUEST : PLACE_WAIT_JOB;
			uint32_t id = s->n_threads++;
			struct thread *t = &s->threads[id];
			struct server_stack stack = s->stacks[r][0][place];

			*t = (struct thread) {
				.role = (enum server_role)r,
				.tid = 1000 + id,
				.cpu = id % s->o->cpus,
				.asleep = true,
				.work_ns = 1000 + id % 97,
				.caller = NOBODY,
				.step = STEP_WORK,
			};
			if (r == ROLE_CLIENT)
				set_timer(s, s->o->start_ns + 5000 + random_below(s, 5400000), id,
					  PLACE_IRQ_NETWORK);
			else if (r == ROLE_KWORKER)
				set_timer(s, s->o->start_ns + 5000 + random_below(s, 4000000), id,
					  PLACE_IRQ_TIMER);
			else if (r != ROLE_IDLE)
				put(s, &s->free[r], id);
			err = encoder_thread(
				s->e,
				&(struct encoder_thread) {
					.tid = t->tid,
					.tgid = 1000 + id - i,
					.seen_ns = s->o->start_ns,
					.flags = r == ROLE_KWORKER ? CHAINLOG_THREAD_KTHREAD : 0,
					.state = 'S',
					.name = encoder_text(s->e, roles[r].name),
					.kstack = stack.kernel,
					.ustack = stack.user,
				});
		}
	}
	return err;
}

int server_run(struct encoder *e, const struct server_options *o, uint64_t *end_ns)
{
	struct server *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return err;
	s->e = e;
	s->o = o;
	s->random = o->seed * 2 + 0x9e3779b97f4a7c15u;
	s->now = o->start_ns;
	err = begin(s);
	if (!err)
		err = add_threads(s);
	while (!err && s->events < o->events) {
		uint32_t first = 0;

		for (uint32_t i = 1; i < o->cpus; i++)
			if (s->cpus[i].next_ns < s->cpus[first].next_ns)
				first = i;
		if (s->n_timers && s->timers[0].ns <= s->cpus[first].next_ns) {
			s->now = s->timers[0].ns;
			fire(s, take_timer(s));
		} else {
			s->now = s->cpus[first].next_ns;
			run_cpu(s, first);
		}
		err = s->err;
	}
	*end_ns = s->now + 1;
	free(s->threads);
	free(s->timers);
	free(s->cpus);
	free(s);
	return err;
}
