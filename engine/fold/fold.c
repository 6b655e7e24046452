// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold_private.h"

#include <stdlib.h>

#include "select/route_times.h"
#include "select/wait_nature.h"
#include "common/xalloc.h"

static void add_summary(struct chain_summary *to, const struct chain_summary *s)
{
	to->waits += s->waits;
	to->blocked_ns += s->blocked_ns;
	to->runnable_ns += s->runnable_ns;
	to->preempted_ns += s->preempted_ns;
	to->idle_waits += s->idle_waits;
	to->idle_ns += s->idle_ns;
	to->not_shown_ns += s->not_shown_ns;
	for (int i = 0; i < CHAIN_ENDS; i++)
		to->ends_ns[i] += s->ends_ns[i];
}

/* Adds the chains of one folder to those of another; their labels are the same numbers. */
static void absorb(struct folder *to, const struct folder *from)
{
	const struct pairs *theirs = &from->chains.nodes;
	uint32_t *nodes = xcalloc((size_t)theirs->n + 1, sizeof(*nodes));

	/* Parents come before their children. */
	for (uint32_t i = 1; i <= theirs->n; i++)
		nodes[i] = chains_node(&to->chains, nodes[theirs->at[i].a], theirs->at[i].b);
	node_sums_move(&to->sums, &from->sums, nodes, theirs->n);
	free(nodes);
}

/* Adds up what the folders have; sums do not depend on which folder had which slice. */
static void gather(struct fold *f)
{
	struct folder *all = &f->folders[0];

	for (uint32_t i = 0; i < f->n_folders; i++) {
		struct folder *one = &f->folders[i];

		add_summary(&f->summary, &one->summary);
		sums_add_all(&f->classes, &one->classes);
		if (i)
			absorb(all, one);
		if (i)
			folder_clear(one);
	}
	f->nodes = all->chains.nodes;
	all->chains.nodes = (struct pairs) { 0 };
}

/* ---- repeated links ------------------------------------------------------------------------- */

/* What becomes of a node. */
struct place {
	uint32_t into;	/* the node into which it is folded */
	uint32_t depth; /* 0: a group, 1: a head, from there on links */
	uint32_t run;	/* of a link: how many it is, with those before that it repeats */
	bool used;	/* it has time, or a node below it has */
};

/* Makes the nodes of the folded chains. */
static void make_nodes(const struct pairs *nodes, struct place *at, struct pairs *folded)
{
	/* Parents come before their children. */
	for (uint32_t i = 1; i <= nodes->n; i++) {
		struct pair node = nodes->at[i];
		const struct place *up = &at[node.a];

		at[i].depth = node.a ? up->depth + 1 : 0;
		at[i].run = 1;
		if (at[i].depth > 2 && nodes->at[node.a].b == node.b) {
			at[i].run += up->run;
			at[i].into = up->into;
			continue;
		}
		at[i].into = pairs_id(folded, node.a ? up->into : 0, node.b);
	}
}

static void find_used(const struct pairs *nodes, const struct node_sums *sums, struct place *at)
{
	for (uint32_t i = nodes->n; i; i--) {
		for (int end = 0; end < CHAIN_ENDS && i < sums->n_times; end++)
			at[i].used |= sums->times[i].ns[end] != 0;
		at[nodes->at[i].a].used |= at[i].used;
	}
}

/* By node: what it is where spans are not kept apart, a node of *all. To be freed. */
static uint32_t *without_spans(const struct pairs *nodes, struct interned_stacks *stacks,
			       struct pairs *all)
{
	uint32_t *into = xcalloc((size_t)nodes->n + 1, sizeof(*into));

	for (uint32_t i = 1; i <= nodes->n; i++) {
		struct pair node = nodes->at[i];
		uint32_t part = node.a ? node.b : interned_stacks_first_span(stacks, node.b);

		into[i] = pairs_id(all, into[node.a], part);
	}
	return into;
}

/* Gives the links their frames, each with the most times that it came in a row, in any span. */
static void name_links(const struct pairs *nodes, const struct place *at, struct pairs *folded,
		       struct stack_cache *p)
{
	struct pairs all = { .n = 0 };
	uint32_t *of = without_spans(folded, p->stacks, &all);
	uint32_t *times = xcalloc((size_t)all.n + 1, sizeof(*times));

