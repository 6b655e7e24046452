// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

/* A node to be laid out, and the fields of its first frame. */
struct todo {
	uint32_t node, parent, depth, link, part;
	double start;
};

struct sibling {
	uint32_t key, node;
};

struct work {
	const struct tree *t;
	uint32_t *rank;
	struct todo *todo;
	size_t n, cap;
	struct sibling *sib;
	size_t sib_cap;
};

static int by_key(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Most nodes have few children, for which insertion sort is faster than qsort(). */
#define FEW 12
static void sort_few(struct sibling *s, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct sibling it = s[i];
		uint32_t j = i;

		for (; j && by_key(&it, &s[j - 1]) < 0; j--)
			s[j] = s[j - 1];
		s[j] = it;
	}
}

/* Collects the node's children in w->sib, from left to right. Returns their number, or -ENOMEM. */
static int64_t gather(struct work *w, uint32_t node)
{
	const struct tree *t = w->t;
	uint32_t n = 0;

	for (uint32_t c = t->node[node].child; c; c = t->node[c].next) {
		bool leaf = t->node[c].len == 1 && !t->node[c].child;

		if (!GROW(w->sib, n, w->sib_cap))
			return -ENOMEM;
		w->sib[n].node = c;
		w->sib[n++].key = t->in_order ? c : w->rank[2 * t->node[c].name + leaf];
	}
	if (n > FEW)
		qsort(w->sib, n, sizeof(*w->sib), by_key);
	else
		sort_few(w->sib, n);
	return n;
}

static int push(struct work *w, const struct todo *what)
{
	if (!GROW(w->todo, w->n, w->cap))
		return -ENOMEM;
	w->todo[w->n++] = *what;
	return 0;
}

/* Only the last frame of a node can have self time, and so a self delta. */
static void add_frame(struct layout *l, const struct tree *t, const struct todo *td, uint32_t name,
		      bool is_last)
{
	if (t->diff)
		l->delta[l->n] = (struct tree_delta) {
			.self = is_last ? t->delta[td->node].self : 0,
			.total = t->delta[td->node].total,
			.more_self = is_last ? t->delta[td->node].more_self : 0,
			.more = t->delta[td->node].more,
		};
	l->frame[l->n++] = (struct frame) {
		.start = td->start,
		.total = t->node[td->node].total,
		.own = t->node[td->node].total,
		.name = name,
		.parent = td->parent,
		.depth = td->depth,
		.link = td->link & 0xfffffff,
		.part = td->part & 0xf,
	};
	if (td->depth)
		l->frame[td->parent].own -= t->node[td->node].total;
	if (td->link > l->max_link)
		l->max_link = td->link;
	if (td->depth > l->max_depth)
		l->max_depth = td->depth;
}

static enum layout_part part_above(const struct name_table *names, uint32_t name)
{
	if (name_is(names, name, "[running]"))
		return PART_SAMPLE;
	if (name_is(names, name, "[on-CPU]") || name_is(names, name, "[runnable]") ||
	    name_is(names, name, "[preempted]"))
		return PART_ON_CPU;
	return PART_PLAIN;
}

/* Adds all frames of a node; afterwards td has the values with which its children start. */
static void add_node(struct layout *l, const struct tree *t, struct todo *td)
{
	const struct tree_node *node = &t->node[td->node];

	for (uint32_t i = 0; i < node->len; i++) {
		uint32_t name = t->label[node->label + i];

		if (t->chain && td->node && name_is(&t->names, name, "--"))
			td->link++;
		add_frame(l, t, td, name, i + 1 == node->len);
		if (t->chain && td->part == PART_PLAIN)
			td->part = part_above(&t->names, name);
		td->parent = l->n - 1;
		td->depth++;
	}
	if (l->frame_of)
		l->frame_of[td->node] = l->n - 1;
}

/* The count by which a frame is kept or left out; of a difference, that of the larger side. */
static double weight(const struct tree *t, uint32_t node)
{
	double drawn = t->node[node].total;

	return t->diff ? fmax(drawn, drawn - t->delta[node].more - t->delta[node].total) : drawn;
}

