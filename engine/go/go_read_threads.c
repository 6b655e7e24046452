// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The layout since Go 1.22. The trace consists of generations, each with strings and stacks of its
 * own. A generation consists of batches, each of one thread, by its kernel's id, with a time; those
 * of a thread are in order of time. Each goroutine that occurs in a generation has its state told
 * first.
 */
#include "go_trace.h"

#include <errno.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "import/import_perf.h"
#include "import/import_report.h"

enum type {
	EV_BATCH = 1, /* generation, thread, time, length */
	EV_STACKS,    /* then EV_STACK, again and again */
	EV_STACK,
	EV_STRINGS,
	EV_STRING,
	EV_SAMPLES,
	EV_SAMPLE, /* time, thread, P, goroutine, stack */
	EV_FREQUENCY,
	EV_PROC_START = 10,
	EV_PROC_STOP,
	EV_PROC_STEAL,
	EV_PROC_STATUS,
	EV_CREATE, /* goroutine, its start, stack */
	EV_CREATE_IN_CALL,
	EV_START, /* goroutine, number of its state */
	EV_DESTROY,
	EV_DESTROY_IN_CALL,
	EV_STOP,    /* reason, stack */
	EV_BLOCK,   /* likewise */
	EV_UNBLOCK, /* goroutine, number of its state, stack */
	EV_CALL,    /* number of the P's state, stack */
	EV_CALL_END,
	EV_CALL_END_BLOCKED,
	EV_STATUS,	/* goroutine, thread, status */
	EV_SWITCH = 45, /* goroutine, number of its state: the one that ran waits */
	EV_SWITCH_DESTROY,
	EV_CREATE_BLOCKED,
	EV_STATUS_STACK,
	EV_EXPERIMENTAL_BATCH,
	EV_SYNC,
	EV_CLOCKS,
	EV_GENERATION_END, /* since Go 1.26, between batches */
	EV_TYPES,
};

/* How many numbers follow a type; 0: it is none of a thread's. */
static const uint8_t n_args[EV_TYPES] = {
	[9] = 3, 3, 1, 4, 3, 4, 2, 3, 1, 1, 3, 3, 4, 3, 1, 1, 4, 3, 1, 2,	 3,
	2,	 2, 2, 3, 2, 2, 1, 2, 2, 2, 5, 3, 4, 4, 5, 3, 3, 4, 5, [51] = 4,
};
#define ARGS_MAX 5u

enum status {
	IS_RUNNABLE = 1,
	IS_RUNNING,
	IS_IN_CALL,
	IS_WAITING,
};

enum proc_status {
	PROC_RUNNING = 1,
	PROC_IDLE,
	PROC_IN_CALL,
};

struct batch {
	uint32_t lane;
	uint64_t time;
	struct go_bytes bytes;
};

/* A thread, from one generation to the next. */
struct lane {
	uint32_t g; /* the goroutine that it has; 0: none */
	uint32_t cpu;
	size_t call; /* the event that begins the goroutine's system call, + 1; 0: none */
	bool waits;  /* it has been in a system call since before the trace */
};

struct reader {
	struct go_trace *t;
	struct pairs threads; /* to lanes[]: id - 1 */
	struct lane *lanes;
	size_t cap_lanes;
	struct batch *batches; /* of the generation */
	size_t n_batches, cap_batches;
	bool *known; /* by goroutine */
	size_t cap_known;
	uint32_t generation; /* from 0 */
	uint32_t lane;
	uint64_t time;
};

/* ---- events --------------------------------------------------------------------------------- */

static struct go_event *add(struct reader *r, enum go_kind kind)
{
	struct go_event *ev = go_add(r->t, r->lane);

	ev->kind = (uint8_t)kind;
	ev->time = r->time;
	ev->generation = r->generation;
	ev->cpu = r->lanes[r->lane].cpu;
	ev->g = r->lanes[r->lane].g;
	return ev;
}

/* The number of the state that a goroutine has in this generation. */
static uint64_t seq(const struct reader *r, uint64_t number)
{
	return (uint64_t)r->generation << 32 | (uint32_t)number;
}

/* Ids, which are 0 only for 0. */
static uint32_t goroutine(struct reader *r, uint64_t number)
{
	return number ? go_goroutine(r->t, number) : 0;
}

static uint32_t stack(struct reader *r, uint64_t number)
{
	return number ? go_stack(r->t, number, r->generation) : 0;
}

