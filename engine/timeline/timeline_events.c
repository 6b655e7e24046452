// SPDX-License-Identifier: GPL-2.0-or-later
/* What each event says: turns it into calls of those that keep states, waits, names and the rest.
 */

#include "common/xalloc.h"
#include "timeline_private.h"

/*
 * The thread that acts on a CPU under a tid. When a thread that does not lead its process calls
 * exec, the kernel gives it the leader's tid (de_thread()), well before the exec event.
 */
static uint32_t acting(struct builder *b, const struct event *ev, uint32_t tid)
{
	struct cpu *c = state_cpu(b, ev->cpu);
	uint32_t i;

	/* Nearly always the thread that is known to run there. */
	if (c->runs == CPU_THREAD && b->tl->threads[c->thread].tid == tid)
		return c->thread;
	i = table_find(b, tid);
	if (c->runs == CPU_THREAD && (i == THREAD_NONE || b->live[i].state == LIVE_DEAD) &&
	    b->tl->threads[c->thread].tgid == tid && b->tl->threads[c->thread].tid != tid)
		table_retid(b, c->thread, tid);
	return table_get(b, tid, ev->time_ns);
}

/* Notes that the thread with tid runs on the event's CPU. Returns it, or THREAD_IDLE. */
static uint32_t acts(struct builder *b, const struct event *ev, uint32_t tid)
{
	uint32_t i;

	if (!tid) {
		state_idles(b, ev->cpu, ev->time_ns);
		return THREAD_IDLE;
	}
	i = acting(b, ev, tid);
	if (i != THREAD_NONE)
		state_acts(b, ev->cpu, i, ev->time_ns);
	return i;
}

static void handle_lost(struct builder *b, const struct event *ev)
{
	state_lost(b, ev->cpu, ev->time_ns, ev->lost.last_ns);
	stolen_time_lost(b->tl->interrupts, ev->cpu, ev->lost.last_ns);
	stolen_time_lost(b->tl->steal, ev->cpu, ev->lost.last_ns);
	/* Losses by damage are of all kinds of events. */
	if (trace_damage(b->tl->trace)->what) {
		requests_lost(&b->tl->requests, ev->lost.last_ns);
		requests_hidden(&b->tl->requests, ev->lost.last_ns);
		contexts_lost(&b->tl->requests.contexts, ev->lost.last_ns);
		groups_lost(&b->tl->groups, ev->time_ns, ev->lost.last_ns);
	}
}

/* Tells those that sum up interrupts and steal that prev has run, since its last interval's end. */
static void note_ran(struct builder *b, const struct event *ev, uint32_t prev)
{
	const struct thread *th = prev < THREAD_IDLE ? &b->tl->threads[prev] : NULL;
	uint64_t ran_from_ns = ev->time_ns;

	if (!b->tl->interrupts && !b->tl->steal)
		return;
	if (th && !(th->flags & THREAD_RECORDER))
		ran_from_ns = th->n_waits ? th->waits[th->n_waits - 1].in_ns : th->begin_ns;
	stolen_time_switch(b->tl->interrupts, ev->cpu, prev, ran_from_ns, ev->time_ns);
	stolen_time_switch(b->tl->steal, ev->cpu, prev, ran_from_ns, ev->time_ns);
}

static void handle_switch(struct builder *b, const struct event *ev)
{
	uint32_t prev = ev->tid ? acting(b, ev, ev->tid) : THREAD_IDLE;
	struct cpu *c = state_cpu(b, ev->cpu);
	uint32_t next;

	cpu_switches(c, ev->time_ns);
	if (!ev->tid)
		state_idles(b, ev->cpu, ev->time_ns);
	else if (prev != THREAD_NONE)
		state_switch_out(b, ev->cpu, prev, ev->time_ns, ev->state, ev->pair);
	note_ran(b, ev, prev);
	if (!ev->other) {
		state_idles(b, ev->cpu, ev->time_ns);
		return;
	}
	next = table_get(b, ev->other, ev->time_ns);
	if (next != THREAD_NONE)
		state_switch_in(b, ev->cpu, next, ev->time_ns);
}

