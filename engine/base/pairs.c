// SPDX-License-Identifier: GPL-2.0-or-later
#include "pairs.h"

#include "common/xalloc.h"

static uint32_t hash_of(const void *at, uint32_t id)
{
	const struct pair *p = &((const struct pair *)at)[id];

	return hash_pair(p->a, p->b);
}

void pairs_reserve(struct pairs *p)
{
	if (!id_index_reserve(&p->index, p->n, 64, hash_of, p->at))
		out_of_memory();
	if (p->n + 1 >= p->cap) {
		p->cap = p->cap ? p->cap + p->cap / 2 : 64;
		p->at = xreallocarray(p->at, p->cap, sizeof(*p->at));
	}
}

void pair_table_grow(struct pair_table *t, uint32_t id, size_t size)
{
	size_t had = t->cap;

	t->at = grow_array(t->at, id, &t->cap, size);
	if (!t->at)
		out_of_memory();
	memset((char *)t->at + had * size, 0, (t->cap - had) * size);
}

void pairs_clear(struct pairs *p)
{
	id_index_clear(&p->index);
	p->n = 0;
}

void pairs_free(struct pairs *p)
{
	free(p->at);
	id_index_free(&p->index);
	*p = (struct pairs) { .n = 0 };
}
