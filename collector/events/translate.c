// SPDX-License-Identifier: GPL-2.0-or-later
#include "translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"

struct translator {
	struct encoder *enc;
	struct symbolizer *sym;
	struct id_map *ids;
	struct disk_names disks;
	translator_sample_fn on_sample;
	void *sample_ctx;
	uint32_t last_frame; /* of the trace */
};

/* ---- the trace as a store of definitions --------------------------------------------------- */

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

static uint32_t trace_code_frame(void *ctx, uint32_t space, uint64_t addr,
				 const struct code_location *at, uint64_t time_ns)
{
	struct translator *t = ctx;
	uint32_t id = encoder_frame(t->enc, space, addr);

	(void)time_ns;
	if (id <= t->last_frame)
		return id;
	t->last_frame = id;
	if (*at->function)
		(void)encoder_code_name(t->enc, id, at->function, at->file, at->line);
	return id;
}

static int trace_stack(void *ctx, uint32_t *id, const uint32_t *frames, size_t n,
		       enum chainlog_stack_end end, uint64_t time_ns)
{
	struct translator *t = ctx;

	(void)time_ns;
	if (*id)
		return encoder_stack_define(t->enc, *id, frames, n, end);
	*id = encoder_stack(t->enc, frames, n, end);
	return *id ? 0 : -ENOMEM;
}

static int trace_object(void *ctx, uint32_t *id, const struct object_text *o, uint64_t time_ns)
{
	struct encoder_object encoded = { .class = o->class,
					  .name = o->name,
					  .own = o->own,
					  .peer = o->peer,
					  .owner = o->owner,
					  .device = o->device,
					  .inode = o->inode };
	struct translator *t = ctx;

	(void)time_ns;
	if (*id)
		return encoder_object_define(t->enc, *id, &encoded);
	*id = encoder_object(t->enc, &encoded);
	return *id ? 0 : -ENOMEM;
}

static uint32_t trace_reserve(void *ctx, bool is_object, uint64_t time_ns)
{
	struct translator *t = ctx;

	(void)time_ns;
	return is_object ? encoder_object_reserve(t->enc) : encoder_stack_reserve(t->enc);
}

/* ---- beginning and end --------------------------------------------------------------------- */

