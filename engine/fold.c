// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "chain_batch.h"
#include "cpus.h"
#include "grow.h"
#include "names.h"
#include "progress.h"
#include "select.h"

/* The node of a head, by what it is made of: a cache's slot. */
struct head {
	uint32_t name, stack, node; /* node 0: empty */
};

#define HEADS 4096u /* a power of two */

struct weights {
	uint64_t ns[CHAIN_ENDS];
};

/* A wait that is longer than a slice, and what of its blocked part is wanted. */
struct long_wait {
	uint32_t thread;
	const struct wait *wait;
	uint64_t from_ns, to_ns;
};

/* The trace's time in slices, each of which is folded by one of the folders. */
struct slices {
	const struct timelines *timelines;
	uint64_t start_ns, span_ns;
	uint32_t n;
	atomic_uint next;
};

struct fold;

/* Who folds: each works on slices of its own, and then on a share of the long waits' time. */
struct folder {
	const struct options *options;
	struct slices *slices;
	const struct fold *fold;
	struct names *names;
	struct selection *selection;
	struct chains chains;
	struct chain_batch *batch; /* NULL: one wait at a time */
	bool with_text;
	uint32_t *position; /* by thread: about how many of its waits come before the slice */
	struct long_wait *long_waits;
	size_t n_long, cap_long;
	struct weights *weights; /* by node */
	size_t n_weights;
	struct chain_summary summary;
	struct head heads[HEADS];
	struct text_buf text; /* the lines' texts, each with a terminator */
	struct fold_line *lines;
	size_t n_lines, cap_lines;
	bool out_of_memory;
};

#define FOLDERS_MAX 16u
/* About so many waits make a slice: their windows, and the wakers' time, stay in the cache. */
#define SLICE_WAITS 32768u

struct fold {
	struct folder folders[FOLDERS_MAX]; /* in the end the first one has it all */
	uint32_t n_folders;
	struct chain_summary summary;
};

static uint32_t label(void *arg, const struct wait *w, struct context context, bool first)
{
	struct folder *f = arg;

	return f->with_text ? names_link(f->names, w, context, first) : 1;
}

static void weigh(struct folder *f, uint32_t node, enum chain_end end, uint64_t ns)
{
	if (node >= f->n_weights) {
		size_t n = (size_t)node + node / 2 + 64;
		struct weights *p = realloc(f->weights, n * sizeof(*p));

		if (!p) {
			f->out_of_memory = true;
			return;
		}
		memset(p + f->n_weights, 0, (n - f->n_weights) * sizeof(*p));
		f->weights = p;
		f->n_weights = n;
	}
	f->weights[node].ns[end] += ns;
}

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct folder *f = arg;

	f->summary.ends_ns[end] += ns;
	if (f->with_text)
		weigh(f, node, end, ns);
}

