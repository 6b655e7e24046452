// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merges the events of all CPUs into one stream: a heap over sources, each in the order of time. A
 * source is a run of blocks of one CPU and type that follow each other in time; it joins the heap
 * when the stream reaches its first event, so that few are open at once in a trace of any size.
 * Losses are one more source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/kernel_functions.h"
#include "base/pairs.h"
#include "common/event_read.h"
#include "common/lower_bound.h"
#include "cursor_private.h"
#include "common/xalloc.h"

struct source {
	struct event ev; /* its next event */
	size_t at, end;	 /* the blocks of its run that were not opened yet; the losses left */
	size_t number;	 /* of its run: orders events that are otherwise equal */
	bool losses;	 /* it is the source of losses */
	struct chainlog_reader reader;
	struct source *next_free;
};

/* ---- order --------------------------------------------------------------------------------- */

static int by_cpu_and_time(const void *pa, const void *pb)
{
	const struct event_block_ref *a = *(const struct event_block_ref *const *)pa;
	const struct event_block_ref *b = *(const struct event_block_ref *const *)pb;
	int c = compare_numbers(a->cpu, b->cpu);

	if (!c)
		c = compare_numbers(a->aux, b->aux);
	if (!c)
		c = compare_numbers(a->first_ns, b->first_ns);
	if (!c)
		c = compare_numbers(a->last_ns, b->last_ns);
	return c ? c : compare_numbers(a->offset, b->offset);
}

static int by_first(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;
	int c = compare_numbers(a->first_ns, b->first_ns);

	return c ? c : compare_numbers(a->begin, b->begin);
}

/*
 * The order of events of the same time, which must not depend on how CPUs are numbered (law 3 of
 * docs/chain-semantics.md): WAKING and the other kinds of EVENTS by number; then SWITCH, although
 * its number is 0, so that a thread is woken before it is switched to; then AUX_EVENTS, which add
 * to those; then losses.
 */
static inline unsigned int kind_rank(uint8_t kind)
{
	return kind == EVENT_SWITCH ? EVENT_LOST : kind == EVENT_LOST ? EVENT_KINDS : kind;
}

/* Compares what two events of one kind of events.def have of their own: as compare_numbers(). */
static int compare_fields(const struct event *x, const struct event *y)
{
	int c = 0;

	for (const struct event_field *f = event_fields(x->kind); !c && f->type; f++)
		c = compare_numbers(event_value(x, f), event_value(y, f));
	return c;
}

static bool tie_before(const struct source *a, const struct source *b)
{
	const struct event *x = &a->ev, *y = &b->ev;
	const uint64_t order[][2] = {
		{ kind_rank(x->kind), kind_rank(y->kind) },
		{ x->tid, y->tid },
		{ x->other, y->other },
		{ x->kstack, y->kstack },
		{ x->ustack, y->ustack },
		{ (uint8_t)x->state, (uint8_t)y->state },
		{ x->string, y->string },
		{ x->tgid, y->tgid },
		{ x->flags, y->flags },
	};
	int c;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i][0] != order[i][1])
			return order[i][0] < order[i][1];
	c = compare_fields(x, y);
	return c ? c < 0 : a->number < b->number;
}

static inline bool before(const struct source *a, const struct source *b)
{
	if (a->ev.time_ns != b->ev.time_ns)
		return a->ev.time_ns < b->ev.time_ns;
	return tie_before(a, b);
}

/* ---- heap ---------------------------------------------------------------------------------- */

static void sift_down(struct trace_cursor *c, size_t i)
{
	struct source *s = c->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < c->n_heap) {
		if (child + 1 < c->n_heap && before(c->heap[child + 1], c->heap[child]))
			child++;
		if (!before(c->heap[child], s))
			break;
		c->heap[i] = c->heap[child];
		i = child;
	}
	c->heap[i] = s;
}

static void push(struct trace_cursor *c, struct source *s)
{
	size_t i = c->n_heap++, parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (!before(s, c->heap[parent]))
			break;
		c->heap[i] = c->heap[parent];
	}
	c->heap[i] = s;
}

/* ---- sources ------------------------------------------------------------------------------- */

