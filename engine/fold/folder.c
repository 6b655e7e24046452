// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold_private.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "select/route_times.h"
#include "select/wait_nature.h"
#include "wait_length.h"

static bool wants_samples(const struct fold *f)
{
	return f->by != FOLD_BY_WAKER && !f->options->no_ends && timelines_sampled(f->timelines);
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct folder *f = arg;

	return fold_folds_repeats(f->fold) ? intern_link_identity(&f->stacks, l)
					   : intern_link(&f->stacks, l);
}

/* Requests are kept apart where processes are. */
static uint32_t group_of(struct folder *f, uint32_t thread, uint32_t name, const struct wait *w,
			 uint32_t span)
{
	const struct timelines *tl = f->fold->timelines;
	uint32_t length = f->fold->by == FOLD_BY_ROW ? wait_length(w->in_ns - w->out_ns) : 0;
	const struct request *q;

	if (fold_counts_waits(f->fold) && timelines_is_client(tl, thread)) {
		q = timelines_request_of(tl, w);
		if (f->fold->median_ns)
			length = wait_length_and_over(length,
						      request_over_ns(tl, f->fold->median_ns, q));
		return intern_request_group(&f->stacks, thread, name, q, length, span);
	}
	return intern_group(&f->stacks, thread, name,
			    interned_stacks_root(f->fold->stacks, thread, w->out_ns), length, span);
}

/* The wait's head; its node is 0 if it is out of memory. */
static const struct head *head_of(struct folder *f, uint32_t thread, const struct wait *w,
				  uint32_t span)
{
	uint32_t name, group;
	struct head *slot;

	name = timelines_name(f->fold->timelines, thread, w->out_ns);
	group = group_of(f, thread, name, w, span);
	slot = &f->heads[hash_pair(group, w->stack) % HEADS];
	if (!slot->node || slot->group != group || slot->stack != w->stack)
		*slot = (struct head) {
			.group = group,
			.stack = w->stack,
			.node = chains_node(&f->chains, chains_head(&f->chains, group),
					    intern_head(&f->stacks, name, w->stack)),
			.class = wait_class(f->fold->timelines, w->stack),
		};
	return slot;
}

/* For --view=wakeup, in place of head_of(): a node for the waker with the wakee. */
static uint32_t wakeup_of(struct folder *f, uint32_t thread, const struct wait *w)
{
	struct chains *c = &f->chains;
	uint32_t name = timelines_name(c->timelines, thread, w->out_ns);
	enum chain_end end = CHAIN_NO_END;
	struct link l = { 0 };

	if (w->flags & WAIT_NOT_WOKEN)
		end = CHAIN_NOT_WOKEN;
	else if (w->waker == THREAD_NONE)
		end = CHAIN_UNKNOWN;
	else if (timelines_is_client(c->timelines, thread))
		l = link_of_client(c->timelines, c->options, w, w->waker, w->waker_stack,
				   w->wake_ns);
	else
		l = link_of(c->timelines, c->options, w, waker_context(c->kernel, c->timelines, w),
			    true);
	return chains_node(c, chains_head(c, group_of(f, thread, name, w, 0)),
			   intern_wakeup(&f->stacks, end == CHAIN_NO_END ? &l : NULL, end, name));
}

/* ---- summing up ----------------------------------------------------------------------------- */

/* What stands above an end: who had the CPU, a disk and its stage, a timer of TCP, a socket. */
static void add_above(struct folder *f, uint32_t node, struct amount_key key, uint64_t ns)
{
	enum chain_end end = (enum chain_end)key.end;
	uint32_t list;

	if (end == CHAIN_NETWORK && key.stage == NETWORK_REMOTE)
		list = CHAIN_ROW_REMOTE | key.value;
	else if (key.kind == AMOUNT_CPU_HOLDER)
		list = intern_holder(&f->stacks, key.value);
	else if (end == CHAIN_DISK)
		list = intern_disk(&f->stacks, key.value, (enum disk_stage)key.stage);
	else
		list = intern_packets(&f->stacks, key.value, key.stage);
	node_sums_add_above(&f->sums, node, end, list, ns);
}

