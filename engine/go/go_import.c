// SPDX-License-Identifier: GPL-2.0-or-later
#include "go_import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "common/intern.h"
#include "import/import_output.h"

/* The main goroutine: its number is the process's. */
#define MAIN_GOROUTINE 1u
/* Times of hostile traces are cut here. */
#define LAST_NS ((uint64_t)1 << 62)

enum state {
	UNKNOWN,
	RUNNABLE,
	RUNNING,
	WAITING,
	DEAD,
};

struct goroutine {
	uint32_t tid;
	uint32_t name;	  /* string id */
	uint64_t born_ns; /* 0: before the trace */
	uint32_t cpu;	  /* while it runs */
	uint32_t call;	  /* the stack of the system call that it is in */
	uint8_t state, reason;
	bool waited; /* when the trace began */
	uint32_t stack;
};

/* What ends waits without a goroutine: Go's runtime, by these functions. */
enum waker {
	WAKER_TIMER,
	WAKER_NETWORK,
	WAKER_CALL, /* the end of the system call */
	WAKER_OTHER,
	WAKERS,
};

struct go_import {
	struct go_trace t;
	struct import_output out;
	struct import_report *report;
	struct goroutine *gs; /* by id */
	uint32_t *running;    /* goroutine, by CPU */
	uint32_t n_cpus;
	uint32_t *ustacks; /* by id of a stack */
	struct intern frames;
	uint32_t *frame_ids;
	size_t cap_frames;
	struct pairs modules; /* (string id, 0) */
	uint32_t objects[GO_REASONS];
	uint32_t kstacks[WAKERS];
	uint32_t space; /* of all goroutines */
	bool dense; /* goroutines have numbers that no thread can have: they are numbered anew */
	bool samples;
	uint64_t now_ns;
	uint32_t now_cpu;
};

/* ---- times ---------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct go_event *x = *(const struct go_event *const *)a;
	const struct go_event *y = *(const struct go_event *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Ticks become ns, which do not go back, but for samples, which are written later. */
static void settle_times(struct go_import *m)
{
	struct go_trace *t = &m->t;
	bool is_monotonic =
		t->minor >= GO_THREADS_MINOR; /* ticks of CLOCK_MONOTONIC, from its own zero */
	uint64_t zero = is_monotonic || !t->n_events ? 0 : t->events[0].time, last = 0;

	for (size_t i = 0; i < t->n_events; i++) {
		struct go_event *ev = &t->events[i];
		uint64_t *of[] = { &ev->time, &ev->exit };

		for (size_t k = 0; k < 2; k++) {
			unsigned __int128 ns = *of[k] > zero ? *of[k] - zero : 0;

			ns = ns * 1000000000u / t->frequency + 1;
			*of[k] = *of[k] ? (uint64_t)(ns < LAST_NS ? ns : LAST_NS) : 0;
		}
		if (ev->kind == GO_SAMPLE)
			continue;
		if (ev->time < last) {
			m->report->times_back++;
			ev->time = last;
		}
		last = ev->time;
	}
}

/*
 * A system call that took long is one wait, from its begin, when it still had its P, to its end,
 * which is before it gets a P again and says so.
 */
static void settle_calls(struct go_import *m)
{
	uint64_t *begun = xcalloc((size_t)m->t.goroutines.n + 1, sizeof(*begun));

	for (size_t i = 0; i < m->t.n_events; i++) {
		struct go_event *ev = &m->t.events[i];

		if (ev->kind == GO_SYSCALL || ev->kind == GO_START)
			begun[ev->g] = ev->time;
		else if (ev->kind == GO_SYSBLOCK && m->t.minor < GO_THREADS_MINOR)
			ev->time = begun[ev->g];
		else if (ev->kind == GO_SYSEXIT && ev->exit && ev->exit < ev->time)
			ev->time = ev->exit > begun[ev->other] ? ev->exit : begun[ev->other];
	}
	free(begun);
}

/* ---- definitions ---------------------------------------------------------------------------- */

static uint32_t string_id(struct go_import *m, uint32_t id)
{
	const struct go_text *s = id < m->t.cap_text ? &m->t.text[id] : NULL;

	return id && s && s->len ? encoder_string(m->out.enc, (const char *)s->p, s->len) : 0;
}

static uint32_t module_id(struct go_import *m, uint32_t path)
{
	int is_new;
	uint32_t id = path ? pairs_id_new(&m->modules, path, 0, &is_new) : 0;

	/* They are numbered alike here and in the trace. */
	return id && is_new ? encoder_module(m->out.enc, path, NULL, 0) : id;
}

