// SPDX-License-Identifier: GPL-2.0-or-later
#include "translate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"
#include "aux_events.h"

struct translator {
	struct encoder *enc;
	struct symbolizer *sym;
	struct stack_map *stacks;
	struct object_map *objects;
	struct aux_events aux; /* has these three, too */
	translator_sample_fn on_sample;
	void *sample_ctx;
	uint32_t last_frame; /* of the trace */
};

/* ---- the trace as a store of stacks -------------------------------------------------------- */

/* The code of a file is the same frame wherever it is mapped. */
static uint32_t trace_frame(void *ctx, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	uint32_t in_space = space, generation = 0, id;
	struct translator *t = ctx;
	uint64_t at = addr;

	if (space) {
		symbolizer_locate(t->sym, &in_space, &at, time_ns);
		id = encoder_frame(t->enc, in_space, at);
	} else {
		generation = symbolizer_kernel_generation(t->sym, addr, time_ns);
		id = encoder_kernel_frame(t->enc, addr, generation);
	}
	if (id <= t->last_frame)
		return id;
	t->last_frame = id;
	if (space)
		symbolizer_frame(t->sym, id, space, addr, time_ns);
	else
		symbolizer_kernel_frame(t->sym, id, addr, generation);
	return id;
}

static uint32_t trace_stack(void *ctx, const uint32_t *frames, size_t n,
			    enum chainlog_stack_end end, uint64_t time_ns)
{
	struct translator *t = ctx;

	(void)time_ns;
	return encoder_stack(t->enc, frames, n, end);
}

static uint32_t trace_reserve(void *ctx, uint64_t time_ns)
{
	struct translator *t = ctx;

	(void)time_ns;
	return encoder_stack_reserve(t->enc);
}

static int trace_define(void *ctx, uint32_t id, const uint32_t *frames, size_t n,
			enum chainlog_stack_end end)
{
	struct translator *t = ctx;

	return encoder_stack_define(t->enc, id, frames, n, end);
}

/* ---- the trace as a store of objects ------------------------------------------------------- */

static struct encoder_object as_encoded(const struct object_text *o)
{
	return (struct encoder_object) { .class = o->class,
					 .name = o->name,
					 .own = o->own,
					 .peer = o->peer,
					 .owner = o->owner };
}

static uint32_t trace_object(void *ctx, const struct object_text *o, uint64_t time_ns)
{
	struct encoder_object encoded = as_encoded(o);
	struct translator *t = ctx;

	(void)time_ns;
	return encoder_object(t->enc, &encoded);
}

static uint32_t trace_reserve_object(void *ctx, uint64_t time_ns)
{
	struct translator *t = ctx;

	(void)time_ns;
	return encoder_object_reserve(t->enc);
}

static int trace_define_object(void *ctx, uint32_t id, const struct object_text *o)
{
	struct encoder_object encoded = as_encoded(o);
	struct translator *t = ctx;

	return encoder_object_define(t->enc, id, &encoded);
}

/* ---- beginning and end --------------------------------------------------------------------- */

int translator_new(struct translator **out, struct encoder *enc, struct symbolizer *sym,
		   const struct translator_stores *stores, translator_sample_fn fn, void *ctx)
{
	struct translator *t = calloc(1, sizeof(*t));
	struct translator_stores trace = {
		.stacks = { .frame = trace_frame,
			    .stack = trace_stack,
			    .reserve = trace_reserve,
			    .define = trace_define,
			    .ctx = t },
		.objects = { .object = trace_object,
			     .reserve = trace_reserve_object,
			     .define = trace_define_object,
			     .ctx = t },
	};

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->enc = enc;
	t->sym = sym;
	t->on_sample = fn;
	t->sample_ctx = ctx;
	stores = stores ? stores : &trace;
	if (stack_map_new(&t->stacks, &stores->stacks, sym) ||
	    object_map_new(&t->objects, &stores->objects)) {
		translator_free(t);
		return -ENOMEM;
	}
	t->aux = (struct aux_events) { .enc = enc, .stacks = t->stacks, .objects = t->objects };
	*out = t;
	return 0;
}

void translator_free(struct translator *t)
{
	if (!t)
		return;
	stack_map_free(t->stacks);
	object_map_free(t->objects);
	free(t);
}

struct object_map *translator_objects(struct translator *t)
{
	return t->objects;
}

struct stack_map *translator_stacks(struct translator *t)
{
	return t->stacks;
}

/* ---- records ------------------------------------------------------------------------------- */

