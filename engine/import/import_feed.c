// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_feed.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* A longer step back in time is no clock's jitter. */
#define BACK_MAX_NS 1000000u
/* Reject above 100 + events/100 steps back. */
#define BACK_COUNT 100u

struct import_thread {
	uint32_t first_name, name; /* string ids: the first one, the one it has; 0: not known */
	uint32_t column;	   /* string id: what the name column had last; 0: not known */
	uint32_t overruled; /* string id: the guessed first name, which an event contradicted */
	uint32_t tgid;	    /* 0: not known */
	uint64_t start_ns;  /* 0: before the trace */
	char text[16];	    /* the name, if it is short and comes from an event */
	uint8_t text_len;
	bool guessed; /* the name comes from the name column, not from an event */
	bool kthread;
	bool unborn;   /* forked, and not yet named by another event */
	bool recorded; /* of a recording of some threads: it is one of them */
	bool is_off;   /* ... and was switched out last */
};

/* Events of a CPU (-1: any) that were lost before its first one, up to until_ns. */
struct import_loss {
	int cpu;
	uint64_t n, until_ns;
};

struct import_cpu {
	uint64_t last_ns; /* 0: it has no event yet */
	uint32_t current; /* the last switch's next */
	bool known;
	uint32_t woke; /* the thread of the last event, if that was its waking; else 0 */
};