/* Makes undefined stacks 0, and sets the id of the two, 0 for none. */
__attribute__((noinline)) static void find_pair(struct trace_cursor *c, uint32_t *kstack,
						uint32_t *ustack, uint32_t *pair)
{
	if (*kstack >= c->t->stacks_end)
		*kstack = 0;
	if (*ustack >= c->t->stacks_end)
		*ustack = 0;
	*pair = *kstack || *ustack ? pairs_id(&c->pairs, *kstack, *ustack) : 0;
}

/* Sets the stacks of s->ev, by the number of the pair in its block. */
static void set_stacks(struct trace_cursor *c, struct source *s, uint32_t ref)
{
	struct chainlog_pair *pair = &s->reader.pairs[ref];

	if (!pair->user)
		find_pair(c, &pair->kstack, &pair->ustack, &pair->user);
	s->ev.kstack = pair->kstack;
	s->ev.ustack = pair->ustack;
	s->ev.pair = pair->user;
}

/* Takes the next event of the block into s->ev. Returns 1; 0 at its end; a negative errno. */
static int take_event(struct trace_cursor *c, struct source *s)
{
	int ret;

	do
		ret = chainlog_read_event(&s->reader, &s->ev);
	while (ret > 0 && s->ev.time_ns < c->from_ns);
	if (ret <= 0)
		return ret;
	if (s->ev.string >= c->t->strings_end)
		s->ev.string = 0;
	if (s->ev.pair)
		set_stacks(c, s, s->ev.pair);
	return 1;
}

/* As take_event(), of an AUX_EVENTS block. */
static int take_aux(struct trace_cursor *c, struct source *s)
{
	uint32_t objects_end =
		c->t->objects_end < TRACE_PAIR_IDS ? c->t->objects_end : TRACE_PAIR_IDS;
	int ret;

	do
		ret = chainlog_read_aux(&s->reader, &s->ev);
	while (ret > 0 && s->ev.time_ns < c->from_ns);
	if (ret <= 0)
		return ret;
	for (const struct event_field *f = event_fields(s->ev.kind); f->type; f++)
		if (f->type == FIELD_OBJECT && *event_id(&s->ev, f) >= objects_end)
			*event_id(&s->ev, f) = 0;
	find_pair(c, &s->ev.kstack, &s->ev.ustack, &s->ev.pair);
	return 1;
}

static int take_loss(struct trace_cursor *c, struct source *s)
{
	const struct trace_loss *l;

	if (s->at == s->end)
		return 0;
	l = &c->t->losses[s->at++];
	s->ev = (struct event) {
		.time_ns = l->first_ns,
		.cpu = l->cpu,
		.kind = EVENT_LOST,
		.lost = { l->n, l->last_ns },
	};
	return 1;
}

/* Takes the next event into s->ev. Returns 1; 0 at the end; a negative errno. */
static int advance(struct trace_cursor *c, struct source *s)
{
	int ret;

	if (s->losses)
		return take_loss(c, s);
	while (!(ret = s->reader.aux ? take_aux(c, s) : take_event(c, s))) {
		const struct event_block_ref *b;

		if (s->at == s->end)
			return 0;
		b = c->order[s->at++];
		ret = chainlog_reader_begin(&s->reader, b->aux, b->payload, b->payload + b->len);
		if (ret)
			return ret;
	}
	return ret;
}

static void retire(struct trace_cursor *c, struct source *s)
{
	s->next_free = c->free;
	c->free = s;
}

void cursor_stop(struct trace_cursor *c, int err)
{
	c->err = err;
	c->next_run = c->n_runs;
	while (c->n_heap)
		retire(c, c->heap[--c->n_heap]);
}

/* Opens the source of a run, or of the losses, and puts it into the heap. 0 or a negative errno. */
static int start(struct trace_cursor *c, size_t begin, size_t end, size_t number, bool losses)
{
	struct source *s = c->free;
	int ret;

	if (s)
		c->free = s->next_free;
	else
		s = xcalloc(1, sizeof(*s));
	s->at = begin;
	s->end = end;
	s->number = number;
	s->losses = losses;
	/* A window may have ended in the middle of a block. */
	s->reader.left = 0;
	s->reader.p = s->reader.end;
	s->reader.time_ns = s->reader.last_ns;
	ret = advance(c, s);
	if (ret > 0 && s->ev.time_ns < c->to_ns)
		push(c, s);
	else
		retire(c, s);
	return ret < 0 ? ret : 0;
}

