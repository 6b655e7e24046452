// SPDX-License-Identifier: GPL-2.0-or-later
#include "layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "diff.h"

/* A node to be laid out, and the fields of its first frame. */
struct todo {
	uint32_t node, parent, depth, link, part;
	uint32_t kept; /* names of its label, from the first on, that become frames */
	double start;
};

struct sibling {
	double total; /* 0 for all where the names alone give the order */
	uint32_t key, node, kept;
};

struct work {
	const struct tree *t;
	uint32_t *rank;
	struct todo *todo;
	size_t n, cap;
	struct sibling *sib;
	size_t sib_cap;
	double shown, cut; /* counts: frames with as much as .shown or more than .cut are kept */
	uint64_t ties;	   /* and so many of those with .cut */
	uint32_t region;   /* of diff_add_gone(), whose frame is kept: it is no part of the whole */
};

static int by_key(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
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
		w->sib[n].total = tree_widest_first(t) ? t->node[c].total : 0;
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

/* What stands on ends, by the column `above` of ends.def. */
enum {
	NOTHING = PART_PLAIN,
	DETAILS = PART_PLAIN,
	SAMPLES = PART_SAMPLE,
	OWN = PART_ON_CPU,
	HOLDERS = PART_ON_CPU,
};

static enum layout_part part_above(const struct name_table *names, uint32_t frame)
{
	static const struct {
		const char *name;
		enum layout_part part;
	} ends[] = {
#define END(NAME, number, name, csv, above, colour, spread, sentence, heading, did) \
	{ "[" name "]", (enum layout_part)above },
#include "ends.def"
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (name_is(names, frame, ends[i].name))
			return ends[i].part;
	return PART_PLAIN;
}

/* How many frames `--` a node's label has; not the root's, which may have any name. */
static uint32_t delims_of(const struct tree *t, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; t->chain && node && i < t->node[node].len; i++)
		n += t->label[t->node[node].label + i] == t->delim;
	return n;
}

/*
 * The i-th frame of a node, whose frames come one after the other, with its difference, if there
 * are any; delims: of the label, `--` that are still to come. td has the values for the next one
 * afterwards.
 */
static struct frame node_frame(const struct tree *t, struct todo *td, uint32_t i, uint32_t *delims,
			       struct tree_delta *delta)
{
	const struct tree_node *node = &t->node[td->node];
	uint32_t name = t->label[node->label + i];
	bool is_delim = t->chain && td->node && name == t->delim;
	bool ends = i + 1 == node->len;
	struct frame f;

	*delims -= is_delim;
	td->link += is_delim;
	f = (struct frame) {
		.start = td->start,
		.total = node->total,
		.own = node->total,
		.name = name,
		.parent = td->parent,
		.depth = td->depth++,
		.link = td->link & 0x3ffffff,
		.part = td->part & 0xf,
		.leaf = ends && !node->child,
		.last = !*delims && !(t->chain && t->goes_on[td->node]),
	};
	/* A frame of such a name with further wakers above it is a function. */
	if (t->chain && td->part == PART_PLAIN && f.last)
		td->part = part_above(&t->names, name);
	/* Only the last frame of a node can have self time, and so a self delta. */
	if (t->diff) {
		*delta = t->delta[td->node];
		delta->self = ends ? delta->self : 0;
		delta->more_self = ends ? delta->more_self : 0;
	}
	return f;
}

/* The callees that have these counts are left out of frame i. 0 or -ENOMEM. */
static int leave_out(struct layout *l, const struct tree *t, uint32_t i, uint32_t node)
{
	struct layout_rest *rest;

	if (!l->rests || l->rest[l->rests - 1].frame != i) {
		if (!GROW(l->rest, l->rests, l->rest_cap))
			return -ENOMEM;
		l->rest[l->rests++] = (struct layout_rest) { .frame = i };
	}
	rest = &l->rest[l->rests - 1];
	rest->total += t->node[node].total;
	l->frame[i].own -= t->node[node].total;
	if (t->diff) {
		rest->delta.total += t->delta[node].total;
		rest->delta.more += t->delta[node].more;
	}
	if (l->frame_of) /* numbered as the first of frame i's callees */
		l->frame_of[node] = i + l->rests;
	return 0;
}

/* Adds the frames of a node; afterwards td has the values with which its children start. */
static int add_node(struct layout *l, const struct tree *t, struct todo *td)
{
	uint32_t delims = delims_of(t, td->node);

	for (uint32_t i = 0; i < td->kept; i++) {
		struct tree_delta delta;
		struct frame f = node_frame(t, td, i, &delims, &delta);

		if (t->diff)
			l->delta[l->n] = delta;
		if (f.depth)
			l->frame[f.parent].own -= f.total;
		if (f.link > l->max_link)
			l->max_link = f.link;
		if (f.depth > l->max_depth)
			l->max_depth = f.depth;
		td->parent = l->n;
		l->frame[l->n++] = f;
	}
	if (l->frame_of)
		l->frame_of[td->node] = l->n - 1 + l->rests;
	return td->kept < t->node[td->node].len ? leave_out(l, t, l->n - 1, td->node) : 0;
}

/* The count by which a frame is kept or left out; of a difference, that of the larger side. */
static double weight(const struct tree *t, uint32_t node)
{
	double drawn = t->node[node].total;

	return t->diff ? fmax(drawn, drawn - t->delta[node].more - t->delta[node].total) : drawn;
}

/* How many of the node's names become frames. */
static uint32_t kept(struct work *w, uint32_t node)
{
	uint32_t len = w->t->node[node].len;
	double counts = weight(w->t, node);

	if (counts >= w->shown || counts > w->cut)
		return len;
	if (counts < w->cut || !w->ties)
		return node && node == w->region;
	len = len < w->ties ? len : (uint32_t)w->ties;
	w->ties -= len;
	return len;
}

/* Pushes the node's children so that the leftmost is popped first. */
static int push_children(struct work *w, struct layout *l, const struct todo *td, uint32_t frame)
{
	const struct tree *t = w->t;
	double at = td->start + t->node[td->node].total;
	int64_t n = gather(w, td->node);

	if (n < 0)
		return (int)n;
	for (int64_t i = 0; i < n; i++)
		w->sib[i].kept = kept(w, w->sib[i].node);
	/* From right to left: the self time remains on the left. */
	for (int64_t i = n; i-- > 0;) {
		uint32_t c = w->sib[i].node;
		struct todo next = *td;
		int err;

		next.node = c;
		next.parent = frame;
		next.kept = w->sib[i].kept;
		at -= t->node[c].total;
		next.start = t->in_order ? t->start[c] : at;
		err = next.kept ? push(w, &next) : leave_out(l, t, frame, c);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The max_frames-th greatest count of a frame, of which there are more; *ties: how many of that
 * count are among these. By 16 bits of the count at a time, as positive doubles sort like their bit
 * patterns. hist: room for 2^16 numbers.
 */
static double find_cut(const struct tree *t, uint64_t max_frames, uint64_t *hist, uint64_t *ties)
{
	uint64_t found = 0;
	double cut;

	*ties = max_frames;
	for (int shift = 48; shift >= 0; shift -= 16) {
		uint32_t k = 0xffff;

		memset(hist, 0, (1u << 16) * sizeof(*hist));
		for (uint32_t i = 0; i < t->n; i++) {
			double counts = weight(t, i);
			uint64_t bits;

			memcpy(&bits, &counts, 8);
			if ((bits ^ found) >> shift <= 0xffff)
				hist[bits >> shift & 0xffff] += t->node[i].len;
		}
		while (k && *ties > hist[k])
			*ties -= hist[k--];
		found |= (uint64_t)k << shift;
	}
	memcpy(&cut, &found, 8);
	return cut;
}

/* The node of the region of diff_add_gone(); 0: there is none. */
static uint32_t find_region(const struct tree *t)
{
	uint32_t c = t->gone > 0 ? t->node[0].child : 0;

	while (c && !name_is(&t->names, t->node[c].name, diff_gone(t)))
		c = t->node[c].next;
	return c;
}

/* Allocates room for all frames that are kept. No frame has more than its caller. */
static int make_room(const struct work *w, struct layout *l, const struct tree *t)
{
	size_t n = 2 + w->ties; /* the root, the region */

	for (uint32_t i = 0; i < t->n; i++)
		if (weight(t, i) >= w->shown || weight(t, i) > w->cut)
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

static void free_work(struct work *w)
{
	free(w->rank);
	free(w->todo);
	free(w->sib);
}

int layout_tree(struct layout *l, const struct tree *t, double shown, uint32_t max_frames)
{
	struct work w = { .t = t, .shown = shown, .cut = -1 };
	struct todo td = { 0 };
	int err;

	memset(l, 0, sizeof(*l));
	l->total = t->n ? t->node[0].total : 0;
	if (t->labels > max_frames) {
		uint64_t *hist = malloc((1u << 16) * sizeof(*hist));

		if (!hist)
			return -ENOMEM;
		w.cut = find_cut(t, max_frames ? max_frames : 1, hist, &w.ties);
		free(hist);
	}
	w.region = find_region(t);
	err = make_room(&w, l, t);
	if (!err && !t->in_order)
		err = name_table_rank(&t->names, &w.rank);
	if (!err && t->n) {
		(void)kept(&w, 0);
		td.kept = 1;
		err = push(&w, &td);
	}
	while (!err && w.n) {
		td = w.todo[--w.n];
		err = add_node(l, t, &td);
		if (!err && td.kept == t->node[td.node].len)
			err = push_children(&w, l, &td, l->n - 1);
	}
	l->left_out = t->labels - l->n;
	free_work(&w);
	return err;
}

int layout_walk(const struct tree *t, layout_walk_fn *fn, void *ctx)
{
	struct work w = { .t = t };
	struct todo td = { 0 };
	int err = t->n ? push(&w, &td) : 0;

	while (!err && w.n) {
		uint32_t delims, len;
		double inside = 0;

		td = w.todo[--w.n];
		delims = delims_of(t, td.node);
		len = t->node[td.node].len;
		for (uint32_t c = t->node[td.node].child; c; c = t->node[c].next)
			inside += t->node[c].total;
		for (uint32_t i = 0; i < len; i++) {
			struct tree_delta delta;
			struct frame f = node_frame(t, &td, i, &delims, &delta);

			f.own = i + 1 == len ? f.total - inside : 0;
			fn(ctx, &f, t->diff ? &delta : NULL);
		}
		for (uint32_t c = t->node[td.node].child; c && !err; c = t->node[c].next) {
			struct todo next = td;

			next.node = c;
			err = push(&w, &next);
		}
	}
	free_work(&w);
	return err;
}

void layout_free(struct layout *l)
{
	free(l->frame);
	free(l->delta);
	free(l->rest);
	free(l->frame_of);
	memset(l, 0, sizeof(*l));
}