/* Puts an event of ev's time and CPU into the trace. The encoder keeps its errors. */
static void put(struct import_feed *f, const struct import_event *ev, struct event out)
{
	out.time_ns = ev->time_ns;
	out.cpu = (uint32_t)ev->cpu;
	(void)encoder_event(f->enc, &out);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* The thread, added if it is new; NULL: tid 0 (the idle loop). */
static struct import_thread *thread_of(struct import_feed *f, uint32_t tid)
{
	struct import_thread *p;
	uint32_t id;
	int is_new;

	if (!tid)
		return NULL;
	id = pairs_id_new(&f->tids, tid, 0, &is_new);
	XGROW(f->threads, id, f->cap_threads);
	p = &f->threads[id];
	if (is_new)
		memset(p, 0, sizeof(*p));
	return p;
}

/* The thread has events of its own. */
static void is_recorded(struct import_feed *f, uint32_t tid)
{
	struct import_thread *th = f->per_task ? thread_of(f, tid) : NULL;

	if (th)
		th->recorded = true;
}

/* Whether anything can be known of the thread. */
static bool may_know(struct import_feed *f, uint32_t tid)
{
	uint32_t id = f->per_task ? pairs_find(&f->tids, tid, 0) : 0;

	return !f->per_task || (id && f->threads[id].recorded);
}

static uint32_t string_id(struct import_feed *f, struct import_name s)
{
	return s.len ? encoder_string(f->enc, s.p, s.len) : 0;
}

/* The event names the thread so. */
static void name_thread(struct import_feed *f, const struct import_event *ev, uint32_t tid,
			struct import_name name)
{
	struct import_thread *th = thread_of(f, tid);
	uint32_t id;

	if (!th)
		return;
	th->unborn = false;
	/* Nearly always the name is unchanged. */
	if (th->name && !th->guessed && name.p && th->text_len == name.len &&
	    !memcmp(th->text, name.p, name.len))
		return;
	id = string_id(f, name);
	if (!id)
		return;
	th->text_len = 0;
	if (name.len <= sizeof(th->text)) {
		memcpy(th->text, name.p, name.len);
		th->text_len = (uint8_t)name.len;
	}
	if (th->name != id) {
		/* What was told before the recording began is no part of its time. */
		if (!th->first_name || (th->guessed && !th->column))
			th->first_name = id;
		else
			put(f, ev,
			    (struct event) { .kind = CHAINLOG_RENAME, .tid = tid, .string = id });
		if (th->guessed && th->column && th->name == th->first_name)
			th->overruled = th->first_name;
		th->name = id;
	}
	th->guessed = false;
}

/* The name column, which is perf's memory, names it so: up to the event that names it. */
static void guess_name(struct import_feed *f, uint32_t tid, struct import_name name)
{
	struct import_thread *th = thread_of(f, tid);

	/* perf prints ":TID" for a thread that it does not know. */
	if (!th || th->first_name || !name.len || name.p[0] == ':')
		return;
	th->first_name = th->name = string_id(f, name);
	th->guessed = true;
}

/*
 * The name column of a line of the thread's own. perf notices a change of the name where no event
 * tells of it; but if it missed one, the column has the old name until the end: if an event
 * contradicts it, it never was right.
 */
static void read_name_column(struct import_feed *f, const struct import_event *ev, uint32_t tid)
{
	struct import_thread *th = thread_of(f, tid);
	uint32_t id;

	/* perf prints ":TID" for a thread that it does not know. */
	if (!th || !ev->comm.len || ev->comm.p[0] == ':')
		return;
	if (th->name && th->text_len == ev->comm.len &&
	    !memcmp(th->text, ev->comm.p, ev->comm.len)) {
		th->column = th->name;
		th->overruled = 0; /* it has followed */
		return;
	}
	id = string_id(f, ev->comm);
	if (id && th->overruled == id)
		th->first_name = th->name;
	th->overruled = 0;
	if (th->first_name && th->name != id && (th->column ? th->column != id : th->guessed)) {
		put(f, ev, (struct event) { .kind = CHAINLOG_RENAME, .tid = tid, .string = id });
		th->name = id;
		th->text_len = 0;
	}
	th->column = id;
	guess_name(f, tid, ev->comm);
}

/* child is forked; does nothing if a fork is noted already. */
static void fork_thread(struct import_feed *f, const struct import_event *ev, uint32_t parent,
			const struct import_task *child)
{
	uint32_t id = string_id(f, child->name);
	const struct import_thread *from = thread_of(f, parent);
	struct import_thread *th;

	if (!id && from)
		id = from->name; /* inherited */
	th = thread_of(f, child->tid);
	if (!th || th->unborn)
		return;
	if (!th->first_name) {
		th->first_name = id;
		th->start_ns = ev->time_ns;
	}
	th->name = id;
	th->text_len = 0;
	th->overruled = 0;
	th->guessed = false;
	th->unborn = true;
	if (!th->tgid)
		th->tgid = child->tgid;
	put(f, ev,
	    (struct event) { .kind = CHAINLOG_FORK,
			     .tid = parent,
			     .other = child->tid,
			     .tgid = child->tgid,
			     .string = id });
}

/* Writes the list of threads into the trace. */
static void list_threads(struct import_feed *f)
{
	f->report->no_processes = true;
	for (uint32_t id = 1; id <= f->tids.n; id++) {
		const struct import_thread *th = &f->threads[id];

		f->report->no_processes &= !th->tgid;
		/* 'R' and not on a CPU: the reader assumes nothing of its state at the start. */
		encoder_thread(f->enc, &(struct encoder_thread) {
					       .tid = f->tids.at[id].a,
					       .tgid = th->tgid,
					       .start_ns = th->start_ns,
					       .seen_ns = f->last_ns,
					       .flags = th->kthread ? CHAINLOG_THREAD_KTHREAD : 0,
					       .state = 'R',
					       .name = th->first_name,
				       });
	}
}

/* ---- events -------------------------------------------------------------------------------- */

static struct import_cpu *cpu_of(struct import_feed *f, uint32_t cpu)
{
	while (cpu >= f->n_cpus)
		XAPPEND(f->cpus, f->n_cpus, f->cap_cpus) = (struct import_cpu) { .last_ns = 0 };
	return &f->cpus[cpu];
}

/* Corrects a time that goes back on its CPU by a clock's jitter. Returns 0 or -IMPORT_E_TIMES. */
static int settle_time(struct import_feed *f, struct import_cpu *c, struct import_event *ev)
{
	struct import_report *r = f->report;

	if (ev->time_ns >= c->last_ns)
		return 0;
	r->times_back++;
	if (c->last_ns - ev->time_ns > BACK_MAX_NS ||
	    r->times_back > BACK_COUNT + (r->switches + r->wakings) / BACK_COUNT)
		return -IMPORT_E_TIMES;
	ev->time_ns = c->last_ns;
	return 0;
}

/* True if the id column names the same threads as the events' own texts, up to 1 in 64. */
static bool ids_agree(const struct import_feed *f)
{
	return f->not_id * 64 <= f->same_id + f->not_id;
}

static void handle_switch(struct import_feed *f, struct import_cpu *c,
			  const struct import_event *ev, const struct import_stack *stack)
{
	struct import_thread *prev;

	f->report->switches++;
	f->idle_switches += !ev->a.tid;
	is_recorded(f, ev->a.tid);
	f->report->missing_switches += c->known && c->current != ev->a.tid;
	if (ev->tid >= 0) /* -1: it was exiting, and perf had forgotten it */
		*((uint32_t)ev->tid == ev->a.tid ? &f->same_id : &f->not_id) += 1;
	name_thread(f, ev, ev->a.tid, ev->a.name);
	name_thread(f, ev, ev->b.tid, ev->b.name);
	prev = thread_of(f, ev->a.tid);
	if ((uint32_t)ev->tid == ev->a.tid)
		read_name_column(f, ev, ev->a.tid);
	if (prev) {
		prev->is_off = true;
		prev->kthread |= stack->kthread;
		if (!prev->tgid && ev->tgid > 0 && (uint32_t)ev->tid == ev->a.tid)
			prev->tgid = (uint32_t)ev->tgid;
	}
	put(f, ev,
	    (struct event) { .kind = CHAINLOG_SWITCH,
			     .tid = ev->a.tid,
			     .state = ev->state,
			     .other = may_know(f, ev->b.tid) ? ev->b.tid : 0,
			     .kstack = stack->kstack,
			     .ustack = stack->ustack });
	/* The kernel leaves a CPU idle only if no thread in its queue may run. */
	if (ev->state == 'R' && ev->a.tid && !ev->b.tid && !f->per_task)
		put(f, ev, (struct event) { .kind = EVENT_THROTTLED, .tid = ev->a.tid });
	/* The next thread with this tid is another one. */
	if (prev && (ev->state == 'X' || ev->state == 'Z'))
		prev->name = prev->column = 0;
	c->current = ev->b.tid;
	c->known = true;
}

/* The waker's tid: the id column's, or the one on the CPU if that is wrong. -1: not known. */
static int64_t waker_of(const struct import_feed *f, const struct import_cpu *c,
			const struct import_event *ev)
{
	if (ev->tid >= 0 && ids_agree(f))
		return ev->tid;
	return c->known ? (int64_t)c->current : -1;
}

/* A thread is woken by an unknown waker. */
static void woken_somehow(struct import_feed *f, const struct import_event *ev)
{
	if (ev->a.tid)
		put(f, ev,
		    (struct event) { .kind = CHAINLOG_WAKING,
				     .flags = CHAINLOG_F_NO_WAKER,
				     .other = ev->a.tid });
}

static void handle_waking(struct import_feed *f, const struct import_cpu *c,
			  const struct import_event *ev, const struct import_stack *stack)
{
	bool is_new = ev->kind == IMPORT_WAKEUP_NEW;
	int64_t waker = waker_of(f, c, ev);
	struct import_thread *th;

	if (ev->kind == IMPORT_WAKEUP) {
		f->wakeups++;
		/* With both recorded, each wakeup repeats its waking. */
		if (f->report->wakings)
			return;
		if (stack->ipi) {
			f->report->passed_on++;
			woken_somehow(f, ev);
			return;
		}
	} else if (ev->kind == IMPORT_WAKING) {
		f->report->wakings++;
	}
	if (is_new)
		is_recorded(f, ev->a.tid);
	if (!may_know(f, ev->a.tid))
		return;
	if (waker < 0 && !is_new)
		woken_somehow(f, ev);
	if (waker < 0 || !ev->a.tid)
		return;
	if (ev->tid == waker) {
		read_name_column(f, ev, (uint32_t)waker);
		th = thread_of(f, (uint32_t)waker);
		if (th && !th->tgid && ev->tgid > 0)
			th->tgid = (uint32_t)ev->tgid;
	}
	if (is_new)
		fork_thread(f, ev, (uint32_t)waker, &ev->a);
	name_thread(f, ev, ev->a.tid, ev->a.name);
	put(f, ev,
	    (struct event) { .kind = is_new ? CHAINLOG_WAKING_NEW : CHAINLOG_WAKING,
			     .tid = (uint32_t)waker,
			     .other = ev->a.tid,
			     .kstack = stack->kstack,
			     .ustack = stack->ustack });
}

/*
 * perf lists the threads that exist at the start as if they were forked at time 0, and records
 * forks and names before anything else: these are not in the trace's time.
 */
static bool begun(const struct import_feed *f)
{
	return f->report->switches || f->report->wakings || f->wakeups;
}

/*
 * A record of the state before the recording began, which perf prints with time 0; or one whose
 * time says nothing.
 */
static bool untimed(const struct import_event *ev)
{
	if (ev->kind == IMPORT_OFF_CPU)
		return true;
	return !ev->time_ns && (ev->kind == IMPORT_FORK || ev->kind == IMPORT_RENAME ||
				ev->kind == IMPORT_LOST || ev->kind == IMPORT_OTHER);
}

static void handle_fork(struct import_feed *f, const struct import_event *ev)
{
	struct import_thread *th;

	is_recorded(f, ev->b.tid);
	if (begun(f) && !untimed(ev)) {
		fork_thread(f, ev, ev->a.tid, &ev->b);
		return;
	}
	th = thread_of(f, ev->b.tid);
	if (th)
		th->tgid = ev->b.tgid;
}

static void handle_rename(struct import_feed *f, const struct import_event *ev)
{
	struct import_thread *th;

	is_recorded(f, ev->a.tid);
	if (ev->a.tgid) {
		th = thread_of(f, ev->a.tid);
		if (th && !th->tgid)
			th->tgid = ev->a.tgid;
	}
	if (begun(f) && !untimed(ev))
		name_thread(f, ev, ev->a.tid, ev->a.name);
	else
		guess_name(f, ev->a.tid, ev->a.name);
}

/* n or more changes of run queues may be missing in that time. */
static void put_lost_queues(struct import_feed *f, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	(void)encoder_aux_lost(f->enc, 0, EVENT_QUEUE, n, first_ns, last_ns);
}

/* What is lost may have been changes of run queues. */
static void put_loss(struct import_feed *f, int cpu, uint64_t n, uint64_t first_ns,
		     uint64_t last_ns)
{
	(void)encoder_lost(f->enc, cpu, n, first_ns, last_ns);
	if (f->migrations) {
		put_lost_queues(f, n, first_ns, last_ns);
		return;
	}
	if (!f->n_lost || first_ns < f->first_lost_ns)
		f->first_lost_ns = first_ns;
	f->n_lost += n;
	if (f->last_lost_ns < last_ns)
		f->last_lost_ns = last_ns;
}

/*
 * Likewise up to until_ns, and since since_ns, or if that is 0 since the trace's first event, which
 * may be of another CPU and is known in the end.
 */
static void put_loss_since(struct import_feed *f, int cpu, uint64_t n, uint64_t since_ns,
			   uint64_t until_ns)
{
	if (since_ns) {
		put_loss(f, cpu, n, since_ns < until_ns ? since_ns : until_ns, until_ns);
		return;
	}
	XAPPEND(f->early, f->n_early, f->cap_early) = (struct import_loss) { cpu, n, until_ns };
}

static void put_early_losses(struct import_feed *f)
{
	for (size_t i = 0; i < f->n_early; i++) {
		const struct import_loss *l = &f->early[i];

		put_loss(f, l->cpu, l->n, f->first_ns < l->until_ns ? f->first_ns : l->until_ns,
			 l->until_ns);
	}
}

/* Reports the events that could not be read since the last event as lost. */
static void put_pending_loss(struct import_feed *f, uint64_t until_ns)
{
	if (f->lost)
		put_loss_since(f, -1, f->lost, f->last_ns, until_ns);
	f->lost = 0;
}

static void handle_lost(struct import_feed *f, const struct import_cpu *c,
			const struct import_event *ev)
{
	f->report->lost_records++;
	/* perf writes this record with the first event that found room again. */
	if (ev->time_ns)
		put_loss_since(f, ev->cpu, ev->n, c->last_ns, ev->time_ns);
	else
		f->lost += ev->n;
}

static void put_sample(struct import_feed *f, const struct import_sample *s)
{
	(void)encoder_event(f->enc, &(struct event) { .kind = EVENT_SAMPLE,
						      .time_ns = s->time_ns,
						      .cpu = s->cpu,
						      .tid = s->tid,
						      .kstack = s->kstack,
						      .ustack = s->ustack });
}

/* Samples of the idle loop, and from before the first switch, are dropped. */
static void handle_sample(struct import_feed *f, const struct import_event *ev,
			  const struct import_stack *stack)
{
	if (ev->tid <= 0 || !begun(f) || !import_samples_take(&f->samples, ev, stack))
		return;
	put_sample(f, &(struct import_sample) { .time_ns = ev->time_ns,
						.cpu = (uint32_t)ev->cpu,
						.tid = (uint32_t)ev->tid,
						.kstack = stack->kstack,
						.ustack = stack->ustack });
}

/* The blocks of a CPU may have any order: these begin a new one. */
static void put_held_samples(struct import_feed *f)
{
	for (size_t i = 0; i < f->samples.n_held; i++)
		if (import_samples_count(&f->samples, &f->samples.held[i]))
			put_sample(f, &f->samples.held[i]);
}

static void handle_off_cpu(struct import_feed *f, const struct import_event *ev,
			   const struct import_stack *stack)
{
	f->report->off_cpu++;
	if (ev->tid <= 0)
		return;
	/* Its time says nothing, so that the name is not one from then on. */
	guess_name(f, (uint32_t)ev->tid, ev->comm);
	import_samples_off_cpu(&f->samples, ev, stack);
}

/* One after the other: the order of samples of one thread does not matter. */
static int by_thread(const void *a, const void *b)
{
	const struct import_sample *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/*
 * Without switches, samples of off-CPU time are waits that nobody is known to have ended. When they
 * were is not known: each thread has them one after the other, and exists as long.
 */
static void put_off_cpu_waits(struct import_feed *f)
{
	struct import_event ev = { .cpu = 0 };
	struct import_sample *all = f->samples.off_cpu;
	size_t n = f->samples.n_off_cpu;

	qsort(all, n, sizeof(*all), by_thread);
	for (size_t i = 0; i < n; i++) {
		bool is_last = i + 1 == n || all[i + 1].tid != all[i].tid;

		if (all[i].off_cpu_ns > INT64_MAX - ev.time_ns)
			break;
		ev.a.tid = all[i].tid;
		put(f, &ev,
		    (struct event) { .kind = CHAINLOG_SWITCH,
				     .tid = ev.a.tid,
				     .state = 'S',
				     .kstack = all[i].kstack,
				     .ustack = all[i].ustack });
		ev.time_ns += all[i].off_cpu_ns;
		woken_somehow(f, &ev);
		put(f, &ev,
		    (struct event) { .kind = CHAINLOG_SWITCH, .state = 'R', .other = ev.a.tid });
		if (is_last)
			put(f, &ev,
			    (struct event) {
				    .kind = CHAINLOG_SWITCH, .tid = ev.a.tid, .state = 'X' });
	}
	f->last_ns = ev.time_ns;
}

/* A thread that is being woken gets its CPU right after its waking, on the same CPU as that. */
static void handle_migrate(struct import_feed *f, const struct import_cpu *c,
			   const struct import_event *ev)
{
	if (!f->migrations && f->n_lost)
		put_lost_queues(f, f->n_lost, f->first_lost_ns, f->last_lost_ns);
	f->migrations = true;
	if (ev->a.tid && begun(f))
		put(f, ev,
		    (struct event) { .kind = EVENT_QUEUE,
				     .tid = ev->a.tid,
				     .queue.place = (uint64_t)(uint32_t)ev->n << 1 |
						    (c->woke == ev->a.tid) });
}

static void handle_exec(struct import_feed *f, const struct import_event *ev)
{
	put(f, ev,
	    (struct event) { .kind = CHAINLOG_EXEC,
			     .tid = ev->a.tid,
			     .other = ev->b.tid,
			     .string = string_id(f, ev->a.name) });
}

int import_feed_event(struct import_feed *f, struct import_event *ev,
		      const struct import_stack *stack)
{
	struct import_cpu *c = cpu_of(f, (uint32_t)ev->cpu);
	bool timed = !untimed(ev);
	int err = 0;

	if (timed)
		err = settle_time(f, c, ev);
	if (err)
		return err;
	f->report->micro |= ev->micro;
	if (timed)
		put_pending_loss(f, ev->time_ns);
	switch (ev->kind) {
	case IMPORT_SWITCH:
		handle_switch(f, c, ev, stack);
		break;
	case IMPORT_WAKING:
	case IMPORT_WAKEUP:
	case IMPORT_WAKEUP_NEW:
		handle_waking(f, c, ev, stack);
		break;
	case IMPORT_FORK:
		handle_fork(f, ev);
		break;
	case IMPORT_RENAME:
		handle_rename(f, ev);
		break;
	case IMPORT_EXEC:
		if (begun(f))
			handle_exec(f, ev);
		break;
	case IMPORT_EXIT:
		if (begun(f))
			put(f, ev, (struct event) { .kind = CHAINLOG_EXIT, .tid = ev->a.tid });
		break;
	case IMPORT_SAMPLE:
		handle_sample(f, ev, stack);
		break;
	case IMPORT_OFF_CPU:
		handle_off_cpu(f, ev, stack);
		break;
	case IMPORT_MIGRATE:
		handle_migrate(f, c, ev);
		break;
	case IMPORT_LOST:
		handle_lost(f, c, ev);
		break;
	default:
		f->report->other_events++;
		break;
	}
	c->woke = ev->kind == IMPORT_WAKING ? ev->a.tid : 0;
	if (!timed)
		return 0;
	c->last_ns = ev->time_ns;
	if (!f->first_ns || f->first_ns > ev->time_ns)
		f->first_ns = ev->time_ns;
	if (f->last_ns < ev->time_ns)
		f->last_ns = ev->time_ns;
	return 0;
}

/*
 * Of a recording of some threads, which has no switch to them: when their last sleeps ended is not
 * known, nor whether they did. A switch that contradicts them says so.
 */
static void end_last_sleeps(struct import_feed *f)
{
	struct import_event ev = { .time_ns = f->last_ns };

	for (uint32_t id = 1; id <= f->tids.n; id++)
		if (f->threads[id].recorded && f->threads[id].is_off)
			put(f, &ev,
			    (struct event) { .kind = CHAINLOG_SWITCH,
					     .tid = f->tids.at[id].a,
					     .state = 'S' });
}

/* An option of perf record that says whose events are recorded: 'a' of all, 't' of some. */
static char record_option(struct import_name arg, bool *takes_next)
{
	static const struct {
		const char *name;
		char whose;
	} options[] = { { "--all-cpus", 'a' },
			{ "--cpu", 'a' },
			{ "--pid", 't' },
			{ "--tid", 't' },
			{ "--uid", 't' } };

	*takes_next = false;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t len = strlen(options[i].name);

		if (arg.len >= len && !memcmp(arg.p, options[i].name, len) &&
		    (arg.len == len || arg.p[len] == '='))
			return options[i].whose;
	}
	if (arg.len >= 2 && arg.p[1] == '-') {
		*takes_next = !memchr(arg.p, '=', arg.len); /* or none: then two words follow */
		return 0;
	}
	for (size_t i = 1; i < arg.len; i++) {
		if (arg.p[i] == 'a' || arg.p[i] == 'C')
			return 'a';
		if (arg.p[i] == 'p' || arg.p[i] == 't' || arg.p[i] == 'u')
			return 't';
		/* Those with a value: the rest, or the next argument. */
		if (strchr("ecFomjkrGDIS", arg.p[i])) {
			*takes_next = i + 1 == arg.len;
			return 0;
		}
	}
	return 0;
}

void import_feed_command(struct import_feed *f, const struct import_name *arguments, size_t n)
{
	bool takes_next;
	char whose;

	if (n < 2 || arguments[1].len != 6 || memcmp(arguments[1].p, "record", 6) != 0)
		return;
	for (size_t i = 2; i < n; i++) {
		whose = record_option(arguments[i], &takes_next);
		/* A command: what it starts is recorded. */
		if (!arguments[i].len || arguments[i].p[0] != '-' ||
		    (arguments[i].len == 2 && arguments[i].p[1] == '-'))
			whose = 't';
		if (whose) {
			f->per_task = whose == 't';
			return;
		}
		i += takes_next && i + 1 < n && arguments[i + 1].len &&
		     arguments[i + 1].p[0] != '-';
	}
}

/*
 * True for a recording of some threads whose command line is not known: each switch is one of
 * theirs, and the idle thread is none of them.
 */
static bool looks_per_task(const struct import_feed *f)
{
	const struct import_report *r = f->report;

	return r->switches >= 16 && !f->idle_switches && r->missing_switches * 2 > r->switches;
}

void import_feed_end(struct import_feed *f)
{
	struct import_report *r = f->report;

	r->wakeups = f->wakeups && !r->wakings;
	if (r->wakeups)
		r->wakings = f->wakeups;
	r->other_ids = !ids_agree(f);
	r->per_task = f->per_task || looks_per_task(f);
	if (f->per_task)
		end_last_sleeps(f);
	/* What was taken of others is wrong, and cannot be taken back. */
	if (r->per_task && !f->per_task)
		put_loss(f, -1, 1, f->first_ns, f->last_ns + 1);
	put_pending_loss(f, f->last_ns);
	put_early_losses(f);
	put_held_samples(f);
	r->only_off_cpu = f->samples.n_off_cpu && !r->switches;
	if (r->only_off_cpu)
		put_off_cpu_waits(f);
	list_threads(f);
}

void import_feed_free(struct import_feed *f)
{
	pairs_free(&f->tids);
	free(f->threads);
	free(f->cpus);
	free(f->early);
	import_samples_free(&f->samples);
}