/* The same of the blocks of a run that may have events of the window. */
static int start_run(struct trace_cursor *c, const struct run *r)
{
	size_t n = r->end - r->begin;
	size_t skip =
		c->from_ns ? LOWER_BOUND(i, n, c->order[r->begin + i]->last_ns < c->from_ns) : 0;

	return skip < n ? start(c, r->begin + skip, r->end, r->begin, false) : 0;
}

static void find_runs(struct trace_cursor *c)
{
	const struct event_block_ref **order;
	size_t n = c->t->n_blocks;

	order = c->order = xmalloc((n + 1) * sizeof(struct event_block_ref *));
	c->runs = xmalloc((n + 1) * sizeof(*c->runs));
	for (size_t i = 0; i < n; i++)
		order[i] = &c->t->blocks[i];
	qsort(order, n, sizeof(*order), by_cpu_and_time);
	for (size_t i = 0; i < n; i++) {
		if (!i || order[i]->cpu != order[i - 1]->cpu ||
		    order[i]->aux != order[i - 1]->aux ||
		    order[i]->first_ns < order[i - 1]->last_ns)
			c->runs[c->n_runs++] = (struct run) { i, i, order[i]->first_ns };
		c->runs[c->n_runs - 1].end = i + 1;
	}
	qsort(c->runs, c->n_runs, sizeof(*c->runs), by_first);
}

void cursor_make_heap(struct trace_cursor *c)
{
	c->heap = xmalloc((c->n_runs + 1) * sizeof(struct source *));
}

/* wait_for_completion(), as the kernel's versions have it, and what is inlined into it or not. */
static bool is_completion(const char *symbol)
{
	return !strncmp(symbol, "wait_for_co", 11) || !strncmp(symbol, "__wait_for_common", 17);
}

static const char *symbol_of(const struct trace *t, uint32_t frame)
{
	const struct trace_frame *f = trace_frame(t, frame);

	return f && !f->code ? trace_string(t, f->symbol) : "";
}

/* The object for which a thread waits that sleeps with this kernel stack; 0: not for RCU. */
static uint32_t rcu_object(const struct trace *t, uint32_t kstack)
{
	struct trace_stack s = trace_stack(t, kstack);
	uint32_t i = 0, object = 0;

	if (t->first_rcu == t->objects_end)
		return 0;
	for (; i < s.n; i++) {
		const char *symbol = symbol_of(t, s.frames[i]);

		if (!(kernel_function_flags(symbol) & KFUNC_SLEEP_PATH) && !is_completion(symbol))
			break;
	}
	/* By the name of the function that others call. */
	for (; i < s.n; i++) {
		const char *symbol = symbol_of(t, s.frames[i]);

		if (!kernel_function_awaits_rcu(symbol))
			break;
		object = trace_rcu_object(t, symbol);
	}
	return object;
}

enum stack_says {
	SAYS_LOOKED_AT = 1,
	SAYS_ENDS_REQUESTS = 2,
	SAYS_RCU = 8,	  /* it waits for RCU, for whatever the call is */
	SAYS_OUTSIDE = 4, /* of the system call or the exception with which it entered the kernel */
};

static uint8_t what_says(const struct trace *t, uint32_t kstack)
{
	struct trace_stack s = trace_stack(t, kstack);
	uint8_t says = SAYS_LOOKED_AT | (rcu_object(t, kstack) ? SAYS_RCU : 0);

	for (uint32_t i = 0; i < s.n; i++) {
		const char *symbol = symbol_of(t, s.frames[i]);
		unsigned int flags = kernel_function_flags(symbol);

		if (flags & KFUNC_REQUEST)
			says |= SAYS_ENDS_REQUESTS;
		/* An exception in the kernel's own code, as it copied to the program's memory. */
		if (flags & KFUNC_OUTSIDE_CALL ||
		    (i + 1 < s.n && kernel_function_enters_exception(symbol)))
			says |= SAYS_OUTSIDE;
	}
	return says;
}

/* enum stack_says, or-ed, of a kernel stack. */
static uint8_t stack_says(struct trace_cursor *c, uint32_t kstack)
{
	if (kstack >= trace_stacks_end(c->t))
		return SAYS_LOOKED_AT;
	if (!c->stack_says)
		c->stack_says = xcalloc(trace_stacks_end(c->t), 1);
	if (!c->stack_says[kstack])
		c->stack_says[kstack] = what_says(c->t, kstack);
	return c->stack_says[kstack];
}