/* A chain_sink's. */
static void add_amount(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct folder *f = arg;

	amount *= f->times;
	if (key.kind == AMOUNT_TIME) {
		f->summary.ends_ns[key.end] += amount;
		if (key.end == CHAIN_DISK || (key.end == CHAIN_NETWORK && (key.value || key.stage)))
			add_above(f, node, key, amount);
		node_sums_add(&f->sums, node, (enum chain_end)key.end, amount);
	} else if (key.kind == AMOUNT_SAMPLES) {
		node_sums_add_ran(&f->sums, node, key.value, (int64_t)amount);
	} else if (key.kind == AMOUNT_CPU_HOLDER && key.value != HOLDER_UNKNOWN) {
		add_above(f, node, key, amount);
	}
}

/* Counts a wait at its direct waker, or at the reason why there is none. */
static void count_wait(struct folder *f, uint32_t head, uint32_t thread, const struct wait *w,
		       const struct shown *s)
{
	struct chains *c = &f->chains;
	enum chain_end end = CHAIN_NO_END;
	uint32_t link = 0;

	if (w->kind == WAIT_PREEMPTED)
		end = CHAIN_PREEMPTED;
	else if (s->blocked_to_ns <= s->blocked_from_ns)
		end = s->off_to_ns > s->off_from_ns ? CHAIN_RUNNABLE : CHAIN_NO_END;
	else if (timelines_is_client(c->timelines, thread))
		link = chains_client_link(
			c, head, w, chains_writer(timelines_request_of(c->timelines, w)), &end);
	else
		link = chains_link(c, head, w, c->depth, true, &end);
	/*
	 * Time with these ends may be divided among several rows, so the count gets a row of its
	 * own.
	 */
	if (chain_end_has_stages(end))
		end = CHAIN_NO_END;
	node_sums_add_waits(&f->sums, link ? link : head, end, 1);
}

static void keep_long(struct folder *f, struct long_wait w)
{
	XAPPEND(f->long_waits, f->n_long, f->cap_long) = w;
}

static void add_to_batch(struct folder *f, uint32_t head, uint32_t thread, const struct wait *w,
			 uint64_t from_ns, uint64_t to_ns)
{
	if (timelines_is_client(f->fold->timelines, thread))
		chain_batch_add_client(f->batch, head, w, from_ns, to_ns);
	else
		chain_batch_add(f->batch, head, thread, w, from_ns, to_ns);
}

static void fold_sleep(struct folder *f, uint32_t head, uint32_t thread, const struct wait *w,
		       const struct shown *s, bool is_long, uint32_t span)
{
	if (!f->batch)
		chains_explain(&f->chains, head, thread, w, s->blocked_from_ns, s->blocked_to_ns);
	else if (is_long)
		keep_long(f, (struct long_wait) { thread, w, s->blocked_from_ns, s->blocked_to_ns,
						  span });
	else
		add_to_batch(f, head, thread, w, s->blocked_from_ns, s->blocked_to_ns);
}

/* A wait, or what of it is in a span; counted: in which it is counted. */
static void fold_part(struct folder *f, uint32_t thread, const struct wait *w, struct shown s,
		      bool is_long, uint32_t span, bool counted)
{
	struct chain_summary *sum = &f->summary;
	bool preempted = w->kind == WAIT_PREEMPTED;
	uint64_t off_ns = s.off_to_ns - s.off_from_ns;
	uint64_t blocked_ns = s.blocked_to_ns - s.blocked_from_ns;
	const struct head *slot;
	uint32_t head;

	sum->waits += counted;
	if (f->fold->by == FOLD_BY_WAKER) {
		if (w->kind == WAIT_SLEEP && blocked_ns)
			node_sums_add(&f->sums, wakeup_of(f, thread, w), CHAIN_RUNNING, blocked_ns);
		return;
	}
	slot = head_of(f, thread, w, span);
	head = slot->node;
	if (!head)
		return;
	if (fold_counts_waits(f->fold) && counted)
		count_wait(f, head, thread, w, &s);
	if (off_ns) {
		struct chain_piece own = { head,
					   preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE,
					   thread,
					   w,
					   s.off_from_ns,
					   s.off_to_ns,
					   0,
					   1 };

		/* Not by attribute_piece(): it is not how the chain ends. */
		node_sums_add(&f->sums, head, own.end, off_ns);
		if (f->fold->cpu_holders)
			attribute_cpu_holders(&f->chains.attribution, &own);
	}
	if (preempted) {
		sum->preempted_ns += off_ns;
		return;
	}
	sum->runnable_ns += off_ns;
	sum->blocked_ns += blocked_ns;
	if (f->fold->knows_objects)
		sums_add(&f->classes, 0, slot->class, blocked_ns);
	fold_sleep(f, head, thread, w, &s, is_long, span);
}

