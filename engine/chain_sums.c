// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_sums.h"

#include <stdlib.h>

#include "chain_private.h"
#include "grow.h"

struct total {
	uint64_t ns; /* up to the end of the block */
	uint32_t block;
};

/* One chain, relative to the waker. */
struct rel_chain {
	struct total *totals; /* by block; only blocks in which there is something */
	size_t n, cap;
	uint64_t pending_ns; /* of the block at hand */
};

struct chain_sums {
	struct pairs keys;	  /* (relative node, end) */
	struct rel_chain *chains; /* by the key's id */
	size_t cap;
	uint32_t *pending; /* chains with something in the block at hand */
	size_t n_pending, cap_pending;
	uint64_t walked; /* stretches walked because these sums were not there */
	bool built;
};

struct chain_sums_set {
	struct pairs keys;	 /* (thread, links left) */
	struct chain_sums *sums; /* by the key's id */
	size_t cap;
	uint32_t root;	     /* the node that stands for the waker in relative chains */
	struct pairs grafts; /* (node, relative node) to grafted[] */
	uint32_t *grafted;
	size_t cap_grafted;
};

static struct chain_sums_set *set_of(struct chains *c)
{
	if (!c->sums) {
		c->sums = calloc(1, sizeof(*c->sums));
		if (c->sums)
			c->sums->root = pairs_id(&c->nodes, 0, UINT32_MAX);
		if (!c->sums || !c->sums->root)
			c->out_of_memory = true;
	}
	return c->sums;
}

/* NULL: out of memory. Moves when another one is asked for. */
static struct chain_sums *sums_of(struct chain_sums_set *s, uint32_t thread, uint32_t links_left)
{
	int is_new;
	uint32_t id = pairs_id_new(&s->keys, thread, links_left, &is_new);
	struct chain_sums *p;

	if (!id)
		return NULL;
	if (is_new) {
		p = grow_array(s->sums, id, &s->cap, sizeof(*p));
		if (!p)
			return NULL;
		s->sums = p;
		p[id] = (struct chain_sums) { .built = false };
	}
	return id < s->cap ? &s->sums[id] : NULL;
}

/* ---- building ------------------------------------------------------------------------------- */

static void note(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct chain_sums *s = arg;
	int is_new;
	uint32_t id = pairs_id_new(&s->keys, node, (uint32_t)end, &is_new);
	void *p;

	if (!id)
		goto fail;
	if (is_new) {
		p = grow_array(s->chains, id, &s->cap, sizeof(*s->chains));
		if (!p)
			goto fail;
		s->chains = p;
		s->chains[id] = (struct rel_chain) { .n = 0 };
	}
	if (!s->chains[id].pending_ns) {
		p = grow_array(s->pending, s->n_pending, &s->cap_pending, sizeof(*s->pending));
		if (!p)
			goto fail;
		s->pending = p;
		s->pending[s->n_pending++] = id;
	}
	s->chains[id].pending_ns += ns;
	return;
fail:
	s->built = false;
}

/* The block is complete: what it has is added to the totals. */
static void end_block(struct chain_sums *s, uint32_t block)
{
	for (size_t i = 0; i < s->n_pending; i++) {
		struct rel_chain *r = &s->chains[s->pending[i]];
		struct total *p = grow_array(r->totals, r->n, &r->cap, sizeof(*p));

		if (!p) {
			s->built = false;
			return;
		}
		r->totals = p;
		p[r->n] = (struct total) { (r->n ? p[r->n - 1].ns : 0) + r->pending_ns, block };
		r->n++;
		r->pending_ns = 0;
	}
	s->n_pending = 0;
}

static void build(struct chains *c, struct chain_sums *s, uint32_t root, uint32_t thread,
		  uint32_t links_left)
{
	const struct thread *th = timelines_thread(c->timelines, thread);
	const struct chain_member nobody = { THREAD_NONE, NULL };
	const struct chain_member waker = { thread, &nobody };
	void (*add)(void *, uint32_t, enum chain_end, uint64_t) = c->add;
	void *add_arg = c->add_arg;
	uint32_t block = c->stretches_per_block;

	s->built = true;
	c->add = note;
	c->add_arg = s;
	for (uint32_t i = 0; i < th->n_waits; i++) {
		struct chain_window w = { .node = root,
					  .from_ns = th->waits[i].out_ns,
					  .to_ns = th->waits[i].in_ns };

		chain_take(c, &w, &th->waits[i], links_left, &waker);
		if (w.runnable_ns)
			note(s, root, CHAIN_RUNNABLE, w.runnable_ns);
		if (w.unknown_ns)
			note(s, root, CHAIN_UNKNOWN, w.unknown_ns);
		if ((i + 1) % block == 0)
			end_block(s, i / block);
	}
	end_block(s, th->n_waits / block);
	c->add = add;
	c->add_arg = add_arg;
	if (!s->built)
		c->out_of_memory = true;
}

