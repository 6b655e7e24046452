// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "flight_private.h"

/* From the flight's ids to those of the trace; 0: not yet named in it. */
struct dump {
	struct flight *f;
	struct encoder *out;
	uint32_t *stacks, *frames, *spaces;
	uint32_t last_frame;
};

static uint32_t put_space(struct dump *d, uint32_t id)
{
	if (id && !d->spaces[id]) {
		struct flight_space s = flight_space(d->f->stacks, id);

		d->spaces[id] = encoder_space(d->out, s.tgid, s.exe);
	}
	return d->spaces[id];
}

static uint32_t put_frame(struct dump *d, uint32_t id)
{
	struct symbolizer_place place;
	uint32_t space, frame;
	uint64_t addr;

	if (!id || d->frames[id])
		return d->frames[id];
	space = put_space(d, flight_frame(d->f->stacks, id, &addr, &place));
	frame = encoder_frame(d->out, space, addr);
	d->frames[id] = frame;
	if (frame <= d->last_frame)
		return frame;
	d->last_frame = frame;
	if (space)
		symbolizer_placed_frame(d->f->sym, frame, &place);
	else
		symbolizer_kernel_frame(d->f->sym, frame, addr);
	return frame;
}

static uint32_t put_stack(struct dump *d, uint32_t id)
{
	uint32_t ids[CHAINLOG_STACK_MAX];
	const uint32_t *frames;
	size_t n;
	int cut;

	if (!id || d->stacks[id])
		return d->stacks[id];
	frames = flight_stacks_frames(d->f->stacks, id, &n, &cut);
	for (size_t i = 0; frames && i < n; i++)
		ids[i] = put_frame(d, frames[i]);
	d->stacks[id] = frames ? encoder_stack(d->out, ids, n, cut) : encoder_stack_reserve(d->out);
	return d->stacks[id];
}

/* The threads as they were when the window began. */
static int put_threads(struct dump *d, uint64_t from_ns)
{
	const struct threads *all = &d->f->threads;
	int err = 0;

	for (uint32_t i = 0; !err && i < all->n; i++) {
		const struct thread *t = &all->list[i];
		bool certain = threads_certain(all, t);
		bool asleep = certain && t->doing == THREAD_ASLEEP;
		struct encoder_thread out = {
			.tid = t->tid,
			.tgid = t->tgid,
			.start_ns = t->start_ns,
			/* Nothing has happened to it from its last event on until from_ns. */
			.seen_ns = t->last_ns > from_ns ? t->last_ns : from_ns,
			.flags = t->flags | (certain && t->doing == THREAD_RUNNING
						     ? (uint32_t)CHAINLOG_THREAD_RUNNING
						     : 0),
			/* Of a thread that is ready to run, or unknown, a trace says no more. */
			.state = asleep ? t->state : 'R',
			.name = t->name,
			.kstack = asleep ? put_stack(d, t->kstack) : 0,
			.ustack = asleep ? put_stack(d, t->ustack) : 0,
		};

		if (t->tid)
			err = encoder_thread(d->out, &out);
	}
	return err;
}

/* The whole text of a string, which may be a path. */
static void text_of(const struct flight *f, uint32_t string, char *text, size_t size)
{
	size_t len = 0;
	const char *s = pool_has(&f->strings, string) ? pool_key(&f->strings, string, &len) : NULL;

	snprintf(text, size, "%.*s", (int)len, s ? s : "");
}

static int put_event(struct dump *d, const struct decoded_event *ev)
{
	char text[WIRE_PATH_LEN + 1];
	uint32_t kstack, ustack;

	switch (ev->kind) {
	case CHAINLOG_SWITCH:
		kstack = put_stack(d, ev->kstack);
		ustack = put_stack(d, ev->ustack);
		return encoder_switch(d->out, ev->cpu, ev->time_ns, ev->tid, ev->state, ev->other,
				      kstack, ustack);
	case CHAINLOG_WAKING:
	case CHAINLOG_WAKING_NEW:
		kstack = put_stack(d, ev->kstack);
		ustack = put_stack(d, ev->ustack);
		return encoder_waking(d->out, ev->cpu, ev->time_ns, ev->kind, ev->tid, ev->other,
				      kstack, ustack);
	case CHAINLOG_EXIT:
		return encoder_exit(d->out, ev->cpu, ev->time_ns, ev->tid);
	default:
		break;
	}
	text_of(d->f, ev->string, text, sizeof(text));
	if (ev->kind == CHAINLOG_FORK)
		return encoder_fork(d->out, ev->cpu, ev->time_ns, ev->tid, ev->other, ev->tgid,
				    text);
	if (ev->kind == CHAINLOG_EXEC)
		return encoder_exec(d->out, ev->cpu, ev->time_ns, ev->tid, ev->other, text);
	return encoder_rename(d->out, ev->cpu, ev->time_ns, ev->tid, text);
}

static int put_events(struct dump *d)
{
	const struct decoded_event *ev;
	int err = 0;

	while (!err && (ev = window_view_next(&d->f->tail, UINT64_MAX)))
		err = put_event(d, ev);
	return err ? err : d->f->tail.error;
}

static int put_losses(struct dump *d)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < d->f->n_losses; i++) {
		const struct flight_loss *l = &d->f->losses[i];

		err = encoder_lost(d->out, l->cpu, l->n, l->first_ns, l->last_ns);
	}
	return err;
}

int flight_dump(struct flight *f, struct encoder *out, uint64_t from_ns, uint64_t end_ns,
		struct symbolizer_stats *stats)
{
	struct dump d = {
		.f = f,
		.out = out,
		.stacks = calloc(flight_stacks_end(f->stacks), sizeof(*d.stacks)),
		.frames = calloc(flight_frames_end(f->stacks), sizeof(*d.frames)),
		.spaces = calloc(flight_spaces_end(f->stacks), sizeof(*d.spaces)),
	};
	struct flight_counts counts;
	uint64_t sideband_lost = symbolizer_sideband_lost(f->sym);
	int err = d.stacks && d.frames && d.spaces ? 0 : -ENOMEM;

	if (!err)
		err = flight_move_tail(f, from_ns);
	flight_counts(f, &counts);
	symbolizer_write_to(f->sym, out);
	if (!err)
		err = put_threads(&d, from_ns);
	if (!err)
		err = put_losses(&d);
	if (!err)
		err = put_events(&d);
	if (!err)
		err = symbolizer_finish(f->sym, stats);
	if (!err)
		err = encoder_end(out, end_ns, counts.kernel, sideband_lost);
	free(d.stacks);
	free(d.frames);
	free(d.spaces);
	return err;
}
