// SPDX-License-Identifier: GPL-2.0-or-later
/* The layout up to Go 1.21, of batches of Ps. */
#include "go_trace.h"

#include <errno.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "import/import_perf.h"
#include "import/import_report.h"

/* Types of events that have a meaning here. All others have only a time. */
enum type {
	EV_BATCH = 1, /* P, time */
	EV_FREQUENCY, /* ticks a second */
	EV_STACK,     /* see go_take_stack() */
	EV_PROC_START = 5,
	EV_TIMER_GOROUTINE = 35, /* without a time */
	EV_STRING = 37,
	EV_USER_LOG = 48, /* a string follows */
	EV_CPU_SAMPLE = 49,
	EV_TYPES,
};

/* What the arguments of a type are: a time first. */
enum arg {
	ARG_NONE,
	ARG_OTHER, /* a goroutine that something is done to */
	ARG_SELF,  /* the goroutine that gets the CPU */
	ARG_SEQ,
	ARG_STACK,
	ARG_START,
	ARG_EXIT,
	ARG_SKIP,
};

static const struct {
	uint8_t kind, reason;
	uint8_t args[4];
	bool stops; /* the goroutine no longer runs */
} types[EV_TYPES] = {
	[13] = { GO_CREATE, 0, { ARG_OTHER, ARG_START, ARG_STACK }, false },
	[14] = { GO_START, 0, { ARG_SELF, ARG_SEQ }, false },
	[15] = { GO_END, 0, { ARG_NONE }, true },
	/* select{}, a receive from a nil channel: for ever */
	[16] = { GO_BLOCK, GO_REASON_OTHER, { ARG_STACK }, true },
	[17] = { GO_YIELD, 0, { ARG_STACK }, true },
	[18] = { GO_YIELD, 0, { ARG_STACK }, true },
	[19] = { GO_BLOCK, GO_REASON_SLEEP, { ARG_STACK }, true },
	[20] = { GO_BLOCK, GO_REASON_OTHER, { ARG_STACK }, true },
	[21] = { GO_UNBLOCK, 0, { ARG_OTHER, ARG_SEQ, ARG_STACK }, false },
	[22] = { GO_BLOCK, GO_REASON_SEND, { ARG_STACK }, true },
	[23] = { GO_BLOCK, GO_REASON_RECEIVE, { ARG_STACK }, true },
	[24] = { GO_BLOCK, GO_REASON_SELECT, { ARG_STACK }, true },
	[25] = { GO_BLOCK, GO_REASON_SYNC, { ARG_STACK }, true },
	[26] = { GO_BLOCK, GO_REASON_COND, { ARG_STACK }, true },
	[27] = { GO_BLOCK, GO_REASON_NETWORK, { ARG_STACK }, true },
	[28] = { GO_SYSCALL, 0, { ARG_STACK }, false },
	[29] = { GO_SYSEXIT, 0, { ARG_OTHER, ARG_SEQ, ARG_EXIT }, false },
	[30] = { GO_SYSBLOCK, GO_REASON_SYSCALL, { ARG_NONE }, true },
	[31] = { GO_IS_WAITING, 0, { ARG_OTHER }, false },
	[32] = { GO_IS_WAITING, GO_REASON_SYSCALL, { ARG_OTHER }, false },
	[38] = { GO_START, 0, { ARG_SELF }, false },
	[39] = { GO_UNBLOCK, 0, { ARG_OTHER, ARG_STACK }, false },
	[40] = { GO_SYSEXIT, 0, { ARG_OTHER, ARG_EXIT }, false },
	[41] = { GO_START, 0, { ARG_SELF, ARG_SEQ, ARG_SKIP }, false },
	[42] = { GO_BLOCK, GO_REASON_GC, { ARG_STACK }, true },
};

#define ARGS_MAX 6u

/* A P: where goroutines run. */
struct lane {
	uint32_t g;    /* the goroutine that runs; 0: none */
	bool is_begun; /* it was started: what it says is no longer of the state at the start */
};

struct reader {
	struct go_trace *t;
	struct pairs ps; /* to lanes[] */
	struct lane *lanes;
	size_t cap_lanes;
	uint32_t p;    /* the batch's */
	uint64_t time; /* of the last event */
};

static int begin_batch(struct reader *r, const uint64_t *args)
{
	int is_new;
	uint32_t id;

	/* What is written without a P has the number -1. */
	if (args[0] >= IMPORT_CPU_LIMIT && (uint32_t)args[0] != GO_NO_CPU)
		return -EBADMSG;
	id = pairs_id_new(&r->ps, (uint32_t)args[0], 0, &is_new);
	XGROW(r->lanes, id, r->cap_lanes);
	if (is_new)
		r->lanes[id] = (struct lane) { .g = 0 };
	if ((uint32_t)args[0] != GO_NO_CPU && args[0] >= r->t->n_cpus)
		r->t->n_cpus = (uint32_t)args[0] + 1;
	r->p = id;
	r->time = args[1];
	return 0;
}

static struct go_event *add_event(struct reader *r)
{
	struct go_event *ev = go_add(r->t, r->p - 1);

	ev->time = r->time;
	ev->cpu = r->ps.at[r->p].a;
	ev->g = r->lanes[r->p].g;
	return ev;
}