/* Whether the goroutine was told of before; from now on it was. */
static bool was_known(struct reader *r, uint32_t g)
{
	bool was;

	XGROW_ZEROED(r->known, g, r->cap_known);
	was = r->known[g];
	r->known[g] = true;
	return was;
}

static void create(struct reader *r, const uint64_t *args, bool is_blocked)
{
	struct go_event *ev = add(r, GO_CREATE);
	uint32_t other;

	ev->other = other = goroutine(r, args[1]);
	ev->start = stack(r, args[2]);
	ev->stack = stack(r, args[3]);
	ev->seq = seq(r, 1);
	(void)was_known(r, other);
	if (is_blocked) {
		ev = add(r, GO_IS_WAITING);
		ev->other = other;
	}
}

/* The state of a goroutine when the generation began. */
static void tell_status(struct reader *r, const uint64_t *args, bool has_stack)
{
	struct lane *l = &r->lanes[r->lane];
	uint32_t g = goroutine(r, args[1]);
	uint32_t ustack = has_stack ? stack(r, args[4]) : 0;
	bool known = was_known(r, g);
	struct go_event *ev = add(r, known ? GO_STATUS : GO_EXISTS);

	ev->other = g;
	ev->seq = seq(r, 1);
	if (args[3] == IS_RUNNING)
		l->g = g;
	if (known || args[3] == IS_RUNNABLE)
		return;
	ev = add(r, args[3] == IS_RUNNING ? GO_IS_RUNNING : GO_IS_WAITING);
	ev->other = g;
	ev->stack = ustack;
	ev->reason = args[3] == IS_IN_CALL ? GO_REASON_SYSCALL : GO_REASON_OTHER;
}

/* The goroutine of this thread gets the CPU. */
static void start(struct reader *r, uint64_t number, uint64_t state)
{
	r->lanes[r->lane].g = goroutine(r, number);
	add(r, GO_START)->seq = state;
}

/* The goroutine of this thread leaves the CPU. */
static void stop(struct reader *r, enum go_kind kind, uint64_t reason, uint64_t number)
{
	struct go_event *ev;

	if (!r->lanes[r->lane].g)
		return;
	ev = add(r, kind);
	ev->stack = stack(r, number);
	/* Not needed by this kind: the name of the reason, until all names are there. */
	ev->start = kind == GO_BLOCK && reason ? go_string(r->t, reason, r->generation) : 0;
	r->lanes[r->lane].g = 0;
}

static void unblock(struct reader *r, const uint64_t *args, uint64_t number)
{
	struct go_event *ev = add(r, GO_UNBLOCK);

	ev->other = goroutine(r, args[1]);
	ev->seq = seq(r, args[2]);
	ev->stack = stack(r, number);
}

static void begin_call(struct reader *r, const uint64_t *args)
{
	if (!r->lanes[r->lane].g)
		return;
	add(r, GO_SYSCALL)->stack = stack(r, args[2]);
	r->lanes[r->lane].call = r->t->n_events;
}

/* blocked: it took long, and cost the goroutine its P. */
static void end_call(struct reader *r, bool blocked)
{
	struct lane *l = &r->lanes[r->lane];
	uint32_t g = l->g;
	struct go_event *ev;

	if (!g || (!l->waits && !(blocked && l->call))) {
		l->call = 0;
		if (blocked)
			l->g = 0;
		return;
	}
	if (l->call) {
		r->t->events[l->call - 1].kind = GO_SYSBLOCK;
		r->t->events[l->call - 1].reason = GO_REASON_SYSCALL;
	}
	l->call = 0;
	l->waits = false;
	ev = add(r, GO_SYSEXIT);
	ev->g = 0;
	ev->other = g;
	if (blocked) {
		l->g = 0;
		return;
	}
	ev = add(r, GO_START);
}

/* One goroutine hands its CPU over to another. */
static void switch_to(struct reader *r, const uint64_t *args, bool ends)
{
	unblock(r, args, 0);
	stop(r, ends ? GO_END : GO_BLOCK, 0, 0);
	start(r, args[1], GO_NO_SEQ);
}