/* The span in which ns lies; what is before or behind all of them is in the first or the last. */
static uint32_t span_at(const struct fold_spans *s, uint64_t ns)
{
	size_t end = LOWER_BOUND(i, s->n, s->bounds[i] <= ns);

	return end ? (uint32_t)end - 1 : 0;
}

static void fold_wait(void *arg, uint32_t thread, const struct wait *w, bool is_long)
{
	struct folder *f = arg;
	const struct fold_spans *s = &f->fold->spans;
	struct shown shown;
	uint32_t first;

	if (!wait_filter_wait(f->filter, thread, w, &shown))
		return;
	if (!s->n) {
		fold_part(f, thread, w, shown, is_long, 0, true);
		return;
	}
	first = span_at(s, w->out_ns);
	for (uint32_t i = first; i < s->n && s->bounds[i] < w->in_ns; i++) {
		uint64_t from = s->bounds[i], to = s->bounds[i + 1];
		struct shown part = { clip_ns(shown.blocked_from_ns, from, to),
				      clip_ns(shown.blocked_to_ns, from, to),
				      clip_ns(shown.off_from_ns, from, to),
				      clip_ns(shown.off_to_ns, from, to), shown.whole_ns };

		/* Rows of several windows of time add up: a wait counts in one of them. */
		fold_part(f, thread, w, part, is_long, i,
			  i == first && (f->fold->by != FOLD_BY_ROW || w->out_ns >= from ||
					 from <= timelines_start_ns(f->fold->timelines)));
	}
}

/* ---- running time --------------------------------------------------------------------------- */

/* The node of a thread's name alone, as it ran at at_ns. */
static uint32_t name_node(struct folder *f, uint32_t thread, uint32_t name, uint64_t at_ns,
			  uint32_t span)
{
	uint32_t root = interned_stacks_root(f->fold->stacks, thread, at_ns);
	uint32_t group = intern_group(&f->stacks, thread, name, root, 0, span);
	struct own *last = &f->own;

	if (!last->node || last->group != group || last->name != name)
		*last = (struct own) { group, name,
				       chains_node(&f->chains, chains_head(&f->chains, group),
						   intern_name(&f->stacks, name)) };
	return last->node;
}

/* The same of the name that it had as it began to run, as a wait's; 0: that is not chosen. */
static uint32_t own_node(struct folder *f, uint32_t thread, uint64_t began_ns, uint32_t span)
{
	uint32_t name = timelines_name(f->fold->timelines, thread, began_ns);

	return wait_filter_fits(f->filter, name, thread, began_ns)
		       ? name_node(f, thread, name, began_ns, span)
		       : 0;
}

static void add_samples(struct folder *f, uint32_t node, uint32_t thread, uint64_t from_ns,
			uint64_t to_ns)
{
	const struct sample *last, *s = timelines_samples(f->fold->timelines, thread, &last);

	if (s == last)
		return;
	for (s = sample_at(s, last, from_ns); s < last && s->ns < to_ns; s++)
		node_sums_add_ran(&f->sums, node, s->pair, 1);
}

/* A part of a thread's own time, CHAIN_ON_CPU with its samples, or CHAIN_UNKNOWN. */
static void fold_own_part(struct folder *f, uint32_t thread, enum chain_end end, uint64_t began_ns,
			  uint64_t from_ns, uint64_t to_ns, uint32_t span)
{
	uint32_t node = from_ns < to_ns ? own_node(f, thread, began_ns, span) : 0;

	if (!node)
		return;
	node_sums_add(&f->sums, node, end, to_ns - from_ns);
	if (end == CHAIN_ON_CPU)
		add_samples(f, node, thread, from_ns, to_ns);
}

/* Cut at the bounds of spans. Rows say nothing of time that is not known, and each has its name. */
static void fold_own(struct folder *f, uint32_t thread, enum chain_end end, uint64_t from_ns,
		     uint64_t to_ns)
{
	const struct fold_spans *s = &f->fold->spans;
	bool by_row = f->fold->by == FOLD_BY_ROW;

	if (from_ns >= to_ns || (end == CHAIN_UNKNOWN && f->fold->options->parts != PART_ALL))
		return;
	if (!s->n) {
		fold_own_part(f, thread, end, from_ns, from_ns, to_ns, 0);
		return;
	}
	if (end == CHAIN_UNKNOWN && by_row)
		return;
	for (uint32_t i = span_at(s, from_ns); i < s->n && s->bounds[i] < to_ns; i++) {
		uint64_t from = clip_ns(from_ns, s->bounds[i], s->bounds[i + 1]);

		fold_own_part(f, thread, end, by_row ? from : from_ns, from,
			      clip_ns(to_ns, s->bounds[i], s->bounds[i + 1]), i);
	}
}