static void handle_waking(struct builder *b, const struct event *ev)
{
	uint32_t waker = ev->flags & CHAINLOG_F_NO_WAKER ? THREAD_IDLE : acts(b, ev, ev->tid);
	bool is_new = ev->kind == EVENT_WAKING_NEW;
	uint32_t wakee;

	if (!ev->other || waker == THREAD_NONE)
		return;
	if (waker < THREAD_IDLE)
		b->live[waker].woke = true;
	wakee = table_find(b, ev->other);
	if (is_new && (wakee == THREAD_NONE || !b->live[wakee].unborn)) {
		/* Its fork was not recorded, nor the end of the thread that had the tid. */
		if (wakee != THREAD_NONE)
			state_vanished(b, wakee, ev->time_ns);
		wakee = table_birth(b, ev->other, ev->time_ns);
		if (wakee != THREAD_NONE)
			b->live[wakee].unborn = true;
	} else {
		wakee = table_get(b, ev->other, ev->time_ns);
	}
	if (wakee == THREAD_NONE)
		return;
	if (ev->flags & CHAINLOG_F_NO_WAKER)
		state_woken_somehow(b, wakee, ev->time_ns);
	else
		state_waking(b, wakee, ev, waker);
}

static void handle_fork(struct builder *b, const struct event *ev)
{
	uint32_t parent = acts(b, ev, ev->tid);
	uint32_t child = ev->other ? table_find(b, ev->other) : THREAD_NONE;

	if (!ev->other)
		return;
	if (child != THREAD_NONE)
		state_vanished(b, child, ev->time_ns);
	build_child(b, ev, parent);
}

uint32_t build_child(struct builder *b, const struct event *ev, uint32_t parent)
{
	uint32_t child = table_birth(b, ev->other, ev->time_ns);

	if (child == THREAD_NONE)
		return child;
	b->live[child].unborn = true;
	if (parent < THREAD_IDLE)
		b->tl->threads[child].parent = parent;
	if (ev->tgid)
		b->tl->threads[child].tgid = ev->tgid;
	if (ev->string)
		b->tl->threads[child].name = ev->string;
	if (parent < THREAD_IDLE && b->tl->threads[parent].flags & THREAD_KTHREAD)
		b->tl->threads[child].flags |= THREAD_KTHREAD;
	if (b->tl->threads[child].tgid == trace_info(b->tl->trace)->recorder_tgid && ev->tgid)
		b->tl->threads[child].flags |= THREAD_RECORDER;
	if (parent < THREAD_IDLE) {
		groups_inherit(&b->tl->groups, child, ev->time_ns, parent,
			       b->tl->threads[parent].tgid);
	}
	return child;
}

/*
 * Whether the event is that with which the recorder's child becomes the command: nothing was
 * recorded of it before. Older traces have it asleep until then.
 */
static bool begins_command(const struct builder *b, const struct event *ev)
{
	uint32_t i = table_find(b, ev->tid);

	return i != THREAD_NONE && ev->tid == trace_info(b->tl->trace)->command_tgid &&
	       b->live[i].fresh && b->live[i].state == LIVE_UNKNOWN && !b->n_losses;
}

static void handle_exec(struct builder *b, const struct event *ev)
{
	uint32_t caller =
		ev->other && ev->other != ev->tid ? table_find(b, ev->other) : THREAD_NONE;
	uint32_t i;

	if (!ev->tid)
		return;
	if (caller != THREAD_NONE && b->live[caller].state != LIVE_DEAD) {
		i = table_find(b, ev->tid);
		if (i != THREAD_NONE) {
			state_vanished(b, i, ev->time_ns);
			b->tl->threads[caller].own_id = b->tl->threads[i].own_id;
		}
		table_retid(b, caller, ev->tid);
	}
	if (begins_command(b, ev)) {
		i = table_find(b, ev->tid);
		b->tl->threads[i].begin_ns = b->live[i].since_ns = ev->time_ns;
	}
	i = acts(b, ev, ev->tid);
	if (i < THREAD_IDLE)
		build_exec(b, i, ev->string);
}

void build_exec(struct builder *b, uint32_t thread, uint32_t program)
{
	b->tl->threads[thread].flags &= ~(uint32_t)THREAD_KTHREAD;
	b->tl->threads[thread].program = program;
	contexts_forget(&b->tl->requests.contexts, thread);
}

static void handle_exit(struct builder *b, const struct event *ev)
{
	uint32_t i = acts(b, ev, ev->tid);

	if (i < THREAD_IDLE)
		b->live[i].exiting = true;
}