static void take(struct reader *r, enum type type, const uint64_t *args)
{
	struct lane *l = &r->lanes[r->lane];

	switch (type) {
	case EV_PROC_START:
		l->cpu = args[1] < IMPORT_CPU_LIMIT ? (uint32_t)args[1] : GO_NO_CPU;
		break;
	case EV_PROC_STATUS:
		if ((args[2] == PROC_RUNNING || args[2] == PROC_IN_CALL) &&
		    args[1] < IMPORT_CPU_LIMIT)
			l->cpu = (uint32_t)args[1];
		break;
	case EV_CREATE:
	case EV_CREATE_BLOCKED:
		create(r, args, type == EV_CREATE_BLOCKED);
		break;
	case EV_CREATE_IN_CALL:
		/* C calls Go: the goroutine is runnable until it is started. */
		create(r, (uint64_t[]) { args[0], args[1], 0, 0 }, false);
		break;
	case EV_START:
		start(r, args[1], seq(r, args[2]));
		break;
	case EV_DESTROY:
		stop(r, GO_END, 0, 0);
		break;
	case EV_DESTROY_IN_CALL:
		l->call = 0;
		l->g = 0;
		break;
	case EV_STOP:
		stop(r, GO_YIELD, 0, args[2]);
		break;
	case EV_BLOCK:
		stop(r, GO_BLOCK, args[1], args[2]);
		break;
	case EV_UNBLOCK:
		unblock(r, args, args[3]);
		break;
	case EV_CALL:
		begin_call(r, args);
		break;
	case EV_CALL_END:
	case EV_CALL_END_BLOCKED:
		end_call(r, type == EV_CALL_END_BLOCKED);
		break;
	case EV_STATUS:
	case EV_STATUS_STACK:
		tell_status(r, args, type == EV_STATUS_STACK);
		break;
	case EV_SWITCH:
	case EV_SWITCH_DESTROY:
		switch_to(r, args, type == EV_SWITCH_DESTROY);
		break;
	default:
		break;
	}
}

/* ---- batches -------------------------------------------------------------------------------- */

static int take_args(struct go_bytes *b, enum type *type, uint64_t args[ARGS_MAX])
{
	*type = *b->p++;
	if (*type >= EV_TYPES || !n_args[*type])
		return -EBADMSG;
	for (uint8_t i = 0; i < n_args[*type]; i++)
		if (!go_take(b, &args[i]))
			return -EBADMSG;
	return 0;
}

/* A thread whose goroutine is in a system call from before says so by another one. */
static int find_calls(struct reader *r, const struct batch *batch)
{
	struct go_bytes b = batch->bytes;
	uint64_t args[ARGS_MAX];
	enum type type;
	int err = 0;

	while (!err && b.p < b.end) {
		uint32_t lane;

		err = take_args(&b, &type, args);
		if (err || (type != EV_STATUS && type != EV_STATUS_STACK) || args[3] != IS_IN_CALL)
			continue;
		lane = pairs_find(&r->threads, (uint32_t)args[2], (uint32_t)(args[2] >> 32));
		if (!lane || r->lanes[lane - 1].g)
			continue;
		r->lanes[lane - 1].g = goroutine(r, args[1]);
		r->lanes[lane - 1].waits = true;
	}
	return err;
}

static int read_events(struct reader *r, const struct batch *batch)
{
	struct go_bytes b = batch->bytes;
	uint64_t args[ARGS_MAX];
	enum type type;
	int err = 0;

	r->lane = batch->lane;
	r->time = batch->time;
	while (!err && b.p < b.end) {
		err = take_args(&b, &type, args);
		if (err)
			break;
		r->time += args[0];
		take(r, type, args);
	}
	return err;
}

static int read_samples(struct reader *r, struct go_bytes b)
{
	uint64_t args[ARGS_MAX];
	struct go_event *ev;

	while (b.p < b.end) {
		if (*b.p++ != EV_SAMPLE)
			return -EBADMSG;
		for (size_t i = 0; i < ARGS_MAX; i++)
			if (!go_take(&b, &args[i]))
				return -EBADMSG;
		if (!args[3] || args[2] >= IMPORT_CPU_LIMIT)
			continue;
		r->lane = 0;
		ev = add(r, GO_SAMPLE);
		ev->time = args[0];
		ev->cpu = (uint32_t)args[2];
		ev->g = goroutine(r, args[3]);
		ev->stack = stack(r, args[4]);
	}
	return 0;
}

