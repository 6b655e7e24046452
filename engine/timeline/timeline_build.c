// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "trace/event_stream.h"
#include "base/cpus.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"
#include "timeline_private.h"

/* A wait has at most one thing that is ready, beside what it waited for. */
static bool lacks_ready(const struct pairs *pairs, uint32_t id)
{
	const struct pair *p = id ? &pairs->at[id] : NULL;

	return p && p->a & TRACE_PAIR_OBJECT && !(p->b && pairs->at[p->b].a & TRACE_PAIR_OBJECT);
}

/* The pair of a waker with what a timer of TCP had put off. */
static uint32_t with_timer(struct timelines *tl, const struct tcp_timer *timer, uint32_t pair)
{
	if (tl->n_tcp_timers + 1 >= TRACE_PAIR_IDS)
		return pair;
	XAPPEND(tl->tcp_timers, tl->n_tcp_timers, tl->cap_tcp_timers) = *timer;
	return pairs_id(&tl->pairs, TRACE_PAIR_OBJECT | (uint32_t)tl->n_tcp_timers, pair);
}

/* Adds what was ready to the waits that it ended, unless the wait was changed after the note. */
static void apply_ready(struct builder *b)
{
	struct pairs *pairs = &b->tl->pairs;

	for (size_t i = 0; i < b->n_ready; i++) {
		const struct ready_note *note = &b->ready[i];
		const struct thread *th = &b->tl->threads[note->thread];
		struct wait *w = note->wait < th->n_waits ? &th->waits[note->wait] : NULL;

		/* After an early waking there was no time to wait for anything. */
		if (!w || w->kind != WAIT_SLEEP || w->wake_ns != note->wake_ns ||
		    w->out_ns == w->wake_ns)
			continue;
		if (!note->object) {
			w->waker_stack =
				note->timer.which
					? with_timer(b->tl, &note->timer, w->waker_stack)
					: pairs_id(pairs, TRACE_PAIR_NOT_SENT, w->waker_stack);
			continue;
		}
		if (!lacks_ready(pairs, w->stack))
			continue;
		w->stack = pairs_id(pairs, TRACE_PAIR_OBJECT | note->object, w->stack);
	}
}

/* ---- sleeps without user stacks -------------------------------------------------------------- */

/* The pair with other stacks: all else that is known stays. */
static uint32_t with_stacks(struct pairs *pairs, uint32_t pair, struct pair stacks)
{
	struct pair p = pair ? pairs->at[pair] : (struct pair) { 0 };

	if (!(p.a & TRACE_PAIR_OBJECT))
		return pairs_id(pairs, stacks.a, stacks.b);
	return pairs_id(pairs, p.a, with_stacks(pairs, p.b, stacks));
}

/* The stacks in a pair. */
static struct pair stacks_in(const struct pairs *pairs, uint32_t pair)
{
	while (pair && pairs->at[pair].a & TRACE_PAIR_OBJECT)
		pair = pairs->at[pair].b;
	return pair ? pairs->at[pair] : (struct pair) { 0 };
}

/* The sleep in which the thread was then, or that ended then; NULL: none. */
static struct wait *sleep_at(const struct thread *th, uint64_t ns)
{
	size_t at = LOWER_BOUND(i, th->n_waits, th->waits[i].wake_ns < ns);
	struct wait *w = at < th->n_waits ? &th->waits[at] : NULL;

	return w && w->kind == WAIT_SLEEP && w->out_ns < ns ? w : NULL;
}

/* Gives sleeps the stacks that were told later: those that their switch-outs have not. */
static void apply_slept(struct builder *b)
{
	struct pairs *pairs = trace_cursor_pairs(b->cursor);

	for (size_t i = 0; i < b->n_slept; i++) {
		const struct slept_note *note = &b->slept[i];
		struct wait *w = sleep_at(&b->tl->threads[note->thread], note->ns);
		struct pair told = pairs->at[note->pair], had;
		uint32_t object;

		if (!w || !note->pair)
			continue;
		had = stacks_in(pairs, w->stack);
		told.b = had.b ? had.b : told.b;
		if (had.a) {
			told.a = had.a;
			w->stack = with_stacks(pairs, w->stack, told);
			continue;
		}
		/* Its kernel stack may contradict what the call was for. */
		object = w->stack && pairs->at[w->stack].a & TRACE_PAIR_OBJECT
				 ? pairs->at[w->stack].a & ~TRACE_PAIR_OBJECT
				 : 0;
		w->stack =
			trace_cursor_pair_for(b->cursor, object, pairs_id(pairs, told.a, told.b));
	}
}