uint32_t trace_cursor_pair_for(struct trace_cursor *c, uint32_t object, uint32_t pair)
{
	uint32_t kstack = pair ? c->pairs.at[pair].a : 0;
	uint8_t says = stack_says(c, kstack);

	if (says & SAYS_RCU)
		object = rcu_object(c->t, kstack);
	else if (!object || says & SAYS_OUTSIDE)
		return pair;
	return pairs_id(&c->pairs, TRACE_PAIR_OBJECT | object, pair);
}

/* Makes the pairs of the threads in the trace's list. */
static void pair_threads(struct trace_cursor *c)
{
	size_t n = c->t->n_threads;

	c->thread_pairs = xcalloc(n + 1, sizeof(*c->thread_pairs));
	for (size_t i = 0; i < n; i++) {
		const struct trace_thread *th = &c->t->threads[i];
		bool stacks = th->kstack || th->ustack;
		uint32_t pair = stacks ? pairs_id(&c->pairs, th->kstack, th->ustack) : 0;

		if (pair || (th->object && !stacks))
			pair = trace_cursor_pair_for(c, th->object, pair);
		c->thread_pairs[i] = pair;
	}
}

int trace_cursor_new(struct trace_cursor **out, const struct trace *t)
{
	struct trace_cursor *c = xcalloc(1, sizeof(*c));
	int err;

	*out = NULL;
	c->t = t;
	c->to_ns = UINT64_MAX;
	pair_threads(c);
	find_runs(c);
	cursor_make_heap(c);
	err = start(c, 0, t->n_losses, SIZE_MAX, true);
	if (err)
		trace_cursor_free(c);
	else
		*out = c;
	return err;
}

/* Goes to the event after the one that was returned last. */
static void pass(struct trace_cursor *c)
{
	struct source *s = c->heap[0];
	int ret = advance(c, s);

	c->taken = false;
	if (ret <= 0 || s->ev.time_ns >= c->to_ns) {
		c->heap[0] = c->heap[--c->n_heap];
		retire(c, s);
	}
	if (c->n_heap > 1)
		sift_down(c, 0);
	if (ret < 0)
		cursor_stop(c, ret);
}

/* ---- events that add something to others ---------------------------------------------------- */

struct last_acts *cursor_acts(struct trace_cursor *c, uint32_t cpu)
{
	uint32_t n = cpu + 16, first = c->is_part ? REQUEST_BEFORE : 0;

	if (cpu < c->n_acts)
		return &c->acts[cpu];
	c->acts = xreallocarray(c->acts, n, sizeof(*c->acts));
	while (c->n_acts < n)
		c->acts[c->n_acts++] = (struct last_acts) { .request = first };
	return &c->acts[cpu];
}

/*
 * Joins a waking to the block request whose completion made it (chain-semantics, section 11): the
 * one that was done last on its CPU, if the waker's stack shows that it was at it. Returns as
 * join().
 */
static int join_waking(struct trace_cursor *c, const struct event *ev, uint32_t request)
{
	uint8_t says;

	/* A damaged trace may lack completions, and does not say so. */
	if (!request || !ev->kstack || trace_damage(c->t)->what)
		return 0;
	says = stack_says(c, ev->kstack);
	if (!(says & SAYS_ENDS_REQUESTS))
		return 0;
	if (request == REQUEST_BEFORE)
		return -EAGAIN;
	c->given = *ev;
	c->given.pair = pairs_id(&c->pairs, TRACE_PAIR_REQUEST | request, ev->pair);
	return 1;
}

/* Joins a switch to what the thread waits for, if its stack says that. Returns as join(). */
static int join_switch(struct trace_cursor *c, const struct event *ev, struct last_acts *last)
{
	last->switch_ns = ev->time_ns;
	last->tid = ev->tid;
	last->pair = ev->pair;
	if (!ev->kstack || ev->state == 'R' || c->t->first_rcu == c->t->objects_end ||
	    !(stack_says(c, ev->kstack) & SAYS_RCU))
		return 0;
	c->given = *ev;
	c->given.pair = trace_cursor_pair_for(c, 0, ev->pair);
	last->tid = 0; /* it has one object */
	return 1;
}

