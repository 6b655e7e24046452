// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate.h"

/*
 * Definitions are collected when they have grown by this much, and by a quarter; and now and then,
 * as they hold files open, which do not count.
 */
#define COLLECT_BYTES (4u << 20)
#define COLLECT_NS 10000000000u

/* ---- beginning and end --------------------------------------------------------------------- */

static uint32_t string_id(void *ctx, const char *s, size_t len)
{
	struct flight *f = ctx;

	return pool_id(&f->strings, s, len, f->now_ns, NULL);
}

struct flight *flight_new(const struct flight_options *o)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->o = *o;
	f->accounts = calloc(o->cpus, sizeof(*f->accounts));
	f->enc = encoder_new(window_put, &f->window);
	if (!f->accounts || !f->enc) {
		flight_free(f);
		return NULL;
	}
	return f;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	flight_stacks_free(f->stacks);
	encoder_free(f->enc);
	window_view_free(&f->tail);
	window_free(&f->window);
	threads_free(&f->threads);
	pool_free(&f->strings);
	free(f->losses);
	free(f->accounts);
	free(f);
}

struct encoder *flight_encoder(struct flight *f)
{
	return f->enc;
}

int flight_begin(struct flight *f, uint64_t start_ns, struct symbolizer *sym,
		 struct trigger *trigger, flight_sample_fn fn, void *ctx)
{
	f->tail_ns = f->collected_ns = start_ns;
	f->sym = sym;
	f->trigger = trigger;
	f->on_sample = fn;
	f->sample_ctx = ctx;
	f->stacks = flight_stacks_new(sym);
	if (!f->stacks)
		return -ENOMEM;
	encoder_define_elsewhere(f->enc, &(struct encoder_elsewhere) {
						 .string = string_id,
						 .string_ctx = f,
						 .space = flight_stacks_space,
						 .space_ctx = f->stacks,
					 });
	return 0;
}

/* ---- what the kernel side sends ------------------------------------------------------------ */

/*
 * Compares the kernel's number of an event with that of the one before. A gap that no loss has
 * announced leaves the accounts open, for everybody to see.
 */
static int account(struct flight *f, const struct wire_record *r)
{
	uint32_t seq = r->seq[0] | (uint32_t)r->seq[1] << 8 | (uint32_t)r->seq[2] << 16, step;
	struct flight_account *a;

	if (r->cpu >= f->o.cpus)
		return -EBADMSG;
	a = &f->accounts[r->cpu];
	step = (seq - (uint32_t)a->last[r->kind]) & 0xffffff;
	a->last[r->kind] += step;
	a->unnumbered -= (int64_t)step - 1;
	f->events++;
	return 0;
}

static int take_loss(struct flight *f, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	if (f->n_losses == f->cap_losses) {
		uint32_t cap = f->cap_losses ? f->cap_losses * 2 : 64;
		struct flight_loss *losses = realloc(f->losses, cap * sizeof(*losses));

		if (!losses)
			return -ENOMEM;
		f->losses = losses;
		f->cap_losses = cap;
	}
	f->losses[f->n_losses++] = (struct flight_loss) { n, first_ns, last_ns, cpu };
	f->lost += n;
	f->lost_since_listing = true;
	if (f->trigger)
		trigger_lost(f->trigger, last_ns);
	return 0;
}

int flight_lost(struct flight *f, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	f->missed += n;
	return take_loss(f, cpu, n, first_ns, last_ns);
}

static int take_sample(struct flight *f, const struct wire_sample *s)
{
	uint32_t first, layout;

	if (s->n > WIRE_LAYOUT_FRAMES || s->n_words > WIRE_SAMPLE_WORDS)
		return -EBADMSG;
	if (!f->on_sample)
		return 0;
	first = flight_stacks_tracer_frames(f->stacks, s->frames, s->n);
	layout = f->on_sample(f->sample_ctx, s, first);
	if (layout)
		flight_stacks_alias(f->stacks, s->id, layout);
	return 0;
}

static int take_act(struct flight *f, const struct wire_record *r)
{
	if (r->kind == WIRE_SWITCH) {
		const struct wire_switch *ev = (const void *)r;

		return encoder_switch(f->enc, r->cpu, r->time_ns, ev->prev,
				      translator_state_letter(ev->state), ev->next,
				      flight_stacks_id(f->stacks, ev->kstack, r->time_ns),
				      flight_stacks_id(f->stacks, ev->ustack, r->time_ns));
	}
	const struct wire_waking *ev = (const void *)r;

	return encoder_waking(f->enc, r->cpu, r->time_ns,
			      r->kind == WIRE_WAKING ? CHAINLOG_WAKING : CHAINLOG_WAKING_NEW,
			      ev->waker, ev->target,
			      flight_stacks_id(f->stacks, ev->kstack, r->time_ns),
			      flight_stacks_id(f->stacks, ev->ustack, r->time_ns));
}

