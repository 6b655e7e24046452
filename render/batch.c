// SPDX-License-Identifier: GPL-2.0-or-later
#include "batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

#define SORT_LINES 8192 /* smaller batches are not sorted: their part of the tree stays cached */
#define SORT_FEW 12	/* at most this many items: insertion sort */
#define AHEAD 8		/* prefetch distance in lines */

/* A sort item: a line, and the two name ids at the depth of its range. */
struct item {
	uint64_t key;
	uint32_t line;
};

/* Items whose lines share their first `depth` names. */
struct range {
	uint32_t from, n, depth;
	bool keyed; /* the items' keys are of this depth already */
};

struct sort {
	const struct batch *b;
	struct item *item;
	struct range *todo;
	size_t ranges, cap;
};

int batch_new(struct batch **b, uint32_t lines)
{
	*b = calloc(1, sizeof(**b));
	if (*b && batch_reset(*b, lines)) {
		batch_free(*b);
		*b = NULL;
	}
	return *b ? 0 : -ENOMEM;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	free(b->line);
	free(b->id);
	free(b);
}

static int grow_ids(struct batch *b, size_t need)
{
	size_t cap = b->id_cap ? b->id_cap : 64; /* so that .id is never NULL */
	uint32_t *id;

	while (cap < need)
		cap += cap / 2;
	if (cap == b->id_cap)
		return 0;
	id = realloc(b->id, cap * sizeof(*id));
	if (!id)
		return -ENOMEM;
	b->id = id;
	b->id_cap = cap;
	return 0;
}

int batch_reset(struct batch *b, uint32_t lines)
{
	b->lines = 0;
	b->ids = b->shared = 0;
	if (lines > b->line_cap) {
		/* The lines are no longer needed: realloc() would copy them. */
		free(b->line);
		b->line_cap = 0;
		b->line = malloc(lines * sizeof(*b->line));
		if (!b->line)
			return -ENOMEM;
		b->line_cap = lines;
	}
	return grow_ids(b, 64);
}

int batch_add(struct batch *b, const uint32_t *id, uint32_t n, uint32_t shared, bool reverse,
	      double count, double before)
{
	int err = b->id_cap - b->ids < n ? grow_ids(b, b->ids + n) : 0;
	uint32_t *to = b->id + b->ids;

	if (err)
		return err;
	if (reverse)
		for (uint32_t i = 0; i < n; i++)
			to[i] = id[n - 1 - i];
	else if (n)
		memcpy(to, id, n * sizeof(*id));
	b->line[b->lines++] = (struct batch_line) {
		.at = b->ids,
		.n = n,
		.count = count,
		.before = before,
	};
	b->ids += n;
	b->shared += reverse ? 0 : shared;
	return 0;
}

/* ---- multikey quicksort (Bentley and Sedgewick), two names at a time ---- */

/* Names depth and depth + 1 of the line, each id plus one; 0: past the line's end. */
static uint64_t key_at(const struct batch *b, uint32_t line, uint32_t depth)
{
	const struct batch_line *l = &b->line[line];
	const uint32_t *id = b->id + l->at;
	uint64_t first = depth < l->n ? id[depth] + 1 : 0;

	return first << 32 | (depth + 1 < l->n ? id[depth + 1] + 1 : 0);
}

static bool is_before(const struct batch *b, const struct item *x, const struct item *y,
		      uint32_t depth)
{
	const struct batch_line *lx = &b->line[x->line], *ly = &b->line[y->line];
	uint32_t n = lx->n < ly->n ? lx->n : ly->n;

	if (x->key != y->key)
		return x->key < y->key;
	for (uint32_t i = depth + 2; i < n; i++)
		if (b->id[lx->at + i] != b->id[ly->at + i])
			return b->id[lx->at + i] < b->id[ly->at + i];
	return lx->n != ly->n ? lx->n < ly->n : x->line < y->line;
}

