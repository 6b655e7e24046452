// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_pieces.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"

static uint32_t label_link(void *arg, const struct link *link)
{
	struct wait_pieces *t = arg;
	struct link l = *link;

	l.flags &= LINK_IDLE; /* the other flags are not written */
	return intern_id(&t->links, &l, sizeof(l), NULL);
}

struct link wait_pieces_link(const struct wait_pieces *t, uint32_t label)
{
	struct link l;
	size_t len;

	memcpy(&l, intern_bytes(&t->links, label, &len), sizeof(l));
	return l;
}

static void add_piece(struct wait_pieces *t, struct wait_piece piece)
{
	struct wait_piece *p = grow_array(t->at, t->n, &t->cap, sizeof(*p));

	if (!p) {
		t->out_of_memory = true;
		return;
	}
	t->at = p;
	p[t->n++] = piece;
}

/* A chain_sink's. */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct wait_pieces *t = arg;

	if (key.kind == AMOUNT_TIME)
		add_piece(t, (struct wait_piece) { amount, node, key });
	else
		wait_facts_add(&t->facts, node, key, amount);
}

static void add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns)
{
	struct wait_pieces *t = arg;

	wait_facts_window(&t->facts, node, waker, from_ns, to_ns);
}

static int by_chain(const void *pa, const void *pb)
{
	const struct wait_piece *a = pa, *b = pb;

	if (a->node != b->node)
		return compare_numbers(a->node, b->node);
	if (a->key.end != b->key.end)
		return compare_numbers(a->key.end, b->key.end);
	if (a->key.value != b->key.value)
		return compare_numbers(a->key.value, b->key.value);
	return compare_numbers(a->key.stage, b->key.stage);
}

size_t wait_pieces_path(const struct wait_pieces *t, uint32_t node,
			uint32_t path[OPTIONS_DEPTH_MAX])
{
	const struct pair *nodes = t->chains.nodes.at;
	size_t n = 0;

	for (; nodes[node].a && n < OPTIONS_DEPTH_MAX; node = nodes[node].a)
		path[n++] = nodes[node].b;
	return n;
}

/* By the contents of the links: their numbers depend on the waits explained before. */
static int by_links(const struct wait_pieces *t, uint32_t a, uint32_t b)
{
	uint32_t path_a[OPTIONS_DEPTH_MAX], path_b[OPTIONS_DEPTH_MAX];
	size_t n_a = wait_pieces_path(t, a, path_a), n_b = wait_pieces_path(t, b, path_b);

	while (n_a && n_b) {
		struct link la = wait_pieces_link(t, path_a[--n_a]),
			    lb = wait_pieces_link(t, path_b[--n_b]);
		int order = memcmp(&la, &lb, offsetof(struct link, flags));

		if (order)
			return order;
	}
	return n_a ? 1 : n_b ? -1 : 0;
}

static int widest_first(const void *pa, const void *pb, void *writer)
{
	const struct wait_piece *a = pa, *b = pb;
	int order;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	order = a->node == b->node ? 0 : by_links(writer, a->node, b->node);
	return order ? order : by_chain(pa, pb);
}

/* One piece for each chain and end, the widest first. */
static void merge_pieces(struct wait_pieces *t)
{
	size_t n = 0;

	if (!t->n)
		return;
	qsort(t->at, t->n, sizeof(*t->at), by_chain);
	for (size_t i = 0; i < t->n; i++) {
		if (n && !by_chain(&t->at[n - 1], &t->at[i]))
			t->at[n - 1].ns += t->at[i].ns;
		else
			t->at[n++] = t->at[i];
	}
	t->n = n;
	qsort_r(t->at, n, sizeof(*t->at), widest_first, t);
}

int wait_pieces_make(struct wait_pieces *t, const struct chosen_wait *p)
{
	const struct shown *s = &p->shown;
	uint32_t head = chains_head(&t->chains, 1);

	t->n = 0;
	wait_facts_clear(&t->facts);
	if (p->wait->kind != WAIT_PREEMPTED)
		chains_explain(&t->chains, head, p->thread, p->wait, s->blocked_from_ns,
			       s->blocked_to_ns);
	chains_explain_own(&t->chains, head, p->thread, p->wait, s->off_from_ns, s->off_to_ns);
	if (t->out_of_memory || t->chains.out_of_memory)
		return -ENOMEM;
	merge_pieces(t);
	return wait_facts_sort(&t->facts, t->names);
}

int wait_pieces_init(struct wait_pieces *t, const struct timelines *tl, const struct options *o,
		     struct names *names)
{
	int err;

	*t = (struct wait_pieces) { .names = names };
	err = wait_facts_init(&t->facts, tl, names);
	if (!err)
		err = chains_init(&t->chains, tl, o,
				  &(struct chain_user) { .sink = { t, add, add_window },
							 .label = label_link,
							 .wants = WAIT_FACTS_WANTED,
							 .who_ran = t->facts.who_ran });
	return err;
}

void wait_pieces_free(struct wait_pieces *t)
{
	chains_free(&t->chains);
	wait_facts_free(&t->facts);
	intern_free(&t->links);
	free(t->at);
}