/* Keeps a sample. It changes no timeline: these follow from switches and wakings alone. */
static void handle_sample(struct builder *b, const struct event *ev)
{
	struct sample s = { ev->time_ns, ev->pair, table_find(b, ev->tid), ev->cpu };
	struct samples *to = &b->tl->samples;

	if (s.thread == THREAD_NONE || !ev->tid)
		return;
	b->live[s.thread].stirred = true;
	to->any = true;
	XAPPEND(to->at, to->n, to->cap) = s;
}

static void handle_disk_done(struct builder *b, const struct event *ev)
{
	unsigned int op = (unsigned int)(ev->disk_done.what & 7);
	uint64_t bytes = ev->disk_done.what >> 3;
	uint32_t thread = ev->tid ? table_find(b, ev->tid) : THREAD_NONE;
	const struct trace_object *group = trace_object(b->tl->trace, ev->disk_done.group);
	struct disk_request done = {
		.asked_ns = ev->disk_done.asked_ns,
		.issued_ns = ev->disk_done.issued_ns,
		.done_ns = ev->time_ns,
		.thread = thread,
		.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
		.group = group ? group->name : 0,
	};
	struct disk_request_kind kind = { .disk = ev->disk_done.disk,
					  .op = op < CHAINLOG_DISK_OPS ? op : CHAINLOG_DISK_OTHER };

	disk_requests_done(&b->tl->disk_requests, ev->tid, &done, kind);
}

/* A thread by its tid, for requests. */
static uint32_t known_thread(const struct builder *b, uint32_t tid)
{
	return tid ? table_find(b, tid) : THREAD_NONE;
}

static void handle_request(struct builder *b, const struct event *ev)
{
	uint32_t thread = known_thread(b, ev->tid);
	bool is_open = ev->kind == EVENT_REQUEST_OPEN;

	requests_event(&b->tl->requests, ev, is_open ? THREAD_NONE : thread,
		       is_open ? thread : known_thread(b, ev->other));
}

/* How far a connection was when its data woke a thread, or when a request was answered there. */
static void handle_stream(struct builder *b, uint32_t thread, const struct event *ev)
{
	struct streams *to = &b->tl->streams;

	if (ev->stream.object)
		requests_stream(&b->tl->requests, ev, thread);
	else
		XAPPEND(to->at, to->n, to->cap) =
			(struct stream_point) { ev->time_ns, thread, (uint32_t)ev->stream.written,
						(uint32_t)ev->stream.received };
}

/* What a worker executes. */
static void handle_work(struct builder *b, uint32_t worker, const struct event *ev)
{
	struct work_events *to = &b->tl->work;

	XAPPEND(to->at, to->n, to->cap) = (struct work_event) {
		.at_ns = ev->time_ns,
		.since_ns = ev->work.queued_ns,
		.worker = worker,
		.queuer = ev->other ? table_find(b, ev->other) : THREAD_IDLE,
		.pair = ev->pair,
		.what = ev->work.what == CHAINLOG_WORK_NONE	? WORK_NONE
			: ev->work.what == CHAINLOG_WORK_QUEUED ? WORK_QUEUED
								: WORK_UNKNOWN,
	};
}

static void lose_work(struct builder *b, const struct event *ev)
{
	struct work_events *to = &b->tl->work;

	XAPPEND(to->at, to->n, to->cap) =
		(struct work_event) { ev->time_ns, ev->lost.last_ns, THREAD_NONE, THREAD_NONE,
				      0,	   WORK_LOST };
}

static void handle_steal(struct builder *b, const struct event *ev)
{
	stolen_time_add(b->tl->steal, ev->cpu, ev->time_ns, ev->stolen.ns);
	if (ev->stolen.ns <= UINT64_MAX - b->tl->steal_ns)
		b->tl->steal_ns += ev->stolen.ns;
}

/* It came on the CPU by a switch, whatever the event says (chain-semantics, section 8). */
static void handle_recorder(struct builder *b, const struct event *ev)
{
	struct cpu *c = state_cpu(b, ev->cpu);
	uint64_t since_ns = cpu_switch_before(c, ev->time_ns), had_ns;

	if (since_ns < b->tl->start_ns)
		since_ns = b->tl->start_ns;
	had_ns = ev->time_ns - since_ns < ev->stolen.ns ? ev->time_ns - since_ns : ev->stolen.ns;
	cpu_switches(c, ev->time_ns);
	cpus_recorder(b->tl->cpus, ev->cpu, ev->time_ns - had_ns, ev->time_ns);
	b->tl->recorder_ns += had_ns;
}