/* Pushes the node's children so that the leftmost is popped first. */
static int push_children(struct work *w, struct layout *l, const struct todo *td, uint32_t frame)
{
	const struct tree *t = w->t;
	double at = td->start + t->node[td->node].total;
	int64_t n = gather(w, td->node);

	if (n < 0)
		return (int)n;
	/* From right to left: the self time remains on the left. */
	for (int64_t i = n; i-- > 0;) {
		uint32_t c = w->sib[i].node;
		struct todo next = {
			.node = c,
			.parent = frame,
			.depth = td->depth,
			.link = td->link,
			.part = td->part,
		};
		int err;

		at -= t->node[c].total;
		next.start = t->in_order ? t->start[c] : at;
		if (weight(t, c) < l->least) {
			l->left_out += t->node[c].len;
			if (t->diff) { /* as its time, its difference becomes that of its caller */
				l->delta[frame].self += t->delta[c].total;
				l->delta[frame].more_self += t->delta[c].more;
			}
			continue;
		}
		err = push(w, &next);
		if (err)
			return err;
	}
	return 0;
}

/* The leading bits of a count: positive doubles sort like their bit patterns. */
static uint32_t bucket_of(double time)
{
	uint64_t bits;

	memcpy(&bits, &time, 8);
	return bits >> 47 & 0xffff;
}

/*
 * The least count such that at most max_frames frames have as much, to within 3 %: from a histogram
 * over the leading bits of the counts. hist: 2^16 zeros.
 */
static double least_for(const struct tree *t, uint32_t max_frames, uint64_t *hist)
{
	uint64_t sum = 0;
	uint32_t bucket = 0;
	uint64_t bits;
	double least;

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t k = bucket_of(weight(t, i));

		hist[k] += t->node[i].len;
		if (k >= bucket)
			bucket = k + 1;
	}
	while (bucket && sum + hist[bucket - 1] <= max_frames)
		sum += hist[--bucket];
	if (bucket >= 0xffff)
		return 0;
	bits = (uint64_t)bucket << 47;
	memcpy(&least, &bits, 8);
	return least;
}

/* Allocates room for all frames of at least l->least. No frame has more than its caller. */
static int make_room(struct layout *l, const struct tree *t)
{
	size_t n = 1;

	for (uint32_t i = 0; i < t->n; i++)
		if (!i || weight(t, i) >= l->least)
			n += t->node[i].len;
	l->frame = malloc(n * sizeof(*l->frame));
	if (t->sliced)
		l->frame_of = malloc(((size_t)t->n + 1) * sizeof(*l->frame_of));
	if (t->diff)
		l->delta = malloc(n * sizeof(*l->delta));
	if (!l->frame || (t->sliced && !l->frame_of) || (t->diff && !l->delta))
		return -ENOMEM;
	if (t->sliced)
		memset(l->frame_of, 0xff, ((size_t)t->n + 1) * sizeof(*l->frame_of));
	return 0;
}

int layout_tree(struct layout *l, const struct tree *t, double least, uint32_t max_frames)
{
	struct work w = { .t = t };
	struct todo td = { 0 };
	int err;

	memset(l, 0, sizeof(*l));
	l->total = t->n ? t->node[0].total : 0;
	l->least = least;
	if (t->labels > max_frames) {
		uint64_t *hist = calloc(1u << 16, sizeof(*hist));
		double floor;

		if (!hist)
			return -ENOMEM;
		floor = least_for(t, max_frames, hist);
		free(hist);
		if (floor > l->least)
			l->least = floor;
	}
	err = make_room(l, t);
	if (!err && !t->in_order)
		err = name_table_rank(&t->names, &w.rank);
	if (!err && t->n)
		err = push(&w, &td);
	while (!err && w.n) {
		td = w.todo[--w.n];
		add_node(l, t, &td);
		err = push_children(&w, l, &td, l->n - 1);
	}
	free(w.rank);
	free(w.todo);
	free(w.sib);
	return err;
}

void layout_free(struct layout *l)
{
	free(l->frame);
	free(l->delta);
	free(l->frame_of);
	memset(l, 0, sizeof(*l));
}