int translator_new(struct translator **out, struct encoder *enc, struct symbolizer *sym,
		   const struct definition_store *store, translator_sample_fn fn, void *ctx)
{
	struct translator *t = calloc(1, sizeof(*t));
	struct definition_store trace = {
		.frame = trace_frame,
		.code_frame = trace_code_frame,
		.stack = trace_stack,
		.object = trace_object,
		.reserve = trace_reserve,
		.ctx = t,
	};

	*out = t;
	if (!t)
		return -ENOMEM;
	t->enc = enc;
	t->sym = sym;
	t->on_sample = fn;
	t->sample_ctx = ctx;
	if (id_map_new(&t->ids, store ? store : &trace, sym)) {
		free(t);
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

void translator_free(struct translator *t)
{
	if (!t)
		return;
	id_map_free(t->ids);
	free(t);
}

struct id_map *translator_ids(struct translator *t)
{
	return t->ids;
}

/* ---- switches, wakings, threads ------------------------------------------------------------ */

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

uint32_t translator_own_id(const struct wire_thread *w)
{
	return w->tid == w->tgid && w->own_tid != w->tid ? w->own_tid : 0;
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
	thread.kstack = id_map_listed_stack(t->ids, w);
	thread.ustack = id_map_stack(t->ids, w->ustack, w->seen_ns);
	thread.object = id_map_object(t->ids, w->object, w->seen_ns);
	thread.group = id_map_object(t->ids, w->group, w->seen_ns);
	thread.own_id = translator_own_id(w);
	return encoder_thread(t->enc, &thread);
}

int translator_holder(void *ctx, uint32_t tid, uint32_t holder)
{
	struct translator *t = ctx;

	return encoder_thread_holder(t->enc, tid, holder);
}

/* ---- events that are single records -------------------------------------------------------- */

/* The trace's kind of a kind of record; CHAINLOG_AUX is added to those of AUX_EVENTS blocks. */
static const uint8_t kind_of[WIRE_COUNTED_KINDS] = {
	[WIRE_SWITCH] = CHAINLOG_SWITCH,
	[WIRE_WAKING] = CHAINLOG_WAKING,
	[WIRE_WAKING_NEW] = CHAINLOG_WAKING_NEW,
	[WIRE_FORK] = CHAINLOG_FORK,
	[WIRE_EXEC] = CHAINLOG_EXEC,
	[WIRE_RENAME] = CHAINLOG_RENAME,
	[WIRE_EXIT] = CHAINLOG_EXIT,
	[WIRE_CPU_SAMPLE] = CHAINLOG_AUX + CHAINLOG_SAMPLE,
	[WIRE_QUEUE] = CHAINLOG_AUX + CHAINLOG_QUEUE,
	[WIRE_THROTTLED] = CHAINLOG_AUX + CHAINLOG_THROTTLED,
	[WIRE_WAITS_FOR] = CHAINLOG_AUX + CHAINLOG_OBJECT,
	[WIRE_DISK_REQUEST] = CHAINLOG_AUX + CHAINLOG_DISK_REQUEST,
	[WIRE_DISK_DONE] = CHAINLOG_AUX + CHAINLOG_DISK_DONE,
	[WIRE_READY] = CHAINLOG_AUX + CHAINLOG_READY,
	[WIRE_INTERRUPTS] = CHAINLOG_AUX + CHAINLOG_INTERRUPTS,
	[WIRE_STEAL] = CHAINLOG_AUX + CHAINLOG_STEAL,
	[WIRE_REQUEST] = CHAINLOG_AUX + CHAINLOG_REQUEST,
	[WIRE_REQUEST_MORE] = CHAINLOG_AUX + CHAINLOG_REQUEST_MORE,
	[WIRE_REQUEST_OPEN] = CHAINLOG_AUX + CHAINLOG_REQUEST_OPEN,
	[WIRE_PROBED] = CHAINLOG_AUX + CHAINLOG_REQUEST,
	[WIRE_PROBED_OPEN] = CHAINLOG_AUX + CHAINLOG_REQUEST_OPEN,
	[WIRE_CONTEXT] = CHAINLOG_AUX + CHAINLOG_CONTEXT,
	[WIRE_HOLDER] = CHAINLOG_AUX + CHAINLOG_HOLDER,
	[WIRE_RECORDER] = CHAINLOG_AUX + CHAINLOG_RECORDER,
	[WIRE_GROUP] = CHAINLOG_AUX + CHAINLOG_GROUP,
	[WIRE_OWN_ID] = CHAINLOG_AUX + CHAINLOG_OWN_ID,
	[WIRE_STREAM] = CHAINLOG_AUX + CHAINLOG_STREAM,
	[WIRE_UNTHROTTLED] = CHAINLOG_AUX + CHAINLOG_UNTHROTTLED,
	[WIRE_NOT_SENT] = CHAINLOG_AUX + CHAINLOG_NOT_SENT,
	[WIRE_WORK] = CHAINLOG_AUX + CHAINLOG_WORK,
	[WIRE_TCP_TIMER] = CHAINLOG_AUX + CHAINLOG_TCP_TIMER,
};

/* The operations have the same numbers on both sides, quotas, and the flags of requests. */
_Static_assert((int)WIRE_QUOTAS == (int)CHAINLOG_QUOTAS, "quotas");
_Static_assert((int)WIRE_TCP_TIMERS == (int)CHAINLOG_TCP_TIMERS, "timers of TCP");
_Static_assert((int)WIRE_DISK_OPS == (int)CHAINLOG_DISK_OPS, "operations of requests");

_Static_assert((int)WIRE_REQUEST_PROBED == (int)CHAINLOG_REQUEST_PROBED &&
		       (int)WIRE_REQUEST_NO_ARRIVAL == (int)CHAINLOG_REQUEST_NO_ARRIVAL &&
		       (int)WIRE_REQUEST_UNSENT == (int)CHAINLOG_REQUEST_UNSENT &&
		       (int)WIRE_REQUEST_OLD == (int)CHAINLOG_REQUEST_OLD &&
		       (int)WIRE_REQUEST_PIPELINED == (int)CHAINLOG_REQUEST_PIPELINED &&
		       (int)WIRE_REQUEST_FIRST == (int)CHAINLOG_REQUEST_FIRST,
	       "flags of requests");

/* The string's id. It is a copy of foreign memory: it ends with its field at the latest. */
static uint32_t string_of(struct translator *t, const char *field, size_t size)
{
	char text[WIRE_PATH_LEN + 1];

	snprintf(text, sizeof(text), "%.*s", (int)size, field);
	return encoder_text(t->enc, text);
}

/* The time from at_ns to the event; 0 if at_ns is not known, and only then. */
static uint64_t since(const struct wire_record *r, uint64_t at_ns)
{
	if (!at_ns)
		return 0;
	return at_ns < r->time_ns ? r->time_ns - at_ns : 1;
}

static void take_disk_done(struct translator *t, const struct wire_disk_done *d,
			   struct chainlog_fields *out)
{
	struct object_text disk = { .class = "disk" };

	disk_name(&t->disks, d->disk, d->r.time_ns, disk.name);
	out->tid = d->tid;
	out->number[0] = id_map_text(t->ids, &disk, d->r.time_ns);
	out->number[1] = chainlog_disk_what(d->op, d->bytes);
	out->number[2] = since(&d->r, d->asked_ns);
	out->number[3] = since(&d->r, d->issued_ns);
	out->number[4] = id_map_object(t->ids, d->group, d->r.time_ns);
}

/* How long before the event something was, at most as long as what came before it. */
static uint64_t age(const struct wire_record *r, uint64_t at_ns, uint64_t limit_ns)
{
	uint64_t ns = at_ns < r->time_ns ? r->time_ns - at_ns : 0;

	return ns < limit_ns ? ns : limit_ns;
}

/* A request, more of its answer, or one that is open. */
static void take_request(struct translator *t, const struct wire_request *w,
			 struct chainlog_fields *out)
{
	const struct wire_record *r = &w->r;
	bool more = r->kind == WIRE_REQUEST_MORE;
	bool open = r->kind == WIRE_REQUEST_OPEN || r->kind == WIRE_PROBED_OPEN;

	out->tid = open ? w->reader : w->writer;
	out->other = open || more ? 0 : w->reader;
	out->kstack = id_map_stack(t->ids, w->kstack, r->time_ns);
	out->ustack = id_map_stack(t->ids, w->ustack, r->time_ns);
	out->number[0] = more ? 0 : id_map_object(t->ids, w->endpoint, r->time_ns);
	out->number[1] = w->connection;
	out->number[2] = w->flags;
	out->number[3] = age(r, w->arrival_ns, UINT64_MAX);
	out->number[4] = age(r, w->taken_ns, out->number[3]);
	out->number[5] = age(r, w->answer_ns, more ? out->number[3] : out->number[4]);
	out->number[6] = w->bytes_read;
	out->number[7] = w->bytes_written;
}

/* A request that probes mark. */
static void take_probed(struct translator *t, const struct wire_probed *w,
			struct chainlog_fields *out)
{
	struct object_text endpoint = { .class = CHAINLOG_CLASS_REQUEST };
	struct object_text label = { .class = CHAINLOG_CLASS_LABEL };

	take_request(t, &w->request, out);
	snprintf(endpoint.name, sizeof(endpoint.name), "%.*s", (int)sizeof(w->name), w->name);
	out->number[0] = id_map_text(t->ids, &endpoint, w->request.r.time_ns);
	if (w->label_is == WIRE_LABEL_STRING)
		snprintf(label.name, sizeof(label.name), "%.*s", (int)sizeof(w->label), w->label);
	else if (w->label_is == WIRE_LABEL_SIGNED)
		snprintf(label.name, sizeof(label.name), "%lld", (long long)w->number);
	else if (w->label_is)
		snprintf(label.name, sizeof(label.name), "%llu", (unsigned long long)w->number);
	if (w->label_is)
		out->number[8] = id_map_text(t->ids, &label, w->request.r.time_ns);
}

/* All but switches and wakings. */
static int encode_event(struct translator *t, const struct wire_record *r)
{
	const union {
		struct wire_record r;
		struct wire_fork fork;
		struct wire_exec exec;
		struct wire_rename rename;
		struct wire_of_thread thread;
		struct wire_cpu_sample sample;
		struct wire_queue queue;
		struct wire_ready ready;
		struct wire_stolen stolen;
		struct wire_context context;
		struct wire_holder holder;
		struct wire_group group;
		struct wire_own_id own_id;
		struct wire_stream stream;
		struct wire_unthrottled unthrottled;
		struct wire_tcp_timer tcp_timer;
		struct wire_work work;
	} *w = (const void *)r;
	struct chainlog_fields out = { .time_ns = r->time_ns, .cpu = r->cpu };

	switch (r->kind) {
	case WIRE_FORK:
		out.tid = w->fork.parent;
		out.other = w->fork.child;
		out.tgid = w->fork.child_tgid;
		out.string = string_of(t, w->fork.name, sizeof(w->fork.name));
		break;
	case WIRE_EXEC:
		out.tid = w->exec.tid;
		out.other = w->exec.old_tid;
		out.string = string_of(t, w->exec.filename, sizeof(w->exec.filename));
		break;
	case WIRE_RENAME:
		out.tid = w->rename.tid;
		out.string = string_of(t, w->rename.name, sizeof(w->rename.name));
		break;
	case WIRE_EXIT:
	case WIRE_THROTTLED:
	case WIRE_NOT_SENT:
		out.tid = w->thread.tid;
		break;
	case WIRE_CPU_SAMPLE:
	case WIRE_DISK_REQUEST:
		out.tid = w->sample.tid;
		out.kstack = id_map_stack(t->ids, w->sample.kstack, r->time_ns);
		out.ustack = id_map_stack(t->ids, w->sample.ustack, r->time_ns);
		break;
	case WIRE_DISK_DONE:
		take_disk_done(t, (const void *)r, &out);
		break;
	case WIRE_REQUEST:
	case WIRE_REQUEST_MORE:
	case WIRE_REQUEST_OPEN:
		take_request(t, (const void *)r, &out);
		break;
	case WIRE_PROBED:
	case WIRE_PROBED_OPEN:
		take_probed(t, (const void *)r, &out);
		break;
	case WIRE_QUEUE:
		out.tid = w->queue.tid;
		out.number[0] = w->queue.place;
		break;
	case WIRE_INTERRUPTS:
	case WIRE_STEAL:
	case WIRE_RECORDER:
		out.number[0] = w->stolen.ns;
		break;
	case WIRE_READY:
		out.tid = w->ready.tid;
		out.number[0] = id_map_object(t->ids, w->ready.object, r->time_ns);
		break;
	case WIRE_CONTEXT:
		out.tid = w->context.tid;
		out.number[0] = id_map_object(t->ids, w->context.route, r->time_ns);
		out.number[1] = w->context.trace[0];
		out.number[2] = w->context.trace[1];
		out.number[3] = w->context.span;
		break;
	case WIRE_HOLDER:
		out.tid = w->holder.tid;
		out.other = w->holder.holder;
		break;
	case WIRE_GROUP:
		out.tid = w->group.tid;
		out.number[0] = id_map_object(t->ids, w->group.object, r->time_ns);
		out.number[1] = w->group.process;
		break;
	case WIRE_UNTHROTTLED:
		out.tid = w->unthrottled.tid;
		out.number[0] = id_map_object(t->ids, w->unthrottled.group, r->time_ns);
		out.number[1] = age(r, w->unthrottled.since_ns, UINT64_MAX);
		out.number[2] = age(r, w->unthrottled.until_ns, out.number[1]);
		out.number[3] = w->unthrottled.why;
		break;
	case WIRE_TCP_TIMER:
		out.tid = w->tcp_timer.tid;
		out.number[0] = w->tcp_timer.which;
		out.number[1] = age(r, w->tcp_timer.since_ns, UINT64_MAX);
		out.number[2] = age(r, w->tcp_timer.at_ns, out.number[1]);
		break;
	case WIRE_OWN_ID:
		out.tid = w->own_id.tid;
		out.other = w->own_id.id;
		break;
	case WIRE_STREAM:
		out.tid = w->stream.tid;
		out.number[0] = id_map_object(t->ids, w->stream.object, r->time_ns);
		out.number[1] = w->stream.written;
		out.number[2] = w->stream.received;
		break;
	case WIRE_WORK:
		out.tid = w->work.tid;
		out.other = w->work.queuer;
		out.kstack = id_map_stack(t->ids, w->work.kstack, r->time_ns);
		out.ustack = id_map_stack(t->ids, w->work.ustack, r->time_ns);
		out.number[0] = w->work.what;
		out.number[1] = age(r, w->work.queued_ns, UINT64_MAX);
		break;
	default:
		return -EBADMSG;
	}
	out.kind = kind_of[r->kind];
	return encoder_event(t->enc, &out);
}

/* ---- records ------------------------------------------------------------------------------- */

static int take_sample(struct translator *t, const struct wire_layout_sample *s)
{
	uint32_t first, layout;

	if (s->n > WIRE_LAYOUT_FRAMES || s->n_words > WIRE_SAMPLE_WORDS)
		return -EBADMSG;
	if (!t->on_sample)
		return 0;
	first = id_map_tracer_frames(t->ids, s->frames, s->n, s->r.time_ns);
	layout = t->on_sample(t->sample_ctx, s, first);
	if (layout)
		id_map_set_layout(t->ids, s->id, layout, s->r.time_ns);
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
		[WIRE_EXIT] = sizeof(struct wire_of_thread),
		[WIRE_CPU_SAMPLE] = sizeof(struct wire_cpu_sample),
		[WIRE_QUEUE] = sizeof(struct wire_queue),
		[WIRE_THROTTLED] = sizeof(struct wire_of_thread),
		[WIRE_DISK_REQUEST] = sizeof(struct wire_cpu_sample),
		[WIRE_DISK_DONE] = sizeof(struct wire_disk_done),
		[WIRE_READY] = sizeof(struct wire_ready),
		[WIRE_INTERRUPTS] = sizeof(struct wire_stolen),
		[WIRE_STEAL] = sizeof(struct wire_stolen),
		[WIRE_REQUEST] = sizeof(struct wire_request),
		[WIRE_REQUEST_MORE] = sizeof(struct wire_request),
		[WIRE_REQUEST_OPEN] = sizeof(struct wire_request),
		[WIRE_PROBED] = sizeof(struct wire_probed),
		[WIRE_PROBED_OPEN] = sizeof(struct wire_probed),
		[WIRE_CONTEXT] = sizeof(struct wire_context),
		[WIRE_HOLDER] = sizeof(struct wire_holder),
		[WIRE_RECORDER] = sizeof(struct wire_stolen),
		[WIRE_GROUP] = sizeof(struct wire_group),
		[WIRE_OWN_ID] = sizeof(struct wire_own_id),
		[WIRE_STREAM] = sizeof(struct wire_stream),
		[WIRE_UNTHROTTLED] = sizeof(struct wire_unthrottled),
		[WIRE_TCP_TIMER] = sizeof(struct wire_tcp_timer),
		[WIRE_NOT_SENT] = sizeof(struct wire_of_thread),
		[WIRE_WORK] = sizeof(struct wire_work),
		[WIRE_STACK] = offsetof(struct wire_stack, frames),
		[WIRE_LOST] = sizeof(struct wire_lost),
		[WIRE_STACK_LAYOUT_SAMPLE] = sizeof(struct wire_layout_sample),
		[WIRE_OBJECT] = offsetof(struct wire_object, path),
		[WIRE_CODE] = offsetof(struct wire_code, lines),
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

	out.kstack = id_map_stack(t->ids, ev->kstack, r->time_ns);
	out.ustack = id_map_stack(t->ids, ev->ustack, r->time_ns);
	err = encoder_event(t->enc, &out);
	if (err || !ev->object)
		return err;
	waits.number[0] = id_map_object(t->ids, ev->object, r->time_ns);
	return encoder_event(t->enc, &waits);
}

static int encode_waking(struct translator *t, const struct wire_waking *ev)
{
	struct chainlog_fields out = translator_waking(ev);

	out.kstack = id_map_stack(t->ids, ev->kstack, ev->r.time_ns);
	out.ustack = id_map_stack(t->ids, ev->ustack, ev->r.time_ns);
	return encoder_event(t->enc, &out);
}

static int encode_loss(struct translator *t, const struct wire_lost *l)
{
	if (l->event < WIRE_EVENT_KINDS || l->event >= WIRE_COUNTED_KINDS)
		return encoder_lost(t->enc, (int)l->r.cpu, l->n, l->r.time_ns, l->last_ns);
	return encoder_aux_lost(t->enc, l->r.cpu, kind_of[l->event], l->n, l->r.time_ns,
				l->last_ns);
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
		return id_map_take_object(t->ids, (const void *)r, len);
	case WIRE_CODE:
		return id_map_take_code(t->ids, (const void *)r, len);
	case WIRE_STACK:
		return id_map_take_stack(t->ids, (const void *)r, len);
	case WIRE_LOST:
		return encode_loss(t, (const void *)r);
	case WIRE_STACK_LAYOUT_SAMPLE:
		return take_sample(t, (const void *)r);
	default:
		return encode_event(t, r);
	}
}
