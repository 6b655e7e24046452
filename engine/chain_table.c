// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain_batch.h"
#include "grow.h"
#include "processes.h"
#include "progress.h"
#include "select.h"

/* About so many waits are taken at a time: their windows, and the wakers' time, stay in the cache.
 */
#define SLICE_WAITS 32768u

struct sums {
	uint64_t ns, waits;
};

struct chain_table {
	const struct timelines *timelines;
	const struct trace *trace;
	const struct options *options;
	struct names *names;
	struct selection *selection;
	struct chains chains;
	struct chain_batch *batch; /* NULL: one wait at a time */
	struct processes *processes;
	struct pairs owners; /* (process id, leader) */
	struct pairs groups; /* (owner, string id of the threads' name) */
	struct frame_lists *lists;
	struct pairs heads; /* (group, frame list): the labels of heads; those of links are lists */
	struct pairs cells; /* (node, end) */
	struct sums *sums;  /* by cell */
	size_t cap_sums;
	struct chain_row *rows;
	size_t n_rows;
	uint32_t *frames; /* of the row asked for last */
	size_t n_frames, cap_frames;
	struct chain_summary summary;
	bool out_of_memory;
};

/* ---- summing up ----------------------------------------------------------------------------- */

static uint32_t label_link(void *arg, const struct wait *w, struct context context, bool first)
{
	struct chain_table *t = arg;

	return frame_list_link(t->lists, w, context, first);
}

static struct sums *sums_of(struct chain_table *t, uint32_t node, uint32_t end)
{
	int is_new;
	uint32_t id = pairs_id_new(&t->cells, node, end, &is_new);
	struct sums *p = id ? grow_array(t->sums, id, &t->cap_sums, sizeof(*p)) : NULL;

	if (!p) {
		t->out_of_memory = true;
		return NULL;
	}
	t->sums = p;
	if (is_new)
		p[id] = (struct sums) { 0 };
	return &p[id];
}

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct chain_table *t = arg;
	struct sums *s = sums_of(t, node, end);

	t->summary.ends_ns[end] += ns;
	if (s)
		s->ns += ns;
}

/* Where a wait is counted: with its direct waker, or with why there is none. */
static void count_wait(struct chain_table *t, uint32_t head, const struct wait *w,
		       const struct shown *s)
{
	struct chains *c = &t->chains;
	uint32_t end = CHAIN_NO_END, node = head, label;
	struct context context;
	struct sums *sums;

	if (w->kind == WAIT_PREEMPTED) {
		end = CHAIN_PREEMPTED;
	} else if (s->blocked_to_ns <= s->blocked_from_ns) {
		end = s->off_to_ns > s->off_from_ns ? CHAIN_RUNNABLE : CHAIN_NO_END;
	} else if (w->flags & WAIT_NOT_WOKEN) {
		end = CHAIN_NOT_WOKEN;
	} else if (w->waker == THREAD_NONE) {
		end = CHAIN_UNKNOWN;
	} else if (!c->depth) {
		end = CHAIN_DEPTH;
	} else {
		context =
			context_of(c->contexts, timelines_pair(t->timelines, w->waker_stack).kstack,
				   w->waker == THREAD_IDLE);
		label = label_link(t, w, context, true);
		node = label ? pairs_id(&c->nodes, head, label) : 0;
		end = context.interrupt ? CHAIN_INTERRUPT : CHAIN_NO_END;
	}
	sums = node ? sums_of(t, node, end) : NULL;
	if (sums)
		sums->waits++;
	else
		t->out_of_memory = true;
}

static uint32_t head_of(struct chain_table *t, uint32_t thread, const struct wait *w)
{
	uint32_t name = timelines_name(t->timelines, thread, w->out_ns);
	uint32_t owner = pairs_id(&t->owners, timelines_thread(t->timelines, thread)->tgid,
				  process_leader(t->processes, thread));
	uint32_t group = owner ? pairs_id(&t->groups, owner, name) : 0;
	uint32_t list = frame_list_head(t->lists, name, w->stack);

	return group && list ? chains_head(&t->chains, pairs_id(&t->heads, group, list)) : 0;
}