/* A frame of a function, at a line: by these, as inlined ones have the address of their caller. */
static uint32_t frame_id(struct go_import *m, const struct go_frame *f)
{
	const uint32_t key[] = { string_id(m, f->function), string_id(m, f->file), f->line };
	bool is_new;
	uint32_t id = xintern(&m->frames, key, sizeof(key), &is_new);

	XGROW(m->frame_ids, id, m->cap_frames);
	if (is_new) {
		m->frame_ids[id] = encoder_new_frame(m->out.enc, m->space, CHAINLOG_CODE_TAG | id);
		encoder_name(m->out.enc, m->frame_ids[id], key[0], module_id(m, key[1]), f->line);
	}
	return m->frame_ids[id];
}

static const struct go_stack *stack_of(const struct go_import *m, uint32_t id)
{
	return id && id < m->t.cap_stack && m->t.stack[id].n ? &m->t.stack[id] : NULL;
}

/* Goroutines that were there before may have no other name than the root of a stack of theirs. */
static void name_by_root(struct go_import *m, struct goroutine *g, uint32_t stack)
{
	const struct go_stack *s = stack_of(m, stack);

	if (!g->name && s)
		g->name = string_id(m, m->t.frames[s->first + s->n - 1].function);
}

/* 0: none. */
static uint32_t ustack_id(struct go_import *m, uint32_t id)
{
	const struct go_stack *s = stack_of(m, id);
	uint32_t frames[CHAINLOG_STACK_MAX], n = 0;

	if (!s)
		return 0;
	if (m->ustacks[id])
		return m->ustacks[id];
	for (; n < s->n && n < CHAINLOG_STACK_MAX; n++)
		frames[n] = frame_id(m, &m->t.frames[s->first + n]);
	m->ustacks[id] = encoder_stack(m->out.enc, frames, n,
				       n < s->n ? ENCODER_STACK_CUT : CHAINLOG_STACK_UNKNOWN);
	return m->ustacks[id];
}

/* The function that a goroutine begins with. */
static uint32_t start_name(struct go_import *m, uint32_t stack)
{
	const struct go_stack *s = stack_of(m, stack);

	return s ? string_id(m, m->t.frames[s->first].function) : 0;
}

static uint32_t object_id(struct go_import *m, enum go_reason reason)
{
	static const char *const classes[GO_REASONS] = {
		[GO_REASON_SEND] = "chan send",	    [GO_REASON_RECEIVE] = "chan receive",
		[GO_REASON_SELECT] = "chan select", [GO_REASON_SYNC] = "sync",
		[GO_REASON_COND] = "sync.Cond",	    [GO_REASON_NETWORK] = "IO wait",
		[GO_REASON_SLEEP] = "sleep",	    [GO_REASON_GC] = "GC",
		[GO_REASON_SYSCALL] = "syscall",
	};

	if (!m->objects[reason] && classes[reason])
		m->objects[reason] = encoder_object(
			m->out.enc, &(struct encoder_object) {
					    .class = classes[reason], .name = "", .own = "" });
	return m->objects[reason];
}

/* As a kernel stack: a wakeup without a thread is an interrupt, of which its functions tell more.
 */
static uint32_t kstack_id(struct go_import *m, enum waker waker)
{
	static const char *const functions[WAKERS] = {
		[WAKER_TIMER] = "runtime.runtimer",
		[WAKER_NETWORK] = "runtime.netpoll",
		[WAKER_CALL] = "runtime.exitsyscall",
		[WAKER_OTHER] = "runtime.ready",
	};
	uint32_t frame;

	if (!m->kstacks[waker]) {
		frame = encoder_frame(m->out.enc, 0, (uint64_t)waker + 1);
		encoder_name(m->out.enc, frame, encoder_text(m->out.enc, functions[waker]), 0, 0);
		m->kstacks[waker] = encoder_stack(m->out.enc, &frame, 1, CHAINLOG_STACK_UNKNOWN);
	}
	return m->kstacks[waker];
}

/* ---- events --------------------------------------------------------------------------------- */

/* The encoder keeps its errors. */
static void put(struct go_import *m, struct event ev)
{
	ev.time_ns = m->now_ns;
	ev.cpu = m->now_cpu;
	(void)encoder_event(m->out.enc, &ev);
}

static void put_switch(struct go_import *m, uint32_t from, char state, uint32_t to, uint32_t ustack)
{
	put(m, (struct event) { .kind = CHAINLOG_SWITCH,
				.tid = from,
				.state = state,
				.other = to,
				.ustack = ustack });
	m->report->switches++;
}

/* The event is not one that can follow. */
static void put_contradiction(struct go_import *m)
{
	m->report->missing_switches++;
	(void)encoder_lost(m->out.enc, -1, 1, m->now_ns, m->now_ns);
}