/* The pair of a sleep, or of its waker, without its stacks, as that was too short. */
static uint32_t as_short(struct timelines *tl, uint32_t thread, uint32_t pair)
{
	struct pair stacks = stacks_in(&tl->pairs, pair);

	if (stacks.b || tl->threads[thread].flags & THREAD_KTHREAD)
		return pair;
	stacks.b = TIMELINE_SHORT;
	return with_stacks(&tl->pairs, pair, stacks);
}

static void mark_short(struct timelines *tl, uint32_t thread, struct wait *w)
{
	/* Of one without a switch-out it is not known how long it was. */
	if (w->kind != WAIT_SLEEP || w->state == '?' || w->flags & WAIT_SINCE_START)
		return;
	w->stack = as_short(tl, thread, w->stack);
	if (w->waker < THREAD_IDLE)
		w->waker_stack = as_short(tl, w->waker, w->waker_stack);
}

/* Marks what has no user stack, and perhaps no kernel stack, as the sleep is too short for that. */
static void mark_all_short(struct builder *b)
{
	struct timelines *tl = b->tl;
	const struct trace_info *info = trace_info(tl->trace);

	if (info->parts == TRACE_PARTS_KERNEL || !info->light_ns)
		return;
	for (uint32_t i = 0; i < tl->n_threads; i++) {
		for (uint32_t k = 0; k < tl->threads[i].n_waits; k++) {
			struct wait *w = &tl->threads[i].waits[k];

			if (w->wake_ns - w->out_ns < info->light_ns)
				mark_short(tl, i, w);
		}
	}
	for (size_t i = 0; i < b->n_slept; i++) {
		uint32_t thread = b->slept[i].thread;
		struct wait *w = sleep_at(&tl->threads[thread], b->slept[i].ns);

		if (w && !b->slept[i].pair)
			mark_short(tl, thread, w);
	}
}

/* Drops the samples at times at which their threads do not run by their timelines. */
static void drop_samples(struct builder *b)
{
	struct samples *all = &b->tl->samples;
	size_t n = 0;

	for (size_t k = 0; k < all->n; k++) {
		const struct sample *s = &all->at[k];
		const struct thread *th = &b->tl->threads[s->thread];
		uint32_t i = thread_position(th, s->ns);

		if (s->ns >= th->begin_ns && s->ns < th->end_ns &&
		    (i == th->n_waits || th->waits[i].out_ns > s->ns))
			all->at[n++] = *s;
	}
	all->n = n;
}

#define STALL_MIN_SAMPLES 20u

/* Keeps those that are long enough for as many samples as threads got while they ran. */
static void finish_stalls(struct timelines *tl)
{
	struct stalls *s = &tl->stalls;
	uint64_t ran_ns = 0;
	size_t kept = 0, samples = tl->samples.n;

	for (size_t i = 0; i < tl->n_threads && s->n; i++)
		ran_ns += thread_sums(&tl->threads[i], 0, UINT64_MAX).running_ns;
	for (size_t i = 0; i < s->n && samples; i++) {
		uint64_t length_ns = s->at[i].to_ns - s->at[i].from_ns;

		if (length_ns / STALL_MIN_SAMPLES >= ran_ns / samples)
			s->at[kept++] = s->at[i];
	}
	s->n = kept;
}

static bool has_objects(const struct trace *t)
{
	for (uint32_t i = 1; i < trace_objects_end(t); i++) {
		const struct trace_object *o = trace_object(t, i);

		if (o && strcmp(trace_string(t, o->class), CHAINLOG_CLASS_GROUP) != 0)
			return true;
	}
	return false;
}

/* Prepares for the first event, which may be NULL. with_cpus: see timelines_new_with_cpus(). */
static void begin(struct builder *b, const struct trace *t, const struct event *first,
		  bool with_cpus)
{
	const struct trace_info *info = trace_info(t);
	struct timelines *tl = b->tl;

	tl->trace = t;
	tl->start_ns = first && first->time_ns < info->start_ns ? first->time_ns : info->start_ns;
	tl->end_ns = info->end_ns > tl->start_ns ? info->end_ns : tl->start_ns;
	b->cpus_known_from_ns = tl->start_ns;
	tl->has_objects = has_objects(t);
	/* A damaged trace may lack changes of queues, and does not say so. */
	if (with_cpus && info->aux & 1u << CHAINLOG_QUEUE && !trace_damage(t)->what)
		cpus_new(&tl->cpus);
	if (with_cpus && info->aux & 1u << CHAINLOG_INTERRUPTS)
		stolen_time_new(&tl->interrupts, tl->start_ns);
	if (with_cpus && info->aux & 1u << CHAINLOG_STEAL)
		stolen_time_new(&tl->steal, tl->start_ns);
	table_snapshot(b);
	table_snapshot_holders(b);
}