char translator_state_letter(uint32_t bits)
{
	static const struct {
		uint32_t bits;
		char letter;
	} states[] = {
		{ 0x80, 'X' }, { 0x20, 'Z' }, { 0x10, 'X' }, { 0x402, 'I' }, { 0x01, 'S' },
		{ 0x02, 'D' }, { 0x04, 'T' }, { 0x08, 't' }, { 0x40, 'P' },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if ((bits & states[i].bits) == states[i].bits)
			return states[i].letter;
	/* The other states (waiting for an rt_mutex, frozen) sleep uninterruptibly. */
	return bits ? 'D' : 'R';
}

struct chainlog_fields translator_waking(const struct wire_waking *ev)
{
	return (struct chainlog_fields) {
		.time_ns = ev->r.time_ns,
		.cpu = ev->r.cpu,
		.kind = ev->r.kind == WIRE_WAKING ? CHAINLOG_WAKING : CHAINLOG_WAKING_NEW,
		.flags = ev->target & WIRE_OFF_QUEUE ? CHAINLOG_F_OFF_QUEUE : 0,
		.tid = ev->waker,
		.other = ev->target & ~WIRE_OFF_QUEUE,
	};
}

struct chainlog_fields translator_switch(const struct wire_switch *ev)
{
	return (struct chainlog_fields) {
		.time_ns = ev->r.time_ns,
		.cpu = ev->r.cpu,
		.kind = CHAINLOG_SWITCH,
		.tid = ev->prev,
		.state = translator_state_letter(ev->state),
		.other = ev->next,
	};
}

int translator_thread(void *ctx, const struct wire_thread *w)
{
	struct translator *t = ctx;
	bool on_cpu = w->flags & WIRE_THREAD_ON_CPU;
	char name[WIRE_COMM_LEN + 1] = { 0 };
	struct encoder_thread thread = {
		.tid = w->tid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.seen_ns = w->seen_ns,
		.flags = (w->flags & WIRE_THREAD_KTHREAD ? CHAINLOG_THREAD_KTHREAD : 0u) |
			 (on_cpu ? CHAINLOG_THREAD_RUNNING : 0u),
		.state = on_cpu ? 'R' : translator_state_letter(w->state),
	};

	memcpy(name, w->name, WIRE_COMM_LEN);
	thread.name = encoder_text(t->enc, name);
	if (w->n_kernel > WIRE_STACK_MAX)
		return -EBADMSG;
	thread.kstack = stack_map_listed(t->stacks, w);
	thread.ustack = stack_map_id(t->stacks, w->ustack, w->seen_ns);
	thread.object = object_map_id(t->objects, w->object, w->seen_ns);
	return encoder_thread(t->enc, &thread);
}

/* The strings are copies of foreign memory: they end at the end of their field at the latest. */
#define FIELD_STRING(name, field)             \
	char name[sizeof(field) + 1] = { 0 }; \
	memcpy(name, field, sizeof(field))

/* WIRE_FORK to WIRE_EXIT: who a thread is. */
static int encode_identity(struct encoder *enc, const struct wire_record *r)
{
	struct chainlog_fields out = { .time_ns = r->time_ns, .cpu = r->cpu };

	switch (r->kind) {
	case WIRE_FORK: {
		const struct wire_fork *ev = (const void *)r;
		FIELD_STRING(name, ev->name);

		out.kind = CHAINLOG_FORK;
		out.tid = ev->parent;
		out.other = ev->child;
		out.tgid = ev->child_tgid;
		out.string = encoder_text(enc, name);
		break;
	}
	case WIRE_EXEC: {
		const struct wire_exec *ev = (const void *)r;
		FIELD_STRING(filename, ev->filename);

		out.kind = CHAINLOG_EXEC;
		out.tid = ev->tid;
		out.other = ev->old_tid;
		out.string = encoder_text(enc, filename);
		break;
	}
	case WIRE_RENAME: {
		const struct wire_rename *ev = (const void *)r;
		FIELD_STRING(name, ev->name);

		out.kind = CHAINLOG_RENAME;
		out.tid = ev->tid;
		out.string = encoder_text(enc, name);
		break;
	}
	default:
		out.kind = CHAINLOG_EXIT;
		out.tid = ((const struct wire_exit *)(const void *)r)->tid;
		break;
	}
	return encoder_event(enc, &out);
}

static int take_sample(struct translator *t, const struct wire_layout_sample *s)
{
	uint32_t first, layout;

	if (s->n > WIRE_LAYOUT_FRAMES || s->n_words > WIRE_SAMPLE_WORDS)
		return -EBADMSG;
	if (!t->on_sample)
		return 0;
	first = stack_map_tracer_frames(t->stacks, s->frames, s->n, s->r.time_ns);
	layout = t->on_sample(t->sample_ctx, s, first);
	if (layout)
		stack_map_set_layout(t->stacks, s->id, layout, s->r.time_ns);
	return 0;
}

int translator_check(const struct wire_record *r, size_t len)
{
	static const size_t size_of[WIRE_KINDS] = {
		[WIRE_SWITCH] = sizeof(struct wire_switch),
		[WIRE_WAKING] = sizeof(struct wire_waking),
		[WIRE_WAKING_NEW] = sizeof(struct wire_waking),
		[WIRE_FORK] = sizeof(struct wire_fork),
		[WIRE_EXEC] = sizeof(struct wire_exec),
		[WIRE_RENAME] = sizeof(struct wire_rename),
		[WIRE_EXIT] = sizeof(struct wire_exit),
		[WIRE_CPU_SAMPLE] = sizeof(struct wire_cpu_sample),
		[WIRE_QUEUE] = sizeof(struct wire_queue),
		[WIRE_THROTTLED] = sizeof(struct wire_throttled),
		[WIRE_DISK_REQUEST] = sizeof(struct wire_cpu_sample),
		[WIRE_DISK_DONE] = sizeof(struct wire_disk_done),
		[WIRE_READY] = sizeof(struct wire_ready),
		[WIRE_INTERRUPTS] = sizeof(struct wire_interrupts),
		[WIRE_STEAL] = sizeof(struct wire_steal),
		[WIRE_STACK] = offsetof(struct wire_stack, frames),
		[WIRE_LOST] = sizeof(struct wire_lost),
		[WIRE_STACK_LAYOUT_SAMPLE] = sizeof(struct wire_layout_sample),
		[WIRE_OBJECT] = offsetof(struct wire_object, path),
	};

	return r->kind >= WIRE_KINDS || len < size_of[r->kind] ? -EBADMSG : 0;
}

static int encode_switch(struct translator *t, const struct wire_switch *ev)
{
	const struct wire_record *r = &ev->r;
	struct chainlog_fields waits = {
		.time_ns = r->time_ns,
		.cpu = r->cpu,
		.kind = CHAINLOG_AUX + CHAINLOG_OBJECT,
	};
	struct chainlog_fields out = translator_switch(ev);
	int err;

	out.kstack = stack_map_id(t->stacks, ev->kstack, r->time_ns);
	out.ustack = stack_map_id(t->stacks, ev->ustack, r->time_ns);
	err = encoder_event(t->enc, &out);
	if (err || !ev->object)
		return err;
	waits.number[0] = object_map_id(t->objects, ev->object, r->time_ns);
	return encoder_event(t->enc, &waits);
}

static int encode_waking(struct translator *t, const struct wire_waking *ev)
{
	struct chainlog_fields out = translator_waking(ev);

	out.kstack = stack_map_id(t->stacks, ev->kstack, ev->r.time_ns);
	out.ustack = stack_map_id(t->stacks, ev->ustack, ev->r.time_ns);
	return encoder_event(t->enc, &out);
}

int translator_record(void *ctx, const struct wire_record *r, size_t len)
{
	struct translator *t = ctx;

	if (translator_check(r, len))
		return -EBADMSG;
	switch (r->kind) {
	case WIRE_SWITCH:
		return encode_switch(t, (const void *)r);
	case WIRE_WAKING:
	case WIRE_WAKING_NEW:
		return encode_waking(t, (const void *)r);
	case WIRE_OBJECT:
		return object_map_take(t->objects, (const void *)r, len);
	case WIRE_STACK:
		return stack_map_take(t->stacks, (const void *)r, len);
	case WIRE_LOST: {
		const struct wire_lost *l = (const void *)r;

		if (aux_events_kind(l->event))
			return encoder_aux_lost(t->enc, r->cpu, aux_events_kind(l->event), l->n,
						r->time_ns, l->last_ns);
		return encoder_lost(t->enc, (int)r->cpu, l->n, r->time_ns, l->last_ns);
	}
	case WIRE_STACK_LAYOUT_SAMPLE:
		return take_sample(t, (const void *)r);
	default:
		if (aux_events_kind(r->kind))
			return aux_events_encode(&t->aux, r);
		return encode_identity(t->enc, r);
	}
}
