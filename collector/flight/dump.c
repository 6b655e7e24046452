// SPDX-License-Identifier: GPL-2.0-or-later
#include "dump.h"

#include <errno.h>
#include <stdlib.h>

#include "events/exec_text.h"

int dump_begin(struct dump *d, const struct definitions *from, struct encoder *out)
{
	*d = (struct dump) {
		.from = from,
		.out = out,
		.stack_ids = calloc(from->stacks.n + 1, sizeof(*d->stack_ids)),
		.frame_ids = calloc(from->frames.n + 1, sizeof(*d->frame_ids)),
		.space_ids = calloc(from->spaces.n + 1, sizeof(*d->space_ids)),
		.object_ids = calloc(from->objects.n + 1, sizeof(*d->object_ids)),
	};
	return d->stack_ids && d->frame_ids && d->space_ids && d->object_ids ? 0 : -ENOMEM;
}

void dump_end(struct dump *d)
{
	free(d->stack_ids);
	free(d->frame_ids);
	free(d->space_ids);
	free(d->object_ids);
}

static uint32_t put_space(struct dump *d, uint32_t id)
{
	if (id && !d->space_ids[id]) {
		uint32_t tgid;
		const char *exe = definitions_space(d->from, id, &tgid);

		d->space_ids[id] = encoder_space(d->out, tgid, exe);
	}
	return d->space_ids[id];
}

static void put_code_name(struct dump *d, uint32_t frame, const struct code_location *at)
{
	if (at->function && *at->function)
		(void)encoder_code_name(d->out, frame, at->function, at->file, at->line);
}

static uint32_t put_frame(struct dump *d, uint32_t id)
{
	struct symbolizer_place place;
	struct code_location code;
	uint32_t space, frame;
	uint64_t addr;

	if (!id || d->frame_ids[id])
		return d->frame_ids[id];
	space = put_space(d, definitions_frame(d->from, id, &addr, &place, &code));
	frame = space ? encoder_frame(d->out, space, addr)
		      : encoder_kernel_frame(d->out, addr, (uint32_t)place.offset);
	d->frame_ids[id] = frame;
	if (frame <= d->last_frame)
		return frame;
	d->last_frame = frame;
	if (addr & CHAINLOG_CODE_TAG && space)
		put_code_name(d, frame, &code);
	else if (space)
		symbolizer_placed_frame(d->from->sym, frame, &place);
	else
		symbolizer_kernel_frame(d->from->sym, frame, addr, (uint32_t)place.offset);
	return frame;
}

static uint32_t put_stack(struct dump *d, uint32_t id)
{
	uint32_t ids[CHAINLOG_STACK_MAX];
	const uint32_t *frames;
	size_t n;
	enum chainlog_stack_end end;

	if (!id || d->stack_ids[id])
		return d->stack_ids[id];
	frames = definitions_stack(d->from, id, &n, &end);
	for (size_t i = 0; frames && i < n; i++)
		ids[i] = put_frame(d, frames[i]);
	d->stack_ids[id] =
		frames ? encoder_stack(d->out, ids, n, end) : encoder_stack_reserve(d->out);
	return d->stack_ids[id];
}

static uint32_t put_object(struct dump *d, uint64_t id)
{
	struct encoder_object o;

	if (!id || id > d->from->objects.n)
		return 0;
	if (d->object_ids[id])
		return d->object_ids[id];
	d->object_ids[id] = definitions_object(d->from, (uint32_t)id, &o)
				    ? encoder_object(d->out, &o)
				    : encoder_object_reserve(d->out);
	return d->object_ids[id];
}

int dump_threads(struct dump *d, const struct threads *threads, uint64_t from_ns)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < threads->n; i++) {
		const struct thread_state *t = &threads->list[i];
		bool certain = threads_certain(threads, t);
		bool asleep = certain && t->doing == THREAD_ASLEEP;
		struct encoder_thread out = {
			.tid = t->tid,
			.tgid = t->tgid,
			.start_ns = t->start_ns,
			/* No event changed its state between its last one and from_ns. */
			.seen_ns = t->last_ns > from_ns ? t->last_ns : from_ns,
			.flags = t->flags | (certain && t->doing == THREAD_RUNNING
						     ? (uint32_t)CHAINLOG_THREAD_RUNNING
						     : 0),
			/* The format has no more for a thread that is runnable or unknown. */
			.state = asleep ? t->state : 'R',
			.kstack = asleep ? put_stack(d, t->kstack) : 0,
			.ustack = asleep ? put_stack(d, t->ustack) : 0,
			.object = asleep ? put_object(d, t->object) : 0,
			.group = put_object(d, t->group),
			.own_id = t->own_id,
		};

		if (!t->tid)
			continue;
		out.name = encoder_text(d->out, t->name);
		err = encoder_thread(d->out, &out);
		if (!err && asleep && t->holder)
			err = encoder_thread_holder(d->out, t->tid, t->holder);
	}
	return err;
}

static int put_event(struct dump *d, const struct event *ev)
{
	char text[EXEC_TEXT_SIZE]; /* a name, or what a program was started with */
	struct event out = *ev;

	out.kstack = put_stack(d, ev->kstack);
	out.ustack = put_stack(d, ev->ustack);
	for (const struct event_field *f = event_fields(ev->kind); f->type; f++)
		if (f->type == FIELD_OBJECT)
			*event_id(&out, f) = put_object(d, *event_id(&out, f));
	if (ev->kind == CHAINLOG_FORK || ev->kind == CHAINLOG_EXEC || ev->kind == CHAINLOG_RENAME) {
		id_pool_text(&d->from->strings, ev->string, text, sizeof(text));
		out.string = encoder_text(d->out, text);
	}
	return encoder_event(d->out, &out);
}

int dump_events(struct dump *d, struct event_view *v, uint64_t end_ns)
{
	const struct event *ev;
	int err = 0;

	while (!err && (ev = event_view_next(v, end_ns)))
		err = put_event(d, ev);
	return err ? err : v->error;
}
