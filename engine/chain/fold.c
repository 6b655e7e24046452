// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "grow.h"
#include "base/progress.h"
#include "chain_batch.h"
#include "on_cpu.h"
#include "wait_filter.h"
#include "slices.h"

#define FOLDERS_MAX 16u
#define HEADS 4096u /* a power of two */

/* A cache's slot: the node of a head. */
struct head {
	uint32_t group, stack, node; /* node 0: empty */
};

/* Time of the chains that lead to one node, by end. */
struct sums {
	uint64_t ns[CHAIN_ENDS];
};

/* 32 bits: more waits than that do not fit into memory. */
struct counts {
	uint32_t waits[CHAIN_NO_END + 1];
};

/* A wait that reaches over several slices, and the part of it that was chosen. */
struct long_wait {
	uint32_t thread;
	const struct wait *wait;
	uint64_t from_ns, to_ns;
};

struct fold;

/* Each works on slices of its own, and then on a share of the long waits' time. */
struct folder {
	struct fold *fold;
	struct names *names; /* the filter's */
	struct wait_filter *filter;
	struct chains chains;	   /* its nodes: see chain_row.node */
	struct chain_batch *batch; /* NULL: one wait at a time */
	struct part_cache parts;
	struct head heads[HEADS];
	struct long_wait *long_waits;
	size_t n_long, cap_long;
	struct sums *sums;     /* by node */
	struct counts *counts; /* likewise; only where waits are counted */
	size_t n_sums, n_counts;
	struct pair_table ran; /* int64_t: samples by (node, stack pair) */
	struct pair_table who; /* ns by (who_key(), number of the part), of sums */
	struct chain_summary summary;
	bool out_of_memory;
};

struct fold {
	const struct timelines *timelines;
	const struct options *options;
	enum fold_by by;
	struct chain_parts *parts;
	struct who_ran *who_ran; /* NULL: not asked for, or not known */
	struct slices slices;
	struct folder folders[FOLDERS_MAX]; /* at the end the first one has all sums */
	uint32_t n_folders;
	struct chain_summary summary;
	struct pairs nodes; /* of the chains, when they are complete */
	struct chain_rows rows;
};

static bool counts_waits(const struct fold *f)
{
	return f->by == FOLD_BY_PROCESS || f->by == FOLD_BY_LINE;
}

static bool wants_samples(const struct fold *f)
{
	return f->by == FOLD_BY_NAME && !f->options->no_ends && timelines_sampled(f->timelines);
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct folder *f = arg;

	return part_link(&f->parts, l);
}

/* The node of the wait's head, 0: out of memory. */
static uint32_t head_of(struct folder *f, uint32_t thread, const struct wait *w)
{
	uint32_t name, group;
	struct head *slot;

	name = timelines_name(f->fold->timelines, thread, w->out_ns);
	group = part_group(&f->parts, thread, name);
	slot = &f->heads[hash_pair(group, w->stack) % HEADS];
	if (!slot->node || slot->group != group || slot->stack != w->stack)
		*slot = (struct head) {
			.group = group,
			.stack = w->stack,
			.node = chains_node(&f->chains, chains_head(&f->chains, group),
					    part_head(&f->parts, name, w->stack)),
		};
	return slot->node;
}

/* For --view=wakeup, in place of head_of(): a node for the waker with the wakee. */
static uint32_t wakeup_of(struct folder *f, uint32_t thread, const struct wait *w)
{
	struct chains *c = &f->chains;
	uint32_t name = timelines_name(c->timelines, thread, w->out_ns);
	uint32_t kstack = timelines_pair(c->timelines, w->waker_stack).kstack;
	enum chain_end end = CHAIN_NO_END;
	struct link l = { 0 };

	if (w->flags & WAIT_NOT_WOKEN)
		end = CHAIN_NOT_WOKEN;
	else if (w->waker == THREAD_NONE)
		end = CHAIN_UNKNOWN;
	else
		l = link_of(c->timelines, c->options, w,
			    waker_context(c->kernel, kstack, w->waker == THREAD_IDLE), true);
	return chains_node(c, chains_head(c, part_group(&f->parts, thread, name)),
			   part_wakeup(&f->parts, end == CHAIN_NO_END ? &l : NULL, end, name));
}

/* ---- summing up ----------------------------------------------------------------------------- */