static void begin_goroutine(struct go_import *m, const struct go_event *ev, bool is_born)
{
	struct goroutine *g = &m->gs[ev->other];

	if (g->state != UNKNOWN)
		return;
	g->state = RUNNABLE;
	g->name = start_name(m, ev->start);
	if (!is_born)
		return;
	g->born_ns = m->now_ns;
	put(m, (struct event) { .kind = CHAINLOG_FORK,
				.tid = m->gs[ev->g].tid,
				.other = g->tid,
				.tgid = MAIN_GOROUTINE,
				.string = g->name });
	put(m, (struct event) { .kind = CHAINLOG_WAKING_NEW,
				.tid = m->gs[ev->g].tid,
				.other = g->tid,
				.kstack = ev->g ? 0 : kstack_id(m, WAKER_TIMER),
				.ustack = ustack_id(m, ev->stack) });
}

static void start(struct go_import *m, const struct go_event *ev)
{
	struct goroutine *g = &m->gs[ev->g];

	if (m->running[ev->cpu] || g->state == RUNNING) {
		put_contradiction(m);
		return;
	}
	m->running[ev->cpu] = ev->g;
	g->state = RUNNING;
	g->cpu = ev->cpu;
	put_switch(m, 0, 'R', g->tid, 0);
}

/* The goroutine leaves the CPU on which it is. */
static void stop(struct go_import *m, const struct go_event *ev, char letter, enum state state,
		 uint32_t stack)
{
	struct goroutine *g = &m->gs[ev->g];
	uint32_t object = state == WAITING ? object_id(m, ev->reason) : 0;

	if (g->state != RUNNING || m->running[g->cpu] != ev->g) {
		put_contradiction(m);
		return;
	}
	name_by_root(m, g, stack);
	m->now_cpu = g->cpu;
	m->running[g->cpu] = 0;
	g->state = (uint8_t)state;
	g->reason = ev->reason;
	if (state == DEAD)
		put(m, (struct event) { .kind = CHAINLOG_EXIT, .tid = g->tid });
	put_switch(m, g->tid, letter, 0, ustack_id(m, stack));
	if (object)
		put(m, (struct event) {
			       .kind = EVENT_WAITS_FOR, .tid = g->tid, .awaited = { object } });
}

/*
 * Without a goroutine Go's runtime ended the wait: a sleep or an operation on a channel by a timer,
 * as nothing else does that without one; a wait for the network by the poller, or by a timer if it
 * has a deadline, which looks the same.
 */
static enum waker waker_of(enum go_reason reason)
{
	switch (reason) {
	case GO_REASON_SLEEP:
	case GO_REASON_SEND:
	case GO_REASON_RECEIVE:
	case GO_REASON_SELECT:
		return WAKER_TIMER;
	case GO_REASON_NETWORK:
		return WAKER_NETWORK;
	default:
		return WAKER_OTHER;
	}
}

/* waker: if it is no goroutine. */
static void wake(struct go_import *m, const struct go_event *ev, enum waker waker)
{
	struct goroutine *g = &m->gs[ev->other];

	g->state = RUNNABLE;
	m->report->wakings++;
	put(m, (struct event) { .kind = CHAINLOG_WAKING,
				.tid = m->gs[ev->g].tid,
				.other = g->tid,
				.flags = CHAINLOG_F_OFF_QUEUE,
				.kstack = ev->g ? 0 : kstack_id(m, waker),
				.ustack = ustack_id(m, ev->stack) });
}

static void handle(struct go_import *m, const struct go_event *ev)
{
	struct goroutine *g = &m->gs[ev->g], *other = &m->gs[ev->other];

	m->now_ns = ev->time;
	m->now_cpu = ev->cpu;
	switch (ev->kind) {
	case GO_EXISTS:
	case GO_CREATE:
		begin_goroutine(m, ev, ev->kind == GO_CREATE);
		break;
	case GO_IS_WAITING:
		name_by_root(m, other, ev->stack);
		other->state = WAITING;
		other->waited = !other->born_ns;
		other->reason = ev->reason;
		other->stack = ev->stack;
		break;
	case GO_IS_RUNNING:
		start(m, &(struct go_event) { .g = ev->other, .cpu = ev->cpu });
		break;
	case GO_START:
		start(m, ev);
		break;
	case GO_END:
		stop(m, ev, 'X', DEAD, 0);
		break;
	case GO_YIELD:
		stop(m, ev, 'R', RUNNABLE, ev->stack);
		break;
	case GO_BLOCK:
		stop(m, ev, 'S', WAITING, ev->stack);
		break;
	case GO_SYSCALL:
		g->call = ev->stack;
		break;
	case GO_SYSBLOCK:
		stop(m, ev, 'S', WAITING, ev->stack ? ev->stack : g->call);
		break;
	case GO_UNBLOCK:
		wake(m, ev, waker_of(other->reason));
		break;
	case GO_SYSEXIT:
		wake(m, &(struct go_event) { .other = ev->other }, WAKER_CALL);
		break;
	case GO_SAMPLE:
		m->samples = true;
		put(m, (struct event) { .kind = EVENT_SAMPLE,
					.tid = g->tid,
					.ustack = ustack_id(m, ev->stack) });
		break;
	default:
		break;
	}
}