/* The node of the wait's head, 0: out of memory. */
static uint32_t head_of(struct folder *f, uint32_t thread, const struct wait *w)
{
	uint32_t name = timelines_name(f->slices->timelines, thread, w->out_ns);
	struct head *slot = &f->heads[pairs_slot(name, w->stack, HEADS - 1)];

	if (!slot->node || slot->name != name || slot->stack != w->stack)
		*slot = (struct head) {
			.name = name,
			.stack = w->stack,
			.node = chains_head(&f->chains,
					    f->with_text ? names_head(f->names, thread, w) : 1),
		};
	return slot->node;
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

static void fold_wait(struct folder *f, uint32_t thread, const struct wait *w)
{
	uint64_t off_ns;
	struct shown s;
	uint32_t head;

	if (!selection_wait(f->selection, thread, w, &s))
		return;
	f->summary.waits++;
	head = head_of(f, thread, w);
	if (!head)
		return;
	off_ns = s.off_to_ns - s.off_from_ns;
	if (w->kind == WAIT_PREEMPTED) {
		f->summary.preempted_ns += off_ns;
	} else {
		f->summary.runnable_ns += off_ns;
		f->summary.blocked_ns += s.blocked_to_ns - s.blocked_from_ns;
		if (!f->batch)
			chains_explain(&f->chains, head, thread, w, s.blocked_from_ns,
				       s.blocked_to_ns);
		else if (w->in_ns - w->out_ns > f->slices->span_ns)
			keep_long(f, (struct long_wait) { thread, w, s.blocked_from_ns,
							  s.blocked_to_ns });
		else
			chain_batch_add(f->batch, head, w, s.blocked_from_ns, s.blocked_to_ns);
	}
	if (off_ns && f->with_text)
		weigh(f, head, w->kind == WAIT_PREEMPTED ? CHAIN_PREEMPTED : CHAIN_RUNNABLE,
		      off_ns);
}

/* How many of the thread's waits end at or before ns; at is such a number for an earlier time. */
static uint32_t position_from(const struct thread *th, uint32_t at, uint64_t ns)
{
	uint32_t step = 16;

	while (at + step < th->n_waits && th->waits[at + step].in_ns <= ns) {
		at += step;
		step *= 2;
	}
	for (; step; step /= 2)
		while (at + step <= th->n_waits && th->waits[at + step - 1].in_ns <= ns)
			at += step;
	return at;
}

/* The waits that end in (from_ns, to_ns]. */
static void fold_slice(struct folder *f, uint64_t from_ns, uint64_t to_ns)
{
	const struct timelines *tl = f->slices->timelines;
	uint32_t n = timelines_threads(tl);

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(tl, i);
		uint32_t k;

		if (!selection_thread(f->selection, th))
			continue;
		k = position_from(th, f->position[i], from_ns);
		for (; k < th->n_waits && th->waits[k].in_ns <= to_ns; k++)
			fold_wait(f, i, &th->waits[k]);
		f->position[i] = k;
	}
}

static void fold_waits(struct folder *f)
{
	struct slices *s = f->slices;
	uint32_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->n) {
		fold_slice(f, i ? s->start_ns + i * s->span_ns : 0,
			   i + 1 < s->n ? s->start_ns + (i + 1) * s->span_ns : UINT64_MAX);
		progress_add(1);
	}
	if (f->batch)
		chain_batch_run(f->batch);
	selection_idle(f->selection, &f->summary.idle_waits, &f->summary.idle_ns);
	f->out_of_memory |= f->chains.out_of_memory;
}

/* Puts the labels from the head down to the node. */
static void put_path(struct folder *f, uint32_t node)
{
	uint32_t path[OPTIONS_DEPTH_MAX + 2];
	size_t n = 0;

	for (; node && n < sizeof(path) / sizeof(path[0]); node = f->chains.nodes.at[node].a)
		path[n++] = f->chains.nodes.at[node].b;
	for (size_t i = n; i-- > 0;) {
		if (i + 1 < n)
			text_puts(&f->text, ";");
		text_puts(&f->text, names_text(f->names, path[i]));
	}
}

static void add_line(struct folder *f, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct fold_line *p = grow_array(f->lines, f->n_lines, &f->cap_lines, sizeof(*p));
	size_t at = f->text.len;

	if (!p) {
		f->out_of_memory = true;
		return;
	}
	f->lines = p;
	put_path(f, node);
	if (!f->options->no_ends) {
		text_puts(&f->text, ";");
		text_puts(&f->text, chain_end_name(end));
	}
	text_put(&f->text, "", 1);
	/* The texts still move about: an offset for now. */
	p[f->n_lines++] = (struct fold_line) { (const char *)at, ns };
}