/* A thread, or its whole process, is in another group; or a group has another name. */
static void handle_group(struct builder *b, const struct event *ev)
{
	uint32_t i = table_find(b, ev->tid), tgid;
	struct groups *g = &b->tl->groups;
	const struct trace *t = b->tl->trace;

	if (!ev->tid) {
		groups_rename(g, t, ev->time_ns, ev->group.object);
		return;
	}
	if (i == THREAD_NONE)
		return;
	tgid = b->tl->threads[i].tgid;
	if (ev->group.process && tgid)
		groups_process(g, t, tgid, ev->time_ns, ev->group.object);
	/* Its own comes last, in case that it has another one of the same time. */
	groups_thread(g, t, i, ev->time_ns, ev->group.object);
}

static void handle_unthrottled(struct builder *b, uint32_t thread, const struct event *ev)
{
	const struct trace_object *group = trace_object(b->tl->trace, ev->unthrottled.group);
	uint64_t why = ev->unthrottled.why;
	struct throttles *to = &b->tl->throttles;

	XAPPEND(to->at, to->n, to->cap) =
		(struct throttle) { ev->unthrottled.since_ns, ev->unthrottled.until_ns, thread,
				    group ? group->name : 0,
				    (uint32_t)(why < CHAINLOG_QUOTAS ? why : CHAINLOG_QUOTAS) };
}

static void handle_wait_stacks(struct builder *b, uint32_t thread, const struct event *ev)
{
	XAPPEND(b->slept, b->n_slept, b->cap_slept) =
		(struct slept_note) { ev->time_ns, thread, ev->pair };
}

static void handle_aux_lost(struct builder *b, const struct event *ev)
{
	uint64_t last_ns = ev->lost.last_ns;

	switch (ev->other) {
	case CHAINLOG_QUEUE:
		cpus_lost(b->tl->cpus, ev->time_ns, last_ns);
		break;
	case CHAINLOG_REQUEST_MORE:
		requests_lost(&b->tl->requests, last_ns);
		break;
	case CHAINLOG_REQUEST:
		requests_hidden(&b->tl->requests, last_ns);
		break;
	case CHAINLOG_CONTEXT:
		contexts_lost(&b->tl->requests.contexts, last_ns);
		break;
	case CHAINLOG_GROUP:
		groups_lost(&b->tl->groups, ev->time_ns, last_ns);
		break;
	case CHAINLOG_WORK:
		lose_work(b, ev);
		break;
	default:
		break;
	}
}

/* Events of a thread that is known: i. */
static void handle_threads_aux(struct builder *b, uint32_t i, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_CONTEXT:
		contexts_event(&b->tl->requests.contexts, i, ev);
		break;
	case EVENT_STREAM:
		handle_stream(b, i, ev);
		break;
	case EVENT_WORK:
		handle_work(b, i, ev);
		break;
	case EVENT_WAIT_STACKS:
		handle_wait_stacks(b, i, ev);
		break;
	case EVENT_QUEUE:
		state_queued(b, i, ev->time_ns,
			     ev->queue.place / 2 < TRACE_CPU_LIMIT ? (uint32_t)(ev->queue.place / 2)
								   : CPU_NONE,
			     ev->queue.place & 1);
		break;
	case EVENT_THROTTLED:
		state_throttled(b, i);
		break;
	case EVENT_UNTHROTTLED:
		handle_unthrottled(b, i, ev);
		break;
	case EVENT_TCP_TIMER:
		if (!ev->tcp_timer.which || ev->tcp_timer.which >= CHAINLOG_TCP_TIMERS)
			break; /* of a later version */
		state_ready(b, i, ev);
		break;
	case EVENT_READY:
	case EVENT_NOT_SENT:
		state_ready(b, i, ev);
		break;
	case EVENT_OWN_ID:
		b->tl->threads[i].own_id = ev->other;
		break;
	case EVENT_HOLDER:
		state_held(b, i, ev->time_ns, table_find(b, ev->other));
		break;
	default:
		break;
	}
}

/* Whether an event of a thread, or one for it, is possible only if it is awake by then. */
static bool tells_of_waking(unsigned int kind)
{
	switch (kind) {
	case EVENT_AUX_LOST:
	case EVENT_INTERRUPTS:
	case EVENT_STEAL:
	case EVENT_RECORDER:
	case EVENT_REQUEST_OPEN:
	case EVENT_GROUP:
	case EVENT_OWN_ID:
	case EVENT_WAIT_STACKS:
		return false;
	default:
		return true;
	}
}