/* What the waits of a thread leave of its life, as far as that lies in [from_ns, to_ns). */
static void fold_life(struct folder *f, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct thread *th = timelines_thread(f->fold->timelines, thread);
	uint64_t begin = clip_ns(th->begin_ns, from_ns, to_ns);
	uint64_t end = clip_ns(th->end_ns, from_ns, to_ns), at = begin;
	/* Unknown intervals that follow each other are one: [unknown, at). */
	uint64_t unknown = begin;

	for (uint32_t i = thread_position(th, begin); i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t out = clip_ns(w->out_ns, begin, end), in = clip_ns(w->in_ns, begin, end);

		if (w->out_ns >= end)
			break;
		if (w->kind != WAIT_UNKNOWN || out > at) {
			fold_own(f, thread, CHAIN_UNKNOWN, unknown, at);
			unknown = out;
		}
		fold_own(f, thread, CHAIN_ON_CPU, at, out);
		at = in;
		if (w->kind != WAIT_UNKNOWN)
			unknown = in;
	}
	fold_own(f, thread, CHAIN_UNKNOWN, unknown, at);
	fold_own(f, thread, CHAIN_ON_CPU, at, end);
}

/* From when on nothing changes that own_node() asks: where a part of its own time begins. */
static uint64_t settled_ns(const struct folder *f, uint32_t thread)
{
	const struct timelines *tl = f->fold->timelines;
	const struct options *o = f->fold->options;
	const struct thread *th = timelines_thread(tl, thread);
	uint64_t ns = 0, next_ns;
	uint32_t i;

	if (o->groups.n || o->root == ROOT_CGROUP)
		return UINT64_MAX;
	while ((next_ns = timelines_next_name_ns(tl, thread, ns)) != UINT64_MAX)
		ns = next_ns;
	if (!ns)
		return 0;
	i = thread_position(th, ns);
	while (i < th->n_waits && th->waits[i].kind == WAIT_UNKNOWN)
		i++;
	return i < th->n_waits ? th->waits[i].in_ns : UINT64_MAX;
}

/* As fold_life(), once nothing changes: all parts in a span at once. */
static void fold_span(struct folder *f, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      uint32_t span)
{
	const struct thread *th = timelines_thread(f->fold->timelines, thread);
	struct thread_sums sums = thread_sums(th, from_ns, to_ns);
	uint32_t node;

	if (f->fold->options->parts != PART_ALL || f->fold->by == FOLD_BY_ROW)
		sums.unknown_ns = 0;
	node = sums.running_ns || sums.unknown_ns ? own_node(f, thread, from_ns, span) : 0;
	if (!node)
		return;
	node_sums_add(&f->sums, node, CHAIN_ON_CPU, sums.running_ns);
	node_sums_add(&f->sums, node, CHAIN_UNKNOWN, sums.unknown_ns);
	add_samples(f, node, thread, from_ns, to_ns);
}

static void fold_spans(struct folder *f, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct fold_spans *s = &f->fold->spans;

	if (!s->n)
		fold_span(f, thread, from_ns, to_ns, 0);
	for (uint32_t i = 0; i < s->n; i++)
		fold_span(f, thread, clip_ns(s->bounds[i], from_ns, to_ns),
			  clip_ns(s->bounds[i + 1], from_ns, to_ns), i);
}

/* The running time of this folder's share of the threads, where it is wanted. */
static void fold_own_time(struct folder *f)
{
	const struct fold *fold = f->fold;
	const struct timelines *tl = fold->timelines;
	uint32_t share = (uint32_t)(f - fold->folders);
	uint64_t from_ns, to_ns, settled;

	/* Without samples nothing is said of it, as in traces of before. */
	if (!wants_samples(fold) || !wait_filter_running(f->filter) || fold->options->requests)
		return;
	wait_filter_window(f->filter, &from_ns, &to_ns);
	for (uint32_t i = share; i < timelines_threads(tl); i += fold->n_folders) {
		const struct thread *th = timelines_thread(tl, i);

		if (th->flags & THREAD_RECORDER || !wait_filter_thread(f->filter, i))
			continue;
		settled = clip_ns(settled_ns(f, i), from_ns, to_ns);
		fold_life(f, i, from_ns, settled);
		fold_spans(f, i, settled, to_ns);
	}
}