static int by_text(const void *pa, const void *pb)
{
	const struct fold_line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

/* Sorts the lines and sums up those with the same text. Returns how many are left. */
static size_t merge_lines(struct fold_line *lines, size_t n_lines)
{
	size_t n = 0;

	if (n_lines)
		qsort(lines, n_lines, sizeof(*lines), by_text);
	for (size_t i = 0; i < n_lines; i++) {
		if (n && !strcmp(lines[n - 1].text, lines[i].text))
			lines[n - 1].ns += lines[i].ns;
		else
			lines[n++] = lines[i];
	}
	return n;
}

static void make_lines(struct folder *f)
{
	for (uint32_t node = 1; node <= f->chains.nodes.n && node < f->n_weights; node++)
		for (int end = 0; end < CHAIN_ENDS; end++)
			if (f->weights[node].ns[end])
				add_line(f, node, (enum chain_end)end, f->weights[node].ns[end]);
	f->out_of_memory |= f->text.failed;
	if (f->out_of_memory)
		return;
	for (size_t i = 0; i < f->n_lines; i++)
		f->lines[i].text = f->text.p + (size_t)f->lines[i].text;
	f->n_lines = merge_lines(f->lines, f->n_lines);
}

static void folder_clear(struct folder *f)
{
	chain_batch_free(f->batch);
	chains_free(&f->chains);
	selection_free(f->selection);
	names_free(f->names);
	free(f->position);
	free(f->long_waits);
	free(f->weights);
	free(f->lines);
	text_free(&f->text);
}

/* Folds slices until there are none left. */
static void *folder_run(void *arg)
{
	struct folder *f = arg;
	const struct timelines *tl = f->slices->timelines;
	const struct options *o = f->options;

	f->out_of_memory = true;
	f->names = names_new(tl, o);
	f->selection = f->names ? selection_new(tl, o, f->names) : NULL;
	f->position = calloc((size_t)timelines_threads(tl) + 1, sizeof(*f->position));
	if (!f->selection || !f->position ||
	    chains_init(&f->chains, tl, o->mode, o->depth, (struct chain_user) { f, label, add }))
		return NULL;
	if (o->mode == MODE_EXACT)
		f->batch = chain_batch_new(&f->chains);
	if (o->mode == MODE_EXACT && !f->batch)
		return NULL;
	f->out_of_memory = false;
	fold_waits(f);
	return NULL;
}

/* Where a share of the trace's time begins; the first one begins at 0. */
static uint64_t share_from(const struct slices *s, uint32_t share, uint32_t n)
{
	if (share == n)
		return UINT64_MAX;
	return share ? s->start_ns + s->span_ns * s->n / n * share : 0;
}

/*
 * A share of the long waits' time, of all of them: together their windows cost one look at the
 * wakers' time, not one each.
 */
static void *folder_run_long(void *arg)
{
	struct folder *f = arg;
	const struct fold *fold = f->fold;
	uint32_t share = (uint32_t)(f - fold->folders);
	uint64_t from_ns = share_from(f->slices, share, fold->n_folders);
	uint64_t to_ns = share_from(f->slices, share + 1, fold->n_folders);

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

/* ---- all of it ------------------------------------------------------------------------------ */

static void set_slices(struct slices *s, const struct timelines *tl)
{
	uint64_t ns = timelines_end_ns(tl) - timelines_start_ns(tl), waits = 0;
	uint32_t n = timelines_threads(tl);

	for (uint32_t i = 0; i < n; i++)
		waits += timelines_thread(tl, i)->n_waits;
	*s = (struct slices) { .timelines = tl, .start_ns = timelines_start_ns(tl) };
	s->n = (uint32_t)(waits / SLICE_WAITS) + 1;
	s->span_ns = ns / s->n + 1;
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

/* Adds the chains and times of one folder to those of another. */
static void absorb(struct folder *to, const struct folder *from)
{
	uint32_t *nodes = malloc(((size_t)from->chains.nodes.n + 1) * sizeof(*nodes));
	uint32_t *labels = calloc((size_t)names_end(from->names), sizeof(*labels));

	to->out_of_memory |= !nodes || !labels;
	/* Parents come before their children. */
	for (uint32_t i = 1; i <= from->chains.nodes.n && !to->out_of_memory; i++) {
		struct pair p = from->chains.nodes.at[i];

		if (!labels[p.b])
			labels[p.b] = names_adopt(to->names, names_text(from->names, p.b));
		nodes[i] = pairs_id(&to->chains.nodes, p.a ? nodes[p.a] : 0, labels[p.b]);
		to->out_of_memory |= !labels[p.b] || !nodes[i];
		for (int end = 0; end < CHAIN_ENDS && i < from->n_weights; end++)
			if (from->weights[i].ns[end])
				weigh(to, nodes[i], (enum chain_end)end, from->weights[i].ns[end]);
	}
	free(nodes);
	free(labels);
}

/* Puts together what the folders have; sums do not depend on who had which slice. */
static int gather(struct fold *f, bool with_text)
{
	struct folder *all = &f->folders[0];

	for (uint32_t i = 0; i < f->n_folders; i++) {
		struct folder *one = &f->folders[i];

		add_summary(&f->summary, &one->summary);
		if (i && with_text && !one->out_of_memory && !all->out_of_memory)
			absorb(all, one);
		all->out_of_memory |= one->out_of_memory;
		if (i)
			folder_clear(one);
	}
	if (with_text && !all->out_of_memory)
		make_lines(all);
	return all->out_of_memory ? -ENOMEM : 0;
}

/* Each on a thread of its own, as far as there can be any. */
static void all_folders(struct fold *f, void *(*run)(void *))
{
	pthread_t threads[FOLDERS_MAX];
	bool runs[FOLDERS_MAX] = { false };

	for (uint32_t i = 1; i < f->n_folders; i++)
		runs[i] = !pthread_create(&threads[i], NULL, run, &f->folders[i]);
	run(&f->folders[0]);
	for (uint32_t i = 1; i < f->n_folders; i++) {
		if (runs[i])
			pthread_join(threads[i], NULL);
		else
			run(&f->folders[i]);
	}
}

static int fold_run(struct fold *f, const struct timelines *tl, const struct options *o,
		    bool with_text)
{
	struct slices slices;
	size_t n_long = 0;

	set_slices(&slices, tl);
	f->n_folders = cpus_usable(FOLDERS_MAX);
	if (f->n_folders > slices.n)
		f->n_folders = slices.n;
	for (uint32_t i = 0; i < f->n_folders; i++) {
		f->folders[i].options = o;
		f->folders[i].slices = &slices;
		f->folders[i].fold = f;
		f->folders[i].with_text = with_text;
	}
	progress_begin(PROGRESS_FOLD, slices.n, trace_info(timelines_trace(tl))->events);
	all_folders(f, folder_run);
	for (uint32_t i = 0; i < f->n_folders; i++)
		n_long += f->folders[i].n_long;
	if (n_long)
		all_folders(f, folder_run_long);
	progress_end();
	return gather(f, with_text);
}

int fold_new(struct fold **out, const struct timelines *tl, const struct options *o)
{
	struct fold *f = calloc(1, sizeof(*f));
	int err = f ? fold_run(f, tl, o, true) : -ENOMEM;

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
	folder_clear(&f->folders[0]);
	free(f);
}

const struct fold_line *fold_lines(const struct fold *f, size_t *n)
{
	*n = f->folders[0].n_lines;
	return f->folders[0].lines;
}

const struct chain_summary *fold_summary(const struct fold *f)
{
	return &f->summary;
}

int chain_summarize(const struct timelines *tl, const struct options *o, struct chain_summary *s)
{
	struct fold *f = calloc(1, sizeof(*f));
	int err = f ? fold_run(f, tl, o, false) : -ENOMEM;

	*s = f ? f->summary : (struct chain_summary) { 0 };
	fold_free(f);
	return err;
}