/* Makes room for a node's sums; the old array stands when out of memory. */
static void *grow_by_node(struct folder *f, void *array, size_t *n, uint32_t node, size_t size)
{
	size_t want = (size_t)node + node / 2 + 64;
	char *p = realloc(array, want * size);

	if (!p) {
		f->out_of_memory = true;
		return array;
	}
	memset(p + *n * size, 0, (want - *n) * size);
	*n = want;
	return p;
}

static void add_ns(struct folder *f, uint32_t node, enum chain_end end, uint64_t ns)
{
	if (node >= f->n_sums)
		f->sums = grow_by_node(f, f->sums, &f->n_sums, node, sizeof(*f->sums));
	if (node < f->n_sums)
		f->sums[node].ns[end] += ns;
}

/* Only own time that a thread was ready has the end CHAIN_PREEMPTED. */
static uint32_t who_key(uint32_t node, enum chain_end end)
{
	return node << 1 | (end == CHAIN_PREEMPTED);
}

static void add_who(struct folder *f, uint32_t key, uint32_t part, uint64_t ns)
{
	uint64_t *sum = part ? pair_table_at(&f->who, key, part, sizeof(*sum)) : NULL;

	if (sum)
		*sum += ns;
	else
		f->out_of_memory = true;
}

/* Time that the user of the chains gets: of a waker that had no CPU. */
static void add_who_piece(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	struct folder *f = arg;

	if (who != WHO_UNKNOWN)
		add_who(f, who_key(node, CHAIN_RUNNABLE), part_who(&f->parts, who), ns);
}

struct own_time {
	struct folder *folder;
	uint32_t key;
};

static void add_own_who(void *arg, uint32_t who, uint64_t ns)
{
	const struct own_time *t = arg;
	struct folder *f = t->folder;

	if (who != WHO_UNKNOWN)
		add_who(f, t->key, part_who(&f->parts, who), ns);
}

static void add_waits(struct folder *f, uint32_t node, uint32_t end, uint32_t waits)
{
	if (node >= f->n_counts)
		f->counts = grow_by_node(f, f->counts, &f->n_counts, node, sizeof(*f->counts));
	if (node < f->n_counts)
		f->counts[node].waits[end] += waits;
}

static void add_piece(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct folder *f = arg;

	f->summary.ends_ns[end] += ns;
	add_ns(f, node, end, ns);
}

/* A chain_ran_fn. */
static void add_ran(void *arg, uint32_t node, uint32_t pair, int64_t count)
{
	struct folder *f = arg;
	int64_t *n = pair_table_at(&f->ran, node, pair, sizeof(*n));

	if (n)
		*n += count;
	else
		f->out_of_memory = true;
}

/* Counts a wait at its direct waker, or at the reason why there is none. */
static void count_wait(struct folder *f, uint32_t head, const struct wait *w, const struct shown *s)
{
	struct chains *c = &f->chains;
	enum chain_end end = CHAIN_NO_END;
	uint32_t link = 0;

	if (w->kind == WAIT_PREEMPTED)
		end = CHAIN_PREEMPTED;
	else if (s->blocked_to_ns <= s->blocked_from_ns)
		end = s->off_to_ns > s->off_from_ns ? CHAIN_RUNNABLE : CHAIN_NO_END;
	else if (f->batch)
		link = chain_batch_link(f->batch, head, w, &end);
	else
		link = chains_link(c, head, w, c->depth, true, &end);
	add_waits(f, link ? link : head, end, 1);
}

static void keep_long(struct folder *f, struct long_wait w)
{
	struct long_wait *p = grow_array(f->long_waits, f->n_long, &f->cap_long, sizeof(*p));

	if (!p) {
		f->out_of_memory = true;
		return;
	}
	f->long_waits = p;
	p[f->n_long++] = w;
}

static void fold_sleep(struct folder *f, uint32_t head, uint32_t thread, const struct wait *w,
		       const struct shown *s, bool is_long)
{
	if (!f->batch)
		chains_explain(&f->chains, head, thread, w, s->blocked_from_ns, s->blocked_to_ns);
	else if (is_long)
		keep_long(f,
			  (struct long_wait) { thread, w, s->blocked_from_ns, s->blocked_to_ns });
	else
		chain_batch_add(f->batch, head, w, s->blocked_from_ns, s->blocked_to_ns);
}

