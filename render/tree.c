// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search that passes this many siblings puts all of them into the edge table. */
#define WIDE_AFTER 6

/* ---- growing arrays ---- */

static int grow(void *array, size_t size, uint32_t cap)
{
	void **p = array, *bigger = realloc(*p, cap * size);

	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	return 0;
}

static int grow_nodes(struct tree *t)
{
	uint32_t cap = t->cap ? t->cap + t->cap / 2 : 1024;

	if (cap > INT32_MAX)
		return -EOVERFLOW;
	if (grow(&t->node, sizeof(*t->node), cap) ||
	    (t->diff && grow(&t->delta, sizeof(*t->delta), cap)) ||
	    (t->in_order && grow(&t->start, sizeof(*t->start), cap)))
		return -ENOMEM;
	t->cap = cap;
	return 0;
}

static int grow_labels(struct tree *t, uint32_t need)
{
	uint32_t cap = t->label_cap ? t->label_cap + t->label_cap / 2 : 8192;

	if (need > INT32_MAX)
		return -EOVERFLOW;
	if (cap < need)
		cap = need;
	if (grow(&t->label, sizeof(*t->label), cap))
		return -ENOMEM;
	t->label_cap = cap;
	return 0;
}

static int grow_depth(struct tree *t, uint32_t need)
{
	uint32_t cap = t->depth_cap ? t->depth_cap : 128;

	while (cap < need)
		cap *= 2;
	if (cap == t->depth_cap)
		return 0;
	if (grow(&t->path, sizeof(*t->path), cap))
		return -ENOMEM;
	t->depth_cap = cap;
	return 0;
}

/* ---- children ---- */