int flight_record(void *ctx, const struct wire_record *r, size_t len)
{
	struct flight *f = ctx;
	int err = translator_check(r, len);

	if (!err && r->kind < WIRE_EVENT_KINDS)
		err = account(f, r);
	if (err)
		return err;
	f->now_ns = r->time_ns;
	switch (r->kind) {
	case WIRE_SWITCH:
	case WIRE_WAKING:
	case WIRE_WAKING_NEW:
		return take_act(f, r);
	case WIRE_STACK:
		return flight_stacks_take(f->stacks, (const void *)r, len);
	case WIRE_LOST: {
		const struct wire_lost *l = (const void *)r;

		if (r->cpu >= f->o.cpus)
			return -EBADMSG;
		f->accounts[r->cpu].unnumbered += (int64_t)l->n;
		return take_loss(f, (int)r->cpu, l->n, r->time_ns, l->last_ns);
	}
	case WIRE_SAMPLE:
		return take_sample(f, (const void *)r);
	default:
		return translator_identity(f->enc, r);
	}
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Listed again: what it does is known from events; who it is, perhaps not. */
static int take_listed_again(struct flight *f, const struct thread *listed)
{
	struct thread t = *listed;

	if (f->trigger)
		trigger_listed(f->trigger, listed, f->listing_ns);
	if (threads_listed(&f->threads, listed, f->listing_ns) || listed->start_ns >= f->tail_ns)
		return 0;
	/* Its fork was lost, before the window. */
	t.last_ns = f->tail_ns;
	t.listed_ns = f->listing_ns;
	return threads_add(&f->threads, &t) ? 0 : -ENOMEM;
}

int flight_thread(void *ctx, const struct wire_thread *w)
{
	struct flight *f = ctx;
	struct thread t = {
		.tid = w->tid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.last_ns = w->seen_ns,
		.listed_ns = w->seen_ns,
		.flags = w->flags & WIRE_THREAD_KTHREAD ? CHAINLOG_THREAD_KTHREAD : 0,
		.state = translator_state_letter(w->state),
	};

	if (!w->tid)
		return 0;
	snprintf(t.name, sizeof(t.name), "%.*s", WIRE_COMM_LEN, w->name);
	if (f->listing_ns)
		return take_listed_again(f, &t);
	if (t.state == 'X' || t.state == 'Z')
		return 0;
	if (w->flags & WIRE_THREAD_ON_CPU) {
		t.doing = THREAD_RUNNING;
	} else if (t.state != 'R') {
		t.doing = THREAD_ASLEEP;
		t.out_ns = w->seen_ns;
		t.kstack = flight_stacks_of_thread(f->stacks, w);
	}
	if (f->trigger && trigger_thread(f->trigger, &t))
		return -ENOMEM;
	return threads_add(&f->threads, &t) ? 0 : -ENOMEM;
}

bool flight_wants_listing(const struct flight *f)
{
	return f->lost_since_listing && !f->listing_ns;
}

void flight_listing(struct flight *f, uint64_t now_ns)
{
	f->listing_ns = now_ns;
	f->lost_since_listing = false;
}

/* Once the window begins after a listing, what it did not find, and what did nothing since, is
 * gone. */
static void drop_unlisted(struct flight *f)
{
	if (!f->listing_ns || f->tail_ns <= f->listing_ns)
		return;
	threads_drop_unlisted(&f->threads, f->listing_ns);
	if (f->trigger)
		trigger_drop_unlisted(f->trigger, f->listing_ns);
	f->listing_ns = 0;
}

/* ---- forgetting ---------------------------------------------------------------------------- */

void flight_name(const struct flight *f, uint32_t string, char name[THREADS_NAME_LEN])
{
	size_t len = 0;
	const char *s = pool_has(&f->strings, string) ? pool_key(&f->strings, string, &len) : NULL;

	snprintf(name, THREADS_NAME_LEN, "%.*s", (int)len, s ? s : "");
}

static void forget_losses(struct flight *f, uint64_t limit_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->n_losses; i++) {
		const struct flight_loss *l = &f->losses[i];

		if (l->first_ns < limit_ns)
			threads_lost(&f->threads, l->last_ns < limit_ns ? l->last_ns : limit_ns);
		if (l->last_ns < limit_ns)
			f->forgotten_lost += l->n;
		else
			f->losses[kept++] = *l;
	}
	f->n_losses = kept;
}