/* A batch that is not a thread's, by its first byte. */
static int read_table(struct reader *r, struct go_bytes b)
{
	uint8_t type = *b.p++;
	int err = 0;

	if (type == EV_SAMPLES)
		return read_samples(r, b);
	if (type == EV_SYNC && b.p < b.end)
		type = *b.p++;
	if (type == EV_FREQUENCY)
		return go_take(&b, &r->t->frequency) && r->t->frequency ? 0 : -EBADMSG;
	while (!err && b.p < b.end) {
		uint8_t item = *b.p++;

		if (type == EV_STRINGS && item == EV_STRING)
			err = go_take_string(r->t, &b, r->generation);
		else if (type == EV_STACKS && item == EV_STACK)
			err = go_take_stack(r->t, &b, r->generation);
		else
			err = -EBADMSG;
	}
	return err;
}

static bool is_table(const struct batch *b)
{
	switch (*b->bytes.p) {
	case EV_STRINGS:
	case EV_STACKS:
	case EV_SAMPLES:
	case EV_FREQUENCY:
	case EV_SYNC:
		return true;
	default:
		return false;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct batch *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->bytes.p < y->bytes.p ? -1 : x->bytes.p > y->bytes.p;
}

static int end_generation(struct reader *r)
{
	int err = 0;

	if (r->n_batches)
		qsort(r->batches, r->n_batches, sizeof(*r->batches), by_time);
	for (size_t i = 0; !err && i < r->n_batches; i++)
		if (!is_table(&r->batches[i]))
			err = find_calls(r, &r->batches[i]);
	for (size_t i = 0; !err && i < r->n_batches; i++)
		err = is_table(&r->batches[i]) ? read_table(r, r->batches[i].bytes)
					       : read_events(r, &r->batches[i]);
	r->n_batches = 0;
	r->generation++;
	return err;
}

static void keep_batch(struct reader *r, uint64_t thread, uint64_t time, struct go_bytes bytes)
{
	int is_new;
	uint32_t id =
		pairs_id_new(&r->threads, (uint32_t)thread, (uint32_t)(thread >> 32), &is_new);

	XGROW(r->lanes, id - 1, r->cap_lanes);
	XGROW(r->batches, r->n_batches, r->cap_batches);
	if (is_new)
		r->lanes[id - 1] = (struct lane) { .cpu = GO_NO_CPU };
	if (bytes.p < bytes.end)
		r->batches[r->n_batches++] = (struct batch) { id - 1, time, bytes };
}

static int read_batches(struct reader *r, const uint8_t *p, size_t len)
{
	struct go_bytes b = { p + GO_HEADER_BYTES, p + len };
	uint64_t generation, thread, time, n, last = 0;
	int err = 0;

	while (!err && b.p < b.end) {
		const uint8_t *at = b.p;
		uint8_t type = *b.p++;

		if (type == EV_GENERATION_END)
			continue;
		if ((type != EV_BATCH && type != EV_EXPERIMENTAL_BATCH) ||
		    (type == EV_EXPERIMENTAL_BATCH && b.p++ >= b.end) ||
		    !go_take(&b, &generation) || !go_take(&b, &thread) || !go_take(&b, &time) ||
		    !go_take(&b, &n) || n > (size_t)(b.end - b.p)) {
			r->t->damage_offset = (uint64_t)(at - p);
			break;
		}
		if (generation != last && last)
			err = end_generation(r);
		last = generation;
		if (!err && type == EV_BATCH) {
			keep_batch(r, thread, time, (struct go_bytes) { b.p, b.p + n });
		}
		b.p += n;
	}
	/* A generation whose end is missing lacks names, and times if it is the first. */
	return err ? err : end_generation(r);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* All names are there: those of what goroutines waited for. */
static void name_reasons(struct go_trace *t)
{
	for (size_t i = 0; i < t->n_events; i++) {
		struct go_event *ev = &t->events[i];

		if (ev->kind != GO_BLOCK)
			continue;
		if (ev->start && ev->start < t->cap_text)
			ev->reason = (uint8_t)go_reason_of(&t->text[ev->start]);
		ev->start = 0;
	}
}

int go_read_threads(struct go_trace *t, const uint8_t *p, size_t len)
{
	struct reader r = { .t = t };
	int err = read_batches(&r, p, len);

	if (err == -EBADMSG)
		err = -IMPORT_E_GO_ORDER;
	if (!err && (!t->frequency || !t->n_events))
		err = -IMPORT_E_GO_CUT;
	if (!err) {
		name_reasons(t);
		go_number_cpus(t);
		err = go_order(t, r.threads.n);
	}
	pairs_free(&r.threads);
	free(r.lanes);
	free(r.batches);
	free(r.known);
	return err;
}
