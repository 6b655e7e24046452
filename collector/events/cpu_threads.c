// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"
#include "events/translate.h"

/* One thread drains some 5 M events a second; a CPU under a database has some 60 thousand. */
#define CPUS_PER_THREAD 32u
#define THREADS_MAX 64u
#define STACK_BYTES (256u << 10)
/* Stack ids that a thread knows; a power of two. */
#define KNOWN 4096u

struct cpu_thread {
	struct cpu_threads *all;
	uint32_t first_cpu, end_cpu;
	uint64_t known_from_ns;		 /* `known` holds from then on; UINT64_MAX: it does not */
	uint64_t events;		 /* written in this drain */
	struct chainlog_writer **blocks; /* by CPU, from first_cpu; NULL: not asked for yet */
	struct {
		uint32_t wire_id, id; /* 0: free */
	} known[KNOWN];
	int err;
	bool has_thread;
	pthread_t thread;
};

struct cpu_threads {
	struct cpu_threads_shared shared;
	/*
	 * Protects everything in `shared`, and changes of these two, which all of them read:
	 * between them no process changed its code (symbolizer_stable_range()).
	 */
	pthread_mutex_t lock;
	uint64_t settled_from_ns, settled_until_ns;
	/* Protects the rest. */
	pthread_mutex_t turn;
	pthread_cond_t go, done;
	uint64_t round;	      /* a drain begins when it changes */
	unsigned int running; /* threads that have not finished the round */
	bool quit;
	unsigned int n, n_threads; /* parts of the CPUs; those with a thread of their own */
	struct cpu_thread *threads[THREADS_MAX]; /* the caller drains those that have none */
};

/* ---- one record ---------------------------------------------------------------------------- */

/* With the lock, or while only the caller runs: tells all threads what the symbolizer knows by now.
 */
static void settle(struct cpu_threads *all)
{
	uint64_t from_ns, until_ns;

	symbolizer_stable_range(all->shared.sym, &from_ns, &until_ns);
	__atomic_store_n(&all->settled_from_ns, from_ns, __ATOMIC_RELAXED);
	/* Pairs with the load in own_block(), which sees from_ns then, too. */
	__atomic_store_n(&all->settled_until_ns, until_ns, __ATOMIC_RELEASE);
}

/* With the lock. */
static void learn(struct cpu_thread *l, uint32_t wire_id, uint64_t time_ns)
{
	uint32_t slot = hash_pair(wire_id, 0) % KNOWN;

	if (!wire_id || !id_map_is_settled(l->all->shared.ids, wire_id))
		return;
	l->known[slot].id = id_map_stack(l->all->shared.ids, wire_id, time_ns);
	l->known[slot].wire_id = wire_id;
}

/*
 * Takes a record by the code for one thread, under the lock. kstack, ustack: wire ids to learn; 0:
 * none.
 */
static int take_shared(struct cpu_thread *l, const struct wire_record *r, size_t len,
		       uint32_t kstack, uint32_t ustack)
{
	struct cpu_threads *all = l->all;
	int err;

	pthread_mutex_lock(&all->lock);
	err = all->shared.record(all->shared.ctx, r, len);
	settle(all);
	if (r->cpu >= l->first_cpu && r->cpu < l->end_cpu)
		l->blocks[r->cpu - l->first_cpu] = encoder_block(all->shared.enc, r->cpu);
	/*
	 * Learn nothing that a change of code, which the thread has not seen yet, has made invalid.
	 */
	if (r->time_ns >= all->settled_from_ns && r->time_ns <= all->settled_until_ns &&
	    l->known_from_ns == all->settled_from_ns) {
		learn(l, kstack, r->time_ns);
		learn(l, ustack, r->time_ns);
	}
	pthread_mutex_unlock(&all->lock);
	return err;
}

/* The trace's id in *id; false if the thread does not know it. */
static bool find_known(const struct cpu_thread *l, uint32_t wire_id, uint32_t *id)
{
	uint32_t slot = hash_pair(wire_id, 0) % KNOWN;

	*id = wire_id ? l->known[slot].id : 0;
	return !wire_id || l->known[slot].wire_id == wire_id;
}

/* The block for an event at time_ns, if it can be written without asking anybody; else NULL. */
static struct chainlog_writer *own_block(struct cpu_thread *l, const struct wire_record *r)
{
	uint64_t until_ns = __atomic_load_n(&l->all->settled_until_ns, __ATOMIC_ACQUIRE);
	uint64_t from_ns = __atomic_load_n(&l->all->settled_from_ns, __ATOMIC_RELAXED);
	struct chainlog_writer *w;

	if (from_ns != l->known_from_ns) {
		memset(l->known, 0, sizeof(l->known));
		l->known_from_ns = from_ns;
	}
	if (r->time_ns > until_ns || r->time_ns < from_ns)
		return NULL;
	w = r->cpu >= l->first_cpu && r->cpu < l->end_cpu ? l->blocks[r->cpu - l->first_cpu] : NULL;
	return w && !chainlog_writer_is_full(w, r->time_ns) ? w : NULL;
}

/* Takes a switch or a waking, which `out` is but for its stacks. */
static int take_event(struct cpu_thread *l, const struct wire_record *r, size_t len,
		      struct event out, uint32_t kstack, uint32_t ustack)
{
	struct chainlog_writer *w = own_block(l, r);

	if (!w || !find_known(l, kstack, &out.kstack) || !find_known(l, ustack, &out.ustack))
		return take_shared(l, r, len, kstack, ustack);
	chainlog_write(w, &out);
	l->events++;
	return 0;
}

