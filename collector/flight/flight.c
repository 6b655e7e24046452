// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dump.h"
#include "common/grow.h"

/*
 * Unused definitions are dropped when definitions have grown by this many bytes and a quarter; and
 * at least this often, because they keep files open.
 */
#define COLLECT_BYTES (4u << 20)
#define COLLECT_NS 10000000000u

struct loss {
	uint64_t n, first_ns, last_ns;
	int cpu;
};

/* What is known of one CPU's events by the kernel's numbers for them (wire_record.seq). */
struct account {
	uint64_t last[WIRE_COUNTED_KINDS]; /* number of the last event of each kind */
	uint64_t edges;			   /* those that have no numbers, as words do not */
	/* Events reported as lost, less the gaps in the numbers; of EVENTS, of AUX_EVENTS. */
	int64_t unnumbered[2];
};

struct flight {
	struct flight_options o;
	struct symbolizer *sym;
	struct encoder *enc; /* writes into the window */
	struct event_window window;
	struct definitions definitions;
	struct translator *translator; /* from records to enc and definitions */
	struct trigger *trigger;

	/* The beginning of the window, where events are read for the last time and dropped. */
	uint64_t tail_ns;
	struct event_view tail;
	struct threads threads; /* as of tail_ns */

	struct loss *losses; /* in the order in which they were reported */
	uint32_t n_losses;
	size_t cap_losses;
	struct account *accounts; /* by CPU */
	/* Events of EVENTS, of AUX_EVENTS: since the start, and those older than the window. */
	struct flight_sums seen[2], dropped[2];
	uint64_t missed;	/* events lost on an unknown CPU, which have no numbers */
	uint64_t now_ns;	/* of the last record */
	uint64_t collected_ns;	/* tail_ns when unused definitions were last dropped */
	size_t collected_bytes; /* bytes of definitions that were left then */
	uint64_t listing_ns;	/* when threads were listed again; 0: no such list is in use */
	bool lost_since_listing;
};

/* ---- beginning and end --------------------------------------------------------------------- */

static uint32_t string_id(void *ctx, const char *s, size_t len)
{
	struct flight *f = ctx;

	return id_pool_get(&f->definitions.strings, s, len, f->now_ns, NULL);
}