	for (uint32_t i = 1; i <= nodes->n; i++) {
		uint32_t *most = &times[of[at[i].into]];

		if (at[i].depth > 1 && at[i].run >= *most && (at[i].used || !*most))
			*most = at[i].run;
	}
	for (uint32_t i = 1; i <= folded->n; i++)
		if (times[of[i]])
			folded->at[i].b = intern_identity_list(p, folded->at[i].b, times[of[i]]);
	pairs_free(&all);
	free(of);
	free(times);
}

static void move_sums(const struct pairs *nodes, const struct place *at, struct node_sums *sums)
{
	uint32_t *into = xcalloc((size_t)nodes->n + 1, sizeof(*into));
	struct node_sums moved = { .n_times = 0 };

	for (uint32_t i = 1; i <= nodes->n; i++)
		into[i] = at[i].into;
	node_sums_move(&moved, sums, into, nodes->n);
	node_sums_free(sums);
	*sums = moved;
	free(into);
}

/*
 * Folds links that repeat the one before them into one (chain-semantics, section 12): of a lock
 * that is handed on along a row of workers "worker x 6" is left. The links of nodes have labels of
 * intern_link_identity(), which become lists of frames; sums go with them.
 */
static void fold_repeats(struct pairs *nodes, struct node_sums *sums, struct stack_cache *p)
{
	struct place *at = xcalloc((size_t)nodes->n + 1, sizeof(*at));
	struct pairs folded = { .n = 0 };

	make_nodes(nodes, at, &folded);
	find_used(nodes, sums, at);
	name_links(nodes, at, &folded, p);
	move_sums(nodes, at, sums);
	free(at);
	pairs_free(nodes);
	*nodes = folded;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static uint32_t span_of(const struct fold *f, uint32_t node)
{
	return interned_stacks_thread_group(f->stacks, chain_node_group(&f->span_rows, node)).span;
}

/*
 * From how many are of each span, first[span + 2], to where each begins, first[span + 1]; placed
 * one after the other from there on, they leave the beginning of each span at first[span].
 */
static void begin_spans(size_t *first, size_t n)
{
	for (size_t i = 2; i <= n + 1; i++)
		first[i] += first[i - 1];
}

/* Puts the rows, and their samples, in the order of their spans. */
static void order_spans(struct fold *f)
{
	struct chain_rows *r = &f->span_rows;
	size_t n = f->spans.n;
	struct chain_row *rows = xmalloc((r->n + 1) * sizeof(*rows));
	struct chain_ran *ran = xmalloc((r->n_ran + 1) * sizeof(*ran));

	f->first_row = xcalloc(n + 2, sizeof(*f->first_row));
	f->first_ran = xcalloc(n + 2, sizeof(*f->first_ran));
	for (size_t i = 0; i < r->n; i++)
		f->first_row[span_of(f, r->at[i].node) + 2]++;
	for (size_t i = 0; i < r->n_ran; i++)
		f->first_ran[span_of(f, r->ran[i].node) + 2]++;
	begin_spans(f->first_row, n);
	begin_spans(f->first_ran, n);
	for (size_t i = 0; i < r->n; i++)
		rows[f->first_row[span_of(f, r->at[i].node) + 1]++] = r->at[i];
	for (size_t i = 0; i < r->n_ran; i++)
		ran[f->first_ran[span_of(f, r->ran[i].node) + 1]++] = r->ran[i];
	free(r->at);
	free(r->ran);
	r->at = rows;
	r->ran = ran;
}

/* Of a fold in spans: makes rows of each span, and adds up what a node has in all spans. */
static void make_span_rows(struct fold *f)
{
	struct folder *all = &f->folders[0];
	struct node_sums sums = { .n_times = 0 };
	uint32_t *into;

	f->span_nodes = f->nodes;
	f->nodes = (struct pairs) { .n = 0 };
	into = without_spans(&f->span_nodes, f->stacks, &f->nodes);
	node_sums_move(&sums, &all->sums, into, f->span_nodes.n);
	free(into);
	f->span_rows = f->rows;
	f->span_rows.nodes = &f->span_nodes;
	node_sums_rows(&all->sums, f->span_nodes.n, &all->stacks, &f->span_rows);
	node_sums_free(&all->sums);
	all->sums = sums;
	order_spans(f);
}

static void make_rows(struct fold *f)
{
	struct folder *all = &f->folders[0];

	f->rows =
		(struct chain_rows) { .nodes = &f->nodes,
				      .stacks = f->stacks,
				      .remote = f->timelines->remote,
				      .with_ends = !f->options->no_ends && f->by != FOLD_BY_WAKER };
	if (fold_folds_repeats(f))
		fold_repeats(&f->nodes, &all->sums, &all->stacks);
	if (f->by == FOLD_BY_NAME && f->spans.n)
		make_span_rows(f);
	node_sums_rows(&all->sums, f->nodes.n, &all->stacks, &f->rows);
	/* Folded lines are sorted as text, and samples share the time of equal lines. */
	if (f->by == FOLD_BY_LINE) {
		chain_rows_share_ran(&f->rows);
		chain_rows_order(&f->rows, f->options->top, f->slices.n > 1);
	}
}

static void run_remote(struct fold *f, const struct fold_remote *at, size_t n)
{
	f->n_folders = 1;
	f->folders[0].fold = f;
	folder_run_remote(&f->folders[0], at, n);
	gather(f);
	make_rows(f);
	folder_clear(&f->folders[0]);
}

static void run(struct fold *f)
{
	size_t n_long = 0;

	slices_init(&f->slices, f->timelines, f->options->requests);
	f->n_folders = cpus_usable(CPUS_USED_MAX);
	if (f->n_folders > f->slices.n)
		f->n_folders = f->slices.n;
	for (uint32_t i = 0; i < f->n_folders; i++)
		f->folders[i].fold = f;
	workers_run(f->folders, sizeof(f->folders[0]), f->n_folders, folder_run);
	for (uint32_t i = 0; i < f->n_folders; i++)
		n_long += f->folders[i].n_long;
	if (n_long)
		workers_run(f->folders, sizeof(f->folders[0]), f->n_folders, folder_run_long);
	gather(f);
	make_rows(f);
	folder_clear(&f->folders[0]);
}

/* at NULL: the waits that the options choose. spans NULL: all of the time that they choose. */
static void make_fold(struct fold **out, const struct timelines *tl, const struct options *o,
		      enum fold_by by, const struct fold_spans *spans, const struct fold_remote *at,
		      size_t n)
{
	struct fold *f = xcalloc(1, sizeof(*f));

	f->timelines = tl;
	f->options = o;
	f->by = by;
	f->spans = spans ? *spans : (struct fold_spans) { .n = 0 };
	f->knows_objects = wait_classes_known(tl);
	interned_stacks_new(&f->stacks, tl, o,
			    by == FOLD_BY_LINE	? GROUP_BY_PROCESS
			    : by == FOLD_BY_ROW ? GROUP_BY_ROW
						: GROUP_BY_NAME);
	if (o->who_ran && by != FOLD_BY_WAKER)
		cpu_holders_new(&f->cpu_holders, tl, false);
	if (by == FOLD_BY_ROW && o->requests)
		f->median_ns = request_medians(tl, o);
	if (at)
		run_remote(f, at, n);
	else
		run(f);
	*out = f;
}

void fold_new(struct fold **out, const struct timelines *tl, const struct options *o,
	      enum fold_by by)
{
	make_fold(out, tl, o, by, NULL, NULL, 0);
}

void fold_new_by_row(struct fold **out, const struct timelines *tl, const struct options *o,
		     const struct fold_spans *spans)
{
	make_fold(out, tl, o, FOLD_BY_ROW, spans, NULL, 0);
}

void fold_new_in_spans(struct fold **out, const struct timelines *tl, const struct options *o,
		       const struct fold_spans *spans)
{
	make_fold(out, tl, o, FOLD_BY_NAME, spans, NULL, 0);
}

struct chain_rows fold_span_rows(struct fold *f, size_t span)
{
	struct chain_rows r = f->span_rows;

	r.at += f->first_row[span];
	r.n = f->first_row[span + 1] - f->first_row[span];
	r.ran += f->first_ran[span];
	r.n_ran = f->first_ran[span + 1] - f->first_ran[span];
	return r;
}

void fold_new_remote(struct fold **out, const struct timelines *tl, const struct options *o,
		     const struct fold_remote *at, size_t n)
{
	make_fold(out, tl, o, FOLD_BY_NAME, NULL, at, n);
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	chain_rows_free(&f->rows);
	chain_rows_free(&f->span_rows);
	free(f->first_row);
	free(f->first_ran);
	pairs_free(&f->nodes);
	pairs_free(&f->span_nodes);
	interned_stacks_free(f->stacks);
	slices_free(&f->slices);
	cpu_holders_free(f->cpu_holders);
	free(f->median_ns);
	sums_free(&f->classes);
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

struct sums fold_take_classes(struct fold *f)
{
	struct sums classes = f->classes;

	f->classes = (struct sums) { .n = 0 };
	return classes;
}
