// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection_pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "select/wait_nature.h"
#include "words/code_frames.h"
#include "common/xalloc.h"

/* A connection is used within so many sleeps of who got it; who had one used it in so many. */
#define SLEEPS_LATER 3
#define SLEEPS_BACK 8
/* So many of the waits with a stack have to end so, which have at least half of the time. */
#define HANDED_LEAST 2

/* Of the sleeps with a user stack that a thread of the process ended, and who then used any
 * connection. */
struct use {
	uint64_t ended_ns, handed_ns; /* of these: one of a pool from which that thread had one */
	uint32_t handed;	      /* how many */
	uint32_t pair;		      /* of a wait on such a connection */
	uint32_t end;		      /* where it leads: a number in .ends */
};

/* Of the sleeps with a stack pair. */
struct what {
	uint32_t connection; /* for an answer on it: an object; 0: it is none */
	bool between_threads;
};

/* Of a connection. */
struct user {
	uint32_t thread; /* the first one that slept on it, + 1; 0: none */
	bool is_lent;	 /* others did, too */
	uint32_t end;	 /* where it leads: a number in .ends */
};

struct connection_pools {
	const struct timelines *timelines;
	struct kernel_stacks *kernel;
	bool looked;
	struct what *what;	/* by stack pair */
	struct user *users;	/* by object */
	struct pair_table uses; /* struct use, by (user stack, 0) */
	struct pairs ends;	/* (process, other end: a string) */
	uint32_t *n_lent;	/* connections, by number in ends */
};

void connection_pools_new(struct connection_pools **out, const struct timelines *tl,
			  struct kernel_stacks *k)
{
	struct connection_pools *p = xcalloc(1, sizeof(*p));

	*out = p;
	p->timelines = tl;
	p->kernel = k;
}

void connection_pools_free(struct connection_pools *p)
{
	if (!p)
		return;
	free(p->what);
	free(p->users);
	free(p->n_lent);
	pair_table_free(&p->uses);
	pairs_free(&p->ends);
	free(p);
}

/* ---- what sleeps were for -------------------------------------------------------------------- */

#define PORTS 65536

/* The port of "10.0.0.5:5432"; 0: it has none. */
static uint32_t port_of(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) % PORTS : 0;
}

/*
 * Where servers are asked: requests come in on connections with these ports. By port, to be freed.
 */
static bool *served_ports(const struct timelines *tl)
{
	const struct trace *t = timelines_trace(tl);
	bool *is_served = xcalloc(PORTS, sizeof(*is_served));
	uint32_t n;
	const struct request_endpoint *e = timelines_endpoints(tl, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct trace_object *o = trace_object(t, e[i].object);

		if (o)
			is_served[port_of(trace_string(t, o->name))] = true;
	}
	is_served[0] = false;
	return is_served;
}

bool wait_is_between_threads(const struct timelines *tl, uint32_t pair)
{
	const struct trace *t = timelines_trace(tl);
	struct stack_pair p = timelines_pair(tl, pair);
	const struct trace_object *o = p.of_client ? NULL : trace_object(t, p.object);

	return o && p.ustack && !strcmp(trace_string(t, o->class), "futex") &&
	       !stack_is_of_go_runtime(t, trace_stack(t, p.ustack));
}

static void find_what(struct connection_pools *p)
{
	const struct timelines *tl = p->timelines;
	const struct trace *t = timelines_trace(tl);
	uint32_t n = timelines_pairs_end(tl);
	bool *is_served = served_ports(tl);

	p->what = xcalloc(n + 1, sizeof(*p->what));
	p->users = xcalloc(trace_objects_end(t) + 1, sizeof(*p->users));
	for (uint32_t i = 1; i < n; i++) {
		uint32_t message = timelines_pair(tl, i).of_client ? 0 : wait_message_object(tl, i);

		p->what[i].between_threads = wait_is_between_threads(tl, i);
		if (message && !is_served[port_of(trace_string(t, trace_object(t, message)->own))])
			p->what[i].connection = message;
	}
	free(is_served);
}