static void fold_wait(void *arg, uint32_t thread, const struct wait *w, bool is_long)
{
	struct folder *f = arg;
	struct chain_summary *sum = &f->summary;
	bool preempted = w->kind == WAIT_PREEMPTED;
	uint64_t off_ns, blocked_ns;
	struct shown s;
	uint32_t head;

	if (!wait_filter_wait(f->filter, thread, w, &s))
		return;
	off_ns = s.off_to_ns - s.off_from_ns;
	blocked_ns = s.blocked_to_ns - s.blocked_from_ns;
	sum->waits++;
	if (f->fold->by == FOLD_BY_WAKER) {
		if (w->kind == WAIT_SLEEP && blocked_ns)
			add_ns(f, wakeup_of(f, thread, w), CHAIN_RUNNING, blocked_ns);
		return;
	}
	head = head_of(f, thread, w);
	if (!head)
		return;
	if (counts_waits(f->fold))
		count_wait(f, head, w, &s);
	if (off_ns)
		add_ns(f, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE, off_ns);
	if (off_ns && f->fold->who_ran) {
		struct own_time own = { f, who_key(head,
						   preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE) };

		who_ran_share(f->fold->who_ran, thread, w, s.off_from_ns, s.off_to_ns, add_own_who,
			      &own);
	}
	if (preempted) {
		sum->preempted_ns += off_ns;
		return;
	}
	sum->runnable_ns += off_ns;
	sum->blocked_ns += blocked_ns;
	fold_sleep(f, head, thread, w, &s, is_long);
}

/* ---- running time --------------------------------------------------------------------------- */

/* The node of a thread's name alone; 0: out of memory. */
static uint32_t name_node(struct folder *f, uint32_t thread, uint32_t name)
{
	uint32_t group = part_group(&f->parts, thread, name);

	return chains_node(&f->chains, chains_head(&f->chains, group), part_name(&f->parts, name));
}

static void add_own_time(void *arg, uint32_t thread, uint32_t name, enum chain_end end, uint64_t ns)
{
	struct folder *f = arg;
	uint32_t node;

	if (!wait_filter_fits(f->filter, name) ||
	    (end == CHAIN_UNKNOWN && f->fold->options->parts != PART_ALL))
		return;
	node = name_node(f, thread, name);
	if (node)
		add_ns(f, node, end, ns);
}

static void add_own_sample(void *arg, uint32_t thread, uint32_t name, uint32_t pair)
{
	struct folder *f = arg;
	uint32_t node = wait_filter_fits(f->filter, name) ? name_node(f, thread, name) : 0;

	if (node)
		add_ran(f, node, pair, 1);
}

/* The running time of this folder's share of the threads, where it is wanted. */
static void fold_own_time(struct folder *f)
{
	const struct fold *fold = f->fold;
	const struct timelines *tl = fold->timelines;
	struct on_cpu_user user = { f, add_own_time, add_own_sample };
	uint32_t share = (uint32_t)(f - fold->folders);
	uint64_t from_ns, to_ns;

	/* Without samples nothing is said of it, as in traces of before. */
	if (!wants_samples(fold) || !wait_filter_running(f->filter))
		return;
	wait_filter_window(f->filter, &from_ns, &to_ns);
	for (uint32_t i = share; i < timelines_threads(tl); i += fold->n_folders) {
		const struct thread *th = timelines_thread(tl, i);

		if (!(th->flags & THREAD_RECORDER) && wait_filter_thread(f->filter, i))
			on_cpu_walk(tl, i, from_ns, to_ns, user);
	}
}

/* ---- folders -------------------------------------------------------------------------------- */

static void folder_clear(struct folder *f)
{
	chain_batch_free(f->batch);
	chains_free(&f->chains);
	wait_filter_free(f->filter);
	names_free(f->names);
	part_cache_free(&f->parts);
	free(f->long_waits);
	free(f->sums);
	free(f->counts);
	pair_table_free(&f->ran);
	pair_table_free(&f->who);
}

static bool wants(void *arg, const struct thread *th)
{
	struct folder *f = arg;

	return wait_filter_thread(f->filter,
				  (uint32_t)(th - timelines_thread(f->fold->timelines, 0)));
}

static int folder_init(struct folder *f)
{
	const struct fold *fold = f->fold;
	const struct timelines *tl = fold->timelines;
	const struct options *o = fold->options;
	int err;

	f->names = names_new(tl, o);
	f->filter = f->names ? wait_filter_new(tl, o, f->names) : NULL;
	err = chains_init(&f->chains, tl, o, (struct chain_user) { f, label_link, add_piece });
	if (!err && wants_samples(fold))
		err = chain_samples_init(&f->chains.samples, tl, add_ran, f);
	chains_ask_who(&f->chains, fold->who_ran, add_who_piece);
	if (!err)
		err = part_cache_init(&f->parts, fold->parts);
	if (!err && o->mode == MODE_EXACT) {
		f->batch = chain_batch_new(&f->chains);
		err = f->batch ? 0 : -ENOMEM;
	}
	return f->filter ? err : -ENOMEM;
}

