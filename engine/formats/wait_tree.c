// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_tree.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"

/* ---- links ---------------------------------------------------------------------------------- */

static uint32_t make_label(struct wait_tree *t, const struct link *l)
{
	struct names *names = t->amounts.names;
	uint32_t identity =
		link_identity(&t->identities, names, t->timelines, l, names_link(names, l));
	uint32_t id;
	int is_new;

	id = pairs_id_new(&t->labels, l->waker, identity, &is_new);
	if (!is_new)
		return id;
	XGROW(t->link, id, t->cap_link);
	t->link[id] = *l;
	return id;
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct wait_tree *t = arg;
	bool is_new;
	uint32_t id = xintern(&t->links, l, sizeof(*l), &is_new);

	XGROW(t->label, id, t->cap_label);
	if (is_new)
		t->label[id] = make_label(t, l);
	return t->label[id];
}

static uint32_t identity_of(const void *arg, uint32_t label)
{
	const struct wait_tree *t = arg;

	return t->labels.at[label].b;
}

/* ---- items ---------------------------------------------------------------------------------- */

/* How many links of the same kind are in a row at the end of the node's chain. */
static uint32_t run_of(const struct chains *c, uint32_t node)
{
	uint32_t n = 1;

	for (; chains_repeats(c, c->nodes.at[node].a, c->nodes.at[node].b); n++)
		node = c->nodes.at[node].a;
	return n;
}

static uint32_t add_item(struct wait_tree *t, uint32_t parent, uint32_t label)
{
	XGROW(t->items, t->n_items, t->cap_items);
	t->items[t->n_items] = (struct tree_item) { .parent = parent, .label = label, .times = 1 };
	return (uint32_t)t->n_items++;
}

/* The node's item, which is created if there is none. A place_of() of amounts. */
static uint32_t item_of(struct wait_amounts *w, uint32_t node)
{
	struct wait_tree *t = (struct wait_tree *)w;
	const struct chains *c = &w->chains;
	struct pair link = c->nodes.at[node];
	uint32_t id = pairs_find(&t->item_of.keys, node, 0), item = 0, run, *at;

	if (id)
		return ((const uint32_t *)t->item_of.at)[id];
	if (link.a)
		item = item_of(w, link.a);
	if (link.a && chains_repeats(c, link.a, link.b) && t->n_items) {
		run = run_of(c, node);
		if (t->items[item].times < run)
			t->items[item].times = run;
	} else {
		item = add_item(t, item, link.b);
	}
	at = pair_table_at(&t->item_of, node, 0, sizeof(*at));
	*at = item;
	return item;
}

/* Sets the times of each item. */
static void sum_up(struct wait_tree *t)
{
	size_t n;
	const struct wait_amount *a = wait_amounts_list(&t->amounts, &n);

	for (size_t i = 0; i < n; i++) {
		t->items[a[i].place].ends_ns[a[i].key.end] += a[i].ns;
		t->items[a[i].place].interrupted_ns += a[i].interrupted_ns;
	}
	for (size_t i = t->n_items; i-- > 0;) {
		struct tree_item *item = &t->items[i];

		for (int e = 0; e < CHAIN_ENDS; e++)
			item->total_ns += item->ends_ns[e];
		if (i)
			t->items[item->parent].total_ns += item->total_ns;
	}
}

static int widest_first(const void *pa, const void *pb)
{
	const struct tree_item *const *a = pa, *const *b = pb;

	if ((*a)->total_ns != (*b)->total_ns)
		return compare_numbers((*b)->total_ns, (*a)->total_ns);
	return compare_numbers((*a)->label, (*b)->label);
}

const struct tree_item **wait_tree_below(struct wait_tree *t, const struct tree_item *above,
					 size_t *n)
{
	uint32_t self = (uint32_t)(above - t->items);
	const struct tree_item **below;
	size_t all = 0;

	*n = 0;
	for (size_t i = self + 1; i < t->n_items; i++)
		all += t->items[i].parent == self;
	below = all ? xmalloc(all * sizeof(*below)) : NULL;
	for (size_t i = self + 1; below && i < t->n_items; i++)
		if (t->items[i].parent == self)
			below[(*n)++] = &t->items[i];
	if (below)
		qsort(below, *n, sizeof(*below), widest_first);
	return below;
}

void wait_tree_make(struct wait_tree *t, const struct chosen_wait *p)
{
	t->n_items = 0;
	pair_table_clear(&t->item_of, sizeof(uint32_t));
	wait_amounts_make(&t->amounts, p);
	sum_up(t);
}

void wait_tree_init(struct wait_tree *t, const struct timelines *tl, const struct options *o,
		    struct names *names)
{
	*t = (struct wait_tree) { .timelines = tl };
	wait_amounts_init(&t->amounts, tl, o, names, false, label_link, identity_of);
	t->amounts.place_of = item_of;
}

void wait_tree_free(struct wait_tree *t)
{
	wait_amounts_free(&t->amounts);
	intern_free(&t->links);
	free(t->label);
	pairs_free(&t->labels);
	free(t->link);
	link_identities_free(&t->identities);
	free(t->items);
	pair_table_free(&t->item_of);
}
