// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Siblings looked at one by one before a parent's children move to the edge table. */
#define WIDE_AFTER 12

static int grow_nodes(struct tree *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 4096;
	void *p;

	if (cap > INT32_MAX)
		return -EOVERFLOW;
	p = realloc(t->node, cap * sizeof(*t->node));
	if (!p)
		return -ENOMEM;
	t->node = p;
	p = realloc(t->wide, cap);
	if (!p)
		return -ENOMEM;
	t->wide = p;
	if (t->diff) {
		p = realloc(t->dif, cap * sizeof(*t->dif));
		if (!p)
			return -ENOMEM;
		t->dif = p;
	}
	if (t->in_order) {
		p = realloc(t->start, cap * sizeof(*t->start));
		if (!p)
			return -ENOMEM;
		t->start = p;
	}
	t->cap = cap;
	return 0;
}

static int new_node(struct tree *t, uint32_t parent, uint32_t name, uint32_t *id)
{
	int err = t->n == t->cap ? grow_nodes(t) : 0;

	if (err)
		return err;
	*id = t->n++;
	t->node[*id] = (struct tree_node){ .name = name, .parent = parent };
	t->wide[*id] = 0;
	if (t->diff)
		t->dif[*id] = (struct tree_diff){ 0 };
	if (t->in_order)
		t->start[*id] = t->now;
	if (*id) {
		t->node[*id].next = t->node[parent].child;
		t->node[parent].child = *id;
	}
	return 0;
}

static int ensure_root(struct tree *t)
{
	uint32_t name, id;
	int err;

	if (t->n)
		return 0;
	err = names_get(&t->names, "all", 3, &name);
	return err ? err : new_node(t, 0, name, &id);
}

int tree_init(struct tree *t)
{
	memset(t, 0, sizeof(*t));
	return names_init(&t->names);
}

void tree_free(struct tree *t)
{
	names_free(&t->names);
	free(t->node);
	free(t->dif);
	free(t->start);
	free(t->last);
	free(t->last_id);
	free(t->last_end);
	free(t->path_id);
	free(t->path);
	free(t->edge);
	free(t->wide);
	memset(t, 0, sizeof(*t));
}