/* Folds slices until there are none left. */
static void *folder_run(void *arg)
{
	struct folder *f = arg;

	if (folder_init(f) ||
	    slices_walk(&f->fold->slices, (struct wait_visitor) { f, wants, fold_wait })) {
		f->out_of_memory = true;
		return NULL;
	}
	if (f->batch)
		chain_batch_run(f->batch);
	fold_own_time(f);
	wait_filter_idle(f->filter, &f->summary.idle_waits, &f->summary.idle_ns);
	f->out_of_memory |= f->chains.out_of_memory;
	return NULL;
}

/*
 * A share of the long waits' time, for all of these waits: together their windows cost one pass
 * over the wakers' time, not one each.
 */
static void *folder_run_long(void *arg)
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
				chain_batch_add(f->batch, head_of(f, l->thread, l->wait), l->wait,
						from, to);
		}
	chain_batch_run(f->batch);
	f->out_of_memory |= f->chains.out_of_memory;
	return NULL;
}

static void add_summary(struct chain_summary *to, const struct chain_summary *s)
{
	to->waits += s->waits;
	to->blocked_ns += s->blocked_ns;
	to->runnable_ns += s->runnable_ns;
	to->preempted_ns += s->preempted_ns;
	to->idle_waits += s->idle_waits;
	to->idle_ns += s->idle_ns;
	for (int i = 0; i < CHAIN_ENDS; i++)
		to->ends_ns[i] += s->ends_ns[i];
}

/* Adds the chains of one folder to those of another; their labels are the same numbers. */
static void absorb(struct folder *to, const struct folder *from)
{
	const struct pairs *theirs = &from->chains.nodes;
	uint32_t *nodes = calloc((size_t)theirs->n + 1, sizeof(*nodes));

	to->out_of_memory |= !nodes;
	/* Parents come before their children. */
	for (uint32_t i = 1; i <= theirs->n && !to->out_of_memory; i++) {
		nodes[i] = chains_node(&to->chains, nodes[theirs->at[i].a], theirs->at[i].b);
		to->out_of_memory |= !nodes[i];
		for (int end = 0; end < CHAIN_ENDS && i < from->n_sums; end++)
			if (from->sums[i].ns[end])
				add_ns(to, nodes[i], (enum chain_end)end, from->sums[i].ns[end]);
		for (uint32_t end = 0; end <= CHAIN_NO_END && i < from->n_counts; end++)
			if (from->counts[i].waits[end])
				add_waits(to, nodes[i], end, from->counts[i].waits[end]);
	}
	for (uint32_t i = 1; i <= from->ran.keys.n && !to->out_of_memory; i++) {
		struct pair key = from->ran.keys.at[i];

		add_ran(to, nodes[key.a], key.b, ((const int64_t *)from->ran.at)[i]);
	}
	for (uint32_t i = 1; i <= from->who.keys.n && !to->out_of_memory; i++) {
		struct pair key = from->who.keys.at[i];

		add_who(to, nodes[key.a >> 1] << 1 | (key.a & 1), key.b,
			((const uint64_t *)from->who.at)[i]);
	}
	free(nodes);
}

/* Adds up what the folders have; sums do not depend on which folder had which slice. */
static int gather(struct fold *f)
{
	struct folder *all = &f->folders[0];

	for (uint32_t i = 0; i < f->n_folders; i++) {
		struct folder *one = &f->folders[i];

		add_summary(&f->summary, &one->summary);
		if (i && !one->out_of_memory && !all->out_of_memory)
			absorb(all, one);
		all->out_of_memory |= one->out_of_memory;
		if (i)
			folder_clear(one);
	}
	f->nodes = all->chains.nodes;
	all->chains.nodes = (struct pairs) { 0 };
	return all->out_of_memory ? -ENOMEM : 0;
}