int flight_move_tail(struct flight *f, uint64_t limit_ns)
{
	const struct decoded_event *ev;
	char name[THREADS_NAME_LEN];
	int err = window_view_refresh(&f->tail, &f->window);

	if (limit_ns <= f->tail_ns)
		return err;
	while (!err && (ev = window_view_next(&f->tail, limit_ns))) {
		name[0] = '\0';
		if (ev->string)
			flight_name(f, ev->string, name);
		err = threads_event(&f->threads, ev, name);
		f->forgotten++;
	}
	if (!err)
		err = f->tail.error;
	forget_losses(f, limit_ns);
	f->tail_ns = limit_ns;
	return err;
}

static size_t definition_bytes(const struct flight *f)
{
	return flight_stacks_bytes(f->stacks) + f->strings.bytes;
}

static size_t all_bytes(const struct flight *f)
{
	return f->window.bytes + definition_bytes(f) + f->n_losses * sizeof(*f->losses);
}

static int collect(struct flight *f)
{
	int err = flight_stacks_collect(f->stacks, f->tail_ns, &f->threads);

	for (uint32_t id = 1; id <= f->strings.n; id++)
		if (pool_has(&f->strings, id) && f->strings.items[id - 1].used_ns < f->tail_ns)
			pool_drop(&f->strings, id);
	f->collected_bytes = definition_bytes(f);
	f->collected_ns = f->tail_ns;
	return err;
}

static int forget_before(struct flight *f, uint64_t limit_ns)
{
	int err = flight_move_tail(f, limit_ns);

	window_forget(&f->window, &f->tail);
	drop_unlisted(f);
	if (!err &&
	    (f->tail_ns - f->collected_ns > COLLECT_NS ||
	     definition_bytes(f) > f->collected_bytes + f->collected_bytes / 4 + COLLECT_BYTES))
		err = collect(f);
	return err;
}

int flight_flush(struct flight *f, uint64_t horizon_ns)
{
	int err = encoder_flush(f->enc);

	encoder_forget_threads(f->enc);
	if (!err && f->trigger)
		err = trigger_look(f->trigger, f, &f->window, horizon_ns);
	return err;
}

int flight_forget(struct flight *f, uint64_t horizon_ns)
{
	uint64_t limit_ns = horizon_ns - f->o.window_ns;
	int err = 0;

	if (horizon_ns > f->o.window_ns && limit_ns > f->tail_ns)
		err = forget_before(f, limit_ns);
	if (!err && all_bytes(f) > f->o.max_bytes)
		err = collect(f);
	/* Still too much: a shorter window, by a sixteenth at a time. */
	if (all_bytes(f) <= f->o.max_bytes)
		return err;
	while (!err && all_bytes(f) > f->o.max_bytes / 8 * 7 && f->tail_ns < horizon_ns) {
		limit_ns = f->tail_ns + (horizon_ns - f->tail_ns) / 16 + 1;
		err = forget_before(f, limit_ns);
		if (!err)
			err = collect(f);
	}
	return err;
}

/* ---- figures ------------------------------------------------------------------------------- */

uint64_t flight_from(const struct flight *f, uint64_t now_ns)
{
	uint64_t from_ns = now_ns > f->o.window_ns ? now_ns - f->o.window_ns : 0;

	return from_ns > f->tail_ns ? from_ns : f->tail_ns;
}

void flight_counts(const struct flight *f, struct flight_counts *out)
{
	uint64_t kernel = f->missed;

	for (uint32_t cpu = 0; cpu < f->o.cpus; cpu++) {
		const struct flight_account *a = &f->accounts[cpu];

		for (unsigned int k = 0; k < WIRE_EVENT_KINDS; k++)
			kernel += a->last[k];
		if (a->unnumbered > 0)
			kernel += (uint64_t)a->unnumbered;
	}
	*out = (struct flight_counts) {
		.events = f->events - f->forgotten,
		.lost = f->lost - f->forgotten_lost,
		.kernel = kernel - f->forgotten - f->forgotten_lost,
		.total = f->events,
		.total_kernel = kernel,
		.bytes = all_bytes(f),
	};
}