int flight_new(struct flight **out, const struct flight_options *o)
{
	struct flight *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->o = *o;
	f->accounts = calloc(o->cpus, sizeof(*f->accounts));
	if (!f->accounts || encoder_new(&f->enc, event_window_put, &f->window)) {
		flight_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	translator_free(f->translator);
	definitions_free(&f->definitions);
	encoder_free(f->enc);
	event_view_free(&f->tail);
	event_window_free(&f->window);
	threads_free(&f->threads);
	free(f->losses);
	free(f->accounts);
	free(f);
}

struct encoder *flight_encoder(struct flight *f)
{
	return f->enc;
}

int flight_begin(struct flight *f, uint64_t start_ns, struct symbolizer *sym,
		 struct trigger *trigger, translator_sample_fn fn, void *ctx)
{
	struct definition_store store = definitions_store(&f->definitions);
	int err;

	f->tail_ns = f->collected_ns = start_ns;
	f->sym = f->definitions.sym = sym;
	f->trigger = trigger;
	err = translator_new(&f->translator, f->enc, sym, &store, fn, ctx);
	if (err)
		return err;
	encoder_define_elsewhere(f->enc, &(struct encoder_elsewhere) {
						 .string = string_id,
						 .string_ctx = f,
						 .space = definitions_new_space,
						 .space_ctx = &f->definitions,
					 });
	return 0;
}

/* ---- records of the BPF side --------------------------------------------------------------- */

/*
 * Compares the kernel's number of an event with that of the one before. If no loss was reported for
 * a gap, the accounts stay unbalanced, and check_accounts() reports it.
 */
static int account(struct flight *f, const struct wire_record *r)
{
	uint32_t seq = r->seq[0] | (uint32_t)r->seq[1] << 8 | (uint32_t)r->seq[2] << 16;
	struct account *a;
	int64_t step;

	if (r->cpu >= f->o.cpus)
		return -EBADMSG;
	a = &f->accounts[r->cpu];
	/* Back, if the program of a probe was preempted between the number and the record. */
	step = ((int64_t)((seq - (uint32_t)a->last[r->kind]) & 0xffffff) ^ 0x800000) - 0x800000;
	a->last[r->kind] += (uint64_t)step;
	a->unnumbered[r->kind >= WIRE_EVENT_KINDS] -= step - 1;
	f->seen[r->kind >= WIRE_EVENT_KINDS].events++;
	return 0;
}

static int account_edge(struct flight *f, const struct wire_record *r)
{
	if (r->cpu >= f->o.cpus)
		return -EBADMSG;
	f->accounts[r->cpu].edges++;
	f->seen[0].events++;
	return 0;
}

/* The object of a switch is an event without a record and number of its own: count it here. */
static void account_object(struct flight *f, const struct wire_switch *ev)
{
	if (!ev->object)
		return;
	f->accounts[ev->r.cpu].last[WIRE_WAITS_FOR]++;
	f->seen[1].events++;
}

static int take_loss(struct flight *f, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	if (!GROW(f->losses, f->n_losses, f->cap_losses))
		return -ENOMEM;
	f->losses[f->n_losses++] = (struct loss) { n, first_ns, last_ns, cpu };
	f->seen[0].lost += n;
	f->lost_since_listing = true;
	if (f->trigger)
		threads_lost(trigger_threads(f->trigger), last_ns);
	return 0;
}

int flight_lost(struct flight *f, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns)
{
	f->missed += n;
	return take_loss(f, cpu, n, first_ns, last_ns);
}

int flight_record(void *ctx, const struct wire_record *r, size_t len)
{
	const struct wire_lost *l = (const void *)r;
	struct flight *f = ctx;
	int err = translator_check(r, len);

	if (!err && r->kind < WIRE_COUNTED_KINDS)
		err = account(f, r);
	if (!err && (r->kind == WIRE_SWITCH_EDGE || r->kind == WIRE_WAKING_EDGE))
		err = account_edge(f, r);
	if (err)
		return err;
	f->now_ns = r->time_ns;
	if (r->kind == WIRE_SWITCH || r->kind == WIRE_SWITCH_EDGE)
		account_object(f, (const void *)r);
	if (r->kind != WIRE_LOST)
		return translator_record(f->translator, r, len);
	if (r->cpu >= f->o.cpus)
		return -EBADMSG;
	f->accounts[r->cpu].unnumbered[l->event >= WIRE_EVENT_KINDS] += (int64_t)l->n;
	if (l->event >= WIRE_EVENT_KINDS) {
		f->seen[1].lost += l->n;
		return translator_record(f->translator, r, len);
	}
	return take_loss(f, (int)r->cpu, l->n, r->time_ns, l->last_ns);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* A thread in a later list: events say what it does, but perhaps not who it is. */
static int take_listed_again(struct flight *f, const struct thread_state *listed)
{
	struct thread_state t = *listed;

	if (f->trigger)
		threads_listed(trigger_threads(f->trigger), listed, f->listing_ns);
	if (threads_listed(&f->threads, listed, f->listing_ns) || listed->start_ns >= f->tail_ns)
		return 0;
	/* Its fork was lost before the window began. */
	t.last_ns = f->tail_ns;
	t.listed_ns = f->listing_ns;
	return threads_add(&f->threads, &t) ? 0 : -ENOMEM;
}

int flight_thread(void *ctx, const struct wire_thread *w)
{
	struct flight *f = ctx;
	struct thread_state t = {
		.tid = w->tid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.last_ns = w->seen_ns,
		.listed_ns = w->seen_ns,
		.own_id = translator_own_id(w),
		.flags = w->flags & WIRE_THREAD_KTHREAD ? CHAINLOG_THREAD_KTHREAD : 0,
		.state = translator_state_letter(w->state),
	};

	if (!w->tid)
		return 0;
	t.group = id_map_object(translator_ids(f->translator), w->group, w->seen_ns);
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
		t.kstack = id_map_listed_stack(translator_ids(f->translator), w);
		t.ustack = id_map_stack(translator_ids(f->translator), w->ustack, w->seen_ns);
		t.object = id_map_object(translator_ids(f->translator), w->object, w->seen_ns);
	}
	if (f->trigger && !threads_add(trigger_threads(f->trigger), &t))
		return -ENOMEM;
	return threads_add(&f->threads, &t) ? 0 : -ENOMEM;
}

int flight_holder(void *ctx, uint32_t tid, uint32_t holder)
{
	struct flight *f = ctx;
	struct thread_state *t = threads_find(&f->threads, tid);

	/* Those are threads as the window begins with them: this one still sleeps as it was listed.
	 */
	if (t && t->doing == THREAD_ASLEEP && t->out_ns == t->last_ns)
		t->holder = holder;
	return 0;
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

/* Once the window begins after the list was made, threads that are not in it have ended. */
static void drop_unlisted(struct flight *f)
{
	if (!f->listing_ns || f->tail_ns <= f->listing_ns)
		return;
	threads_drop_unlisted(&f->threads, f->listing_ns);
	if (f->trigger)
		threads_drop_unlisted(trigger_threads(f->trigger), f->listing_ns);
	f->listing_ns = 0;
}

/* ---- forgetting ---------------------------------------------------------------------------- */

static void forget_losses(struct flight *f, uint64_t limit_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->n_losses; i++) {
		const struct loss *l = &f->losses[i];

		if (l->first_ns < limit_ns)
			threads_lost(&f->threads, l->last_ns < limit_ns ? l->last_ns : limit_ns);
		if (l->last_ns < limit_ns)
			f->dropped[0].lost += l->n;
		else
			f->losses[kept++] = *l;
	}
	f->n_losses = kept;
}

/* Adds an event to what there is of EVENTS and AUX_EVENTS. */
static void count_event(struct flight_sums sums[2], const struct event *ev)
{
	if (ev->kind == EVENT_AUX_LOST)
		sums[1].lost += ev->lost.n;
	else
		sums[ev->kind >= CHAINLOG_AUX].events++;
}

/* A control group has another name: the threads at the window's beginning are in that now. */
static void rename_group(struct flight *f, const struct event *ev)
{
	struct encoder_object new, old;

	if (!definitions_object(&f->definitions, ev->group.object, &new))
		return;
	for (uint32_t i = 0; i < f->threads.n; i++) {
		uint32_t group = f->threads.list[i].group;

		if (group != ev->group.object && definitions_object(&f->definitions, group, &old) &&
		    old.inode == new.inode &&old.device == new.device)
			threads_rename_group(&f->threads, group, ev->group.object);
	}
}

/* Moves the window's beginning to limit_ns; the blocks stay until event_window_forget(). */
static int move_tail(struct flight *f, uint64_t limit_ns)
{
	const struct event *ev;
	char name[THREADS_NAME_LEN];
	int err = event_view_refresh(&f->tail, &f->window);

	if (limit_ns <= f->tail_ns)
		return err;
	while (!err && (ev = event_view_next(&f->tail, limit_ns))) {
		id_pool_text(&f->definitions.strings, ev->string, name, sizeof(name));
		err = threads_event(&f->threads, ev, name);
		if (ev->kind == EVENT_GROUP && !ev->tid)
			rename_group(f, ev);
		count_event(f->dropped, ev);
	}
	if (!err)
		err = f->tail.error;
	forget_losses(f, limit_ns);
	f->tail_ns = limit_ns;
	return err;
}

static size_t all_bytes(const struct flight *f)
{
	return f->window.bytes + definitions_bytes(&f->definitions) +
	       f->n_losses * sizeof(*f->losses);
}

static int collect(struct flight *f)
{
	int err = definitions_collect(&f->definitions, f->tail_ns, &f->threads,
				      translator_ids(f->translator));

	f->collected_bytes = definitions_bytes(&f->definitions);
	f->collected_ns = f->tail_ns;
	return err;
}

static int forget_before(struct flight *f, uint64_t limit_ns)
{
	int err = move_tail(f, limit_ns);

	event_window_forget(&f->window, &f->tail);
	drop_unlisted(f);
	if (!err && (f->tail_ns - f->collected_ns > COLLECT_NS ||
		     definitions_bytes(&f->definitions) >
			     f->collected_bytes + f->collected_bytes / 4 + COLLECT_BYTES))
		err = collect(f);
	return err;
}

int flight_cut(struct flight *f, uint64_t limit_ns)
{
	return limit_ns > f->tail_ns ? forget_before(f, limit_ns) : 0;
}

int flight_restart(struct flight *f, uint64_t start_ns)
{
	int err = flight_cut(f, start_ns);

	threads_free(&f->threads);
	f->threads = (struct threads) { 0 };
	f->listing_ns = 0;
	f->lost_since_listing = false;
	return err;
}

int flight_flush(struct flight *f, uint64_t horizon_ns)
{
	const struct trigger_names names = { &f->definitions, translator_ids(f->translator) };
	int err = encoder_flush(f->enc);

	if (!err && f->trigger)
		err = trigger_look(f->trigger, &f->window, &names, flight_from(f, horizon_ns),
				   horizon_ns);
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
	/* Still too much: shorten the window by a sixteenth at a time. */
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
	*out = (struct flight_counts) {
		.total = { f->seen[0], f->seen[1] },
		.stacks_once = id_map_once(translator_ids(f->translator)),
		.unknown_code = id_map_unknown_code(translator_ids(f->translator)),
		.unknown_routes = id_map_unknown_routes(translator_ids(f->translator)),
		.bytes = all_bytes(f),
	};
	out->total[0].kernel = f->missed;
	for (uint32_t cpu = 0; cpu < f->o.cpus; cpu++) {
		const struct account *a = &f->accounts[cpu];

		for (unsigned int k = 0; k < WIRE_COUNTED_KINDS; k++)
			out->total[k >= WIRE_EVENT_KINDS].kernel += a->last[k];
		out->total[0].kernel += a->edges;
		for (unsigned int i = 0; i < 2; i++)
			if (a->unnumbered[i] > 0)
				out->total[i].kernel += (uint64_t)a->unnumbered[i];
	}
	for (unsigned int i = 0; i < 2; i++) {
		const struct flight_sums *all = &out->total[i], *old = &f->dropped[i];

		out->window[i] = (struct flight_sums) {
			.events = all->events - old->events,
			.lost = all->lost - old->lost,
			.kernel = all->kernel - old->events - old->lost,
		};
	}
}

/* ---- writing ------------------------------------------------------------------------------- */

/* How much of the window is from end_ns on, and so not in the trace. */
static int count_later(struct flight *f, uint64_t end_ns, struct flight_sums later[2])
{
	const struct event *ev;

	for (uint32_t i = 0; i < f->n_losses; i++)
		if (f->losses[i].first_ns >= end_ns)
			later[0].lost += f->losses[i].n;
	while ((ev = event_view_next(&f->tail, UINT64_MAX)))
		count_event(later, ev);
	return f->tail.error;
}

int flight_dump(struct flight *f, struct encoder *out, uint64_t from_ns, uint64_t end_ns,
		struct symbolizer_stats *stats)
{
	uint64_t sideband_lost = symbolizer_sideband_lost(f->sym);
	struct flight_sums later[2] = { 0 };
	struct flight_counts counts;
	struct dump d;
	int err = dump_begin(&d, &f->definitions, out);

	if (!err)
		err = id_map_settle_objects(translator_ids(f->translator));
	if (!err)
		err = move_tail(f, from_ns);
	flight_counts(f, &counts);
	symbolizer_write_to(f->sym, out);
	if (!err)
		err = dump_threads(&d, &f->threads, from_ns);
	for (uint32_t i = 0; !err && i < f->n_losses; i++) {
		const struct loss *l = &f->losses[i];

		if (l->first_ns < end_ns)
			err = encoder_lost(out, l->cpu, l->n, l->first_ns, l->last_ns);
	}
	if (!err)
		err = dump_events(&d, &f->tail, end_ns);
	if (!err)
		err = count_later(f, end_ns, later);
	if (!err)
		err = symbolizer_finish(f->sym, stats);
	encoder_aux_counted(out, counts.window[1].kernel - later[1].events - later[1].lost);
	if (!err)
		err = encoder_end(out, end_ns,
				  counts.window[0].kernel - later[0].events - later[0].lost,
				  sideband_lost);
	dump_end(&d);
	return err;
}