static uint32_t connection_of(const struct connection_pools *p, const struct wait *w)
{
	return w->kind == WAIT_SLEEP ? p->what[w->stack].connection : 0;
}

/* ---- whose they are -------------------------------------------------------------------------- */

static void note_user(struct connection_pools *p, uint32_t thread, uint32_t connection)
{
	struct user *u = &p->users[connection];
	uint32_t tgid = timelines_thread(p->timelines, thread)->tgid;

	if (u->thread) {
		u->is_lent |= u->thread != thread + 1;
		return;
	}
	u->thread = thread + 1;
	u->end = pairs_id(&p->ends, tgid,
			  trace_object(timelines_trace(p->timelines), connection)->name);
}

static void find_users(struct connection_pools *p)
{
	for (uint32_t i = 0; i < timelines_threads(p->timelines); i++) {
		const struct thread *th = timelines_thread(p->timelines, i);

		for (uint32_t k = 0; k < th->n_waits; k++)
			if (connection_of(p, &th->waits[k]))
				note_user(p, i, connection_of(p, &th->waits[k]));
	}
	p->n_lent = xcalloc(p->ends.n + 1, sizeof(*p->n_lent));
	for (uint32_t i = 1; i < trace_objects_end(timelines_trace(p->timelines)); i++)
		if (p->users[i].is_lent)
			p->n_lent[p->users[i].end]++;
}

/* ---- who gave them on ------------------------------------------------------------------------ */

/* Whether a thread slept on a lent connection to that end shortly before its interval at pos. */
static bool had(const struct connection_pools *p, const struct thread *th, uint32_t pos,
		uint32_t end)
{
	for (uint32_t i = pos; i && pos - i < SLEEPS_BACK; i--) {
		const struct user *u = &p->users[connection_of(p, &th->waits[i - 1])];

		if (u->is_lent && u->end == end)
			return true;
	}
	return false;
}

/* The sleep of a thread at i ended as another thread of its process let it go on. */
static void look_at(struct connection_pools *p, const struct thread *th, uint32_t i)
{
	const struct wait *w = &th->waits[i], *later = w + 1;
	const struct wait *end = th->waits + th->n_waits;
	const struct thread *waker = timelines_thread(p->timelines, w->waker);
	const struct user *user;
	struct use *use;

	end = end - later > SLEEPS_LATER ? later + SLEEPS_LATER : end;
	while (later < end && !connection_of(p, later))
		later++;
	if (later == end)
		return;
	use = pair_table_at(&p->uses, timelines_pair(p->timelines, w->stack).ustack, 0,
			    sizeof(*use));
	use->ended_ns += w->wake_ns - w->out_ns;
	user = &p->users[connection_of(p, later)];
	if (!user->is_lent || !had(p, waker, wait_waker_pos(waker, w), user->end))
		return;
	use->handed_ns += w->wake_ns - w->out_ns;
	use->handed++;
	use->pair = later->stack;
	use->end = user->end;
}

static void look(struct connection_pools *p)
{
	const struct timelines *tl = p->timelines;

	p->looked = true;
	find_what(p);
	find_users(p);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			if (w->kind == WAIT_SLEEP && p->what[w->stack].between_threads &&
			    w->waker < THREAD_IDLE && w->waker != i && w->wake_ns > w->out_ns &&
			    timelines_thread(tl, w->waker)->tgid == th->tgid &&
			    !waker_context(p->kernel, tl, w).interrupt)
				look_at(p, th, k);
		}
	}
}

void connection_pools_find(struct connection_pools *p, uint32_t pair, struct connection_pool *pool)
{
	const struct use *use;
	uint32_t id;

	*pool = (struct connection_pool) { .n = 0 };
	if (!wait_is_between_threads(p->timelines, pair))
		return;
	if (!p->looked)
		look(p);
	id = pairs_find(&p->uses.keys, timelines_pair(p->timelines, pair).ustack, 0);
	use = id ? (const struct use *)p->uses.at + id : NULL;
	if (use && use->handed >= HANDED_LEAST && 2 * use->handed_ns >= use->ended_ns)
		*pool = (struct connection_pool) { use->pair, p->n_lent[use->end] };
}
