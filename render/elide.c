// SPDX-License-Identifier: GPL-2.0-or-later
#include "elide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct at {
	uint32_t node, depth;
};

struct walk {
	struct at *todo;
	uint32_t n, cap;
	uint32_t *path; /* name numbers from the root's child on, after the region's own name */
	uint32_t path_cap;
};

static int push(struct walk *w, uint32_t node, uint32_t depth)
{
	if (w->n == w->cap) {
		uint32_t cap = w->cap ? w->cap * 2 : 256;
		void *p = realloc(w->todo, cap * sizeof(*w->todo));

		if (!p)
			return -ENOMEM;
		w->todo = p;
		w->cap = cap;
	}
	w->todo[w->n++] = (struct at) { node, depth };
	return 0;
}

/* Lay the node's label on the path, its first name at `depth`. */
static int lay(struct walk *w, const struct tree *t, uint32_t node, uint32_t depth)
{
	uint32_t len = t->node[node].len;

	if (w->path_cap - depth < len) {
		uint32_t cap = w->path_cap;
		void *p;

		while (cap - depth < len)
			cap *= 2;
		p = realloc(w->path, cap * sizeof(*w->path));
		if (!p)
			return -ENOMEM;
		w->path = p;
		w->path_cap = cap;
	}
	memcpy(w->path + depth, t->label + t->node[node].label, len * sizeof(*w->path));
	return 0;
}

int elide(struct tree *t)
{
	struct walk w = { .path_cap = 256 };
	uint32_t only = t->n, region;
	int err = names_get(&t->names, ELIDE_NAME, strlen(ELIDE_NAME), &region);

	w.path = malloc(w.path_cap * sizeof(*w.path));
	if (!err)
		err = w.path ? 0 : -ENOMEM;
	if (!err && t->n)
		err = push(&w, 0, 0);
	while (!err && w.n) {
		struct at a = w.todo[--w.n];
		uint32_t end = a.depth + t->node[a.node].len;
		double gone;

		err = lay(&w, t, a.node, a.depth);
		for (uint32_t c = t->node[a.node].child; c && !err; c = t->node[c].next)
			if (c < only) /* not what is added here */
				err = push(&w, c, end);
		gone = -t->dif[a.node].self;
		if (err || t->node[a.node].total > 0 || !(gone > 0))
			continue;
		/* Path 0 is the root's own name: the region's takes its place. */
		w.path[0] = region;
		err = tree_add_path(t, w.path, end, gone, gone);
	}
	free(w.todo);
	free(w.path);
	return err;
}