static void add_wait(struct chain_table *t, uint32_t thread, const struct wait *w)
{
	struct chain_summary *sum = &t->summary;
	struct shown s;
	uint64_t off_ns;
	uint32_t head;
	struct sums *own;

	if (!selection_wait(t->selection, thread, w, &s))
		return;
	head = head_of(t, thread, w);
	if (!head) {
		t->out_of_memory = true;
		return;
	}
	sum->waits++;
	count_wait(t, head, w, &s);
	off_ns = s.off_to_ns - s.off_from_ns;
	own = off_ns ? sums_of(t, head,
			       w->kind == WAIT_PREEMPTED ? CHAIN_PREEMPTED : CHAIN_RUNNABLE)
		     : NULL;
	if (own)
		own->ns += off_ns;
	if (w->kind == WAIT_PREEMPTED) {
		sum->preempted_ns += off_ns;
		return;
	}
	sum->runnable_ns += off_ns;
	sum->blocked_ns += s.blocked_to_ns - s.blocked_from_ns;
	if (t->batch)
		chain_batch_add(t->batch, head, w, s.blocked_from_ns, s.blocked_to_ns);
	else
		chains_explain(&t->chains, head, thread, w, s.blocked_from_ns, s.blocked_to_ns);
}

/* In slices of time; those longer than a slice last, together, as fold.c does. */
static void add_waits(struct chain_table *t, uint32_t *position)
{
	const struct timelines *tl = t->timelines;
	uint64_t start = timelines_start_ns(tl), waits = 0, span;
	uint32_t n = timelines_threads(tl), slices;

	for (uint32_t i = 0; i < n; i++)
		waits += timelines_thread(tl, i)->n_waits;
	slices = (uint32_t)(waits / SLICE_WAITS) + 1;
	span = (timelines_end_ns(tl) - start) / slices + 1;
	progress_begin(PROGRESS_FOLD, slices, trace_info(t->trace)->events);
	for (uint32_t s = 1; s <= slices && !t->out_of_memory; s++) {
		uint64_t to = s < slices ? start + s * span : UINT64_MAX;

		for (uint32_t i = 0; i < n; i++) {
			const struct thread *th = timelines_thread(tl, i);
			uint32_t k = position[i];

			if (!selection_thread(t->selection, th))
				continue;
			for (; k < th->n_waits && th->waits[k].in_ns <= to; k++)
				if (th->waits[k].in_ns - th->waits[k].out_ns <= span)
					add_wait(t, i, &th->waits[k]);
			position[i] = k;
		}
		progress_add(1);
	}
	for (uint32_t i = 0; i < n && !t->out_of_memory; i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; selection_thread(t->selection, th) && k < th->n_waits; k++)
			if (th->waits[k].in_ns - th->waits[k].out_ns > span)
				add_wait(t, i, &th->waits[k]);
	}
	if (t->batch)
		chain_batch_run(t->batch);
	selection_idle(t->selection, &t->summary.idle_waits, &t->summary.idle_ns);
	t->out_of_memory |= t->chains.out_of_memory;
	progress_end();
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int by_place(const void *pa, const void *pb)
{
	const struct chain_row *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static int most_time_first(const void *pa, const void *pb)
{
	const struct chain_row *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return by_place(pa, pb);
}

static struct chain_row row_of(const struct chain_table *t, uint32_t cell)
{
	const struct pair *nodes = t->chains.nodes.at;
	struct chain_row row = { .ns = t->sums[cell].ns,
				 .waits = t->sums[cell].waits,
				 .node = t->cells.at[cell].a,
				 .end = t->cells.at[cell].b };
	uint32_t head = row.node;

	for (; nodes[head].a; head = nodes[head].a)
		row.links++;
	row.group = t->heads.at[nodes[head].b].a;
	return row;
}

static int make_rows(struct chain_table *t)
{
	size_t n = t->cells.n;

	t->rows = malloc((n + 1) * sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	for (uint32_t cell = 1; cell <= n; cell++)
		t->rows[cell - 1] = row_of(t, cell);
	if (t->options->top && t->options->top < n) {
		qsort(t->rows, n, sizeof(*t->rows), most_time_first);
		n = (size_t)t->options->top;
	}
	qsort(t->rows, n, sizeof(*t->rows), by_place);
	t->n_rows = n;
	return 0;
}

static int fill(struct chain_table *t)
{
	const struct options *o = t->options;
	uint32_t *position;
	int err;

	t->names = names_new(t->timelines, o);
	t->selection = t->names ? selection_new(t->timelines, o, t->names) : NULL;
	t->processes = processes_new(t->timelines);
	t->lists = t->names ? frame_lists_new(t->timelines, o, t->names) : NULL;
	err = chains_init(&t->chains, t->timelines, o->mode, o->depth,
			  (struct chain_user) { t, label_link, add });
	position = calloc((size_t)timelines_threads(t->timelines) + 1, sizeof(*position));
	if (!err && o->mode == MODE_EXACT)
		t->batch = chain_batch_new(&t->chains);
	if (!t->selection || !t->processes || !t->lists || !position ||
	    (o->mode == MODE_EXACT && !t->batch))
		err = -ENOMEM;
	if (!err)
		add_waits(t, position);
	free(position);
	if (!err && t->out_of_memory)
		err = -ENOMEM;
	return err ? err : make_rows(t);
}

int chain_table_new(struct chain_table **out, const struct timelines *tl, const struct options *o)
{
	struct chain_table *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (t) {
		t->timelines = tl;
		t->trace = timelines_trace(tl);
		t->options = o;
		err = fill(t);
	}
	if (err) {
		chain_table_free(t);
		t = NULL;
	}
	*out = t;
	return err;
}

void chain_table_free(struct chain_table *t)
{
	if (!t)
		return;
	chain_batch_free(t->batch);
	chains_free(&t->chains);
	selection_free(t->selection);
	frame_lists_free(t->lists);
	names_free(t->names);
	processes_free(t->processes);
	pairs_free(&t->owners);
	pairs_free(&t->groups);
	pairs_free(&t->heads);
	pairs_free(&t->cells);
	free(t->sums);
	free(t->rows);
	free(t->frames);
	free(t);
}

const struct chain_row *chain_table_rows(const struct chain_table *t, size_t *n)
{
	*n = t->n_rows;
	return t->rows;
}

struct chain_group chain_table_group(const struct chain_table *t, uint32_t group)
{
	struct pair owner = t->owners.at[t->groups.at[group].a];

	return (struct chain_group) {
		.name = t->groups.at[group].b,
		.pid = owner.a,
		.process = owner.b == THREAD_NONE ? 0 : process_name(t->processes, owner.b),
	};
}

const struct chain_summary *chain_table_summary(const struct chain_table *t)
{
	return &t->summary;
}

struct names *chain_table_names(struct chain_table *t)
{
	return t->names;
}

/* ---- frames --------------------------------------------------------------------------------- */

/* Puts a list before the frames that are there already, which stand leaf first. */
static void put_list(struct chain_table *t, uint32_t list)
{
	while (list) {
		uint32_t *p = grow_array(t->frames, t->n_frames, &t->cap_frames, sizeof(*p));

		if (!p) {
			t->out_of_memory = true;
			return;
		}
		t->frames = p;
		list = frame_list_last(t->lists, list, &p[t->n_frames++]);
	}
}

const uint32_t *chain_table_chain(struct chain_table *t, const struct chain_row *row, size_t *n)
{
	const struct pair *nodes = t->chains.nodes.at;
	uint32_t node = row->node;

	t->n_frames = 0;
	if (!t->frames)
		t->frames = grow_array(NULL, 0, &t->cap_frames, sizeof(*t->frames));
	if (t->frames && row->end != CHAIN_NO_END && !t->options->no_ends)
		t->frames[t->n_frames++] =
			frame_of_text(t->lists, chain_end_name((enum chain_end)row->end));
	t->out_of_memory |= !t->frames || (t->n_frames && !t->frames[0]);
	for (; nodes[node].a; node = nodes[node].a)
		put_list(t, nodes[node].b);
	put_list(t, t->heads.at[nodes[node].b].b);
	*n = t->out_of_memory ? 0 : t->n_frames;
	return t->frames;
}

uint32_t chain_table_frames_end(const struct chain_table *t)
{
	return frames_end(t->lists);
}

struct chain_frame chain_table_frame(const struct chain_table *t, uint32_t frame)
{
	return frame_at(t->lists, frame);
}