/* ---- folders -------------------------------------------------------------------------------- */

void folder_clear(struct folder *f)
{
	chain_batch_free(f->batch);
	chains_free(&f->chains);
	wait_filter_free(f->filter);
	names_free(f->names);
	stack_cache_free(&f->stacks);
	free(f->long_waits);
	node_sums_free(&f->sums);
	sums_free(&f->classes);
}

static bool wants(void *arg, const struct thread *th)
{
	struct folder *f = arg;

	return wait_filter_thread(f->filter,
				  (uint32_t)(th - timelines_thread(f->fold->timelines, 0)));
}

static void folder_init(struct folder *f)
{
	const struct fold *fold = f->fold;
	const struct timelines *tl = fold->timelines;
	const struct options *o = fold->options;

	f->times = 1;
	names_new(&f->names, tl, o);
	wait_filter_new(&f->filter, tl, o, f->names);
	if (fold->by == FOLD_BY_ROW)
		wait_filter_set_window(f->filter, fold->spans.bounds[0],
				       fold->spans.bounds[fold->spans.n]);
	chains_init(&f->chains, tl, o,
		    &(struct chain_user) {
			    .sink = { .arg = f, .add = add_amount },
			    .label = label_link,
			    .labels_by_name = true,
			    .identity = fold_folds_repeats(fold) ? chain_identity_is_label : NULL,
			    .wants = 1u << AMOUNT_CPU_HOLDER |
				     (wants_samples(fold) ? 1u << AMOUNT_SAMPLES : 0),
			    .cpu_holders = fold->cpu_holders });
	stack_cache_init(&f->stacks, fold->stacks);
	/* What another machine did meanwhile is asked for wait by wait. */
	if (o->mode == MODE_EXACT && !tl->remote)
		chain_batch_new(&f->batch, &f->chains);
}

void *folder_run(void *arg)
{
	struct folder *f = arg;

	folder_init(f);
	if (!f->fold->spans.n || f->fold->options->parts != PART_RUNNING)
		slices_walk(&f->fold->slices, (struct wait_visitor) { f, wants, fold_wait });
	if (f->batch)
		chain_batch_run(f->batch);
	fold_own_time(f);
	wait_filter_idle(f->filter, &f->summary.idle_waits, &f->summary.idle_ns);
	f->summary.not_shown_ns = wait_filter_preempted_ns(f->filter);
	return NULL;
}

void folder_run_remote(struct folder *f, const struct fold_remote *at, size_t n)
{
	const struct timelines *tl = f->fold->timelines;

	folder_init(f);
	for (size_t i = 0; i < n; i++) {
		uint32_t client, name, head;
		const struct wait *w = timelines_wait_for(tl, at[i].request, &client);

		if (!w)
			continue;
		name = timelines_name(tl, client, w->out_ns);
		head = chains_node(&f->chains, chains_head(&f->chains, (uint32_t)i + 1),
				   intern_name(&f->stacks, name));
		f->times = at[i].times;
		chains_explain(&f->chains, head, client, w, at[i].from_ns, at[i].to_ns);
	}
}

void *folder_run_long(void *arg)
{
	struct folder *f = arg;
	const struct fold *fold = f->fold;
	uint32_t share = (uint32_t)(f - fold->folders);
	uint64_t from_ns = slices_share_from(&fold->slices, share, fold->n_folders);
	uint64_t to_ns = slices_share_from(&fold->slices, share + 1, fold->n_folders);

	if (!f->batch)
		return NULL;
	for (uint32_t i = 0; i < fold->n_folders; i++)
		for (size_t k = 0; k < fold->folders[i].n_long; k++) {
			const struct long_wait *l = &fold->folders[i].long_waits[k];
			uint64_t from = l->from_ns > from_ns ? l->from_ns : from_ns;
			uint64_t to = l->to_ns < to_ns ? l->to_ns : to_ns;

			if (from < to)
				add_to_batch(f, head_of(f, l->thread, l->wait, l->span)->node,
					     l->thread, l->wait, from, to);
		}
	chain_batch_run(f->batch);
	return NULL;
}