static int make_ran(struct fold *f)
{
	struct folder *all = &f->folders[0];
	int err = 0;

	for (uint32_t i = 1; i <= all->ran.keys.n && !err; i++) {
		struct pair key = all->ran.keys.at[i];
		int64_t samples = ((const int64_t *)all->ran.at)[i];
		/* Below a link, or at a thread's own name. */
		bool own = !f->nodes.at[f->nodes.at[key.a].a].a;
		struct chain_ran ran = {
			.node = key.a,
			.end = own ? CHAIN_ON_CPU : CHAIN_RUNNING,
			.list = part_ran(&all->parts, key.b),
			.samples = (uint64_t)samples,
		};

		if (!ran.list)
			err = -ENOMEM;
		else if (samples > 0)
			err = chain_rows_add_ran(&f->rows, &ran);
	}
	return err;
}

/* A row for each who had the CPU; their time is no longer in the sums then. */
static int make_who_rows(struct fold *f)
{
	struct folder *all = &f->folders[0];
	int err = 0;

	for (uint32_t i = 1; i <= all->who.keys.n && !err; i++) {
		struct pair key = all->who.keys.at[i];
		enum chain_end end = key.a & 1 ? CHAIN_PREEMPTED : CHAIN_RUNNABLE;
		uint64_t ns = ((const uint64_t *)all->who.at)[i];

		if (!ns)
			continue;
		all->sums[key.a >> 1].ns[end] -= ns;
		err = chain_rows_add(&f->rows, key.a >> 1, end, key.b, ns, 0);
	}
	return err;
}

static int make_rows(struct fold *f)
{
	const struct folder *all = &f->folders[0];
	int err;

	f->rows =
		(struct chain_rows) { .nodes = &f->nodes,
				      .parts = f->parts,
				      .with_ends = !f->options->no_ends && f->by != FOLD_BY_WAKER };
	err = make_who_rows(f);
	for (uint32_t node = 1; node <= f->nodes.n && !err; node++)
		for (uint32_t end = 0; end <= CHAIN_NO_END && !err; end++) {
			uint64_t ns = end < CHAIN_ENDS && node < all->n_sums
					      ? all->sums[node].ns[end]
					      : 0;
			uint64_t waits = node < all->n_counts ? all->counts[node].waits[end] : 0;

			if (ns || waits)
				err = chain_rows_add(&f->rows, node, end, 0, ns, waits);
		}
	if (!err)
		err = make_ran(f);
	/* Folded lines are sorted as text. */
	if (!err && counts_waits(f))
		err = chain_rows_order(&f->rows, f->options->top, f->slices.n > 1);
	return err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int run(struct fold *f)
{
	size_t n_long = 0;
	int err;

	err = slices_init(&f->slices, f->timelines);
	if (err)
		return err;
	f->n_folders = cpus_usable(FOLDERS_MAX);
	if (f->n_folders > f->slices.n)
		f->n_folders = f->slices.n;
	for (uint32_t i = 0; i < f->n_folders; i++)
		f->folders[i].fold = f;
	progress_begin(PROGRESS_FOLD, f->slices.n,
		       trace_info(timelines_trace(f->timelines))->events);
	workers_run(f->folders, sizeof(f->folders[0]), f->n_folders, folder_run);
	for (uint32_t i = 0; i < f->n_folders; i++)
		n_long += f->folders[i].n_long;
	if (n_long)
		workers_run(f->folders, sizeof(f->folders[0]), f->n_folders, folder_run_long);
	progress_end();
	err = gather(f);
	if (!err)
		err = make_rows(f);
	folder_clear(&f->folders[0]);
	return err;
}

int fold_new(struct fold **out, const struct timelines *tl, const struct options *o,
	     enum fold_by by)
{
	struct fold *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f) {
		f->timelines = tl;
		f->options = o;
		f->by = by;
		f->parts = chain_parts_new(tl, o, counts_waits(f), by == FOLD_BY_LINE);
		err = f->parts ? 0 : -ENOMEM;
		if (!err && o->who_ran && by != FOLD_BY_WAKER)
			err = who_ran_new(&f->who_ran, tl);
		if (!err)
			err = run(f);
	}
	if (err) {
		fold_free(f);
		f = NULL;
	}
	*out = f;
	return err;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	chain_rows_free(&f->rows);
	pairs_free(&f->nodes);
	chain_parts_free(f->parts);
	slices_free(&f->slices);
	who_ran_free(f->who_ran);
	free(f);
}

struct chain_rows *fold_rows(struct fold *f)
{
	return &f->rows;
}

const struct chain_summary *fold_summary(const struct fold *f)
{
	return &f->summary;
}