/* ---- asking --------------------------------------------------------------------------------- */

/* The node of the same links below another node. 0: out of memory. */
static uint32_t graft(struct chains *c, uint32_t node, uint32_t relative)
{
	struct chain_sums_set *s = c->sums;
	uint32_t id, parent;
	struct pair link;
	int is_new;
	void *p;

	if (relative == s->root)
		return node;
	id = pairs_id_new(&s->grafts, node, relative, &is_new);
	if (!id)
		return 0;
	if (!is_new)
		return s->grafted[id];
	p = grow_array(s->grafted, id, &s->cap_grafted, sizeof(*s->grafted));
	if (!p)
		return 0;
	s->grafted = p;
	s->grafted[id] = 0;
	link = c->nodes.at[relative];
	parent = graft(c, node, link.a);
	s->grafted[id] = parent ? pairs_id(&c->nodes, parent, link.b) : 0;
	return s->grafted[id];
}

/* The total over all blocks below end. */
static uint64_t total_below(const struct rel_chain *r, uint32_t end)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->totals[mid].block < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? r->totals[lo - 1].ns : 0;
}

static uint64_t add_blocks(struct chains *c, const struct chain_sums *s, uint32_t node,
			   uint32_t from_block, uint32_t to_block)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= s->keys.n; id++) {
		uint64_t ns = total_below(&s->chains[id], to_block) -
			      total_below(&s->chains[id], from_block);
		uint32_t at;

		c->steps++;
		if (!ns)
			continue;
		sum += ns;
		at = graft(c, node, s->keys.at[id].a);
		if (at)
			c->add(c->add_arg, at, (enum chain_end)s->keys.at[id].b, ns);
		else
			c->out_of_memory = true;
	}
	return sum;
}

void chain_sums_add(struct chains *c, uint32_t node, uint32_t thread, uint32_t links_left,
		    uint32_t first, uint32_t end, uint32_t *from, uint32_t *to, uint64_t *ns)
{
	uint32_t block = c->stretches_per_block;
	uint32_t from_block = (first + block - 1) / block, to_block = end / block;
	struct chain_sums_set *set = set_of(c);
	struct chain_sums *s = set && set->root ? sums_of(set, thread, links_left) : NULL;
	struct chain_sums made;

	*from = *to = end;
	*ns = 0;
	if (!s) {
		c->out_of_memory = true;
		return;
	}
	if (!s->built) {
		/* Built when walking has cost as much as building will: at worst twice the work. */
		s->walked += end - first;
		if (c->stretches_per_chain &&
		    s->walked < timelines_thread(c->timelines, thread)->n_waits)
			return;
		/* Others may be built meanwhile, and the array that this one is in may move. */
		made = *s;
		build(c, &made, set->root, thread, links_left);
		s = sums_of(set, thread, links_left);
		*s = made;
		if (!s->built)
			return;
	}
	if (from_block >= to_block || (uint64_t)c->stretches_per_chain * s->keys.n > end - first)
		return;
	*from = from_block * block;
	*to = to_block * block;
	c->summed++;
	*ns = add_blocks(c, s, node, from_block, to_block);
}

void chain_sums_free(struct chain_sums_set *set)
{
	if (!set)
		return;
	for (uint32_t i = 1; i <= set->keys.n && i < set->cap; i++) {
		struct chain_sums *s = &set->sums[i];

		for (uint32_t k = 1; k <= s->keys.n && k < s->cap; k++)
			free(s->chains[k].totals);
		free(s->chains);
		free(s->pending);
		pairs_free(&s->keys);
	}
	free(set->sums);
	free(set->grafted);
	pairs_free(&set->grafts);
	pairs_free(&set->keys);
	free(set);
}