static uint32_t edge_hash(uint32_t parent, uint32_t name)
{
	uint64_t h = ((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 32);
}

static void edge_put(struct tree_edge *edge, uint32_t mask, struct tree_edge e, uint32_t name)
{
	uint32_t i = edge_hash(e.parent, name) & mask;

	while (edge[i].node)
		i = (i + 1) & mask;
	edge[i] = e;
}

static int edge_add(struct tree *t, uint32_t node)
{
	struct tree_edge e = { .parent = t->node[node].parent, .node = node };

	if (t->edges >= t->edge_mask / 2) {
		uint32_t mask = t->edge_mask ? t->edge_mask * 2 + 1 : 1023;
		struct tree_edge *edge = calloc((size_t)mask + 1, sizeof(*edge));

		if (!edge)
			return -ENOMEM;
		for (uint32_t i = 0; t->edge && i <= t->edge_mask; i++)
			if (t->edge[i].node)
				edge_put(edge, mask, t->edge[i], t->node[t->edge[i].node].name);
		free(t->edge);
		t->edge = edge;
		t->edge_mask = mask;
	}
	edge_put(t->edge, t->edge_mask, e, t->node[node].name);
	t->edges++;
	return 0;
}

static uint32_t edge_find(const struct tree *t, uint32_t parent, uint32_t name)
{
	uint32_t i = edge_hash(parent, name) & t->edge_mask;

	for (; t->edge[i].node; i = (i + 1) & t->edge_mask)
		if (t->edge[i].parent == parent && t->node[t->edge[i].node].name == name)
			return t->edge[i].node;
	return 0;
}

/* The child of parent so named, moved to the front of its siblings; 0: none. */
static uint32_t find_child(struct tree *t, uint32_t parent, uint32_t name, int *err)
{
	uint32_t prev = 0, c = t->node[parent].child, steps = 0;

	if (c && t->node[c].name == name)
		return c;
	if (t->wide[parent])
		return edge_find(t, parent, name);
	for (; c; prev = c, c = t->node[c].next, steps++) {
		if (t->node[c].name != name)
			continue;
		if (prev) {
			t->node[prev].next = t->node[c].next;
			t->node[c].next = t->node[parent].child;
			t->node[parent].child = c;
		}
		return c;
	}
	if (steps >= WIDE_AFTER) {
		for (c = t->node[parent].child; c && !*err; c = t->node[c].next)
			*err = edge_add(t, c);
		t->wide[parent] = 1;
	}
	return 0;
}

static int grow_path(struct tree *t, uint32_t need)
{
	uint32_t cap = t->depth_cap ? t->depth_cap : 256;
	void *p;

	while (cap < need)
		cap *= 2;
	if (!(p = realloc(t->last_id, cap * sizeof(*t->last_id))))
		return -ENOMEM;
	t->last_id = p;
	if (!(p = realloc(t->last_end, cap * sizeof(*t->last_end))))
		return -ENOMEM;
	t->last_end = p;
	if (!(p = realloc(t->path_id, cap * sizeof(*t->path_id))))
		return -ENOMEM;
	t->path_id = p;
	if (!(p = realloc(t->path, cap * sizeof(*t->path))))
		return -ENOMEM;
	t->path = p;
	t->depth_cap = cap;
	return 0;
}

static size_t common_prefix(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	while (i + 8 <= n && !memcmp(a + i, b + i, 8))
		i += 8;
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Split the stack into name numbers in .last_id; frames shared with the last one are kept. */
static int split(struct tree *t, const char *stack, size_t len)
{
	size_t same = common_prefix(stack, t->last, len < t->last_len ? len : t->last_len);
	size_t at = 0;
	uint32_t d = t->depth;

	/* A frame is shared if it lies within the common bytes and ends there in both. */
	while (d && (t->last_end[d - 1] > same ||
		     (t->last_end[d - 1] < len && stack[t->last_end[d - 1]] != ';')))
		d--;
	if (d)
		at = t->last_end[d - 1] + 1;
	t->depth = 0; /* in case of an error below: nothing is shared with a half-read line */
	while (at < len) {
		const char *semi = memchr(stack + at, ';', len - at);
		size_t end = semi ? (size_t)(semi - stack) : len;
		int err = d + 1 > t->depth_cap ? grow_path(t, d + 1) : 0;

		if (!err)
			err = names_get(&t->names, stack + at, end - at, &t->last_id[d]);
		if (err)
			return err;
		if (end - at == 2 && stack[at] == '-' && stack[at + 1] == '-')
			t->chain = true;
		t->last_end[d++] = end;
		at = end + 1;
	}
	if (len > t->last_cap) {
		char *p = realloc(t->last, len * 2);

		if (!p)
			return -ENOMEM;
		t->last = p;
		t->last_cap = len * 2;
	}
	if (len > same)
		memcpy(t->last + same, stack + same, len - same);
	t->last_len = len;
	t->depth = d;
	return 0;
}

int tree_add(struct tree *t, const char *stack, size_t len, double count, double before)
{
	uint32_t at = 0, d = 0;
	int err = ensure_root(t);

	while (len && stack[len - 1] == ';')
		len--;
	if (!err)
		err = split(t, stack, len);
	if (err)
		return err;

	/* Follow the last path as far as the names agree, then look children up. */
	while (d < t->depth && d < t->path_depth) {
		uint32_t id = t->last_id[t->reverse ? t->depth - 1 - d : d];

		if (t->path_id[d] != id)
			break;
		at = t->path[d++];
	}
	for (; d < t->depth; d++) {
		uint32_t name = t->last_id[t->reverse ? t->depth - 1 - d : d];
		uint32_t child = t->in_order ? 0 : find_child(t, at, name, &err);

		if (!child && !err) {
			err = new_node(t, at, name, &child);
			if (!err && t->wide[at])
				err = edge_add(t, child);
		}
		if (err) {
			t->path_depth = 0;
			return err;
		}
		t->path_id[d] = name;
		t->path[d] = at = child;
	}
	t->path_depth = t->depth;
	t->node[at].total += count;
	t->now += count;
	if (t->diff) {
		double delta = count - before;

		t->dif[at].self += delta;
		if (fabs(delta) > t->max_delta)
			t->max_delta = fabs(delta);
	}
	return 0;
}

void tree_finish(struct tree *t)
{
	for (uint32_t i = 0; t->diff && i < t->n; i++)
		t->dif[i].total = t->dif[i].self;
	for (uint32_t i = t->n; i-- > 1;) {
		t->node[t->node[i].parent].total += t->node[i].total;
		if (t->diff)
			t->dif[t->node[i].parent].total += t->dif[i].total;
	}
}