/*
 * Joins an EVENT_WAITS_FOR to its switch, or an EVENT_WOKEN_READY to its waking, and puts the
 * result into c->given. If that switch or waking is missing, the result has no pair, or no object,
 * and has no effect. Returns as join().
 */
static int join_act(struct trace_cursor *c, const struct event *ev, struct last_acts *last)
{
	c->given = *ev;
	if (ev->kind == EVENT_WOKEN_READY) {
		c->given.kind = EVENT_READY;
		if (last->waking_ns == ev->time_ns)
			c->given.tid = last->woken;
		else
			c->given.awaited.object = 0;
		return 1;
	}
	if (last->switch_ns != ev->time_ns || !last->tid || !ev->awaited.object)
		return 1;
	c->given.tid = last->tid;
	c->given.other = last->pair;
	c->given.pair = trace_cursor_pair_for(c, ev->awaited.object, last->pair);
	last->tid = 0; /* it has one object */
	return 1;
}

/* Returns 1 if c->given is to be returned in place of the event, 0 if not. */
static int join(struct trace_cursor *c, const struct event *ev)
{
	struct last_acts *last;

	/* A loss is the one event whose CPU may not be known. */
	if (ev->kind == EVENT_LOST)
		return 0;
	last = cursor_acts(c, ev->cpu);
	switch (ev->kind) {
	case EVENT_SWITCH:
		return join_switch(c, ev, last);
	case EVENT_WAKING:
	case EVENT_WAKING_NEW:
		last->waking_ns = ev->time_ns;
		last->woken = ev->other;
		return join_waking(c, ev, last->request);
	case EVENT_WAITS_FOR:
	case EVENT_WOKEN_READY:
		return join_act(c, ev, last);
	case EVENT_DISK_DONE:
		c->n_done++;
		last->request = ev->time_ns >= last->lossy_end_ns && c->n_done < TRACE_PAIR_IDS
					? c->n_done
					: 0;
		return 0;
	case EVENT_AUX_LOST:
		if (ev->other != CHAINLOG_DISK_DONE)
			return 0;
		last->request = 0;
		if (last->lossy_end_ns <= ev->lost.last_ns)
			last->lossy_end_ns = ev->lost.last_ns + 1;
		return 0;
	default:
		return 0;
	}
}

const struct event *trace_cursor_take(struct trace_cursor *c)
{
	const struct event *ev;
	int err, given;

	if (c->taken)
		pass(c);
	while (c->next_run < c->n_runs && c->runs[c->next_run].first_ns < c->to_ns &&
	       (!c->n_heap || c->runs[c->next_run].first_ns <= c->heap[0]->ev.time_ns)) {
		err = start_run(c, &c->runs[c->next_run++]);
		if (err)
			cursor_stop(c, err);
	}
	if (!c->n_heap)
		return NULL;
	c->taken = true;
	ev = &c->heap[0]->ev;
	/* All joins are to objects: without any, there is nothing to join. */
	if (c->t->objects_end == 1 && ev->kind != EVENT_WOKEN_READY)
		return ev;
	given = join(c, ev);
	if (given < 0) {
		cursor_stop(c, given);
		c->taken = false;
		return NULL;
	}
	return given ? &c->given : ev;
}

bool trace_cursor_next(struct trace_cursor *c, struct event *ev)
{
	const struct event *taken = trace_cursor_take(c);

	if (taken)
		*ev = *taken;
	return taken != NULL;
}

int trace_cursor_error(const struct trace_cursor *c)
{
	return c->err;
}

struct pairs *trace_cursor_pairs(struct trace_cursor *c)
{
	return &c->pairs;
}

uint32_t trace_cursor_thread_pair(const struct trace_cursor *c, size_t i)
{
	return c->thread_pairs[i];
}

void trace_cursor_free(struct trace_cursor *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_heap; i++)
		retire(c, c->heap[i]);
	while (c->free) {
		struct source *s = c->free;

		c->free = s->next_free;
		chainlog_reader_free(&s->reader);
		free(s);
	}
	pairs_free(&c->pairs);
	free(c->thread_pairs);
	free(c->acts);
	free(c->stack_says);
	if (!c->is_part) {
		free(c->order);
		free(c->runs);
	}
	free(c->heap);
	free(c);
}