/* Fills in an argument. */
static void take_arg(struct go_trace *t, struct go_event *ev, enum arg what, uint64_t v)
{
	switch (what) {
	case ARG_OTHER:
	case ARG_SELF:
		*(what == ARG_OTHER ? &ev->other : &ev->g) = v ? go_goroutine(t, v) : 0;
		break;
	case ARG_STACK:
	case ARG_START:
		*(what == ARG_STACK ? &ev->stack : &ev->start) = v ? go_stack(t, v, 0) : 0;
		break;
	case ARG_SEQ:
		ev->seq = v;
		break;
	case ARG_EXIT:
		ev->exit = v;
		break;
	default:
		break;
	}
}

static int take_known(struct reader *r, uint8_t type, const uint64_t *args, size_t n)
{
	struct lane *lane = &r->lanes[r->p];
	size_t want = 0;
	struct go_event *ev;

	while (want < 4 && types[type].args[want] != ARG_NONE)
		want++;
	if (n != want + 1)
		return -EBADMSG;
	ev = add_event(r);
	ev->kind = types[type].kind;
	ev->reason = types[type].reason;
	for (size_t i = 0; i < want; i++)
		take_arg(r->t, ev, types[type].args[i], args[i + 1]);
	/* The state at the start: all goroutines that there are, before any P runs. */
	if (ev->kind == GO_CREATE && !lane->is_begun)
		ev->kind = GO_EXISTS;
	if (ev->kind == GO_CREATE || ev->kind == GO_EXISTS)
		ev->seq = 1;
	if (ev->kind == GO_START)
		lane->g = ev->g;
	if (types[type].stops)
		lane->g = 0;
	return 0;
}

/* A sample of the CPU profile: time of reading it, time, P * 2 + 1, goroutine, stack. */
static int take_sample(struct reader *r, const uint64_t *args, size_t n)
{
	struct go_event *ev;

	if (n != 5)
		return -EBADMSG;
	if (!args[3])
		return 0;
	ev = add_event(r);
	ev->kind = GO_SAMPLE;
	ev->time = args[1];
	ev->g = go_goroutine(r->t, args[3]);
	ev->stack = args[4] ? go_stack(r->t, args[4], 0) : 0;
	return 0;
}

static int take_event(struct reader *r, uint8_t type, const uint64_t *args, size_t n)
{
	switch (type) {
	case EV_BATCH:
		return n == 2 ? begin_batch(r, args) : -EBADMSG;
	case EV_FREQUENCY:
		r->t->frequency = n ? args[0] : 0;
		return r->t->frequency ? 0 : -EBADMSG;
	case EV_TIMER_GOROUTINE:
		return 0;
	default:
		break;
	}
	if (!r->p || !n || type >= EV_TYPES)
		return -EBADMSG;
	r->time += args[0];
	if (type == EV_PROC_START)
		r->lanes[r->p].is_begun = true;
	if (type == EV_CPU_SAMPLE)
		return take_sample(r, args, n);
	return types[type].kind == GO_IGNORED ? 0 : take_known(r, type, args, n);
}

/* The next item: its type, in the low bits, and how its arguments are written. */
static int take_item(struct reader *r, struct go_bytes *b)
{
	uint8_t head = *b->p++, type = head & 0x3f, few = (uint8_t)((head >> 6) + 1);
	uint64_t args[ARGS_MAX] = { 0 }, v, len;
	struct go_bytes in = *b;
	size_t n = 0;
	int err;

	if (type == EV_STRING)
		return go_take_string(r->t, b, 0);
	if (few == 4) {
		/* The length of the arguments in bytes comes first. */
		if (!go_take(b, &len) || len > (size_t)(b->end - b->p))
			return -EBADMSG;
		in = (struct go_bytes) { b->p, b->p + len };
		b->p += len;
		if (type == EV_STACK) {
			err = go_take_stack(r->t, &in, 0);
			return err ? err : in.p == in.end ? 0 : -EBADMSG;
		}
	}
	while (few == 4 ? in.p < in.end : n < few) {
		if (!go_take(&in, &v))
			return -EBADMSG;
		if (n < ARGS_MAX)
			args[n] = v;
		n++;
	}
	if (few != 4)
		*b = in;
	if (type == EV_USER_LOG) {
		if (!go_take(b, &len) || len > (size_t)(b->end - b->p))
			return -EBADMSG;
		b->p += len;
	}
	return take_event(r, type, args, n);
}

int go_read_ps(struct go_trace *t, const uint8_t *p, size_t len)
{
	struct go_bytes b = { p + GO_HEADER_BYTES, p + len };
	struct reader r = { .t = t };
	int err = 0;

	while (!err && b.p < b.end) {
		const uint8_t *at = b.p;

		err = take_item(&r, &b);
		if (err == -EBADMSG)
			t->damage_offset = (uint64_t)(at - p);
	}
	/* The frequency and the stacks come last: without them there are neither times nor names.
	 */
	if (err == -EBADMSG || (!err && !t->frequency))
		err = t->frequency && t->n_events ? 0 : -IMPORT_E_GO_CUT;
	if (!err) {
		go_number_cpus(t);
		err = go_order(t, r.ps.n);
	}
	pairs_free(&r.ps);
	free(r.lanes);
	return err;
}