static uint32_t edge_slot(const struct tree_edge *edge, uint32_t mask, uint32_t wide, uint32_t name)
{
	uint64_t h = ((uint64_t)wide << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & mask;

	while (edge[i].node && (edge[i].wide != wide || edge[i].name != name))
		i = (i + 1) & mask;
	return i;
}

static int edge_add(struct tree *t, uint32_t wide, uint32_t node)
{
	struct tree_edge e = {
		.wide = wide,
		.name = t->node[node].name,
		.node = node,
	};

	if (t->edges >= t->edge_mask / 2) {
		uint32_t mask = t->edge_mask ? t->edge_mask * 2 + 1 : 255;
		struct tree_edge *edge = calloc((size_t)mask + 1, sizeof(*edge));

		if (!edge)
			return -ENOMEM;
		for (uint32_t i = 0; t->edge && i <= t->edge_mask; i++) {
			const struct tree_edge *o = &t->edge[i];

			if (o->node)
				edge[edge_slot(edge, mask, o->wide, o->name)] = *o;
		}
		free(t->edge);
		t->edge = edge;
		t->edge_mask = mask;
	}
	t->edge[edge_slot(t->edge, t->edge_mask, e.wide, e.name)] = e;
	t->edges++;
	return 0;
}

/* The child whose label starts with this name, moved to the front of its siblings; 0: none. */
static uint32_t find_child(struct tree *t, uint32_t parent, uint32_t name, int *err)
{
	struct tree_node *node = t->node;
	uint32_t prev = 0, c = node[parent].child, steps = 0;

	if (c && node[c].name == name)
		return c;
	if (node[parent].wide)
		return t->edge[edge_slot(t->edge, t->edge_mask, node[parent].wide, name)].node;
	for (; c; prev = c, c = node[c].next, steps++) {
		if (node[c].name != name)
			continue;
		if (prev) {
			node[prev].next = node[c].next;
			node[c].next = node[parent].child;
			node[parent].child = c;
		}
		return c;
	}
	if (steps >= WIDE_AFTER) {
		node[parent].wide = ++t->wides;
		for (c = node[parent].child; c && !*err; c = node[c].next)
			*err = edge_add(t, node[parent].wide, c);
	}
	return 0;
}

static int new_child(struct tree *t, uint32_t parent, uint32_t label, uint32_t len, uint32_t *id)
{
	int err = t->n == t->cap ? grow_nodes(t) : 0;

	if (err)
		return err;
	*id = t->n++;
	t->node[*id] = (struct tree_node) { .label = label, .len = len, .name = t->label[label] };
	if (t->diff)
		t->delta[*id] = (struct tree_delta) { 0 };
	if (t->in_order)
		t->start[*id] = t->now;
	if (!*id)
		return 0;
	t->node[*id].next = t->node[parent].child;
	t->node[parent].child = *id;
	return t->node[parent].wide ? edge_add(t, t->node[parent].wide, *id) : 0;
}

/*
 * Splits the node after `keep` names of its label. It keeps its index, parent and these names; a
 * new child takes the other names, the children and the counts. 0 or a negative errno.
 */
static int split_node(struct tree *t, uint32_t node, uint32_t keep)
{
	int err = t->n == t->cap ? grow_nodes(t) : 0;
	struct tree_node *upper, *lower;

	if (err)
		return err;
	upper = &t->node[node];
	lower = &t->node[t->n];
	*lower = *upper;
	lower->label += keep;
	lower->len -= keep;
	lower->name = t->label[lower->label];
	lower->next = 0;
	upper->len = keep;
	upper->child = t->n;
	upper->wide = 0;
	upper->total = 0;
	if (t->diff) {
		t->delta[t->n] = t->delta[node];
		t->delta[node] = (struct tree_delta) { 0 };
	}
	if (t->in_order)
		t->start[t->n] = t->start[node];
	t->n++;
	return 0;
}

/* ---- stacks ---- */

int tree_init(struct tree *t)
{
	uint32_t name;

	memset(t, 0, sizeof(*t));
	return name_table_init(&t->names) || name_table_add(&t->names, "all", 3, &name) ? -ENOMEM
											: 0;
}

void tree_free(struct tree *t)
{
	name_table_free(&t->names);
	free(t->node);
	free(t->label);
	free(t->delta);
	free(t->start);
	free(t->goes_on);
	free(t->path);
	free(t->edge);
	memset(t, 0, sizeof(*t));
}

/* Adds the names id[0..n) as one new node below `at`. 0 or a negative errno. */
static int add_tail(struct tree *t, uint32_t at, const uint32_t *id, uint32_t n, uint32_t *node)
{
	int err = t->label_cap - t->labels < n ? grow_labels(t, t->labels + n) : 0;

	if (err)
		return err;
	memcpy(t->label + t->labels, id, n * sizeof(*id));
	err = new_child(t, at, t->labels, n, node);
	t->labels += n;
	return err;
}

int tree_add_path(struct tree *t, const uint32_t *id, uint32_t n, double count, double before)
{
	uint32_t at = 0, used = 1, d = 0;
	int err = grow_depth(t, n + 1);

	if (!err && !t->n)
		err = add_tail(t, 0, &(uint32_t) { 0 }, 1, &at);
	if (err)
		return err;
	while (d < n && d < t->path_depth && t->path[d].name == id[d])
		d++;
	if (d) {
		at = t->path[d - 1].node;
		used = t->path[d - 1].used;
	}
	t->path_depth = d;
	while (d < n || used < t->node[at].len) {
		uint32_t child = 0;

		if (used < t->node[at].len) {
			if (d < n && !t->in_order && t->label[t->node[at].label + used] == id[d]) {
				t->path[d] = (struct tree_step) { id[d], at, ++used };
				d++;
				continue;
			}
			/* The path leaves the label, or ends inside it. */
			err = split_node(t, at, used);
			if (err)
				return err;
			continue;
		}
		if (!t->in_order)
			child = find_child(t, at, id[d], &err);
		if (!child && !err) {
			err = add_tail(t, at, id + d, n - d, &child);
			for (used = 1; !err && d < n; d++, used++)
				t->path[d] = (struct tree_step) { id[d], child, used };
			used--;
		} else if (child) {
			/* find_child() has compared the first name: the label is not read here. */
			t->path[d] = (struct tree_step) { id[d], child, 1 };
			d++;
			used = 1;
		}
		if (err)
			return err;
		at = child;
	}
	t->path_depth = n;
	t->node[at].total += count;
	t->now += count;
	if (t->diff)
		t->delta[at].self += count - before;
	return 0;
}

uint32_t tree_find(struct tree *t, const uint32_t *id, uint32_t n)
{
	uint32_t at = 0, d = 0;

	while (d < n) {
		int err = 0;
		uint32_t child = find_child(t, at, id[d], &err), used = 0;

		/* Without memory for the edge table there is no child, which costs only detail. */
		if (!child)
			break;
		while (used < t->node[child].len && d + used < n &&
		       t->label[t->node[child].label + used] == id[d + used])
			used++;
		if (used < t->node[child].len)
			break;
		d += used;
		at = child;
	}
	return at;
}

int tree_compare(struct tree *t)
{
	if (t->cap && !t->delta) {
		t->delta = calloc(t->cap, sizeof(*t->delta));
		if (!t->delta)
			return -ENOMEM;
	}
	t->diff = true;
	return 0;
}

static bool has_delim(const struct tree *t, uint32_t node)
{
	for (uint32_t i = 0; i < t->node[node].len; i++)
		if (t->label[t->node[node].label + i] == t->delim)
			return true;
	return false;
}

int tree_finish(struct tree *t)
{
	uint32_t *order = malloc(((size_t)t->n + 1) * sizeof(*order));
	uint32_t *parent = malloc(((size_t)t->n + 1) * sizeof(*parent));
	uint32_t done = 0;

	if (t->chain)
		t->goes_on = calloc((size_t)t->n + 1, sizeof(*t->goes_on));
	if (!order || !parent ||
	    (t->chain && (!t->goes_on || name_table_add(&t->names, "--", 2, &t->delim)))) {
		free(order);
		free(parent);
		return -ENOMEM;
	}
	if (t->n)
		order[done++] = 0;
	for (uint32_t i = 0; i < done; i++) {
		if (t->diff) {
			t->delta[order[i]].total = t->delta[order[i]].self;
			t->delta[order[i]].more = t->delta[order[i]].more_self;
			t->max_self = fmax(t->max_self, fabs(t->delta[order[i]].self));
		}
		for (uint32_t c = t->node[order[i]].child; c; c = t->node[c].next) {
			parent[c] = order[i];
			order[done++] = c;
		}
	}
	while (done-- > 1) {
		uint32_t c = order[done];

		t->node[parent[c]].total += t->node[c].total;
		if (t->chain && (t->goes_on[c] || has_delim(t, c)))
			t->goes_on[parent[c]] = true;
		if (t->diff) {
			t->delta[parent[c]].total += t->delta[c].total;
			t->delta[parent[c]].more += t->delta[c].more;
			t->max_total = fmax(t->max_total, fabs(t->delta[c].total));
		}
	}
	free(order);
	free(parent);
	return 0;
}