/*
 * The other kinds of AUX_EVENTS. Those about a thread that is not known yet have no effect, but for
 * what it asks a disk: the stack says for whom.
 */
static void handle_aux(struct builder *b, const struct event *ev)
{
	uint32_t i = table_find(b, ev->tid);

	if (i != THREAD_NONE && tells_of_waking(ev->kind))
		b->live[i].stirred = true;
	switch (ev->kind) {
	case EVENT_AUX_LOST:
		handle_aux_lost(b, ev);
		break;
	case EVENT_REQUEST:
	case EVENT_REQUEST_MORE:
	case EVENT_REQUEST_OPEN:
		handle_request(b, ev);
		break;
	case EVENT_DISK_REQUEST:
		if (ev->tid)
			disk_requests_ask(&b->tl->disk_requests, ev->tid, ev->time_ns, i, ev->pair);
		break;
	case EVENT_DISK_DONE:
		handle_disk_done(b, ev);
		break;
	case EVENT_INTERRUPTS:
		stolen_time_add(b->tl->interrupts, ev->cpu, ev->time_ns, ev->stolen.ns);
		break;
	case EVENT_STEAL:
		handle_steal(b, ev);
		break;
	case EVENT_RECORDER:
		handle_recorder(b, ev);
		break;
	case EVENT_GROUP:
		handle_group(b, ev);
		break;
	default:
		if (i != THREAD_NONE)
			handle_threads_aux(b, i, ev);
		break;
	}
}

static void handle_object(struct builder *b, const struct event *ev)
{
	uint32_t thread = ev->pair ? table_find(b, ev->tid) : THREAD_NONE;

	if (thread != THREAD_NONE)
		state_waits_for(b, thread, ev);
}

void build_event(struct builder *b, const struct event *ev)
{
	uint32_t i;

	switch (ev->kind) {
	case EVENT_SWITCH:
		handle_switch(b, ev);
		break;
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		handle_waking(b, ev);
		break;
	case EVENT_FORK:
		handle_fork(b, ev);
		break;
	case EVENT_EXEC:
		handle_exec(b, ev);
		break;
	case EVENT_RENAME:
		/* The event does not show that the thread runs: another may have renamed it. */
		i = ev->tid ? acting(b, ev, ev->tid) : THREAD_NONE;
		if (i != THREAD_NONE)
			table_rename(b, i, ev->string, ev->time_ns);
		break;
	case EVENT_EXIT:
		handle_exit(b, ev);
		break;
	case EVENT_SAMPLE:
		handle_sample(b, ev);
		break;
	case EVENT_WAITS_FOR:
		handle_object(b, ev);
		break;
	case EVENT_LOST:
		handle_lost(b, ev);
		break;
	default:
		handle_aux(b, ev);
		break;
	}
}

#define STALL_MIN_NS 100000000u

/* Notes each time without any event, or loss, that may be a stall. */
static void note_stall(struct stalls *s, const struct event *ev)
{
	bool lost = ev->kind == EVENT_LOST || ev->kind == EVENT_AUX_LOST;
	uint64_t until_ns = lost ? ev->lost.last_ns : ev->time_ns;

	if (s->seen_ns && ev->time_ns > s->seen_ns && ev->time_ns - s->seen_ns >= STALL_MIN_NS)
		XAPPEND(s->at, s->n, s->cap) = (struct stall) { s->seen_ns, ev->time_ns };
	if (s->seen_ns < until_ns)
		s->seen_ns = until_ns;
}

static void build_next(struct builder *b, const struct event *ev)
{
	untraced_event(&b->tl->untraced, ev);
	if (b->tl->cpus)
		note_stall(&b->tl->stalls, ev);
	if (b->tl->end_ns < ev->time_ns)
		b->tl->end_ns = ev->time_ns;
	build_event(b, ev);
}

void build_window(struct builder *b, const struct event *first)
{
	for (const struct event *ev = first; ev; ev = trace_cursor_take(b->cursor))
		build_next(b, ev);
}

void build_stream(struct builder *b, struct event_stream *events, const struct event *first)
{
	for (const struct event *ev = first; ev; ev = event_stream_next(events))
		build_next(b, ev);
}