static int take_record(void *ctx, const struct wire_record *r, size_t len)
{
	const struct wire_switch *s = (const void *)r;
	const struct wire_waking *w = (const void *)r;

	if (translator_check(r, len))
		return take_shared(ctx, r, len, 0, 0);
	switch (r->kind) {
	case WIRE_SWITCH:
	case WIRE_SWITCH_EDGE:
		/* One with an object is two events. */
		return s->object ? take_shared(ctx, r, len, s->kstack, s->ustack)
				 : take_event(ctx, r, len, translator_switch(s), s->kstack,
					      s->ustack);
	case WIRE_WAKING:
	case WIRE_WAKING_NEW:
	case WIRE_WAKING_EDGE:
		return take_event(ctx, r, len, translator_waking(w), w->kstack, w->ustack);
	default:
		return take_shared(ctx, r, len, 0, 0);
	}
}

/* ---- threads ------------------------------------------------------------------------------- */

static void drain_thread(struct cpu_thread *l)
{
	long n = bpf_session_drain(l->all->shared.bpf, l->first_cpu, l->end_cpu, take_record, l);

	l->err = n < 0 ? (int)n : 0;
}

static void *run_thread(void *cpu_thread)
{
	struct cpu_thread *l = cpu_thread;
	struct cpu_threads *all = l->all;
	uint64_t round = 0;

	pthread_mutex_lock(&all->turn);
	for (;;) {
		while (all->round == round && !all->quit)
			pthread_cond_wait(&all->go, &all->turn);
		if (all->quit)
			break;
		round = all->round;
		pthread_mutex_unlock(&all->turn);
		drain_thread(l);
		pthread_mutex_lock(&all->turn);
		if (!--all->running)
			pthread_cond_signal(&all->done);
	}
	pthread_mutex_unlock(&all->turn);
	return NULL;
}

int cpu_threads_drain(struct cpu_threads *l)
{
	int err = 0;

	settle(l);
	/* A layout's number becomes another stack's when no record in the rings refers to it. */
	for (unsigned int i = 0; i < l->n; i++)
		l->threads[i]->known_from_ns = UINT64_MAX;
	pthread_mutex_lock(&l->turn);
	l->round++;
	l->running = l->n_threads;
	pthread_cond_broadcast(&l->go);
	pthread_mutex_unlock(&l->turn);
	for (unsigned int i = 0; i < l->n; i++)
		if (!l->threads[i]->has_thread)
			drain_thread(l->threads[i]);
	pthread_mutex_lock(&l->turn);
	while (l->running)
		pthread_cond_wait(&l->done, &l->turn);
	pthread_mutex_unlock(&l->turn);
	for (unsigned int i = 0; i < l->n; i++) {
		err = err ? err : l->threads[i]->err;
		encoder_count_events(l->shared.enc, l->threads[i]->events);
		l->threads[i]->events = 0;
	}
	return err;
}

/* ---- beginning and end --------------------------------------------------------------------- */

/* Signals are for the caller's thread. Without a thread, the caller drains its CPUs. */
static void start_thread(struct cpu_thread *l)
{
	pthread_attr_t attr;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	l->has_thread = !pthread_create(&l->thread, &attr, run_thread, l);
	l->all->n_threads += l->has_thread;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* False: out of memory. */
static bool add_thread(struct cpu_threads *all, uint32_t first_cpu, uint32_t end_cpu)
{
	struct cpu_thread *l = calloc(1, sizeof(*l));

	if (!l)
		return false;
	l->blocks = calloc(end_cpu - first_cpu, sizeof(struct chainlog_writer *));
	if (!l->blocks) {
		free(l);
		return false;
	}
	l->all = all;
	l->first_cpu = first_cpu;
	l->end_cpu = end_cpu;
	all->threads[all->n++] = l;
	return true;
}

int cpu_threads_new(struct cpu_threads **out, const struct cpu_threads_shared *shared,
		    unsigned int n)
{
	uint32_t cpus = bpf_session_cpus(shared->bpf), from = 0;
	struct cpu_threads *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->shared = *shared;
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->turn, NULL);
	pthread_cond_init(&l->go, NULL);
	pthread_cond_init(&l->done, NULL);
	if (!n)
		n = (cpus + CPUS_PER_THREAD - 1) / CPUS_PER_THREAD;
	n = n > THREADS_MAX ? THREADS_MAX : n;
	n = n > cpus ? cpus : n;
	for (unsigned int i = 0; i < n; i++) {
		uint32_t end = cpus * (i + 1) / n;

		if (!add_thread(l, from, end)) {
			cpu_threads_free(l);
			return -ENOMEM;
		}
		from = end;
	}
	for (unsigned int i = 1; i < n; i++)
		start_thread(l->threads[i]);
	*out = l;
	return 0;
}

void cpu_threads_free(struct cpu_threads *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->turn);
	l->quit = true;
	pthread_cond_broadcast(&l->go);
	pthread_mutex_unlock(&l->turn);
	for (unsigned int i = 0; i < l->n; i++) {
		if (l->threads[i]->has_thread)
			pthread_join(l->threads[i]->thread, NULL);
		free(l->threads[i]->blocks);
		free(l->threads[i]);
	}
	pthread_cond_destroy(&l->done);
	pthread_cond_destroy(&l->go);
	pthread_mutex_destroy(&l->turn);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

unsigned int cpu_threads_count(const struct cpu_threads *l)
{
	return l->n_threads + 1;
}