/* ---- all ------------------------------------------------------------------------------------ */

static int number_goroutines(struct go_import *m)
{
	uint32_t n = m->t.goroutines.n;

	m->gs = xcalloc((size_t)n + 1, sizeof(*m->gs));
	m->running = xcalloc(m->n_cpus, sizeof(*m->running));
	m->ustacks = xcalloc((size_t)m->t.stacks.n + 1, sizeof(*m->ustacks));
	for (uint32_t id = 1; id <= n; id++)
		m->dense |= go_number(&m->t, id) >= CHAINLOG_TID_LIMIT;
	if (m->dense && n >= CHAINLOG_TID_LIMIT)
		return -IMPORT_E_GO_MANY;
	for (uint32_t id = 1; id <= n; id++)
		m->gs[id].tid = m->dense ? id : (uint32_t)go_number(&m->t, id);
	return 0;
}

static void list_goroutines(struct go_import *m, uint64_t first_ns)
{
	for (uint32_t id = 1; id <= m->t.goroutines.n; id++) {
		const struct goroutine *g = &m->gs[id];

		if (g->state == UNKNOWN)
			continue;
		/* 'R' and not on a CPU: the reader assumes nothing of its state at the start. */
		encoder_thread(m->out.enc, &(struct encoder_thread) {
						   .tid = g->tid,
						   .tgid = MAIN_GOROUTINE,
						   .start_ns = g->born_ns,
						   .seen_ns = g->born_ns ? m->now_ns : first_ns,
						   .state = g->waited ? 'S' : 'R',
						   .name = g->name,
						   .ustack = g->waited ? ustack_id(m, g->stack) : 0,
					   });
	}
}

static int put_events(struct go_import *m)
{
	const struct go_event **order = xcalloc(m->t.n_events + 1, sizeof(*order));
	uint64_t first_ns;

	m->space = encoder_space(m->out.enc, MAIN_GOROUTINE, "");
	for (size_t i = 0; i < m->t.n_events; i++)
		order[i] = &m->t.events[i];
	qsort(order, m->t.n_events, sizeof(*order), by_time);
	first_ns = m->t.n_events ? order[0]->time : 0;
	for (size_t i = 0; i < m->t.n_events; i++)
		handle(m, order[i]);
	free(order);
	list_goroutines(m, first_ns);
	return encoder_error(m->out.enc);
}

static int make(struct go_import *m, struct trace_bytes *out)
{
	char tool[64];
	struct chainlog_info info = { .tool = tool, .cpus = m->t.n_cpus, .parts = 2 };
	int err;

	for (size_t i = 0; i < m->t.n_events; i++)
		if (m->t.events[i].cpu >= m->n_cpus)
			m->n_cpus = m->t.events[i].cpu + 1;
	err = number_goroutines(m);
	if (err)
		return err;
	settle_times(m);
	settle_calls(m);
	import_output_begin(&m->out);
	err = put_events(m);
	if (err)
		return err;
	if (!m->report->switches)
		return -IMPORT_E_GO_CUT;
	snprintf(tool, sizeof(tool), "Go's execution trace, layout of Go 1.%u", m->t.minor);
	info.aux = 1u << CHAINLOG_WAITS_FOR | (m->samples ? 1u << CHAINLOG_SAMPLE : 0);
	return import_output_end(&m->out, &info, out);
}

int go_import(const struct import_input *s, struct trace_bytes *out, struct import_report *report)
{
	struct go_import *m = xcalloc(1, sizeof(*m));
	int err;

	*report = (struct import_report) { .source = IMPORT_FROM_GO };
	m->report = report;
	err = go_trace_read(&m->t, s->p, s->len);
	report->bad_offset = m->t.damage_offset;
	if (!err)
		err = make(m, out);
	report->renumbered = m->dense;
	import_output_free(&m->out);
	go_trace_free(&m->t);
	intern_free(&m->frames);
	pairs_free(&m->modules);
	free(m->frame_ids);
	free(m->gs);
	free(m->running);
	free(m->ustacks);
	free(m);
	return err;
}
