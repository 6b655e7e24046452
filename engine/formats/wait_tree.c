// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"

/* ---- links ---------------------------------------------------------------------------------- */

/* 0: out of memory. */
static uint32_t make_label(struct wait_tree *t, const struct link *l)
{
	uint32_t joint =
		joint_of_link(&t->joints, t->names, t->timelines, l, names_link(t->names, l));
	struct link *p;
	uint32_t id;
	int is_new;

	id = joint ? pairs_id_new(&t->labels, l->waker, joint, &is_new) : 0;
	if (!id || !is_new)
		return id;
	p = grow_array(t->link, id, &t->cap_link, sizeof(*p));
	if (!p)
		return 0;
	t->link = p;
	p[id] = *l;
	return id;
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct wait_tree *t = arg;
	bool is_new;
	uint32_t id = intern_id(&t->links, l, sizeof(*l), &is_new);
	uint32_t *p = id ? grow_array(t->label, id, &t->cap_label, sizeof(*p)) : NULL;

	if (!p)
		return 0;
	t->label = p;
	if (is_new)
		p[id] = make_label(t, l);
	return p[id];
}

static uint32_t joint_of(const void *arg, uint32_t label)
{
	const struct wait_tree *t = arg;

	return t->labels.at[label].b;
}

/* ---- items ---------------------------------------------------------------------------------- */

/* Makes room for a node in item_of. */
static bool reserve_node(struct wait_tree *t, uint32_t node)
{
	size_t n = (size_t)node * 2 + 64;
	uint32_t *p;

	if (node < t->n_item_of)
		return true;
	p = realloc(t->item_of, n * sizeof(*p));
	if (!p)
		return false;
	memset(p + t->n_item_of, 0, (n - t->n_item_of) * sizeof(*p));
	t->item_of = p;
	t->n_item_of = n;
	return true;
}

static bool note_item(struct wait_tree *t, uint32_t node, uint32_t item)
{
	uint32_t *p = grow_array(t->nodes, t->n_nodes, &t->cap_nodes, sizeof(*p));

	if (!p)
		return false;
	t->nodes = p;
	p[t->n_nodes++] = node;
	t->item_of[node] = item + 1;
	return true;
}

/* How many links of the same kind are in a row at the end of the node's chain. */
static uint32_t run_of(const struct chains *c, uint32_t node)
{
	uint32_t n = 1;

	for (; chains_repeats(c, c->nodes.at[node].a, c->nodes.at[node].b); n++)
		node = c->nodes.at[node].a;
	return n;
}

/* The node's item, which is created if there is none. NULL: out of memory. */
static struct tree_item *item_of(struct wait_tree *t, uint32_t node)
{
	const struct chains *c = &t->chains;
	struct pair link = c->nodes.at[node];
	struct tree_item *p = NULL;
	uint32_t parent = 0, run;

	if (!reserve_node(t, node))
		return NULL;
	if (t->item_of[node])
		return &t->items[t->item_of[node] - 1];
	if (link.a) {
		p = item_of(t, link.a);
		if (!p)
			return NULL;
		parent = (uint32_t)(p - t->items);
		if (chains_repeats(c, link.a, link.b)) {
			run = run_of(c, node);
			p->times = p->times < run ? run : p->times;
			return note_item(t, node, parent) ? p : NULL;
		}
	}
	p = grow_array(t->items, t->n_items, &t->cap_items, sizeof(*p));
	if (!p)
		return NULL;
	t->items = p;
	if (!note_item(t, node, (uint32_t)t->n_items))
		return NULL;
	p += t->n_items++;
	*p = (struct tree_item) { .parent = parent, .label = link.b, .times = 1 };
	return p;
}

static void add_time(struct wait_tree *t, uint32_t item, struct amount_key key, uint64_t ns)
{
	uint64_t *disk;

	t->items[item].ends_ns[key.end] += ns;
	if (key.end == CHAIN_DISK) {
		disk = pair_table_at(&t->disks, item, key.value, DISK_STAGES * sizeof(*disk));
		if (disk)
			disk[key.stage] += ns;
		t->out_of_memory |= !disk;
	} else if (key.end == CHAIN_NETWORK && key.value) {
		t->out_of_memory |= !pair_table_add(&t->sockets, item, key.value, ns);
	}
}

/* A chain_sink's. */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct wait_tree *t = arg;
	const struct tree_item *i = item_of(t, node);

	if (!i)
		t->out_of_memory = true;
	else if (key.kind == AMOUNT_TIME)
		add_time(t, (uint32_t)(i - t->items), key, amount);
	else
		wait_facts_add(&t->facts, (uint32_t)(i - t->items), key, amount);
}

static void add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns)
{
	struct wait_tree *t = arg;
	const struct tree_item *i = item_of(t, node);

	if (i)
		wait_facts_window(&t->facts, (uint32_t)(i - t->items), waker, from_ns, to_ns);
	else
		t->out_of_memory = true;
}

/* Sets the total of each item. */
static void sum_up(struct wait_tree *t)
{
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
	below = all ? malloc(all * sizeof(*below)) : NULL;
	t->out_of_memory |= all && !below;
	for (size_t i = self + 1; below && i < t->n_items; i++)
		if (t->items[i].parent == self)
			below[(*n)++] = &t->items[i];
	if (below)
		qsort(below, *n, sizeof(*below), widest_first);
	return below;
}

/* ---- all of it ------------------------------------------------------------------------------ */

int wait_tree_make(struct wait_tree *t, const struct chosen_wait *p)
{
	uint32_t head = chains_head(&t->chains, 1);

	for (size_t i = 0; i < t->n_nodes; i++)
		t->item_of[t->nodes[i]] = 0;
	t->n_items = t->n_nodes = 0;
	wait_facts_clear(&t->facts);
	pair_table_clear(&t->disks, DISK_STAGES * sizeof(uint64_t));
	pair_table_clear(&t->sockets, sizeof(uint64_t));
	if (p->wait->kind == WAIT_SLEEP)
		chains_explain(&t->chains, head, p->thread, p->wait, p->shown.blocked_from_ns,
			       p->shown.blocked_to_ns);
	chains_explain_own(&t->chains, head, p->thread, p->wait, p->shown.off_from_ns,
			   p->shown.off_to_ns);
	sum_up(t);
	t->out_of_memory |= wait_facts_sort(&t->facts, t->names) != 0;
	return t->out_of_memory || t->chains.out_of_memory ? -ENOMEM : 0;
}

int wait_tree_init(struct wait_tree *t, const struct timelines *tl, const struct options *o,
		   struct names *names)
{
	int err;

	*t = (struct wait_tree) { .timelines = tl, .names = names };
	err = wait_facts_init(&t->facts, tl, names);
	if (!err)
		err = chains_init(&t->chains, tl, o,
				  &(struct chain_user) { .sink = { t, add, add_window },
							 .label = label_link,
							 .joint = joint_of,
							 .wants = WAIT_FACTS_WANTED,
							 .who_ran = t->facts.who_ran });
	return err;
}

void wait_tree_free(struct wait_tree *t)
{
	chains_free(&t->chains);
	wait_facts_free(&t->facts);
	pair_table_free(&t->disks);
	pair_table_free(&t->sockets);
	intern_free(&t->links);
	free(t->label);
	pairs_free(&t->labels);
	free(t->link);
	joints_free(&t->joints);
	free(t->items);
	free(t->item_of);
	free(t->nodes);
}