/* Ends all timelines after the last event, and puts what belongs to them in order. */
static void finish(struct builder *b)
{
	struct timelines *tl = b->tl;
	uint32_t n_threads = (uint32_t)tl->n_threads;
	struct pairs *pairs;

	for (uint32_t i = 0; i < n_threads; i++)
		state_end(b, i);
	table_finish(b);
	disk_requests_finish(&tl->disk_requests);
	lock_holders_sort(&tl->lock_holders);
	throttles_sort(&tl->throttles);
	groups_finish(&tl->groups, n_threads);
	drop_samples(b);
	samples_sort(&tl->samples, n_threads);
	cpus_finish(tl->cpus, n_threads);
	finish_stalls(tl);
	stolen_time_finish(tl->interrupts, n_threads);
	stolen_time_finish(tl->steal, n_threads);
	/* Most machines have no hypervisor that takes anything. */
	if (!tl->steal_ns) {
		stolen_time_free(tl->steal);
		tl->steal = NULL;
	}
	apply_slept(b);
	/* They are the timelines' from here on. */
	pairs = trace_cursor_pairs(b->cursor);
	tl->pairs = *pairs;
	*pairs = (struct pairs) { .n = 0 };
	apply_ready(b);
	mark_all_short(b);
	request_clients_make(tl);
}

/* By one thread, which takes the events that another one decodes. */
static void take_stream(struct builder *b, const struct trace *t, bool with_cpus)
{
	struct event_stream *events;
	const struct event *first;

	event_stream_new(&events, t, b->cursor);
	first = event_stream_next(events);
	begin(b, t, first, with_cpus);
	build_stream(b, events, first);
	event_stream_free(events);
}

/* About so many events make a slice. */
#define SLICE_EVENTS 65536u
#define SLICES_MIN 4u

/* Slices have neither losses nor what CPUs ran. */
static bool may_slice(const struct trace *t, bool with_cpus, uint32_t threads)
{
	size_t losses;

	trace_losses(t, &losses);
	return threads > 1 && !with_cpus && !losses && !trace_damage(t)->what;
}

static void take_events(struct builder *b, const struct trace *t, bool with_cpus)
{
	uint32_t threads = cpus_usable(CPUS_USED_MAX);
	const char *events = getenv("CHAINWALK_SLICE"); /* for tests */
	const struct event *first;
	uint64_t *bounds = NULL;
	size_t n = 0;

	if (may_slice(t, with_cpus, threads)) {
		trace_cursor_slices(b->cursor, events ? strtoull(events, NULL, 10) : SLICE_EVENTS,
				    !events, &bounds, &n);
	}
	if (n >= SLICES_MIN) {
		trace_cursor_window(b->cursor, 0, bounds[1]);
		first = trace_cursor_take(b->cursor);
		if (first) {
			begin(b, t, first, with_cpus);
			slices_build(b, first, bounds, n, threads);
			goto out;
		}
		trace_cursor_window(b->cursor, 0, UINT64_MAX);
	}
	take_stream(b, t, with_cpus);
out:
	free(bounds);
}

static int build(struct timelines **out, const struct trace *t, bool with_cpus)
{
	struct builder b = { .tl = xcalloc(1, sizeof(*b.tl)) };
	int err = trace_cursor_new(&b.cursor, t);

	*out = NULL;
	if (!err)
		take_events(&b, t, with_cpus);
	if (b.tl && !err) {
		err = trace_cursor_error(b.cursor);
		if (!err)
			finish(&b);
	}
	trace_cursor_free(b.cursor);
	free(b.live);
	free(b.cpus);
	free(b.loss_ns);
	free(b.ready);
	free(b.slept);
	table_free(&b);
	if (err)
		timelines_free(b.tl);
	else
		*out = b.tl;
	return err;
}

int timelines_new(struct timelines **out, const struct trace *t)
{
	return build(out, t, false);
}

int timelines_new_with_cpus(struct timelines **out, const struct trace *t)
{
	return build(out, t, true);
}