static void sort_few(const struct batch *b, struct item *item, uint32_t n, uint32_t depth)
{
	for (uint32_t i = 1; i < n; i++) {
		struct item it = item[i];
		uint32_t j = i;

		for (; j && is_before(b, &it, &item[j - 1], depth); j--)
			item[j] = item[j - 1];
		item[j] = it;
	}
}

static int push(struct sort *s, uint32_t from, uint32_t n, uint32_t depth, bool keyed)
{
	if (n < 2)
		return 0;
	if (!GROW(s->todo, s->ranges, s->cap))
		return -ENOMEM;
	s->todo[s->ranges++] = (struct range) { from, n, depth, keyed };
	return 0;
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

static uint64_t pivot(const struct item *it, uint32_t n)
{
	uint32_t s = n / 9;

	return middle(middle(it[0].key, it[s].key, it[2 * s].key),
		      middle(it[3 * s].key, it[4 * s].key, it[5 * s].key),
		      middle(it[6 * s].key, it[7 * s].key, it[n - 1].key));
}

static int sort_range(struct sort *s, struct range r)
{
	struct item *it = s->item + r.from;
	uint32_t less = 0, i = 0, greater = r.n;
	uint64_t p;
	int err;

	for (uint32_t k = 0; k < r.n && !r.keyed; k++)
		it[k].key = key_at(s->b, it[k].line, r.depth);
	if (r.n <= SORT_FEW) {
		sort_few(s->b, it, r.n, r.depth);
		return 0;
	}
	p = pivot(it, r.n);
	while (i < greater) {
		struct item x = it[i];

		if (x.key < p) {
			it[i++] = it[less];
			it[less++] = x;
		} else if (x.key > p) {
			it[i] = it[--greater];
			it[greater] = x;
		} else {
			i++;
		}
	}
	err = push(s, r.from, less, r.depth, true);
	if (!err)
		err = push(s, r.from + greater, r.n - greater, r.depth, true);
	if (!err && (uint32_t)p) /* else these lines end here and are equal */
		err = push(s, r.from + less, greater - less, r.depth + 2, false);
	return err;
}

int batch_order(const struct batch *b, uint32_t **order)
{
	struct sort s = { .b = b, .item = malloc(((size_t)b->lines + 1) * sizeof(*s.item)) };
	uint32_t *out = malloc(((size_t)b->lines + 1) * sizeof(*out));
	int err = s.item && out ? push(&s, 0, b->lines, 0, false) : -ENOMEM;

	for (uint32_t i = 0; i < b->lines && !err; i++)
		s.item[i].line = i;
	while (s.ranges && !err)
		err = sort_range(&s, s.todo[--s.ranges]);
	for (uint32_t i = 0; i < b->lines && !err; i++)
		out[i] = s.item[i].line;
	free(s.todo);
	free(s.item);
	if (err)
		free(out);
	else
		*order = out;
	return err;
}

static int add_line(const struct batch *b, struct tree *t, uint32_t i)
{
	const struct batch_line *l = &b->line[i];

	return tree_add_path(t, b->id + l->at, l->n, l->count, l->before);
}

static int merge_sorted(const struct batch *b, struct tree *t)
{
	uint32_t *order;
	int err = batch_order(b, &order);

	if (err)
		return err;
	for (uint32_t i = 0; i < b->lines && !err; i++) {
		if (i + 2 * AHEAD < b->lines)
			__builtin_prefetch(&b->line[order[i + 2 * AHEAD]]);
		if (i + AHEAD < b->lines)
			__builtin_prefetch(b->id + b->line[order[i + AHEAD]].at);
		err = add_line(b, t, order[i]);
	}
	free(order);
	return err;
}

int batch_merge(struct batch *b, struct tree *t)
{
	int err = 0;

	/* Sorted input shares enough already; a flame chart must keep the input's order. */
	if (b->lines >= SORT_LINES && b->shared < b->ids / 2 && !t->in_order)
		err = merge_sorted(b, t);
	else
		for (uint32_t i = 0; i < b->lines && !err; i++)
			err = add_line(b, t, i);
	b->lines = 0;
	b->ids = b->shared = 0;
	return err;
}
