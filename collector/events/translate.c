// SPDX-License-Identifier: GPL-2.0-or-later
#include "translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/event_block.h"
#include "exec_text.h"

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
					  .inode = o->inode,
					  .protocol = o->protocol };
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

struct event translator_waking(const struct wire_waking *ev)
{
	return (struct event) {
		.time_ns = ev->r.time_ns,
		.cpu = ev->r.cpu,
		.kind = ev->r.kind == WIRE_WAKING_NEW ? CHAINLOG_WAKING_NEW : CHAINLOG_WAKING,
		.flags = ev->target & WIRE_OFF_QUEUE ? CHAINLOG_F_OFF_QUEUE : 0,
		.tid = ev->waker,
		.other = ev->target & ~WIRE_OFF_QUEUE,
	};
}

struct event translator_switch(const struct wire_switch *ev)
{
	return (struct event) {
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

/* A kind of record: what kind of event it is in the trace, and its size. */
static const struct {
	uint32_t size;
	uint8_t event; /* enum event_kind; of definitions 0 */
} kinds[WIRE_KINDS] = {
	[WIRE_SWITCH] = { sizeof(struct wire_switch), EVENT_SWITCH },
	[WIRE_WAKING] = { sizeof(struct wire_waking), EVENT_WAKING },
	[WIRE_WAKING_NEW] = { sizeof(struct wire_waking), EVENT_WAKING_NEW },
	[WIRE_FORK] = { sizeof(struct wire_fork), EVENT_FORK },
	[WIRE_EXEC] = { sizeof(struct wire_exec), EVENT_EXEC },
	[WIRE_RENAME] = { sizeof(struct wire_rename), EVENT_RENAME },
	[WIRE_EXIT] = { sizeof(struct wire_of_thread), EVENT_EXIT },
#define RECORD_OF(NAME, record, event) \
	[WIRE_##NAME] = { sizeof(struct wire_##record), EVENT_##event },
#define EVENT(NAME, number, record, slices, shown, key, fields) RECORD_OF(NAME, record, NAME)
#include "events.def"
	[WIRE_STACK] = { offsetof(struct wire_stack, frames), 0 },
	[WIRE_LOST] = { sizeof(struct wire_lost), 0 },
	[WIRE_STACK_LAYOUT_SAMPLE] = { sizeof(struct wire_layout_sample), 0 },
	[WIRE_OBJECT] = { offsetof(struct wire_object, path), 0 },
	[WIRE_CODE] = { offsetof(struct wire_code, lines), 0 },
	[WIRE_HEADERS] = { offsetof(struct wire_headers, bytes), 0 },
	[WIRE_SWITCH_EDGE] = { sizeof(struct wire_switch), EVENT_SWITCH },
	[WIRE_WAKING_EDGE] = { sizeof(struct wire_waking), EVENT_WAKING },
};

/*
 * Where the fields of event_fields() are in the record; size 0: what is made of others.
 */
struct record_field {
	uint8_t at, size;
};

#define TID(record, f) \
	{ offsetof(struct wire_##record, f), sizeof(((struct wire_##record *)NULL)->f) },
#define OTHER(record, f) TID(record, f)
#define KSTACK(record) TID(record, kstack)
#define USTACK(record) TID(record, ustack)
#define OBJECT(record, f) TID(record, f)
#define NUMBER(record, f) TID(record, f)
#define MADE_OBJECT(record, f) { 0, 0 },
#define MADE_NUMBER(record, f) { 0, 0 },
#define EVENT(NAME, number, record, slices, shown, key, fields) [number] = { fields },

static const struct record_field record_fields[CHAINLOG_AUX_KINDS][EVENT_FIELDS] = {
#include "events.def"
};

/* The string's id. It is a copy of foreign memory: it ends with its field at the latest. */
static uint32_t string_of(struct translator *t, const char *field, size_t size)
{
	char text[WIRE_PATH_LEN + 1];

	snprintf(text, sizeof(text), "%.*s", (int)size, field);
	return encoder_text(t->enc, text);
}

/* Copies the fields of a record that is an event of events.def. */
static void take_fields(struct translator *t, const struct wire_record *r, struct event *out)
{
	const struct record_field *from = record_fields[out->kind - CHAINLOG_AUX];

	for (const struct event_field *f = event_fields(out->kind); f->type; f++, from++) {
		const void *at = (const char *)r + from->at;
		uint64_t v = from->size == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;

		if (!from->size)
			continue;
		if (f->type >= FIELD_NUMBER)
			*(uint64_t *)(void *)event_id(out, f) = v;
		else if (f->type == FIELD_STACK)
			*event_id(out, f) = id_map_stack(t->ids, (uint32_t)v, r->time_ns);
		else if (f->type == FIELD_OBJECT)
			*event_id(out, f) = id_map_object(t->ids, (uint32_t)v, r->time_ns);
		else
			*event_id(out, f) = (uint32_t)v;
	}
}

static void make_disk(struct translator *t, const struct wire_disk_done *d, struct event *out)
{
	struct object_text disk = { .class = "disk" };

	disk_name(&t->disks, d->disk, d->r.time_ns, disk.name);
	out->disk_done.disk = id_map_text(t->ids, &disk, d->r.time_ns);
	out->disk_done.what = chainlog_disk_what(d->op, d->bytes);
}

/* What a request that probes mark, and this one, are called. */
static void make_names(struct translator *t, const struct wire_probed *w, struct event *out)
{
	struct object_text endpoint = { .class = CHAINLOG_CLASS_REQUEST };
	struct object_text label = { .class = CHAINLOG_CLASS_LABEL };

	snprintf(endpoint.name, sizeof(endpoint.name), "%.*s", (int)sizeof(w->name), w->name);
	out->request.endpoint = id_map_text(t->ids, &endpoint, w->request.r.time_ns);
	if (w->label_is == WIRE_LABEL_STRING)
		snprintf(label.name, sizeof(label.name), "%.*s", (int)sizeof(w->label), w->label);
	else if (w->label_is == WIRE_LABEL_SIGNED)
		snprintf(label.name, sizeof(label.name), "%lld", (long long)w->number);
	else if (w->label_is)
		snprintf(label.name, sizeof(label.name), "%llu", (unsigned long long)w->number);
	if (w->label_is)
		out->request.label = id_map_text(t->ids, &label, w->request.r.time_ns);
}

/* All but switches and wakings. */
static int encode_event(struct translator *t, const struct wire_record *r)
{
	struct event out = { .time_ns = r->time_ns, .cpu = r->cpu };
	const union {
		struct wire_fork fork;
		struct wire_exec exec;
		struct wire_rename rename;
		struct wire_of_thread thread;
	} *w = (const void *)r;
	char text[EXEC_TEXT_SIZE];

	if (r->kind >= WIRE_COUNTED_KINDS)
		return -EBADMSG;
	out.kind = kinds[r->kind].event;
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
		exec_text(text, &w->exec);
		out.string = encoder_text(t->enc, text);
		break;
	case WIRE_RENAME:
		out.tid = w->rename.tid;
		out.string = string_of(t, w->rename.name, sizeof(w->rename.name));
		break;
	case WIRE_EXIT:
		out.tid = w->thread.tid;
		break;
	case WIRE_DISK_DONE:
		make_disk(t, (const void *)r, &out);
		break;
	default:
		break;
	}
	if (out.kind >= CHAINLOG_AUX)
		take_fields(t, r, &out);
	if (r->kind == WIRE_PROBED || r->kind == WIRE_PROBED_OPEN)
		make_names(t, (const void *)r, &out);
	if (r->kind == WIRE_REQUEST || r->kind == WIRE_REQUEST_OPEN)
		out.request.label = id_map_route(t->ids, (const void *)r, out.request.endpoint);
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
	const struct wire_request *request = (const void *)r;
	const struct wire_headers *headers = (const void *)r;

	if (r->kind >= WIRE_KINDS || len < kinds[r->kind].size)
		return -EBADMSG;
	if ((r->kind == WIRE_REQUEST || r->kind == WIRE_REQUEST_OPEN) && request->n_bytes &&
	    (request->n_bytes > WIRE_REQUEST_BYTES || len < sizeof(struct wire_request_bytes)))
		return -EBADMSG;
	if (r->kind == WIRE_HEADERS && (headers->n_bytes > WIRE_HEADERS_BYTES ||
					len < kinds[WIRE_HEADERS].size + headers->n_bytes))
		return -EBADMSG;
	return 0;
}

static int encode_switch(struct translator *t, const struct wire_switch *ev)
{
	const struct wire_record *r = &ev->r;
	struct event waits = {
		.time_ns = r->time_ns,
		.cpu = r->cpu,
		.kind = EVENT_WAITS_FOR,
	};
	struct event out = translator_switch(ev);
	int err;

	out.kstack = id_map_stack(t->ids, ev->kstack, r->time_ns);
	out.ustack = id_map_stack(t->ids, ev->ustack, r->time_ns);
	err = encoder_event(t->enc, &out);
	if (err || !ev->object)
		return err;
	waits.awaited.object = id_map_object(t->ids, ev->object, r->time_ns);
	return encoder_event(t->enc, &waits);
}

static int encode_waking(struct translator *t, const struct wire_waking *ev)
{
	struct event out = translator_waking(ev);

	out.kstack = id_map_stack(t->ids, ev->kstack, ev->r.time_ns);
	out.ustack = id_map_stack(t->ids, ev->ustack, ev->r.time_ns);
	return encoder_event(t->enc, &out);
}

static int encode_loss(struct translator *t, const struct wire_lost *l)
{
	if (l->event < WIRE_EVENT_KINDS || l->event >= WIRE_COUNTED_KINDS)
		return encoder_lost(t->enc, (int)l->r.cpu, l->n, l->r.time_ns, l->last_ns);
	return encoder_aux_lost(t->enc, l->r.cpu, kinds[l->event].event, l->n, l->r.time_ns,
				l->last_ns);
}

int translator_record(void *ctx, const struct wire_record *r, size_t len)
{
	struct translator *t = ctx;

	if (translator_check(r, len))
		return -EBADMSG;
	switch (r->kind) {
	case WIRE_SWITCH:
	case WIRE_SWITCH_EDGE:
		return encode_switch(t, (const void *)r);
	case WIRE_WAKING:
	case WIRE_WAKING_NEW:
	case WIRE_WAKING_EDGE:
		return encode_waking(t, (const void *)r);
	case WIRE_OBJECT:
		return id_map_take_object(t->ids, (const void *)r, len);
	case WIRE_CODE:
		return id_map_take_code(t->ids, (const void *)r, len);
	case WIRE_HEADERS:
		id_map_headers(t->ids, (const void *)r);
		return 0;
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
